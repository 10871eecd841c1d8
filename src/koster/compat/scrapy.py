"""For Scrapy 2.19: a parser, and a middleware that fetches as RFC 9309 says.

``ROBOTSTXT_PARSER = "koster.compat.scrapy.KosterRobotParser"``: Scrapy fetches the robots.txt of
each site and asks this parser; which statuses it parses, and for how long it keeps them, is
Scrapy's own. `RobotsTxtMiddleware` takes the place of Scrapy's middleware of that name, and
does that right, too. Nothing of Scrapy is imported before Scrapy makes one.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ..access import (
    MAX_BYTES,
    Access,
    Failure,
    FailureKind,
    Request,
    Response,
    coding_failure,
    outcome_of,
)
from ..access import headers_of as named
from ..cache import MemoryCache, opened
from ..cache.memory import Recent
from ..cache.shelf import Shelf
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
    """A parser backend, as `scrapy.robotstxt.RobotParser` says what one is: RFC 9309.

    ``robots`` is the parsed file, for whoever wants more than Scrapy asks.
    """

    def __init__(self, robotstxt_body: bytes, spider: Any = None) -> None:
        self.spider = spider
        self.robots = parse(robotstxt_body)

    @classmethod
    def from_crawler(cls, crawler: Any, robotstxt_body: bytes) -> Self:
        """Parse the body of a robots.txt for a crawler, which may be None."""
        return cls(robotstxt_body, getattr(crawler, "spider", None))

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        """Tell whether the user agent may fetch the URL."""
        return self.robots.allowed(text_of(url), text_of(user_agent))

    def crawl_delay(self, user_agent: str | bytes) -> float | None:
        """Return the seconds between two requests that the site asks for, or None."""
        return self.robots.rules_for(text_of(user_agent)).crawl_delay


#: Marks the requests of `RobotsTxtMiddleware`; the number of bytes that came.
_BYTES = "koster_bytes"

#: Outcomes that are kept ready to decide, and the bytes of their files together.
_SITES = 1000
_SITES_BYTES = 32 << 20


class RobotsTxtMiddleware:
    """A downloader middleware: statuses, redirects and expiry as RFC 9309 says, and the pace.

    To be named in ``DOWNLOADER_MIDDLEWARES`` in the place of Scrapy's own, with the same
    settings (``ROBOTSTXT_OBEY``, ``ROBOTSTXT_USER_AGENT``), ``KOSTER_CACHE`` (the path of a file,
    or ``redis://…``; else entries are kept in memory) and ``KOSTER_DIALECT``. Sites are told apart
    by origin; the interval that a site asks for becomes the least delay of its download slot,
    without jitter.
    """

    def __init__(self, crawler: Any) -> None:
        settings = crawler.settings
        self.crawler = crawler
        self._default_agent = settings["USER_AGENT"]
        self._agent = settings["ROBOTSTXT_USER_AGENT"]
        self._dialect = dialect_named(settings.get("KOSTER_DIALECT", "RFC9309"))
        self._access = Access(self._dialect.statuses)
        self._cache = opened(settings.get("KOSTER_CACHE")) or MemoryCache()
        self._shelf = Shelf(self._cache, self._dialect.statuses, self._cache_failed, time.monotonic)
        self._kept: Recent[str, Outcome] = Recent(_SITES, _SITES_BYTES, _weight)
        self._waiting: dict[str, list[Any]] = {}
        self._least: dict[str, float] = {}

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        """Make one for a crawler.

        Raises:
            scrapy.exceptions.NotConfigured: ``ROBOTSTXT_OBEY`` is off.
        """
        from scrapy import signals
        from scrapy.exceptions import NotConfigured

        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        made = cls(crawler)
        crawler.signals.connect(made._count, signals.bytes_received)
        crawler.signals.connect(made._after_response, signals.response_downloaded)
        crawler.signals.connect(made._close, signals.spider_closed)
        return made

    async def process_request(self, request: Any) -> None:
        """Let a request through, with the pace that its site asks for.

        Raises:
            scrapy.exceptions.IgnoreRequest: the site's robots.txt disallows it, or cannot be had.
        """
        from scrapy.exceptions import IgnoreRequest

        if request.meta.get("dont_obey_robotstxt"):
            return
        try:
            origin = origin_of(request.url)
        except UrlError as error:
            if request.url.lower().startswith(("http:", "https:")):
                raise IgnoreRequest(f"No site whose robots.txt could be asked: {error}") from error
            # data:, file:, s3: no site, no rules.
            return
        outcome = await self._outcome(origin, request)
        asked = self._agent or request.headers.get(b"User-Agent") or self._default_agent
        agent = text_of(asked)
        self._slow_down(request, outcome, agent)
        decision = outcome.decide(request.url, agent)
        if not decision:
            self.crawler.stats.inc_value("robotstxt/forbidden")
            raise IgnoreRequest(f"Forbidden by robots.txt: {decision}")

    async def _outcome(self, origin: Origin, request: Any) -> Outcome:
        """Return what is kept of an origin, or fetch it; who else asks meanwhile waits."""
        from scrapy.utils.defer import maybe_deferred_to_future
        from twisted.internet.defer import Deferred

        key = str(origin)
        while True:
            outcome = self._kept.get(key)
            if outcome is not None and _now() < outcome.expires:
                return outcome
            if key not in self._waiting:
                break
            # One for each who waits: a shared one would give its result to the first alone.
            waiting: Any = Deferred()
            self._waiting[key].append(waiting)
            await maybe_deferred_to_future(waiting)
        self._waiting[key] = []
        try:
            outcome = await self._had(origin, request)
            self._kept.put(key, outcome)
        finally:
            for waiting in self._waiting.pop(key):
                waiting.callback(None)
        return outcome

    async def _had(self, origin: Origin, request: Any) -> Outcome:
        """Return what the cache has of an origin, or fetch it."""
        copy = self._shelf.get(str(origin))
        if copy is None or not is_fresh(copy, _now(), self._dialect.statuses):
            copy = await self._fetched(origin, copy, request.meta.get("proxy"))
            self._shelf.put(copy)
        outcome = outcome_of(copy, self._dialect, _now())
        if outcome.robots is not None:
            await self._tell(outcome, request)
        return outcome

    async def _fetched(self, origin: Origin, copy: Entry | None, proxy: Any) -> Entry:
        """Fetch a robots.txt, hop by hop, through Scrapy's downloader."""
        self.crawler.stats.inc_value("robotstxt/request_count")
        step: Request | Entry = self._access.begin(origin, copy)
        while isinstance(step, Request):
            began = time.monotonic()
            answer = await self._answer(step, proxy)
            seconds = time.monotonic() - began
            if isinstance(answer, Response):
                step = self._access.respond(step, answer, _now(), seconds)
            else:
                step = self._access.fail(step, answer, _now(), seconds)
        return step

    async def _answer(self, asked: Request, proxy: Any) -> Response | Failure:
        """Send a request."""
        import scrapy
        from scrapy.http.request import NO_CALLBACK

        request = scrapy.Request(
            asked.url,
            # Scrapy takes a packed body that breaks off for a whole one: this asks for a plain one.
            headers={"Accept-Encoding": "identity", **dict(asked.headers)},
            priority=1000,
            callback=NO_CALLBACK,
            meta={
                "dont_obey_robotstxt": True,
                "dont_redirect": True,
                "dont_cache": True,
                "handle_httpstatus_all": True,
                "allow_offsite": True,
                _BYTES: 0,
                **({"proxy": proxy} if proxy else {}),
            },
        )
        stats = self.crawler.stats
        try:
            response = await self.crawler.engine.download_async(request)
        except Exception as error:  # noqa: BLE001 - whatever kept the answer from coming
            stats.inc_value(f"robotstxt/exception_count/{type(error)}")
            return _failure(error)
        stats.inc_value("robotstxt/response_count")
        stats.inc_value(f"robotstxt/response_status_count/{response.status}")
        pairs = [(name, each) for name, values in response.headers.items() for each in values]
        headers, flags = named(pairs), set(response.flags)
        if "dataloss" in flags:
            return Failure(FailureKind.NOT_HTTP, "its body breaks off before its end")
        # What Scrapy unpacked has no Content-Encoding any more.
        failure = coding_failure(headers, {"identity"}, response.body)
        is_whole = "download_stopped" not in flags
        return failure or Response(response.status, headers, response.body, is_whole)

    def _count(self, data: bytes, request: Any) -> None:
        """Stop reading a robots.txt when more has come than is used.

        Raises:
            scrapy.exceptions.StopDownload: it has.
        """
        from scrapy.exceptions import StopDownload

        if _BYTES in request.meta:
            request.meta[_BYTES] += len(data)
            if request.meta[_BYTES] > MAX_BYTES:
                raise StopDownload(fail=False)

    async def _tell(self, outcome: Outcome, request: Any) -> None:
        """Send Scrapy's signal for a robots.txt that was parsed."""
        from scrapy import signals

        parser = KosterRobotParser(b"", self.crawler.spider)
        parser.robots = outcome.robots or parser.robots
        await self.crawler.signals.send_catch_log_async(
            signal=signals.robots_parsed, robotparser=parser, request=request
        )

    def _slow_down(self, request: Any, outcome: Outcome, agent: str) -> None:
        """Raise the delay of a request's slot to the interval that its site asks for."""
        if outcome.robots is None:
            return
        seconds = outcome.robots.rules_for(agent).interval(_now())
        if not seconds:
            return
        downloader = self.crawler.engine.downloader
        key = downloader.get_slot_key(request)
        self._least[key] = max(seconds, self._least.get(key, 0.0))
        # Slots come and go: the next one, and one that is there.
        settings = downloader.per_slot_settings.setdefault(key, {})
        usual = float(settings.get("delay", self.crawler.settings.getfloat("DOWNLOAD_DELAY")))
        settings |= {"delay": max(seconds, usual), "jitter": 0.0}
        self._hold(key)

    def _hold(self, key: str) -> None:
        """Raise the delay of a slot, if it is there, to the least that its sites ask for."""
        slot = self.crawler.engine.downloader.slots.get(key)
        seconds = self._least.get(key, 0.0)
        if slot is not None and slot.delay * (1 - slot.jitter) < seconds:
            slot.delay, slot.jitter = max(seconds, slot.delay), 0.0

    def _after_response(self, request: Any) -> None:
        """Hold on to the delay where AutoThrottle, which is told before, has lowered it."""
        self._hold(request.meta.get("download_slot", ""))

    def _cache_failed(self, _origin: str, error: Exception) -> None:
        self.crawler.stats.inc_value(f"robotstxt/cache_exception_count/{type(error)}")

    def _close(self) -> None:
        self._cache.close()


def _now() -> datetime:
    return datetime.now(UTC)


def _weight(outcome: Outcome) -> int:
    return 1000 + (len(outcome.robots.body) if outcome.robots is not None else 0)


def _failure(error: Exception) -> Failure:
    """Return what an exception of Scrapy's downloader means."""
    return Failure(FailureKind.CONNECTION, f"{type(error).__name__}: {error}"[:300])
