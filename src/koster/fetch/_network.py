"""The network for both clients: httpcore2 transports with a guard and a deadline.

A custom network backend of httpcore2 sees each resolved address before it connects.
"""

from __future__ import annotations

import contextvars
import os
import time
import weakref
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import anyio
import anyio.from_thread
import anyio.lowlevel
import httpcore2
import httpx2

from ..cache.forks import at_fork
from ._lookup import permitted, resolve, resolve_async

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator, Iterable, Iterator

    from .guard import Guard

    _Options: TypeAlias = Iterable[httpcore2.SOCKET_OPTION] | None

#: Connections that are kept open for a while after a response: redirects often stay on a host.
_MAX_IDLE_CONNECTIONS = 3
_IDLE_SECONDS = 5.0

#: The deadline of the fetch in this context, on the monotonic clock.
_deadline: contextvars.ContextVar[float | None] = contextvars.ContextVar("deadline", default=None)


class Deadline:
    """A context in which connections of `Transport` time out at a monotonic moment."""

    def __init__(self, moment: float) -> None:
        self.moment = moment

    def __enter__(self) -> Self:
        self._token = _deadline.set(self.moment)
        return self

    def __exit__(self, *_: object) -> None:
        _deadline.reset(self._token)

    def check(self) -> float:
        """Return the remaining seconds.

        Raises:
            httpcore2.ReadTimeout: the deadline has passed.
        """
        return _remaining(None)


def _remaining(timeout: float | None) -> float:
    """Return the seconds until the deadline, else ``timeout``.

    Raises:
        httpcore2.ReadTimeout: the deadline has passed.
    """
    moment = _deadline.get()
    if moment is None:
        return timeout if timeout is not None else 60.0
    remaining = moment - time.monotonic()
    if remaining <= 0:
        raise httpcore2.ReadTimeout("the deadline has passed")
    return remaining


