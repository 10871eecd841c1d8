"""Errors of Scrapy and Twisted as failures of a fetch, in the words of koster's own client.

No message has the representation of an object of Twisted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from OpenSSL.SSL import Error as TlsError
from scrapy.core.downloader.handlers.http11 import TunnelError
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
)
from service_identity import VerificationError
from twisted.internet import error as internet

from ..._wording import truncated
from ...access import Failure, FailureKind

Types = tuple[type[BaseException], ...]

_MAX_WHY = 300


class TimeoutReachedError(Exception):
    """The time for a robots.txt is over."""


#: The kinds of errors; the first match in an error and its causes applies.
_KINDS: tuple[tuple[Types, FailureKind], ...] = (
    ((TunnelError,), FailureKind.PROXY),
    (
        (TimeoutReachedError, DownloadTimeoutError, internet.TimeoutError, TimeoutError),
        FailureKind.TIMEOUT,
    ),
    ((CannotResolveHostError, internet.DNSLookupError), FailureKind.NAME),
    ((TlsError, VerificationError), FailureKind.TLS),
    ((ResponseDataLossError,), FailureKind.NOT_HTTP),
)
#: Private exceptions of Twisted for invalid responses.
_INVALID = frozenset(
    {"ParseError", "BadResponseVersion", "_DataLoss", "_MalformedChunkedDataError"}
)
_MESSAGES = {
    FailureKind.TIMEOUT: "no complete response within {timeout:g} s",
    FailureKind.NAME: "DNS lookup failed: {error}",
    FailureKind.CONNECTION: "connection failed: {error}",
    FailureKind.TLS: "TLS connection failed: {error}",
    FailureKind.NOT_HTTP: "invalid HTTP response: {error}",
    FailureKind.PROXY: "proxy failed: {error}",
}
#: The errors of a connection to the proxy itself, if there is one.
_CONNECTING: Types = (
    DownloadConnectionRefusedError,
    CannotResolveHostError,
    internet.ConnectError,
    internet.DNSLookupError,
)
#: What a proxy answered to CONNECT, in the message of a `TunnelError`.
_REFUSAL = re.compile(r"'status': (\d+), 'reason': b(['\"])(.*?)\2\}")


def to_failure(error: Exception, timeout: float, proxy: str) -> Failure:
    """Return the failure for an error.

    Args:
        error: What Scrapy's downloader, or a middleware, raised.
        timeout: The seconds of the time limit.
        proxy: The proxy of the request, without a password; empty if there was none.
    """
    chain = list(_causes(error))
    if isinstance(error, IgnoreRequest):
        why = _plain(str(error)) or type(error).__name__
        return Failure(FailureKind.CONNECTION, f"a middleware ignored the request: {why}")
    kind = next(
        (kind for types, kind in _KINDS for each in chain if isinstance(each, types)),
        FailureKind.NOT_HTTP if any(map(_is_invalid, chain)) else FailureKind.CONNECTION,
    )
    if proxy and any(isinstance(each, _CONNECTING) for each in chain):
        kind = FailureKind.PROXY
    message = next((text for text in map(_message, chain) if text), type(error).__name__)
    return through(kind, _MESSAGES[kind].format(timeout=timeout, error=message), proxy)


def through(kind: FailureKind, why: str, proxy: str) -> Failure:
    """Return a failure that names the proxy, if there is one."""
    return Failure(kind, f"{why} (through {proxy})" if proxy else why)


def _is_invalid(error: BaseException) -> bool:
    """Return whether Twisted found a response invalid: it says so in several ways."""
    reasons = [reason.value for reason in getattr(error, "reasons", None) or ()]
    return type(error).__name__ in _INVALID or any(isinstance(each, ValueError) for each in reasons)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its causes; Twisted's have several, as Failures."""
    seen: list[BaseException] = []
    waiting = [error]
    while waiting:
        each = waiting.pop(0)
        if each is None or any(each is one for one in seen):
            continue
        seen.append(each)
        yield each
        waiting += [reason.value for reason in getattr(each, "reasons", None) or ()]
        waiting.append(each.__cause__ or each.__context__)


def _message(error: BaseException) -> str:
    """Return the message of an error; empty for a wrapper that does not say what happened."""
    if type(error).__name__ in _INVALID:
        return str(error.args[0]) if error.args else "truncated response body"
    for types, say in _SAYING:
        if isinstance(error, types):
            return str(say(error))
    return _plain(str(error))


def _tunnel(error: Any) -> str:
    found = _REFUSAL.search(str(error))
    return f"{found[1]} {found[3]}".strip() if found else "the answer to CONNECT is invalid"


def _tls(error: Any) -> str:
    reasons = error.args[0] if error.args and isinstance(error.args[0], list) else []
    reason = ", ".join(str(each[-1]) for each in reasons if each)
    if "wrong version number" in reason:
        return "the server does not use TLS; try http://"
    return reason or "the server closed the connection"


#: What errors mean whose own messages do not say it plainly.
_SAYING: tuple[tuple[Types, Any], ...] = (
    ((TunnelError,), _tunnel),
    ((TlsError,), _tls),
    ((VerificationError,), lambda _: "the certificate is for another host"),
    (
        (DownloadConnectionRefusedError, internet.ConnectionRefusedError),
        lambda _: "Connection refused",
    ),
    ((ResponseDataLossError,), lambda _: "truncated response body"),
    (
        (internet.ConnectionDone, internet.ConnectionLost),
        lambda _: "the server closed the connection",
    ),
    (
        (CannotResolveHostError, internet.DNSLookupError),
        lambda error: _plain(str(error).removeprefix("DNS lookup failed: ")).rstrip("."),
    ),
    ((DownloadCancelledError,), lambda error: _plain(str(error)) or "the download was cancelled"),
)


def _plain(text: str) -> str:
    """Return a text that is for people; empty if it has the representation of an object."""
    text = re.sub(r"\bb(['\"])(.*?)\1", r"\2", text)
    return "" if "<" in text or "twisted" in text else truncated(text, _MAX_WHY)
