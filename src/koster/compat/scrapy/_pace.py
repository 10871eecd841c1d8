"""The pace of sites, as the delays of Scrapy's download slots."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy import Request
from scrapy.exceptions import IgnoreRequest

from ..._asking import interval_line, rules_for_data

if TYPE_CHECKING:
    from ...access import Outcome


class Interval(NamedTuple):
    """Seconds between two requests, and the line of robots.txt that sets them."""

    seconds: float
    line: str


def interval_of(outcome: Outcome, agent: str, now: datetime) -> Interval | None:
    """Return the interval that a site sets for a crawler, if it does."""
    if outcome.robots is None:
        return None
    rules = rules_for_data(outcome.robots, agent)
    seconds = rules.interval(now)
    number, text = interval_line(rules, now) or (0, "")
    return Interval(seconds, f"line {number}, {text}") if seconds else None


class Slots:
    """The delays of the slots: at least the interval of their sites."""

    def __init__(self, crawler: Any) -> None:
        self._crawler = crawler
        self._min_delays: dict[str, float] = {}

    def slow_down(self, request: Request, seconds: float) -> None:
        """Raise the delay of a request's slot to the interval of its site."""
        downloader = self._crawler.engine.downloader
        key = downloader.get_slot_key(request)
        self._min_delays[key] = max(seconds, self._min_delays.get(key, 0.0))
        # Slots are temporary: apply it to future slots, and to an existing one.
        settings = downloader.per_slot_settings.setdefault(key, {})
        general = self._crawler.settings.getfloat("DOWNLOAD_DELAY")
        settings |= {"delay": max(seconds, float(settings.get("delay", general))), "jitter": 0.0}
        self.restore(key)

    def restore(self, key: str) -> None:
        """Raise the delay of an existing slot to the minimum for its sites."""
        slot = self._crawler.engine.downloader.slots.get(key)
        seconds = self._min_delays.get(key, 0.0)
        if slot is not None and slot.delay * (1 - slot.jitter) < seconds:
            slot.delay, slot.jitter = max(seconds, slot.delay), 0.0

    def release(self, replace: Callable[[Request], Request]) -> int:
        """End the waiting of all requests for the pace of a site; return how many waited.

        ``replace`` returns the request that goes back into the queue, or raises `IgnoreRequest`.
        """
        count = 0
        for key in self._min_delays:
            slot = self._crawler.engine.downloader.slots.get(key)
            while slot is not None and slot.queue:
                request, result = slot.queue.popleft()
                count += 1
                try:
                    result.callback(replace(request))
                except IgnoreRequest as error:
                    result.errback(error)
            if slot is not None:
                slot.close()
        return count
