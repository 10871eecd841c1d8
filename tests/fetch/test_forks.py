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
from tests.helpers import server, wire
from tests.helpers.entries import ENTRY
from tests.helpers.fetching import FILE, HTTP_CLIENTS, KINDS, NAME, Clock
from tests.helpers.forking import fork, in_child, wait_for
from tests.helpers.server import Site
from tests.helpers.support import EVERYTHING, sampled

pytestmark = [
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


def locks_of(obj: Any) -> list[Any]:
    """Return the locks and semaphores of a koster object and of everything it contains."""
    locks: dict[int, Any] = {}
    # With the objects themselves: otherwise a new one could get the identity of one that is gone.
    seen: dict[int, Any] = {}
    modules = ("koster", "httpcore2", "redis", "threading")

    def visit(each: Any) -> None:
        if id(each) in seen:
            return
        seen[id(each)] = each
        if isinstance(each, (*LOCKS, SEMAPHORE)):
            locks[id(each)] = each
        elif isinstance(each, dict):
            for value in list(each.values()):
                visit(value)
        elif isinstance(each, (list, tuple, set)):
            for value in list(each):
                visit(value)
        elif type(each).__module__.split(".")[0] in modules and not isinstance(each, type):
            visit(getattr(each, "__dict__", {}))

    visit(obj)
    return list(locks.values())


@contextmanager
def holding_locks(*objects: Any) -> Iterator[int]:
    """Hold all locks of the objects in another thread; yield the number of locks."""
    locks = [lock for obj in objects for lock in locks_of(obj)]
    acquired, stop = threading.Event(), threading.Event()

    def hold() -> None:
        acquired_locks = []
        for lock in locks:
            while lock.acquire(blocking=False):
                acquired_locks.append(lock)
                if isinstance(lock, LOCKS):
                    break
        acquired.set()
        stop.wait(30)
        for lock in acquired_locks:
            lock.release()

    with in_thread(hold):
        try:
            assert acquired.wait(5)
            yield len(locks)
        finally:
            stop.set()


# Forks while a thread fetches


def test_child_fetches_while_a_parent_thread_fetches(site: Site) -> None:
    site.robots(body=FILE, delay=0.5)
    with RobotsClient(NAME, at_once=1, timeout=5) as client, server.running() as other:
        other.robots(body=FILE)
        results: list[Any] = []
        with in_thread(lambda: results.append(client.refetch(site.url))):
            while not site.requests:
                time.sleep(0.01)

            def work() -> list[bool]:
                urls = (site.url, other.url)
                return [client.refetch(url).robots is not None for url in urls]

            assert in_child(work) == [True, True]
        assert results[0].robots is not None
        assert len(site.requests) == 2
        assert client.robots(other.url).robots is not None


def test_multiprocessing_fork(site: Site) -> None:
    site.robots(body=FILE, delay=0.4)
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


def test_fork_while_every_client_lock_is_held(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.robots(body=b"User-agent: *\nComment: x")
    pacer, clock, events = Pacer(Pace(0, 0.01)), Clock(), []  # type: ignore[var-annotated]
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
        with holding_locks(client) as number:
            # The client and its two tables of locks, four tables, the cache, the pacer, and the
            # transport; they contain a semaphore, an event and more.
            assert number >= 12
            in_child(work)
            in_child(client.close)
        work()


@pytest.mark.parametrize(
    "make", sampled([redis.BlockingConnectionPool, redis.ConnectionPool, None], 3)
)
def test_fork_while_every_redis_pool_lock_is_held(redis_url: str, make: Any) -> None:
    """Locks of the Redis client that koster creates for a URL, and of one that the caller passes."""
    before = _connected_to(redis_url)
    server = redis_url if make is None else redis.Redis(connection_pool=make.from_url(redis_url))
    cache = RedisCache(server, prefix="fork:")
    fleet = FleetPacer(server, prefix=f"fork {make}:pace:")
    rules = koster.parse("User-agent: *\nCrawl-delay: 0.01").rules_for("FooBot")

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

    parent_connections = work() - before
    assert len(parent_connections) == (2 if make is None else 1)
    with holding_locks(cache, fleet) as number:
        assert number >= 6
        child_connections = in_child(work)
        if make is None:
            assert not child_connections & parent_connections
        in_child(work_and_close)
    assert work() - before == parent_connections
    assert not fleet._is_down
    cache.close()
    fleet._redis.connection_pool.disconnect()


def _connected_to(url: str) -> set[tuple[str, int]]:
    """Return the local addresses of this process's connections to a URL."""
    port = httpx2.URL(url.replace("redis:", "http:")).port
    addresses = set()
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            if not os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                continue
            with socket.socket(fileno=os.dup(int(name))) as copy:
                if copy.family == socket.AF_INET and copy.getpeername()[1] == port:
                    addresses.add(copy.getsockname())
    return addresses


def test_fork_in_a_callback_during_a_fetch(site: Site) -> None:
    site.robots(body=FILE)
    pids: list[int] = []

    def on_event(event: Any) -> None:
        if event.name is EventName.FETCH_STARTED and not pids:
            pids.append(fork())
            if pids == [0]:
                pids.append(int(client.refetch(site.url).robots is None))

    with RobotsClient(NAME, at_once=1, on_event=on_event) as client:
        result = client.robots(site.url)
        if pids[0] == 0:
            has_both = result.robots is not None and pids[1] == 0
            os._exit(0 if has_both and client._fetch_locks._queues == {} else 1)  # type: ignore[attr-defined]
        assert wait_for(pids[0]) == 0
        assert result.robots is not None
    assert len(site.requests) == 3


# Connections


@pytest.fixture(params=["http", "https"])
def keep_alive_site(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Site]:
    """A server with keep-alive connections, over HTTP and HTTPS."""
    if request.param == "http":
        with server.running() as site:
            yield site
        return
    pem, secret = wire.certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    with server.running(wire.server_context(pem, secret)) as site:
        yield site


def test_child_does_not_use_the_parents_connections(keep_alive_site: Site) -> None:
    site = keep_alive_site
    site.robots(body=FILE)
    with RobotsClient(NAME) as client:
        client.refetch(site.url)
        parent_connections = _connected_to(site.url)

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
        assert _connected_to(site.url) == parent_connections
        assert len(parent_connections) == 1
    assert site.connections == 2


@pytest.mark.parametrize("kind", KINDS[1:])
def test_child_does_not_use_the_connections_of_the_parents_event_loop(
    keep_alive_site: Site, kind: str
) -> None:
    site = keep_alive_site
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
        parent_connections = _connected_to(site.url)
        # In another thread, because the child cannot run a loop inside a trio loop.
        assert await anyio.to_thread.run_sync(in_child, work) == (0, 1)
        for _ in range(3):
            assert (await client.refetch(site.url)).robots is not None
            assert _connected_to(site.url) == parent_connections
        await client.aclose()

    anyio.run(main, backend=kind)
    assert site.connections == 2


def test_fork_within_an_event_loop(site: Site) -> None:
    site.robots(body=FILE, delay=0.3)

    async def main() -> None:
        async with AsyncRobotsClient(NAME, at_once=1) as client:

            async def again() -> bool:
                return (await client.refetch(site.url)).robots is not None

            task = asyncio.create_task(again())
            while not site.requests:
                await asyncio.sleep(0.01)
            assert in_child(lambda: asyncio.run(again())) is True
            assert await task

    asyncio.run(main())


def test_transport_with_connections_is_rejected_in_a_child(site: Site) -> None:
    site.robots(body=FILE)
    clock = Clock()

    def can_fetch(client: RobotsClient) -> bool:
        return client.refetch(site.url).robots is not None

    def error_message(client: RobotsClient) -> str:
        assert client.allowed(f"{site.url}/x")
        with pytest.raises(RuntimeError) as caught:
            client.refetch(site.url)
        return str(caught.value)

    with httpx2.HTTPTransport() as own, RobotsClient(NAME, transport=own, clock=clock) as client:
        assert in_child(lambda: can_fetch(client)), "the transport is unused so far"
        assert can_fetch(client)
        assert "belongs to the parent process" in in_child(lambda: error_message(client))
        assert can_fetch(client)
    with RobotsClient(NAME, transport=MockTransport({site.url: FILE})) as client:
        assert can_fetch(client)
        assert in_child(lambda: can_fetch(client))


@pytest.mark.parametrize("library", HTTP_CLIENTS)
def test_http_client_is_rejected_in_a_child(site: Site, library: str) -> None:
    site.robots(body=FILE)

    def error_message(client: RobotsClient) -> str:
        assert client.allowed(f"{site.url}/x")
        with pytest.raises(RuntimeError) as caught:
            client.refetch(site.url)
        return str(caught.value)

    with HTTP_CLIENTS[library]() as http, RobotsClient(NAME, http=http) as client:
        assert client.robots(site.url).robots is not None
        assert in_child(lambda: error_message(client)) == (
            "the http client of this RobotsClient belongs to the parent process: "
            "create a new client with a new http client"
        )
        assert client.refetch(site.url).robots is not None


@pytest.mark.parametrize("what", ["transport", "at_once"])
def test_event_loop_resources_are_rejected_in_a_child(site: Site, what: str) -> None:
    site.robots(body=FILE, headers={"Connection": "close"})

    async def main() -> None:
        resources = {"transport": httpx2.AsyncHTTPTransport(), "at_once": anyio.Semaphore(1)}
        async with AsyncRobotsClient(NAME, **{what: resources[what]}) as client:  # type: ignore[arg-type]
            assert await client.allowed(site.url)

            async def again() -> str:
                assert await client.allowed(site.url)
                with pytest.raises(RuntimeError) as caught:
                    await client.refetch(site.url)
                await client.aclose()
                return str(caught.value)

            message = in_child(lambda: asyncio.run(again()))
            name = "transport" if what == "transport" else "semaphore"
            assert f"the {name} of this AsyncRobotsClient belongs to" in message
            assert (await client.refetch(site.url)).robots is not None
        await resources["transport"].aclose()  # type: ignore[attr-defined]

    asyncio.run(main())


# SQLite


def test_child_writes_survive_the_parent_closing_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    cache = SqliteCache(path)
    cache.put("parent", ENTRY)
    read_end, write_end = os.pipe()
    pid = fork()
    if pid == 0:
        try:
            cache.put("before", ENTRY)
            os.read(read_end, 1)
            cache.put("after", ENTRY)
            os._exit(0)
        finally:
            os._exit(1)
    cache.put("parent again", ENTRY)
    while cache.get("before") is None:
        time.sleep(0.01)
    cache.close()
    os.write(write_end, b"x")
    assert wait_for(pid) == 0
    for each in (read_end, write_end):
        os.close(each)
    with closing(SqliteCache(path)) as cache:
        assert sorted(cache.keys()) == ["after", "before", "parent", "parent again"]


def test_fork_waits_for_a_running_sqlite_statement(tmp_path: Path) -> None:
    with closing(SqliteCache(tmp_path / "cache.sqlite")) as cache:
        cache.put("a", ENTRY)
        lock_acquired, start = threading.Event(), time.monotonic()

        def work() -> None:
            with cache._lock:
                lock_acquired.set()
                time.sleep(0.5)

        with in_thread(work):
            lock_acquired.wait()
            assert in_child(lambda: cache.get("a")) == ENTRY
        assert time.monotonic() - start > 0.4
        assert cache.get("a") == ENTRY


def test_endless_sqlite_statement_disables_the_cache_in_the_child(
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

        with holding_locks(cache):
            assert EventName.CACHE_FAILED in in_child(work)
        assert cache.get("a") == ENTRY
        assert in_child(lambda: cache.get("a")) == ENTRY


def test_threads_fork_concurrently(tmp_path: Path) -> None:
    with closing(SqliteCache(tmp_path / "cache.sqlite")) as cache:
        cache.put("a", ENTRY)
        results: list[Any] = []
        times = 5 if EVERYTHING else 2

        def work() -> None:
            results.extend(in_child(lambda: cache.get("a")) == ENTRY for _ in range(times))

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert results == [True] * 3 * times
        assert cache.get("a") == ENTRY


# Other objects


def test_lru_cache_recomputes_its_weight_in_a_child() -> None:
    table: LRUCache[str, int] = LRUCache(5, 100, lambda value: value)
    table.put("a", 10)
    # The state after a thread stopped between two steps.
    table._entries["b"] = 20, 20

    def work() -> tuple[int, int]:
        table.put("c", 5)
        return table.weight, len(table)

    assert in_child(work) == (35, 3)


def test_reppy_cache(site: Site) -> None:
    from koster.compat.reppy.cache import RobotsCache

    site.robots(body=FILE, delay=0.4)
    cache = RobotsCache(capacity=10)
    url = f"{site.url}/private"
    with holding_locks(cache):
        assert in_child(lambda: cache.allowed(url, "FooBot")) is False
    # A fetching thread holds the lock of the site.
    with in_thread(lambda: cache.allowed(url, "FooBot")):
        while len(site.requests) < 2:
            time.sleep(0.01)
        assert in_child(lambda: cache.allowed(url, "FooBot")) is False
    assert cache.allowed(url, "FooBot") is False


def test_fork_hooks_do_not_keep_objects_alive(tmp_path: Path) -> None:
    gc.collect()
    registries = forks._before, forks._in_parent, forks._in_child
    before = [len(each._methods) for each in registries]
    objects: list[Any] = [MemoryCache(), Pacer(), SqliteCache(tmp_path / "x"), RobotsClient(NAME)]
    assert [len(each._methods) for each in registries] != before
    objects[-1].close()
    objects.clear()
    gc.collect()
    assert [len(each._methods) for each in registries] == before


def test_failing_fork_hook_does_not_prevent_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    unraisable: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)

    class FailingHook:
        def __init__(self) -> None:
            forks.at_fork(in_child=self.fail)

        def fail(self) -> None:
            raise ValueError("broken")

    failing_hook, table = FailingHook(), LRUCache[str, int](5, 100, lambda value: value)
    with holding_locks(table):
        assert in_child(lambda: (table.get("a"), len(unraisable))) == (None, 1)
    assert failing_hook is not None


def test_interpreter_exit_prints_nothing() -> None:
    code = """
import koster
from koster.cache import SqliteCache
from koster.fetch import MockTransport
clients = [koster.RobotsClient("FooBot/1.0", transport=MockTransport({})) for _ in range(3)]
clients.append(koster.AsyncRobotsClient("FooBot/1.0"))
clients[0].myself = clients
"""
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert process.stderr == ""


def test_systems_without_fork() -> None:
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
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert process.stdout == "True\n"


def test_locks_of_finds_locks() -> None:
    namespace = types.SimpleNamespace(a=threading.Lock())
    assert locks_of(namespace) == [], "only locks of koster objects"
    assert len(locks_of(MemoryCache())) == 1
