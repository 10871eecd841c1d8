"""Sites: what fetching their robots.txt gave, guarded, kept, and only so many at a time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import anyio

from ..access import read_as
from ..cache import MemoryCache, opened
from ..cache.memory import Recent
from ..dialects import dialect_named
from ..errors import UrlError
from ..fetch import AsyncRobotsClient, Event, EventName, Guard, to_ascii
from ..fetch._keeper import checked_header
from ..origins import origin_of
from ..reports._json import scalars
from ._gate import too_many
from ._log import WARNING, log
from ._problems import Problem

if TYPE_CHECKING:
    from ..access import Outcome
    from ..cache import Cache
    from ..dialects import Dialect, Statuses
    from ._limits import RateLimit
    from ._metrics import Metrics
    from ._settings import Settings

#: As how many requests one counts that may fetch.
COST = 10

#: What a fetch may wait for its turn, for each second that it may take.
_WAITING = 2


class Sites:
    """The robots.txt of sites, for all dialects: those that read statuses alike share a fetch.

    Raises:
        ValueError: a setting is not what it must be.
    """

    def __init__(self, settings: Settings, limit: RateLimit, metrics: Metrics) -> None:
        checked_header(settings.user_agent)
        self._settings = settings
        self._limit = limit
        self._metrics = metrics
        self._clients: dict[Statuses, AsyncRobotsClient] = {}
        self._cache: Cache = opened(settings.cache, settings.cache_bytes) or MemoryCache()
        self._guard = Guard(also=settings.let_through)
        self._at_once: anyio.Semaphore | None = None
        #: When sites were asked before their time.
        self._refetched: Recent[str, datetime] = Recent(10_000, 10_000, lambda _: 1)

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
        """Return what fetching a URL's site gave; ``pointer`` says where in the request it stands.

        ``max_age``: seconds; a copy that was had longer ago is asked for again.

        Raises:
            Problem: it belongs to no site, the client fetches too often, or too many do.
        """
        try:
            origin = str(origin_of(url, to_ascii))
        except UrlError as error:
            raise _no_site(str(error), pointer) from error
        wait = self._limit.take(client, COST - 1)
        if wait:
            raise too_many(wait)
        reading = dialect_named(dialect)
        seconds = self._settings.fetch_timeout * _WAITING
        with anyio.move_on_after(seconds):
            return read_as(await self._asked(origin, reading, max_age), reading)
        raise Problem(503, "busy", "too many sites are being fetched: try again", wait=2)

    async def _asked(self, origin: str, dialect: Dialect, max_age: float | None) -> Outcome:
        """Return what is kept of a site, unless that is too old and it was not just asked."""
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
        """Return the client that reads statuses as a dialect does."""
        found = self._clients.get(dialect.statuses)
        if found is None:
            if self._at_once is None:
                self._at_once = anyio.Semaphore(self._settings.fetches)
            found = self._clients[dialect.statuses] = AsyncRobotsClient(
                self._settings.user_agent,
                dialect=dialect,
                timeout=self._settings.fetch_timeout,
                cache=self._cache,
                guard=self._guard,
                at_once=self._at_once,
                on_event=self._hear,
            )
        return found

    def _hear(self, event: Event) -> None:
        """Count what is fetched, and write it down."""
        fields: dict[str, Any] = scalars({"site": event.origin, **event.attributes})
        if event.name is EventName.FETCH_FINISHED:
            self._metrics.fetched(event)
            log("fetch", **fields)
        elif event.name is EventName.CACHE_FAILED:
            log("cache failed", WARNING, **fields)


def as_url(site: str) -> str:
    """Return the URL that is meant by an address or a name; a path stays one.

    >>> as_url("example.com"), as_url("http://example.com/x"), as_url("/x")
    ('https://example.com', 'http://example.com/x', '/x')
    """
    return site if "://" in site or not site[0].isalnum() else f"https://{site}"


def is_on(url: str, outcome: Outcome) -> bool:
    """Tell whether a URL, or a path, is one of the site that was fetched."""
    if "://" not in url and not url.startswith("//"):
        return True
    try:
        return str(origin_of(url, to_ascii)) == outcome.origin
    except UrlError:
        return False


def _no_site(why: str, pointer: str) -> Problem:
    where = {"pointer": pointer} if pointer.startswith("/") else {"parameter": pointer}
    return Problem(422, "no-site", why, [{"detail": why, **where}])
