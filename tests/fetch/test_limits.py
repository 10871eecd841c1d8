"""min_interval and max_interval: the shortest and the longest interval that a crawler accepts."""

from __future__ import annotations

import pickle
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import koster
from koster.fetch import (
    AsyncRobotsClient,
    Event,
    EventName,
    FleetPacer,
    MockTransport,
    Pacer,
    RobotsClient,
)
from koster.politeness import NO_LIMITS, Fetch, Limits, Longer, Pace, interval, next_request, why
from tests.helpers.fetching import NAME, Clock, call_all
from tests.helpers.pacing import NOW, rules, rules_with_delay

URL = "https://example.com/page"

CAP = Longer.CAP


def seconds_until_next(kind: str, body: str | int, **options: Any) -> float:
    """Return the seconds from the first turn of a site to the next one."""
    clock = Clock()
    sites = MockTransport({"https://example.com": body})
    _, moment = call_all(
        kind, ("wait", (URL,)), ("next_request", (URL,)), transport=sites, clock=clock, **options
    )
    seconds: float = (moment - clock.now).total_seconds()
    return seconds


@pytest.mark.parametrize(
    ("body", "options", "seconds"),
    [
        ("User-agent: *\nCrawl-delay: 0", {"min_interval": 3}, 3),
        ("User-agent: *\nRequest-rate: 100/1", {"min_interval": 3}, 3),
        ("User-agent: *\nRequest-rate: 100/1 0000-2359", {"min_interval": 3}, 3),
        ("User-agent: *\nCrawl-delay: 5", {"min_interval": 3}, 5),
        ("User-agent: *", {"min_interval": 30}, 30),
        (404, {"min_interval": 30}, 30),
        (503, {"min_interval": 30}, 30),
        ("User-agent: *", {"min_interval": 3, "default_interval": 1}, 3),
        ("User-agent: *\nCrawl-delay: 86400", {"max_interval": 60, "longer": CAP}, 60),
        ("User-agent: *\nCrawl-delay: 1e12", {"max_interval": 60, "longer": CAP}, 60),
        ("User-agent: *\nRequest-rate: 1/3600", {"max_interval": 60, "longer": CAP}, 60),
        ("User-agent: *\nRequest-rate: 1/1h 0000-2359", {"max_interval": 60, "longer": CAP}, 60),
        ("User-agent: *\nCrawl-delay: 60", {"max_interval": 60}, 60),
        # The default is the caller's own: there is no line to refuse.
        ("User-agent: *", {"max_interval": 5}, 5),
        ("User-agent: *", {"max_interval": 5, "default_interval": 9}, 5),
        ("User-agent: *\nCrawl-delay: 9", {"min_interval": 4, "max_interval": 4, "longer": CAP}, 4),
    ],
)
def test_limits_bound_the_interval(
    kind: str, body: str | int, options: dict[str, Any], seconds: float
) -> None:
    assert seconds_until_next(kind, body, **options) == pytest.approx(seconds, abs=0.5)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Crawl-delay: 86400", 86400),
        ("Crawl-delay: 60.5", 60.5),
        ("Request-rate: 1/3600", 3600),
        ("Request-rate: 1/1h 0000-2359", 3600),
    ],
)
@pytest.mark.parametrize("method", ["wait", "next_request"])
def test_longer_interval_is_refused_with_its_line(
    kind: str, method: str, text: str, seconds: float
) -> None:
    sites = MockTransport({"https://example.com": f"User-agent: *\nDisallow: /x\n{text}"})
    options = {"transport": sites, "max_interval": 60, "clock": Clock()}
    with pytest.raises(koster.TooSlowError) as caught:
        call_all(kind, (method, (URL,)), **options)
    error = caught.value
    assert str(error) == (
        f"https://example.com {NAME}: line 3, {text} is longer than max_interval (60 s)"
    )
    assert (error.interval, error.line, error.text) == (seconds, 3, text)
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.interval, copy.line) == (str(error), seconds, 3)
    # A refusal is about pacing: decisions stay, and another crawler has its own line.
    assert call_all(kind, ("allowed", (URL,)), ("prefetch", ([URL],)), **options) == [True, None]


