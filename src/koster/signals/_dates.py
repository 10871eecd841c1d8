"""Dates as sites write them: what they may mean."""

from __future__ import annotations

import contextlib
import email.utils
import re
from datetime import UTC, date, datetime, time

from .._moments import later

#: Characters of a date.
_MAX_DATE = 100
_ISO = re.compile(r"[0-9]{4}-?[0-9W]")
_UTC = re.compile(r" ?(?:GMT|UTC|Z)\Z", re.IGNORECASE)
_SPACE_BEFORE_OFFSET = re.compile(r" (?=[+-][0-9])")
_TIME = re.compile(r"[0-9]:[0-9]")
_DAY = 24 * 3600.0
#: How far zones are ahead of UTC, and behind it, in seconds.
_AHEAD, _BEHIND = 14 * 3600.0, 12 * 3600.0


def moments_of(text: str) -> tuple[datetime, datetime] | None:
    """Return the first and the last moment that a date may mean; None if it is not a date.

    Formats: RFC 822 and its successors, RFC 850, and ISO 8601. Without a time it is a whole day,
    and without a zone it may be in any.

    >>> print(*moments_of("25 Jun 2010 15:00:00 PST"))
    2010-06-25 15:00:00-08:00 2010-06-25 15:00:00-08:00
    >>> print(*moments_of("2020-09-21"))
    2020-09-20 10:00:00+00:00 2020-09-22 12:00:00+00:00
    """
    text = text[:_MAX_DATE].strip()
    found = _from_iso(text) if _ISO.match(text) else _from_email(text)
    if found is None:
        return None
    moment, is_day = found
    first = last = moment.replace(tzinfo=moment.tzinfo or UTC)
    if moment.tzinfo is None:
        first, last = later(first, -_AHEAD), later(last, _BEHIND)
    return first, later(last, _DAY) if is_day else last


def _from_iso(text: str) -> tuple[datetime, bool] | None:
    """Return a date, and whether it has no time."""
    with contextlib.suppress(ValueError):
        return datetime.combine(date.fromisoformat(text), time()), True
    with contextlib.suppress(ValueError):
        text = _SPACE_BEFORE_OFFSET.sub("", _UTC.sub("+00:00", text))
        return datetime.fromisoformat(text), False
    return None


def _from_email(text: str) -> tuple[datetime, bool] | None:
    is_day = not _TIME.search(text)
    # Its parser is for mail that is nearly right, and meets other text here.
    with contextlib.suppress(ValueError, TypeError, IndexError, OverflowError):
        return email.utils.parsedate_to_datetime(text + " 00:00:00" * is_day), is_day
    return None
