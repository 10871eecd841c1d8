"""Event loops: a client belongs to one loop, raises in another, and outlives a closed one."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import warnings
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import anyio
import httpx2
import pytest

import koster
from koster.fetch import AsyncRobotsClient, MockTransport, Pacer
from koster.politeness import Pace
from tests.helpers.fetching import FILE, KINDS, NAME, Clock
from tests.helpers.server import Site

LOOPS = KINDS[1:]


@pytest.fixture(autouse=True)
def collect_garbage() -> Iterator[None]:
    """Collect unclosed resources of closed loops, so that no later test warns about them."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


WRONG_LOOP = "this AsyncRobotsClient belongs to another event loop: create one client per"

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
    """Run a function in a new event loop, with a timeout."""

    async def main() -> Any:
        with anyio.fail_after(10):
            return await work()

    return anyio.run(main, backend=kind)


@pytest.mark.parametrize("second", LOOPS)
@pytest.mark.parametrize("first", LOOPS)
def test_use_in_another_loop_raises_at_once(site: Site, first: str, second: str) -> None:
    """All methods raise, both during the fetch of the first loop and after it."""
    site.robots(body=FILE, delay=0.5)
    client = AsyncRobotsClient(NAME, at_once=1)
    has_fetched, stop = threading.Event(), threading.Event()

    async def fetch() -> None:
        async with client:
            assert (await client.robots(site.url)).robots is not None
            has_fetched.set()
            while not stop.is_set():
                await anyio.sleep(0.01)
            assert await client.allowed(f"{site.url}/x")

    def use_in_second_loop() -> None:
        for method in METHODS.values():

            async def work(method: Any = method) -> None:
                with pytest.raises(RuntimeError, match=WRONG_LOOP):
                    await method(client, f"{site.url}/x")

            start = time.monotonic()
            run(second, work)
            assert time.monotonic() - start < 5

    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(run, first, fetch)
        try:
            while not site.requests:
                time.sleep(0.01)
            use_in_second_loop()
            assert has_fetched.wait(10)
            use_in_second_loop()
        finally:
            stop.set()
        running.result(20)
    assert len(site.requests) == 1


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.parametrize("second", LOOPS)
@pytest.mark.parametrize("first", LOOPS)
def test_client_is_usable_after_its_loop_is_closed(site: Site, first: str, second: str) -> None:
    site.robots(body=FILE)
    clock = Clock()
    client = AsyncRobotsClient(NAME, at_once=1, clock=clock, pacer=Pacer(Pace(0, 0)))

    async def ask() -> bool:
        return await client.allowed(f"{site.url}/private")

    assert run(first, ask) is False
    assert run(second, ask) is False
    assert len(site.requests) == 1, "the fetched file is cached"
    for method in METHODS.values():
        clock.later(days=2)
        run(second, lambda method=method: method(client, site.url))  # type: ignore[misc]
    gc.collect()
    # Each method but took and aclose has fetched in a new loop.
    assert len(site.requests) == 8
    assert site.connections == 8

    async def use_closed_client() -> None:
        with pytest.raises(RuntimeError, match="the client is closed"):
            await client.robots(site.url)

    clock.later(days=2)
    run(first, use_closed_client)


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.parametrize("kind", LOOPS)
def test_loop_closed_during_a_fetch_does_not_block_the_next(site: Site, kind: str) -> None:
    site.robots(body=FILE, delay=0.5)
    client = AsyncRobotsClient(NAME, at_once=1, timeout=5)

    async def cancelled_fetch() -> None:
        with anyio.move_on_after(0.1):
            await client.robots(site.url)

    if kind == "trio":
        run(kind, cancelled_fetch)
    else:
        # The task is not cancelled.
        loop = asyncio.new_event_loop()
        task = loop.create_task(client.robots(site.url))
        loop.run_until_complete(asyncio.sleep(0.1))
        loop.close()
        task._log_destroy_pending = False  # type: ignore[attr-defined]
        del task
        gc.collect()
    assert run(kind, lambda: client.refetch(site.url)).robots is not None
    run(kind, client.aclose)


#: What belongs to an event loop, by argument: how it is made, and its name in errors.
RESOURCES: dict[str, tuple[Callable[[], Any], str]] = {
    "transport": (httpx2.AsyncHTTPTransport, "transport"),
    "http": (httpx2.AsyncClient, "http client"),
    "at_once": (partial(anyio.Semaphore, 1), "semaphore"),
}


@pytest.mark.parametrize("what", RESOURCES)
def test_resources_of_a_closed_loop_are_rejected(site: Site, what: str) -> None:
    site.robots(body=FILE, headers={"Connection": "close"})
    clients = []
    make, name = RESOURCES[what]

    async def use_in_first_loop() -> None:
        clients.append(AsyncRobotsClient(NAME, **{what: make()}))
        assert not await clients[0].allowed(f"{site.url}/private")

    async def use_in_second_loop() -> None:
        assert not await clients[0].allowed(f"{site.url}/private")
        message = f"the {name} of this AsyncRobotsClient belongs to a closed event loop"
        with pytest.raises(RuntimeError, match=message):
            await clients[0].refetch(site.url)
        await clients[0].aclose()

    run("asyncio", use_in_first_loop)
    run("asyncio", use_in_second_loop)


@pytest.mark.parametrize("what", ["transport", "at_once"])
def test_unused_resources_belong_to_no_loop(site: Site, what: str) -> None:
    site.robots(body=FILE, headers={"Connection": "close"})
    transport, semaphore = httpx2.AsyncHTTPTransport(), anyio.Semaphore(1)
    resource: Any = transport if what == "transport" else semaphore
    client = AsyncRobotsClient(NAME, **{what: resource})

    async def no_fetch() -> bool:
        return await client.allowed("http://127.0.0.1/robots.txt")

    async def fetch() -> None:
        assert (await client.refetch(site.url)).robots is not None
        await client.aclose()
        await transport.aclose()

    assert run("asyncio", no_fetch) is True
    run("asyncio", fetch)


@pytest.mark.parametrize("kind", LOOPS)
def test_mock_transport_works_in_any_loop(kind: str) -> None:
    client = AsyncRobotsClient(NAME, transport=MockTransport({"https://example.com": FILE}))
    for _ in range(3):
        result = run(kind, lambda: client.refetch("https://example.com"))
        assert result.robots is not None


def test_only_one_of_several_concurrent_loops_gets_the_client() -> None:
    """One loop gets the client and the others raise; again after that loop has ended."""
    client = AsyncRobotsClient(NAME, transport=MockTransport({"https://example.com": FILE}))
    count = 8
    for _ in range(3):
        barrier = threading.Barrier(count)

        async def work(barrier: threading.Barrier = barrier) -> str:
            barrier.wait(10)
            try:
                await client.refetch("https://example.com")
                outcome = "has it"
            except RuntimeError as error:
                outcome = str(error)[: len(WRONG_LOOP)]
            # No loop ends before all have tried.
            barrier.wait(10)
            return outcome

        with ThreadPoolExecutor(count) as threads:
            running = [threads.submit(run, "asyncio", work) for _ in range(count)]
            outcomes = sorted(each.result(20) for each in running)
        assert outcomes == ["has it"] + [WRONG_LOOP] * (count - 1)


@pytest.mark.parametrize("kind", LOOPS)
def test_clients_in_one_loop_share_a_semaphore(site: Site, kind: str) -> None:
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
