"""Cache lifetimes, revalidation, and concurrent fetches."""

from __future__ import annotations

import itertools
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

import koster
from koster._moments import LAST
from koster.cache import MemoryCache, SqliteCache
from koster.fetch import (
    AsyncRobotsClient,
    Event,
    EventName,
    MockTransport,
    Outcome,
    Pacer,
    Reply,
    RobotsClient,
)
from koster.fetch._state import site_key
from koster.origins import MAX_URL
from tests.helpers import wire
from tests.helpers.fetching import FILE, KINDS, NAME, PLAIN, Clock, ask, outcome, reason_of
from tests.helpers.server import Site
from tests.helpers.support import sampled


class Timeline:
    """Runs fetches, with changes of the clock and the site between them, on each kind of client."""

    def __init__(self, kind: str, **options: Any) -> None:
        self.kind, self.options = kind, options

    def run(self, *steps: Any) -> list[Outcome]:
        if self.kind == "threads":
            with RobotsClient(NAME, **self.options) as client:
                return [client.robots(step) for step in steps if isinstance(step, str) or step()]

        async def run() -> list[Outcome]:
            async with AsyncRobotsClient(NAME, **self.options) as client:
                return [
                    await client.robots(step) for step in steps if isinstance(step, str) or step()
                ]

        return anyio.run(run, backend=self.kind)


def test_cache_lifetime_through_an_outage_of_thirty_days(kind: str) -> None:
    clock = Clock()
    origin = "https://example.com"
    sites = MockTransport({origin: Reply(200, FILE, {"ETag": '"1"'})})

    def change(reply: Any = None, **time: float) -> Callable[[], None]:
        def step() -> None:
            clock.later(**time)
            if reply is not None:
                sites.replies[origin] = reply  # type: ignore[index]

        return step

    outcomes = Timeline(kind, transport=sites, clock=clock).run(
        origin,
        change(hours=23, minutes=59), origin,  # Fresh.
        change(304, minutes=2), origin,  # Revalidated.
        change(503, days=1), origin,  # Stale.
        *[change(days=5), origin] * 5,
        change(days=4, hours=23), origin,  # Still stale.
        change(days=1), origin,  # Discarded.
        change(Reply(200, b"User-agent: *\nDisallow: /new"), hours=2), origin,  # Reachable again.
    )  # fmt: skip
    assert [reason_of(each) for each in outcomes] == ["file"] * 10 + ["unavailable", "file"]
    assert [each.is_stale for each in outcomes] == [False] * 3 + [True] * 7 + [False] * 2
    assert len(sites.requests) == 11
    assert outcomes[10].allowed("/private", "FooBot")
    assert outcomes[11].robots is not None
    assert outcomes[11].robots.body.endswith(b"/new")
    assert outcomes[11].unreachable_since is None


def test_two_failures_a_month_apart_or_a_wrong_clock_do_not_end_an_outage(kind: str) -> None:
    clock = Clock()
    origin = "https://example.com"
    sites = MockTransport({origin: 503})
    for jump in ({"days": 31}, {"days": 365 * 50}):
        outcomes = Timeline(kind, transport=sites, clock=clock).run(
            origin, lambda jump=jump: clock.later(**jump), origin
        )
        assert [reason_of(each) for each in outcomes] == ["unreachable"] * 2


def test_clock_jumps(kind: str) -> None:
    clock = Clock()
    origin = "https://example.com"
    sites = MockTransport({origin: FILE})
    outcomes = Timeline(kind, transport=sites, clock=clock).run(
        origin,
        lambda: clock.later(days=-400), origin,
        lambda: clock.later(days=4000), origin,
        lambda: clock.later(days=-4000), origin,
    )  # fmt: skip
    assert [reason_of(each) for each in outcomes] == ["file"] * 4
    assert len(sites.requests) == 4


#: Moments at the limits of `datetime`, in UTC and in other time zones.
EXTREME_MOMENTS = [
    moment.replace(tzinfo=timezone(timedelta(hours=hours)))
    for hours in (0, 12, -12)
    for moment in (
        datetime.min,
        datetime.min + timedelta(seconds=1),
        datetime.min + timedelta(days=1),
        datetime.max,
        datetime.max - timedelta(seconds=1),
        datetime.max - timedelta(hours=20),
    )
]


