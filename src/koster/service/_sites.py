"""Fetching and caching the robots.txt of sites, with guard and limits."""

from __future__ import annotations

import ssl
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any, cast

import anyio
import httpx2

from .._reports.json import scalars
from .._worker.files import UnreadOutcome
from ..cache import Cache, MemoryCache, open_cache
from ..cache.memory import LRUCache, memory_bytes
from ..dialects import DIALECTS, Dialect, Statuses, dialect_named
from ..errors import UrlError
from ..fetch import AsyncRobotsClient, Event, EventName, Guard, to_ascii
from ..fetch._arguments import validate_user_agent
from ..fetch._proxies import parse_proxy
from ..fetch._state import ClientState, Site
from ..freshness import Entry
from ..origins import origin_of
from ._gate import too_many_requests
from ._limits import RateLimit
from ._log import WARNING, log
from ._metrics import Metrics
from ._problems import Problem
from ._settings import ServiceSettings

#: The number of requests that one with a fetch counts as.
COST = 10

#: Maximum characters of a host name; converting longer ones to ASCII takes milliseconds.
_MAX_HOST = 500

#: Maximum time of a fetch including its wait, as a multiple of the fetch timeout.
_MAX_WAIT_FACTOR = 2


class _State(ClientState):
    """The state of a client that leaves files unread."""

    def site_from(self, entry: Entry) -> Site:
        """Return the site of an entry as if its file were empty, with the file in its entry."""
        site = super().site_from(replace(entry, body=b"", served=None))
        values = {each.name: getattr(site.outcome, each.name) for each in fields(site.outcome)}
        outcome = UnreadOutcome(**values | {"entry": entry})
        return replace(site, outcome=outcome, weight=memory_bytes(entry))


class _Client(AsyncRobotsClient):
    """A client that leaves files unread: reading a long one takes milliseconds."""

    _state_type = _State


class Sites:
    """The robots.txt of sites; dialects with the same `Statuses` share fetches.

    Attributes:
        fetch_slot: Limits the number of concurrent fetches.

    Raises:
        ValueError: the User-Agent, a network or the proxy in the settings is invalid.
    """

    def __init__(self, settings: ServiceSettings, limit: RateLimit, metrics: Metrics) -> None:
        validate_user_agent(settings.user_agent)
        if settings.fetch_proxy is not None:
            parse_proxy(settings.fetch_proxy)
        self._settings = settings
        self._limit = limit
        self._metrics = metrics
        self._clients: dict[Statuses, _Client] = {}
        self._cache: Cache = open_cache(settings.cache, settings.cache_bytes) or MemoryCache()
        self._guard = Guard(also=settings.let_through)
        #: When sites were fetched before their entry expired.
        self._refetched: LRUCache[str, datetime] = LRUCache(10_000, 10_000, lambda _: 1)

    def open(self) -> None:
        """Create the clients of all dialects: reading the certificates takes long."""
        self.fetch_slot = anyio.Semaphore(self._settings.fetches)
        tls = httpx2.create_ssl_context()
        for dialect in DIALECTS.values():
            if dialect.statuses not in self._clients:
                self._clients[dialect.statuses] = self._new_client(dialect, tls)

    async def aclose(self) -> None:
        """Close all connections, and the cache."""
        for client in self._clients.values():
            await client.aclose()
        self._cache.close()

    async def outcome(
        self,
        url: str,
        dialect: str,
        client: str,
        pointer: str,
        max_age: float | None = None,
        cost: int = COST,
    ) -> UnreadOutcome:
        """Return the outcome for a URL's site; ``pointer`` is the URL's location in the request.

        An entry older than ``max_age`` seconds is fetched again. ``cost`` is the number of requests
        that this one counts as.

        Raises:
            Problem: the URL is invalid, the client is over its limit, or the service is busy.
        """
        origin = origin_or_problem(url, pointer)
        wait = self._limit.take(client, cost - 1)
        if wait:
            raise too_many_requests(wait)
        target = dialect_named(dialect)
        seconds = self._settings.fetch_timeout * _MAX_WAIT_FACTOR
        with anyio.move_on_after(seconds):
            outcome = await self._get_outcome(origin, target, max_age)
            return replace(outcome, dialect=target)
        raise Problem(503, "busy", "too many sites are being fetched: try again", wait=2)

    async def _get_outcome(
        self, origin: str, dialect: Dialect, max_age: float | None
    ) -> UnreadOutcome:
        """Return a site's outcome; fetch it again if it is too old, and was not just fetched."""
        if not self._clients:
            # The application runs without its lifespan.
            self.open()
        client = self._clients[dialect.statuses]
        outcome = cast("UnreadOutcome", await client.robots(origin))
        if max_age is None:
            return outcome
        now = datetime.now(UTC)
        since = self._refetched.get(origin) or outcome.fetched
        if outcome.unreachable_since is None:
            since = max(since, outcome.fetched)
        if (now - since).total_seconds() <= max_age:
            return outcome
        self._refetched.put(origin, now)
        return cast("UnreadOutcome", await client.refetch(origin))

    def _new_client(self, dialect: Dialect, tls: ssl.SSLContext) -> _Client:
        return _Client(
            self._settings.user_agent,
            dialect=dialect,
            timeout=self._settings.fetch_timeout,
            cache=self._cache,
            guard=self._guard,
            proxy=self._settings.fetch_proxy,
            verify=tls,
            at_once=self.fetch_slot,
            on_event=self._record_event,
        )

    def _record_event(self, event: Event) -> None:
        values: dict[str, Any] = scalars({"site": event.origin, **event.attributes})
        if event.name is EventName.FETCH_FINISHED:
            self._metrics.record_fetch(event)
            log("fetch", **values)
        elif event.name is EventName.CACHE_FAILED:
            log("cache failed", WARNING, **values)


def to_url(site: str) -> str:
    """Return the URL of an address or host name; paths stay unchanged.

    >>> to_url("example.com"), to_url("http://example.com/x"), to_url("/x")
    ('https://example.com', 'http://example.com/x', '/x')
    """
    return site if "://" in site or not site[0].isalnum() else f"https://{site}"


def origin_or_problem(url: str, pointer: str) -> str:
    """Return the origin of a URL; ``pointer`` is its location in the request.

    Raises:
        Problem: the URL is invalid.
    """
    if len("".join(url.split("/", 3)[2:3])) > _MAX_HOST:
        raise _invalid_site(f"the host name is longer than {_MAX_HOST} characters", pointer)
    try:
        return str(origin_of(url, to_ascii))
    except UrlError as error:
        raise _invalid_site(str(error), pointer) from error


def _invalid_site(why: str, pointer: str) -> Problem:
    where = {"pointer": pointer} if pointer.startswith("/") else {"parameter": pointer}
    return Problem(422, "no-site", why, [{"detail": why, **where}])
