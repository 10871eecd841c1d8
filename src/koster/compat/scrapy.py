"""For Scrapy 2.19: a parser, and a middleware that fetches according to RFC 9309.

``ROBOTSTXT_PARSER = "koster.compat.scrapy.KosterRobotParser"``: Scrapy fetches robots.txt files and
uses this parser; Scrapy decides which statuses to parse, and how long to cache files.
`RobotsTxtMiddleware` replaces Scrapy's middleware of that name, and follows RFC 9309 for these,
too. Scrapy is only imported when it creates one.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from .._asking import allowed_for_data, rules_for_data
from ..access import (
    MAX_BYTES,
    Access,
    Failure,
    FailureKind,
    Request,
    Response,
    coding_failure,
    collect_headers,
    outcome_of,
)
from ..cache import MemoryCache, open_cache
from ..cache.memory import LRUCache
from ..cache.resilient import ResilientCache
from ..dialects import dialect_named
from ..errors import UrlError
from ..freshness import is_fresh
from ..origins import origin_of
from ..robots import parse
from ._http import text_of

if TYPE_CHECKING:
    from typing import Self

    from ..access import Outcome
    from ..freshness import Entry
    from ..origins import Origin


class KosterRobotParser:
    """A parser backend (`scrapy.robotstxt.RobotParser`) for RFC 9309.

    ``robots`` is the parsed file, for access to more than Scrapy's interface.
    """

    def __init__(self, robotstxt_body: bytes, spider: Any = None) -> None:
        self.spider = spider
        self.robots = parse(robotstxt_body)

    @classmethod
    def from_crawler(cls, crawler: Any, robotstxt_body: bytes) -> Self:
        """Parse the body of a robots.txt for a crawler, which may be None."""
        return cls(robotstxt_body, getattr(crawler, "spider", None))

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        """Return whether the user agent may fetch the URL."""
        return allowed_for_data(self.robots, text_of(url), text_of(user_agent))

    def crawl_delay(self, user_agent: str | bytes) -> float | None:
        """Return the crawl delay of the user agent in seconds, or None."""
        return rules_for_data(self.robots, text_of(user_agent)).crawl_delay


#: Key in the meta of `RobotsTxtMiddleware`'s requests: the number of bytes received.
_RECEIVED = "koster_bytes"

#: Outcomes cached in memory, and the total bytes of their files.
_MAX_SITES = 1000
_MAX_SITES_BYTES = 32 << 20


class RobotsTxtMiddleware:
    """A downloader middleware with RFC 9309's statuses, redirects and expiry, and pacing.

    Put it in ``DOWNLOADER_MIDDLEWARES`` instead of Scrapy's own. It has the same settings
    (``ROBOTSTXT_OBEY``, ``ROBOTSTXT_USER_AGENT``), ``KOSTER_CACHE`` (the path of a file, or
    ``redis://…``; default: in memory) and ``KOSTER_DIALECT``. Sites are origins; the interval of a
    site becomes the minimum delay of its download slot, without jitter.
    """

    def __init__(self, crawler: Any) -> None:
        settings = crawler.settings
        self.crawler = crawler
        self._default_agent = settings["USER_AGENT"]
        self._agent = settings["ROBOTSTXT_USER_AGENT"]
        self._dialect = dialect_named(settings.get("KOSTER_DIALECT", "RFC9309"))
        self._access = Access(self._dialect.statuses)
        self._cache = open_cache(settings.get("KOSTER_CACHE")) or MemoryCache()
        self._entries = ResilientCache(
            self._cache, self._dialect.statuses, self._count_cache_error, time.monotonic
        )
        self._outcomes: LRUCache[str, Outcome] = LRUCache(_MAX_SITES, _MAX_SITES_BYTES, _weight)
        self._waiting: dict[str, list[Any]] = {}
        self._min_delays: dict[str, float] = {}

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        """Create a middleware for a crawler.

        Raises:
            scrapy.exceptions.NotConfigured: ``ROBOTSTXT_OBEY`` is off.
        """
        from scrapy import signals
        from scrapy.exceptions import NotConfigured

        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        middleware = cls(crawler)
        crawler.signals.connect(middleware._count_bytes, signals.bytes_received)
        crawler.signals.connect(middleware._after_response, signals.response_downloaded)
        crawler.signals.connect(middleware._close, signals.spider_closed)
        return middleware

    async def process_request(self, request: Any) -> None:
        """Check a request, and apply the pace of its site.

        Raises:
            scrapy.exceptions.IgnoreRequest: the site's robots.txt disallows it, or is unreachable.
        """
        from scrapy.exceptions import IgnoreRequest

        if request.meta.get("dont_obey_robotstxt"):
            return
        try:
            origin = origin_of(request.url)
        except UrlError as error:
            if request.url.lower().startswith(("http:", "https:")):
                raise IgnoreRequest(f"Invalid URL, so there is no robots.txt: {error}") from error
            # data:, file:, s3: have no robots.txt.
            return
        outcome = await self._outcome(origin, request)
        header = self._agent or request.headers.get(b"User-Agent") or self._default_agent
        agent = text_of(header)
        self._apply_interval(request, outcome, agent)
        decision = outcome.decide(request.url, agent)
        if not decision:
            self.crawler.stats.inc_value("robotstxt/forbidden")
            raise IgnoreRequest(f"Forbidden by robots.txt: {decision}")

    async def _outcome(self, origin: Origin, request: Any) -> Outcome:
        """Return the outcome of an origin, or fetch it; concurrent calls wait for it."""
        from scrapy.utils.defer import maybe_deferred_to_future
        from twisted.internet.defer import Deferred

        key = str(origin)
        while True:
            outcome = self._outcomes.get(key)
            if outcome is not None and _now() < outcome.expires:
                return outcome
            if key not in self._waiting:
                break
            # One per call: a shared Deferred would pass its result only to the first one.
            waiting: Any = Deferred()
            self._waiting[key].append(waiting)
            await maybe_deferred_to_future(waiting)
        self._waiting[key] = []
        try:
            outcome = await self._load_outcome(origin, request)
            self._outcomes.put(key, outcome)
        finally:
            for waiting in self._waiting.pop(key):
                waiting.callback(None)
        return outcome

    async def _load_outcome(self, origin: Origin, request: Any) -> Outcome:
        copy = self._entries.get(str(origin))
        if copy is None or not is_fresh(copy, _now(), self._dialect.statuses):
            copy = await self._fetch(origin, copy, request.meta.get("proxy"))
            self._entries.put(copy)
        outcome = outcome_of(copy, self._dialect, _now())
        if outcome.robots is not None:
            await self._send_parsed_signal(outcome, request)
        return outcome

    async def _fetch(self, origin: Origin, copy: Entry | None, proxy: Any) -> Entry:
        """Fetch a robots.txt, hop by hop, through Scrapy's downloader."""
        self.crawler.stats.inc_value("robotstxt/request_count")
        step: Request | Entry = self._access.begin(origin, copy)
        while isinstance(step, Request):
            began = time.monotonic()
            response = await self._send(step, proxy)
            seconds = time.monotonic() - began
            if isinstance(response, Response):
                step = self._access.respond(step, response, _now(), seconds)
            else:
                step = self._access.fail(step, response, _now(), seconds)
        return step

    async def _send(self, step: Request, proxy: Any) -> Response | Failure:
        import scrapy
        from scrapy.http.request import NO_CALLBACK

        request = scrapy.Request(
            step.url,
            # Scrapy accepts truncated compressed bodies, so request an uncompressed one.
            headers={"Accept-Encoding": "identity", **dict(step.headers)},
            priority=1000,
            callback=NO_CALLBACK,
            meta={
                "dont_obey_robotstxt": True,
                "dont_redirect": True,
                "dont_cache": True,
                "handle_httpstatus_all": True,
                "allow_offsite": True,
                _RECEIVED: 0,
                **({"proxy": proxy} if proxy else {}),
            },
        )
        stats = self.crawler.stats
        try:
            response = await self.crawler.engine.download_async(request)
        except Exception as error:  # noqa: BLE001 - any error means that there is no response
            stats.inc_value(f"robotstxt/exception_count/{type(error)}")
            return _to_failure(error)
        stats.inc_value("robotstxt/response_count")
        stats.inc_value(f"robotstxt/response_status_count/{response.status}")
        pairs = [(name, each) for name, values in response.headers.items() for each in values]
        headers, flags = collect_headers(pairs), set(response.flags)
        if "dataloss" in flags:
            return Failure(FailureKind.NOT_HTTP, "truncated response body")
        # Scrapy removes the Content-Encoding of bodies that it decodes.
        failure = coding_failure(headers, {"identity"}, response.body)
        is_whole = "download_stopped" not in flags
        return failure or Response(response.status, headers, response.body, is_whole)

    def _count_bytes(self, data: bytes, request: Any) -> None:
        """Stop reading a robots.txt beyond the size limit.

        Raises:
            scrapy.exceptions.StopDownload: the limit is exceeded.
        """
        from scrapy.exceptions import StopDownload

        if _RECEIVED in request.meta:
            request.meta[_RECEIVED] += len(data)
            if request.meta[_RECEIVED] > MAX_BYTES:
                raise StopDownload(fail=False)

    async def _send_parsed_signal(self, outcome: Outcome, request: Any) -> None:
        from scrapy import signals

        parser = KosterRobotParser(b"", self.crawler.spider)
        parser.robots = outcome.robots or parser.robots
        await self.crawler.signals.send_catch_log_async(
            signal=signals.robots_parsed, robotparser=parser, request=request
        )

    def _apply_interval(self, request: Any, outcome: Outcome, agent: str) -> None:
        """Raise the delay of a request's slot to the interval of its site."""
        if outcome.robots is None:
            return
        seconds = rules_for_data(outcome.robots, agent).interval(_now())
        if not seconds:
            return
        downloader = self.crawler.engine.downloader
        key = downloader.get_slot_key(request)
        self._min_delays[key] = max(seconds, self._min_delays.get(key, 0.0))
        # Slots are temporary: apply it to future slots, and to an existing one.
        settings = downloader.per_slot_settings.setdefault(key, {})
        configured = float(settings.get("delay", self.crawler.settings.getfloat("DOWNLOAD_DELAY")))
        settings |= {"delay": max(seconds, configured), "jitter": 0.0}
        self._apply_min_delay(key)

    def _apply_min_delay(self, key: str) -> None:
        """Raise the delay of an existing slot to the minimum for its sites."""
        slot = self.crawler.engine.downloader.slots.get(key)
        seconds = self._min_delays.get(key, 0.0)
        if slot is not None and slot.delay * (1 - slot.jitter) < seconds:
            slot.delay, slot.jitter = max(seconds, slot.delay), 0.0

    def _after_response(self, request: Any) -> None:
        """Restore the minimum delay, in case AutoThrottle, which runs before, has lowered it."""
        self._apply_min_delay(request.meta.get("download_slot", ""))

    def _count_cache_error(self, _origin: str, error: Exception) -> None:
        self.crawler.stats.inc_value(f"robotstxt/cache_exception_count/{type(error)}")

    def _close(self) -> None:
        self._cache.close()


def _now() -> datetime:
    return datetime.now(UTC)


def _weight(outcome: Outcome) -> int:
    return 1000 + (len(outcome.robots.body) if outcome.robots is not None else 0)


def _to_failure(error: Exception) -> Failure:
    return Failure(FailureKind.CONNECTION, f"{type(error).__name__}: {error}"[:300])
