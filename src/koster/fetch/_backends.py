"""Network backends for httpcore2, with a guard and a deadline.

A backend sees each resolved address before it connects.
"""

from __future__ import annotations

import os
import ssl
import weakref
from collections.abc import Iterable
from typing import Any, TypeAlias

import anyio
import httpcore2

from ._deadline import remaining
from ._failures import ProxyConnectionError
from ._lookup import permitted, resolve, resolve_async
from .guard import Guard

_Options: TypeAlias = Iterable[httpcore2.SOCKET_OPTION] | None

#: Errors of a connection; another address may work.
_CONNECT_ERRORS = (httpcore2.ConnectError, httpcore2.ConnectTimeout)
#: Errors of a connection to a proxy, or of the lookup of its name.
_PROXY_ERRORS = (*_CONNECT_ERRORS, OSError, UnicodeError)


class _Stream(httpcore2.NetworkStream):
    """A connection that obeys the deadline, registered in ``streams``."""

    def __init__(self, inner: httpcore2.NetworkStream, streams: weakref.WeakSet[_Stream]) -> None:
        self._inner = inner
        self._streams = streams
        streams.add(self)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, remaining(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, remaining(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        inner = self._inner.start_tls(ssl_context, server_hostname, remaining(timeout))
        return _Stream(inner, self._streams)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class Backend(httpcore2.NetworkBackend):
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
        addresses = permitted(resolve(host, port, remaining(timeout)), port, self._guard)
        for tries_left in range(len(addresses), 0, -1):
            # An address that does not respond must not use up the time for the others.
            seconds = remaining(timeout) / tries_left
            try:
                inner = self._inner.connect_tcp(
                    addresses[-tries_left], port, seconds, local_address, socket_options or ()
                )
            except _CONNECT_ERRORS:
                if tries_left == 1:
                    raise
            else:
                return _Stream(inner, self._streams)
        raise httpcore2.ConnectError(f"{host} has no address")

    def close_inherited(self) -> None:
        """Close inherited sockets in a child process, without sending anything."""
        for stream in list(self._streams):
            stream.get_extra_info("socket").close()


class ProxyBackend(Backend):
    """Connects to proxies, which may be in a private network."""

    def __init__(self) -> None:
        super().__init__(None)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: _Options = None,
    ) -> httpcore2.NetworkStream:
        try:
            return super().connect_tcp(host, port, timeout, local_address, socket_options)
        except _PROXY_ERRORS as error:
            raise ProxyConnectionError(str(error) or "timed out") from error


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


class AsyncBackend(httpcore2.AsyncNetworkBackend):
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
            # See `Backend`.
            seconds = None if timeout is None else timeout / tries_left
            try:
                inner = await self._inner.connect_tcp(
                    addresses[-tries_left], port, seconds, local_address, socket_options or ()
                )
            except _CONNECT_ERRORS:
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


class AsyncProxyBackend(AsyncBackend):
    """Connects to proxies, which may be in a private network."""

    def __init__(self) -> None:
        super().__init__(None)

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: _Options = None,
    ) -> httpcore2.AsyncNetworkStream:
        try:
            return await super().connect_tcp(host, port, timeout, local_address, socket_options)
        except _PROXY_ERRORS as error:
            raise ProxyConnectionError(str(error) or "timed out") from error
