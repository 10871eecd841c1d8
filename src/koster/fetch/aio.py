"""`AsyncRobotsClient`: waits and fetches on asyncio and trio."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel
import anyio.to_thread

from ..access import Unreachable
from ..cache import MemoryCache
from ..cache.forks import at_fork
from ..dialects import RFC9309
from ._async.client import Client
from ._exchange import Reading, http_request
from ._keeper import AT_ONCE, Keeper, check_arguments, utc_now
from ._network import ERRORS, AsyncTransport, failure_of, keeps_connections
from .pace import Pacer

if TYPE_CHECKING:
    import os
    from collections.abc import AsyncIterator, Callable, Sequence
    from datetime import datetime
    from typing import Self

    import httpx2

    from ..access import Failure, Request, Response
    from ..cache import Cache
    from ..dialects import Dialect
    from ._keeper import Site
    from .events import OnEvent
    from .guard import Guard
    from .pace import PaceKeeper


class AsyncRobotsClient(Client):
    """Does what `RobotsClient` does, with the same arguments, on asyncio and trio.

    A cache or pacer that may block works in threads. ``at_once`` may be an
    ``anyio.Semaphore``, which several clients in one event loop share. ``transport`` is an
    ``httpx2.AsyncBaseTransport``.

    A client belongs to the event loop that uses it first; in any other one its methods raise
    `RuntimeError`. Once that loop is closed the client belongs to the next loop that uses it, and
    keeps what it has fetched. One that was given a semaphore or a transport of httpx2 then raises
    `RuntimeError` where it would fetch, because those belong to the old loop.
    """

    def __init__(
        self,
        user_agent: str,
        *,
        agent: str | Sequence[str] | None = None,
        dialect: Dialect = RFC9309,
        timeout: float = 10.0,
        cache: Cache | str | os.PathLike[str] | None = None,
        guard: Guard | None = None,
        at_once: int | anyio.Semaphore = AT_ONCE,
        pacer: PaceKeeper | None = None,
        on_event: OnEvent | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
        clock: Callable[[], datetime] = utc_now,
        unreachable: Unreachable = Unreachable.DISALLOW,
    ) -> None:
        check_arguments(guard, transport, at_once if isinstance(at_once, int) else 1)
        self._keeper = Keeper(
            user_agent, agent, dialect, timeout, cache, on_event, clock, unreachable
        )
        self._site_at = self._site_in_loop
        self._own_transport: AsyncTransport | None = None
        if transport is None:
            transport = self._own_transport = AsyncTransport(guard)
        self._transport = transport
        self._pacer = Pacer() if pacer is None else pacer
        self._at_once_given = at_once
        #: The event loop that the client belongs to, as anyio has it.
        self._loop: object = None
        self._loop_lock = threading.Lock()
        self._begin_in_new_loop()
        #: The argument that belongs to a closed event loop, if one does.
        self._obstacle = ""
        self._has_fetched = False
        at_fork(in_child=self._renew)

    def _begin_in_new_loop(self) -> None:
        """Make the locks for an event loop; anyio's own ask which one there is, when used."""
        self._at_once = self._at_once_given
        self._fetching = _Locks()
        self._waiting = _Locks()
        self._sleeping: set[anyio.CancelScope] = set()

    def _renew(self) -> None:
        """Leave the parent's event loop to it, in a child process."""
        self._loop_lock = threading.Lock()
        if self._loop is not None:
            self._loop = _CLOSED

    def _check_use(self) -> None:
        """See that the client is used from the event loop that it belongs to.

        Raises:
            RuntimeError: it belongs to another one.
        """
        # The usual case, quickly.
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
                        "make one client for each event loop"
                    )
                self._leave_loop()
            self._loop = loop

    def _leave_loop(self) -> None:
        """Forget what belongs to an event loop that is closed."""
        self._begin_in_new_loop()
        if self._own_transport is not None:
            self._own_transport.forget_connections()
        elif self._has_fetched and keeps_connections(self._transport):
            self._obstacle = "transport"
        if self._has_fetched and not isinstance(self._at_once_given, int):
            self._obstacle = "semaphore"

    async def __aenter__(self) -> Self:
        self._check_use()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close connections, and the cache if the client made it."""
        self._check_use()
        self._keeper.is_closed = True
        for scope in self._sleeping:
            scope.cancel()
        with anyio.CancelScope(shield=True):
            if self._own_transport is not None:
                await self._own_transport.aclose()
            await self._cached(self._keeper.close)

    def _site_in_loop(self, url: str) -> Site | None:
        self._check_use()
        return self._keeper.site_for(url)

    @asynccontextmanager
    async def _until_closed(self) -> AsyncIterator[None]:
        with anyio.CancelScope() as scope:
            self._sleeping.add(scope)
            try:
                yield
            finally:
                self._sleeping.discard(scope)
        if scope.cancelled_caught:
            raise RuntimeError("the client was closed")

    async def _sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)

    async def _paced(self, name: str, *arguments: object) -> Any:
        method = getattr(self._pacer, name)
        if isinstance(self._pacer, Pacer):
            return method(*arguments)
        return await anyio.to_thread.run_sync(method, *arguments)

    async def _cached(self, method: Callable[..., Any], *arguments: object) -> Any:
        if isinstance(self._keeper.cache, MemoryCache):
            return method(*arguments)
        return await anyio.to_thread.run_sync(method, *arguments, abandon_on_cancel=True)

    def _check_transport(self) -> None:
        if self._obstacle:
            raise RuntimeError(
                f"the {self._obstacle} of this AsyncRobotsClient belongs to an event loop that is "
                f"closed, or to the parent process: make a new client with a new {self._obstacle}"
            )
        self._has_fetched = True

    def _slot(self) -> anyio.Semaphore:
        if isinstance(self._at_once, int):
            self._at_once = anyio.Semaphore(self._at_once)
        return self._at_once

    async def _answer(self, request: Request, until: float) -> Response | Failure:
        try:
            with anyio.fail_after(max(until - time.monotonic(), 0)):
                sent = http_request(request, self._keeper.user_agent, None)
                response = await self._transport.handle_async_request(sent)
                try:
                    reading = Reading(response)
                    if reading.wants_body:
                        async with aclosing(response.aiter_raw()) as parts:
                            async for part in parts:
                                if reading.is_enough(part):
                                    break
                finally:
                    await response.aclose()
            return reading.result()
        except ERRORS as error:
            return failure_of(error, self._keeper.timeout)


#: Stands for an event loop of the parent process.
_CLOSED = object()


def _is_closed(loop: Any) -> bool:
    """Tell whether an event loop, or what trio has as a token of one, is closed."""
    if loop is _CLOSED:
        return True
    if hasattr(loop, "is_closed"):
        return bool(loop.is_closed())
    try:
        loop.run_sync_soon(bool)
    except RuntimeError:
        return True
    return False


class _Locks:
    """Locks by name, there as long as somebody holds or wants them; first come, first served."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[anyio.Lock, int]] = {}

    @asynccontextmanager
    async def of(self, name: str, until: float = math.inf) -> AsyncIterator[bool]:
        """Hold the lock of a name; False if it is not to be had until a monotonic moment."""
        lock, count = self._held.get(name) or (anyio.Lock(), 0)
        self._held[name] = lock, count + 1
        has_it = False
        try:
            try:
                lock.acquire_nowait()
                has_it = True
            except anyio.WouldBlock:
                with anyio.move_on_after(max(until - time.monotonic(), 0)):
                    await lock.acquire()
                    has_it = True
            yield has_it
        finally:
            if has_it:
                lock.release()
            lock, count = self._held.pop(name)
            if count > 1:
                self._held[name] = lock, count - 1
