"""Arithmetic on moments, saturating at the years 1 and 9999.

A clock may be wrong, and a site may set a delay of centuries. Results outside the range of
`datetime` become its first or last moment.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

#: The range of `datetime`.
FIRST = datetime.min.replace(tzinfo=UTC)
LAST = datetime.max.replace(tzinfo=UTC)

#: The Unix epoch.
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def later(moment: datetime, seconds: float) -> datetime:
    """Return a moment plus seconds, which may be negative.

    >>> later(LAST, 60) == LAST, later(FIRST, -60) == FIRST, later(EPOCH, float("inf")) == LAST
    (True, True, True)
    """
    try:
        return moment + timedelta(seconds=seconds)
    except OverflowError:
        return LAST if seconds > 0 else FIRST


def in_utc(moment: datetime) -> datetime:
    """Convert an aware moment to UTC."""
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        # Only in the first and the last year can the offset leave the range.
        return FIRST if moment.year == FIRST.year else LAST
