"""Politeness: when a crawler may make its next request to a site. Pure: time is a parameter.

Takes the `Rules` of a crawler, its last fetch and the time; returns the earliest moment for the
next request. What the site sets (Crawl-delay, Request-rate, Visit-time) takes precedence over a
default; the crawler's own `Limits` take precedence over both.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ._asking import interval_line
from ._moments import later
from .dialects import Rates
from .directives import DAY_MINUTES, RequestRate, VisitTime, minute_of, spans, utc
from .errors import TooSlowError
from .robots import Rules


@dataclass(frozen=True, slots=True)
class Pace:
    """How long to wait if a site sets no pace: the longer of two times.

    ``times_fetch`` times the duration of the last fetch, and ``at_least`` seconds.
    """

    times_fetch: float
    at_least: float

    def interval(self, fetch_seconds: float) -> float:
        """Return the seconds between two requests, from the duration of the last fetch."""
        return max(self.times_fetch * fetch_seconds, self.at_least)


#: Sean Conner, An Extended Standard for Robot Exclusion: "twice the amount of time it took to
#: retrieve the document; 10 seconds; whichever is slower".
RULE_OF_THUMB = Pace(times_fetch=2.0, at_least=10.0)


#: The most seconds of a pause while a person waits for the answer.
_MAX_PAUSE = 5.0


def brief_pause(fetch_seconds: float) -> float:
    """Return the seconds between two of a few requests that a person waits for.

    They are as for a site that sets no pace, but bounded.
    """
    return min(RULE_OF_THUMB.times_fetch * fetch_seconds, _MAX_PAUSE)


def pace_of(seconds: float | None) -> Pace:
    """Return the pace with an interval in seconds; the rule of thumb, if it is None.

    Raises:
        TypeError: it is not a number.
        ValueError: it is not a finite number of at least 0.
    """
    if seconds is None:
        return RULE_OF_THUMB
    validate_number("the default interval", seconds)
    return Pace(times_fetch=0.0, at_least=float(seconds))


def validate_number(name: str, seconds: float) -> None:
    """Check a setting in seconds.

    Raises:
        TypeError: it is not a number.
        ValueError: it is not a finite number of at least 0.
    """
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(f"{name} must be a number, not {type(seconds).__name__}")
    if not 0 <= seconds < math.inf:
        raise ValueError(f"{name} must be a finite number of at least 0, not {seconds!r}")


class Longer(enum.Enum):
    """What a crawler does if a site sets a longer interval than its ``max_interval``."""

    REFUSE = "refuse"
    """Refuses to request pages from the site: `TooSlowError`."""
    CAP = "cap"
    """Requests pages from the site, at ``max_interval``."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The shortest and the longest interval that a crawler accepts from a site.

    ``min_interval`` replaces a shorter interval of the site, and a shorter default.
    ``max_interval`` is the limit for longer ones (None: no limit), and ``longer`` says what happens
    to a site above it. A default above it becomes ``max_interval``. Visit times have no limit.

    Raises:
        TypeError: an interval is not a number, or ``longer`` is not a `Longer`.
        ValueError: an interval is not a finite number of at least 0; ``min_interval`` is above
            ``max_interval``; or ``longer`` is given without ``max_interval``.
    """

    min_interval: float = 0.0
    max_interval: float | None = None
    longer: Longer = Longer.REFUSE

    def __post_init__(self) -> None:
        validate_number("min_interval", self.min_interval)
        if not isinstance(self.longer, Longer):
            raise TypeError(
                f"longer must be Longer.REFUSE or Longer.CAP, not {type(self.longer).__name__}"
            )
        if self.max_interval is None:
            if self.longer is not Longer.REFUSE:
                raise ValueError("longer needs max_interval: pass both")
            return
        validate_number("max_interval", self.max_interval)
        if self.min_interval > self.max_interval:
            raise ValueError(
                f"min_interval ({self.min_interval:g}) must not be above "
                f"max_interval ({self.max_interval:g})"
            )

    def bound(self, seconds: float) -> float:
        """Return an interval of a site within the limits; one that is refused, as it is."""
        if self.longer is Longer.CAP:
            return self.cap(seconds)
        return max(seconds, self.min_interval)

    def cap(self, seconds: float) -> float:
        """Return an interval within the limits."""
        if self.max_interval is not None and seconds > self.max_interval:
            return self.max_interval
        return max(seconds, self.min_interval)

    def check(self, key: str, rules: Rules, due: datetime) -> None:
        """Check that the interval which a site sets for a moment is not refused.

        Raises:
            TooSlowError: it is; ``key`` names site and crawler.
        """
        if self.max_interval is None or self.longer is Longer.CAP:
            return
        seconds = rules.interval(due)
        if seconds is None or seconds <= self.max_interval:
            return
        line, text = interval_line(rules, due) or (0, "")
        raise TooSlowError(
            f"{key}: line {line}, {text} is longer than max_interval ({self.max_interval:g} s)",
            seconds,
            line,
            text,
        )


#: Any interval of a site applies.
NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Fetch:
    """A completed request: when it began, with a time zone, and how many seconds it took.

    Raises:
        ValueError: ``began`` has no time zone, or ``seconds`` is not a finite number of at least 0.
    """

    began: datetime
    seconds: float

    def __post_init__(self) -> None:
        if self.began.utcoffset() is None:
            raise ValueError("began must have a time zone")
        validate_seconds(self.seconds)


def validate_seconds(seconds: float) -> None:
    """Check a duration.

    Raises:
        ValueError: ``seconds`` is not a finite number of at least 0.
    """
    if not 0 <= seconds < math.inf:
        raise ValueError(f"seconds must be a finite number of at least 0, not {seconds!r}")


def interval(
    rules: Rules,
    now: datetime,
    fetch_seconds: float,
    default: Pace = RULE_OF_THUMB,
    limits: Limits = NO_LIMITS,
) -> float:
    """Return the seconds between two requests at a moment, within the limits.

    Raises:
        ValueError: ``now`` has no time zone.
    """
    seconds = rules.interval(now)
    if limits is NO_LIMITS:
        return default.interval(fetch_seconds) if seconds is None else seconds
    return limits.cap(default.interval(fetch_seconds)) if seconds is None else limits.bound(seconds)


def next_request(
    rules: Rules,
    last: Fetch | None,
    now: datetime,
    default: Pace = RULE_OF_THUMB,
    limits: Limits = NO_LIMITS,
) -> datetime:
    """Return the earliest moment for the crawler's next request to the site, ``now`` or later.

    The interval starts at the beginning of the last fetch. It is the longer of the interval in
    force then and the one in force at the next request, within the limits. If ``last`` is None,
    only visit times apply. Results after the year 9999 become the end of that year. Sites that the
    limits refuse are not refused here, but by `Limits.check`.

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
        # Fast path: the same interval at any time.
        return max(utc(now), later(began, interval(rules, now, last.seconds, default, limits)))
    default_seconds = limits.cap(default.interval(last.seconds))
    by_minute = [limits.bound(pace) for pace in paces(rules, default_seconds)]
    is_open = open_minutes(rules.visit_times)
    first = by_minute[minute_of(began)]
    moment = max(utc(now), later(began, first))
    # The next request is due between one minimum interval and one day after that.
    fastest = min(pace for pace, opened in zip(by_minute, is_open, strict=True) if opened)
    moment = max(moment, later(began, fastest))
    for _ in range(DAY_MINUTES + 1):
        minute = minute_of(moment)
        due = max(moment, later(began, max(first, by_minute[minute])))
        after = later(moment.replace(second=0, microsecond=0), 60)
        if is_open[minute] and due < after:
            return due
        moment = after
    return moment


