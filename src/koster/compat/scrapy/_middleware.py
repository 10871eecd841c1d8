"""The middleware for Scrapy."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Self

from scrapy import Request, signals
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response

from ...access import Outcome, Unreachable
from ...decisions import Decision, Reason
from ...errors import UrlError
from ...origins import Origin, origin_of
from .._http import text_of
from ._fetching import Fetcher, SpiderClosesError
from ._pace import Slots, interval_of
from ._refusals import refusal
from ._settings import check_alone, read_settings
from ._uses import MARK, Uses, check_spider_middleware, mark_of
from ._waiting import Waiting

_log = logging.getLogger("koster.compat.scrapy")

#: For each reason of a refusal: the statistic, and the beginning of the message.
_REFUSALS = {
    Reason.RULE: ("forbidden", "Forbidden by robots.txt"),
    Reason.UNREACHABLE: ("unreachable", "Blocked while robots.txt is unreachable"),
    Reason.FORBIDDEN: ("access_forbidden", "Blocked by the status of robots.txt"),
    Reason.URL_TOO_LONG: ("url_too_long", "Blocked because of its length"),
}


class RobotsTxtMiddleware:
    """A downloader middleware with RFC 9309's statuses, redirects and expiry, and pacing.

    Put it in ``DOWNLOADER_MIDDLEWARES`` instead of Scrapy's own. It has the same settings
    (``ROBOTSTXT_OBEY``, ``ROBOTSTXT_USER_AGENT``), and:

    - ``KOSTER_CACHE``: the path of a file, or ``redis://…``; default: in memory.
    - ``KOSTER_DIALECT``: how files and statuses are read; default: RFC9309.
    - ``KOSTER_TIMEOUT``: the seconds for a robots.txt, in all; default: 10.
    - ``KOSTER_MAX_INTERVAL``: pages are refused where a site wants more seconds between requests;
      default: 300.
    - ``KOSTER_UNREACHABLE``: "allow" or "disallow" (default) pages of unreachable sites.
    - ``KOSTER_HTML``: an HTML page in place of a robots.txt has "no rules" (default), or makes the
      site "unreachable".
    - ``KOSTER_RETRY_UNREACHABLE``: how often their pages are tried again, when koster asks the
      site again; default: 0.
    - ``KOSTER_USES``: what pages are used for, such as ``["ai-train"]``. Pages whose robots.txt
      rules that out are refused; `UsesMiddleware` drops the items of those that rule it out
      themselves, or with ``KOSTER_ITEMS = "mark"`` marks all items. Files for pipelines are
      dropped, too.
    - ``KOSTER_UNSTATED``: "allow" or "disallow" (default) uses about which nothing is stated.

    A blocked request raises `IgnoreRequest` with three attributes: ``decision`` is the `Decision`,
    or None without one; ``reason`` its `Reason` if it blocks the request, else None;
    ``retry_at`` when an unreachable site is asked again, else None.

    Sites are origins; the interval of a site becomes the minimum delay of its download slot,
    without jitter.
    """

    def __init__(self, crawler: Any) -> None:
        self.crawler = crawler
        self._default_agent = crawler.settings["USER_AGENT"]
        self._agent = crawler.settings["ROBOTSTXT_USER_AGENT"]
        self._settings = read_settings(crawler.settings)
        self._fetcher = Fetcher(crawler, self._settings)
        self._slots = Slots(crawler)
        self._waiting = Waiting(crawler)
        self._uses = Uses(self._settings) if self._settings.uses else None
        if self._uses is not None:
            check_spider_middleware(crawler.settings)

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        """Create a middleware for a crawler.

        Raises:
            scrapy.exceptions.NotConfigured: ``ROBOTSTXT_OBEY`` is off.
            ValueError: a setting is invalid, or Scrapy's own middleware is on, too.
        """
        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        check_alone(crawler.settings)
        middleware = cls(crawler)
        connect = crawler.signals.connect
        connect(middleware._spider_opened, signals.spider_opened)
        connect(middleware._waiting.keep_open, signals.spider_idle)
        connect(middleware._fetcher.count_bytes, signals.bytes_received)
        connect(middleware._after_response, signals.response_downloaded)
        connect(middleware._fetcher.close, signals.spider_closed)
        return middleware

    async def process_request(self, request: Request) -> Request | None:
        """Check a request, and apply the pace of its site.

        Returns:
            None; or the request, to put it back into the queue when the spider closes.

        Raises:
            scrapy.exceptions.IgnoreRequest: the request is blocked: by a rule, because the site's
                robots.txt is unreachable, or because the site wants it too slow.
        """
        # Copied from another request.
        request.meta.pop(MARK, None)
        if request.meta.get("dont_obey_robotstxt"):
            self._fetcher.limit_time(request)
            return None
        try:
            origin = origin_of(request.url)
        except UrlError as error:
            if not request.url.lower().startswith(("http:", "https:")):
                # data:, file:, s3: have no robots.txt.
                return None
            why = f"Invalid URL, so there is no robots.txt: {error}"
            raise self._refusal(request, "invalid_url", why) from error
        agent = self._agent_of(request)
        try:
            outcome = await self._outcome(origin, request)
        except SpiderClosesError:
            return self._waiting.put_back(request)
        replacement = self._waiting.begin(request)
        if replacement is not None:
            return replacement
        decision = self._decide(outcome, request, agent)
        self._check(request, outcome, decision)
        if self._uses is not None:
            use = self._uses.before(request, outcome, agent)
            if not use:
                why = f"Refused because of its use: {use}"
                raise self._refusal(request, "use_refused", why, decision)
        self._keep_pace(request, outcome, agent, decision)
        return None

    async def process_response(self, request: Request, response: Response) -> Response:
        """Note what a page and its site state about its use.

        Raises:
            scrapy.exceptions.IgnoreRequest: it is a file for a pipeline, and may not be used.
        """
        request.meta.pop(MARK, None)
        if self._uses is None or request.meta.get("dont_obey_robotstxt"):
            return response
        with suppress(UrlError, SpiderClosesError):
            outcome = await self._fetcher.outcome(origin_of(request.url), request)
            found = self._uses.after(request, response, outcome, self._agent_of(request))
            request.meta[MARK] = mark_of(found)
            if self._uses.refuses(request, found):
                why = f"Dropped because of its use: {found}"
                raise self._refusal(request, "files_dropped", why, found.decision)
        return response

    def _agent_of(self, request: Request) -> str:
        """Return the crawler whose rules apply to a request."""
        header = self._agent or request.headers.get(b"User-Agent") or self._default_agent
        return text_of(header)

    async def _outcome(self, origin: Origin, request: Request) -> Outcome:
        """Return the outcome of an origin; wait for one that blocks since it is unreachable."""
        outcome = await self._fetcher.outcome(origin, request)
        for _ in range(self._settings.retries):
            seconds = (outcome.expires - _now()).total_seconds()
            if (
                outcome.reason is not Reason.UNREACHABLE
                or outcome.unreachable is Unreachable.ALLOW
                or seconds > self._settings.max_interval
                or not await self._waiting.sleep(request, seconds)
            ):
                break
            self.crawler.stats.inc_value("robotstxt/retry_count")
            outcome = await self._fetcher.outcome(origin, request)
        return outcome

    def _decide(self, outcome: Outcome, request: Request, agent: str) -> Decision:
        decision = outcome.decide(request.url, agent)
        why = self._fetcher.why_not(outcome, request)
        if not why or not decision or outcome.unreachable is Unreachable.ALLOW:
            return decision
        return replace(decision, allowed=False, reason=Reason.UNREACHABLE, why=why)

    def _check(self, request: Request, outcome: Outcome, decision: Decision) -> None:
        """Refuse a request that is blocked."""
        if decision:
            return
        statistic, words = _REFUSALS[decision.reason]
        why, retry_at = f"{words}: {decision}", None
        if decision.reason is Reason.UNREACHABLE:
            retry_at = outcome.expires
            why += f"; asked again from {retry_at:%Y-%m-%d %H:%M:%S} UTC"
        raise self._refusal(request, statistic, why, decision, retry_at)

    def _keep_pace(
        self, request: Request, outcome: Outcome, agent: str, decision: Decision
    ) -> None:
        """Apply the interval of a site, or refuse the request if it is too long."""
        interval = interval_of(outcome, agent, _now())
        if interval is None:
            return
        if interval.seconds > self._settings.max_interval:
            why = (
                f"Refused because of the pace of its site: {outcome.origin} wants "
                f"{interval.seconds:g} s between requests ({interval.line}), and "
                f"KOSTER_MAX_INTERVAL is {self._settings.max_interval:g}: {request.url}"
            )
            raise self._refusal(request, "interval_too_long", why, decision)
        self._slots.slow_down(request, interval.seconds)

    def _refusal(
        self,
        request: Request,
        statistic: str,
        why: str,
        decision: Decision | None = None,
        retry_at: datetime | None = None,
    ) -> IgnoreRequest:
        """Count and log a refusal; return its error."""
        self.crawler.stats.inc_value(f"robotstxt/{statistic}")
        _log.debug("%s: %s", request, why, extra={"spider": self.crawler.spider})
        return refusal(why, decision, retry_at)

    def _spider_opened(self) -> None:
        self._waiting.follow_closing(self._release)

    def _release(self) -> int:
        """End all waiting; return how many requests waited."""
        return self._fetcher.stop() + self._slots.release(self._waiting.put_back)

    def _after_response(self, request: Request, response: Any) -> None:
        """Restore the minimum delay, in case AutoThrottle, which runs before, has lowered it."""
        self._fetcher.note_response(request, response)
        self._slots.restore(request.meta.get("download_slot", ""))


def _now() -> datetime:
    return datetime.now(UTC)
