"""`RobotsClient`: fetches, keeps, decides and waits. For threads; `aio` has its twin."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..access import Request, Unreachable
from ..cache.forks import at_fork
from ..dialects import RFC9309
from ..origins import origin_of
from ._exchange import Reading, http_request
from ._keeper import AT_ONCE, Keeper, check_arguments, place_of, utc_now
from ._network import ERRORS, Deadline, Transport, failure_of, keeps_connections, to_ascii
from .pace import LONGEST_SLEEP, Pacer

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence
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


class RobotsClient:
    """Fetches each site's robots.txt once, keeps it, and decides. May be shared between threads.

    Args:
        user_agent: What is sent as the User-Agent header of each fetch.
        agent: Who asks where a question does not say: a product token, a header, or a sequence
            of tokens. Without it, ``user_agent``.
        dialect: How files and statuses are read.
        timeout: Seconds that a whole fetch may take, redirects included.
        cache: Where entries are kept: any `koster.cache.Cache`; the path of a file, for an
            `SqliteCache`; a URL ``redis://…``, for a `RedisCache`. Without it, in memory. What
            the client made itself it closes.
        guard: Which addresses are refused, as in `PUBLIC_ONLY`. Without it, none.
        at_once: How many fetches run at a time; others wait, and their time has not begun.
        pacer: Who keeps the pace for `wait`: a `FleetPacer` for several processes. Without it, a
            `Pacer` of the client's own.
        on_event: Called with each `Event`.
        transport: What sends requests in place of koster's own network, as `MockTransport` or an
            ``httpx2.HTTPTransport`` with a proxy. It cannot be guarded; the caller closes it.
        clock: Gives the time, with a time zone.
        unreachable: What a site that cannot be reached, and of whose file there is no copy, lets
            crawlers fetch: nothing, or everything with a warning in the log.

    Raises:
        ValueError: ``user_agent`` cannot be sent, ``timeout`` or ``at_once`` is not above 0, or
            there are both a guard and a transport.
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
        at_once: int = AT_ONCE,
        pacer: PaceKeeper | None = None,
        on_event: OnEvent | None = None,
        transport: httpx2.BaseTransport | None = None,
        clock: Callable[[], datetime] = utc_now,
        unreachable: Unreachable = Unreachable.DISALLOW,
    ) -> None:
        check_arguments(guard, transport, at_once)
        self._keeper = Keeper(
            user_agent, agent, dialect, timeout, cache, on_event, clock, unreachable
        )
        self._transport_is_ours = transport is None
        self._transport = Transport(guard) if transport is None else transport
        self._pacer = Pacer() if pacer is None else pacer
        self._at_once_number = at_once
        self._at_once = threading.BoundedSemaphore(at_once)
        self._fetching = _Locks()
        self._waiting = _Locks()
        self._closing = threading.Event()
        self._has_fetched = False
        self._is_transport_inherited = False
        at_fork(in_child=self._renew)

    def _renew(self) -> None:
        """Forget what other threads of the parent process were doing, in a child process."""
        self._at_once = threading.BoundedSemaphore(self._at_once_number)
        self._closing = threading.Event()
        if self._keeper.is_closed:
            self._closing.set()
        if self._has_fetched and keeps_connections(self._transport):
            self._is_transport_inherited = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close connections, and the cache if the client made it."""
        self._keeper.is_closed = True
        self._closing.set()
        if self._transport_is_ours:
            self._transport.close()
        self._keeper.close()

    def allowed(self, url: str, agent: str | Sequence[str] | None = None) -> bool:
        """Tell whether a robot may fetch a URL.

        Raises:
            UrlError: it belongs to no site.
        """
        site = self._keeper.site_at(place_of(url))
        if site is None:
            return self.decide(url, agent).allowed
        return self._keeper.verdict(site, url, agent)

    def decide(self, url: str, agent: str | Sequence[str] | None = None) -> Decision:
        """Decide as `allowed` does, with the reason.

        Raises:
            UrlError: it belongs to no site.
        """
        keeper = self._keeper
        site = keeper.site_at(place_of(url))
        if site is None:
            asked = keeper.agent if agent is None else agent
            decision = keeper.needs_no_fetch(url, asked)
            if decision is not None:
                return decision
            site = self._site(url)
        return keeper.decision(site, url, agent)

    def robots(self, url: str) -> Outcome:
        """Return what fetching the robots.txt of a URL's site gave, now or before.

        Raises:
            UrlError: it belongs to no site.
        """
        return self._known(url).outcome

    def refetch(self, url: str) -> Outcome:
        """Ask a URL's site again, though what is kept of it may hold: its owner has changed it.

        Raises:
            UrlError: it belongs to no site.
        """
        keeper = self._keeper
        origin = origin_of(url, to_ascii)
        with self._fetching.of(str(origin)):
            keeper.check_open()
            site = self._asked(origin, keeper.shelf.get(str(origin)))
            keeper.keep(str(origin), site)
        keeper.keep(place_of(url), site)
        return site.outcome

    def wait(
        self,
        url: str,
        agent: str | Sequence[str] | None = None,
        *,
        at_most: float | None = None,
    ) -> float:
        """Wait until the site may be asked again, and take the turn; return the seconds waited.

        The pace is kept for each origin and agent; threads get their turns in the order in which
        they came. Where the site asks for nothing, the pacer's default holds.

        Args:
            url: A URL of the site.
            agent: Who asks.
            at_most: Seconds; it may be years, without it.

        Raises:
            TooSoonError: it would be longer than ``at_most``. No turn was taken.
            UrlError: the URL belongs to no site.
            RuntimeError: the client was closed.
        """
        began = time.monotonic()
        site = self._known(url)
        self._keeper.tell_if_outside(site, agent)
        key, rules = self._keeper.pace_key(site, agent), self._keeper.rules(site, agent)
        until = math.inf if at_most is None else began + at_most
        with self._waiting.of(key, until) as is_first:
            if not is_first:
                raise self._keeper.too_soon(
                    key, self._pacer.next_request(*self._pacing(key, rules))
                )
            while (seconds := self._pacer.turn(*self._pacing(key, rules))) > 0:
                if time.monotonic() + seconds > until:
                    moment = self._pacer.next_request(*self._pacing(key, rules))
                    raise self._keeper.too_soon(key, moment)
                if self._closing.wait(min(seconds, LONGEST_SLEEP)):
                    raise RuntimeError("the client was closed")
        return time.monotonic() - began

    def _pacing(self, key: str, rules: Rules) -> tuple[str, Rules, datetime]:
        return key, rules, self._keeper.clock()

    def next_request(self, url: str, agent: str | Sequence[str] | None = None) -> datetime:
        """Return when the site may be asked again, without waiting and without taking the turn.

        Raises:
            UrlError: the URL belongs to no site.
        """
        site = self._known(url)
        key, rules = self._keeper.pace_key(site, agent), self._keeper.rules(site, agent)
        return self._pacer.next_request(key, rules, self._keeper.clock())

    def took(self, url: str, seconds: float, agent: str | Sequence[str] | None = None) -> None:
        """Tell how long the request took for which the turn was taken last.

        Where a site asks for no pace, the next turn depends on it (the rule of thumb).

        Raises:
            UrlError: the URL belongs to no site.
            ValueError: ``seconds`` is no finite number from 0 on.
        """
        self._pacer.took(self._keeper.pace_key(self._known(url), agent), seconds)

    def _known(self, url: str) -> Site:
        site = self._keeper.site_at(place_of(url))
        return self._site(url) if site is None else site

    def _site(self, url: str) -> Site:
        """Return the site of a URL: from the cache, or fetched, by one thread at a time."""
        keeper = self._keeper
        origin = origin_of(url, to_ascii)
        with self._fetching.of(str(origin)):
            self._keeper.check_open()
            site = keeper.site_at(str(origin))
            if site is None:
                entry = keeper.shelf.get(str(origin))
                site = keeper.if_fresh(entry)
                if site is None:
                    site = self._asked(origin, entry)
                keeper.keep(str(origin), site)
        keeper.keep(place_of(url), site)
        return site

    def _asked(self, origin: Origin, copy: Entry | None) -> Site:
        """Fetch a robots.txt, and keep it."""
        entry = self._fetched(origin, copy)
        # What was closed under it tells nothing about the site.
        self._keeper.check_open()
        self._keeper.shelf.put(entry)
        return self._keeper.site_of(entry)

    def _fetched(self, origin: Origin, copy: Entry | None) -> Entry:
        """Fetch a robots.txt.

        Raises:
            RuntimeError: the client was closed, or its transport belongs to another process.
        """
        keeper = self._keeper
        if self._is_transport_inherited:
            raise RuntimeError(
                "the transport of this RobotsClient belongs to the parent process: "
                "make a new client with a new transport"
            )
        self._has_fetched = True
        with self._at_once, Deadline(keeper.timeout) as deadline:
            self._keeper.check_open()
            step: Request | Entry = keeper.begin(origin, copy)
            while isinstance(step, Request):
                asked = time.monotonic()
                answer = self._answer(step, deadline)
                step = keeper.follow(step, answer, time.monotonic() - asked)
        return step

    def _answer(self, request: Request, deadline: Deadline) -> Response | Failure:
        """Send a request."""
        try:
            sent = http_request(request, self._keeper.user_agent, deadline.check())
            response = self._transport.handle_request(sent)
            try:
                reading = Reading(response)
                for part in response.iter_raw() if reading.wants_body else ():
                    if reading.is_enough(part):
                        break
                    # Another transport than ours looks at each read alone.
                    deadline.check()
            finally:
                response.close()
            return reading.result()
        except ERRORS as error:
            return failure_of(error, self._keeper.timeout)


class _Locks:
    """Locks by name, there as long as somebody holds or wants them; first come, first served."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queues: dict[str, deque[threading.Lock]] = {}
        at_fork(in_child=self._renew)

    def _renew(self) -> None:
        """Forget who holds and wants locks: threads that a child process does not have."""
        self._lock = threading.Lock()
        self._queues = {}

    @contextmanager
    def of(self, name: str, until: float = math.inf) -> Iterator[bool]:
        """Hold the lock of a name; False if it is not to be had until a monotonic moment."""
        own = threading.Lock()
        own.acquire()
        with self._lock:
            queue = self._queues.setdefault(name, deque())
            queue.append(own)
            is_first = len(queue) == 1
        try:
            # Who leaves lets the next one in.
            left = min(max(until - time.monotonic(), 0), threading.TIMEOUT_MAX)
            yield is_first or own.acquire(timeout=left)
        finally:
            with self._lock:
                was_first = queue[0] is own
                queue.remove(own)
                if queue and was_first:
                    queue[0].release()
                # In a child process it may be a queue of the parent's.
                if not queue and self._queues.get(name) is queue:
                    del self._queues[name]