def why(
    rules: Rules, due: datetime, default: Pace = RULE_OF_THUMB, limits: Limits = NO_LIMITS
) -> str:
    """Return why the next request to a site is due at a moment, as a part of a sentence.

    >>> from datetime import UTC, datetime
    >>> from koster import parse
    >>> due = datetime(2026, 1, 1, 3, 0, tzinfo=UTC)
    >>> why(parse("User-agent: *\\nCrawl-delay: 30").rules_for("FooBot"), due)
    'line 2, Crawl-delay: 30'
    >>> why(parse("").rules_for("FooBot"), due)
    'the site sets no pace, so default_interval applies'
    >>> why(parse("").rules_for("FooBot"), due, limits=Limits(min_interval=60))
    'the site sets no pace, so min_interval applies (60 s)'
    """
    moment = utc(due)
    for window in rules.visit_times:
        if (moment.hour, moment.minute) == (window.start.hour, window.start.minute):
            return f"line {window.line}, Visit-time: {window} UTC"
    found = interval_line(rules, moment)
    seconds = interval(rules, moment, 0.0, default)
    reason = "the site sets no pace" if found is None else f"line {found[0]}, {found[1]}"
    if seconds < limits.min_interval:
        return f"{reason}, so min_interval applies ({limits.min_interval:g} s)"
    if limits.max_interval is not None and seconds > limits.max_interval:
        return f"{reason}, so max_interval applies ({limits.max_interval:g} s)"
    return f"{reason}, so default_interval applies" if found is None else reason


def paces(rules: Rules, default: float) -> list[float]:
    """Return the seconds between two requests for each minute of the day: the longest applies.

    Linear in the number of rates, of which a file may have hundreds of thousands.
    """
    rates = sorted(rules.request_rates, key=lambda rate: -rate.interval)
    delays = [] if rules.crawl_delay is None else [rules.crawl_delay]
    untimed = [*delays, *(rate.interval for rate in rates if rate.start is None)]
    # The seconds that apply in addition to the rate of a window.
    minimum = max(delays if rules.dialect.rates == Rates.TIMED_FIRST else untimed, default=0.0)
    paces = [max(untimed, default=default)] * DAY_MINUTES
    slowest = _first_windows(rates)
    for minute, number in enumerate(slowest):
        if number >= 0:
            paces[minute] = max(rates[number].interval, minimum)
    return paces


def open_minutes(windows: Sequence[VisitTime]) -> list[bool]:
    """Return for each minute of the day whether visits are allowed."""
    return [number >= 0 or not windows for number in _first_windows(windows)]


def _first_windows(windows: Sequence[RequestRate | VisitTime]) -> list[int]:
    """Return for each minute of the day the index of the first window that covers it, or -1."""
    first = [-1] * DAY_MINUTES
    # Union-find: from each minute to the next uncovered one; the last item is the end of the day.
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
    """Return the first uncovered minute from ``minute`` on, with path compression."""
    while free[minute] != minute:
        free[minute] = free[free[minute]]
        minute = free[minute]
    return minute
