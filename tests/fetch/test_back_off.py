"""Back-off: 429 and 503 slow a crawler down, and good answers make it faster again."""

from __future__ import annotations

import http.client
import logging
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

import anyio
import httpx
import httpx2
import pytest
import requests

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
from koster.fetch import pace as pace_module
from koster.fetch._back_off import PageAnswer, page_answer
from koster.politeness import Pace
from tests.helpers import redis_server
from tests.helpers.fetching import ASYNC_HTTP_CLIENTS, NAME, Clock, call_all
from tests.helpers.pacing import NOW, rules, rules_with_delay
from tests.helpers.server import Answer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.helpers import server

URL = "https://example.com/page"

SITES = MockTransport({"https://example.com": "User-agent: *\nCrawl-delay: 2"})


class Steps:
    """A pacer on a clock that jumps from turn to turn."""

    def __init__(self, delay: float | None = 2.0, default: float = 10.0) -> None:
        self.seconds = 0.0
        self.pacer = Pacer(Pace(2, default), monotonic=lambda: self.seconds)
        self.rules = rules() if delay is None else rules_with_delay(delay)

    @property
    def now(self) -> datetime:
        return NOW + timedelta(seconds=self.seconds)

    def answer(self, status: int, retry_after: float = 0) -> float:
        """Take the next turn, get an answer; return the seconds until the turn after it."""
        self.seconds += self.pacer.turn("a", self.rules, self.now)
        assert self.pacer.turn("a", self.rules, self.now) in (0, self.left())
        self.pacer.answered("a", self.rules, self.now, PageAnswer(status, retry_after))
        return self.left()

    def left(self) -> float:
        due = self.pacer.next_request("a", self.rules, self.now)
        return (due - self.now).total_seconds()


@pytest.mark.parametrize("status", [429, 503])
def test_interval_doubles_up_to_five_minutes_and_is_halved_again(status: int) -> None:
    steps = Steps()
    found = [steps.answer(status) for _ in range(9)]
    assert found == [4, 8, 16, 32, 64, 128, 256, 300, 300]
    found = [steps.answer(200) for _ in range(80)]
    assert found[8:80:10] == [300, 150, 75, 37.5, 18.75, 9.375, 4.6875, 2.34375]
    assert found[-1] == 2
    assert steps.pacer._back_offs == {}


@pytest.mark.parametrize(
    ("delay", "default", "seconds"),
    [(0, 10, [1, 2, 4]), (None, 10, [20, 40, 80]), (200, 10, [300, 300]), (400, 10, [400, 400])],
)
def test_doubling_starts_at_the_own_interval(
    delay: float | None, default: float, seconds: list[float]
) -> None:
    steps = Steps(delay, default)
    assert [steps.answer(429) for _ in seconds] == seconds


def test_retry_after_is_kept() -> None:
    steps = Steps()
    assert steps.answer(429, 60) == 60
    steps.seconds += 59
    assert steps.pacer.turn("a", steps.rules, steps.now) == 1
    # Then the own pace applies again, and a shorter Retry-After does not end a longer one.
    assert steps.answer(200) == 2
    assert steps.answer(503, 600) == 600
    steps.pacer.answered("a", steps.rules, steps.now, PageAnswer(429, 5))
    assert steps.left() == 600
    assert steps.pacer.next_request("b", steps.rules, steps.now) == steps.now


def test_one_turn_doubles_once() -> None:
    """The answers to requests that were under way say the same thing again."""
    steps = Steps()
    assert steps.answer(429) == 4
    for _ in range(20):
        steps.pacer.answered("a", steps.rules, steps.now, PageAnswer(429))
    assert steps.left() == 4
    assert steps.answer(429) == 8


@pytest.mark.parametrize("status", [500, 501, 502, 504, 520, 599])
def test_other_errors_of_a_server_are_neither(status: int) -> None:
    steps = Steps()
    assert steps.answer(status) == 2
    assert steps.answer(429) == 4
    assert [steps.answer(status) for _ in range(12)] == [4] * 12


