"""Dates."""

from __future__ import annotations

from ...freshness import seconds_of


def parse_date(string: str) -> int:
    """Return a date of HTTP, without a time zone in UTC, in seconds since the epoch.

    Raises:
        ValueError: it is no date.
    """
    seconds = seconds_of(string)
    if seconds is None:
        raise ValueError("Invalid time.")
    return seconds
