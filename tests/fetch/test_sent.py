"""The interval counts from the request, not from the turn: what a site sees."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import threading
import time
from contextlib import closing
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
import pytest

import koster
from koster.fetch import (
    AsyncRobotsClient,
    FleetPacer,
    MockTransport,
    Pacer,
    RobotsClient,
    _last_turn,
)
from koster.fetch import pace as pace_module
from koster.politeness import Pace
from tests.helpers import server
from tests.helpers.fetching import NAME
from tests.helpers.pacing import NOW, rules_with_delay
from tests.helpers.server import Answer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

URL = "https://example.com/page"

DELAY = 0.1

#: The delay of the site that records when requests arrive.
SITE_DELAY = 0.05

SITES = MockTransport({"https://example.com": f"User-agent: *\nCrawl-delay: {DELAY}"})


@pytest.fixture
def arrivals(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[server.Site, list[float]]]:
    """A site with a delay, and the times at which requests for pages arrive."""
    times: list[float] = []
    handle = server._Handler.do_GET

    def do_get(self: Any) -> None:
        if self.path != "/robots.txt":
            times.append(time.monotonic())
        handle(self)

    monkeypatch.setattr(server._Handler, "do_GET", do_get)
    with server.running() as site:
        site.robots(body=f"User-agent: *\nCrawl-delay: {SITE_DELAY}".encode())
        site.pages["/page"] = Answer(body=b"a page", delay=0.02)
        yield site, times


@pytest.mark.parametrize("calls_sent", [False, True], ids=["end of the block", "sent"])
def test_site_sees_the_whole_delay(
    arrivals: tuple[server.Site, list[float]], calls_sent: bool
) -> None:
    """30 tasks, while something else keeps the event loop busy."""
    site, times = arrivals
    url = f"{site.url}/page"

    async def crawl(client: AsyncRobotsClient, http: httpx2.AsyncClient) -> None:
        async with client.turn(url) as turn, http.stream("GET", url) as response:
            if calls_sent:
                await turn.sent()
            await response.aread()

    async def keep_busy() -> None:
        while True:
            time.sleep(0.03)  # as a parser does
            await asyncio.sleep(0.005)

    async def main() -> None:
        async with AsyncRobotsClient(NAME) as client, httpx2.AsyncClient() as http:
            busy = asyncio.create_task(keep_busy())
            await asyncio.gather(*(crawl(client, http) for _ in range(30)))
            busy.cancel()

    asyncio.run(main())
    gaps = [second - first for first, second in pairwise(times)]
    assert len(times) == 30
    assert min(gaps) >= SITE_DELAY - 0.005


def test_site_sees_the_whole_delay_from_threads(
    arrivals: tuple[server.Site, list[float]],
) -> None:
    site, times = arrivals
    url = f"{site.url}/page"
    with RobotsClient(NAME) as client, httpx2.Client() as http:

        def crawl() -> None:
            with client.turn(url):
                http.get(url)

        threads = [threading.Thread(target=crawl) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert min(second - first for first, second in pairwise(times)) >= SITE_DELAY - 0.005


def waited_after(block: Any, **options: Any) -> tuple[float, float]:
    """Enter a turn, do something in its block; return the next wait, and since when it is."""
    options = {"transport": SITES} | options
    with RobotsClient(NAME, **options) as client:
        with contextlib.suppress(KeyError, KeyboardInterrupt), client.turn(URL) as turn:
            block(turn)
        ended = time.monotonic()
        client.wait(URL)
        return time.monotonic() - ended, ended


def test_interval_counts_from_the_end_of_the_block() -> None:
    waited, _ = waited_after(lambda _: time.sleep(0.15))
    assert DELAY - 0.005 <= waited < DELAY + 0.15


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
def test_block_that_raises_ends(error: type[BaseException]) -> None:
    def fail(_: object) -> None:
        raise error

    waited, _ = waited_after(fail)
    assert DELAY - 0.005 <= waited < DELAY + 0.15


def test_interval_counts_from_sent() -> None:
    def block(turn: Any) -> None:
        turn.sent()
        time.sleep(0.12)

    assert waited_after(block)[0] < 0.05


def test_last_sent_counts() -> None:
    """A redirect sends a second request."""

    def block(turn: Any) -> None:
        turn.sent()
        time.sleep(0.12)
        turn.sent()

    assert waited_after(block)[0] >= DELAY - 0.005


def test_next_turn_is_not_given_while_a_block_is_open() -> None:
    with RobotsClient(NAME, transport=SITES) as client:
        with client.turn(URL):
            time.sleep(2 * DELAY)
            with pytest.raises(koster.TooSoonError):
                client.wait(URL, at_most=0)
            assert client.next_request(URL).timestamp() > time.time() + DELAY / 2
            # Another crawler has its own turns.
            client.wait(URL, "OtherBot", at_most=0)
        time.sleep(DELAY)
        client.wait(URL, at_most=0.01)


def test_wait_counts_from_its_return() -> None:
    with RobotsClient(NAME, transport=SITES) as client:
        client.wait(URL)
        time.sleep(DELAY)
        client.wait(URL, at_most=0)


def test_turn_of_an_abandoned_block_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn in a generator that is never closed."""
    monkeypatch.setattr(pace_module, "MAX_OPEN", 0.2)

    def pages(client: RobotsClient) -> Iterator[str]:
        with client.turn(URL):
            yield "page"

    with RobotsClient(NAME, transport=SITES) as client:
        generator = pages(client)
        next(generator)
        waited = client.wait(URL)
        assert 0.2 + DELAY - 0.01 <= waited < 0.2 + 3 * DELAY
        # When it is closed at last, that is no longer the last turn.
        generator.close()  # type: ignore[attr-defined]
        time.sleep(DELAY)
        client.wait(URL, at_most=0)


