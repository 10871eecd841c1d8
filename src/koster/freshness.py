"""Freshness: cache entries, when they expire, and what they mean afterwards. Pure.

An `Entry` is the result of the last fetches of an origin's robots.txt. Its lifetime comes from the
response headers (RFC 9111 §4.2), within the bounds of RFC 9309 §2.4 or the dialect's `Statuses`;
what it means while the origin is unreachable comes from RFC 9309 §2.3.1.4. Time is a parameter, a
`datetime` with a time zone.
"""

from __future__ import annotations

import email.utils
import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from ._moments import later
from .dialects import Statuses

__all__ = [
    "MAX_RETRY",
    "MAX_RETRY_AFTER",
    "MAX_RETRY_GAP",
    "MAX_UNREACHABLE",
    "MIN_LIFETIME",
    "MIN_RETRY",
    "Answer",
    "Entry",
    "Hop",
    "expiry",
    "fresh_from",
    "is_fresh",
]

#: Minimum lifetime of an entry: even with "no-store", koster does not fetch again for every page.
MIN_LIFETIME = timedelta(minutes=1)

#: An unreachable origin is retried with exponential backoff, between these bounds.
MIN_RETRY = timedelta(minutes=1)
MAX_RETRY = timedelta(hours=1)

#: Upper bound for Retry-After.
MAX_RETRY_AFTER = timedelta(hours=24)

#: Then an unreachable origin counts as unavailable (RFC 9309 §2.3.1.4: "for example, 30 days").
MAX_UNREACHABLE = timedelta(days=30)

#: After a longer gap between tries a new outage begins: two failures a month apart, or a wrong
#: clock, are not an outage of 30 days.
MAX_RETRY_GAP = timedelta(days=7)

#: Maximum difference between the clocks of processes that share a cache.
MAX_CLOCK_SKEW = timedelta(minutes=5)


class Answer(enum.Enum):
    """The last definite answer of an origin."""

    FILE = "file"
    """A robots.txt (2xx)."""
    UNAVAILABLE = "unavailable"
    """No robots.txt (4xx, or too many redirects): everything is allowed."""
    FORBIDDEN = "forbidden"
    """Access is forbidden (401, 403), and the dialect then disallows everything."""
    NONE = "none"
    """No definite answer yet."""


@dataclass(frozen=True, slots=True)
class Hop:
    """One request for a robots.txt, and its result.

    ``status`` is None if there was no response; ``why`` is then the error. ``headers`` are the
    relevant response headers, with names in lower case. ``seconds`` is the duration.
    """

    url: str
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    why: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Entry:
    """The cache entry of an origin.

    ``answer``, ``url``, ``body`` (as UTF-8), ``charset`` (the original one, if not UTF-8),
    ``served`` (the body before it was decoded, if it was), ``is_cut`` (the body is truncated),
    ``etag``, ``last_modified`` and ``fetched`` belong to the last definite answer: ``url`` is where
    it came from after redirects, ``fetched`` when it was received or last confirmed. ``hops``,
    ``status`` and ``why`` belong to the last try. The origin is not fetched again before
    ``expires``. ``unreachable_since`` is set while it is unreachable.
    """

    origin: str
    answer: Answer
    url: str
    hops: tuple[Hop, ...]
    status: int | None
    why: str
    body: bytes
    fetched: datetime
    expires: datetime
    unreachable_since: datetime | None = None
    etag: str | None = None
    last_modified: str | None = None
    is_cut: bool = False
    charset: str | None = None
    served: bytes | None = None

    @property
    def has_copy(self) -> bool:
        """Whether the entry has a file, fresh or stale."""
        return self.answer is Answer.FILE


class Standing(enum.Enum):
    """What an entry means at a moment."""

    FILE = "file"
    STALE_FILE = "stale file"
    """The origin is unreachable; its last file still applies."""
    UNAVAILABLE = "unavailable"
    FORBIDDEN = "forbidden"
    UNREACHABLE = "unreachable"


_STANDINGS = {
    Answer.FILE: Standing.FILE,
    Answer.UNAVAILABLE: Standing.UNAVAILABLE,
    Answer.FORBIDDEN: Standing.FORBIDDEN,
    Answer.NONE: Standing.UNREACHABLE,
}


def standing(entry: Entry, now: datetime) -> Standing:
    """Return what an entry means at a moment, fresh or not."""
    since = entry.unreachable_since
    if since is None:
        return _STANDINGS[entry.answer]
    if now - since >= MAX_UNREACHABLE:
        return Standing.UNAVAILABLE
    return Standing.STALE_FILE if entry.has_copy else Standing.UNREACHABLE


def is_fresh(entry: Entry, now: datetime, statuses: Statuses) -> bool:
    """Return whether an entry is fresh at a moment."""
    return fresh_from(entry, statuses) <= now < entry.expires