@pytest.mark.parametrize("status", [200, 204, 301, 304, 400, 401, 403, 404, 410, 451])
def test_good_answers(status: int) -> None:
    steps = Steps()
    steps.answer(429)
    found = [steps.answer(status) for _ in range(10)]
    assert found == [4] * 9 + [2]


def test_good_answers_count_in_a_row() -> None:
    steps = Steps()
    steps.answer(429)
    steps.answer(429)
    assert {steps.answer(200) for _ in range(9)} == {8}
    assert steps.answer(429) == 16
    assert {steps.answer(200) for _ in range(9)} == {16}
    assert steps.answer(200) == 8


def test_retry_after_and_visit_times_go_together() -> None:
    window = rules("Visit-time: 1200-1201")
    pacer = Pacer(Pace(0, 1))
    pacer.answered("a", window, NOW, PageAnswer(429, 3600))
    assert pacer.turn("a", window, NOW) == pytest.approx(24 * 3600, abs=120)


def test_back_offs_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace_module, "_MAX_TURNS", 10)
    steps = Steps()
    for number in range(30):
        steps.pacer.turn(str(number), steps.rules, steps.now)
        steps.pacer.answered(str(number), steps.rules, steps.now, PageAnswer(429))
        steps.seconds += 86400
    assert len(steps.pacer._back_offs) <= 12
    assert len(steps.pacer) <= 12


# What clients accept.


@pytest.mark.parametrize(
    "headers",
    [{"Retry-After": "120"}, {"retry-after": "120"}, {"RETRY-AFTER": " 120 "}],
)
@pytest.mark.parametrize("library", [httpx, httpx2])
def test_responses_of_httpx(library: Any, headers: dict[str, str]) -> None:
    assert page_answer(library.Response(429, headers=headers), None, NOW) == PageAnswer(429, 120)


def test_other_responses() -> None:
    response = requests.Response()
    response.status_code = 503
    response.headers["retry-after"] = format_datetime(NOW + timedelta(seconds=30), usegmt=True)
    assert page_answer(response, None, NOW) == PageAnswer(503, 30)
    response.headers["Date"] = format_datetime(NOW + timedelta(seconds=10), usegmt=True)
    assert page_answer(response, None, NOW) == PageAnswer(503, 20)

    class Plain:
        status = 429
        headers = {b"x": b"y", "retry-after": b"7"}  # noqa: RUF012 - as other libraries have it

    assert page_answer(Plain(), None, NOW) == PageAnswer(429, 7)
    assert page_answer(http.HTTPStatus.TOO_MANY_REQUESTS, None, NOW) == PageAnswer(429)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("120", 120), (120, 120), (0.5, 1), ("0", 1), (0, 1), ("9" * 15, 86400), (1e9, 86400),
     ("Sat, 21 Nov 2026 12:01:00 GMT", 60), ("Sat, 21 Nov 2026 11:00:00 GMT", 1),
     ("Sat Nov 21 12:01:00 2026", 60), ("soon", 0), ("-5", 0), ("1.5", 0), ("", 0), (None, 0)],
)  # fmt: skip
def test_retry_after_of_a_status(value: Any, seconds: float) -> None:
    assert page_answer(429, value, NOW) == PageAnswer(429, seconds)


WRONG: list[tuple[Any, Any, type[Exception], str]] = [
    *((value, None, TypeError, f"response must be .*, not {type(value).__name__}")  # type: ignore[var-annotated]
      for value in (None, "429", 429.0, True, [], {"status": 429}, httpx.Request("GET", URL))),
    *((value, None, ValueError, f"a status has three digits, unlike {value}")
      for value in (0, 42, -429, 1000, 4290)),
    (429, float("nan"), ValueError, "retry_after must be a finite number of at least 0, not nan"),
    (429, -1, ValueError, "retry_after must be a finite number of at least 0, not -1"),
    (429, True, TypeError, "retry_after must be a number, not bool"),
    (429, b"5", TypeError, "retry_after must be a number, not bytes"),
    (httpx.Response(429, headers={"a": "b"}), 5, ValueError, "retry_after is for a status"),
]  # fmt: skip


