"""Pacer: the pace of one process."""

from __future__ import annotations

import pickle
import threading
import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

import koster
from koster._moments import FIRST, LAST
from koster.fetch import (
    AsyncRobotsClient,
    MockTransport,
    Pacer,
    RobotsClient,
)
from koster.politeness import Fetch, Pace, interval, next_request
from tests.helpers.fetching import NAME, Clock
from tests.helpers.pacing import NOW, rules, rules_with_delay

SHORT = Pace(times_fetch=2.0, at_least=0.1)


class Clocks:
    """A monotonic clock and a wall clock, which tests move together or apart."""

    def __init__(self) -> None:
        self.seconds = 1000.0
        self.now = NOW

    def monotonic(self) -> float:
        return self.seconds

    def pass_(self, seconds: float) -> None:
        self.seconds += seconds
        self.now += timedelta(seconds=seconds)


def test_turns_obey_the_interval() -> None:
    clocks = Clocks()
    pacer = Pacer(monotonic=clocks.monotonic)
    pace_rules = rules_with_delay(5)
    assert pacer.turn("a", pace_rules, clocks.now) == 0
    assert pacer.turn("a", pace_rules, clocks.now) == 5
    assert pacer.turn("b", pace_rules, clocks.now) == 0
    clocks.pass_(4.5)
    assert pacer.next_request("a", pace_rules, clocks.now) == clocks.now + timedelta(seconds=0.5)
    assert pacer.turn("a", pace_rules, clocks.now) == 0.5
    clocks.pass_(0.5)
    assert pacer.turn("a", pace_rules, clocks.now) == 0
    assert pacer.turn("a", pace_rules, clocks.now) == 5


def test_setting_the_clock_does_not_change_the_interval() -> None:
    clocks = Clocks()
    pacer = Pacer(monotonic=clocks.monotonic)
    assert pacer.turn("a", rules_with_delay(5), clocks.now) == 0
    for jump in (-86400, 7 * 86400, -86400):
        clocks.now += timedelta(seconds=jump)
        assert pacer.turn("a", rules_with_delay(5), clocks.now) == 5
    clocks.pass_(5)
    assert pacer.turn("a", rules_with_delay(5), clocks.now) == 0


def test_default_pace_depends_on_the_fetch_duration() -> None:
    clocks = Clocks()
    pacer = Pacer(monotonic=clocks.monotonic)
    pacer.took("a", 3)
    assert pacer.turn("a", rules(), clocks.now) == 0
    assert pacer.turn("a", rules(), clocks.now) == 10
    pacer.took("a", 30)
    assert pacer.turn("a", rules(), clocks.now) == 60
    clocks.pass_(60)
    assert pacer.turn("a", rules(), clocks.now) == 0
    assert pacer.turn("a", rules(), clocks.now) == 10
    for wrong in (-1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="seconds"):
            pacer.took("a", wrong)


@pytest.mark.parametrize(
    "moment", [FIRST, FIRST + timedelta(seconds=5), LAST - timedelta(seconds=5)]
)
def test_turns_at_the_limits_of_datetime(moment: datetime) -> None:
    """The interval holds as far as `datetime` can express it."""
    for pace_rules in (
        rules_with_delay(5),
        rules("Request-rate: 1/5s"),
        rules("Visit-time: 0000-0000"),
        rules(),
    ):
        clocks = Clocks()
        pacer = Pacer(Pace(0, 5), monotonic=clocks.monotonic)
        clocks.now = moment
        assert pacer.turn("a", pace_rules, clocks.now) == 0
        assert pacer.turn("a", pace_rules, clocks.now) == 5
        pacer.took("a", 1e300)
        assert moment <= pacer.next_request("a", pace_rules, clocks.now) <= LAST
        # The wall clock is set to the other end and back.
        for other in (NOW, FIRST, LAST, moment):
            assert pacer.turn("a", pace_rules, other) >= 0


def test_visit_times_are_obeyed() -> None:
    clocks = Clocks()
    pacer = Pacer(monotonic=clocks.monotonic)
    assert pacer.turn("a", rules("Visit-time: 0600-0700"), clocks.now) == 18 * 3600
    assert pacer.turn("a", rules("Visit-time: 1200-1300"), clocks.now) == 0


