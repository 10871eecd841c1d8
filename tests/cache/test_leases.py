"""Processes that share a cache fetch each robots.txt once."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest
import redis

import koster
from koster.cache import MemoryCache, RedisCache, SqliteCache
from koster.cache._leases import Leases
from koster.fetch import AsyncRobotsClient, RobotsClient
from tests.helpers.entries import ENTRY
from tests.helpers.fetching import KINDS, NAME, ask
from tests.helpers.server import Site

#: Seconds of a lease in some of these tests.
SHORT = 0.5
FORK = multiprocessing.get_context("fork")


@pytest.fixture
def _short_leases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("koster.cache._leases._LEASE_SECONDS", SHORT)


@pytest.fixture(params=["sqlite", "redis"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "cache.sqlite")
    url: str = request.getfixturevalue("redis_url")
    with redis.Redis.from_url(url) as client:
        client.flushdb()
    return url


@pytest.fixture
def cache(location: str) -> Iterator[Any]:
    make: Any = RedisCache if "://" in location else SqliteCache
    with closing(make(location)) as cache:
        yield cache


def _ask(kind: str, location: str, url: str, answers: Any) -> None:
    (allowed,) = ask(kind, ("allowed", f"{url}/x"), cache=location)
    answers.put(allowed)


def start(kind: str, location: str, url: str, number: int) -> tuple[list[Any], Any]:
    answers = FORK.Queue()
    processes = [
        FORK.Process(target=_ask, args=(kind, location, url, answers)) for _ in range(number)
    ]
    for process in processes:
        process.start()
    return processes, answers


def wait_until(condition: Callable[[], object]) -> None:
    until = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.005)


@pytest.mark.parametrize("kind", ["threads", "asyncio"])
def test_four_processes_fetch_once(kind: str, location: str, site: Site) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /x", delay=0.2)
    processes, answers = start(kind, location, site.url, 4)
    assert [answers.get(timeout=10) for _ in processes] == [False] * 4
    for process in processes:
        process.join()
    assert len(site.requests) == 1


@pytest.mark.usefixtures("_short_leases")
def test_a_killed_process_holds_nobody_up(location: str, site: Site) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /x", delay=3)
    (first,), _ = start("threads", location, site.url, 1)
    wait_until(lambda: site.requests)
    site.robots(body=b"User-agent: *\nDisallow: /x")
    others, answers = start("threads", location, site.url, 3)
    os.kill(first.pid, signal.SIGKILL)
    killed = time.monotonic()
    assert [answers.get(timeout=10) for _ in others] == [False] * 3
    assert time.monotonic() - killed < 15
    assert len(site.requests) == 2
    for process in (first, *others):
        process.join()


def test_lease_belongs_to_one_owner_until_it_ends(cache: Any) -> None:
    assert cache.lease("a", "one", 0.2)
    assert cache.lease("a", "one", 0.2)
    assert not cache.lease("a", "two", 0.2)
    assert cache.lease("b", "two", 0.2)
    cache.release("a", "two")
    assert not cache.lease("a", "two", 0.2)
    cache.release("a", "one")
    assert cache.lease("a", "two", 0.05)
    time.sleep(0.06)
    assert cache.lease("a", "one", 60)
    assert cache.get("a") is None
    cache.put("a", ENTRY)
    assert not cache.lease("a", "two", 0.2)
    assert cache.get("a") == ENTRY
    if isinstance(cache, SqliteCache):
        assert list(cache.keys()) == ["a"]


def test_lease_ends_for_others(cache: Any) -> None:
    one, two, three = (Leases(cache).request("a") for _ in range(3))
    assert one.take()
    assert not two.take()
    one.end()
    assert not one.take()
    assert two.take()
    two.end_soon()
    wait_until(three.take)


class CountingCache(MemoryCache):
    """Notes the calls for leases."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[str, ...]] = []

    def lease(self, key: str, owner: str, seconds: float) -> bool:
        assert seconds == SHORT
        self.calls.append(("lease", key, owner))
        return True

    def release(self, key: str, owner: str) -> None:
        self.calls.append(("release", key, owner))


