"""The state that both clients share: everything but the network and waiting.

A `ClientState` holds the client's agent and dialect, caches sites in memory and entries in the
cache, and emits events. It does no network I/O; its cache may block.
"""

# How a question to a client is answered:
#
#     URL ──▶ key ──▶ Site in memory, fresh? ──────────────────────────────▶ Decision
#                        │ no                                            ▲
#                        ▼                                               │ site_from
#                     one caller at a time for a key (a lock, a lease)   │
#                        │                                               │
#                        ▼                                               │
#                     Entry in the cache, fresh? ── yes ─────────────────┤
#                        │ no                                            │
#                        ▼             follow                            │
#                     begin ──▶ Request ───▶ … ──▶ Entry, into the cache ┘
#                                 │  ▲
#                                 ▼  │ Response or Failure
#                               network
#
# * A *key* is the text of an origin: scheme, host and port. What two URLs of a site have in common
#   is found without parsing them (`site_as_written`); only a new site costs more.
# * An *Entry* is what a fetch gave, as data that a cache stores: the body, the status, the hops,
#   and until when it is fresh. It has no rules, and is the same for all agents and all dialects
#   that read statuses alike.
# * An *Outcome* is what an entry means in a dialect at one moment: a file, or why it is missing.
# * A *Site* is an outcome with the rules for the client's own agent, which nearly all questions are
#   about: a dictionary, a comparison of times and a decision answer those.
# * A *step* is a request or an entry: `koster.access` says what to request and what a response
#   means, and knows no clock and no network. The clients (`_async/client`, from which `_sync` is
#   written) do what waits: locks, leases of caches that processes share, turns, the network.
#
# Nothing here waits, but for the cache; so both clients use it, and tests need no network.

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from .._asking import allowed_as_browsers_read, rules_for_data
from .._misuse import check_agent, check_order
from .._moments import later
from .._urls import site_as_written
from ..access import (
    Access,
    Failure,
    Html,
    Outcome,
    Redirects,
    Request,
    Response,
    Unreachable,
    outcome_of,
)
from ..cache import Cache
from ..cache.memory import LRUCache, memory_bytes
from ..cache.resilient import ResilientCache
from ..decisions import Decision, Reason
from ..dialects import Dialect
from ..freshness import Entry, Standing, fresh_from, is_fresh, standing
from ..model import Directive
from ..origins import MAX_URL, Origin, as_browsers_read, origin_of
from ..robots import RobotsTxt, Rules, parse
from ._arguments import (
    EXAMPLE,
    agent_from_header,
    resolve_cache,
    validate_agent,
    validate_clock,
    validate_timeout,
    validate_user_agent,
)
from ._exchange import Headers, request_headers, validate_headers
from ._hosts import to_ascii
from .events import EventEmitter, EventName, OnEvent, Value

#: Sites cached in memory, and the total bytes of their files.
_MAX_SITES = 1000
_MAX_SITES_BYTES = 32 << 20

#: Pairs of site and agent whose last event is remembered, to emit each event once.
_MAX_LAST_EVENTS = 10_000

#: Agents remembered per site; most clients have a few.
_MAX_AGENTS_PER_SITE = 1000


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


@dataclass(slots=True)
class Site:
    """A cached outcome, with the rules for the client's own agent.

    ``fresh_from`` and ``fresh_until`` are seconds since 1970. ``silent_rules`` are the rules if a
    decision by them emits no event: they have no visit times. ``other_agents`` are the others seen
    so far.
    """

    outcome: Outcome
    rules: Rules | None
    weight: int
    fresh_from: float
    fresh_until: float
    silent_rules: Rules | None
    other_agents: set[str] = field(default_factory=set)


