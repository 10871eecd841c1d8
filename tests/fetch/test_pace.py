"""The pace in one process."""

from __future__ import annotations

import pickle
import threading
import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import anyio
import pytest
from fetching import KINDS, NAME, Clock
from hypothesis import given
from hypothesis import strategies as st
from pacing import NOW, delayed, rules

import koster
from koster._moments import FIRST, LAST
from koster.fetch import (
    AsyncRobotsClient,
    MockTransport,
    Pacer,
    RobotsClient,
)
from koster.politeness import Fetch, Pace, interval, next_request

pytestmark = pytest.mark.any_mode

SHORT = Pace(times_fetch=2.0, at_least=0.1)


class Times:
    """A monotonic clock and a clock of the day that a test moves together, or apart."""

    def __init__(self) -> None:
        self.seconds = 1000.0
        self.now = NOW

    def monotonic(self) -> float:
        return self.seconds

    def pass_(self, seconds: float) -> None:
        self.seconds += seconds
        self.now += timedelta(seconds=seconds)


def test_turns_keep_the_interval() -> None:
    times = Times()
    pacer = Pacer(monotonic=times.monotonic)
    asked = delayed(5)
    assert pacer.turn("a", asked, times.now) == 0
    assert pacer.turn("a", asked, times.now) == 5
    assert pacer.turn("b", asked, times.now) == 0
    times.pass_(4.5)
    assert pacer.next_request("a", asked, times.now) == times.now + timedelta(seconds=0.5)
    assert pacer.turn("a", asked, times.now) == 0.5
    times.pass_(0.5)
    assert pacer.turn("a", asked, times.now) == 0
    assert pacer.turn("a", asked, times.now) == 5


def test_a_clock_that_is_set_changes_no_interval() -> None:
    times = Times()
    pacer = Pacer(monotonic=times.monotonic)
    assert pacer.turn("a", delayed(5), times.now) == 0
    for jump in (-86400, 7 * 86400, -86400):
        times.now += timedelta(seconds=jump)
        assert pacer.turn("a", delayed(5), times.now) == 5
    times.pass_(5)
    assert pacer.turn("a", delayed(5), times.now) == 0


def test_the_rule_of_thumb_needs_to_know_how_long_it_took() -> None:
    times = Times()
    pacer = Pacer(monotonic=times.monotonic)
    pacer.took("a", 3)
    assert pacer.turn("a", rules(), times.now) == 0
    assert pacer.turn("a", rules(), times.now) == 10
    pacer.took("a", 30)
    assert pacer.turn("a", rules(), times.now) == 60
    times.pass_(60)
    assert pacer.turn("a", rules(), times.now) == 0
    assert pacer.turn("a", rules(), times.now) == 10
    for wrong in (-1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="seconds"):
            pacer.took("a", wrong)


@pytest.mark.parametrize(
    "moment", [FIRST, FIRST + timedelta(seconds=5), LAST - timedelta(seconds=5)]
)
def test_turns_at_the_end_of_time(moment: datetime) -> None:
    """The interval is kept as far as there are moments."""
    for asked in (delayed(5), rules("Request-rate: 1/5s"), rules("Visit-time: 0000-0000"), rules()):
        times = Times()
        pacer = Pacer(Pace(0, 5), monotonic=times.monotonic)
        times.now = moment
        assert pacer.turn("a", asked, times.now) == 0
        assert pacer.turn("a", asked, times.now) == 5
        pacer.took("a", 1e300)
        assert moment <= pacer.next_request("a", asked, times.now) <= LAST
        # The clock of the day is set, to the other end and back.
        for other in (NOW, FIRST, LAST, moment):
            assert pacer.turn("a", asked, other) >= 0


def test_visit_times_are_kept_to() -> None:
    times = Times()
    pacer = Pacer(monotonic=times.monotonic)
    assert pacer.turn("a", rules("Visit-time: 0600-0700"), times.now) == 18 * 3600
    assert pacer.turn("a", rules("Visit-time: 1200-1300"), times.now) == 0


def test_what_matters_no_more_is_forgotten_and_nothing_else() -> None:
    times = Times()
    pacer = Pacer(monotonic=times.monotonic)
    long = delayed(100_000)
    assert pacer.turn("long", long, times.now) == 0
    for number in range(30_000):
        times.pass_(0.1)
        assert pacer.turn(str(number), delayed(1), times.now) == 0
    assert len(pacer) < 12_000
    assert pacer.turn("long", long, times.now) > 0


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 20)), max_size=30),
    st.sampled_from([
        *(["Crawl-delay: 3"], ["Request-rate: 1/5s 1200-1201"], ["Visit-time: 1200-1201"], []),
        ["Request-rate: 1/2s", "Request-rate: 1/9s 1159-1200"],
    ]),
)  # fmt: skip
def test_the_pacer_does_what_the_schedule_says(
    asks: list[tuple[str, float]], lines: list[str]
) -> None:
    times = Times()
    pacer = Pacer(monotonic=times.monotonic)
    asked = rules(*lines)
    last: dict[str, Fetch] = {}
    for key, seconds in asks:
        times.pass_(seconds)
        due = next_request(asked, last.get(key), times.now)
        waiting = pacer.turn(key, asked, times.now)
        assert waiting == pytest.approx((due - times.now).total_seconds(), abs=1e-3)
        if waiting == 0:
            last[key] = Fetch(times.now, 0)


