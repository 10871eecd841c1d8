"""Freshness: what is kept of an origin, until when it holds, and what it means later. Pure.

An `Entry` is what the last fetches of an origin's robots.txt gave. How long it holds comes from
the headers of the answer (RFC 9111 §4.2), within the bounds of RFC 9309 §2.4 or of the
dialect's `Statuses`; what an entry means while the origin is unreachable from RFC 9309
§2.3.1.4. Time is a parameter, a `datetime` with a time zone.
"""

from __future__ import annotations

import email.utils
import enum
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from ._moments import later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from .dialects import Statuses

#: An answer holds for so long even if the server says otherwise: one that says "no-store" is not
#: to be asked again before every page.
SHORTEST = timedelta(minutes=1)

#: An origin that is unreachable is asked again when it has been so for as long again, but not
#: sooner and not later than this.
FIRST_RETRY = timedelta(minutes=1)
LAST_RETRY = timedelta(hours=1)

#: What a server asks for by Retry-After is kept to, up to this.
LONGEST_RETRY_AFTER = timedelta(hours=24)

#: RFC 9309 §2.3.1.4: "for example, 30 days".
GIVES_UP_AFTER = timedelta(days=30)

#: An outage in which the origin was not tried for so long is a new one: neither two tries a month
#: apart nor a clock that was wrong make thirty days.
LONGEST_SILENCE = timedelta(days=7)

#: How far the clocks of those who share a cache may be apart.
SKEW = timedelta(minutes=5)


class Answer(enum.Enum):
    """What an origin's last definite answer was."""

    FILE = "file"
    """A robots.txt (2xx)."""
    UNAVAILABLE = "unavailable"
    """There is none (4xx, or too many redirects): all is allowed."""
    FORBIDDEN = "forbidden"
    """The site forbids it (401, 403), and the dialect takes that for all."""
    NONE = "none"
    """There was no definite answer yet."""


@dataclass(frozen=True, slots=True)
class Hop:
    """One request for a robots.txt, and what came of it.

    ``status`` is None where no answer came, and ``why`` then says what happened. ``headers`` are
    those of the answer that matter here, with names in lower case. ``seconds`` is how long it
    took.
    """

    url: str
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    why: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Entry:
    """What is kept of an origin.

    ``answer``, ``url``, ``body`` (as UTF-8), ``charset`` (what it was in, if not that),
    ``is_cut`` (it was longer), ``etag``, ``last_modified`` and ``fetched`` belong to the last
    definite answer: where it came from in the end, and when it was had or last confirmed.
    ``hops``, ``status`` and ``why`` belong to the last try. ``expires`` is until when the origin is
    not to be asked again. ``unreachable_since`` is set while it could not be reached.
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

    @property
    def has_copy(self) -> bool:
        """Whether there is a file, fresh or stale."""
        return self.answer is Answer.FILE


class Standing(enum.Enum):
    """What an entry means at a moment."""

    FILE = "file"
    STALE_FILE = "stale file"
    """The origin is unreachable, and the file that it last gave holds on."""
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
    if now - since >= GIVES_UP_AFTER:
        return Standing.UNAVAILABLE
    return Standing.STALE_FILE if entry.has_copy else Standing.UNREACHABLE


def is_fresh(entry: Entry, now: datetime, statuses: Statuses) -> bool:
    """Tell whether an entry holds at a moment without asking the origin."""
    return holds_from(entry, statuses) <= now < entry.expires


def holds_from(entry: Entry, statuses: Statuses) -> datetime:
    """Return the moment before which an entry does not hold.

    It would hold for longer than any answer may: a clock was set back, or somebody wrote it who
    has other bounds.
    """
    longest = float(statuses.longest)
    if entry.unreachable_since is not None:
        longest = max(longest, LONGEST_RETRY_AFTER.total_seconds())
    return later(entry.expires, -longest - SKEW.total_seconds())


def expiry(headers: Mapping[str, str], now: datetime, statuses: Statuses) -> datetime:
    """Return until when a definite answer holds: as its headers say, within bounds.

    ``headers`` have names in lower case.
    """
    seconds = _lifetime(headers, now)
    if seconds is None:
        seconds = statuses.lifetime
    return later(now, min(max(seconds, SHORTEST.total_seconds()), statuses.longest))


_DIGITS = re.compile(r"[0-9]{1,18}\Z")


def _lifetime(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds for which an answer is fresh (RFC 9111 §4.2.1), or None."""
    said = {}
    for directive in headers.get("cache-control", "").split(","):
        name, _, value = directive.partition("=")
        said[name.strip().lower()] = value.strip().strip('"')
    if "no-store" in said or "no-cache" in said:
        return 0.0
    age = headers.get("age", "")
    spent = float(age) if _DIGITS.match(age) else 0.0
    if "max-age" in said:
        # One that cannot be read is stale (RFC 9111 §4.2.1).
        return float(said["max-age"]) - spent if _DIGITS.match(said["max-age"]) else 0.0
    if "expires" in headers:
        expires = moment_of(headers["expires"])
        date = moment_of(headers.get("date", "")) or now
        return 0.0 if expires is None else (expires - date).total_seconds() - spent
    return None


def seconds_of(date: str) -> int | None:
    """Return a date of HTTP in seconds since the epoch, or None if it is none.

    Its three forms are read (RFC 9110 §5.6.7). One without a zone, as asctime() writes it, is
    in UTC.

    Raises:
        ValueError: it is beyond what the system counts.
        OverflowError: the same.
    """
    parsed = email.utils.parsedate_tz(date)
    return None if parsed is None else email.utils.mktime_tz((*parsed[:9], parsed[9] or 0))


def moment_of(date: str) -> datetime | None:
    """Return the moment that a date of HTTP names, or None if it names none.

    >>> moment_of("Sunday, 06-Nov-94 08:49:37 GMT") == moment_of("Sun Nov  6 08:49:37 1994")
    True
    """
    try:
        seconds = seconds_of(date[:100])
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError, IndexError, TypeError):
        return None


def retry_after(headers: Mapping[str, str], now: datetime) -> timedelta | None:
    """Return how long the server asks to be left alone (RFC 9110 §10.2.3), or None."""
    said = headers.get("retry-after", "").strip()
    if _DIGITS.match(said):
        wanted = timedelta(seconds=min(float(said), LONGEST_RETRY_AFTER.total_seconds()))
    else:
        moment = moment_of(said)
        if moment is None:
            return None
        wanted = moment - (moment_of(headers.get("date", "")) or now)
    return min(max(wanted, timedelta(seconds=1)), LONGEST_RETRY_AFTER)


def as_unreachable(
    origin: str,
    copy: Entry | None,
    hops: tuple[Hop, ...],
    why: str,
    now: datetime,
    wanted: timedelta | None = None,
) -> Entry:
    """Return what is kept after a try that gave no definite answer.

    Args:
        origin: The origin that was tried.
        copy: What was kept before.
        hops: The requests of this try.
        why: What happened, as part of a sentence.
        now: When.
        wanted: How long the server asked to be left alone.
    """
    since = now
    if copy is not None and copy.unreachable_since is not None:
        # Until it expired nobody was to try.
        known_until = later(copy.expires, LONGEST_SILENCE.total_seconds())
        is_same = copy.unreachable_since <= now <= known_until
        since = copy.unreachable_since if is_same else now
    usual = min(max(now - since, FIRST_RETRY), LAST_RETRY)
    pause = usual if wanted is None else max(wanted, FIRST_RETRY)
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
