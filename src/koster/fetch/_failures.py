"""Errors of HTTP libraries as failures of a fetch."""

from __future__ import annotations

import http.client
import socket
import ssl
from typing import TYPE_CHECKING, TypeAlias

from ..access import Failure, FailureKind
from . import _codings
from .guard import RefusedAddressError

if TYPE_CHECKING:
    #: The kinds of errors; the first match in an error's chain of causes applies.
    Kinds: TypeAlias = tuple[tuple[tuple[type[BaseException], ...], FailureKind], ...]


class ProxyConnectionError(OSError):
    """The connection to a proxy could not be opened."""


#: The errors of any fetch, besides those of the HTTP library.
ERRORS = (OSError, ValueError, http.client.HTTPException, *_codings.ERRORS)

_FIRST: Kinds = (
    ((RefusedAddressError,), FailureKind.REFUSED),
    ((ProxyConnectionError,), FailureKind.PROXY),
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
    """Return the message of an error; empty for the wrappers of urllib3, which are not readable."""
    text = str(error)
    return "" if "ConnectionPool(" in text or "object at 0x" in text else text


def _error_chain(error: BaseException) -> list[BaseException]:
    """Return an error and its causes."""
    chain: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and following not in chain:
        chain.append(following)
        following = following.__cause__ or following.__context__
    return chain
