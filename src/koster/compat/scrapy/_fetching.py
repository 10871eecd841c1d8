"""Outcomes of sites for the middleware: from memory, the cache, or Scrapy's downloader.

Outcomes are shared by origin. Only that a site is unreachable counts for pages that go the same
way: directly, or through the same proxy with the same credentials, since the proxy may be what
fails. Of these, the cache gets those without a proxy.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import scrapy
from scrapy import signals
from scrapy.downloadermiddlewares.httpproxy import HttpProxyMiddleware
from scrapy.exceptions import IgnoreRequest, StopDownload
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import CancelledError, Deferred

from ..._bodies import BodyReader
from ..._codings import ERRORS as CODING_ERRORS
from ...access import (
    HTML_PAGE,
    MAX_BYTES,
    Access,
    Failure,
    FailureKind,
    Outcome,
    Request,
    Response,
    Unreachable,
    collect_headers,
    outcome_of,
    status_phrase,
)
from ...cache import MemoryCache, open_cache
from ...cache.memory import LRUCache
from ...cache.resilient import ResilientCache
from ...decisions import Reason
from ...freshness import MIN_RETRY, Entry, is_fresh
from ...origins import Origin
from ._failures import TimeoutReachedError, through, to_failure
from ._http_cache import (
    HttpCache,
    as_stored,
    has_page,
    http_cache_of,
    is_current,
    is_definite,
    stored_at,
)
from ._parser import KosterRobotParser
from ._proxies import Credentials, proxy_of, route, route_key

if TYPE_CHECKING:
    from ._settings import KosterSettings

_log = logging.getLogger("koster.compat.scrapy")

#: Keys in the meta of requests for robots.txt: the number of bytes received, the end of the time
#: for it on the monotonic clock, and whether the response came from the network.
_RECEIVED = "koster_bytes"
_DEADLINE = "koster_deadline"
_DOWNLOADED = "koster_downloaded"

_LOST = "the HTTP cache has lost its response"
_NOT_STORED = "not in the HTTP cache, and HTTPCACHE_IGNORE_MISSING is on"

#: Outcomes cached in memory, and the total bytes of their files.
_MAX_SITES = 1000
_MAX_SITES_BYTES = 32 << 20


#: Seconds that download handlers have to notice the end of the time themselves.
_GRACE = 0.2


class SpiderClosesError(Exception):
    """The spider closes, so nobody waits for a robots.txt any longer."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a request led to.

    ``stored`` is when the HTTP cache stored the response; None if it comes from the network.
    """

    result: Response | Failure
    request: scrapy.Request
    stored: datetime | None = None


@dataclass(slots=True)
class _Fetch:
    """A fetch in progress: its page, the last request, and the time when the oldest part was true.

    ``proxy`` is the last proxy on its way. ``without_answer`` is why an old copy of the HTTP cache
    is used.
    """

    page: scrapy.Request
    deadline: float
    last: scrapy.Request
    moment: datetime
    is_stored: bool = False
    proxy: str = ""
    without_answer: str = ""


class Fetcher:
    """Returns the outcome of an origin for a page's request."""

    def __init__(self, crawler: Any, settings: KosterSettings) -> None:
        self._crawler = crawler
        self._dialect = settings.dialect
        self._timeout = settings.timeout
        self._unreachable = settings.unreachable
        self._html = settings.html
        self._access = Access(self._dialect.statuses, html=settings.html)
        self._cache = open_cache(crawler.settings.get("KOSTER_CACHE")) or MemoryCache()
        self._entries = ResilientCache(
            self._cache, self._dialect.statuses, self._count_cache_error, time.monotonic
        )
        self._outcomes: LRUCache[str, Outcome] = LRUCache(_MAX_SITES, _MAX_SITES_BYTES, _weight)
        #: Entries of unreachable sites by origin and proxy.
        self._proxied = MemoryCache()
        self._waiting: dict[str, list[Any]] = {}
        #: By origin: an old copy without rules, by its expiry, and why the site was not asked.
        self._assumed: LRUCache[str, tuple[datetime, str]] = LRUCache(
            _MAX_SITES, _MAX_SITES, lambda _: 1
        )
        self._downloads: set[Any] = set()
        self._is_closing = False
        self._credentials = Credentials()
        self._http_cache = http_cache_of(crawler.settings)

    def close(self) -> None:
        """Close the cache."""
        self._cache.close()

    def stop(self) -> int:
        """End all fetches, since the spider closes; return how many pages wait for them."""
        self._is_closing = True
        count = sum(1 + len(waiting) for waiting in self._waiting.values())
        for download in list(self._downloads):
            download.cancel()
        return count

    async def outcome(self, origin: Origin, page: scrapy.Request) -> Outcome:
        """Return the outcome of an origin, or fetch it; concurrent calls wait for it.

        Raises:
            SpiderClosesError: the spider closes.
        """
        key, way = str(origin), route_key(page)
        while True:
            for each in (key, f"{key} {way}"):
                outcome = self._outcomes.get(each)
                if outcome is not None and _now() < outcome.expires:
                    return outcome
            if self._is_closing:
                raise SpiderClosesError
            if key not in self._waiting:
                break
            # One per call: a shared Deferred would pass its result only to the first one.
            waiting: Any = Deferred()
            self._waiting[key].append(waiting)
            await maybe_deferred_to_future(waiting)
        self._waiting[key] = []
        try:
            entry = await self._entry(origin, page)
            outcome = outcome_of(entry, self._dialect, _now(), self._unreachable, self._html)
            is_outage = outcome.unreachable_since is not None
            self._outcomes.put(f"{key} {way}" if is_outage else key, outcome)
        finally:
            for waiting in self._waiting.pop(key):
                waiting.callback(None)
        await self._report(outcome, page)
        return outcome

    async def _entry(self, origin: Origin, page: scrapy.Request) -> Entry:
        """Return the entry of an origin, from the cache if it is fresh."""
        entry = self._entries.get(str(origin))
        if (
            entry is not None
            and is_fresh(entry, _now(), self._dialect.statuses)
            and (entry.unreachable_since is None or not page.meta.get("proxy"))
        ):
            return entry
        way = f"{origin} {route_key(page)}"
        failed = self._proxied.get(way)
        if failed is not None and (entry is None or entry.fetched <= failed.fetched):
            entry = failed
        entry, fetch = await self._fetch(origin, entry, page)
        if fetch.proxy and entry.unreachable_since is not None:
            self._proxied.put(way, entry)
        elif not fetch.is_stored:
            self._entries.put(entry)
        if fetch.without_answer and not entry.has_copy:
            self._assumed.put(str(origin), (entry.expires, fetch.without_answer))
        return entry

    def why_not(self, outcome: Outcome, page: scrapy.Request) -> str:
        """Return why an outcome does not count for a page; empty if it does.

        That a site had no robots.txt, as an old copy in the HTTP cache says, counts only for pages
        that come from there, too: the site may have one now.
        """
        expires, why = self._assumed.get(outcome.origin) or (None, "")
        return why if expires == outcome.expires and not has_page(self._crawler, page) else ""

    async def _report(self, outcome: Outcome, page: scrapy.Request) -> None:
        if outcome.reason is Reason.UNREACHABLE:
            is_allowed = self._unreachable is Unreachable.ALLOW
            _log.log(
                logging.WARNING if is_allowed else logging.INFO,
                "%s is unreachable (%s): everything is %sed",
                outcome.origin,
                outcome.why,
                self._unreachable.value,
                extra={"spider": self._crawler.spider},
            )
        if outcome.is_html:
            _log.warning(
                "%s is %s: everything is allowed",
                outcome.url,
                HTML_PAGE,
                extra={"spider": self._crawler.spider},
            )
        if outcome.robots is not None:
            parser = KosterRobotParser(b"", self._crawler.spider)
            parser.robots = outcome.robots
            await self._crawler.signals.send_catch_log_async(
                signal=signals.robots_parsed, robotparser=parser, request=page
            )

    async def _fetch(
        self, origin: Origin, copy: Entry | None, page: scrapy.Request
    ) -> tuple[Entry, _Fetch]:
        """Fetch a robots.txt, hop by hop, through Scrapy's downloader."""
        self._crawler.stats.inc_value("robotstxt/request_count")
        fetch = _Fetch(page, time.monotonic() + self._timeout, page, _now())
        # In a slot of its own, it is not the first page of the site, and waits for no page.
        slot = f"robots.txt of {origin}"
        slots = self._crawler.engine.downloader.per_slot_settings
        slots[slot] = {"delay": 0.0, "jitter": 0.0}
        try:
            step: Request | Entry = self._access.begin(origin, copy)
            while isinstance(step, Request):
                step = await self._follow(step, fetch, slot)
        finally:
            slots.pop(slot, None)
        if fetch.is_stored:
            # An old copy counts until the site is asked the next time.
            step = replace(step, expires=max(step.expires, _now() + MIN_RETRY))
        return step, fetch

    async def _follow(self, step: Request, fetch: _Fetch, slot: str) -> Request | Entry:
        began = time.monotonic()
        answer = await self._answer(step, fetch, slot)
        seconds = time.monotonic() - began
        fetch.last = answer.request
        fetch.proxy = proxy_of(answer.request) or fetch.proxy
        if answer.stored is None:
            fetch.moment = _now() if not fetch.is_stored else fetch.moment
        else:
            fetch.moment = min(answer.stored, fetch.moment)
            fetch.is_stored = True
        if isinstance(answer.result, Failure):
            return self._access.fail(step, answer.result, _now(), seconds)
        return self._access.respond(step, answer.result, fetch.moment, seconds)

    async def _answer(self, step: Request, fetch: _Fetch, slot: str) -> _Answer:
        """Return the answer of the HTTP cache, if it has one that counts, else of the site."""
        if self._http_cache is HttpCache.ONLY:
            return await self._send(replace(step, headers=()), fetch, slot, dont_cache=False)
        # To a conditional request, a site answers without a body.
        if self._http_cache is HttpCache.OFF or step.headers:
            return await self._send(step, fetch, slot, dont_cache=True)
        stored = await self._send(step, fetch, slot, dont_cache=False)
        if stored.stored is None or self._is_current(stored):
            return stored
        live = await self._send(step, fetch, slot, dont_cache=True)
        is_usable = isinstance(stored.result, Response) and is_definite(stored.result.status)
        if (
            isinstance(live.result, Failure)
            and not live.request.meta.get(_DOWNLOADED)
            and is_usable
        ):
            fetch.without_answer = live.result.why
            return stored
        return live

    def _is_current(self, answer: _Answer) -> bool:
        return (
            isinstance(answer.result, Response)
            and answer.stored is not None
            and is_definite(answer.result.status)
            and is_current(answer.result.headers, answer.stored, _now(), self._dialect.statuses)
        )

    async def _send(self, step: Request, fetch: _Fetch, slot: str, *, dont_cache: bool) -> _Answer:
        request = self._request(step, fetch, slot, dont_cache=dont_cache)
        stats = self._crawler.stats
        try:
            response = await self._download(request, fetch)
        except SpiderClosesError:
            raise
        except Exception as error:  # noqa: BLE001 - any error means that there is no response
            stats.inc_value(f"robotstxt/exception_count/{type(error)}")
            failure = to_failure(error, self._timeout, proxy_of(request))
            if isinstance(error, IgnoreRequest) and self._http_cache is HttpCache.ONLY:
                failure = Failure(FailureKind.CONNECTION, _NOT_STORED)
            return _Answer(failure, request)
        stats.inc_value("robotstxt/response_count")
        stats.inc_value(f"robotstxt/response_status_count/{response.status}")
        stored = None
        if not request.meta.get(_DOWNLOADED):
            stored = stored_at(response, request.meta, _now())
        is_of_proxy = response.status == 407 and bool(proxy_of(request) or stored)
        if is_of_proxy:
            why = f"proxy failed: {status_phrase(407)}"
            return _Answer(through(FailureKind.PROXY, why, proxy_of(request)), request, stored)
        # Scrapy's middleware has decoded the response, also one that was cut off.
        if "cached" in response.flags:
            raw = as_stored(self._crawler, request)
            if raw is None:
                return _Answer(Failure(FailureKind.CONNECTION, _LOST), request, stored)
        else:
            raw = next(iter(request.meta[_DOWNLOADED]), None)
        return _Answer(_to_result(raw or response, is_raw=raw is not None), request, stored)

    async def _download(self, request: scrapy.Request, fetch: _Fetch) -> Any:
        """Download a response, if the time is not over before: some handlers ignore its limit."""
        download = deferred_from_coro(self._crawler.engine.download_async(request))
        seconds = max(fetch.deadline - time.monotonic(), 0.0) + _GRACE
        timer = call_later(seconds, download.cancel)
        self._downloads.add(download)
        try:
            return await maybe_deferred_to_future(download)
        except (asyncio.CancelledError, CancelledError):
            if self._is_closing:
                raise SpiderClosesError from None
            if time.monotonic() < fetch.deadline:
                raise
            raise TimeoutReachedError from None
        finally:
            timer.cancel()
            self._downloads.discard(download)

    def _request(
        self, step: Request, fetch: _Fetch, slot: str, *, dont_cache: bool
    ) -> scrapy.Request:
        middleware = self._crawler.get_downloader_middleware(HttpProxyMiddleware)
        meta, headers = route(fetch.last, step.url, self._credentials, middleware is not None)
        return scrapy.Request(
            step.url,
            # Scrapy accepts truncated compressed bodies, so request an uncompressed one.
            headers={"Accept-Encoding": "identity", **headers, **dict(step.headers)},
            priority=1000,
            callback=NO_CALLBACK,
            meta={
                "dont_obey_robotstxt": True,
                "dont_redirect": True,
                "handle_httpstatus_all": True,
                "allow_offsite": True,
                "autothrottle_dont_adjust_delay": True,
                "download_slot": slot,
                "download_maxsize": 0,
                "download_warnsize": 0,
                _RECEIVED: 0,
                # Retries have a shallow copy.
                _DOWNLOADED: [],
                _DEADLINE: fetch.deadline,
                **({"dont_cache": True} if dont_cache else {}),
                **meta,
            },
        )

    def limit_time(self, request: scrapy.Request) -> None:
        """Give a request for robots.txt, or its retry, the time that is left.

        Raises:
            TimeoutReachedError: none is.
        """
        if _DEADLINE not in request.meta:
            return
        request.meta[_RECEIVED] = 0
        seconds = request.meta[_DEADLINE] - time.monotonic()
        if seconds <= 0:
            raise TimeoutReachedError
        request.meta["download_timeout"] = seconds

    def count_bytes(self, data: bytes, request: scrapy.Request) -> None:
        """Stop reading a robots.txt beyond the size limit.

        Raises:
            scrapy.exceptions.StopDownload: the limit is exceeded.
        """
        if _RECEIVED in request.meta:
            request.meta[_RECEIVED] += len(data)
            if request.meta[_RECEIVED] > MAX_BYTES:
                raise StopDownload(fail=False)

    def note_response(self, request: scrapy.Request, response: Any) -> None:
        """Note a response from the network, as it arrived, and the credentials of its proxy."""
        self._credentials.note(request)
        if _DOWNLOADED in request.meta:
            # Scrapy's middleware changes the headers of the response.
            request.meta[_DOWNLOADED][:] = [response.copy()]

    def _count_cache_error(self, _origin: str, error: Exception) -> None:
        self._crawler.stats.inc_value(f"robotstxt/cache_exception_count/{type(error)}")


def _now() -> datetime:
    return datetime.now(UTC)


def _weight(outcome: Outcome) -> int:
    return 1000 + (len(outcome.robots.body) if outcome.robots is not None else 0)


def _to_result(response: Any, *, is_raw: bool) -> Response | Failure:
    """Return what a response of Scrapy is to `Access`; ``is_raw``: its body is encoded."""
    pairs = [(name, each) for name, values in response.headers.items() for each in values]
    headers, flags = collect_headers(pairs), set(response.flags)
    if "dataloss" in flags:
        return Failure(FailureKind.NOT_HTTP, "invalid HTTP response: truncated response body")
    is_whole = "download_stopped" not in flags
    try:
        # Scrapy removes the Content-Encoding of bodies that it decodes.
        reader = BodyReader(response.status, headers, None if is_raw else response.body)
        if reader.wants_body:
            reader.feed(response.body)
    except CODING_ERRORS as error:
        return Failure(FailureKind.ENCODING, f"response body cannot be decoded: {error}")
    found = reader.result()
    if is_whole or isinstance(found, Failure):
        return found
    return replace(found, is_whole=False)