@pytest.mark.parametrize(
    ("moment", "kind"), sampled([*itertools.product(EXTREME_MOMENTS, KINDS)], 4), ids=str
)
def test_clock_at_the_limits_of_datetime(kind: str, moment: datetime) -> None:
    sites = MockTransport({
        "https://file.example": b"User-agent: *\nVisit-time: 0600-0700\nRequest-rate: 1/10s 1800-1900",
        "https://slow.example": Reply(
            200, b"User-agent: *\nCrawl-delay: 1e300", {"Cache-Control": "max-age=999999999999999999"}
        ),
        "https://busy.example": Reply(503, headers={"Retry-After": "999999999999999999"}),
        "https://down.example": [FILE, *[Reply(429, headers={
            "Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT", "Date": "Mon, 01 Jan 0001 00:00:00 GMT",
        })] * 9],
    })  # fmt: skip
    reasons = ["file", "file", "unreachable", "file"]
    for dialect in (koster.RFC9309, koster.EXTENDED2, koster.MK1996):
        for origin, reason in zip(sites.replies, reasons, strict=True):
            sites.requests.clear()
            results = ask(
                kind,
                ("robots", origin), ("refetch", origin), ("refetch", origin),
                ("allowed", f"{origin}/x"), ("decide", f"{origin}/x"),
                ("next_request", origin), ("wait", origin), ("next_request", origin),
                transport=sites, clock=lambda: moment, dialect=dialect, pacer=NoWaitPacer(),
                on_event=lambda _: None,
            )  # fmt: skip
            assert [reason_of(each) for each in results[:3]] == [reason] * 3
            assert results[3] == results[4].allowed == (reason == "file")
            assert all(each.tzinfo is not None for each in (results[5], results[7]))


class NoWaitPacer(Pacer):
    """A pacer that never waits."""

    def turn(self, key: str, rules: koster.Rules, now: datetime) -> float:
        assert super().turn(key, rules, now) >= 0
        self.took(key, 1e300)
        return 0


def test_entries_fetched_in_the_last_hours_of_time_are_cached(
    tmp_path: Path, redis_url: str
) -> None:
    """Caches that serialize the time round the last second up."""
    moment = datetime.max.replace(tzinfo=UTC) - timedelta(hours=20)
    sites = MockTransport({"https://example.com": FILE})
    for cache in (None, tmp_path / "cache.sqlite", redis_url):
        sites.requests.clear()
        for _ in range(2):
            with RobotsClient(NAME, transport=sites, clock=lambda: moment, cache=cache) as client:
                for _ in range(2):
                    assert client.robots("https://example.com").expires == LAST
        assert len(sites.requests) == (2 if cache is None else 1)


def test_conditional_requests_and_304(kind: str, site: Site) -> None:
    clock = Clock()

    def set_304(*_: Any) -> None:
        clock.later(days=2)
        site.robots(304)

    for headers in ({"ETag": '"v1"'}, {"Last-Modified": "Fri, 20 Nov 2026 12:00:00 GMT"}, {}):
        site.requests.clear()
        site.robots(body=FILE, headers=headers)
        outcomes = Timeline(kind, clock=clock).run(site.url, set_304, site.url)
        request_headers = site.requests[1][1]
        assert request_headers.get("If-None-Match") == headers.get("ETag")
        assert request_headers.get("If-Modified-Since") == headers.get("Last-Modified")
        # A 304 to an unconditional request is invalid: the stale copy is used.
        assert outcomes[1].is_stale == (not headers)
        assert outcomes[1].robots is not None
        assert outcomes[1].robots.body == FILE


def test_retry_after_is_obeyed(kind: str) -> None:
    clock = Clock()
    origin = "https://example.com"
    sites = MockTransport({origin: Reply(429, headers={"Retry-After": "600"})})
    Timeline(kind, transport=sites, clock=clock).run(
        origin, lambda: clock.later(minutes=9), origin, lambda: clock.later(minutes=2), origin
    )
    assert len(sites.requests) == 2


