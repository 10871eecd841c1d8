"""Fetching and caching the robots.txt of sites, with guard and limits."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import anyio

from ..access import with_dialect
from ..cache import MemoryCache, open_cache
from ..cache.memory import LRUCache
from ..dialects import dialect_named
from ..errors import UrlError
from ..fetch import AsyncRobotsClient, Event, EventName, Guard, to_ascii
from ..fetch._arguments import validate_user_agent
from ..fetch._proxies import parse_proxy
from ..origins import origin_of
from ..reports._json import scalars
from ._gate import too_many_requests
from ._log import WARNING, log
from ._problems import Problem

if TYPE_CHECKING:
    from ..access import Outcome
    from ..cache import Cache
    from ..dialects import Dialect, Statuses
    from ._limits import RateLimit
    from ._metrics import Metrics
    from ._settings import Settings

#: The number of requests that one with a fetch counts as.
COST = 10

#: Maximum time of a fetch including its wait, as a multiple of the fetch timeout.
_MAX_WAIT_FACTOR = 2


class Sites:
    """The robots.txt of sites; dialects with the same `Statuses` share fetches.

    Raises:
        ValueError: the User-Agent, a network or the proxy in the settings is invalid.
    """

    def __init__(self, settings: Settings, limit: RateLimit, metrics: Metrics) -> None:
        validate_user_agent(settings.user_agent)
        if settings.fetch_proxy is not None:
            parse_proxy(settings.fetch_proxy)
        self._settings = settings
        self._limit = limit
        self._metrics = metrics
        self._clients: dict[Statuses, AsyncRobotsClient] = {}
        self._cache: Cache = open_cache(settings.cache, settings.cache_bytes) or MemoryCache()
        self._guard = Guard(also=settings.let_through)
        self._at_once: anyio.Semaphore | None = None
        #: When sites were fetched before their entry expired.
        self._refetched: LRUCache[str, datetime] = LRUCache(10_000, 10_000, lambda _: 1)

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
    ) -> Outcome:
        """Return the outcome for a URL's site; ``pointer`` is the URL's location in the request.

        An entry older than ``max_age`` seconds is fetched again.

        Raises:
            Problem: the URL is invalid, the client is over its limit, or the service is busy.
        """
        try:
            origin = str(origin_of(url, to_ascii))
        except UrlError as error:
            raise _invalid_site(str(error), pointer) from error
        wait = self._limit.take(client, COST - 1)
        if wait:
            raise too_many_requests(wait)
        target = dialect_named(dialect)
        seconds = self._settings.fetch_timeout * _MAX_WAIT_FACTOR
        with anyio.move_on_after(seconds):
            return with_dialect(await self._get_outcome(origin, target, max_age), target)
        raise Problem(503, "busy", "too many sites are being fetched: try again", wait=2)

    async def _get_outcome(self, origin: str, dialect: Dialect, max_age: float | None) -> Outcome:
        """Return a site's outcome; fetch it again if it is too old, and was not just fetched."""
        client = self._client(dialect)
        outcome = await client.robots(origin)
        if max_age is None:
            return outcome
        now = datetime.now(UTC)
        since = self._refetched.get(origin) or outcome.fetched
        if outcome.unreachable_since is None:
            since = max(since, outcome.fetched)
        if (now - since).total_seconds() <= max_age:
            return outcome
        self._refetched.put(origin, now)
        return await client.refetch(origin)

    def _client(self, dialect: Dialect) -> AsyncRobotsClient:
        client = self._clients.get(dialect.statuses)
        if client is None:
            if self._at_once is None:
                self._at_once = anyio.Semaphore(self._settings.fetches)
            client = self._clients[dialect.statuses] = AsyncRobotsClient(
                self._settings.user_agent,
                dialect=dialect,
                timeout=self._settings.fetch_timeout,
                cache=self._cache,
                guard=self._guard,
                proxy=self._settings.fetch_proxy,
                at_once=self._at_once,
                on_event=self._record_event,
            )
        return client

    def _record_event(self, event: Event) -> None:
        fields: dict[str, Any] = scalars({"site": event.origin, **event.attributes})
        if event.name is EventName.FETCH_FINISHED:
            self._metrics.record_fetch(event)
            log("fetch", **fields)
        elif event.name is EventName.CACHE_FAILED:
            log("cache failed", WARNING, **fields)


def to_url(site: str) -> str:
    """Return the URL of an address or host name; paths stay unchanged.

    >>> to_url("example.com"), to_url("http://example.com/x"), to_url("/x")
    ('https://example.com', 'http://example.com/x', '/x')
    """
    return site if "://" in site or not site[0].isalnum() else f"https://{site}"


def is_on_site(url: str, outcome: Outcome) -> bool:
    """Return whether a URL or path belongs to the site of an outcome."""
    if "://" not in url and not url.startswith("//"):
        return True
    try:
        return str(origin_of(url, to_ascii)) == outcome.origin
    except UrlError:
        return False


def _invalid_site(why: str, pointer: str) -> Problem:
    where = {"pointer": pointer} if pointer.startswith("/") else {"parameter": pointer}
    return Problem(422, "no-site", why, [{"detail": why, **where}])
