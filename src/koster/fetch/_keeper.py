"""What both clients have in common: everything but the network and the waiting.

A `Keeper` knows who asks and how files are read, keeps what was fetched (outcomes in a table of
its own, entries in the cache), and tells events. It does no network I/O; its cache may block.
"""

from __future__ import annotations

import math
import os
import re
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ..access import Access, Failure, Request, Unreachable, outcome_of
from ..cache import MemoryCache, opened
from ..cache.memory import Recent, bytes_of
from ..cache.shelf import Shelf
from ..dialects import Dialect, Names
from ..errors import TooSoonError
from ..freshness import Standing, holds_from, is_fresh, standing
from ..model import Directive, Reason
from ..origins import MAX_URL, as_browsers_read, origin_of
from ..robots import parse
from ._network import to_ascii
from .events import EventName, Teller

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..access import Outcome, Response
    from ..cache import Cache
    from ..freshness import Entry
    from ..model import Decision
    from ..origins import Origin
    from ..robots import RobotsTxt, Rules
    from .events import OnEvent, Value
    from .guard import Guard

#: Outcomes that are kept ready to decide, and the bytes of their files together.
_SITES = 1000
_SITES_BYTES = 32 << 20

#: Pairs of site and agent whose last event is remembered, so that it is not repeated.
_REMEMBERED = 10_000

#: Agents that are remembered for each site; a client has a few.
_AGENTS = 1000

#: Fetches at a time, unless the caller says otherwise.
AT_ONCE = 100


def utc_now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


@dataclass(slots=True)
class Site:
    """An outcome that is ready to decide, and the rules of the client's own agent.

    ``has_visit_times`` is about that agent; ``agents`` are others that have asked.
    """

    outcome: Outcome
    rules: Rules | None
    weight: int
    since: datetime
    until: datetime
    has_visit_times: bool
    agents: set[str] = field(default_factory=set)