def fresh_from(entry: Entry, statuses: Statuses) -> datetime:
    """Return the moment before which an entry does not count as fresh.

    Before it, the remaining lifetime would exceed the maximum: a clock was set back, or another
    program with other bounds wrote the entry.
    """
    max_lifetime = float(statuses.longest)
    if entry.unreachable_since is not None:
        max_lifetime = max(max_lifetime, MAX_RETRY_AFTER.total_seconds())
    return later(entry.expires, -max_lifetime - MAX_CLOCK_SKEW.total_seconds())


def expiry(headers: Mapping[str, str], now: datetime, statuses: Statuses) -> datetime:
    """Return when a definite answer expires, according to its headers and within bounds.

    Names in ``headers`` are in lower case.
    """
    seconds = _freshness_lifetime(headers, now)
    if seconds is None:
        seconds = statuses.lifetime
    return later(now, min(max(seconds, MIN_LIFETIME.total_seconds()), statuses.longest))


_DIGITS = re.compile(r"[0-9]+\Z")
#: RFC 9111 §1.2.2: larger numbers of seconds count as this one.
_MAX_DELTA = float(1 << 31)


def _delta_seconds(text: str) -> float | None:
    """Return a number of seconds in a header (RFC 9111 §1.2.2), or None if it is invalid."""
    return min(float(text), _MAX_DELTA) if _DIGITS.match(text) else None


def _freshness_lifetime(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds for which a response is fresh (RFC 9111 §4.2.1), or None."""
    directives = {}
    for directive in headers.get("cache-control", "").split(","):
        name, _, value = directive.partition("=")
        directives[name.strip().lower()] = value.strip().strip('"')
    if "no-store" in directives or "no-cache" in directives:
        return 0.0
    current_age = _delta_seconds(headers.get("age", "").strip()) or 0.0
    if "max-age" in directives:
        # With an invalid value it is stale (RFC 9111 §4.2.1).
        return (_delta_seconds(directives["max-age"]) or 0.0) - current_age
    if "expires" in headers:
        expires = parse_http_date(headers["expires"])
        date = parse_http_date(headers.get("date", "")) or now
        return 0.0 if expires is None else (expires - date).total_seconds() - current_age
    return None


def parse_http_date(date: str) -> datetime | None:
    """Return the moment of an HTTP date, or None if it is invalid.

    Supports its three formats (RFC 9110 §5.6.7). A date without a zone, as in asctime(), is in UTC.
    After the year 9999 it is the end of that year.

    >>> parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT").isoformat()
    '1994-11-06T08:49:37+00:00'
    >>> parse_http_date("Sun Nov  6 08:49:37 1994").isoformat()
    '1994-11-06T08:49:37+00:00'
    """
    try:
        parsed = email.utils.parsedate_tz(date[:100])
        if parsed is None:
            return None
        is_late = parsed[0] > datetime.max.year
        year = datetime.max.year if is_late else parsed[0]
        moment = datetime.fromtimestamp(email.utils.mktime_tz((year, *parsed[1:])), UTC)
        return datetime.max.replace(tzinfo=UTC) if is_late else moment
    except (ValueError, OverflowError, OSError, IndexError, TypeError):
        return None


def retry_after(headers: Mapping[str, str], now: datetime) -> timedelta | None:
    """Return the value of Retry-After (RFC 9110 §10.2.3) within bounds, or None."""
    value = headers.get("retry-after", "").strip()
    seconds = _delta_seconds(value)
    if seconds is not None:
        delay = timedelta(seconds=seconds)
    else:
        moment = parse_http_date(value)
        if moment is None:
            return None
        delay = moment - (parse_http_date(headers.get("date", "")) or now)
    return min(max(delay, timedelta(seconds=1)), MAX_RETRY_AFTER)


def unreachable_entry(
    origin: str,
    copy: Entry | None,
    hops: tuple[Hop, ...],
    why: str,
    now: datetime,
    delay: timedelta | None = None,
) -> Entry:
    """Return the entry after a try without a definite answer.

    Args:
        origin: The origin that was tried.
        copy: The previous entry.
        hops: The requests of this try.
        why: The error, as part of a sentence.
        now: The current time.
        delay: The server's Retry-After.
    """
    since = now
    if copy is not None and copy.unreachable_since is not None:
        # There are no tries before the entry expires.
        outage_until = later(copy.expires, MAX_RETRY_GAP.total_seconds())
        is_same_outage = copy.unreachable_since <= now <= outage_until
        since = copy.unreachable_since if is_same_outage else now
    backoff = min(max(now - since, MIN_RETRY), MAX_RETRY)
    pause = backoff if delay is None else max(delay, MIN_RETRY)
    expires = later(now, pause.total_seconds())
    status = hops[-1].status if hops else None
    if copy is not None and copy.has_copy:
        return replace(
            copy, hops=hops, status=status, why=why, unreachable_since=since, expires=expires
        )
    url = hops[-1].url if hops else origin
    return Entry(
        origin, Answer.NONE, url, hops, status, why, b"", now, expires, unreachable_since=since
    )  # fmt: skip