@pytest.mark.usefixtures("_short_leases")
def test_lease_is_renewed_until_it_is_ended() -> None:
    cache = CountingCache()
    leases = Leases(cache)
    lease = leases.request("a")
    lease.end()
    assert cache.calls == []
    lease = leases.request("a")
    assert lease.take()
    wait_until(lambda: len(cache.calls) == 3)
    lease.end()
    number = len(cache.calls)
    assert not lease.take()
    wait_until(lambda: not leases._has_thread)
    assert len(cache.calls) == number
    assert {owner for _, _, owner in cache.calls} == {cache.calls[0][2]}
    assert [name for name, _, _ in cache.calls] == ["lease"] * (number - 1) + ["release"]
    # There is a thread again when one is needed.
    assert leases.request("b").take()
    assert leases._has_thread


@pytest.mark.usefixtures("_short_leases")
@pytest.mark.parametrize("kind", KINDS)
def test_lease_of_a_process_that_never_ends_is_outwaited(kind: str, cache: Any, site: Site) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /x")
    assert cache.lease(site.url, "another", 15)
    began = time.monotonic()
    assert ask(kind, ("allowed", f"{site.url}/x"), cache=cache, timeout=0.2) == [False]
    assert SHORT < time.monotonic() - began < 5
    assert len(site.requests) == 1
    assert not cache.lease(site.url, "third", 1)


def test_invalid_leases_hold_nobody_up(tmp_path: Path, redis_url: str) -> None:
    with closing(RedisCache(redis_url, "invalid:")) as cache:
        client = cache._server.client
        client.set("invalid:lease:a", "x")
        client.set("invalid:lease:b", "x", ex=3600)
        client.lpush("invalid:lease:c", "x")
        assert cache.lease("a", "one", 1)
        assert not cache.lease("a", "two", 1)
        assert cache.lease("b", "one", 1)
        assert cache.lease("c", "one", 1)
    with closing(SqliteCache(tmp_path / "x")) as other:
        other.check()
        with sqlite3.connect(tmp_path / "x") as connection:
            for key, record in (("a", "x"), ("b", b"x"), ("c", b"9999999999999999x"), ("d", 5)):
                connection.execute("INSERT INTO entries VALUES (?, ?)", (f"lease {key}", record))
        connection.close()
        for key in "abcd":
            assert other.lease(key, "one", 1)
            assert not other.lease(key, "two", 1)


def test_closing_the_client_ends_the_wait(cache: Any, site: Site) -> None:
    assert cache.lease(site.url, "another", 15)
    client = RobotsClient(NAME, cache=cache)
    timer = threading.Timer(0.1, client.close)
    timer.start()
    began = time.monotonic()
    with pytest.raises(RuntimeError, match="closed"):
        client.allowed(f"{site.url}/x")
    assert time.monotonic() - began < 2
    timer.join()


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_waiting_blocks_no_event_loop(backend: str, cache: Any, site: Site) -> None:
    assert cache.lease(site.url, "another", 15)

    async def work() -> None:
        client = AsyncRobotsClient(NAME, cache=cache)
        began = time.monotonic()
        with anyio.move_on_after(0.2) as scope:
            await client.allowed(f"{site.url}/x")
        assert scope.cancelled_caught
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(close_after, client, 0.2)
            with pytest.raises(RuntimeError, match="closed"):
                await client.allowed(f"{site.url}/x")
        assert time.monotonic() - began < 2

    async def close_after(client: AsyncRobotsClient, seconds: float) -> None:
        await anyio.sleep(seconds)
        await client.aclose()

    anyio.run(work, backend=backend)
    assert site.requests == []


def test_cancelled_fetch_ends_its_lease(cache: Any, site: Site) -> None:
    site.robots(body=b"", delay=0.5)

    async def work() -> None:
        async with AsyncRobotsClient(NAME, cache=cache) as client:
            with anyio.move_on_after(0.2):
                await client.allowed(f"{site.url}/x")

    anyio.run(work)
    assert len(site.requests) == 1
    wait_until(lambda: cache.lease(site.url, "another", 1))


class BrokenLeases(MemoryCache):
    def lease(self, key: str, owner: str, seconds: float) -> bool:
        raise OSError("no leases today")

    def release(self, key: str, owner: str) -> None:
        raise OSError("no leases today")


@pytest.mark.parametrize("kind", KINDS)
def test_cache_whose_leases_fail_holds_nobody_up(kind: str, site: Site) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /x")
    events: list[koster.fetch.Event] = []
    question = ("allowed", f"{site.url}/x")
    assert ask(kind, question, cache=BrokenLeases(), on_event=events.append) == [False]
    assert [event.name for event in events].count(koster.fetch.EventName.CACHE_FAILED) == 1
