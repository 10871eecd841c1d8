"""Dates."""

from __future__ import annotations

import email.utils


def parse_date(string: str) -> int:
    """Return an HTTP date in seconds since the epoch; without a time zone it is in UTC.

    Raises:
        OverflowError: the date is outside the range of the system.
        ValueError: the same, or the date is invalid.
    """
    parsed = email.utils.parsedate_tz(string)
    if parsed is None:
        raise ValueError("Invalid time.")
    return email.utils.mktime_tz(parsed)
