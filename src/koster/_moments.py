"""Moments: arithmetic on times that stays within the years 1 to 9999.

A clock may be wrong, and a site may ask for centuries. What would lie beyond the last moment that a
`datetime` can hold is that moment, and what would lie before the first one is the first.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

#: The first and the last moment.
FIRST = datetime.min.replace(tzinfo=UTC)
LAST = datetime.max.replace(tzinfo=UTC)

#: When the seconds of Unix begin.
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def later(moment: datetime, seconds: float) -> datetime:
    """Return a moment so many seconds later, or earlier if they are negative.

    >>> later(LAST, 60) == LAST, later(FIRST, -60) == FIRST, later(EPOCH, float("inf")) == LAST
    (True, True, True)
    """
    try:
        return moment + timedelta(seconds=seconds)
    except OverflowError:
        return LAST if seconds > 0 else FIRST


def in_utc(moment: datetime) -> datetime:
    """Return a moment with a time zone in UTC."""
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        # A zone can move it out of the first or the last year alone.
        return FIRST if moment.year == FIRST.year else LAST