def test_the_documented_limit_of_open_turns_is_a_minute() -> None:
    assert pace_module.MAX_OPEN == 60
    seconds = [0.0]
    pacer = Pacer(Pace(0, 5), monotonic=lambda: seconds[0])
    rules = rules_with_delay(5)
    assert pacer.begin("a", rules, NOW, 1) == 0
    for passed, left in ((0, 5), (4, 5), (59, 5), (60, 5), (64, 1), (65, 0)):
        seconds[0] = passed
        now = NOW + timedelta(seconds=passed)
        assert (pacer.next_request("a", rules, now) - now).total_seconds() == left
    # An end that comes later changes nothing for the next turn.
    assert pacer.begin("a", rules, now, 2) == 0
    pacer.sent("a", 1, now)
    seconds[0] = 71
    assert pacer.turn("a", rules, now + timedelta(seconds=6)) == 5
    pacer.sent("a", 2, now + timedelta(seconds=6))
    seconds[0] = 76
    assert pacer.turn("a", rules, now + timedelta(seconds=11)) == 0


def test_cancelled_tasks_hold_nobody_up(redis_url: str) -> None:
    """A task that is cancelled in its block, and one that is cancelled while it waits."""

    async def main(pacer: Any) -> float:
        async with AsyncRobotsClient(NAME, transport=SITES, pacer=pacer) as client:

            async def crawl(seconds: float) -> None:
                async with client.turn(URL):
                    await anyio.sleep(seconds)

            with anyio.move_on_after(0.05):
                async with anyio.create_task_group() as tasks:
                    for _ in range(3):
                        tasks.start_soon(crawl, 100)
            return await client.wait(URL, at_most=2)

    assert asyncio.run(main(Pacer())) < DELAY + 0.1
    with closing(FleetPacer(redis_url, prefix="cancelled:")) as fleet:
        assert asyncio.run(main(fleet)) < DELAY + 0.3


def test_asynchronous_generator_that_is_dropped() -> None:
    async def pages(client: AsyncRobotsClient) -> AsyncIterator[str]:
        async with client.turn(URL):
            yield "page"

    async def main() -> float:
        async with AsyncRobotsClient(NAME, transport=SITES) as client:
            generator = pages(client)
            await anext(generator)
            del generator
            gc.collect()
            return await client.wait(URL, at_most=2)

    assert asyncio.run(main()) < 3 * DELAY


def test_disallowed_page_holds_nobody_up() -> None:
    sites = MockTransport({"https://example.com": "User-agent: *\nCrawl-delay: 60\nDisallow: /x"})
    with RobotsClient(NAME, transport=sites) as client:
        with client.turn("https://example.com/x") as turn:
            assert not turn.allowed
            turn.sent()
        client.wait(URL, at_most=0)


@pytest.mark.parametrize("method", ["sent", "answered"])
def test_turn_needs_its_block(method: str) -> None:
    arguments = [200] if method == "answered" else []
    with (
        RobotsClient(NAME, transport=SITES) as client,
        pytest.raises(RuntimeError, match="use the turn in a with statement"),
    ):
        getattr(client.turn(URL), method)(*arguments)


def test_pacers_of_three_methods_go_on() -> None:
    class Simple:
        def turn(self, *_: object) -> float:
            return 0.0

        def next_request(self, _key: str, _rules: object, now: Any) -> Any:
            return now

        def took(self, *_: object) -> None:
            pass

    simple: Any = Simple()
    with RobotsClient(NAME, transport=SITES, pacer=simple) as client:
        for _ in range(3):
            with client.turn(URL) as turn:
                turn.sent()
        with pytest.raises(TypeError, match="this pacer cannot slow down"):
            client.answered(URL, 429)


def test_fleet_moves_the_start_on_the_server(redis_url: str) -> None:
    fleet, other = (FleetPacer(redis_url, prefix="moved:") for _ in range(2))
    rules = rules_with_delay(0.2)
    with closing(fleet), closing(other):
        assert fleet.begin("a", rules, NOW, 1) == 0
        time.sleep(0.25)
        # The turn is open, so the next one is not due.
        assert 0.19 < other.turn("a", rules, NOW) < 0.23
        fleet.sent("a", 1, NOW)
        assert 0.15 < other.turn("a", rules, NOW) < 0.23
        time.sleep(0.21)
        # The end of an earlier turn does not end the one of another process.
        assert other.begin("a", rules, NOW, 1) == 0
        fleet.sent("a", 1, NOW)
        time.sleep(0.21)
        assert fleet.next_request("a", rules, NOW) > NOW + timedelta(seconds=0.15)
        other.sent("a", 1, NOW)
        time.sleep(0.21)
        assert fleet.turn("a", rules, NOW) == 0


def test_fleet_does_not_wait_for_a_killed_process(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed, other = (FleetPacer(redis_url, prefix="killed:") for _ in range(2))
    monkeypatch.setattr(_last_turn, "MAX_OPEN", 0.2)
    rules = rules_with_delay(0.1)
    with closing(killed), closing(other):
        assert killed.begin("a", rules, NOW, 1) == 0
        assert 0.09 < other.turn("a", rules, NOW) < 0.12
        time.sleep(0.31)
        assert other.turn("a", rules, NOW) == 0