class Keeper:
    """The state of a client; see `RobotsClient` for the arguments."""

    def __init__(
        self,
        user_agent: str,
        agent: str | Sequence[str] | None,
        dialect: Dialect,
        timeout: float,
        cache: Cache | str | os.PathLike[str] | None,
        on_event: OnEvent | None,
        clock: Callable[[], datetime],
        unreachable: Unreachable,
    ) -> None:
        if not isinstance(dialect, Dialect):
            raise TypeError(f"dialect must be a koster.Dialect, not {type(dialect).__name__}")
        if not isinstance(unreachable, Unreachable):
            raise TypeError(
                "unreachable must be koster.Unreachable.DISALLOW or ALLOW, "
                f"not {type(unreachable).__name__}"
            )
        self.user_agent = checked_header(user_agent)
        self.agent = _own_agent(user_agent, dialect) if agent is None else agent
        self.dialect = dialect
        self.timeout = _checked_timeout(timeout)
        self.clock = clock
        self.unreachable = unreachable
        self.is_closed = False
        self.access = Access(dialect.statuses, to_ascii)
        self.teller = Teller(on_event)
        self.cache, self.cache_is_ours = _opened_cache(cache)
        self._nothing: RobotsTxt = parse(b"", dialect)
        #: By origin and agent: the file whose comments were emitted, and the next visit time.
        self._comments_of: Recent[str, int] = Recent(_REMEMBERED, _REMEMBERED, lambda _: 1)
        self._next_open: Recent[str, datetime] = Recent(_REMEMBERED, _REMEMBERED, lambda _: 1)
        self._sites: Recent[str, Site] = Recent(_SITES, _SITES_BYTES, lambda site: site.weight)
        self.shelf = Shelf(self.cache, dialect.statuses, self._cache_failed, time.monotonic)

    # What is known without asking anybody.

    def site_for(self, url: str) -> Site | None:
        """Return the site of a URL if its rules are at hand and fresh.

        Raises:
            TypeError: ``url`` is not a str.
        """
        return self.site_at(place_of(url))

    def site_at(self, place: str) -> Site | None:
        """Return the site that is kept ready under the first part of a URL, while it holds."""
        site = self._sites.get(place)
        if site is None or not site.since <= self.clock() < site.until:
            return None
        if self.teller.has_listener:
            self._tell_hit(site.outcome)
        return site

    def check_open(self) -> None:
        """See whether the client is still there.

        Raises:
            RuntimeError: it was closed.
        """
        if self.is_closed:
            raise RuntimeError("the client is closed")

    def close(self) -> None:
        """Keep nothing ready any more, and close the cache if the client made it."""
        self._sites.clear()
        if self.cache_is_ours:
            self.cache.close()

    def keep(self, place: str, site: Site) -> None:
        """Keep a site ready under the first part of a URL, if that is no odd one."""
        if place:
            self._sites.put(place, site)

    def needs_no_fetch(self, url: str, agent: str | Sequence[str]) -> Decision | None:
        """Return the decision about /robots.txt itself, if that is what a URL asks for.

        Raises:
            UrlError: it belongs to no site.
        """
        if "/robots.txt" not in url:
            return None
        decision = self._nothing.decide(as_browsers_read(url), agent)
        if decision.reason is not Reason.ROBOTS_TXT:
            return None
        origin_of(url, to_ascii)
        return replace(decision, url=url)

    # What the cache knows.

    def _cache_failed(self, origin: str, error: Exception) -> None:
        attributes = {"error.type": type(error).__name__, "error.message": str(error)}
        self.teller.tell(EventName.CACHE_FAILED, origin, attributes)

    def if_fresh(self, entry: Entry | None) -> Site | None:
        """Return the site of an entry that holds."""
        if entry is None or not is_fresh(entry, self.clock(), self.dialect.statuses):
            return None
        site = self.site_of(entry)
        self._tell_hit(site.outcome)
        return site

    def site_of(self, entry: Entry) -> Site:
        """Make a site of an entry."""
        outcome = outcome_of(entry, self.dialect, self.clock(), self.unreachable)
        rules = None if outcome.robots is None else outcome.robots.rules_for(self.agent)
        if outcome.is_stale:
            self._tell_stale(outcome)
        if outcome.reason is Reason.UNREACHABLE:
            self._tell_unreachable(outcome)
        if rules is not None:
            self._tell_comments(outcome, rules)
        since = holds_from(entry, self.dialect.statuses)
        has_visit_times = rules is not None and bool(rules.visit_times)
        return Site(outcome, rules, bytes_of(entry), since, entry.expires, has_visit_times)

    # Fetching, step by step.

    def begin(self, origin: Origin, copy: Entry | None) -> Request:
        """Begin a fetch: return its first request."""
        request = self.access.begin(origin, copy)
        self._tell_started(request)
        return request

    def follow(
        self, request: Request, answer: Response | Failure, seconds: float
    ) -> Request | Entry:
        """Go on with what came of a request: return the next one, or what is to be kept."""
        if isinstance(answer, Failure):
            step: Request | Entry = self.access.fail(request, answer, self.clock(), seconds)
        else:
            step = self.access.respond(request, answer, self.clock(), seconds)
        if isinstance(step, Request):
            self._tell_redirected(request, step)
        else:
            self._tell_finished(step, answer)
        return step

    # Decisions.

    def decision(self, site: Site, url: str, agent: str | Sequence[str] | None) -> Decision:
        """Decide about a URL of a site."""
        self._tell_about(site, agent)
        if agent is None and site.rules is not None:
            return site.outcome.decide_by(site.rules, url)
        return site.outcome.decide(url, self.agent if agent is None else agent)

    def verdict(self, site: Site, url: str, agent: str | Sequence[str] | None) -> bool:
        """Decide about a URL of a site, without the reason."""
        self._tell_about(site, agent)
        if agent is None and site.rules is not None:
            return site.rules.allowed(as_browsers_read(url))
        return site.outcome.allowed(url, self.agent if agent is None else agent)

    def rules(self, site: Site, agent: str | Sequence[str] | None) -> Rules:
        """Return what a site asks of a robot as to its pace: nothing, where there is no file."""
        if agent is None and site.rules is not None:
            return site.rules
        robots = site.outcome.robots or self._nothing
        return robots.rules_for(self.agent if agent is None else agent)

    def pace_key(self, site: Site, agent: str | Sequence[str] | None) -> str:
        """Return for whom a pace is kept: an origin and an agent."""
        asked = self.agent if agent is None else agent
        return f"{site.outcome.origin} {asked if isinstance(asked, str) else ', '.join(asked)}"

    def too_soon(self, key: str, moment: datetime) -> TooSoonError:
        """Return the error that says when a turn would be."""
        return TooSoonError(f"{key} may not ask before {moment:%Y-%m-%d %H:%M:%S} UTC", moment)

    # Events.

    def _tell_started(self, request: Request) -> None:
        """Tell that a fetch begins."""
        origin = request.origin
        self.teller.tell(
            EventName.FETCH_STARTED,
            str(origin),
            {
                "url.full": request.url,
                "server.address": origin.host,
                "server.port": origin.port,
                "http.request.method": "GET",
                "koster.fetch.conditional": bool(request.headers),
            },
        )

    def _tell_redirected(self, request: Request, following: Request) -> None:
        """Tell that a fetch is led elsewhere."""
        self.teller.tell(
            EventName.REDIRECTED,
            str(request.origin),
            {
                "url.full": following.url,
                "koster.redirect.from": request.url,
                "http.response.status_code": following.hops[-1].status or 0,
                "koster.redirect.downgraded": request.url.startswith("https:")
                and not following.url.startswith("https:"),
            },
        )

    def _tell_finished(self, entry: Entry, answer: Response | Failure) -> None:
        """Tell that a fetch is over."""
        means = standing(entry, self.clock())
        attributes: dict[str, Value] = {
            "url.full": entry.hops[-1].url,
            "koster.outcome": "file" if means is Standing.STALE_FILE else means.value,
            "koster.fetch.duration": sum(hop.seconds for hop in entry.hops),
            "koster.fetch.requests": len(entry.hops),
        }
        if entry.status is not None:
            attributes["http.response.status_code"] = entry.status
        if isinstance(answer, Failure):
            attributes["error.type"] = answer.kind.value
        if entry.why:
            attributes["koster.why"] = entry.why
        self.teller.tell(EventName.FETCH_FINISHED, entry.origin, attributes)

    def _tell_hit(self, outcome: Outcome) -> None:
        expires = outcome.expires.isoformat()
        attributes = {"koster.outcome": _kind_of(outcome), "koster.cache.expires": expires}
        self.teller.tell(EventName.CACHE_HIT, outcome.origin, attributes)

    def _tell_stale(self, outcome: Outcome) -> None:
        since = outcome.unreachable_since or outcome.fetched
        self.teller.tell(
            EventName.STALE_USED,
            outcome.origin,
            {
                "koster.cache.fetched": outcome.fetched.isoformat(),
                "koster.unreachable.since": since.isoformat(),
                "koster.why": outcome.why,
            },
        )

    def _tell_unreachable(self, outcome: Outcome) -> None:
        """Tell that the policy for unreachable sites applies."""
        since = outcome.unreachable_since or outcome.fetched
        self.teller.tell(
            EventName.SITE_UNREACHABLE,
            outcome.origin,
            {
                "koster.policy": self.unreachable.value,
                "koster.unreachable.since": since.isoformat(),
                "koster.why": outcome.why,
            },
        )

    def _tell_about(self, site: Site, agent: str | Sequence[str] | None) -> None:
        """Emit what a site says to the crawler that asks: its comments, and its visit times."""
        if agent is None:
            if site.has_visit_times:
                self.tell_if_outside(site, None)
            return
        if site.outcome.robots is None:
            return
        rules = site.outcome.robots.rules_for(agent)
        name = _name_of(rules)
        if name not in site.agents:
            if len(site.agents) >= _AGENTS:
                site.agents.clear()
            site.agents.add(name)
            self._tell_comments(site.outcome, rules)
        self.tell_if_outside(site, agent)

    def _tell_comments(self, outcome: Outcome, rules: Rules) -> None:
        """Tell what a file says to a robot's author, unless that was told of the same file."""
        if outcome.robots is None or Directive.COMMENT not in self.dialect.directives:
            return
        comments = rules.comments
        key = f"{outcome.origin} {_name_of(rules)}"
        file, told = hash(outcome.robots.body), self._comments_of.get(key)
        if told == file or (told is None and not comments):
            return
        self._comments_of.put(key, file)
        if comments:
            self.teller.tell(
                EventName.SITE_COMMENTS,
                outcome.origin,
                {"koster.agent": _name_of(rules), "koster.comments": comments},
            )

    def tell_if_outside(self, site: Site, agent: str | Sequence[str] | None) -> None:
        """Emit an event if a crawler comes outside the visit times; log it once until the next."""
        if not self.teller.has_audience:
            return
        rules = self.rules(site, agent)
        now = self.clock()
        if not rules.visit_times or rules.open_at(now):
            return
        next_open = rules.next_open(now)
        key = f"{site.outcome.origin} {_name_of(rules)}"
        until = self._next_open.get(key)
        self._next_open.put(key, next_open)
        self.teller.tell(
            EventName.OUTSIDE_VISIT_TIME,
            site.outcome.origin,
            {
                "koster.agent": _name_of(rules),
                "koster.visit.times": tuple(map(str, rules.visit_times)),
                "koster.visit.next_open": next_open.isoformat(),
                "koster.comments": rules.comments,
            },
            is_logged=until != next_open,
        )