class ClientState:
    """The state of a client; see `RobotsClient` for the arguments."""

    def __init__(
        self,
        user_agent: str,
        agent: str | Sequence[str] | None,
        dialect: Dialect,
        timeout: float,
        headers: Mapping[str, str] | None,
        cache: Cache | str | os.PathLike[str] | None,
        on_event: OnEvent | None,
        clock: Callable[[], datetime],
        unreachable: Unreachable,
        html: Html,
        redirects: Redirects,
    ) -> None:
        if not isinstance(dialect, Dialect):
            raise TypeError(f"dialect must be a koster.Dialect, not {type(dialect).__name__}")
        if not isinstance(unreachable, Unreachable):
            raise TypeError(
                "unreachable must be koster.Unreachable.DISALLOW or ALLOW, "
                f"not {type(unreachable).__name__}"
            )
        if not isinstance(html, Html):
            raise TypeError(
                f"html must be koster.Html.NO_RULES or UNREACHABLE, not {type(html).__name__}"
            )
        if not isinstance(redirects, Redirects):
            raise TypeError(
                "redirects must be koster.Redirects.ANY_SITE or SAME_SITE, "
                f"not {type(redirects).__name__}"
            )
        self.user_agent = validate_user_agent(user_agent)
        check_agent(user_agent, f"pass {EXAMPLE!r}", "user_agent")
        check_agent(agent, f"pass {EXAMPLE!r}")
        self.agent = (
            agent_from_header(user_agent, dialect) if agent is None else validate_agent(agent)
        )
        self.dialect = dialect
        self.timeout = validate_timeout(timeout)
        self.headers = validate_headers(headers)
        self.clock = validate_clock(clock)
        # Every decision asks for the time: a datetime takes six times as long.
        self._seconds = time.time if clock is utc_now else lambda: clock().timestamp()
        self.unreachable = unreachable
        self.html = html
        self.is_closed = False
        self.access = Access(dialect.statuses, to_ascii, html, redirects)
        self.emitter = EventEmitter(on_event)
        self.cache, self.owns_cache = resolve_cache(cache)
        self._empty_robots: RobotsTxt = parse(b"", dialect)
        #: By origin and agent: the hash of the file whose comments were emitted, the next opening.
        self._emitted_comments: LRUCache[str, int] = LRUCache(
            _MAX_LAST_EVENTS, _MAX_LAST_EVENTS, lambda _: 1
        )
        #: The last value of events that are logged once for each value.
        self._last_values: LRUCache[str, object] = LRUCache(
            2 * _MAX_LAST_EVENTS, 2 * _MAX_LAST_EVENTS, lambda _: 1
        )
        self._sites: LRUCache[str, Site] = LRUCache(
            _MAX_SITES, _MAX_SITES_BYTES, lambda site: site.weight
        )
        self.resilient_cache = ResilientCache(
            self.cache, dialect.statuses, self._emit_cache_failed, time.monotonic
        )

    # Sites in memory.

    def cached_site(self, url: str) -> Site | None:
        """Return the site of a URL if its rules are in memory and fresh.

        Raises:
            TypeError: ``url`` is not a str.
        """
        site = None
        # The key of most URLs, faster than `site_key` finds it: no site in memory has another one.
        if type(url) is str and len(url) <= MAX_URL:
            site = self._sites.get(site_as_written(url))
        if (
            site is None
            or not site.fresh_from <= self._seconds() < site.fresh_until
            or self.emitter.has_callback
        ):
            return self.cached_site_at(site_key(url))
        return site

    def cached_site_at(self, key: str) -> Site | None:
        """Return the fresh site with a key (see `site_key`), or None."""
        site = self._sites.get(key)
        if site is None or not site.fresh_from <= self._seconds() < site.fresh_until:
            return None
        if self.emitter.has_callback:
            self._emit_cache_hit(site.outcome)
        return site

    def check_open(self) -> None:
        """Check that the client is open.

        Raises:
            RuntimeError: it is closed.
        """
        if self.is_closed:
            raise RuntimeError("the client is closed")

    def check_order(self, url: str, agent: str | Sequence[str] | None) -> None:
        """Check the arguments of a question.

        Raises:
            ValueError: they are swapped, or the agent is empty.
        """
        if agent is not None:
            check_order(url, agent)
            validate_agent(agent)

    def close(self) -> None:
        """Clear the sites in memory; close the cache if the client created it."""
        self._sites.clear()
        if self.owns_cache:
            self.cache.close()

    def cache_site(self, key: str, site: Site) -> None:
        """Keep a site in memory, unless the key is empty (see `site_key`)."""
        if key:
            self._sites.put(key, site)

    def cache_site_if_new(self, key: str, site: Site) -> None:
        """Keep a site in memory, unless a concurrent fetch has stored another one."""
        if self.cached_site_at(key) is None:
            self._sites.put(key, site)

    def robots_txt_decision(self, url: str, agent: str | Sequence[str]) -> Decision | None:
        """Return the decision if a URL is a robots.txt: it needs no fetch. Otherwise None.

        Raises:
            UrlError: the URL is invalid.
        """
        if "/robots.txt" not in url:
            return None
        decision = self._empty_robots.decide(as_browsers_read(url), agent)
        if decision.reason is not Reason.ROBOTS_TXT:
            return None
        origin_of(url, to_ascii)
        return replace(decision, url=url)

    # Cache entries.

    def _emit_cache_failed(self, origin: str, error: Exception) -> None:
        attributes = {"error.type": type(error).__name__, "error.message": str(error)}
        self.emitter.emit(EventName.CACHE_FAILED, origin, attributes)

    def fresh_site(self, entry: Entry | None) -> Site | None:
        """Return the site of a fresh entry, or None."""
        if entry is None or not is_fresh(entry, self.clock(), self.dialect.statuses):
            return None
        site = self.site_from(entry)
        self._emit_cache_hit(site.outcome)
        return site

    def site_from(self, entry: Entry) -> Site:
        """Return the site of an entry; emit the events that its use causes."""
        outcome = outcome_of(entry, self.dialect, self.clock(), self.unreachable, self.html)
        rules = None if outcome.robots is None else rules_for_data(outcome.robots, self.agent)
        if outcome.is_stale:
            self._emit_stale(outcome)
        if outcome.reason is Reason.UNREACHABLE:
            self._emit_unreachable(outcome)
        if outcome.is_html:
            self.emitter.emit(EventName.SITE_HTML, outcome.origin, {"url.full": outcome.url})
        if rules is not None:
            self._emit_comments(outcome, rules)
        since = fresh_from(entry, self.dialect.statuses).timestamp()
        until = entry.expires.timestamp()
        silent_rules = None if rules is None or rules.visit_times else rules
        return Site(outcome, rules, memory_bytes(entry), since, until, silent_rules)

    # Fetching, step by step.

    def begin(self, origin: Origin, copy: Entry | None) -> Request:
        """Return the first request of a fetch."""
        request = self.access.begin(origin, copy)
        self._emit_started(request)
        return request

    def headers_for(self, request: Request) -> Headers:
        """Return the headers of a request."""
        return request_headers(request, self.user_agent, self.headers)

    def follow(
        self, request: Request, answer: Response | Failure, seconds: float
    ) -> Request | Entry:
        """Return the next request of a fetch, or the entry to cache."""
        if isinstance(answer, Failure):
            step: Request | Entry = self.access.fail(request, answer, self.clock(), seconds)
        else:
            step = self.access.respond(request, answer, self.clock(), seconds)
        if isinstance(step, Request):
            self._emit_redirected(request, step)
        else:
            self._emit_finished(step, answer)
        return step

    # Decisions.

    def agent_or_default(self, agent: str | Sequence[str] | None) -> str | Sequence[str]:
        """Return the crawler of a question: the client's own, if none is given.

        Raises:
            TypeError: it is neither a str nor a sequence of them.
            ValueError: it is empty.
        """
        return self.agent if agent is None else validate_agent(agent)

    def decision(self, site: Site, url: str, agent: str | Sequence[str] | None) -> Decision:
        self._emit_site_info(site, agent)
        if agent is None and site.rules is not None:
            return site.outcome.decide_by(site.rules, url)
        return site.outcome.decide(url, self.agent_or_default(agent))

    def verdict(self, site: Site, url: str, agent: str | Sequence[str] | None) -> bool:
        self._emit_site_info(site, agent)
        if agent is None and site.rules is not None:
            return allowed_as_browsers_read(site.rules, url)
        return site.outcome.allowed(url, self.agent_or_default(agent))

    def rules(self, site: Site, agent: str | Sequence[str] | None) -> Rules:
        """Return a crawler's rules; empty ones if the site has no file."""
        if agent is None and site.rules is not None:
            return site.rules
        robots = site.outcome.robots or self._empty_robots
        return rules_for_data(robots, self.agent_or_default(agent))

    def pace_key(self, group: str, agent: str | Sequence[str] | None) -> str:
        """Return the pacer's key: a group of sites (see `PaceBy`), and the agent."""
        agents = self.agent_or_default(agent)
        return f"{group} {agents if isinstance(agents, str) else ', '.join(agents)}"

    def emit_waiting(
        self,
        site: Site,
        rules: Rules,
        why: Callable[[datetime], str],
        queued: float,
        seconds: float,
    ) -> None:
        """Emit that a caller waits for its turn; log it once for each reason."""
        if not self.emitter.emits_info:
            return
        reason = why(later(self.clock(), seconds))
        self.emitter.emit(
            EventName.PACE_WAITING,
            site.outcome.origin,
            {
                "koster.agent": agent_name(rules),
                "koster.wait.seconds": seconds,
                "koster.wait.queued": queued,
                "koster.why": reason,
            },
            is_logged=self._has_changed(EventName.PACE_WAITING, site, rules, reason),
        )

    # Events.

    def _emit_started(self, request: Request) -> None:
        origin = request.origin
        self.emitter.emit(
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

    def _emit_redirected(self, request: Request, following: Request) -> None:
        self.emitter.emit(
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

    def _emit_finished(self, entry: Entry, answer: Response | Failure) -> None:
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
        self.emitter.emit(EventName.FETCH_FINISHED, entry.origin, attributes)

    def _emit_cache_hit(self, outcome: Outcome) -> None:
        expires = outcome.expires.isoformat()
        attributes = {"koster.outcome": _outcome_name(outcome), "koster.cache.expires": expires}
        self.emitter.emit(EventName.CACHE_HIT, outcome.origin, attributes)

    def _emit_stale(self, outcome: Outcome) -> None:
        since = outcome.unreachable_since or outcome.fetched
        self.emitter.emit(
            EventName.STALE_USED,
            outcome.origin,
            {
                "koster.cache.fetched": outcome.fetched.isoformat(),
                "koster.unreachable.since": since.isoformat(),
                "koster.why": outcome.why,
            },
        )

    def _emit_unreachable(self, outcome: Outcome) -> None:
        since = outcome.unreachable_since or outcome.fetched
        self.emitter.emit(
            EventName.SITE_UNREACHABLE,
            outcome.origin,
            {
                "koster.policy": self.unreachable.value,
                "koster.unreachable.since": since.isoformat(),
                "koster.why": outcome.why,
            },
        )

    def _emit_site_info(self, site: Site, agent: str | Sequence[str] | None) -> None:
        if agent is None:
            if site.silent_rules is None and site.rules is not None:
                self.emit_if_outside_visit_times(site, None)
            return
        if site.outcome.robots is None:
            return
        rules = rules_for_data(site.outcome.robots, agent)
        name = agent_name(rules)
        if name not in site.other_agents:
            if len(site.other_agents) >= _MAX_AGENTS_PER_SITE:
                site.other_agents.clear()
            site.other_agents.add(name)
            self._emit_comments(site.outcome, rules)
        self.emit_if_outside_visit_times(site, agent)

    def _emit_comments(self, outcome: Outcome, rules: Rules) -> None:
        """Emit a file's comments for a crawler, once per version of the file."""
        if outcome.robots is None or Directive.COMMENT not in self.dialect.directives:
            return
        comments = rules.comments
        key = f"{outcome.origin} {agent_name(rules)}"
        file, emitted = hash(outcome.robots.body), self._emitted_comments.get(key)
        if emitted == file or (emitted is None and not comments):
            return
        self._emitted_comments.put(key, file)
        if comments:
            self.emitter.emit(
                EventName.SITE_COMMENTS,
                outcome.origin,
                {"koster.agent": agent_name(rules), "koster.comments": comments},
            )

    def _has_changed(self, name: EventName, site: Site, rules: Rules, value: object) -> bool:
        """Store the value of an event for a site and a crawler; return whether it is a new one."""
        key = f"{name} {site.outcome.origin} {agent_name(rules)}"
        before = self._last_values.get(key)
        self._last_values.put(key, value)
        return before != value

    def emit_if_outside_visit_times(self, site: Site, agent: str | Sequence[str] | None) -> None:
        """Emit an event for a visit outside the visit times; log it once until the next one."""
        if not self.emitter.emits_info:
            return
        rules = self.rules(site, agent)
        now = self.clock()
        if not rules.visit_times or rules.open_at(now):
            return
        next_open = rules.next_open(now)
        self.emitter.emit(
            EventName.OUTSIDE_VISIT_TIME,
            site.outcome.origin,
            {
                "koster.agent": agent_name(rules),
                "koster.visit.times": tuple(map(str, rules.visit_times)),
                "koster.visit.next_open": next_open.isoformat(),
                "koster.comments": rules.comments,
            },
            is_logged=self._has_changed(EventName.OUTSIDE_VISIT_TIME, site, rules, next_open),
        )


def agent_name(rules: Rules) -> str:
    return rules.agent if isinstance(rules.agent, str) else ", ".join(rules.agent)


#: Scheme and authority of a URL that needs no normalization, of a usual length.
_SITE_KEY = re.compile(r"https?://[^\x00-\x20\\/?#]{1,300}(?=[/?#]|\Z)")


def site_key(url: str) -> str:
    """Return scheme and authority of a URL; "" if they need normalization, or it is too long.

    Raises:
        TypeError: the URL is not a str.
    """
    try:
        match = _SITE_KEY.match(url)
    except TypeError:
        raise TypeError(f"url must be a str, not {type(url).__name__}") from None
    return match.group() if match and len(url) <= MAX_URL else ""


def _outcome_name(outcome: Outcome) -> str:
    return "file" if outcome.reason is None else outcome.reason.value
