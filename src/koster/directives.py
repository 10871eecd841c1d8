"""Values of directives: delays, rates, windows and preferences.

Pure functions parse the bytes of a value with its line number; `Values` combines the values of some
lines. Invalid values return None or an empty list: they are ignored, never an error.

Imported on first use: decisions do not need it, and it takes a fifth of koster's import time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from ._moments import in_utc, later
from .model import Directive, text_of


@dataclass(frozen=True, slots=True)
class RequestRate:
    """``requests`` documents in ``seconds`` seconds, at most; from ``start`` to ``end`` (UTC).

    Without a window both are None. A window may cross midnight; if start and end are equal, it is
    the whole day. ``through_end``: the window includes its last minute.
    """

    requests: int
    seconds: int
    start: time | None
    end: time | None
    line: int
    through_end: bool = False

    @property
    def interval(self) -> float:
        """Seconds between two requests."""
        return self.seconds / self.requests


@dataclass(frozen=True, slots=True)
class VisitTime:
    """A window of the day in which visits are allowed (UTC); see `RequestRate` for its ends."""

    start: time
    end: time
    line: int
    through_end: bool = False

    def __str__(self) -> str:
        if self.start == self.end:
            return "all day"
        return f"{self.start:%H:%M}-{self.end:%H:%M}"


@dataclass(frozen=True, slots=True)
class Preference:
    """A preference about a use of the site's content, such as ``ai-train`` ``no``.

    ``directive`` is Content-Signal or Content-Usage, which have separate vocabularies.
    ``pattern`` is the path of a Content-Usage line, or None.
    """

    directive: Directive
    key: str
    value: str
    line: int
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class CleanParam:
    """Query parameters that do not change the page (Yandex), on paths that start with ``path``."""

    names: tuple[str, ...]
    path: str
    line: int


_UNIT_SECONDS = {b"": 1, b"s": 1, b"m": 60, b"h": 3600, b"d": 86400}

_TIME = rb"(\d\d):?(\d\d)"
#: ``0600-0845``, ``06:00 08:45`` (Conner's Extended Standard, both of its wordings).
_WINDOW = re.compile(_TIME + rb"(?:[ \t]*-[ \t]*|[ \t]+)" + _TIME)
_RATE = re.compile(rb"(\d{1,9})[ \t]*/[ \t]*(\d{1,9})[ \t]*([smhdSMHD]?)(?:[ \t]+(.*))?", re.DOTALL)
_DELAY = re.compile(rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")

#: Maximum length; legitimate delays are shorter.
_DELAY_BYTES = 100

#: RFC 9651 §3.2 and §3.3: a member of a dictionary; its value is an item or absent (true).
#: Parameters are ignored.
_ITEM = (
    rb'(?:-?\d+(?:\.\d+)?|"(?:[ !#-\[\]-~]|\\["\\])*"|[A-Za-z*][!#$%&\'*+.^_`|~0-9A-Za-z:/-]*'
    rb"|:[A-Za-z0-9+/=]*:|\?[01]|@-?\d+)"
)
_KEY = rb"[a-z*][a-z0-9_.*-]*"
_PARAMETERS = rb"(?:;[ ]*" + _KEY + rb"(?:=" + _ITEM + rb")?)*"
_MEMBER = re.compile(rb"(" + _KEY + rb")(?:=(" + _ITEM + rb"))?" + _PARAMETERS)
_SPACE = re.compile(rb"[ \t]*")

#: Yandex: "a rule can contain up to 500 characters".
_CLEAN_PARAM_BYTES = 500


def delay(value: bytes) -> float | None:
    """Return a Crawl-delay in seconds, or None if it is not a finite number of at least 0."""
    if len(value) > _DELAY_BYTES or not _DELAY.fullmatch(value):
        return None
    seconds = float(value)
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _window(value: bytes, through_end: bool) -> tuple[time, time] | None:
    """Return start and end of a window; 24:00 is the end of the day.

    If the window includes its last minute, 24:00 is returned as 23:59.
    """
    match = _WINDOW.fullmatch(value.strip())
    if match is None:
        return None
    hour, minute, end_hour, end_minute = map(int, match.groups())
    if (end_hour, end_minute) == (24, 0):
        end_hour, end_minute = (23, 59) if through_end else (0, 0)
    if max(hour, end_hour) > 23 or max(minute, end_minute) > 59:
        return None
    return time(hour, minute), time(end_hour, end_minute)


def request_rate(value: bytes, line: int, through_end: bool) -> RequestRate | None:
    """Return a rate such as ``1/10s 1800-1900``; a unit is s, m, h or d, else seconds."""
    match = _RATE.fullmatch(value)
    if match is None:
        return None
    requests, number, unit, rest = match.groups()
    seconds = int(number) * _UNIT_SECONDS[unit.lower()]
    window = _window(rest, through_end) if rest else None
    if int(requests) == 0 or seconds == 0 or (rest and window is None):
        return None
    start, end = window or (None, None)
    return RequestRate(int(requests), seconds, start, end, line, through_end)


def visit_time(value: bytes, line: int, through_end: bool) -> VisitTime | None:
    """Return a window such as ``0600-0845``."""
    window = _window(value, through_end)
    return VisitTime(*window, line, through_end) if window else None


def utc(now: datetime) -> datetime:
    """Return a moment in UTC.

    Raises:
        TypeError: it is not a datetime.
        ValueError: it has no time zone.
    """
    if not isinstance(now, datetime):
        raise TypeError(f"now must be a datetime, not {type(now).__name__}")
    if now.utcoffset() is None:
        raise ValueError("now must have a time zone: windows in a robots.txt are in UTC")
    return in_utc(now)


#: Minutes of a day.
DAY_MINUTES = 24 * 60


def minute_of(at: datetime | time) -> int:
    """Return the minute of the day."""
    return at.hour * 60 + at.minute


def spans(window: RequestRate | VisitTime) -> list[tuple[int, int]]:
    """Return the spans of a window in minutes of the day; empty if it has no times."""
    if window.start is None or window.end is None:
        return []
    start, end = minute_of(window.start), minute_of(window.end)
    if start == end:
        return [(0, DAY_MINUTES)]
    end += 1 if window.through_end else 0
    return [(start, end)] if start < end else [(start, DAY_MINUTES), (0, end)]


def applies_at(window: RequestRate | VisitTime, moment: datetime) -> bool:
    """Return whether a moment in UTC is in a window; True if there are no times."""
    minute = minute_of(moment)
    return window.start is None or any(start <= minute < end for start, end in spans(window))


def next_start(windows: Iterable[VisitTime], moment: datetime) -> datetime:
    """Return when the first window opens after a moment in UTC.

    Results after the year 9999 become the end of that year.
    """
    day = timedelta(days=1)
    now = _since_midnight(moment.time())
    wait = min((_since_midnight(window.start) - now) % day for window in windows)
    return later(moment, wait.total_seconds())


def _since_midnight(at: time) -> timedelta:
    return timedelta(
        hours=at.hour, minutes=at.minute, seconds=at.second, microseconds=at.microsecond
    )


def content_signal(value: bytes, line: int) -> list[Preference]:
    """Return the preferences of ``search=yes, ai-train=no``; case-insensitive."""
    found = []
    for part in value.split(b","):
        key, equals, signal = part.partition(b"=")
        key, signal = key.strip().lower(), signal.strip().lower()
        if equals and key and signal:
            found.append(Preference(Directive.CONTENT_SIGNAL, text_of(key), text_of(signal), line))
    return found


def usage_path(value: bytes) -> int:
    """Return the length of a Content-Usage's path in bytes; 0 if it has none.

    draft-ietf-aipref-attach: a path begins with ``/`` and ends before the first space or tab.
    """
    if not value.startswith(b"/"):
        return 0
    return len(re.split(rb"[ \t]", value, maxsplit=1)[0])


def content_usage(value: bytes, line: int) -> list[Preference]:
    """Return the preferences of ``/path train-ai=n, search=y``: a path and an RFC 9651 dictionary.

    The last value of a repeated key applies; an invalid dictionary returns an empty list.
    """
    size = usage_path(value)
    pattern = text_of(value[:size]) if size else None
    usages: dict[str, str] = {}
    members = value[size:].strip(b" \t")
    at = 0
    while at < len(members):
        member = _MEMBER.match(members, at)
        if member is None:
            return []
        usages.pop(text_of(member[1]), None)
        usages[text_of(member[1])] = "?1" if member[2] is None else text_of(member[2])
        comma = _after_space(members, member.end())
        at = _after_space(members, comma + 1)
        if comma < len(members) and (members[comma : comma + 1] != b"," or at >= len(members)):
            return []
    return [
        Preference(Directive.CONTENT_USAGE, key, each, line, pattern)
        for key, each in usages.items()
    ]


def _after_space(raw: bytes, at: int) -> int:
    space = _SPACE.match(raw, at)
    return space.end() if space else at


#: The most restrictive value of a key; of other values the last one applies.
_RESTRICTS: Mapping[Directive, tuple[str, ...]] = {
    Directive.CONTENT_SIGNAL: ("no",),
    Directive.CONTENT_USAGE: ("n",),
}
#: Other values are ignored (draft-ietf-aipref-vocab).
_VOCABULARY: Mapping[Directive, tuple[str, ...]] = {Directive.CONTENT_USAGE: ("y", "n")}


def _strictest(preferences: Iterable[Preference]) -> tuple[Preference, ...]:
    """Return one preference for each directive and key: the most restrictive, else the last."""
    chosen: dict[tuple[Directive, str], Preference] = {}
    for preference in preferences:
        known = _VOCABULARY.get(preference.directive)
        if known is not None and preference.value not in known:
            continue
        name = preference.directive, preference.key
        before = chosen.get(name)
        if before is None or before.value not in _RESTRICTS[preference.directive]:
            chosen[name] = preference
    return tuple(chosen.values())


def clean_param(value: bytes, line: int) -> CleanParam | None:
    """Return the parameters and path of ``p0&p1 /path`` (Yandex)."""
    words = value.split()
    if not 1 <= len(words) <= 2 or len(value) > _CLEAN_PARAM_BYTES:
        return None
    names = tuple(text_of(name) for name in words[0].split(b"&") if name)
    path = text_of(words[1]) if len(words) == 2 else "/"
    return CleanParam(names, path, line) if names else None


_PREFERENCES: Mapping[int, Callable[[bytes, int], list[Preference]]] = {
    Directive.CONTENT_SIGNAL.code: content_signal,
    Directive.CONTENT_USAGE.code: content_usage,
}


class Values:
    """The combined values of some lines.

    ``entries`` are their directive codes, values and line numbers, in file order; ``through_end``:
    windows include their last minute; ``timed_first``: rates with a window take precedence over
    those without one.
    """

    def __init__(
        self, entries: list[tuple[int, bytes, int]], through_end: bool, timed_first: bool
    ) -> None:
        self._entries = entries
        self._through_end = through_end
        self._timed_first = timed_first

    @property
    def count(self) -> int:
        """The number of lines."""
        return len(self._entries)

    @property
    def preference_bytes(self) -> int:
        """The number of bytes of the preferences: a line may have thousands of them."""
        return sum(len(value) for code, value, _ in self._entries if code in _PREFERENCES)

    def _values_of(self, directive: Directive) -> list[tuple[bytes, int]]:
        return [(value, line) for code, value, line in self._entries if code == directive.code]

    @property
    def crawl_delay(self) -> float | None:
        """The largest delay."""
        delays = (delay(value) for value, _ in self._values_of(Directive.CRAWL_DELAY))
        return max((each for each in delays if each is not None), default=None)

    @property
    def request_rates(self) -> tuple[RequestRate, ...]:
        """All rates."""
        values = self._values_of(Directive.REQUEST_RATE)
        rates = (request_rate(value, line, self._through_end) for value, line in values)
        return tuple(each for each in rates if each is not None)

    @property
    def visit_times(self) -> tuple[VisitTime, ...]:
        """All windows."""
        values = self._values_of(Directive.VISIT_TIME)
        windows = (visit_time(value, line, self._through_end) for value, line in values)
        return tuple(each for each in windows if each is not None)

    @property
    def comments(self) -> tuple[str, ...]:
        """All comments that are not empty."""
        return tuple(text_of(value) for value, _ in self._values_of(Directive.COMMENT) if value)

    @property
    def clean_params(self) -> tuple[CleanParam, ...]:
        """All Clean-param lines."""
        found = (clean_param(value, line) for value, line in self._values_of(Directive.CLEAN_PARAM))
        return tuple(each for each in found if each is not None)

    @property
    def preferences(self) -> tuple[Preference, ...]:
        """All preferences."""
        return tuple(
            preference
            for code, value, line in self._entries
            if code in _PREFERENCES
            for preference in _PREFERENCES[code](value, line)
        )

    def preferences_for(
        self, crawlable: bool, bytes_matched: Callable[[str], int]
    ) -> tuple[Preference, ...]:
        """Return the preferences for a URL, one for each directive and key.

        ``bytes_matched`` returns the length of a pattern that matches the URL, else -1.
        """
        preferences = self.preferences
        signals = [each for each in preferences if each.directive is Directive.CONTENT_SIGNAL]
        usages = [each for each in preferences if each.directive is Directive.CONTENT_USAGE]
        return _strictest(
            signals + (_with_longest_path(usages, bytes_matched) if crawlable else [])
        )

    def interval(self, now: datetime) -> float | None:
        """Return the seconds between requests at a moment: the longest interval that applies."""
        moment = utc(now)
        rates = [rate for rate in self.request_rates if applies_at(rate, moment)]
        timed = [rate for rate in rates if rate.start is not None]
        intervals = [rate.interval for rate in (self._timed_first and timed) or rates]
        delay = self.crawl_delay
        return max(intervals if delay is None else [*intervals, delay], default=None)

    def interval_line(self, now: datetime) -> tuple[int, str] | None:
        """Return the line that sets the interval at a moment: its number, and its text."""
        seconds = self.interval(now)
        lines = {rate.line for rate in self.request_rates if rate.interval == seconds}
        for directive in (Directive.CRAWL_DELAY, Directive.REQUEST_RATE):
            for value, line in self._values_of(directive):
                is_delay = directive is Directive.CRAWL_DELAY and delay(value) == seconds
                if seconds is not None and (is_delay or line in lines):
                    return line, f"{directive}: {text_of(value)}"
        return None

    def open_at(self, now: datetime) -> bool:
        """Return whether a moment is in a window; True if there are no windows."""
        moment = utc(now)
        windows = self.visit_times
        return not windows or any(applies_at(window, moment) for window in windows)

    def next_open(self, now: datetime) -> datetime:
        """Return the first moment in a window, ``now`` or later, in UTC."""
        moment = utc(now)
        return moment if self.open_at(moment) else next_start(self.visit_times, moment)


def _with_longest_path(
    usages: list[Preference], bytes_matched: Callable[[str], int]
) -> list[Preference]:
    """Return the Content-Usage preferences with the longest matching path."""
    lengths = [bytes_matched(usage.pattern) if usage.pattern else 0 for usage in usages]
    longest = max(lengths, default=-1)
    return [usage for usage, raw in zip(usages, lengths, strict=True) if 0 <= raw == longest]
