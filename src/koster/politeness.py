"""Politeness: when a robot may ask a site again. Pure: the caller says what time it is.

Takes the `Rules` of a robot, what it fetched last and the time; gives the earliest moment for
the next request. What a site asks for (Crawl-delay, Request-rate, Visit-time) goes first;
where it asks for nothing, a named default does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from ._values import utc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._values import RequestRate, VisitTime
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
        if not 0 <= self.seconds < math.inf:
            raise ValueError(f"seconds must be a finite number from 0 on, not {self.seconds!r}")


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
    edges = _edges(rules)

    def seconds_at(moment: datetime) -> float:
        return interval(rules, moment, last.seconds, default)

    def is_due(moment: datetime) -> bool:
        return rules.open_at(moment) and moment >= _later(began, seconds_at(moment))

    moment = max(utc(now), _later(began, seconds_at(began)))
    # At every moment of a day one of the paces between two edges holds: before the fastest of
    # them nothing is due, and a day later it has held.
    day = [moment, *(_next_at(moment, edge) for edge in edges)]
    fastest = min((seconds_at(each) for each in day if rules.open_at(each)), default=0.0)
    moment = max(moment, _later(began, fastest))
    while not is_due(moment) and moment < _NEVER:
        moment = min(
            [_next_at(moment, edge) for edge in edges]
            + [each for each in [_later(began, seconds_at(moment))] if each > moment]
        )
    return moment


#: The last moment that there is.
_NEVER = datetime.max.replace(tzinfo=UTC)


def _later(moment: datetime, seconds: float) -> datetime:
    """Return a moment so many seconds later, or the last one that there is."""
    try:
        return moment + timedelta(seconds=seconds)
    except OverflowError:
        return _NEVER


def _edges(rules: Rules) -> list[time]:
    """Return the times of day at which another pace may begin to hold, or the site may open."""
    edges: set[time] = set()
    windows: list[RequestRate | VisitTime] = [*rules.request_rates, *rules.visit_times]
    for window in windows:
        if window.start is not None and window.end is not None:
            end = datetime.combine(datetime.min, window.end)
            end += timedelta(minutes=1 if window.through_end else 0)
            edges |= {window.start, end.time()}
    return sorted(edges)


def _next_at(moment: datetime, clock: time) -> datetime:
    """Return the first moment after another at which the clock in UTC shows a time."""
    found = datetime.combine(moment.date(), clock, UTC)
    return found if found > moment else _later(found, 24 * 60 * 60)