def _name_of(rules: Rules) -> str:
    """Return who asks, as text."""
    return rules.agent if isinstance(rules.agent, str) else ", ".join(rules.agent)


#: Scheme and authority of a URL that means to a browser what it says, of a usual length.
_PLACE = re.compile(r"https?://[^\x00-\x20\\/?#]{1,300}(?=[/?#]|\Z)")


def place_of(url: str) -> str:
    """Return the part of a URL under which its site is kept ready; "" for odd ones.

    Raises:
        TypeError: it is not a str.
    """
    try:
        match = _PLACE.match(url)
    except TypeError:
        raise TypeError(f"url must be a str, not {type(url).__name__}") from None
    return match.group() if match and len(url) <= MAX_URL else ""


def _kind_of(outcome: Outcome) -> str:
    """Return an outcome in a word, for events."""
    return "file" if outcome.reason is None else outcome.reason.value


def _opened_cache(cache: Cache | str | os.PathLike[str] | None) -> tuple[Cache, bool]:
    """Return the cache that is meant, and whether it is to be closed with the client."""
    if cache is None:
        return MemoryCache(), True
    if isinstance(cache, (str, os.PathLike)):
        return opened(cache) or MemoryCache(), True
    return cache, False


def checked_header(user_agent: str) -> str:
    """Return what can be sent as a User-Agent header.

    Raises:
        TypeError: it is not a str.
        ValueError: it cannot.
    """
    if not isinstance(user_agent, str):
        raise TypeError(f"user_agent must be a str, not {type(user_agent).__name__}")
    if not user_agent.strip() or not user_agent.isascii() or not user_agent.isprintable():
        raise ValueError(f"user_agent must be printable ASCII, not {user_agent!r}")
    return user_agent.strip()


def _checked_timeout(timeout: float) -> float:
    """Return seconds for a fetch.

    Raises:
        TypeError: it is not a number.
        ValueError: they are none.
    """
    if not isinstance(timeout, (int, float)):
        raise TypeError(f"timeout must be seconds, not {type(timeout).__name__}")
    if not 0 < timeout < math.inf:
        raise ValueError(f"timeout must be a finite number of seconds above 0, not {timeout!r}")
    return float(timeout)


def _own_agent(user_agent: str, dialect: Dialect) -> str:
    """Return who asks, of a whole header: where a dialect takes agents whole, its token."""
    if dialect.names is not Names.LETTERS:
        return user_agent
    letters = user_agent.strip()
    end = next(
        (at for at, each in enumerate(letters) if not (each.isalpha() or each in "-_")), None
    )
    return letters[:end]


def check_arguments(guard: Guard | None, transport: object, at_once: int) -> None:
    """See whether arguments go together.

    Raises:
        ValueError: they do not.
    """
    if guard is not None and transport is not None:
        raise ValueError("a guard cannot see where another transport connects to: give one of them")
    if at_once < 1:
        raise ValueError(f"at_once must be at least 1, not {at_once!r}")
