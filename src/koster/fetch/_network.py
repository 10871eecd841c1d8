"""The network under both clients: transports on httpcore2, with a guard and a deadline.

httpx2 brings requests and responses; its pools are httpcore2's, whose network backends are the
place at which an address is about to be connected to.
"""

from __future__ import annotations

import contextlib
import contextvars
import os
import queue
import socket
import ssl
import threading
import time
import weakref
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import anyio
import anyio.from_thread
import anyio.lowlevel
import httpcore2
import httpx2
import idna

from ..access import Failure, FailureKind
from ..cache.forks import at_fork
from ..origins import idna_2003
from . import _codings
from .guard import RefusedAddressError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator

    from .guard import Guard

    _Options: TypeAlias = Iterable[httpcore2.SOCKET_OPTION] | None
    #: Addresses, or what went wrong.
    _Found: TypeAlias = list[str] | Exception

#: Connections that are kept open for a while after an answer: redirects often stay on a host.
_KEPT_OPEN = 3
_KEPT_SECONDS = 5.0

#: When the fetch in this context is to be over, by the monotonic clock.
_deadline: contextvars.ContextVar[float | None] = contextvars.ContextVar("deadline", default=None)


def to_ascii(host: str) -> str:
    """Return a host's name in ASCII, as browsers do (UTS 46), or by IDNA 2003 what that leaves.

    Raises:
        ValueError: it has no such form.
    """
    try:
        return idna.encode(host, uts46=True).decode("ascii")
    except idna.IDNAError:
        return idna_2003(host)


class Deadline:
    """Within it, no step on a connection of `Transport` goes beyond a monotonic moment."""

    def __init__(self, moment: float) -> None:
        self.moment = moment

    def __enter__(self) -> Self:
        self._token = _deadline.set(self.moment)
        return self

    def __exit__(self, *_: object) -> None:
        _deadline.reset(self._token)

    def check(self) -> float:
        """Return the seconds that are left.

        Raises:
            httpcore2.ReadTimeout: none are.
        """
        return _left(None)


def _left(timeout: float | None) -> float:
    """Return the seconds that a step may take.

    Raises:
        httpcore2.ReadTimeout: none are left.
    """
    moment = _deadline.get()
    if moment is None:
        return timeout if timeout is not None else 60.0
    left = moment - time.monotonic()
    if left <= 0:
        raise httpcore2.ReadTimeout("the deadline has passed")
    return left