def test_only_expired_turns_are_discarded() -> None:
    clocks = Clocks()
    pacer = Pacer(monotonic=clocks.monotonic)
    long, short = rules_with_delay(100_000), rules_with_delay(1)
    assert pacer.turn("long", long, clocks.now) == 0
    for number in range(30_000):
        clocks.pass_(0.1)
        assert pacer.turn(str(number), short, clocks.now) == 0
    assert len(pacer) < 12_000
    assert pacer.turn("long", long, clocks.now) > 0


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 20)), max_size=30),
    st.sampled_from([
        ["Crawl-delay: 3"], ["Request-rate: 1/5s 1200-1201"], ["Visit-time: 1200-1201"], [],
        ["Request-rate: 1/2s", "Request-rate: 1/9s 1159-1200"],
    ]),
)  # fmt: skip
def test_pacer_agrees_with_next_request(
    requests: list[tuple[str, float]], lines: list[str]
) -> None:
    clocks = Clocks()
    pacer = Pacer(monotonic=clocks.monotonic)
    pace_rules = rules(*lines)
    last: dict[str, Fetch] = {}
    for key, seconds in requests:
        clocks.pass_(seconds)
        due = next_request(pace_rules, last.get(key), clocks.now)
        delay = pacer.turn(key, pace_rules, clocks.now)
        assert delay == pytest.approx((due - clocks.now).total_seconds(), abs=1e-3)
        if delay == 0:
            last[key] = Fetch(clocks.now, 0)


@given(st.floats(0, 1e9), st.floats(0, 1e5))
def test_schedule_without_visit_times_is_the_interval(delay: float, seconds: float) -> None:
    plain = rules_with_delay(delay)
    windowed = rules(f"Crawl-delay: {delay}", "Visit-time: 0000-0000", dialect=koster.RFC9309)
    last = Fetch(NOW - timedelta(seconds=1), seconds)
    assert next_request(plain, last, NOW) == next_request(windowed, last, NOW)
    assert next_request(plain, last, NOW) >= NOW
    assert interval(plain, NOW, seconds) == plain.crawl_delay


SITES = MockTransport(
    {
        "https://slow.example": "User-agent: *\nCrawl-delay: 0.1\nDisallow: /x",
        "https://down.example": 503,
    }
)


