"""A clock that is set back and forward while clients use it."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

import koster
from koster.cache import RedisCache
from koster.fetch import FleetPacer, MockTransport, Outcome, Pacer, RobotsClient
from koster.freshness import MAX_CLOCK_SKEW
from tests.helpers.fetching import KINDS, NAME, Clock, call_all
from tests.helpers.pacing import rules_with_delay

DAY = timedelta(days=1)
SITE = "https://example.com"

#: Jumps of the clock, from seconds to decades.
JUMPS = [
    sign * timedelta(seconds=seconds)
    for seconds in (1, 299, 301, 3600, 86_399, 86_401, 10 * 86_400, 31 * 86_400, 1e9)
    for sign in (1, -1)
]


@pytest.fixture(params=["memory", "sqlite", "redis"])
def cache(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    if request.param == "redis":
        url = request.getfixturevalue("redis_url")
        with closing(RedisCache(url, prefix=f"{request.node.name}:")) as cache:
            yield cache
    else:
        yield None if request.param == "memory" else tmp_path / "cache.sqlite"


class Times:
    """A clock that is set, and the time that really passes."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.passed = timedelta()
        self.offset = timedelta()

    def __call__(self) -> datetime:
        return self.clock() + self.passed + self.offset


class ChangingSite:
    """A site whose file says how many times it was fetched before."""

    def __init__(self, times: Times, lifetime: int) -> None:
        self._times = times
        self._headers = {"Cache-Control": f"max-age={lifetime}"}
        self._fetched: list[timedelta] = []

    @property
    def transport(self) -> httpx2.MockTransport:
        return httpx2.MockTransport(self._answer)

    def _answer(self, _: httpx2.Request) -> httpx2.Response:
        body = f"# {len(self._fetched)}\nUser-agent: *\n"
        self._fetched.append(self._times.passed)
        return httpx2.Response(200, content=body, headers=self._headers)

    def age(self, outcome: Outcome) -> timedelta:
        """Return the time that has really passed since a file was fetched."""
        assert outcome.robots is not None
        number = int(outcome.robots.body.split()[1])
        return self._times.passed - self._fetched[number]


#: The time between the first fetch and the jump, and between questions afterwards.
BEFORE, STEP = timedelta(seconds=30), timedelta(minutes=37)


@pytest.mark.parametrize("lifetime", [60, 3600, 86_400])
@pytest.mark.parametrize("jump", JUMPS, ids=str)
def test_no_file_is_used_for_longer_than_a_day(cache: Any, jump: timedelta, lifetime: int) -> None:
    """Once a clock is set, no file is used for longer than the limits allow, also from disk."""
    times = Times()
    site = ChangingSite(times, lifetime)
    options = {"cache": cache, "clock": times, "transport": site.transport}
    with RobotsClient(NAME, **options) as client:
        client.refetch(SITE)
        times.passed += BEFORE
        times.offset += jump
        # A process that starts now reads the same cache.
        with RobotsClient(NAME, **options) as other:
            while times.passed < 2 * DAY:
                for each in (client, other):
                    outcome = each.robots(SITE)
                    assert site.age(outcome) <= BEFORE + DAY + MAX_CLOCK_SKEW
                    assert outcome.expires <= times() + DAY + MAX_CLOCK_SKEW
                times.passed += STEP


def test_outage_of_minutes_does_not_become_one_of_thirty_days(cache: Any) -> None:
    """A clock that jumps ahead by a month makes no site count as one without a file."""
    times = Times()
    sites = MockTransport({SITE: 503})
    with RobotsClient(NAME, cache=cache, clock=times, transport=sites) as client:
        assert client.refetch(SITE).reason is koster.Reason.UNREACHABLE
        for jump in JUMPS:
            times.passed += timedelta(minutes=2)
            times.offset += jump
            assert client.robots(SITE).reason is koster.Reason.UNREACHABLE
            assert not client.allowed(f"{SITE}/x")