class _Stream(httpcore2.NetworkStream):
    """A connection whose steps end at the deadline; ``streams`` are all that there are."""

    def __init__(self, inner: httpcore2.NetworkStream, streams: weakref.WeakSet[_Stream]) -> None:
        self._inner = inner
        self._streams = streams
        streams.add(self)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, _left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, _left(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        inner = self._inner.start_tls(ssl_context, server_hostname, _left(timeout))
        return _Stream(inner, self._streams)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class _Backend(httpcore2.NetworkBackend):
    """Connects to addresses that the guard lets through, before the deadline."""

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
        addresses = _usable(_resolved(host, port, _left(timeout)), port, self._guard)
        for tries_left in range(len(addresses), 0, -1):
            # Of several addresses one that does not answer must not take all the time.
            seconds = _left(timeout) / tries_left
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

    def leave_to_parent(self) -> None:
        """Close a child process's copies of sockets, without a word to the server."""
        for stream in list(self._streams):
            stream.get_extra_info("socket").close()


def _resolved(host: str, port: int, seconds: float) -> list[str]:
    """Return the addresses of a host.

    Raises:
        httpcore2.ConnectTimeout: it took too long.
        OSError: there are none.
        UnicodeError: it cannot be a name.
    """
    found = _numeric(host, port)
    if found is not None:
        return found
    results: queue.SimpleQueue[_Found] = queue.SimpleQueue()
    _look_up(host, port, results.put)
    try:
        return _given(results.get(timeout=seconds))
    except queue.Empty:
        raise httpcore2.ConnectTimeout(f"{host} was not resolved in time") from None


async def _resolved_meanwhile(host: str, port: int) -> list[str]:
    """Return the addresses of a host, while other tasks go on.

    Raises:
        OSError: there are none.
        UnicodeError: it cannot be a name.
    """
    found = _numeric(host, port)
    if found is not None:
        return found
    done = anyio.Event()
    asking = threading.current_thread()
    token = anyio.lowlevel.current_token()
    results: list[_Found] = []

    def put(found: _Found) -> None:
        results.append(found)
        if threading.current_thread() is asking:
            done.set()
            return
        # Where the loop is over, nobody waits.
        with contextlib.suppress(RuntimeError, anyio.RunFinishedError):
            anyio.from_thread.run_sync(done.set, token=token)

    _look_up(host, port, put)
    await done.wait()
    return _given(results[0])


def _numeric(host: str, port: int) -> list[str] | None:
    """Return the address that a host is, or None if it is a name."""
    try:
        return _addresses(socket.getaddrinfo(host, port, flags=socket.AI_NUMERICHOST))
    except (OSError, UnicodeError):
        return None


def _look_up(host: str, port: int, put: Callable[[_Found], object]) -> None:
    """Hand out the addresses of a host, or what went wrong, from a thread.

    The system's resolver knows no deadline: it works in a thread of its own, which is left alone if
    it takes too long, and which nobody waits for at the end.
    """

    def resolve() -> None:
        try:
            put(_addresses(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))
        except (OSError, UnicodeError) as error:
            put(error)

    thread = threading.Thread(target=resolve, name=f"resolve {host}", daemon=True)
    try:
        thread.start()
    except RuntimeError as error:
        put(OSError(f"{host} was not resolved: {error}"))


def _given(found: _Found) -> list[str]:
    """Return addresses, or raise what went wrong."""
    if isinstance(found, Exception):
        raise found
    return found


def _addresses(found: Iterable[tuple[Any, ...]]) -> list[str]:
    """Return the addresses that a resolver gave, each once."""
    return list(dict.fromkeys(str(each[4][0]) for each in found))


def _usable(addresses: list[str], port: int, guard: Guard | None) -> list[str]:
    """Return the addresses that the guard lets through.

    Raises:
        RefusedAddressError: it lets none through, or not that port.
    """
    if guard is None:
        return addresses
    why = guard.why_not_at(port)
    if why is not None:
        raise RefusedAddressError(f"port {port} is {why}")
    usable = [address for address in addresses if guard.why_not(address) is None]
    if addresses and not usable:
        raise RefusedAddressError(f"{addresses[0]} is {guard.why_not(addresses[0])}")
    return usable


class _AsyncStream(httpcore2.AsyncNetworkStream):
    """A connection that is closed when somebody stops waiting for its TLS."""

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
    """Connects to addresses that the guard lets through. Deadlines are the caller's scopes."""

    def __init__(self, guard: Guard | None) -> None:
        self._guard = guard
        self._inner = httpcore2.AnyIOBackend()
        #: All connections that there are.
        self._streams: weakref.WeakSet[httpcore2.AsyncNetworkStream] = weakref.WeakSet()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: _Options = None,
    ) -> httpcore2.AsyncNetworkStream:
        addresses = _usable(await _resolved_meanwhile(host, port), port, self._guard)
        for tries_left in range(len(addresses), 0, -1):
            # As in `_Backend`.
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

    def leave_to_parent(self) -> None:
        """Close a child process's copies of sockets, without a word to the server.

        The event loop that they belong to is the parent's. To close them through it would make
        the parent's loop forget them; here only the number leads elsewhere.
        """
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in list(self._streams):
            socket_ = stream.get_extra_info("socket")
            number = -1 if socket_ is None else socket_.fileno()
            if number >= 0:
                os.dup2(nowhere, number, inheritable=False)
        os.close(nowhere)


class _Body(httpx2.SyncByteStream):
    """The body of an answer."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        yield from self._stream

    def close(self) -> None:
        self._stream.close()


class _AsyncBody(httpx2.AsyncByteStream):
    """The body of an answer."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async with aclosing(aiter(self._stream)) as parts:
            async for part in parts:
                yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


