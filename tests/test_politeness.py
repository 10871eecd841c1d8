"""The pace of requests where the site sets none, and the words for what sets it.

tests/engine/test_extended2.py has the moments of requests.
"""

from __future__ import annotations

import math
import pickle
from datetime import UTC, datetime

import pytest

import koster
from koster import politeness
from koster.politeness import RULE_OF_THUMB, Fetch, Limits, Longer, Pace

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def test_a_pause_that_a_person_waits_for_is_bounded() -> None:
    assert [politeness.brief_pause(seconds) for seconds in (0.0, 1.5, 60.0)] == [0.0, 3.0, 5.0]


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


# Limits


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"min_interval": "1"}, TypeError, "min_interval must be a number, not str"),
        ({"min_interval": True}, TypeError, "min_interval must be a number, not bool"),
        ({"min_interval": math.nan}, ValueError, "min_interval must be a finite number"),
        ({"max_interval": -1}, ValueError, "max_interval must be a finite number"),
        ({"min_interval": 3, "max_interval": 2}, ValueError, "must not be above max_interval"),
        ({"longer": "cap"}, TypeError, r"longer must be Longer\.REFUSE or Longer\.CAP, not str"),
        ({"longer": Longer.CAP}, ValueError, "longer needs max_interval"),
    ],
)
def test_intervals_are_checked(
    arguments: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Limits(**arguments)  # type: ignore[arg-type]


def test_bounds_of_an_interval() -> None:
    for limits, expected in (
        (Limits(), [0, 5, 1000]),
        (Limits(min_interval=5), [5, 5, 1000]),
        (Limits(2, 60), [2, 5, 1000]),
        (Limits(2, 60, Longer.CAP), [2, 5, 60]),
    ):
        assert [limits.bound(seconds) for seconds in (0, 5, 1000)] == expected
    assert [Limits(2, 60).cap(seconds) for seconds in (0, 5, 1000)] == [2, 5, 60]


def test_a_longer_interval_is_refused_with_its_line() -> None:
    rules = koster.parse("User-agent: *\nCrawl-delay: 86400").rules_for("FooBot")
    with pytest.raises(
        koster.TooSlowError, match="x: line 2, Crawl-delay: 86400 is longer"
    ) as raised:
        Limits(0, 300).check("x", rules, NOON)
    again = pickle.loads(pickle.dumps(raised.value))
    assert (again.interval, again.line, again.text) == (86_400, 2, "Crawl-delay: 86400")
    assert str(again) == str(raised.value)
    Limits(0, 86_400).check("x", rules, NOON)
    Limits(0, 300, Longer.CAP).check("x", rules, NOON)
    Limits().check("x", rules, NOON)
    Limits(0, 300).check("x", koster.parse("").rules_for("FooBot"), NOON)


@pytest.mark.parametrize(
    ("lines", "bounds", "seconds", "why"),
    [
        ("Crawl-delay: 1", Limits(5), 5, "line 2, Crawl-delay: 1, so min_interval applies (5 s)"),
        (
            "Crawl-delay: 99",
            Limits(0, 60, Longer.CAP),
            60,
            "line 2, Crawl-delay: 99, so max_interval applies (60 s)",
        ),
        (
            "Request-rate: 9/1s",
            Limits(5),
            5,
            "line 2, Request-rate: 9/1s, so min_interval applies (5 s)",
        ),
        ("", Limits(20), 20, "the site sets no pace, so min_interval applies (20 s)"),
        ("", Limits(0, 2), 2, "the site sets no pace, so max_interval applies (2 s)"),
        ("Crawl-delay: 7", Limits(5, 60), 7, "line 2, Crawl-delay: 7"),
    ],
)
def test_requests_within_bounds(lines: str, bounds: Limits, seconds: int, why: str) -> None:
    rules = koster.parse(f"User-agent: *\n{lines}").rules_for("FooBot")
    due = politeness.next_request(rules, Fetch(NOON, 0.0), NOON, limits=bounds)
    assert (due - NOON).total_seconds() == seconds
    assert politeness.interval(rules, NOON, 0.0, limits=bounds) == seconds
    assert politeness.why(rules, NOON, limits=bounds) == why
