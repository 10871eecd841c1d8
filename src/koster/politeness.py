"""Politeness: when a robot may ask a site again. Pure: the caller says what time it is.

Takes the `Rules` of a robot, what it fetched last and the time; gives the earliest moment for
the next request. What a site asks for (Crawl-delay, Request-rate, Visit-time) goes first;
where it asks for nothing, a named default does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ._moments import later
from .dialects import Rates
from .directives import DAY_MINUTES, RequestRate, VisitTime, minute_of, spans, utc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from .robots import Rules


@dataclass(frozen=True, slots=True)
class Pace:
    """How long to wait where a site asks for nothing: the longer one of two times.

    ``times_fetch`` times as long as the last fetch took, and ``at_least`` seconds.
    """

    times_fetch: float
    at_least: float

    def interval(self, fetch_seconds: float) -> float:
        """Return the seconds between two requests after a fetch that took so long."""
        return max(self.times_fetch * fetch_seconds, self.at_least)


#: Sean Conner, An Extended Standard for Robot Exclusion: "twice the amount of time it took to
#: retrieve the document; 10 seconds; whichever is slower".
RULE_OF_THUMB = Pace(times_fetch=2.0, at_least=10.0)


@dataclass(frozen=True, slots=True)
class Fetch:
    """A request that was made: when it began, in a time zone, and how many seconds it took.

    Raises:
        ValueError: ``began`` has no time zone, or ``seconds`` is no finite number from 0 on.
    """

    began: datetime
    seconds: float

    def __post_init__(self) -> None:
        if self.began.utcoffset() is None:
            raise ValueError("began must have a time zone")
        check_seconds(self.seconds)


def check_seconds(seconds: float) -> None:
    """See whether something can have taken so long.

    Raises:
        ValueError: ``seconds`` is no finite number from 0 on.
    """
    if not 0 <= seconds < math.inf:
        raise ValueError(f"seconds must be a finite number from 0 on, not {seconds!r}")


def interval(
    rules: Rules, now: datetime, fetch_seconds: float, default: Pace = RULE_OF_THUMB
) -> float:
    """Return the seconds that are to lie between two requests at a moment.

    Raises:
        ValueError: ``now`` has no time zone.
    """
    asked = rules.interval(now)
    return default.interval(fetch_seconds) if asked is None else asked


def next_request(
    rules: Rules, last: Fetch | None, now: datetime, default: Pace = RULE_OF_THUMB
) -> datetime:
    """Return the earliest moment from ``now`` on at which the robot may ask the site again.

    The interval counts from the beginning of the last fetch: the one that held then, and the one
    that holds when the next request is made, the slower of the two. With None as ``last`` only
    visit times count. Where it would be after the year 9999 it is the end of that year.

    Raises:
        ValueError: ``now`` has no time zone.

    >>> from datetime import UTC, datetime
    >>> from koster import EXTENDED2, parse
    >>> rules = parse("User-agent: *\\nVisit-time: 0600-0845", EXTENDED2).rules_for("FooBot")
    >>> night = datetime(2026, 1, 1, 3, 0, tzinfo=UTC)
    >>> next_request(rules, None, night).strftime("%H:%M")
    '06:00'
    >>> morning = datetime(2026, 1, 1, 6, 30, tzinfo=UTC)
    >>> next_request(rules, Fetch(morning, 0.4), morning).strftime("%H:%M:%S")
    '06:30:10'
    """
    if last is None:
        return rules.next_open(now)
    began = utc(last.began)
    if not rules.visit_times and not rules.request_rates:
        # The usual case: one interval, at any time.
        return max(utc(now), later(began, interval(rules, now, last.seconds, default)))
    paces = _paces(rules, default.interval(last.seconds))
    is_open = _open_minutes(rules.visit_times)
    first = paces[minute_of(began)]
    moment = max(utc(now), later(began, first))
    # Before the fastest pace of a day has passed nothing is due, and within a day after that
    # something is.
    fastest = min(pace for pace, opened in zip(paces, is_open, strict=True) if opened)
    moment = max(moment, later(began, fastest))
    for _ in range(DAY_MINUTES + 1):
        minute = minute_of(moment)
        due = max(moment, later(began, max(first, paces[minute])))
        after = later(moment.replace(second=0, microsecond=0), 60)
        if is_open[minute] and due < after:
            return due
        moment = after
    return moment


def _paces(rules: Rules, default: float) -> list[float]:
    """Return for each minute of the day the seconds between two requests: the slowest that holds.

    A file may have hundreds of thousands of rates: each minute is looked at once.
    """
    rates = sorted(rules.request_rates, key=lambda rate: -rate.interval)
    delays = [] if rules.crawl_delay is None else [rules.crawl_delay]
    untimed = [*delays, *(rate.interval for rate in rates if rate.start is None)]
    # What holds besides the rates of a window.
    beside = max(delays if rules.dialect.rates == Rates.TIMED_FIRST else untimed, default=0.0)
    paces = [max(untimed, default=default)] * DAY_MINUTES
    slowest = _first_windows(rates)
    for minute, number in enumerate(slowest):
        if number >= 0:
            paces[minute] = max(rates[number].interval, beside)
    return paces


def _open_minutes(windows: Sequence[VisitTime]) -> list[bool]:
    """Return for each minute of the day whether the robot is welcome."""
    return [number >= 0 or not windows for number in _first_windows(windows)]


def _first_windows(windows: Sequence[RequestRate | VisitTime]) -> list[int]:
    """Return for each minute of the day the number of the first window that has it, or -1."""
    first = [-1] * DAY_MINUTES
    # From each minute, the next one that no window has yet; the last entry is the day's end.
    free = list(range(DAY_MINUTES + 1))
    for number, window in enumerate(windows):
        for start, end in spans(window):
            minute = _next_free(free, start)
            while minute < end:
                first[minute] = number
                free[minute] = minute + 1
                minute = _next_free(free, minute)
    return first


def _next_free(free: list[int], minute: int) -> int:
    """Return the first minute from ``minute`` on that is free, and shorten the way to it."""
    while free[minute] != minute:
        free[minute] = free[free[minute]]
        minute = free[minute]
    return minute
