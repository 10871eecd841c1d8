"""Errors of HTTP libraries as failures of a fetch."""

from __future__ import annotations

import http.client
import os
import socket
import ssl
from typing import TypeAlias

from .. import _codings
from ..access import Failure, FailureKind
from .guard import RefusedAddressError

try:
    from socksio import SOCKSError
except ModuleNotFoundError:
    _SOCKS_ERRORS: tuple[type[Exception], ...] = ()
else:
    _SOCKS_ERRORS = (SOCKSError,)

#: The kinds of errors; the first match in an error's chain of causes applies.
Kinds: TypeAlias = tuple[tuple[tuple[type[BaseException], ...], FailureKind], ...]


class ProxyConnectionError(OSError):
    """The connection to a proxy could not be opened."""


#: The errors of any fetch, besides those of the HTTP library.
ERRORS = (OSError, ValueError, http.client.HTTPException, *_SOCKS_ERRORS, *_codings.ERRORS)

_FIRST: Kinds = (
    ((RefusedAddressError,), FailureKind.REFUSED),
    ((ProxyConnectionError, *_SOCKS_ERRORS), FailureKind.PROXY),
)
_LAST: Kinds = (
    ((TimeoutError,), FailureKind.TIMEOUT),
    ((ssl.SSLError, ssl.CertificateError), FailureKind.TLS),
    ((socket.gaierror, UnicodeError), FailureKind.NAME),
    (_codings.ERRORS, FailureKind.ENCODING),
    ((http.client.HTTPException,), FailureKind.NOT_HTTP),
)
_MESSAGES = {
    FailureKind.TIMEOUT: "no complete response within {timeout:g} s",
    FailureKind.NAME: "DNS lookup failed: {error}",
    FailureKind.CONNECTION: "connection failed: {error}",
    FailureKind.TLS: "TLS connection failed: {error}",
    FailureKind.NOT_HTTP: "invalid HTTP response: {error}",
    FailureKind.ENCODING: "response body cannot be decoded: {error}",
    FailureKind.REFUSED: "address blocked by the guard: {error}",
    FailureKind.PROXY: "proxy failed: {error}",
}
_MAX_WHY = 300

#: In the messages of wrappers: of urllib3, and of anyio for several addresses, or one.
_WRAPPERS = (
    "ConnectionPool(",
    "object at 0x",
    "multiple connection attempts failed",
    "All connection attempts failed",
)
#: What asyncio and trio say of an address, in place of the system's message.
_CONNECTING = ("Connect call failed", "Error connecting to (")


def kinds(*library: tuple[tuple[type[BaseException], ...], FailureKind]) -> Kinds:
    """Return the kinds of errors, with those of an HTTP library."""
    return (*_FIRST, *library, *_LAST)


def to_failure(error: BaseException, timeout: float, kinds: Kinds) -> Failure:
    """Return the `Failure` for an error of a fetch with a timeout in seconds."""
    chain = _error_chain(error)
    kind = next(
        (kind for types, kind in kinds for each in chain if isinstance(each, types)),
        FailureKind.CONNECTION,
    )
    message = next((text for text in map(_message, chain) if text), type(error).__name__)
    if "WRONG_VERSION_NUMBER" in message:
        message = "the server does not use TLS; try http://"
    return Failure(kind, _MESSAGES[kind].format(timeout=timeout, error=message[:_MAX_WHY]))


def through(failure: Failure, proxy: str) -> Failure:
    """Return a failure that names the proxy, if there is one."""
    return Failure(failure.kind, f"{failure.why} (through {proxy})") if proxy else failure


def _message(error: BaseException) -> str:
    """Return the message of an error; empty for a wrapper that does not say what happened."""
    text = str(error)
    if any(wrapper in text for wrapper in _WRAPPERS):
        return ""
    if isinstance(error, OSError) and any(words in text for words in _CONNECTING):
        return _message_of_system(error.errno) or text
    return text


def _message_of_system(number: int | None) -> str:
    """Return the message of an error by its number; empty if the system has none."""
    text = os.strerror(number or 0)
    # Windows has messages for its own numbers only.
    return "" if not number or "Unknown error" in text else str(OSError(number, text))


def _error_chain(error: BaseException) -> list[BaseException]:
    """Return an error and its causes."""
    chain: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and following not in chain:
        chain.append(following)
        if isinstance(following, BaseExceptionGroup):
            following = following.exceptions[-1]
        else:
            following = following.__cause__ or following.__context__
    return chain
