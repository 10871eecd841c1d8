"""The pace of requests where the site sets none, and the words for what sets it.

tests/engine/test_extended2.py has the moments of requests.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest

import koster
from koster import politeness
from koster.politeness import RULE_OF_THUMB, Fetch, Pace

pytestmark = pytest.mark.any_mode

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def test_default_pace() -> None:
    assert politeness.pace_of(None) is RULE_OF_THUMB
    assert politeness.pace_of(3) == politeness.pace_of(3.0) == Pace(times_fetch=0.0, at_least=3.0)
    assert [RULE_OF_THUMB.interval(seconds) for seconds in (0.5, 30.0)] == [10.0, 60.0]
    assert politeness.pace_of(3).interval(30.0) == 3.0


@pytest.mark.parametrize("seconds", [-1, -0.5, math.inf, math.nan])
def test_seconds_are_finite_and_not_negative(seconds: float) -> None:
    message = f"must be a finite number of at least 0, not {seconds!r}"
    with pytest.raises(ValueError, match=message):
        politeness.pace_of(seconds)
    with pytest.raises(ValueError, match=message):
        Fetch(NOON, seconds)


def test_default_interval_is_a_number() -> None:
    with pytest.raises(TypeError, match="the default interval must be a number, not str"):
        politeness.pace_of("3")  # type: ignore[arg-type]


def test_begin_of_a_fetch_has_a_time_zone() -> None:
    with pytest.raises(ValueError, match="began must have a time zone"):
        Fetch(NOON.replace(tzinfo=None), 1.0)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("Crawl-delay: 1\nCrawl-delay: 5\nCrawl-delay: 2", "line 3, Crawl-delay: 5"),
        ("Crawl-delay: 1\nRequest-rate: 1/9s", "line 3, Request-rate: 1/9s"),
        ("Request-rate: 1/2s\nRequest-rate: 1/9s 1300-1400", "line 2, Request-rate: 1/2s"),
        ("Visit-time: 1200-1300\nCrawl-delay: 5", "line 2, Visit-time: 12:00-13:00 UTC"),
        ("Visit-time: 1100-1300\nCrawl-delay: 5", "line 3, Crawl-delay: 5"),
        ("Visit-time: 1100-1300", "the site sets no pace, so default_interval applies"),
        ("Crawl-delay: soon", "the site sets no pace, so default_interval applies"),
    ],
)
def test_why_a_request_is_due(lines: str, why: str) -> None:
    rules = koster.parse(f"User-agent: *\n{lines}\nDisallow: /x").rules_for("FooBot")
    assert politeness.why(rules, NOON) == why