def test_turn_is_refused_and_takes_nothing() -> None:
    body = "User-agent: *\nCrawl-delay: 600\n\nUser-agent: FastBot\nCrawl-delay: 1"
    sites = MockTransport({"https://example.com": body})
    pacer = Pacer(limits=Limits(max_interval=300))
    with RobotsClient(NAME, transport=sites, pacer=pacer) as client:
        with pytest.raises(koster.TooSlowError), client.turn(URL):
            pytest.fail("the site is refused")
        assert not len(pacer)
        with client.turn(URL, "FastBot") as turn:
            assert turn.allowed
    with RobotsClient(NAME, transport=sites, max_interval=300, longer=CAP) as client:
        client.wait(URL)
        with pytest.raises(koster.TooSoonError, match=r"600, so max_interval applies \(300 s\)"):
            client.wait(URL, at_most=1)


def test_visit_time_is_no_interval() -> None:
    """A wait until a window opens may be longer than ``max_interval``."""
    pacer = Pacer(Pace(0, 1), limits=Limits(max_interval=60))
    night = datetime(2026, 1, 1, 1, 0, tzinfo=UTC)
    window = rules("Visit-time: 0600-0700")
    assert pacer.turn("a", window, night) == 5 * 3600


def test_only_the_rate_of_the_moment_is_refused() -> None:
    limits = Limits(max_interval=60)
    slow = rules("Request-rate: 1/1h 0800-1800", "Crawl-delay: 5", dialect=koster.RFC9309)
    pacer = Pacer(limits=limits)
    assert pacer.turn("a", slow, datetime(2026, 1, 1, 7, 59, 58, tzinfo=UTC)) == 0
    # The next turn would be due in the window.
    with pytest.raises(koster.TooSlowError, match="Request-rate: 1/1h"):
        pacer.turn("a", slow, datetime(2026, 1, 1, 7, 59, 58, tzinfo=UTC))
    with pytest.raises(koster.TooSlowError):
        Pacer(limits=limits).turn("a", slow, datetime(2026, 1, 1, 12, tzinfo=UTC))
    assert Pacer(limits=limits).turn("a", slow, datetime(2026, 1, 1, 18, 1, tzinfo=UTC)) == 0
    # A window that ends before the next turn is due is passed by.
    short = rules("Request-rate: 1/1h 0800-0801", "Crawl-delay: 50", dialect=koster.RFC9309)
    pacer = Pacer(limits=limits)
    before = datetime(2026, 1, 1, 7, 59, 58, tzinfo=UTC)
    assert pacer.turn("a", short, before) == 0
    assert pacer.turn("a", short, before) >= 50


def test_fleet_has_the_same_limits(redis_url: str) -> None:
    with closing(
        FleetPacer(redis_url, prefix="limits:", limits=Limits(0.5, 60), on_event=print)
    ) as fleet:
        assert fleet.turn("fast", rules_with_delay(0), NOW) == 0
        assert 0.4 < fleet.turn("fast", rules_with_delay(0), NOW) <= 0.52
        for method in (fleet.turn, fleet.next_request):
            with pytest.raises(koster.TooSlowError, match="line 2, Crawl-delay: 61"):
                method("slow", rules_with_delay(61), NOW)
        # The refusal is no outage.
        assert not fleet._is_down
    capped = FleetPacer(redis_url, prefix="capped:", limits=Limits(0, 60, CAP))
    with closing(capped), closing(FleetPacer(redis_url, prefix="capped:")) as other:
        assert capped.turn("slow", rules_with_delay(600), NOW) == 0
        assert 59 < capped.turn("slow", rules_with_delay(600), NOW) <= 60.1
        assert 599 < other.turn("slow", rules_with_delay(600), NOW) <= 600.1


