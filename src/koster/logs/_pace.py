"""Whether crawlers keep to Crawl-delay, Request-rate and Visit-time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .._asking import interval_line, rules_for_data
from .._moments import EPOCH, later
from ..bulk._arrow import Numbers, np
from ..crawlers import agent_for
from ..dialects import Dialect
from ..directives import DAY_MINUTES
from ..model import Directive
from ..politeness import open_minutes, paces
from ..robots import parse

_MINUTE = 60_000_000

_DIRECTIVES = (Directive.CRAWL_DELAY, Directive.REQUEST_RATE, Directive.VISIT_TIME)

#: The maximum number of sites and crawlers whose pace is followed.
_MAX_PACED = 20_000

#: Servers log in whole seconds: an interval of 1.5 seconds may be logged as 1.
_RESOLUTION = 1_000_000


@dataclass(slots=True)
class Paced:
    """How a crawler kept to the pace that a site asks for.

    Attributes:
        directive: The directive with its line: ``line 3, Crawl-delay: 10``.
        intervals: The intervals between requests for which a pace was set.
        kept: How many of them were long enough.
        worst: The minute with the most requests, in minutes since 1970.
        worst_requests: How many they were.
        outside: Requests outside the visit times.
    """

    directive: str = ""
    intervals: int = 0
    kept: int = 0
    worst: int = 0
    worst_requests: int = 0
    outside: int = 0
    _last: int = field(default=0, repr=False)
    _minute: tuple[int, int] = field(default=(0, 0), repr=False)

    def add(self, times: Numbers, delays: Numbers, are_open: Numbers) -> None:
        """Add the requests of a batch, in order.

        Args:
            times: When they were made.
            delays: The seconds to wait before each; 0 where no pace is set.
            are_open: Whether visits are allowed then.
        """
        before = np.concatenate([[self._last or times[0]], times[:-1]])
        is_set = delays > 0
        if not self._last:
            is_set[0] = False
        waited = times - before + _RESOLUTION > delays * 1e6
        self.intervals += int(is_set.sum())
        self.kept += int((waited & is_set).sum())
        self.outside += int((~are_open).sum())
        self._last = int(times[-1])
        minutes, counts = np.unique(times // _MINUTE, return_counts=True)
        for minute, count in zip(minutes.tolist(), counts.tolist(), strict=True):
            known = self._minute[1] if self._minute[0] == minute else 0
            self._minute = (minute, known + count)
            if known + count > self.worst_requests:
                self.worst, self.worst_requests = minute, known + count


@dataclass(frozen=True, slots=True)
class _Day:
    """What a version asks of a crawler, for each minute of the day."""

    delays: Numbers
    open: Numbers
    directive: str


class Paces:
    """Judges the pace of crawlers by the versions of a robots.txt."""

    def __init__(self, bodies: Sequence[bytes], dialect: Dialect) -> None:
        self._bodies = bodies
        self._dialect = dialect
        self._days: dict[tuple[bytes, str], _Day | None] = {}
        #: Whether a version sets a pace for any crawler.
        self.are_set = any(
            parse(body, dialect).values(directive)
            for body in {*bodies}
            for directive in _DIRECTIVES
        )

    def add(
        self, found: dict[Any, Paced], key: Any, crawler: str, times: Numbers,
        first: Numbers, last: Numbers,
    ) -> None:  # fmt: skip
        """Add requests of a crawler, in order, to ``found[key]``.

        ``first`` and ``last`` are the versions that it may have held; the shortest delay of them
        counts.
        """
        versions = range(max(int(first.min()), 0), int(last.max()) + 1)
        days = {number: self._day(number, crawler) for number in versions}
        if not any(days.values()):
            return
        minutes = times // _MINUTE % DAY_MINUTES
        delays = np.full(len(times), np.inf)
        are_open = np.zeros(len(times), bool)
        directive = ""
        for number, day in days.items():
            rows = (first <= number) & (last >= number)
            if day is None:
                delays[rows] = 0
                are_open |= rows
                continue
            directive = day.directive
            delays[rows] = np.minimum(delays, day.delays[minutes])[rows]
            are_open |= rows & day.open[minutes]
        is_known = first >= 0
        delays[~is_known | np.isinf(delays)] = 0
        are_open |= ~is_known
        if key not in found and len(found) >= _MAX_PACED:
            return
        paced = found.setdefault(key, Paced())
        paced.directive = directive or paced.directive
        paced.add(times, delays, are_open)

    def _day(self, number: int, crawler: str) -> _Day | None:
        key = self._bodies[number], crawler
        if key not in self._days:
            self._days[key] = self._read(*key)
        return self._days[key]

    def _read(self, body: bytes, crawler: str) -> _Day | None:
        rules = rules_for_data(parse(body, self._dialect), agent_for(crawler))
        if rules.crawl_delay is None and not rules.request_rates and not rules.visit_times:
            return None
        delays = np.array(paces(rules, 0.0))
        minute = int(delays.argmax())
        line = interval_line(rules, later(EPOCH, minute * 60))
        if line is not None:
            directive = f"line {line[0]}, {line[1]}"
        else:
            window = rules.visit_times[0]
            directive = f"line {window.line}, Visit-time: {window}"
        return _Day(delays, np.array(open_minutes(rules.visit_times)), directive)
