# Made from koster/fetch/_async/client.py by `make generate`. Do not edit.
"""What both clients share: fetch each file once, cache it, decide, and pace requests.

`AsyncRobotsClient` and `RobotsClient` add locks, sleep, deadlines and the network.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import partial
from typing import Any, NoReturn, Protocol

from ..._asking import allowed_as_browsers_read
from ...access import Failure, Outcome, Request, Response
from ...cache._leases import Lease
from ...decisions import Decision
from ...freshness import Entry
from ...origins import Origin, origin_of
from ...politeness import validate_number
from ...robots import Rules
from .._arguments import validate_at_most
from .._back_off import page_answer
from .._grouping import Groups, host_of
from .._hosts import to_ascii
from .._state import ClientState, Site, agent_name, site_key
from ..events import EventName
from ..pace import MAX_SLEEP, PaceKeeper, too_soon_error
from .turn import Turn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...signals import Unstated, UseDecision
    from .uses import Uses

#: Seconds between looks at a cache while another process fetches.
_MIN_POLL, _MAX_POLL = 0.02, 0.25


class Locks(Protocol):
    """Locks by name, in FIFO order."""

    def hold(self, name: str, until: float = math.inf) -> AbstractContextManager[bool]:
        """Hold a name's lock; False if it is not free before ``until`` (monotonic)."""


