# Made from koster/fetch/_async/client.py by `make sync`. Do not edit.
"""What the clients do, whatever they wait with: fetch once, keep, decide, keep the pace.

`AsyncRobotsClient` and `RobotsClient` add the waiting: locks, sleep, deadlines and the network.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from ...access import Request
from ...origins import origin_of
from .._keeper import Keeper, place_of
from .._network import to_ascii
from ..pace import LONGEST_SLEEP

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime
    from typing import Protocol

    from ...access import Failure, Outcome, Response
    from ...freshness import Entry
    from ...model import Decision
    from ...origins import Origin
    from ...robots import Rules
    from .._keeper import Site

    class Locks(Protocol):
        """Locks by name; first come, first served."""

        def of(self, name: str, until: float = math.inf) -> AbstractContextManager[bool]:
            """Hold the lock of a name; False if it is not free before a monotonic moment."""


class Client(ABC):
    """The methods that both clients share."""

    _keeper: Keeper
    #: Returns the site of a URL if its rules are at hand and fresh.
    _site_at: Callable[[str], Site | None]
    _fetching: Locks
    _waiting: Locks

    def allowed(self, url: str, agent: str | Sequence[str] | None = None) -> bool:
        """Tell whether a crawler may fetch a URL.

        Args:
            url: A URL of the site.
            agent: The crawler, if it is not the client's own ``agent``.

        Raises:
            UrlError: the URL belongs to no site.
        """
        site = self._site_at(url)
        if site is None:
            return (self.decide(url, agent)).allowed
        return self._keeper.verdict(site, url, agent)

    def decide(self, url: str, agent: str | Sequence[str] | None = None) -> Decision:
        """Decide as `allowed` does, with the reason.

        Raises:
            UrlError: the URL belongs to no site.
        """
        keeper = self._keeper
        site = self._site_at(url)
        if site is None:
            asked = keeper.agent if agent is None else agent
            decision = keeper.needs_no_fetch(url, asked)
            if decision is not None:
                return decision
            site = self._site(url)
        return keeper.decision(site, url, agent)

    def robots(self, url: str) -> Outcome:
        """Return the outcome of fetching the robots.txt of a URL's site, now or before.

        Raises:
            UrlError: the URL belongs to no site.
        """
        return (self._known(url)).outcome

    def refetch(self, url: str) -> Outcome:
        """Fetch a site's robots.txt again, though the cached one is fresh: it may have changed.

        Raises:
            UrlError: the URL belongs to no site.
        """
        self._check_use()
        keeper = self._keeper
        origin = origin_of(url, to_ascii)
        with self._fetching.of(str(origin)):
            keeper.check_open()
            entry = self._cached(keeper.shelf.get, str(origin))
            site = self._refreshed(origin, entry)
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

        The pace is kept for each origin and agent; callers get their turns in the order in which
        they came. Where the site asks for no pace, the pacer's default applies.

        Args:
            url: A URL of the site.
            agent: The crawler, if it is not the client's own ``agent``.
            at_most: Seconds. Without it, the wait may take years.

        Raises:
            TooSoonError: it would be longer than ``at_most``. No turn was taken.
            UrlError: the URL belongs to no site.
            RuntimeError: the client was closed.
        """
        began = time.monotonic()
        site = self._known(url)
        keeper = self._keeper
        keeper.tell_if_outside(site, agent)
        key, rules = keeper.pace_key(site, agent), keeper.rules(site, agent)
        until = math.inf if at_most is None else began + at_most
        with self._until_closed(), self._waiting.of(key, until) as is_first:
            if not is_first or not self._turn(key, rules, until):
                moment = self._paced("next_request", key, rules, keeper.clock())
                raise keeper.too_soon(key, moment)
        return time.monotonic() - began

    def _turn(self, key: str, rules: Rules, until: float) -> bool:
        """Take the turn when it is due; tells whether that is before a monotonic moment."""
        while (seconds := self._paced("turn", key, rules, self._keeper.clock())) > 0:
            if time.monotonic() + seconds > until:
                return False
            self._sleep(min(seconds, LONGEST_SLEEP))
        return True

    def next_request(self, url: str, agent: str | Sequence[str] | None = None) -> datetime:
        """Return when the site may be asked again, without waiting and without taking the turn.

        Raises:
            UrlError: the URL belongs to no site.
        """
        site = self._known(url)
        key, rules = self._keeper.pace_key(site, agent), self._keeper.rules(site, agent)
        moment: datetime = self._paced("next_request", key, rules, self._keeper.clock())
        return moment

    def took(self, url: str, seconds: float, agent: str | Sequence[str] | None = None) -> None:
        """Note how long the request took for which the turn was taken last.

        Where a site asks for no pace, the next turn depends on it (the rule of thumb).

        Raises:
            UrlError: the URL belongs to no site.
            ValueError: ``seconds`` is not a finite number of at least 0.
        """
        site = self._known(url)
        self._paced("took", self._keeper.pace_key(site, agent), seconds)

    def _known(self, url: str) -> Site:
        site = self._site_at(url)
        return self._site(url) if site is None else site

    def _site(self, url: str) -> Site:
        """Return the site of a URL: from the cache, or fetched, by one caller at a time."""
        keeper = self._keeper
        origin = origin_of(url, to_ascii)
        with self._fetching.of(str(origin)):
            keeper.check_open()
            site = keeper.site_at(str(origin))
            if site is None:
                entry = self._cached(keeper.shelf.get, str(origin))
                site = keeper.if_fresh(entry)
                if site is None:
                    site = self._refreshed(origin, entry)
                keeper.keep(str(origin), site)
        keeper.keep(place_of(url), site)
        return site

    def _refreshed(self, origin: Origin, copy: Entry | None) -> Site:
        """Fetch a robots.txt, and put it into the cache."""
        entry = self._fetched(origin, copy)
        # A fetch that failed because the client was closed says nothing about the site.
        self._keeper.check_open()
        self._cached(self._keeper.shelf.put, entry)
        return self._keeper.site_of(entry)

    def _fetched(self, origin: Origin, copy: Entry | None) -> Entry:
        """Fetch a robots.txt.

        Raises:
            RuntimeError: the client was closed, or has a transport that it cannot use.
        """
        keeper = self._keeper
        self._check_transport()
        with self._slot():
            keeper.check_open()
            until = time.monotonic() + keeper.timeout
            step: Request | Entry = keeper.begin(origin, copy)
            while isinstance(step, Request):
                began = time.monotonic()
                answer = self._answer(step, until)
                step = keeper.follow(step, answer, time.monotonic() - began)
        return step

    @abstractmethod
    def _check_use(self) -> None:
        """Check that the client may be used here.

        Raises:
            RuntimeError: it may not.
        """

    @abstractmethod
    def _check_transport(self) -> None:
        """Check that the client may fetch.

        Raises:
            RuntimeError: it may not.
        """

    @abstractmethod
    def _slot(self) -> AbstractContextManager[object]:
        """Hold one of the slots for fetches at a time."""

    @abstractmethod
    def _until_closed(self) -> AbstractContextManager[object]:
        """End the waiting inside with RuntimeError when the client is closed."""

    @abstractmethod
    def _sleep(self, seconds: float) -> None:
        """Sleep.

        Raises:
            RuntimeError: the client was closed.
        """

    @abstractmethod
    def _answer(self, request: Request, until: float) -> Response | Failure:
        """Send a request; the answer must be complete before a monotonic moment."""

    @abstractmethod
    def _paced(self, name: str, *arguments: object) -> Any:
        """Call a method of the pacer, which may block."""

    @abstractmethod
    def _cached(self, method: Callable[..., Any], *arguments: object) -> Any:
        """Call a method of the cache, which may block."""