@pytest.mark.parametrize(("response", "retry_after", "error", "message"), WRONG)
def test_answers_are_checked(
    response: Any, retry_after: Any, error: type[Exception], message: str
) -> None:
    with (
        RobotsClient(NAME, transport=SITES) as client,
        pytest.raises(error, match=message),
    ):
        client.answered(URL, response, retry_after=retry_after)


def test_client_slows_down(kind: str) -> None:
    clock = Clock()
    options: Any = {"transport": SITES, "clock": clock}
    found = call_all(
        kind,
        ("wait", (URL,)),
        ("answered", (URL, 429)),
        ("next_request", (URL,)),
        ("took", (URL, 1)),
        ("answered", (URL, httpx.Response(503, headers={"Retry-After": "60"}))),
        ("next_request", (URL,)),
        ("next_request", (URL, "OtherBot")),
        **options,
    )
    seconds = [(found[number] - clock.now).total_seconds() for number in (2, 5, 6)]
    assert seconds == pytest.approx([4, 60, 0], abs=0.5)


@pytest.mark.parametrize("library", ["httpx", "httpx2", "aiohttp"])
def test_turn_slows_down_by_real_responses(site: server.Site, library: str) -> None:
    site.robots(body=b"User-agent: *\nCrawl-delay: 0")
    site.pages["/page"] = Answer(429, headers={"Retry-After": "90"})
    url = f"{site.url}/page"

    async def main() -> float:
        async with AsyncRobotsClient(NAME) as client, ASYNC_HTTP_CLIENTS[library]() as session:
            async with client.turn(url) as turn:
                response = await session.get(url)
                await turn.answered(response)
            return (await client.next_request(url)).timestamp() - time.time()

    assert 88 < anyio.run(main) <= 90


def test_took_accepts_the_response() -> None:
    with RobotsClient(NAME, transport=SITES) as client:
        client.wait(URL)
        client.took(URL, 0.1, response=503)
        with pytest.raises(koster.TooSoonError, match="answered 503, so the interval is 4 s"):
            client.wait(URL, at_most=0)


def test_turn_slows_down_in_threads() -> None:
    with RobotsClient(NAME, transport=SITES, max_interval=60) as client:
        with client.turn(URL) as turn:
            turn.answered(429, retry_after="3600")
        # A Retry-After is longer than max_interval: a pause, which at_most limits.
        message = r"\(the site answered 429 with Retry-After\)"
        with pytest.raises(koster.TooSoonError, match=message) as caught:
            client.wait(URL, at_most=60)
        assert caught.value.until > datetime.now(UTC) + timedelta(minutes=59)


def test_event_says_each_change(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "koster.fetch")
    events: list[Event] = []
    answers = [200, 404, 500, 429, *[200] * 10]
    sites = MockTransport({"https://example.com": "User-agent: *\nCrawl-delay: 0"})
    with RobotsClient(NAME, transport=sites, on_event=events.append) as client:
        for status in answers:
            client.answered(URL, status)
        client.answered(URL, 503, retry_after=30)
    changes = [event for event in events if event.name is EventName.PACE_BACK_OFF]
    assert {event.origin for event in changes} == {"https://example.com"}
    assert [dict(event.attributes) for event in changes] == [
        {"koster.agent": NAME, "http.response.status_code": status, "koster.pace.interval": seconds,
         "koster.pace.retry_after": retry_after, "koster.why": why}
        for status, seconds, retry_after, why in (
            (429, 1, 0, "status 429, so the interval is at least 1 s"),
            (200, 0, 0, "10 good answers, so the site's own pace applies again"),
            (503, 0, 30, "status 503, Retry-After: 30 s"),
        )
    ]  # fmt: skip
    assert f"https://example.com: {NAME} changes its pace: status 503" in caplog.text


