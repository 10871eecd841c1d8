"""A Redis server that is killed, frozen and started again under load."""

from __future__ import annotations

import random
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import httpx2
import pytest

import koster
from koster.fetch import Event, EventName, FleetPacer, RobotsClient
from tests.helpers import redis_server, server
from tests.helpers.fetching import NAME

#: The site whose pace is kept, and its interval in seconds.
PACED = "https://paced.example"
INTERVAL = 0.1
#: More sites than a client keeps in memory.
SITES = 3000
#: Seconds until a failed server is tried again, in place of ten.
RETRY = 1.0
#: What happens to the server: how it goes down, and for how many seconds.
OUTAGES = [
    ("kill", 0.5),
    ("kill", 2.0),
    ("freeze", 3.0),
    ("kill", 0.1),
    ("kill", 1.0),
    ("kill", 2.5),
]


class Redis:
    """A server that starts, dies and freezes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = server.closed_port()
        self.url = f"redis://127.0.0.1:{self._port}/0"
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        self._process = redis_server.start(self._folder, self._port)

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def send(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    @contextmanager
    def down(self, how: str) -> Iterator[None]:
        """Kill or freeze the server for the time of the block."""
        if how == "kill":
            self.kill()
            yield
            self.start()
            return
        self.send(signal.SIGSTOP)
        yield
        self.send(signal.SIGCONT)


class TimedPacer(FleetPacer):
    """A pacer that remembers its turns: moments right before and after each."""

    turns: list[tuple[float, float]]

    def turn(self, key: str, rules: koster.Rules, now: datetime) -> float:
        before = time.monotonic()
        seconds = super().turn(key, rules, now)
        assert seconds >= 0
        if seconds == 0:
            self.turns.append((before, time.monotonic()))
        return seconds


@dataclass
class Machine:
    """A client with a pacer of its own, which threads use until ``stop`` is set."""

    url: str
    stop: threading.Event = field(default_factory=threading.Event)
    events: list[Event] = field(default_factory=list)
    fetches: list[str] = field(default_factory=list)
    errors: list[BaseException] = field(default_factory=list)
    decisions: int = 0

    def __post_init__(self) -> None:
        self.pacer = TimedPacer(self.url, on_event=self.events.append)
        self.pacer.turns = []
        self.client = RobotsClient(
            NAME,
            cache=self.url,
            pacer=self.pacer,
            transport=httpx2.MockTransport(self._answer),
            on_event=self.events.append,
        )
        self._threads = [
            threading.Thread(target=self._run, args=(work,))
            for work in (self._wait, self._decide, self._decide)
        ]

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        host = request.url.host
        self.fetches.append(host)
        if request.url.host in PACED:
            return httpx2.Response(200, content=f"User-agent: *\nCrawl-delay: {INTERVAL}\n")
        name = host.partition(".")[0]
        return httpx2.Response(200, content=f"User-agent: *\nDisallow: /of-{name}/\n")

    def _run(self, work: Callable[[], None]) -> None:
        try:
            while not self.stop.is_set():
                work()
        except BaseException as error:  # noqa: BLE001 - the test raises it
            self.errors.append(error)

    def _wait(self) -> None:
        self.client.wait(f"{PACED}/")

    def _decide(self) -> None:
        """Ask about a random site: about a path that it disallows, and one that another does."""
        number = random.randrange(SITES)
        site = f"https://site{number}.example"
        assert not self.client.allowed(f"{site}/of-site{number}/x")
        assert self.client.allowed(f"{site}/of-site{number + 1}/x")
        self.decisions += 2
        time.sleep(0.002)

    def turns_between(self, first: float, last: float) -> list[tuple[float, float]]:
        return [turn for turn in self.pacer.turns if first < turn[0] and turn[1] < last]

    def count(self, name: EventName) -> int:
        return [event.name for event in self.events].count(name)

    @contextmanager
    def running(self) -> Iterator[None]:
        for thread in self._threads:
            thread.start()
        try:
            yield
        finally:
            self.stop.set()
            for thread in self._threads:
                thread.join(20)
            assert not any(thread.is_alive() for thread in self._threads), "a thread hangs"
            self.client.close()


@pytest.fixture
def redis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Redis]:
    if redis_server.program() is None:
        pytest.skip(redis_server.MISSING)
    monkeypatch.setattr("koster.fetch.fleet._RETRY_SECONDS", RETRY)
    monkeypatch.setattr("koster.cache.resilient.RETRY_SECONDS", RETRY)
    redis = Redis(tmp_path)
    yield redis
    redis.kill()


def go_down_and_up(redis: Redis, how: str, seconds: float, machines: list[Machine]) -> None:
    """Take the server down for a while, and wait until both machines use it again."""
    with redis.down(how):
        start = time.monotonic()
        time.sleep(seconds)
        if seconds >= 1:
            for machine in machines:
                # Each keeps the pace on its own; a frozen server costs a second per try.
                assert machine.turns_between(start, time.monotonic())
    until = time.monotonic() + 10
    while any(machine.pacer._is_down for machine in machines):
        assert time.monotonic() < until, "the server is not used again"
        time.sleep(0.01)


def check_shared_pace(machines: list[Machine], seconds: float) -> None:
    """Check that the machines take turns: no two at once, and about as many as there are.

    When the server counted a turn is known to be between two moments, which may be far apart if
    the machine is busy. So a pair is wrong only if no moments between these could be right.
    """
    start = time.monotonic()
    time.sleep(seconds)
    turns = sorted(turn for each in machines for turn in each.turns_between(start, start + seconds))
    assert len(turns) <= seconds / INTERVAL + 1
    assert len(turns) >= 0.25 * seconds / INTERVAL
    for (before, after), (next_before, next_after) in pairwise(turns):
        assert max(next_after - before, after - next_before) > INTERVAL - 0.001


def test_restarts_under_load(redis: Redis) -> None:
    """No exception, no wrong decision; the pace is kept locally, and shared again afterwards."""
    with ExitStack() as stack:
        machines = [Machine(redis.url) for _ in range(2)]
        for machine in machines:
            stack.enter_context(machine.running())
        started = time.monotonic()
        for how, seconds in OUTAGES:
            check_shared_pace(machines, 2)
            go_down_and_up(redis, how, seconds, machines)
        check_shared_pace(machines, 2)
        check_shared_cache(machines)
        took = time.monotonic() - started
    for machine in machines:
        assert machine.errors == []
        # Its own turns are never closer than the interval.
        own = [second[1] - first[0] for first, second in pairwise(machine.pacer.turns)]
        assert min(own) > INTERVAL - 0.001
        check_events(machine)
    print(
        f"\n{len(OUTAGES)} outages in {took:.0f} s, {sum(each.decisions for each in machines):,} "
        f"decisions, {sum(len(each.pacer.turns) for each in machines)} turns"
    )


def check_shared_cache(machines: list[Machine]) -> None:
    """Check that one machine gets what the other fetched."""
    time.sleep(RETRY)
    for machine in machines:
        machine.client.robots("https://new.example")
    assert sum(machine.fetches.count("new.example") for machine in machines) == 1


def check_events(machine: Machine) -> None:
    """Check that both the cache and the pacer reported outages."""
    assert 1 <= machine.count(EventName.CACHE_FAILED) <= len(OUTAGES)
    assert len(OUTAGES) - 1 <= machine.count(EventName.PACE_FAILED) <= len(OUTAGES)


def test_one_report_per_outage(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both log one warning, and emit one event, until the server works again."""
    monkeypatch.setattr("koster.fetch.fleet._RETRY_SECONDS", 0.1)
    monkeypatch.setattr("koster.cache.resilient.RETRY_SECONDS", 0.1)
    machine = Machine(redis.url)
    with machine.running():
        time.sleep(1)
        # First it does not respond, then it refuses connections.
        redis.send(signal.SIGSTOP)
        time.sleep(2.5)
        with redis.down("kill"):
            time.sleep(1)
    assert machine.errors == []
    assert machine.count(EventName.CACHE_FAILED) == 1
    assert machine.count(EventName.PACE_FAILED) == 1
