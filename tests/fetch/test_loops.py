"""Event loops: a client belongs to one, says so in another, and outlives one that is closed."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import warnings
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import httpx2
import pytest
from fetching import FILE, KINDS, NAME, Clock
from server import Site

import koster
from koster.fetch import AsyncRobotsClient, MockTransport, Pacer
from koster.politeness import Pace

pytestmark = pytest.mark.any_mode

LOOPS = KINDS[1:]


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """Collect what closed loops left open, before another test is blamed for it."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


OTHER = "this AsyncRobotsClient belongs to another event loop: create one client per"

METHODS: dict[str, Callable[[AsyncRobotsClient, str], Awaitable[Any]]] = {
    "allowed": lambda client, url: client.allowed(url),
    "decide": lambda client, url: client.decide(url),
    "robots": lambda client, url: client.robots(url),
    "refetch": lambda client, url: client.refetch(url),
    "wait": lambda client, url: client.wait(url, at_most=1),
    "next_request": lambda client, url: client.next_request(url),
    "took": lambda client, url: client.took(url, 0.1),
    "aclose": lambda client, _: client.aclose(),
}


def run(kind: str, work: Callable[[], Awaitable[Any]]) -> Any:
    """Run a function in a new event loop, not forever."""

    async def main() -> Any:
        with anyio.fail_after(10):
            return await work()

    return anyio.run(main, backend=kind)


@pytest.mark.parametrize("second", LOOPS)
@pytest.mark.parametrize("first", LOOPS)
def test_another_loop_is_told_so_at_once(site: Site, first: str, second: str) -> None:
    """In all methods: while the first loop fetches, and when all is known."""
    site.robots(body=FILE, delay=1)
    client = AsyncRobotsClient(NAME, at_once=1)
    has_fetched, over = threading.Event(), threading.Event()

    async def fetch() -> None:
        async with client:
            assert (await client.robots(site.url)).robots is not None
            has_fetched.set()
            while not over.is_set():
                await anyio.sleep(0.01)
            assert await client.allowed(f"{site.url}/x")

    def told() -> None:
        for method in METHODS.values():

            async def work(method: Any = method) -> None:
                with pytest.raises(RuntimeError, match=OTHER):
                    await method(client, f"{site.url}/x")

            began = time.monotonic()
            run(second, work)
            assert time.monotonic() - began < 5

    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(run, first, fetch)
        try:
            while not site.requests:
                time.sleep(0.01)
            told()
            assert has_fetched.wait(10)
            told()
        finally:
            over.set()
        running.result(20)
    assert len(site.requests) == 1


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.parametrize("second", LOOPS)
@pytest.mark.parametrize("first", LOOPS)
def test_a_client_goes_on_after_its_loop_was_closed(site: Site, first: str, second: str) -> None:
    site.robots(body=FILE)
    clock = Clock()
    client = AsyncRobotsClient(NAME, at_once=1, clock=clock, pacer=Pacer(Pace(0, 0)))

    async def ask() -> bool:
        return await client.allowed(f"{site.url}/private")

    assert run(first, ask) is False
    assert run(second, ask) is False
    assert len(site.requests) == 1, "what was fetched is kept"
    for method in METHODS.values():
        clock.later(days=2)
        run(second, lambda method=method: method(client, site.url))
    gc.collect()
    # All but took and aclose, each of a new loop, have fetched.
    assert len(site.requests) == 8
    assert site.connections == 8

    async def closed() -> None:
        with pytest.raises(RuntimeError, match="the client is closed"):
            await client.robots(site.url)

    clock.later(days=2)
    run(first, closed)


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.parametrize("kind", LOOPS)
def test_a_loop_that_was_closed_in_the_middle_of_a_fetch_holds_nothing_up(
    site: Site, kind: str
) -> None:
    site.robots(body=FILE, delay=0.5)
    client = AsyncRobotsClient(NAME, at_once=1, timeout=5)

    async def cancelled() -> None:
        with anyio.move_on_after(0.1):
            await client.robots(site.url)

    if kind == "trio":
        run(kind, cancelled)
    else:
        # No task is told.
        loop = asyncio.new_event_loop()
        task = loop.create_task(client.robots(site.url))
        loop.run_until_complete(asyncio.sleep(0.1))
        loop.close()
        task._log_destroy_pending = False  # type: ignore[attr-defined]
        del task
        gc.collect()
    assert run(kind, lambda: client.refetch(site.url)).robots is not None
    run(kind, client.aclose)