def turn_times(
    kind: str, count: int, pacer: Any, url: str = "https://slow.example/x"
) -> list[float]:
    """Return when each of ``count`` concurrent threads or tasks got its turn."""
    times: list[float] = []
    if kind == "threads":
        with RobotsClient(NAME, transport=SITES, pacer=pacer) as client:

            def work() -> None:
                client.wait(url)
                times.append(time.monotonic())

            threads = [threading.Thread(target=work) for _ in range(count)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        return sorted(times)

    async def main() -> None:
        async with AsyncRobotsClient(NAME, transport=SITES, pacer=pacer) as client:

            async def work() -> None:
                await client.wait(url)
                times.append(time.monotonic())

            async with anyio.create_task_group() as tasks:
                for _ in range(count):
                    tasks.start_soon(work)

    anyio.run(main, backend=kind)
    return sorted(times)


def test_concurrent_waits_obey_the_interval(kind: str) -> None:
    times = turn_times(kind, 6, Pacer())
    gaps = [second - first for first, second in pairwise(times)]
    assert min(gaps) > 0.05
    assert times[-1] - times[0] > 0.45


def test_default_pace_applies_without_a_file(kind: str) -> None:
    times = turn_times(kind, 3, Pacer(default=SHORT), "https://down.example/x")
    assert times[-1] - times[0] > 0.15


def test_wait_returns_its_duration_and_next_request_does_not_wait(kind: str) -> None:
    clock = Clock()

    async def main() -> list[Any]:
        async with AsyncRobotsClient(NAME, transport=SITES, clock=clock) as client:
            url = "https://slow.example/"
            first = await client.wait(url)
            following = await client.next_request(url)
            await client.took(url, 0.01)
            other = await client.next_request(url, "OtherBot")
            return [first, following, await client.wait(url), other]

    if kind == "threads":
        with RobotsClient(NAME, transport=SITES, clock=clock) as client:
            url = "https://slow.example/"
            first = client.wait(url)
            following = client.next_request(url)
            client.took(url, 0.01)
            other = client.next_request(url, "OtherBot")
            results = [first, following, client.wait(url), other]
    else:
        results = anyio.run(main, backend=kind)
    assert results[0] < 0.05  # type: ignore[operator]
    assert timedelta(0) < results[1] - clock.now <= timedelta(seconds=0.1)  # type: ignore[operator]
    assert 0.01 < results[2] < 5  # type: ignore[operator]
    assert results[3] == clock.now


def service_order(kind: str, count: int, rounds: int) -> list[int]:
    """Return the order in which workers that start one after the other get their turns."""
    order: list[int] = []
    url = "https://slow.example/x"
    pacer = Pacer()
    if kind == "threads":
        with RobotsClient(NAME, transport=SITES, pacer=pacer) as client:
            client.wait(url)

            def work(number: int) -> None:
                for _ in range(rounds):
                    client.wait(url)
                    order.append(number)

            threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
            for thread in threads:
                thread.start()
                time.sleep(0.01)
            for thread in threads:
                thread.join()
        return order

    async def main() -> None:
        async with AsyncRobotsClient(NAME, transport=SITES, pacer=pacer) as client:
            await client.wait(url)

            async def work(number: int) -> None:
                for _ in range(rounds):
                    await client.wait(url)
                    order.append(number)

            async with anyio.create_task_group() as tasks:
                for number in range(count):
                    tasks.start_soon(work, number)
                    await anyio.sleep(0.01)

    anyio.run(main, backend=kind)
    return order


def test_waiters_are_served_in_order(kind: str) -> None:
    assert service_order(kind, 4, 3) == list(range(4)) * 3


@pytest.mark.parametrize("at_most", [0, 0.05])
def test_at_most_limits_the_wait(kind: str, at_most: float) -> None:
    url = "https://slower.example/"
    sites = MockTransport({"https://slower.example": "User-agent: *\nCrawl-delay: 1000"})

    def check(error: koster.TooSoonError, start: float) -> None:
        assert time.monotonic() - start < 2
        assert error.until > datetime.now(UTC) + timedelta(seconds=900)

    if kind == "threads":
        with RobotsClient(NAME, transport=sites) as client:
            client.wait(url, at_most=at_most)
            for _ in range(2):
                start = time.monotonic()
                with pytest.raises(koster.TooSoonError, match="next request at") as caught:
                    client.wait(url, at_most=at_most)
                check(caught.value, start)
            # Also behind a thread that waits without a limit.
            thread = threading.Thread(target=_wait_until_closed, args=(client, url))
            thread.start()
            time.sleep(0.05)
            start = time.monotonic()
            with pytest.raises(koster.TooSoonError):
                client.wait(url, at_most=at_most)
            check(caught.value, start)
        # Closing the client raises in waiting threads.
        thread.join(5)
        assert not thread.is_alive()
        return

    async def main() -> None:
        client = AsyncRobotsClient(NAME, transport=sites)
        async with anyio.create_task_group() as tasks, client:
            await client.wait(url, at_most=at_most)
            for _ in range(2):
                start = time.monotonic()
                with pytest.raises(koster.TooSoonError) as caught:
                    await client.wait(url, at_most=at_most)
                check(caught.value, start)

            async def wait_until_closed() -> None:
                with pytest.raises(RuntimeError, match="closed"):
                    await client.wait(url)

            tasks.start_soon(wait_until_closed)
            await anyio.sleep(0.05)
            with pytest.raises(koster.TooSoonError):
                await client.wait(url, at_most=at_most)

    anyio.run(main, backend=kind)


def test_wait_for_one_site_does_not_delay_another(kind: str) -> None:
    slow, other = "https://slower.example/", "https://other.example/"
    sites = MockTransport({slow: "User-agent: *\nCrawl-delay: 1000"})
    if kind == "threads":
        with RobotsClient(NAME, transport=sites) as client:
            client.wait(slow)
            thread = threading.Thread(target=_wait_until_closed, args=(client, slow))
            thread.start()
            time.sleep(0.05)
            assert client.wait(other, at_most=5) < 5
            assert thread.is_alive()
        thread.join(5)
        return

    async def main() -> None:
        client = AsyncRobotsClient(NAME, transport=sites)
        async with anyio.create_task_group() as tasks, client:
            await client.wait(slow)

            async def wait_until_closed() -> None:
                with pytest.raises(RuntimeError, match="closed"):
                    await client.wait(slow)

            tasks.start_soon(wait_until_closed)
            await anyio.sleep(0.05)
            assert await client.wait(other, at_most=5) < 5

    anyio.run(main, backend=kind)


def test_too_soon_error_can_be_pickled() -> None:
    error = koster.TooSoonError("too soon", NOW)
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.until) == ("too soon", NOW)


def _wait_until_closed(client: RobotsClient, url: str) -> None:
    with pytest.raises(RuntimeError, match="closed"):
        client.wait(url)
