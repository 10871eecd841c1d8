"""Forks: a child process neither waits for threads of its parent nor uses its connections."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import socket
import subprocess
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
import redis
import server
import wire
from entries import ENTRY
from fetching import FILE, KINDS, NAME, Clock
from forking import ended, fork, in_child
from server import Site

import koster
from koster.cache import MemoryCache, RedisCache, SqliteCache, forks
from koster.cache.memory import LRUCache
from koster.fetch import (
    AsyncRobotsClient,
    EventName,
    FleetPacer,
    MockTransport,
    Pacer,
    RobotsClient,
)
from koster.politeness import Pace

pytestmark = [
    pytest.mark.any_mode,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no os.fork on this system"),
    # From Python 3.12 on.
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]

LOCKS = (type(threading.Lock()), type(threading.RLock()))
SEMAPHORE = threading.Semaphore


@contextmanager
def in_thread(work: Callable[[], object]) -> Iterator[threading.Thread]:
    """Run a function in a thread."""
    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield thread
    finally:
        thread.join(30)
        assert not thread.is_alive()


def locks_of(thing: Any) -> list[Any]:
    """Return the locks and semaphores of an object of koster's, and of all that is in it."""
    found: dict[int, Any] = {}
    seen: set[int] = set()
    ours = ("koster", "httpcore2", "redis", "threading")

    def visit(each: Any) -> None:
        if id(each) in seen:
            return
        seen.add(id(each))
        if isinstance(each, (*LOCKS, SEMAPHORE)):
            found[id(each)] = each
        elif isinstance(each, dict):
            for value in list(each.values()):
                visit(value)
        elif isinstance(each, (list, tuple, set)):
            for value in list(each):
                visit(value)
        elif type(each).__module__.split(".")[0] in ours and not isinstance(each, type):
            visit(getattr(each, "__dict__", {}))

    visit(thing)
    return list(found.values())


@contextmanager
def held(*things: Any) -> Iterator[int]:
    """Hold all their locks, in another thread; give their number."""
    locks = [lock for thing in things for lock in locks_of(thing)]
    has_them, over = threading.Event(), threading.Event()

    def hold() -> None:
        taken = []
        for lock in locks:
            while lock.acquire(blocking=False):
                taken.append(lock)
                if isinstance(lock, LOCKS):
                    break
        has_them.set()
        over.wait(30)
        for lock in taken:
            lock.release()

    with in_thread(hold):
        try:
            assert has_them.wait(5)
            yield len(locks)
        finally:
            over.set()


# Threads that fetch


def test_a_child_fetches_while_a_thread_of_its_parent_does(site: Site) -> None:
    site.robots(body=FILE, delay=1.5)
    with RobotsClient(NAME, at_once=1, timeout=5) as client, server.running() as other:
        other.robots(body=FILE)
        found = []
        with in_thread(lambda: found.append(client.refetch(site.url))):
            while not site.requests:
                time.sleep(0.01)

            def work() -> list[bool]:
                urls = (site.url, other.url)
                return [client.refetch(url).robots is not None for url in urls]

            assert in_child(work) == [True, True]
        assert found[0].robots is not None
        assert len(site.requests) == 2
        assert client.robots(other.url).robots is not None


def test_the_method_fork_of_multiprocessing(site: Site) -> None:
    site.robots(body=FILE, delay=1)
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    with RobotsClient(NAME, at_once=1) as client:

        def work() -> None:
            queue.put(client.refetch(site.url).robots is not None)

        with in_thread(lambda: client.refetch(site.url)):
            while not site.requests:
                time.sleep(0.01)
            process = context.Process(target=work)
            process.start()
            process.join(20)
            if process.exitcode is None:
                process.kill()
                process.join()
            assert process.exitcode == 0
        assert queue.get() is True
        assert client.refetch(site.url).robots is not None