def _for_the_pool(request: httpx2.Request) -> httpcore2.Request:
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
        at_fork(in_child=self._renew)

    def _new_pool(self) -> httpcore2.ConnectionPool:
        return httpcore2.ConnectionPool(
            ssl_context=self._tls,
            max_connections=None,
            max_keepalive_connections=_KEPT_OPEN,
            keepalive_expiry=_KEPT_SECONDS,
            network_backend=self._backend,
        )

    def _renew(self) -> None:
        self._backend.leave_to_parent()
        self._pool = self._new_pool()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request."""
        answer = self._pool.handle_request(_for_the_pool(request))
        return httpx2.Response(
            answer.status,
            headers=answer.headers,
            stream=_Body(answer.stream),
            extensions=answer.extensions,
        )

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()


class AsyncTransport(httpx2.AsyncBaseTransport):
    """The network for `AsyncRobotsClient`."""

    def __init__(self, guard: Guard | None) -> None:
        self._backend = _AsyncBackend(guard)
        self._tls = httpcore2.default_ssl_context()
        self.forget_connections()
        at_fork(in_child=self._renew)

    def forget_connections(self) -> None:
        """Begin without connections; those that there are belong to a closed event loop."""
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=self._tls,
            max_connections=None,
            max_keepalive_connections=_KEPT_OPEN,
            keepalive_expiry=_KEPT_SECONDS,
            network_backend=self._backend,
        )

    def _renew(self) -> None:
        self._backend.leave_to_parent()
        self.forget_connections()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request."""
        answer = await self._pool.handle_async_request(_for_the_pool(request))
        return httpx2.Response(
            answer.status,
            headers=answer.headers,
            stream=_AsyncBody(answer.stream),
            extensions=answer.extensions,
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()


def keeps_connections(transport: object) -> bool:
    """Tell whether a transport is one of httpx2's, which keeps connections open."""
    return isinstance(transport, (httpx2.HTTPTransport, httpx2.AsyncHTTPTransport))


#: What may keep an answer from coming.
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

#: The kinds of errors, the first that fits; an error is also what caused it.
_KINDS: tuple[tuple[tuple[type[BaseException], ...], FailureKind], ...] = (
    ((RefusedAddressError,), FailureKind.REFUSED),
    ((httpx2.TimeoutException, httpcore2.TimeoutException, TimeoutError), FailureKind.TIMEOUT),
    ((ssl.SSLError, ssl.CertificateError), FailureKind.TLS),
    ((socket.gaierror, UnicodeError, httpx2.InvalidURL), FailureKind.NAME),
    ((httpx2.DecodingError, *_codings.ERRORS), FailureKind.ENCODING),
    ((httpx2.ProtocolError, httpcore2.ProtocolError), FailureKind.NOT_HTTP),
)
_WHYS = {
    FailureKind.TIMEOUT: "no whole answer within {timeout:g} s",
    FailureKind.NAME: "its name has no address: {error}",
    FailureKind.CONNECTION: "the connection failed: {error}",
    FailureKind.TLS: "no trusted connection (TLS): {error}",
    FailureKind.NOT_HTTP: "no proper answer of HTTP: {error}",
    FailureKind.ENCODING: "its body cannot be decoded: {error}",
    FailureKind.REFUSED: "the guard refuses its address: {error}",
}
_LONGEST_WHY = 300


def failure_of(error: BaseException, timeout: float) -> Failure:
    """Return what an error means for a fetch that had so many seconds."""
    chain = _chain(error)
    kind = next(
        (kind for types, kind in _KINDS for each in chain if isinstance(each, types)),
        FailureKind.CONNECTION,
    )
    said = next((str(each) for each in chain if str(each)), type(error).__name__)
    if "WRONG_VERSION_NUMBER" in said:
        said = "it does not speak TLS; is it http:// there?"
    return Failure(kind, _WHYS[kind].format(timeout=timeout, error=said[:_LONGEST_WHY]))


def _chain(error: BaseException) -> list[BaseException]:
    """Return an error and what caused it."""
    chain: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and following not in chain:
        chain.append(following)
        following = following.__cause__ or following.__context__
    return chain