class _Stream(httpcore2.NetworkStream):
    """A connection that obeys the deadline, registered in ``streams``."""

    def __init__(self, inner: httpcore2.NetworkStream, streams: weakref.WeakSet[_Stream]) -> None:
        self._inner = inner
        self._streams = streams
        streams.add(self)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, _remaining(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, _remaining(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        inner = self._inner.start_tls(ssl_context, server_hostname, _remaining(timeout))
        return _Stream(inner, self._streams)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class _Backend(httpcore2.NetworkBackend):
    """Connects to addresses that the guard permits, before the deadline."""

    def __init__(self, guard: Guard | None) -> None:
        self._guard = guard
        self._inner = httpcore2.SyncBackend()
        self._streams: weakref.WeakSet[_Stream] = weakref.WeakSet()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: _Options = None,
    ) -> httpcore2.NetworkStream:
        addresses = permitted(resolve(host, port, _remaining(timeout)), port, self._guard)
        for tries_left in range(len(addresses), 0, -1):
            # An address that does not respond must not use up the time for the others.
            seconds = _remaining(timeout) / tries_left
            try:
                inner = self._inner.connect_tcp(
                    addresses[-tries_left], port, seconds, local_address, socket_options or ()
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if tries_left == 1:
                    raise
            else:
                return _Stream(inner, self._streams)
        raise httpcore2.ConnectError(f"{host} has no address")

    def close_inherited(self) -> None:
        """Close inherited sockets in a child process, without sending anything."""
        for stream in list(self._streams):
            stream.get_extra_info("socket").close()


class _AsyncStream(httpcore2.AsyncNetworkStream):
    """A connection that is closed when its TLS handshake is cancelled."""

    def __init__(
        self,
        inner: httpcore2.AsyncNetworkStream,
        streams: weakref.WeakSet[httpcore2.AsyncNetworkStream],
    ) -> None:
        self._inner = inner
        self._streams = streams
        streams.add(inner)
        self.read = inner.read  # type: ignore[method-assign]
        self.write = inner.write  # type: ignore[method-assign]
        self.get_extra_info = inner.get_extra_info  # type: ignore[method-assign]

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        try:
            stream = await self._inner.start_tls(ssl_context, server_hostname, timeout)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self._inner.aclose()
            raise
        self._streams.add(stream)
        return stream


class _AsyncBackend(httpcore2.AsyncNetworkBackend):
    """Connects to addresses that the guard permits. Callers set deadlines with cancel scopes."""

    def __init__(self, guard: Guard | None) -> None:
        self._guard = guard
        self._inner = httpcore2.AnyIOBackend()
        #: All open connections.
        self._streams: weakref.WeakSet[httpcore2.AsyncNetworkStream] = weakref.WeakSet()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: _Options = None,
    ) -> httpcore2.AsyncNetworkStream:
        addresses = permitted(await resolve_async(host, port), port, self._guard)
        for tries_left in range(len(addresses), 0, -1):
            # See `_Backend`.
            seconds = None if timeout is None else timeout / tries_left
            try:
                inner = await self._inner.connect_tcp(
                    addresses[-tries_left], port, seconds, local_address, socket_options or ()
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if tries_left == 1:
                    raise
            else:
                return _AsyncStream(inner, self._streams)
        raise httpcore2.ConnectError(f"{host} has no address")

    def close_inherited(self) -> None:
        """Close inherited sockets in a child process, without sending anything.

        Closing them through the event loop would unregister them from the parent's epoll, so the
        file descriptors are redirected to /dev/null instead.
        """
        null = os.open(os.devnull, os.O_RDWR)
        for stream in list(self._streams):
            socket_ = stream.get_extra_info("socket")
            number = -1 if socket_ is None else socket_.fileno()
            if number >= 0:
                os.dup2(null, number, inheritable=False)
        os.close(null)


class _Body(httpx2.SyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        yield from self._stream

    def close(self) -> None:
        self._stream.close()


class _AsyncBody(httpx2.AsyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async with aclosing(aiter(self._stream)) as parts:
            async for part in parts:
                yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


def _to_httpcore(request: httpx2.Request) -> httpcore2.Request:
    url = request.url
    return httpcore2.Request(
        method=request.method,
        url=httpcore2.URL(
            scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
        ),
        headers=request.headers.raw,
        extensions=request.extensions,
    )


class Transport(httpx2.BaseTransport):
    """The network for `RobotsClient`."""

    def __init__(self, guard: Guard | None) -> None:
        self._backend = _Backend(guard)
        self._tls = httpcore2.default_ssl_context()
        self._pool = self._new_pool()
        at_fork(in_child=self._reset_after_fork)

    def _new_pool(self) -> httpcore2.ConnectionPool:
        return httpcore2.ConnectionPool(
            ssl_context=self._tls,
            max_connections=None,
            max_keepalive_connections=_MAX_IDLE_CONNECTIONS,
            keepalive_expiry=_IDLE_SECONDS,
            network_backend=self._backend,
        )

    def _reset_after_fork(self) -> None:
        self._backend.close_inherited()
        self._pool = self._new_pool()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request."""
        response = self._pool.handle_request(_to_httpcore(request))
        return httpx2.Response(
            response.status,
            headers=response.headers,
            stream=_Body(response.stream),
            extensions=response.extensions,
        )

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()


class AsyncTransport(httpx2.AsyncBaseTransport):
    """The network for `AsyncRobotsClient`."""

    def __init__(self, guard: Guard | None) -> None:
        self._backend = _AsyncBackend(guard)
        self._tls = httpcore2.default_ssl_context()
        self.reset_connections()
        at_fork(in_child=self._reset_after_fork)

    def reset_connections(self) -> None:
        """Start a new pool: connections of the old one belong to a closed event loop."""
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=self._tls,
            max_connections=None,
            max_keepalive_connections=_MAX_IDLE_CONNECTIONS,
            keepalive_expiry=_IDLE_SECONDS,
            network_backend=self._backend,
        )

    def _reset_after_fork(self) -> None:
        self._backend.close_inherited()
        self.reset_connections()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request."""
        response = await self._pool.handle_async_request(_to_httpcore(request))
        return httpx2.Response(
            response.status,
            headers=response.headers,
            stream=_AsyncBody(response.stream),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()


def has_connection_pool(transport: object) -> bool:
    """Return whether a transport is one of httpx2's, which keep connections open."""
    return isinstance(transport, (httpx2.HTTPTransport, httpx2.AsyncHTTPTransport))
