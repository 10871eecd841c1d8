"""Threads, signal handlers and finalizers that ask the same objects get the right answers."""

from __future__ import annotations

import gc
import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime

import httpx2
import pytest

import koster
from koster.cache.memory import LRUCache
from koster.fetch._back_off import BackOff
from koster.fetch.pace import Pacer
from tests.helpers.subjects import SUBJECTS
from tests.helpers.support import EVERYTHING, ROOT

#: For each subject; `make test-faults` takes five.
SECONDS = os.environ.get("KOSTER_THREAD_SECONDS", "0.2" if EVERYTHING else "0.02")

needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no timer signals")


@needs_signals
def test_threads_share_objects() -> None:
    """In a process of their own, which may crash; it prints what it asks before it does."""
    kinds = {each.name.partition(":")[0] for each in SUBJECTS}
    if not koster.COMPILED and not EVERYTHING:
        # The others are plain Python in either build.
        kinds -= {"outcome", "client", "tools"}
    command = [sys.executable, "-m", "tests.helpers.hammer", "--seconds", SECONDS, *sorted(kinds)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-5000:]
    asked = [line.split()[0] for line in done.stdout.splitlines()]
    assert asked == [each.name for each in SUBJECTS if each.name.partition(":")[0] in kinds]
    assert kinds >= {"robots", "rules", "kernel", "facades"}


def ask_about_new_agent() -> Callable[[int], object]:
    robots = koster.parse("User-agent: *\nDisallow: /a")
    return lambda number: robots.rules_for(f"bot{number}")


def put_and_list() -> Callable[[int], object]:
    cache = LRUCache[int, int](64, 64, lambda _: 1)

    def put(number: int) -> None:
        cache.put(number, number)
        cache.items()

    return put


def take_a_turn() -> Callable[[int], object]:
    """Of a pacer that discards what has expired at each turn."""
    pacer = Pacer(monotonic=lambda: 0.0)
    rules = koster.parse("").rules_for("x")

    def take(number: int) -> None:
        pacer.turn(str(number), rules, datetime(2026, 1, 1, tzinfo=UTC))
        pacer.adopt(str(number), BackOff(until=1.0))
        pacer._discard_expired()

    return take


@pytest.mark.parametrize("make", [ask_about_new_agent, put_and_list, take_a_turn])
def test_finalizers_run_at_any_time(make: Callable[[], Callable[[int], object]]) -> None:
    """The garbage collector runs in the middle of what makes many objects."""
    ask, numbers = make(), itertools.count()
    pairs: list[tuple[int, int]] = []
    asked = 0

    def hold_pairs() -> None:
        """Python keeps up to 2,000 freed ones, and takes them without the garbage collector."""
        pairs.extend([(number, number) for number in range(2000)])

    def collect(_phase: str, _info: object) -> None:
        nonlocal asked
        gc.disable()
        ask(next(numbers))
        hold_pairs()
        asked += 1

    for _ in range(100):
        ask(next(numbers))
    before = gc.get_threshold()
    try:
        for after in range(100):
            hold_pairs()
            gc.collect(0)
            gc.callbacks.append(collect)
            gc.set_threshold(after + 1)
            gc.enable()
            ask(next(numbers))
            gc.callbacks.remove(collect)
    finally:
        gc.set_threshold(*before)
        gc.enable()
    assert asked


def test_files_and_rules_are_made_once() -> None:
    """Another thread may be in the middle of a question."""
    robots = koster.parse("User-agent: *\nDisallow: /")
    rules = robots.rules_for("x")
    with pytest.raises(TypeError, match=r"^a RobotsTxt does not change: make another one$"):
        robots.__init__("")  # type: ignore[misc]
    with pytest.raises(TypeError, match=r"^the rules of a crawler do not change: call rules_for"):
        rules.__init__(robots, "y")  # type: ignore[misc]
    assert not robots.allowed("/", "x")
    assert not rules.allowed("/")
    assert koster.Rules(robots, "x").allowed("/") is False
    assert koster.RobotsTxt("").allowed("/", "x")


def test_client_does_not_wait_for_its_own_thread() -> None:
    """As in a signal handler or a finalizer that runs in the middle of a fetch."""
    refused: list[str] = []

    def respond(request: httpx2.Request) -> httpx2.Response:
        for url in ("https://example.com/b", "https://other.example/"):
            with pytest.raises(RuntimeError) as caught:
                client.allowed(url)
            refused.append(str(caught.value))
        assert client.cached("https://example.com/") is None
        return httpx2.Response(200, content=b"User-agent: *\nDisallow: /a\n")

    with koster.RobotsClient("FooBot", transport=httpx2.MockTransport(respond)) as client:
        assert not client.allowed("https://example.com/a")
        assert len(refused) == 2
        assert all(each.startswith("this thread is already waiting for") for each in refused)
        # The thread can ask again, also after an error.
        assert client.allowed("https://example.com/b")
        with pytest.raises(koster.UrlError):
            client.allowed("ftp://example.com/")
