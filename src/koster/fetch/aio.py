"""`AsyncRobotsClient`: the client for asyncio and trio."""

from __future__ import annotations

import asyncio
import math
import os
import ssl
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

import anyio
import anyio.lowlevel
import anyio.to_thread

from ..access import Failure, Html, Redirects, Request, Response, Unreachable
from ..cache import Cache, MemoryCache
from ..cache.forks import at_fork
from ..dialects import RFC9309, Dialect
from ..politeness import Limits, Longer
from ._arguments import DEFAULT_AT_ONCE, NetworkSettings, check_arguments
from ._async.client import Client
from ._exchange import answer_of, reader_of
from ._failures import through, to_failure
from ._grouping import Grouping, Groups, PaceBy
from ._state import ClientState, Site, utc_now
from .events import OnEvent
from .guard import Guard
from .pace import PaceKeeper, Pacer, pacer_for
from .senders import async_sender_for

if TYPE_CHECKING:
    import aiohttp
    import httpx
    import httpx2

    from ..signals import Unstated


class AsyncRobotsClient(Client):
    """`RobotsClient` for asyncio and trio, with the same arguments.

    Caches and pacers that may block run in threads. ``at_once`` may be an ``anyio.Semaphore``
    shared by several clients in one event loop. ``http`` is an ``httpx.AsyncClient``,
    ``httpx2.AsyncClient`` or ``aiohttp.ClientSession``, ``transport`` an
    ``httpx2.AsyncBaseTransport``.

    A client belongs to the event loop that uses it first; in any other loop its methods raise
    `RuntimeError`. When that loop is closed, the client moves to the next loop that uses it, with
    everything it has cached. A semaphore, HTTP client or httpx2 transport stays with the old loop:
    a client with one then raises `RuntimeError` when it has to fetch.
    """

    #: `koster serve` has its own.
    _state_type: type[ClientState] = ClientState

    def __init__(
        self,
        user_agent: str,
        *,
        agent: str | Sequence[str] | None = None,
        dialect: Dialect = RFC9309,
        timeout: float = 10.0,
        headers: Mapping[str, str] | None = None,
        cache: Cache | str | os.PathLike[str] | None = None,
        default_interval: float | None = None,
        min_interval: float = 0.0,
        max_interval: float | None = None,
        longer: Longer = Longer.REFUSE,
        pacer: PaceKeeper | None = None,
        pace_by: Grouping = PaceBy.ORIGIN,
        guard: Guard | None = None,
        proxy: str | None = None,
        trust_env: bool = True,
        verify: bool | str | os.PathLike[str] | ssl.SSLContext = True,
        cert: str | os.PathLike[str] | tuple[str | os.PathLike[str], ...] | None = None,
        http: httpx2.AsyncClient | httpx.AsyncClient | aiohttp.ClientSession | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
        at_once: int | anyio.Semaphore = DEFAULT_AT_ONCE,
        on_event: OnEvent | None = None,
        clock: Callable[[], datetime] = utc_now,
        unreachable: Unreachable = Unreachable.DISALLOW,
        html: Html = Html.NO_RULES,
        redirects: Redirects = Redirects.ANY_SITE,
        uses: Sequence[str] = (),
        unstated: Unstated | None = None,
    ) -> None:
        limits = Limits(min_interval, max_interval, longer)
        network = NetworkSettings(guard, proxy, trust_env, verify, cert)
        check_arguments(
            network, http, transport, 1 if isinstance(at_once, anyio.Semaphore) else at_once
        )
        self._state = self._state_type(
            user_agent,
            agent,
            dialect,
            timeout,
            headers,
            cache,
            on_event,
            clock,
            unreachable,
            html,
            redirects,
        )
        self._cached_site = self._cached_site_in_loop
        self._sender = async_sender_for(network, http, transport)
        self._network_argument = "transport" if http is None else "http client"
        self._pacer = pacer_for(pacer, default_interval, limits)
        self._groups = Groups(pace_by)
        self._set_uses(uses, unstated)
        self._at_once_argument = at_once
        #: The event loop that the client belongs to, as anyio's token.
        self._loop: object = None
        self._loop_lock = threading.Lock()
        self._create_locks()
        #: The name of the argument that belongs to a closed event loop, if one does.
        self._stale_argument = ""
        self._has_fetched = False
        at_fork(in_child=self._reset_after_fork)

    def _create_locks(self) -> None:
        """Create locks; anyio's bind to the event loop on first use."""
        self._at_once = self._at_once_argument
        self._fetch_locks = _Locks()
        self._turn_locks = _Locks()
        self._sleeping: set[anyio.CancelScope] = set()

    def _reset_after_fork(self) -> None:
        """Treat the parent's event loop as closed, in a child process."""
        self._loop_lock = threading.Lock()
        if self._loop is not None:
            self._loop = _PARENT_LOOP

    def _check_use(self) -> None:
        """Check that the client belongs to this event loop, or can move to it.

        Raises:
            RuntimeError: it belongs to another one.
        """
        # Fast path.
        try:
            if asyncio.get_running_loop() is self._loop:
                return
        except RuntimeError:
            pass
        loop = anyio.lowlevel.current_token().native_token
        with self._loop_lock:
            if self._loop is loop:
                return
            if self._loop is not None:
                if not _is_closed(self._loop):
                    raise RuntimeError(
                        "this AsyncRobotsClient belongs to another event loop: "
                        "create one client per event loop"
                    )
                self._move_to_new_loop()
            self._loop = loop

    def _move_to_new_loop(self) -> None:
        """Drop everything that belongs to a closed event loop."""
        self._create_locks()
        self._sender.reset_connections()
        if self._has_fetched and self._sender.keeps_connections:
            self._stale_argument = self._network_argument
        if self._has_fetched and not isinstance(self._at_once_argument, int):
            self._stale_argument = "semaphore"

    async def __aenter__(self) -> Self:
        self._check_use()
        self._state.check_open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close connections, and the cache if the client created it."""
        self._check_use()
        self._state.is_closed = True
        for scope in self._sleeping:
            scope.cancel()
        with anyio.CancelScope(shield=True):
            await self._sender.aclose()
            await self._call_cache(self._state.close)

    async def _for_each(self, function: Callable[[str], Any], items: Sequence[str]) -> None:
        self._check_use()
        at_once = self._at_once_argument
        workers = min(at_once if isinstance(at_once, int) else DEFAULT_AT_ONCE, len(items))
        rest = iter(items)
        errors: list[Exception] = []

        async def work() -> None:
            try:
                for item in rest:
                    await function(item)
            except Exception as error:  # noqa: BLE001 - raised below, without an ExceptionGroup
                errors.append(error)
                tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            for _ in range(workers):
                tasks.start_soon(work)
        if errors:
            raise errors[0]

    def _cached_site_in_loop(self, url: str) -> Site | None:
        self._check_use()
        return self._state.cached_site(url)

    @asynccontextmanager
    async def _cancelled_on_close(self) -> AsyncIterator[None]:
        with anyio.CancelScope() as scope:
            self._sleeping.add(scope)
            try:
                yield
            finally:
                self._sleeping.discard(scope)
        if scope.cancelled_caught:
            raise RuntimeError("the client is closed")

    async def _sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)

    async def _look_up(self, host: str) -> Sequence[str]:
        from ._lookup import resolve_async  # noqa: PLC0415 - for one setting only

        with suppress(OSError, UnicodeError), anyio.move_on_after(self._state.timeout):
            return await resolve_async(host, 443)
        return ()

    async def _body_of(self, response: Any) -> bytes:
        read = getattr(response, "aread", None) or getattr(response, "read", None)
        found: bytes = response.content if read is None else await read()
        return found

    async def _call_pacer_shielded(self, name: str, *arguments: object) -> None:
        method = getattr(self._pacer, name)
        if isinstance(self._pacer, Pacer):
            method(*arguments)
            return
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(method, *arguments)

    async def _call_pacer(self, name: str, *arguments: object) -> Any:
        method = getattr(self._pacer, name)
        if isinstance(self._pacer, Pacer):
            return method(*arguments)
        return await anyio.to_thread.run_sync(method, *arguments)

    async def _call_cache(self, method: Callable[..., Any], *arguments: object) -> Any:
        if isinstance(self._state.cache, MemoryCache):
            return method(*arguments)
        return await anyio.to_thread.run_sync(method, *arguments, abandon_on_cancel=True)

    def _check_transport(self) -> None:
        if self._stale_argument:
            name = self._stale_argument
            raise RuntimeError(
                f"the {name} of this AsyncRobotsClient belongs to a closed event loop or to the "
                f"parent process: create a new client with a new {name}"
            )
        self._has_fetched = True

    def _fetch_slot(self) -> anyio.Semaphore:
        if isinstance(self._at_once, int):
            self._at_once = anyio.Semaphore(self._at_once)
        return self._at_once

    async def _send(self, request: Request, until: float) -> Response | Failure:
        state, sender = self._state, self._sender
        found: Response | Failure
        try:
            with anyio.fail_after(max(until - time.monotonic(), 0)):
                headers = state.headers_for(request)
                async with sender.send(request.url, headers) as received:
                    reading = reader_of(received)
                    if reading.wants_body:
                        async with aclosing(received.parts) as chunks:
                            async for chunk in chunks:
                                if reading.feed(chunk):
                                    break
            found = answer_of(received, reading)
        except sender.errors as error:
            found = to_failure(error, state.timeout, sender.kinds)
        if isinstance(found, Failure):
            return through(found, sender.proxy_for(request.url))
        return found


#: Marks an event loop of the parent process.
_PARENT_LOOP = object()


def _is_closed(loop: Any) -> bool:
    """Return whether an event loop (on trio, its token) is closed."""
    if loop is _PARENT_LOOP:
        return True
    if hasattr(loop, "is_closed"):
        return bool(loop.is_closed())
    try:
        loop.run_sync_soon(bool)
    except RuntimeError:
        return True
    return False


class _Locks:
    """Locks by name, in FIFO order; a name's lock exists only while it is in use."""

    def __init__(self) -> None:
        self._locks: dict[str, tuple[anyio.Lock, int]] = {}

    @asynccontextmanager
    async def hold(self, name: str, until: float = math.inf) -> AsyncIterator[bool]:
        """Hold a name's lock; False if it is not free before ``until`` (monotonic)."""
        lock, count = self._locks.get(name) or (anyio.Lock(), 0)
        self._locks[name] = lock, count + 1
        is_acquired = False
        try:
            try:
                lock.acquire_nowait()
                is_acquired = True
            except anyio.WouldBlock:
                with anyio.move_on_after(max(until - time.monotonic(), 0)):
                    await lock.acquire()
                    is_acquired = True
            yield is_acquired
        finally:
            if is_acquired:
                lock.release()
            lock, count = self._locks.pop(name)
            if count > 1:
                self._locks[name] = lock, count - 1
