"""Senders over transports of httpx2: koster's own network, and the argument ``transport``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio
import httpcore2
import httpx2

from ...access import FailureKind
from .._arguments import NetworkSettings, name_of_type
from .._exchange import Headers, Received
from .._failures import kinds
from .._network import AsyncTransport, Transport
from .httpx import errors_of, kinds_of, received

_ERRORS = (
    *errors_of(httpx2),
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.ProxyError,
    httpcore2.TimeoutException,
    httpcore2.UnsupportedProtocol,
)
_KINDS = kinds(
    ((httpcore2.TimeoutException,), FailureKind.TIMEOUT),
    ((httpcore2.ProxyError,), FailureKind.PROXY),
    *kinds_of(httpx2),
    ((httpcore2.ProtocolError,), FailureKind.NOT_HTTP),
)


def _request(url: str, headers: Headers, seconds: float | None) -> httpx2.Request:
    times = dict.fromkeys(("connect", "read", "write", "pool"), seconds)
    return httpx2.Request("GET", url, headers=headers, extensions={"timeout": times})


class _TransportSender:
    """What both senders share."""

    errors = _ERRORS
    kinds = _KINDS

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self._is_own = isinstance(transport, (Transport, AsyncTransport))
        self.keeps_connections = isinstance(
            transport, (httpx2.HTTPTransport, httpx2.AsyncHTTPTransport)
        )

    def proxy_for(self, url: str, /) -> str:
        """Return the proxy for a URL; empty if the route is direct or unknown."""
        proxy = self._transport.proxy_for(url) if self._is_own else None
        return str(proxy or "")


class TransportSender(_TransportSender):
    """Sends through an ``httpx2.BaseTransport``."""

    @contextmanager
    def send(self, url: str, headers: Headers, seconds: float) -> Iterator[Received[Any]]:
        """Send a GET request; ``seconds`` limits each operation of the network."""
        response = self._transport.handle_request(_request(url, headers, seconds))
        try:
            is_proxys = response.status_code == 407 and bool(self.proxy_for(url))
            yield received(response, response.iter_raw(), may_be_of_proxy=is_proxys)
        finally:
            response.close()

    def close(self) -> None:
        """Close koster's own connections."""
        if self._is_own:
            self._transport.close()


class AsyncTransportSender(_TransportSender):
    """Sends through an ``httpx2.AsyncBaseTransport``."""

    errors = (*_ERRORS, anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream)

    @asynccontextmanager
    async def send(self, url: str, headers: Headers) -> AsyncIterator[Received[Any]]:
        """Send a GET request."""
        response = await self._transport.handle_async_request(_request(url, headers, None))
        try:
            is_proxys = response.status_code == 407 and bool(self.proxy_for(url))
            yield received(response, response.aiter_raw(), may_be_of_proxy=is_proxys)
        finally:
            await response.aclose()

    async def aclose(self) -> None:
        """Close koster's own connections."""
        if self._is_own:
            await self._transport.aclose()

    def reset_connections(self) -> None:
        """Drop koster's own connections, which belong to a closed event loop."""
        if self._is_own:
            self._transport.reset_connections()


def own_sender(settings: NetworkSettings) -> TransportSender:
    """Return the sender over koster's own network, for threads."""
    return TransportSender(Transport(settings))


def own_async_sender(settings: NetworkSettings) -> AsyncTransportSender:
    """Return the sender over koster's own network, for an event loop."""
    return AsyncTransportSender(AsyncTransport(settings))


def sender_over(transport: object) -> TransportSender:
    """Return the sender over a transport.

    Raises:
        TypeError: it is not an ``httpx2.BaseTransport``.
    """
    return TransportSender(_checked(transport, httpx2.BaseTransport, "RobotsClient"))


def async_sender_over(transport: object) -> AsyncTransportSender:
    """Return the sender over an asynchronous transport.

    Raises:
        TypeError: it is not an ``httpx2.AsyncBaseTransport``.
    """
    return AsyncTransportSender(_checked(transport, httpx2.AsyncBaseTransport, "AsyncRobotsClient"))


def _checked(transport: object, base: type, client: str) -> object:
    if not isinstance(transport, base):
        raise TypeError(
            f"the transport of {client} must be an httpx2.{base.__name__}, such as "
            f"koster.fetch.MockTransport, not {name_of_type(transport)}; pass a client or session "
            "as http"
        )
    return transport
