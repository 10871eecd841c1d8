"""Dates."""

from __future__ import annotations

import email.utils


def parse_date(string: str) -> int:
    """Return a date of HTTP, without a time zone in UTC, in seconds since the epoch.

    Raises:
        ValueError: it is no date.
    """
    parsed = email.utils.parsedate_tz(string)
    if parsed is None:
        raise ValueError("Invalid time.")
    return email.utils.mktime_tz((*parsed[:9], parsed[9] or 0))