@pytest.mark.parametrize(
    ("body", "limits", "reason"),
    [
        ("Crawl-delay: 0", Limits(2), "line 2, Crawl-delay: 0, so min_interval applies (2 s)"),
        ("Crawl-delay: 5", Limits(2), "line 2, Crawl-delay: 5"),
        ("", Limits(20), "the site sets no pace, so min_interval applies (20 s)"),
        ("", Limits(2), "the site sets no pace, so default_interval applies"),
        ("", Limits(0, 2), "the site sets no pace, so max_interval applies (2 s)"),
        ("Crawl-delay: 5", Limits(0, 2, CAP), "line 2, Crawl-delay: 5, so max_interval applies (2 s)"),
    ],
)  # fmt: skip
def test_reason_says_which_limit_applies(body: str, limits: Limits, reason: str) -> None:
    assert why(rules(body, dialect=koster.RFC9309), NOW, limits=limits) == reason


def test_event_says_that_min_interval_applies() -> None:
    events: list[Event] = []
    sites = MockTransport({"https://example.com": "User-agent: *\nCrawl-delay: 0"})
    options = {"transport": sites, "min_interval": 0.1, "on_event": events.append}
    call_all("threads", *[("wait", (URL,))] * 2, **options)
    (event,) = [each for each in events if each.name is EventName.PACE_WAITING]
    assert event.attributes["koster.why"] == (
        "line 2, Crawl-delay: 0, so min_interval applies (0.1 s)"
    )


def test_functions_of_politeness_have_limits() -> None:
    fast = rules_with_delay(1)
    assert interval(fast, NOW, 0, limits=Limits(3)) == 3
    assert interval(fast, NOW, 0, limits=NO_LIMITS) == 1
    due = next_request(fast, Fetch(NOW, 0), NOW, limits=Limits(3))
    assert due == NOW + timedelta(seconds=3)
    Limits(0, 300).check("a", rules(), NOW)
    with suppress(koster.TooSlowError):
        Limits(0, 0.5).check("a", fast, NOW)
        pytest.fail("the interval is longer")


WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    *(({name: value}, ValueError, f"{name} must be a finite number of at least 0, not")
      for name in ("min_interval", "max_interval")
      for value in (-1, -0.001, float("nan"), float("inf"), float("-inf"))),
    *(({name: value}, TypeError, f"{name} must be a number, not {type(value).__name__}")
      for name in ("min_interval", "max_interval")
      for value in ("5", b"5", True, [1], timedelta(1))),
    ({"min_interval": None}, TypeError, "min_interval must be a number, not NoneType"),
    ({"min_interval": 5, "max_interval": 4}, ValueError,
     r"min_interval \(5\) must not be above max_interval \(4\)"),
    ({"longer": "cap"}, TypeError, r"longer must be Longer.REFUSE or Longer.CAP, not str"),
    ({"longer": CAP}, ValueError, "longer needs max_interval"),
    ({"min_interval": 1, "pacer": Pacer()}, ValueError, "cannot be combined with pacer: give it limits"),
    ({"max_interval": 1, "pacer": Pacer()}, ValueError, "cannot be combined with pacer: give it limits"),
    ({"default_interval": True}, TypeError, "the default interval must be a number, not bool"),
]  # fmt: skip


@pytest.mark.parametrize("make", [RobotsClient, AsyncRobotsClient])
@pytest.mark.parametrize(("options", "error", "message"), WRONG)
def test_limits_are_checked(
    make: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make(NAME, **options)


@pytest.mark.parametrize("make", [Pacer, lambda limits: FleetPacer("redis://x", limits=limits)])
def test_limits_of_a_pacer_are_checked(make: Any) -> None:
    with pytest.raises(TypeError, match=r"limits must be koster\.politeness\.Limits, not int"):
        make(limits=5)