def test_refetch_ignores_freshness(kind: str, site: Site) -> None:
    """A site owner who has fixed the file wants to see what crawlers see."""
    site.robots(body=FILE, headers={"ETag": '"1"', "Cache-Control": "max-age=86400"})
    page = f"{site.url}/x"
    first, second, third = ask(kind, ("robots", page), ("refetch", page), ("robots", page))
    assert [path for path, _ in site.requests] == ["/robots.txt"] * 2
    assert site.requests[1][1]["If-None-Match"] == '"1"'
    assert second.fetched > first.fetched
    assert third.fetched == second.fetched
    with pytest.raises(koster.UrlError):
        ask(kind, ("refetch", "mailto:x"))


def test_concurrent_threads_share_one_fetch(site: Site) -> None:
    site.robots(body=FILE, delay=0.2)
    with RobotsClient(NAME) as client:
        threads = [
            threading.Thread(target=client.decide, args=(f"{site.url}/{number}",))
            for number in range(30)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert client._fetch_locks._queues == {}  # type: ignore[attr-defined]
    assert len(site.requests) == 1


@pytest.mark.parametrize("backend", KINDS[1:])
def test_concurrent_tasks_share_one_fetch_after_the_first_is_cancelled(
    site: Site, backend: str
) -> None:
    site.robots(body=FILE, delay=0.2)
    decisions = []

    async def one(client: AsyncRobotsClient, number: int) -> None:
        decisions.append(await client.decide(f"{site.url}/{number}"))

    async def main() -> None:
        async with AsyncRobotsClient(NAME) as client:
            with anyio.move_on_after(0.05):
                await client.decide(f"{site.url}/first")
            async with anyio.create_task_group() as tasks:
                for number in range(30):
                    tasks.start_soon(one, client, number)
            assert client._fetch_locks._locks == {}  # type: ignore[attr-defined]

    anyio.run(main, backend=backend)
    assert len(decisions) == 30
    assert all(each.allowed for each in decisions)
    assert len(site.requests) == 2


def test_at_once_limits_concurrent_fetches(kind: str, names: dict[str, list[list[str]]]) -> None:
    names |= {f"site{number}.test": [["127.0.0.1"]] for number in range(12)}
    active, peak = 0, 0
    lock = threading.Lock()
    pause = threading.Event()

    def script(connection: Any) -> None:
        nonlocal active, peak
        with lock:
            active += 1
            peak = max(peak, active)
        pause.wait(0.05)
        with lock:
            active -= 1
        connection.sendall(PLAIN + b"Content-Length: 33\r\n\r\n" + FILE)

    with wire.running(script) as running:
        urls = [f"http://site{number}.test:{running.port}/" for number in range(12)]
        if kind == "threads":
            with RobotsClient(NAME, at_once=3, timeout=5) as client:
                threads = [threading.Thread(target=client.robots, args=(url,)) for url in urls]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
        else:

            async def main() -> None:
                async with (
                    AsyncRobotsClient(NAME, at_once=3, timeout=5) as client,
                    anyio.create_task_group() as tasks,
                ):
                    for url in urls:
                        tasks.start_soon(client.robots, url)

            anyio.run(main, backend=kind)
        assert running.connections == 12
    assert peak == 3


class Crowd(httpx2.BaseTransport, httpx2.AsyncBaseTransport):
    """Counts the requests in progress; all of them end when ``release`` is set."""

    def __init__(self) -> None:
        self.active = self.peak = 0
        self.release = threading.Event()
        self._lock = threading.Lock()

    def _count(self, change: int) -> None:
        with self._lock:
            self.active += change
            self.peak = max(self.peak, self.active)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self._count(1)
        self.release.wait(20)
        self._count(-1)
        return httpx2.Response(404)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self._count(1)
        while not self.release.is_set():
            await anyio.sleep(0.01)
        self._count(-1)
        return httpx2.Response(404)


def test_hundred_fetches_at_once_are_the_default(kind: str) -> None:
    urls = [f"https://{number}.example/" for number in range(120)]
    crowd = Crowd()
    if kind == "threads":
        with RobotsClient(NAME, transport=crowd) as client, ThreadPoolExecutor(120) as pool:
            done = pool.map(client.robots, urls)
            until = time.monotonic() + 20
            while crowd.active < 100 and time.monotonic() < until:
                time.sleep(0.01)
            # Any others would begin now.
            time.sleep(0.2)
            crowd.release.set()
            assert len(list(done)) == 120
    else:

        async def main() -> None:
            async with (
                AsyncRobotsClient(NAME, transport=crowd) as client,
                anyio.create_task_group() as tasks,
            ):
                for url in urls:
                    tasks.start_soon(client.robots, url)
                await anyio.wait_all_tasks_blocked()
                crowd.release.set()

        anyio.run(main, backend=kind)
    assert crowd.peak == 100


class BrokenCache:
    """A cache that is down."""

    def __init__(self) -> None:
        self.calls = 0

    def get(self, key: str) -> None:
        self.calls += 1
        raise koster.CacheError("down")

    def put(self, key: str, entry: object) -> None:
        self.calls += 1
        raise RuntimeError("down, and of another kind")

    def close(self) -> None:
        raise AssertionError("it is the caller's")


def test_failing_cache_does_not_prevent_decisions(kind: str, site: Site) -> None:
    site.robots(body=FILE)
    events: list[Event] = []
    cache = BrokenCache()
    decisions = ask(
        kind, *[("allowed", f"{site.url}/private")] * 3, ("allowed", "http://127.0.0.1:1/"),
        cache=cache, on_event=events.append,
    )  # fmt: skip
    assert decisions == [False] * 4
    assert len(site.requests) == 1
    assert cache.calls == 1, "a cache that failed is left alone for a while"
    failures = [event for event in events if event.name is EventName.CACHE_FAILED]
    assert failures[0].attributes == {"error.type": "CacheError", "error.message": "down"}


class MoodyCache(MemoryCache):
    """A cache whose methods fail while they are in ``failing``."""

    def __init__(self) -> None:
        super().__init__()
        self.failing: set[str] = set()

    def get(self, key: str) -> Any:
        return 5 if "wrong" in self.failing else self._unless("get", super().get, key)

    def put(self, key: str, entry: Any) -> None:
        self._unless("put", super().put, key, entry)

    def _unless(self, name: str, method: Any, *arguments: Any) -> Any:
        if name in self.failing:
            raise OSError("the disk is full")
        return method(*arguments)


@pytest.mark.parametrize("failing", [{"get"}, {"put"}, {"get", "put"}, {"wrong"}])
def test_failing_cache_is_reported_once_until_it_works(
    failing: set[str], caplog: pytest.LogCaptureFixture
) -> None:
    events: list[Event] = []
    cache = MoodyCache()
    sites = MockTransport({})
    numbers = itertools.count()
    with RobotsClient(NAME, cache=cache, transport=sites, on_event=events.append) as client:

        def outages() -> int:
            for _ in range(5):
                client._state.resilient_cache._paused_until = 0
                assert client.allowed(f"https://{next(numbers)}.example/")
            return [event.name for event in events].count(EventName.CACHE_FAILED)

        assert outages() == 0
        cache.failing = failing
        assert outages() == 1
        cache.failing = set()
        assert outages() == 1
        cache.failing = failing
        assert outages() == 2
    messages = [each.getMessage() for each in caplog.records if each.levelname == "WARNING"]
    assert len(messages) == 2
    assert messages[0].startswith("the cache failed and is not used for a while: ")


def test_sqlite_cache_that_breaks_later_does_not_prevent_decisions(
    kind: str, site: Site, tmp_path: Path
) -> None:
    site.robots(body=FILE)
    path = tmp_path / "cache.sqlite"
    cache = SqliteCache(path)
    assert outcome(kind, site.url, cache=cache).robots is not None
    with sqlite3.connect(path) as other:
        other.execute("DROP TABLE entries")
    other.close()
    events: list[Event] = []
    calls = [("robots", site.url)] * 2
    assert ask(kind, *calls, cache=cache, on_event=events.append)[1].robots is not None
    assert [event.name for event in events].count(EventName.CACHE_FAILED) == 1
    cache.close()


def test_sqlite_cache_persists_and_is_checked(kind: str, site: Site, tmp_path: Path) -> None:
    site.robots(body=FILE, headers={"ETag": '"1"'})
    path = tmp_path / "cache.sqlite"
    first, second = (outcome(kind, site.url, cache=path) for _ in range(2))
    assert len(site.requests) == 1
    assert (first.robots is None) == (second.robots is None) is False
    assert first.hops == second.hops
    path.write_bytes(b"nonsense" * 1000)
    with pytest.raises(koster.CacheError, match=f"cannot open the cache {path}: file is not a dat"):
        outcome(kind, site.url, cache=str(path))
    assert path.read_bytes() == b"nonsense" * 1000


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "truncated": lambda record: record[:-1],
    "changed": lambda record: record.replace(b"Disallow", b"Disalloy"),
    "of another version": lambda record: record.replace(b"koster-entry-1", b"koster-entry-2"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_entries_are_fetched_again(kind: str, tmp_path: Path, damage: str) -> None:
    origin, path = "https://example.com", tmp_path / "cache.sqlite"
    sites = MockTransport({origin: FILE})
    options: Any = {"transport": sites, "cache": path}
    outcome(kind, origin, **options)
    with closing(sqlite3.connect(path)) as raw, raw:
        ((record,),) = raw.execute("SELECT record FROM entries").fetchall()
        assert DAMAGES[damage](record) != record
        raw.execute("UPDATE entries SET record = ?", (DAMAGES[damage](record),))
    for _ in range(2):
        result = outcome(kind, origin, **options)
        assert result.robots is not None
        assert result.robots.body == FILE
    assert len(sites.requests) == 2


def test_clients_share_a_redis_cache(kind: str, site: Site, redis_url: str) -> None:
    site.robots(body=FILE)
    for _ in range(2):
        assert outcome(kind, site.url, cache=redis_url).robots is not None
    assert len(site.requests) == 1


def test_dialects_with_different_status_handling_have_separate_entries(site: Site) -> None:
    site.robots(403)
    cache = MemoryCache()
    reasons = [
        reason_of(outcome("threads", site.url, cache=cache, dialect=dialect))
        for dialect in (koster.RFC9309, koster.MK1996, koster.GOOGLE, koster.MK1994, koster.MK1996)
    ]
    assert reasons == ["unavailable", "forbidden", "unavailable", "forbidden", "forbidden"]
    assert len(site.requests) == 3


def test_entries_of_another_origin_are_not_used() -> None:
    cache = MemoryCache()
    sites = MockTransport(
        {"https://a.example": FILE, "https://b.example": "User-agent: *\nDisallow: /"}
    )
    with RobotsClient(NAME, transport=sites, cache=cache) as client:
        client.robots("https://a.example")
        wrong = cache.get("https://a.example")
        assert wrong is not None
        cache.put("https://b.example", wrong)
        assert not client.allowed("https://b.example/x")


class _Url(str):
    __slots__ = ()


@pytest.mark.parametrize(
    ("url", "is_found"),
    [
        *((f"https://example.com{rest}", True) for rest in ("/", "/x", "", "?x/", "#/", "/a\tb")),
        (_Url("https://example.com/x"), True),
        *(
            (f"https://example.com{rest}", False)
            for rest in ("x", "x/", ":443/", "./", "\t/", " /")
        ),
        *((f"https://example.com{rest}other.example/", False) for rest in ("@", "\\@", ":")),
        *((f"{start}example.com/", False) for start in ("http://", "https:///", " https://", "//")),
        ("https://example.com/".ljust(MAX_URL + 1, "x"), False),
    ],
)
def test_sites_in_memory_are_found_by_scheme_and_authority(url: str, is_found: bool) -> None:
    """The authority of other URLs is read anew: they may be those of another site."""
    with RobotsClient(NAME, transport=MockTransport({"https://example.com": FILE})) as client:
        client.robots("https://example.com/")
        state = client._state
        found = state.cached_site(url)
        assert found is state.cached_site_at(site_key(url))
        assert (found is not None) == is_found