@pytest.mark.parametrize("kind", KINDS)
def test_random_jumps(kind: str) -> None:
    """No question fails, whatever the clock says; decisions are those of the site's only file."""
    clock = Clock()
    sites = MockTransport({SITE: "User-agent: *\nDisallow: /private\nCrawl-delay: 0\n"})
    rng = random.Random(1)

    def jumping() -> datetime:
        clock.later(seconds=rng.choice([0, 1, -1, 60, -3600, 86_400, -1e7, 1e7, 1e9, -1e9]))
        return clock()

    def questions() -> Iterator[tuple[str, tuple[Any, ...]]]:
        for number in range(300):
            yield "allowed", (f"{SITE}/private/{number}",)
            yield "robots", (SITE,)
            yield "wait", (SITE,)
            yield "next_request", (SITE,)

    results = call_all(kind, *questions(), clock=jumping, transport=sites, default_interval=0)
    assert results[::4] == [False] * 300
    assert all(isinstance(each, Outcome) and each.robots for each in results[1::4])
    assert all(0 <= each < 1 for each in results[2::4])
    assert all(each.tzinfo is not None for each in results[3::4])


class Jumps:
    """A clock that is set again and again, by any thread that reads it."""

    def __init__(self, jumps: list[float]) -> None:
        self._jumps = jumps
        self._count = 0
        self._clock = Clock()

    def __call__(self) -> datetime:
        self._count += 1
        jump = self._jumps[self._count % len(self._jumps)]
        return self._clock() + timedelta(seconds=time.monotonic() + jump)


def test_interval_holds_while_the_clock_is_set() -> None:
    """A change of the system's time does not matter for intervals: no hang, no early turn."""
    clock = Jumps([0, -86_400, 86_400, -1, 1, -1e8, 1e8])
    sites = MockTransport({SITE: "User-agent: *\nCrawl-delay: 0.1\n"})
    with RobotsClient(NAME, clock=clock, transport=sites) as client:
        began = time.monotonic()
        turns: list[tuple[float, float]] = []

        def work() -> None:
            for _ in range(5):
                before = time.monotonic()
                assert client.wait(SITE) >= 0
                turns.append((before, time.monotonic()))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert len(turns) == 20
    ended = sorted(after for _, after in turns)
    # Each turn is noticed late, so two may seem closer; but none comes early.
    assert all(end - began > i * 0.1 - 0.01 for i, end in enumerate(ended))
    assert ended[-1] - began < 10


def test_wait_ends_when_the_clock_is_set_into_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows follow the time of day, also when it is set during a wait."""
    monkeypatch.setattr("koster.fetch._sync.client.MAX_SLEEP", 0.05)
    clock = Clock()
    sites = MockTransport({SITE: "User-agent: *\nVisit-time: 0600-0700\n"})
    options: dict[str, Any] = {
        "clock": clock,
        "transport": sites,
        "dialect": koster.EXTENDED2,
    }
    with RobotsClient(NAME, **options) as client:
        waits: list[float] = []
        thread = threading.Thread(target=lambda: waits.append(client.wait(SITE)), daemon=True)
        thread.start()
        time.sleep(0.3)
        assert waits == []
        clock.later(hours=-5.5)
        thread.join(5)
        assert len(waits) == 1
        clock.later(days=-300, hours=6)
        with pytest.raises(koster.TooSoonError) as caught:
            client.wait(SITE, at_most=0)
        assert caught.value.until > clock()


@pytest.mark.parametrize("jump", JUMPS, ids=str)
def test_pacer_waits_the_interval_and_no_longer(jump: timedelta) -> None:
    clock = Clock()
    pacer = Pacer()
    assert pacer.turn("a", rules_with_delay(60), clock()) == 0
    clock.later(seconds=jump.total_seconds())
    assert 59 < pacer.turn("a", rules_with_delay(60), clock()) <= 60
    assert clock() < pacer.next_request("a", rules_with_delay(60), clock())


@pytest.mark.parametrize("jump", JUMPS, ids=str)
def test_clock_of_the_redis_server_is_set(
    redis_url: str, jump: timedelta, request: pytest.FixtureRequest
) -> None:
    """The pace of a fleet is kept, and no turn is later than the clocks may differ."""
    clock = Clock()
    pacers = [FleetPacer(redis_url, prefix=f"{request.node.name}:") for _ in range(2)]
    rules = rules_with_delay(30)
    assert pacers[0].turn("a b", rules, clock()) == 0
    millis = int(jump.total_seconds() * 1000)
    for pacer in pacers:
        real = pacer._clock.now
        pacer._clock.now = partial(_later, real, millis)  # type: ignore[method-assign]
    # The machine that had the last turn knows it, whatever the server says.
    assert 29 < pacers[0].turn("a b", rules, clock()) <= 30.1
    assert 0 <= pacers[1].turn("a b", rules, clock()) <= 30 + 60.1
    for pacer in pacers:
        pacer.close()


def _later(now: Callable[[], int], millis: int) -> int:
    return now() + millis
