"""`AsyncRobotsClient`: the twin of `RobotsClient` for asyncio and trio."""

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

from ..access import Request, Unreachable
from ..cache import MemoryCache
from ..cache.forks import at_fork
from ..dialects import RFC9309
from ..origins import origin_of
from ._exchange import Reading, http_request
from ._keeper import AT_ONCE, Keeper, check_arguments, place_of, utc_now
from ._network import ERRORS, AsyncTransport, failure_of, keeps_connections, to_ascii
from .pace import LONGEST_SLEEP, Pacer

if TYPE_CHECKING:
    import os
    from collections.abc import AsyncIterator, Callable, Sequence
    from datetime import datetime
    from typing import Self

    import httpx2

    from ..access import Failure, Outcome, Response
    from ..cache import Cache
    from ..dialects import Dialect
    from ..freshness import Entry
    from ..model import Decision
    from ..origins import Origin
    from ..robots import Rules
    from ._keeper import Site
    from .events import OnEvent
    from .guard import Guard
    from .pace import PaceKeeper


class AsyncRobotsClient:
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
        #: What the client was given that belongs to a closed event loop, if anything does.
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

    def _check_loop(self) -> None:
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
        self._check_loop()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close connections, and the cache if the client made it."""
        self._check_loop()
        self._keeper.is_closed = True
        for scope in self._sleeping:
            scope.cancel()
        with anyio.CancelScope(shield=True):
            if self._own_transport is not None:
                await self._own_transport.aclose()
            await self._cached(self._keeper.close)

    async def allowed(self, url: str, agent: str | Sequence[str] | None = None) -> bool:
        """Tell whether a robot may fetch a URL; see `RobotsClient.allowed`."""
        self._check_loop()
        site = self._keeper.site_at(place_of(url))
        if site is None:
            return (await self.decide(url, agent)).allowed
        return self._keeper.verdict(site, url, agent)

    async def decide(self, url: str, agent: str | Sequence[str] | None = None) -> Decision:
        """Decide about a URL, with the reason; see `RobotsClient.decide`."""
        self._check_loop()
        keeper = self._keeper
        site = keeper.site_at(place_of(url))
        if site is None:
            asked = keeper.agent if agent is None else agent
            decision = keeper.needs_no_fetch(url, asked)
            if decision is not None:
                return decision
            site = await self._site(url)
        return keeper.decision(site, url, agent)

    async def robots(self, url: str) -> Outcome:
        """Return what fetching a site's robots.txt gave; see `RobotsClient.robots`."""
        return (await self._known(url)).outcome

    async def refetch(self, url: str) -> Outcome:
        """Ask a URL's site again; see `RobotsClient.refetch`."""
        self._check_loop()
        keeper = self._keeper
        origin = origin_of(url, to_ascii)
        async with self._fetching.of(str(origin)):
            keeper.check_open()
            entry = await self._cached(keeper.shelf.get, str(origin))
            site = await self._asked(origin, entry)
            keeper.keep(str(origin), site)
        keeper.keep(place_of(url), site)
        return site.outcome

    async def wait(
        self,
        url: str,
        agent: str | Sequence[str] | None = None,
        *,
        at_most: float | None = None,
    ) -> float:
        """Wait until the site may be asked again; see `RobotsClient.wait`."""
        began = time.monotonic()
        site = await self._known(url)
        self._keeper.tell_if_outside(site, agent)
        key, rules = self._keeper.pace_key(site, agent), self._keeper.rules(site, agent)
        until = math.inf if at_most is None else began + at_most
        has_turn = False
        with anyio.CancelScope() as scope:
            self._sleeping.add(scope)
            try:
                async with self._waiting.of(key, until) as is_first:
                    has_turn = is_first and await self._turn(key, rules, until)
            finally:
                self._sleeping.discard(scope)
        if not has_turn:
            if self._keeper.is_closed:
                raise RuntimeError("the client was closed")
            moment = await self._paced("next_request", key, rules, self._keeper.clock())
            raise self._keeper.too_soon(key, moment)
        return time.monotonic() - began

    async def _turn(self, key: str, rules: Rules, until: float) -> bool:
        """Take the turn when it is due; tells whether that is before a monotonic moment."""
        while (seconds := await self._paced("turn", key, rules, self._keeper.clock())) > 0:
            if time.monotonic() + seconds > until:
                return False
            await anyio.sleep(min(seconds, LONGEST_SLEEP))
        return True

    async def next_request(self, url: str, agent: str | Sequence[str] | None = None) -> datetime:
        """Return when the site may be asked again; see `RobotsClient.next_request`."""
        site = await self._known(url)
        key, rules = self._keeper.pace_key(site, agent), self._keeper.rules(site, agent)
        moment: datetime = await self._paced("next_request", key, rules, self._keeper.clock())
        return moment

    async def took(
        self, url: str, seconds: float, agent: str | Sequence[str] | None = None
    ) -> None:
        """Tell how long a request took; see `RobotsClient.took`."""
        site = await self._known(url)
        await self._paced("took", self._keeper.pace_key(site, agent), seconds)

    async def _paced(self, name: str, *arguments: object) -> Any:
        """Ask the pacer; one that may block, in a thread."""
        method = getattr(self._pacer, name)
        if isinstance(self._pacer, Pacer):
            return method(*arguments)
        return await anyio.to_thread.run_sync(method, *arguments)

    async def _cached(self, method: Callable[..., Any], *arguments: object) -> Any:
        """Ask the cache; one that may block, in a thread."""
        if isinstance(self._keeper.cache, MemoryCache):
            return method(*arguments)
        return await anyio.to_thread.run_sync(method, *arguments, abandon_on_cancel=True)

    async def _known(self, url: str) -> Site:
        self._check_loop()
        site = self._keeper.site_at(place_of(url))
        return await self._site(url) if site is None else site

    async def _site(self, url: str) -> Site:
        """Return the site of a URL: from the cache, or fetched, by one task at a time."""
        keeper = self._keeper
        origin = origin_of(url, to_ascii)
        async with self._fetching.of(str(origin)):
            self._keeper.check_open()
            site = keeper.site_at(str(origin))
            if site is None:
                entry = await self._cached(keeper.shelf.get, str(origin))
                site = keeper.if_fresh(entry)
                if site is None:
                    site = await self._asked(origin, entry)
                keeper.keep(str(origin), site)
        keeper.keep(place_of(url), site)
        return site

    async def _asked(self, origin: Origin, copy: Entry | None) -> Site:
        """Fetch a robots.txt, and keep it."""
        entry = await self._fetched(origin, copy)
        # What was closed under it tells nothing about the site.
        self._keeper.check_open()
        await self._cached(self._keeper.shelf.put, entry)
        return self._keeper.site_of(entry)

    async def _fetched(self, origin: Origin, copy: Entry | None) -> Entry:
        """Fetch a robots.txt.

        Raises:
            RuntimeError: the client was closed, or has something of another event loop.
        """
        keeper = self._keeper
        if self._obstacle:
            raise RuntimeError(
                f"the {self._obstacle} of this AsyncRobotsClient belongs to an event loop that is "
                f"closed, or to the parent process: make a new client with a new {self._obstacle}"
            )
        self._has_fetched = True
        if isinstance(self._at_once, int):
            self._at_once = anyio.Semaphore(self._at_once)
        async with self._at_once:
            self._keeper.check_open()
            until = time.monotonic() + keeper.timeout
            step: Request | Entry = keeper.begin(origin, copy)
            while isinstance(step, Request):
                asked = time.monotonic()
                answer = await self._answer(step, until - asked)
                step = keeper.follow(step, answer, time.monotonic() - asked)
        return step

    async def _answer(self, request: Request, left: float) -> Response | Failure:
        """Send a request; there are so many seconds left."""
        try:
            with anyio.fail_after(max(left, 0)):
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