class Client(ABC):
    """The methods that both clients share."""

    _state: ClientState
    _pacer: PaceKeeper
    _groups: Groups
    _uses: Uses | None
    #: Returns the site of a URL if its rules are in memory and fresh.
    _cached_site: Callable[[str], Site | None]
    _fetch_locks: Locks
    _turn_locks: Locks

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"a {type(self).__name__} has connections and a cache, so it cannot be copied or "
            "pickled: create one in each process, with a cache that they share"
        )

    def allowed(self, url: str, agent: str | Sequence[str] | None = None) -> bool:
        """Return whether a crawler may fetch a URL.

        Args:
            url: A URL of the site.
            agent: The crawler. Default: the client's ``agent``.

        Raises:
            UrlError: the URL is invalid, or not HTTP or HTTPS.
            ValueError: ``url`` and ``agent`` are swapped.
        """
        site = self._cached_site(url)
        if site is None:
            return (self.decide(url, agent)).allowed
        if agent is None and site.silent_rules is not None:
            # As nearly always: without another call.
            return allowed_as_browsers_read(site.silent_rules, url)
        return self._state.verdict(site, url, agent)

    def decide(self, url: str, agent: str | Sequence[str] | None = None) -> Decision:
        """Return whether a crawler may fetch a URL, with the reason.

        Raises:
            UrlError: the URL is invalid, or not HTTP or HTTPS.
        """
        state = self._state
        site = self._cached_site(url)
        if site is None:
            state.check_order(url, agent)
            decision = state.robots_txt_decision(url, state.agent_or_default(agent))
            if decision is not None:
                return decision
            site = self._load_site(url)
        return state.decision(site, url, agent)

    def may_use(
        self,
        url: str,
        response: object = None,
        agent: str | Sequence[str] | None = None,
        *,
        html: bytes | None = None,
    ) -> UseDecision:
        """Return whether the client's ``uses`` of a page are stated, with the sources.

        Without a response, as the robots.txt and its licenses state: then a use that they do not
        mention is allowed, as the page may say yes. With one, also as its headers and HTML state,
        and for the use ``tdm`` the tdmrep.json of the site.

        Args:
            url: The URL of the page.
            response: The response to it, of httpx, httpx2, requests or aiohttp. Its body is read
                if it is HTML.
            agent: The crawler. Default: the client's ``agent``.
            html: The body, or its first 256 KiB, if it has been read already.

        Raises:
            TypeError: ``response`` is something else.
            UrlError: the URL is invalid, or not HTTP or HTTPS.
            ValueError: the client has no ``uses``.
        """
        if self._uses is None:
            raise ValueError('may_use needs a client with uses, such as uses=("ai-train",)')
        self._state.check_order(url, agent)
        agents = self._state.agent_or_default(agent)
        return self._uses.decide(url, agents, response, html)

    def robots(self, url: str) -> Outcome:
        """Return the robots.txt of a URL's site: cached, or fetched now.

        Raises:
            UrlError: the URL is invalid, or not HTTP or HTTPS.
        """
        return (self._get_site(url)).outcome

    def cached(self, url: str) -> Outcome | None:
        """Return the robots.txt of a URL's site if a fresh one is cached; nothing is fetched.

        Raises:
            UrlError: the URL is invalid, or not HTTP or HTTPS.
        """
        state = self._state
        state.check_open()
        site = self._cached_site(url)
        if site is None:
            key = str(origin_of(url, to_ascii))
            site = state.cached_site_at(key)
            if site is None:
                entry = self._call_cache(state.resilient_cache.get, key)
                site = state.fresh_site(entry)
                if site is None:
                    return None
                state.cache_site_if_new(key, site)
        return site.outcome

    def prefetch(self, urls: Iterable[str]) -> None:
        """Fetch the robots.txt files of the sites of many URLs at once, unless they are cached.

        Later questions about these sites do not wait. Sites that cannot be reached raise nothing.

        Raises:
            TypeError: ``urls`` is one str.
            UrlError: a URL is invalid, or not HTTP or HTTPS. Nothing is fetched.
        """
        if isinstance(urls, (str, bytes)) or not isinstance(urls, Iterable):
            raise TypeError(f"urls must be an iterable of str, not {type(urls).__name__}")
        self._for_each(
            self.robots, list(dict.fromkeys(str(origin_of(url, to_ascii)) for url in urls))
        )

    def refetch(self, url: str) -> Outcome:
        """Fetch a site's robots.txt again, even if the cached one is fresh.

        Raises:
            UrlError: the URL is invalid, or not HTTP or HTTPS.
        """
        self._check_use()
        state = self._state
        origin = origin_of(url, to_ascii)
        with self._fetch_locks.hold(str(origin)):
            state.check_open()
            entry = self._call_cache(state.resilient_cache.get, str(origin))
            site = self._refetch_site(origin, entry)
            state.cache_site(str(origin), site)
        state.cache_site(site_key(url), site)
        return site.outcome

    def wait(
        self,
        url: str,
        agent: str | Sequence[str] | None = None,
        *,
        at_most: float | None = None,
    ) -> float:
        """Wait for the next turn to request from the site, and take it; return the seconds waited.

        Each origin and agent has its own pace; callers get their turns in FIFO order. If the site
        sets no pace, ``default_interval`` applies: by default twice the time that the last request
        took (see `took`), at least 10 seconds. The event ``koster.pace.waiting`` says why a wait is
        as long as it is.

        Args:
            url: A URL of the site.
            agent: The crawler. Default: the client's ``agent``.
            at_most: Maximum seconds to wait. Default: no limit; a wait may take years.

        Raises:
            TooSoonError: the wait would exceed ``at_most``. No turn is taken.
            TooSlowError: the site's interval is longer than ``max_interval``. No turn is taken.
            UrlError: the URL is invalid, or not HTTP or HTTPS.
            RuntimeError: the client is closed.
        """
        validate_at_most(at_most)
        site = self._get_site(url, agent)
        return self._wait(site, self._pace_key(url, site, agent), agent, at_most, 0)

    def _wait(
        self,
        site: Site,
        key: str,
        agent: str | Sequence[str] | None,
        at_most: float | None,
        token: int,
    ) -> float:
        """Wait as `wait` does; a turn with a token holds the next one back (see `Pacer.begin`)."""
        began = time.monotonic()
        state = self._state
        state.emit_if_outside_visit_times(site, agent)
        rules = state.rules(site, agent)
        until = math.inf if at_most is None else began + at_most
        queued_since = time.monotonic()
        with self._cancelled_on_close(), self._turn_locks.hold(key, until) as has_lock:
            queued = time.monotonic() - queued_since
            why = partial(self._pacer.why, key, rules)
            emit = partial(state.emit_waiting, site, rules, why, queued)
            if not has_lock or not self._take_turn(key, rules, token, until, emit):
                moment = self._call_pacer("next_request", key, rules, state.clock())
                raise too_soon_error(key, moment, why(moment))
        return time.monotonic() - began

    def _take_turn(
        self, key: str, rules: Rules, token: int, until: float, emit: Callable[[float], None]
    ) -> bool:
        """Take the turn when it is due; False if that is after ``until`` (monotonic).

        ``emit`` is called once with the seconds to wait, if any.
        """
        name, rest = ("begin", (token,)) if token else ("turn", ())
        has_emitted = False
        while (seconds := self._call_pacer(name, key, rules, self._state.clock(), *rest)) > 0:
            if time.monotonic() + seconds > until:
                return False
            if not has_emitted:
                has_emitted = True
                emit(seconds)
            self._sleep(min(seconds, MAX_SLEEP))
        return True

    def turn(
        self,
        url: str,
        agent: str | Sequence[str] | None = None,
        *,
        at_most: float | None = None,
    ) -> Turn:
        """Return a context manager for the request of a page: decide, wait, record its duration.

        It decides whether the crawler may fetch the URL. If so, it waits for the next turn, as
        `wait` does, and records how long the block took, as `took` does. With ``uses``, `may_use`
        must allow it, too.

        Args:
            url: The URL to fetch.
            agent: The crawler. Default: the client's ``agent``.
            at_most: Maximum seconds to wait. Default: no limit.

        Raises:
            TooSoonError: on entry: the wait would exceed ``at_most``.
            TooSlowError: on entry: the site's interval is longer than ``max_interval``.
            UrlError: on entry: the URL is invalid, or not HTTP or HTTPS.
            RuntimeError: on entry: the client is closed.
        """
        return Turn(self, url, agent, at_most)

    def next_request(self, url: str, agent: str | Sequence[str] | None = None) -> datetime:
        """Return when the next turn is due, without waiting and without taking it.

        Raises:
            TooSlowError: the site's interval is longer than ``max_interval``.
            UrlError: the URL is invalid, or not HTTP or HTTPS.
        """
        site = self._get_site(url, agent)
        key, rules = self._pace_key(url, site, agent), self._state.rules(site, agent)
        moment: datetime = self._call_pacer("next_request", key, rules, self._state.clock())
        return moment

    def took(
        self,
        url: str,
        seconds: float,
        agent: str | Sequence[str] | None = None,
        *,
        response: object = None,
    ) -> None:
        """Record how many seconds the request of the last turn took.

        If a site sets no pace, the next turn depends on it (the rule of thumb).

        Args:
            url: A URL of the site.
            seconds: The duration of the request.
            agent: The crawler. Default: the client's ``agent``.
            response: The answer to the page, or its status; see `answered`.

        Raises:
            TypeError: ``seconds`` is not a number, or ``response`` is something else.
            UrlError: the URL is invalid, or not HTTP or HTTPS.
            ValueError: ``seconds`` is not a finite number of at least 0.
        """
        validate_number("seconds", seconds)
        site = self._get_site(url, agent)
        self._call_pacer("took", self._pace_key(url, site, agent), seconds)
        if response is not None:
            self.answered(url, response, agent)

    def answered(
        self,
        url: str,
        response: object,
        agent: str | Sequence[str] | None = None,
        *,
        retry_after: str | float | None = None,
    ) -> None:
        """Record the answer to a page, so that 429 and 503 slow the crawler down.

        The next turn waits until the end of Retry-After, at most a day; without the header, the
        interval doubles, up to 300 seconds. After ten good answers it is halved, until the site's
        own pace applies again. Statuses below 500 are good answers, other errors of a server are
        neither. The event ``koster.pace.back_off`` says each change.

        Args:
            url: A URL of the site.
            response: The response of httpx, httpx2, requests or aiohttp, or its status.
            agent: The crawler. Default: the client's ``agent``.
            retry_after: With a status, the value of the header: seconds or an HTTP date.

        Raises:
            TypeError: ``response`` is something else.
            UrlError: the URL is invalid, or not HTTP or HTTPS.
            ValueError: the status or ``retry_after`` is invalid.
        """
        state = self._state
        answer = page_answer(response, retry_after, state.clock())
        site = self._get_site(url, agent)
        key, rules = self._pace_key(url, site, agent), state.rules(site, agent)
        changed = self._call_pacer("answered", key, rules, state.clock(), answer)
        if changed is not None:
            attributes = {"koster.agent": agent_name(rules), **changed.attributes(answer)}
            state.emitter.emit(EventName.PACE_BACK_OFF, site.outcome.origin, attributes)

    def _pace_key(self, url: str, site: Site, agent: str | Sequence[str] | None) -> str:
        """Return the pacer's key for a URL: the group of its site, and the agent."""
        origin = site.outcome.origin
        group = self._groups.group(url, origin)
        if group is None:
            group = self._groups.record(origin, self._look_up(host_of(origin)))
        return self._state.pace_key(group, agent)

    def _record_sent(self, key: str, token: int) -> None:
        """Record that a turn's request was sent, even if this task is cancelled."""
        self._call_pacer_shielded("sent", key, token, self._state.clock())

    def _get_site(self, url: str, agent: str | Sequence[str] | None = None) -> Site:
        site = self._cached_site(url)
        if site is None:
            self._state.check_order(url, agent)
            site = self._load_site(url)
        return site

    def _load_site(self, url: str) -> Site:
        """Load a site from the cache, or fetch it; one caller per origin at a time."""
        state = self._state
        origin = origin_of(url, to_ascii)
        with self._fetch_locks.hold(str(origin)):
            state.check_open()
            site = state.cached_site_at(str(origin))
            if site is None:
                entry = self._call_cache(state.resilient_cache.get, str(origin))
                site = state.fresh_site(entry)
                if site is None:
                    site = self._fetch_once(origin, entry)
                state.cache_site(str(origin), site)
        state.cache_site(site_key(url), site)
        return site

    def _fetch_once(self, origin: Origin, cached: Entry | None) -> Site:
        """Fetch a robots.txt, unless another process that shares the cache does."""
        lease = self._state.resilient_cache.lease(str(origin))
        if lease is None:
            return self._refetch_site(origin, cached)
        try:
            site, entry = self._wait_for_lease(origin, lease)
            if site is None:
                site = self._refetch_site(origin, entry)
            self._call_cache(lease.end)
        except BaseException:
            lease.end_soon()
            raise
        return site

    def _wait_for_lease(self, origin: Origin, lease: Lease) -> tuple[Site | None, Entry | None]:
        """Wait for the lease, or for what another process fetches; return that, fresh or not.

        Raises:
            RuntimeError: the client is closed.
        """
        state = self._state
        cache = state.resilient_cache
        # A killed process holds its lease a little longer. Then another one fetches.
        until = time.monotonic() + state.timeout + lease.seconds
        pause = _MIN_POLL
        with self._cancelled_on_close():
            while True:
                is_taken, entry = self._call_cache(cache.take_and_get, str(origin), lease)
                site = state.fresh_site(entry)
                if is_taken or site is not None or time.monotonic() >= until:
                    return site, entry
                self._sleep(pause)
                state.check_open()
                pause = min(2 * pause, _MAX_POLL)

    def _refetch_site(self, origin: Origin, cached: Entry | None) -> Site:
        entry = self._fetch(origin, cached)
        # Closing the client makes fetches fail: do not cache that.
        self._state.check_open()
        self._call_cache(self._state.resilient_cache.put, entry)
        return self._state.site_from(entry)

    def _fetch(self, origin: Origin, cached: Entry | None) -> Entry:
        """Fetch a robots.txt.

        Raises:
            RuntimeError: the client is closed, or its transport is not usable here.
        """
        state = self._state
        self._check_transport()
        with self._fetch_slot():
            state.check_open()
            until = time.monotonic() + state.timeout
            step: Request | Entry = state.begin(origin, cached)
            while isinstance(step, Request):
                began = time.monotonic()
                response = self._send(step, until)
                step = state.follow(step, response, time.monotonic() - began)
        return step

    def _get(self, request: Request, until: float) -> Response | Failure:
        """Fetch another document than a robots.txt, before ``until`` (monotonic).

        Raises:
            RuntimeError: the client is closed, or its transport is not usable here.
        """
        self._check_transport()
        self._state.check_open()
        response = self._send(request, until)
        # Closing the client makes fetches fail.
        self._state.check_open()
        return response

    def _now(self) -> datetime:
        return self._state.clock()

    def _set_uses(self, uses: Sequence[str], unstated: Unstated | None) -> None:
        """Set the uses that `may_use` is about, if there are any.

        Raises:
            MissingExtraError: they need the extra ``signals``.
            TypeError: an argument has the wrong type.
            ValueError: a use is unknown.
        """
        self._uses = None
        if uses != ():
            from .uses import Uses  # noqa: PLC0415 - most clients have none

            self._uses = Uses(self, uses, unstated)
        elif unstated is not None:
            raise ValueError("unstated needs uses")

    @abstractmethod
    def _body_of(self, response: Any) -> bytes:
        """Return the body of a response of the caller's HTTP library."""

    @abstractmethod
    def _for_each(self, function: Callable[[str], Any], items: Sequence[str]) -> None:
        """Call a method for each item, some at a time."""

    @abstractmethod
    def _check_use(self) -> None:
        """Check that the client belongs to this event loop.

        Raises:
            RuntimeError: it does not.
        """

    @abstractmethod
    def _check_transport(self) -> None:
        """Check that the transport is usable in this event loop and process.

        Raises:
            RuntimeError: it is not.
        """

    @abstractmethod
    def _fetch_slot(self) -> AbstractContextManager[object]:
        """Hold one of the slots for concurrent fetches."""

    @abstractmethod
    def _cancelled_on_close(self) -> AbstractContextManager[object]:
        """Raise RuntimeError from waits inside when the client is closed."""

    @abstractmethod
    def _sleep(self, seconds: float) -> None:
        """Sleep.

        Raises:
            RuntimeError: the client is closed.
        """

    @abstractmethod
    def _send(self, request: Request, until: float) -> Response | Failure:
        """Send a request; the response must be complete before ``until`` (monotonic)."""

    @abstractmethod
    def _call_pacer_shielded(self, name: str, *arguments: object) -> None:
        """Call a method of the pacer, even if the task is cancelled."""

    @abstractmethod
    def _look_up(self, host: str) -> Sequence[str]:
        """Return the addresses of a host; none if the lookup fails."""

    @abstractmethod
    def _call_pacer(self, name: str, *arguments: object) -> Any:
        """Call a method of the pacer, which may block."""

    @abstractmethod
    def _call_cache(self, method: Callable[..., Any], *arguments: object) -> Any:
        """Call a method of the cache, which may block."""
