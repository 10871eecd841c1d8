"""Dates."""

from __future__ import annotations

from ...freshness import http_date_seconds


def parse_date(string: str) -> int:
    """Return an HTTP date in seconds since the epoch; without a time zone it is in UTC.

    Raises:
        ValueError: the date is invalid.
    """
    seconds = http_date_seconds(string)
    if seconds is None:
        raise ValueError("Invalid time.")
    return seconds