@pytest.mark.parametrize("what", ["transport", "at_once"])
def test_what_belongs_to_a_closed_loop_is_not_used_again(site: Site, what: str) -> None:
    site.robots(body=FILE, headers={"Connection": "close"})
    clients = []

    async def first() -> None:
        given: Any = httpx2.AsyncHTTPTransport() if what == "transport" else anyio.Semaphore(1)
        clients.append(AsyncRobotsClient(NAME, **{what: given}))
        assert not await clients[0].allowed(f"{site.url}/private")

    async def then() -> None:
        assert not await clients[0].allowed(f"{site.url}/private")
        name = "transport" if what == "transport" else "semaphore"
        message = f"the {name} of this AsyncRobotsClient belongs to a closed event loop"
        with pytest.raises(RuntimeError, match=message):
            await clients[0].refetch(site.url)
        await clients[0].aclose()

    run("asyncio", first)
    run("asyncio", then)


@pytest.mark.parametrize("what", ["transport", "at_once"])
def test_what_was_not_used_belongs_to_no_loop(site: Site, what: str) -> None:
    site.robots(body=FILE, headers={"Connection": "close"})
    transport, semaphore = httpx2.AsyncHTTPTransport(), anyio.Semaphore(1)
    given: Any = transport if what == "transport" else semaphore
    client = AsyncRobotsClient(NAME, **{what: given})

    async def nothing() -> bool:
        return await client.allowed("http://127.0.0.1/robots.txt")

    async def fetch() -> None:
        assert (await client.refetch(site.url)).robots is not None
        await client.aclose()
        await transport.aclose()

    assert run("asyncio", nothing) is True
    run("asyncio", fetch)


@pytest.mark.parametrize("kind", LOOPS)
def test_a_mock_may_be_used_in_any_loop(kind: str) -> None:
    client = AsyncRobotsClient(NAME, transport=MockTransport({"https://example.com": FILE}))
    for _ in range(3):
        found = run(kind, lambda: client.refetch("https://example.com"))
        assert found.robots is not None


def test_threads_with_loops_of_their_own_that_begin_together() -> None:
    """One of them has the client, the others are told; and again when that one has ended."""
    client = AsyncRobotsClient(NAME, transport=MockTransport({"https://example.com": FILE}))
    count = 8
    for _ in range(3):
        barrier = threading.Barrier(count)

        async def work(barrier: threading.Barrier = barrier) -> str:
            barrier.wait(10)
            try:
                await client.refetch("https://example.com")
                word = "has it"
            except RuntimeError as error:
                word = str(error)[: len(OTHER)]
            # Nobody's loop ends before all have asked.
            barrier.wait(10)
            return word

        with ThreadPoolExecutor(count) as threads:
            running = [threads.submit(run, "asyncio", work) for _ in range(count)]
            words = sorted(each.result(20) for each in running)
        assert words == ["has it"] + [OTHER] * (count - 1)


@pytest.mark.parametrize("kind", LOOPS)
def test_clients_of_one_loop_share_a_semaphore(site: Site, kind: str) -> None:
    site.robots(body=FILE)

    async def main() -> None:
        semaphore = anyio.Semaphore(1)
        async with (
            AsyncRobotsClient(NAME, at_once=semaphore) as first,
            AsyncRobotsClient(NAME, at_once=semaphore, dialect=koster.MK1996) as second,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(first.robots, site.url)
            tasks.start_soon(second.robots, site.url)

    run(kind, main)
    assert len(site.requests) == 2
