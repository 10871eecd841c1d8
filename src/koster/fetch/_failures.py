"""Errors of the network as failures of a fetch."""

from __future__ import annotations

import socket
import ssl

import anyio
import httpcore2
import httpx2

from ..access import Failure, FailureKind
from . import _codings
from .guard import RefusedAddressError

#: The errors of a fetch.
ERRORS = (
    httpx2.HTTPError,
    httpx2.InvalidURL,
    httpx2.StreamError,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.TimeoutException,
    httpcore2.UnsupportedProtocol,
    OSError,
    ValueError,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    anyio.EndOfStream,
    *_codings.ERRORS,
)

#: The kinds of errors; the first match in an error's chain of causes applies.
_KINDS: tuple[tuple[tuple[type[BaseException], ...], FailureKind], ...] = (
    ((RefusedAddressError,), FailureKind.REFUSED),
    ((httpx2.TimeoutException, httpcore2.TimeoutException, TimeoutError), FailureKind.TIMEOUT),
    ((ssl.SSLError, ssl.CertificateError), FailureKind.TLS),
    ((socket.gaierror, UnicodeError, httpx2.InvalidURL), FailureKind.NAME),
    ((httpx2.DecodingError, *_codings.ERRORS), FailureKind.ENCODING),
    ((httpx2.ProtocolError, httpcore2.ProtocolError), FailureKind.NOT_HTTP),
)
_MESSAGES = {
    FailureKind.TIMEOUT: "no complete response within {timeout:g} s",
    FailureKind.NAME: "DNS lookup failed: {error}",
    FailureKind.CONNECTION: "connection failed: {error}",
    FailureKind.TLS: "TLS connection failed: {error}",
    FailureKind.NOT_HTTP: "invalid HTTP response: {error}",
    FailureKind.ENCODING: "response body cannot be decoded: {error}",
    FailureKind.REFUSED: "address blocked by the guard: {error}",
}
_MAX_WHY = 300


def to_failure(error: BaseException, timeout: float) -> Failure:
    """Return the `Failure` for an error of a fetch with a timeout in seconds."""
    chain = _error_chain(error)
    kind = next(
        (kind for types, kind in _KINDS for each in chain if isinstance(each, types)),
        FailureKind.CONNECTION,
    )
    message = next((str(each) for each in chain if str(each)), type(error).__name__)
    if "WRONG_VERSION_NUMBER" in message:
        message = "the server does not use TLS; try http://"
    return Failure(kind, _MESSAGES[kind].format(timeout=timeout, error=message[:_MAX_WHY]))


def _error_chain(error: BaseException) -> list[BaseException]:
    """Return an error and its causes."""
    chain: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and following not in chain:
        chain.append(following)
        following = following.__cause__ or following.__context__
    return chain