def test_reason_of_a_wait_names_the_status() -> None:
    with RobotsClient(NAME, transport=SITES) as client:
        client.wait(URL)
        client.answered(URL, 503)
        message = r"\(the site answered 503, so the interval is 4 s\)"
        with pytest.raises(koster.TooSoonError, match=message):
            client.wait(URL, at_most=0)


# A fleet.


def test_fleet_slows_down_together(redis_url: str) -> None:
    pacers = [FleetPacer(redis_url, prefix="slow:") for _ in range(3)]
    first, second, third = pacers
    pace_rules = rules_with_delay(2)
    assert first.turn("a", pace_rules, NOW) == 0
    changed = first.answered("a", pace_rules, NOW, PageAnswer(429))
    assert changed is not None
    assert changed.interval == 4
    assert 3.8 < second.turn("a", pace_rules, NOW) <= 4.03
    assert second.why("a", pace_rules, NOW) == "the site answered 429, so the interval is 4 s"
    # The same turn doubles once, whichever process says it.
    assert second.answered("a", pace_rules, NOW, PageAnswer(429)) is None
    for _ in range(9):
        assert third.answered("a", pace_rules, NOW, PageAnswer(200)) is None
    changed = second.answered("a", pace_rules, NOW, PageAnswer(404))
    assert changed is not None
    assert changed.interval == 0
    assert 1.5 < third.turn("a", pace_rules, NOW) <= 2.03
    third.answered("a", pace_rules, NOW, PageAnswer(503, 3600))
    for pacer in pacers:
        left = pacer.next_request("a", pace_rules, NOW) - NOW
        assert 3599 < left.total_seconds() <= 3600
    assert first.why("a", pace_rules, NOW) == "the site answered 503 with Retry-After"
    ttl: Any = first._redis.ttl(first._name("a", "last"))
    assert 86400 < ttl <= 86400 + 3600
    # Also for a site that nobody has requested yet.
    second.answered("new", pace_rules, NOW, PageAnswer(429, 60))
    assert 59 < first.turn("new", pace_rules, NOW) <= 60.03
    for pacer in pacers:
        pacer.close()


@pytest.mark.parametrize(
    ("field", "value"),
    [("slowed", "nan"), ("slowed", "301"), ("slowed", "-1"), ("until", "inf"), ("until", "9e15"),
     ("good", "1.5"), ("good", "-1"), ("doubled", ""), ("status", "x"), ("slowed", "x" * 5000)],
)  # fmt: skip
def test_wrong_values_of_a_back_off_are_replaced(redis_url: str, field: str, value: str) -> None:
    events: list[Event] = []
    fleet = FleetPacer(redis_url, prefix=f"wrong:{field}{value[:5]}:", on_event=events.append)
    with closing(fleet):
        fleet.answered("a", rules_with_delay(60), NOW, PageAnswer(429))
        fleet._redis.hset(fleet._name("a", "last"), field, value)
        assert fleet.turn("a", rules_with_delay(60), NOW) == 0
        assert 59 < fleet.turn("a", rules_with_delay(60), NOW) <= 120.1
    assert [event.name for event in events] == [EventName.PACE_REPLACED]


@pytest.mark.filterwarnings("ignore:.*Redis")
def test_back_off_goes_on_without_the_server(tmp_path: Path) -> None:
    with redis_server.running(tmp_path) as url:
        fleet = FleetPacer(url, on_event=lambda _: None)
    with closing(fleet):
        fleet.turn("a", rules_with_delay(2), NOW)
        changed = fleet.answered("a", rules_with_delay(2), NOW, PageAnswer(429))
        assert changed is not None
        assert changed.interval == 4
        assert 3.5 < fleet.turn("a", rules_with_delay(2), NOW) <= 4.1
