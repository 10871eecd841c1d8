"""Politeness: when a robot may ask a site again. Pure: the caller says what time it is.

Takes the `Rules` of a robot, what it fetched last and the time; gives the earliest moment for
the next request. What a site asks for (Crawl-delay, Request-rate, Visit-time) goes first;
where it asks for nothing, a named default does.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

TYPE_CHECKING = False
if TYPE_CHECKING:
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
    """A request that was made: when it began, in a time zone, and how many seconds it took."""

    began: datetime
    seconds: float


def interval(rules: Rules, now: datetime, fetch_seconds: float, default: Pace) -> float:
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

    The interval counts from the beginning of the last fetch, as it holds at that moment and
    when the next request is made: the slower one. With None as ``last`` only visit times count.

    Raises:
        ValueError: ``now`` or the beginning of the last fetch has no time zone.

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
    seconds = interval(rules, last.began, last.seconds, default)
    earliest = rules.next_open(max(now, last.began + timedelta(seconds=seconds)))
    later = interval(rules, earliest, last.seconds, default)
    if later <= seconds:
        return earliest
    return rules.next_open(max(earliest, last.began + timedelta(seconds=later)))