def test_every_lock_may_be_held(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.robots(body=b"User-agent: *\nComment: x")
    pacer, clock, events = Pacer(Pace(0, 0.01)), Clock(), []
    client = RobotsClient(
        NAME, at_once=2, pacer=pacer, clock=clock, dialect=koster.EXTENDED2, on_event=events.append
    )

    def work() -> None:
        clock.later(days=2)
        assert client.allowed(f"{site.url}/x")
        assert client.refetch(site.url).robots is not None
        for _ in range(2):
            client.wait(site.url)
        client.took(site.url, 0.1)
        assert client.next_request(site.url) > clock()
        assert client.allowed(f"{site.url}/x", "OtherBot")

    with client:
        work()
        with held(client) as number:
            # Of the client and its two tables of locks, four tables, the cache, the pacer, the
            # transport; a semaphore, an event and more are in them.
            assert number >= 12
            in_child(work)
            in_child(client.close)
        work()


@pytest.mark.parametrize("make", [None, redis.ConnectionPool, redis.BlockingConnectionPool])
def test_every_lock_of_a_pool_of_redis_may_be_held(redis_url: str, make: Any) -> None:
    """Of koster's client for a URL, and of the caller's own."""
    server = redis_url if make is None else redis.Redis(connection_pool=make.from_url(redis_url))
    cache = RedisCache(server, prefix="fork:")
    fleet = FleetPacer(server, prefix=f"fork {make}:pace:")
    rules = koster.parse("User-agent: *\nCrawl-delay: 0.01").rules_for("FooBot")
    before = _connected_to(redis_url)

    def work() -> set[tuple[str, int]]:
        cache.put("a", ENTRY)
        assert cache.get("a") == ENTRY
        while fleet.turn("https://example.com x", rules, datetime.now(UTC)) > 0:
            time.sleep(0.01)
        fleet.took("https://example.com x", 0.1)
        return _connected_to(redis_url)

    def work_and_close() -> None:
        work()
        gc.collect()
        cache.close()

    of_parent = work() - before
    assert len(of_parent) == (2 if make is None else 1)
    with held(cache, fleet) as number:
        assert number >= 6
        found = in_child(work)
        if make is None:
            assert not found & of_parent
        in_child(work_and_close)
    assert work() - before == of_parent
    assert fleet._failure == ""
    cache.close()
    fleet._redis.connection_pool.disconnect()


def _connected_to(url: str) -> set[tuple[str, int]]:
    """Return the local ends of this process's connections to a place."""
    port = httpx2.URL(url.replace("redis:", "http:")).port
    ends = set()
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            if not os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                continue
            with socket.socket(fileno=os.dup(int(name))) as copy:
                if copy.family == socket.AF_INET and copy.getpeername()[1] == port:
                    ends.add(copy.getsockname())
    return ends


def test_a_fork_in_a_callback_in_the_middle_of_a_fetch(site: Site) -> None:
    site.robots(body=FILE)
    pids = []

    def listen(event: Any) -> None:
        if event.name is EventName.FETCH_STARTED and not pids:
            pids.append(fork())
            if pids == [0]:
                pids.append(int(client.refetch(site.url).robots is None))

    with RobotsClient(NAME, at_once=1, on_event=listen) as client:
        found = client.robots(site.url)
        if pids[0] == 0:
            has_both = found.robots is not None and pids[1] == 0
            os._exit(0 if has_both and client._fetch_locks._queues == {} else 1)
        assert ended(pids[0]) == 0
        assert found.robots is not None
    assert len(site.requests) == 3


# Connections


@pytest.fixture(params=["http", "https"])
def kept_alive(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Site]:
    """A server that keeps connections open."""
    if request.param == "http":
        with server.running() as site:
            yield site
        return
    pem, secret = wire.certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    with server.running(wire.server_context(pem, secret)) as site:
        yield site


def test_connections_stay_the_parent_s(kept_alive: Site) -> None:
    site = kept_alive
    site.robots(body=FILE)
    with RobotsClient(NAME) as client:
        client.refetch(site.url)
        of_parent = _connected_to(site.url)

        def work() -> Any:
            gc.collect()
            before = _connected_to(site.url)
            assert client.refetch(site.url).robots is not None
            after = _connected_to(site.url)
            client.close()
            return before, after

        before, after = in_child(work)
        assert (before, len(after)) == (set(), 1)
        assert client.refetch(site.url).robots is not None
        assert _connected_to(site.url) == of_parent
        assert len(of_parent) == 1
    assert site.connections == 2


@pytest.mark.parametrize("kind", KINDS[1:])
def test_connections_of_an_event_loop_stay_the_parent_s(kept_alive: Site, kind: str) -> None:
    site = kept_alive
    site.robots(body=FILE)
    client = AsyncRobotsClient(NAME)

    def work() -> tuple[int, int]:
        before = len(_connected_to(site.url))

        async def again() -> int:
            assert (await client.refetch(site.url)).robots is not None
            open_now = len(_connected_to(site.url))
            await client.aclose()
            return open_now

        return before, anyio.run(again, backend=kind)

    async def main() -> None:
        await client.refetch(site.url)
        of_parent = _connected_to(site.url)
        # From another thread, as the child cannot run a loop within a loop of trio's.
        assert await anyio.to_thread.run_sync(in_child, work) == (0, 1)
        for _ in range(3):
            assert (await client.refetch(site.url)).robots is not None
            assert _connected_to(site.url) == of_parent
        await client.aclose()

    anyio.run(main, backend=kind)
    assert site.connections == 2


def test_a_fork_from_within_an_event_loop(site: Site) -> None:
    site.robots(body=FILE, delay=0.3)

    async def main() -> None:
        async with AsyncRobotsClient(NAME, at_once=1) as client:

            async def again() -> bool:
                return (await client.refetch(site.url)).robots is not None

            fetching = asyncio.create_task(again())
            while not site.requests:
                await asyncio.sleep(0.01)
            assert in_child(lambda: asyncio.run(again())) is True
            assert await fetching

    asyncio.run(main())


def test_a_transport_that_keeps_connections_is_not_used_in_a_child(site: Site) -> None:
    site.robots(body=FILE)
    clock = Clock()

    def fetched(client: RobotsClient) -> bool:
        return client.refetch(site.url).robots is not None

    def refused(client: RobotsClient) -> str:
        assert client.allowed(f"{site.url}/x")
        with pytest.raises(RuntimeError) as caught:
            client.refetch(site.url)
        return str(caught.value)

    with httpx2.HTTPTransport() as own, RobotsClient(NAME, transport=own, clock=clock) as client:
        assert in_child(lambda: fetched(client)), "nobody had used it"
        assert fetched(client)
        assert "belongs to the parent process" in in_child(lambda: refused(client))
        assert fetched(client)
    with RobotsClient(NAME, transport=MockTransport({site.url: FILE})) as client:
        assert fetched(client)
        assert in_child(lambda: fetched(client))


@pytest.mark.parametrize("what", ["transport", "at_once"])
def test_what_belongs_to_an_event_loop_is_not_used_in_a_child(site: Site, what: str) -> None:
    site.robots(body=FILE, headers={"Connection": "close"})

    async def main() -> None:
        given = {"transport": httpx2.AsyncHTTPTransport(), "at_once": anyio.Semaphore(1)}
        async with AsyncRobotsClient(NAME, **{what: given[what]}) as client:  # type: ignore[arg-type]
            assert await client.allowed(site.url)

            async def again() -> str:
                assert await client.allowed(site.url)
                with pytest.raises(RuntimeError) as caught:
                    await client.refetch(site.url)
                await client.aclose()
                return str(caught.value)

            said = in_child(lambda: asyncio.run(again()))
            name = "transport" if what == "transport" else "semaphore"
            assert f"the {name} of this AsyncRobotsClient belongs to" in said
            assert (await client.refetch(site.url)).robots is not None
        await given["transport"].aclose()

    asyncio.run(main())


# SQLite


def test_what_a_child_writes_is_not_lost_when_its_parent_closes(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    cache = SqliteCache(path)
    cache.put("parent", ENTRY)
    goes_on, tells = os.pipe()
    pid = fork()
    if pid == 0:
        try:
            cache.put("before", ENTRY)
            os.read(goes_on, 1)
            cache.put("after", ENTRY)
            os._exit(0)
        finally:
            os._exit(1)
    cache.put("parent again", ENTRY)
    while cache.get("before") is None:
        time.sleep(0.01)
    cache.close()
    os.write(tells, b"x")
    assert ended(pid) == 0
    for each in (goes_on, tells):
        os.close(each)
    with closing(SqliteCache(path)) as cache:
        assert sorted(cache.keys()) == ["after", "before", "parent", "parent again"]


def test_a_fork_waits_for_a_statement(tmp_path: Path) -> None:
    with closing(SqliteCache(tmp_path / "cache.sqlite")) as cache:
        cache.put("a", ENTRY)
        has_it, began = threading.Event(), time.monotonic()

        def work() -> None:
            with cache._lock:
                has_it.set()
                time.sleep(0.5)

        with in_thread(work):
            has_it.wait()
            assert in_child(lambda: cache.get("a")) == ENTRY
        assert time.monotonic() - began > 0.4
        assert cache.get("a") == ENTRY


def test_a_statement_that_does_not_end_costs_the_child_its_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("koster.cache.sqlite._FORK_TIMEOUT", 0.1)
    sites = MockTransport({"https://example.com": FILE})
    events: list[Any] = []
    with (
        closing(SqliteCache(tmp_path / "cache.sqlite")) as cache,
        RobotsClient(NAME, cache=cache, transport=sites, on_event=events.append) as client,
    ):
        cache.put("a", ENTRY)

        def work() -> list[str]:
            with pytest.raises(koster.CacheError, match="was in use when the process forked"):
                cache.get("a")
            assert client.robots("https://example.com").robots is not None
            return [event.name for event in events]

        with held(cache):
            assert EventName.CACHE_FAILED in in_child(work)
        assert cache.get("a") == ENTRY
        assert in_child(lambda: cache.get("a")) == ENTRY


def test_two_threads_that_fork_at_once(tmp_path: Path) -> None:
    with closing(SqliteCache(tmp_path / "cache.sqlite")) as cache:
        cache.put("a", ENTRY)
        found = []

        def work() -> None:
            found.extend(in_child(lambda: cache.get("a")) == ENTRY for _ in range(5))

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert found == [True] * 15
        assert cache.get("a") == ENTRY


# The rest


def test_a_table_in_the_middle_of_a_change_has_its_weight_in_a_child() -> None:
    table: LRUCache[str, int] = LRUCache(5, 100, lambda value: value)
    table.put("a", 10)
    # As after a thread was stopped between two of its steps.
    table._entries["b"] = 20, 20

    def work() -> tuple[int, int]:
        table.put("c", 5)
        return table.weight, len(table)

    assert in_child(work) == (35, 3)


def test_caches_of_reppy(site: Site) -> None:
    from koster.compat.reppy.cache import RobotsCache

    site.robots(body=FILE, delay=1)
    cache = RobotsCache(capacity=10)
    url = f"{site.url}/private"
    with held(cache):
        assert in_child(lambda: cache.allowed(url, "FooBot")) is False
    # While a thread fetches it holds the lock of the site.
    with in_thread(lambda: cache.allowed(url, "FooBot")):
        while len(site.requests) < 2:
            time.sleep(0.01)
        assert in_child(lambda: cache.allowed(url, "FooBot")) is False
    assert cache.allowed(url, "FooBot") is False


def test_who_registers_is_not_kept_alive() -> None:
    gc.collect()
    kept = forks._before, forks._in_parent, forks._in_child
    before = [len(each._methods) for each in kept]
    things: list[Any] = [MemoryCache(), Pacer(), SqliteCache("x"), RobotsClient(NAME)]
    assert [len(each._methods) for each in kept] != before
    things[-1].close()
    things.clear()
    gc.collect()
    assert [len(each._methods) for each in kept] == before


def test_one_that_fails_keeps_none_from_being_called(monkeypatch: pytest.MonkeyPatch) -> None:
    reported = []
    monkeypatch.setattr(sys, "unraisablehook", reported.append)

    class Broken:
        def __init__(self) -> None:
            forks.at_fork(in_child=self.fail)

        def fail(self) -> None:
            raise ValueError("broken")

    broken, table = Broken(), LRUCache[str, int](5, 100, lambda value: value)
    with held(table):
        assert in_child(lambda: (table.get("a"), len(reported))) == (None, 1)
    assert broken is not None


def test_nothing_is_said_when_the_interpreter_ends() -> None:
    code = """
import koster
from koster.cache import SqliteCache
from koster.fetch import MockTransport
clients = [koster.RobotsClient("FooBot/1.0", transport=MockTransport({})) for _ in range(3)]
clients.append(koster.AsyncRobotsClient("FooBot/1.0"))
clients[0].myself = clients
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stderr == ""


def test_without_forks() -> None:
    """As on Windows."""
    code = """
import os
for name in ("fork", "forkpty", "register_at_fork"):
    delattr(os, name)
import koster
from koster.cache import SqliteCache
from koster.fetch import MockTransport
client = koster.RobotsClient("FooBot/1.0", transport=MockTransport({}))
print(client.allowed("https://example.com/x"))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "True\n"


def test_helpers_see_locks() -> None:
    made = types.SimpleNamespace(a=threading.Lock())
    assert locks_of(made) == [], "of koster's objects alone"
    assert len(locks_of(MemoryCache())) == 1
