"""Waiting that ends when the spider closes.

Scrapy waits for every request in progress before it closes, and tells no component that it wants
to; so `Waiting` follows `close_spider_async` of the engine.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from scrapy import Request
from scrapy.exceptions import DontCloseSpider
from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

from ..._wording import count_noun
from ._refusals import refusal

_log = logging.getLogger("koster.compat.scrapy")

#: Requests that wait for unreachable sites at the same time.
_MAX_ASLEEP = 1000

#: In the meta of a request that was put back into the queue when its spider closed.
_PUT_BACK = "koster_put_back"


class Waiting:
    """The requests of a crawler that wait.

    ``is_closing`` is True from the moment when the spider is told to close. With ``JOBDIR``, a
    request that waited then goes back into the queue, for the next run; else it is ignored.
    """

    def __init__(self, crawler: Any) -> None:
        self._crawler = crawler
        self._keeps_queue = bool(crawler.settings.get("JOBDIR"))
        self._asleep: dict[Deferred[None], Any] = {}
        self.is_closing = False

    def follow_closing(self, release: Callable[[], int]) -> None:
        """Call ``release`` when the spider closes; it returns how many requests it released."""
        engine = self._crawler.engine
        close = engine.close_spider_async

        async def close_spider_async(*, reason: str = "cancelled") -> None:
            if not self.is_closing:
                self.is_closing = True
                self._report(len(self._asleep) + release())
                for sleeping, timer in self._asleep.copy().items():
                    timer.cancel()
                    sleeping.callback(None)
            await close(reason=reason)

        engine.close_spider_async = close_spider_async

    def _report(self, count: int) -> None:
        if count:
            fate = "back in the queue" if self._keeps_queue else "ignored"
            _log.info(
                "The spider closes; %s: %s that waited",
                fate,
                count_noun(count, "request"),
                extra={"spider": self._crawler.spider},
            )

    async def sleep(self, request: Request, seconds: float) -> bool:
        """Wait without taking the place of another request; return whether the time is over.

        It is not if the spider closes before, or too many requests wait.
        """
        if self.is_closing or len(self._asleep) >= _MAX_ASLEEP:
            return False
        sleeping: Deferred[None] = Deferred()
        self._asleep[sleeping] = call_later(max(seconds, 0.0), sleeping.callback, None)
        # Scrapy would count it as one of CONCURRENT_REQUESTS; the next one may begin.
        engine = self._crawler.engine
        active = engine.downloader.active
        active.discard(request)
        engine._slot.nextcall.schedule()
        try:
            await maybe_deferred_to_future(sleeping)
        finally:
            active.add(request)
            del self._asleep[sleeping]
        return not self.is_closing

    def keep_open(self) -> None:
        """Keep the spider open while requests wait.

        Raises:
            scrapy.exceptions.DontCloseSpider: some do.
        """
        if self._asleep:
            raise DontCloseSpider

    def put_back(self, request: Request) -> Request:
        """Return a request for the queue, in place of one whose waiting ended with the spider.

        Raises:
            scrapy.exceptions.IgnoreRequest: no queue is kept; or a component downloads the request
                itself, so it comes back at once.
        """
        if not self._keeps_queue or request.meta.get(_PUT_BACK):
            raise refusal("The spider closes, so the request does not wait any longer")
        meta = {**request.meta, _PUT_BACK: True}
        return request.replace(meta=meta, dont_filter=True)

    def begin(self, request: Request) -> Request | None:
        """Return what replaces a request if the spider closes; see `put_back`."""
        if self.is_closing:
            return self.put_back(request)
        request.meta.pop(_PUT_BACK, None)
        return None