@given(st.floats(0, 1e9), st.floats(0, 1e5))
def test_without_windows_the_schedule_is_the_interval(delay: float, seconds: float) -> None:
    plain = delayed(delay)
    windowed = rules(f"Crawl-delay: {delay}", "Visit-time: 0000-0000", dialect=koster.RFC9309)
    last = Fetch(NOW - timedelta(seconds=1), seconds)
    assert next_request(plain, last, NOW) == next_request(windowed, last, NOW)
    assert next_request(plain, last, NOW) >= NOW
    assert interval(plain, NOW, seconds) == plain.crawl_delay


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


SITES = MockTransport(
    {
        "https://slow.example": "User-agent: *\nCrawl-delay: 0.1\nDisallow: /x",
        "https://down.example": 503,
    }
)


def grants(kind: str, count: int, pacer: Any, url: str = "https://slow.example/x") -> list[float]:
    """Return when so many threads or tasks at once got their turns."""
    began: list[float] = []
    if kind == "threads":
        with RobotsClient(NAME, transport=SITES, pacer=pacer) as client:

            def work() -> None:
                client.wait(url)
                began.append(time.monotonic())

            threads = [threading.Thread(target=work) for _ in range(count)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        return sorted(began)

    async def main() -> None:
        async with AsyncRobotsClient(NAME, transport=SITES, pacer=pacer) as client:

            async def work() -> None:
                await client.wait(url)
                began.append(time.monotonic())

            async with anyio.create_task_group() as tasks:
                for _ in range(count):
                    tasks.start_soon(work)

    anyio.run(main, backend=kind)
    return sorted(began)


def test_those_who_wait_keep_the_interval(kind: str) -> None:
    began = grants(kind, 6, Pacer())
    gaps = [second - first for first, second in pairwise(began)]
    assert min(gaps) > 0.05
    assert began[-1] - began[0] > 0.45


def test_where_there_is_no_file_the_default_holds(kind: str) -> None:
    began = grants(kind, 3, Pacer(default=SHORT), "https://down.example/x")
    assert began[-1] - began[0] > 0.15


def test_wait_tells_how_long_it_was_and_next_request_does_not_wait(kind: str) -> None:
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
            found = [first, following, client.wait(url), other]
    else:
        found = anyio.run(main, backend=kind)
    assert found[0] < 0.05
    assert timedelta(0) < found[1] - clock.now <= timedelta(seconds=0.1)
    assert 0.01 < found[2] < 5
    assert found[3] == clock.now


def served(kind: str, count: int, rounds: int) -> list[int]:
    """Return in which order those were served who came one after the other, and came again."""
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


def test_first_come_first_served(kind: str) -> None:
    assert served(kind, 4, 3) == list(range(4)) * 3


@pytest.mark.parametrize("at_most", [0, 0.05])
def test_waiting_can_be_bounded(kind: str, at_most: float) -> None:
    url = "https://slower.example/"
    sites = MockTransport({"https://slower.example": "User-agent: *\nCrawl-delay: 1000"})

    def check(error: koster.TooSoonError, began: float) -> None:
        assert time.monotonic() - began < 2
        assert error.until > datetime.now(UTC) + timedelta(seconds=900)

    if kind == "threads":
        with RobotsClient(NAME, transport=sites) as client:
            client.wait(url, at_most=at_most)
            for _ in range(2):
                began = time.monotonic()
                with pytest.raises(koster.TooSoonError, match="next request at") as caught:
                    client.wait(url, at_most=at_most)
                check(caught.value, began)
            # Behind somebody who waits without a bound, too.
            thread = threading.Thread(target=_waits_until_closed, args=(client, url))
            thread.start()
            time.sleep(0.05)
            began = time.monotonic()
            with pytest.raises(koster.TooSoonError):
                client.wait(url, at_most=at_most)
            check(caught.value, began)
        # Who waits is told when the client is closed.
        thread.join(5)
        assert not thread.is_alive()
        return

    async def main() -> None:
        client = AsyncRobotsClient(NAME, transport=sites)
        async with anyio.create_task_group() as tasks, client:
            await client.wait(url, at_most=at_most)
            for _ in range(2):
                began = time.monotonic()
                with pytest.raises(koster.TooSoonError) as caught:
                    await client.wait(url, at_most=at_most)
                check(caught.value, began)

            async def waits() -> None:
                with pytest.raises(RuntimeError, match="closed"):
                    await client.wait(url)

            tasks.start_soon(waits)
            await anyio.sleep(0.05)
            with pytest.raises(koster.TooSoonError):
                await client.wait(url, at_most=at_most)

    anyio.run(main, backend=kind)


def test_the_error_goes_from_one_process_to_another() -> None:
    error = koster.TooSoonError("too soon", NOW)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.until) == ("too soon", NOW)


def _waits_until_closed(client: RobotsClient, url: str) -> None:
    with pytest.raises(RuntimeError, match="closed"):
        client.wait(url)
