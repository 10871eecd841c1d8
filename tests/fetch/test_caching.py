"""What is cached, for how long, and who fetches."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import anyio
import pytest
import wire
from fetching import FILE, KINDS, NAME, PLAIN, Clock, ask, outcome, reason_of
from server import Site

import koster
from koster._moments import LAST
from koster.cache import MemoryCache
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

pytestmark = pytest.mark.any_mode


class Steps:
    """Questions with changes of the clock and the site between them, for each kind of client."""

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


def test_a_day_an_outage_and_thirty_days(kind: str) -> None:
    clock = Clock()
    origin = "https://example.com"
    sites = MockTransport({origin: Reply(200, FILE, {"ETag": '"1"'})})

    def change(reply: Any = None, **time: float) -> Callable[[], None]:
        def step() -> None:
            clock.later(**time)
            if reply is not None:
                sites.replies[origin] = reply

        return step

    found = Steps(kind, transport=sites, clock=clock).run(
        origin,
        change(hours=23, minutes=59), origin,  # Fresh.
        change(304, minutes=2), origin,  # Confirmed.
        change(503, days=1), origin,  # Stale.
        *[change(days=5), origin] * 5,
        change(days=4, hours=23), origin,  # Still stale.
        change(days=1), origin,  # Given up.
        change(Reply(200, b"User-agent: *\nDisallow: /new"), hours=2), origin,  # Back.
    )  # fmt: skip
    assert [reason_of(each) for each in found] == ["file"] * 10 + ["unavailable", "file"]
    assert [each.is_stale for each in found] == [False] * 3 + [True] * 7 + [False] * 2
    assert len(sites.requests) == 11
    assert found[10].allowed("/private", "FooBot")
    assert found[11].robots is not None
    assert found[11].robots.body.endswith(b"/new")
    assert found[11].unreachable_since is None


def test_two_tries_a_month_apart_or_a_wrong_clock_are_no_thirty_days(kind: str) -> None:
    clock = Clock()
    origin = "https://example.com"
    sites = MockTransport({origin: 503})
    for jump in ({"days": 31}, {"days": 365 * 50}):
        found = Steps(kind, transport=sites, clock=clock).run(
            origin, lambda jump=jump: clock.later(**jump), origin
        )
        assert [reason_of(each) for each in found] == ["unreachable"] * 2


def test_a_clock_that_jumps(kind: str) -> None:
    clock = Clock()
    origin = "https://example.com"
    sites = MockTransport({origin: FILE})
    found = Steps(kind, transport=sites, clock=clock).run(
        origin,
        lambda: clock.later(days=-400), origin,
        lambda: clock.later(days=4000), origin,
        lambda: clock.later(days=-4000), origin,
    )  # fmt: skip
    assert [reason_of(each) for each in found] == ["file"] * 4
    assert len(sites.requests) == 4


#: Moments at the ends of what a `datetime` can hold, in UTC and beside it.
ENDS = [
    moment.replace(tzinfo=timezone(timedelta(hours=hours)))
    for hours in (0, 12, -12)
    for moment in (
        *(datetime.min, datetime.min + timedelta(seconds=1), datetime.min + timedelta(days=1)),
        *(datetime.max, datetime.max - timedelta(seconds=1), datetime.max - timedelta(hours=20)),
    )
]


@pytest.mark.parametrize("moment", ENDS, ids=str)
def test_a_clock_at_the_end_of_time(kind: str, moment: datetime) -> None:
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
    words = ["file", "file", "unreachable", "file"]
    for dialect in (koster.RFC9309, koster.EXTENDED2, koster.MK1996):
        for origin, word in zip(sites.replies, words, strict=True):
            sites.requests.clear()
            found = ask(
                kind,
                *(("robots", origin), ("refetch", origin), ("refetch", origin)),
                *(("allowed", f"{origin}/x"), ("decide", f"{origin}/x")),
                *(("next_request", origin), ("wait", origin), ("next_request", origin)),
                transport=sites, clock=lambda: moment, dialect=dialect, pacer=Quick(),
                on_event=lambda _: None,
            )  # fmt: skip
            assert [reason_of(each) for each in found[:3]] == [word] * 3
            assert found[3] == found[4].allowed == (word == "file")
            assert all(each.tzinfo is not None for each in (found[5], found[7]))


class Quick(Pacer):
    """A pacer that never makes a test wait."""

    def turn(self, key: str, rules: koster.Rules, now: datetime) -> float:
        assert super().turn(key, rules, now) >= 0
        self.took(key, 1e300)
        return 0


def test_what_is_fetched_in_the_last_hours_is_kept(tmp_path: Path, redis_url: str) -> None:
    """Also by caches that write the time down, in which the last second is rounded up."""
    moment = datetime.max.replace(tzinfo=UTC) - timedelta(hours=20)
    sites = MockTransport({"https://example.com": FILE})
    for cache in (None, tmp_path / "cache.sqlite", redis_url):
        sites.requests.clear()
        for _ in range(2):
            with RobotsClient(NAME, transport=sites, clock=lambda: moment, cache=cache) as client:
                for _ in range(2):
                    assert client.robots("https://example.com").expires == LAST
        assert len(sites.requests) == (2 if cache is None else 1)


def test_validators_are_sent_and_304_is_understood(kind: str, site: Site) -> None:
    clock = Clock()

    def changed(*_: Any) -> None:
        clock.later(days=2)
        site.robots(304)

    for headers in ({"ETag": '"v1"'}, {"Last-Modified": "Fri, 20 Nov 2026 12:00:00 GMT"}, {}):
        site.requests.clear()
        site.robots(body=FILE, headers=headers)
        found = Steps(kind, clock=clock).run(site.url, changed, site.url)
        sent = site.requests[1][1]
        assert sent.get("If-None-Match") == headers.get("ETag")
        assert sent.get("If-Modified-Since") == headers.get("Last-Modified")
        # 304 without having been asked is no answer: the old copy holds on.
        assert found[1].is_stale == (not headers)
        assert found[1].robots is not None
        assert found[1].robots.body == FILE


def test_retry_after_is_kept_to(kind: str) -> None:
    clock = Clock()
    origin = "https://example.com"
    sites = MockTransport({origin: Reply(429, headers={"Retry-After": "600"})})
    Steps(kind, transport=sites, clock=clock).run(
        origin, lambda: clock.later(minutes=9), origin, lambda: clock.later(minutes=2), origin
    )
    assert len(sites.requests) == 2


def test_a_site_may_be_asked_again_before_its_time(kind: str, site: Site) -> None:
    """Its owner has fixed the file, and wants to see what crawlers see."""
    site.robots(body=FILE, headers={"ETag": '"1"', "Cache-Control": "max-age=86400"})
    page = f"{site.url}/x"
    first, again, kept = ask(kind, ("robots", page), ("refetch", page), ("robots", page))
    assert [path for path, _ in site.requests] == ["/robots.txt"] * 2
    assert site.requests[1][1]["If-None-Match"] == '"1"'
    assert again.fetched > first.fetched
    assert kept.fetched == again.fetched
    with pytest.raises(koster.UrlError):
        ask(kind, ("refetch", "mailto:x"))


def test_one_fetch_however_many_ask(site: Site) -> None:
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
        assert client._fetch_locks._queues == {}
    assert len(site.requests) == 1


@pytest.mark.parametrize("backend", KINDS[1:])
def test_one_fetch_however_many_tasks_ask_even_if_the_first_gives_up(
    site: Site, backend: str
) -> None:
    site.robots(body=FILE, delay=0.2)
    decided = []

    async def one(client: AsyncRobotsClient, number: int) -> None:
        decided.append(await client.decide(f"{site.url}/{number}"))

    async def main() -> None:
        async with AsyncRobotsClient(NAME) as client:
            with anyio.move_on_after(0.05):
                await client.decide(f"{site.url}/first")
            async with anyio.create_task_group() as tasks:
                for number in range(30):
                    tasks.start_soon(one, client, number)
            assert client._fetch_locks._locks == {}

    anyio.run(main, backend=backend)
    assert len(decided) == 30
    assert all(each.allowed for each in decided)
    assert len(site.requests) == 2


def test_no_more_fetches_at_once_than_are_allowed(
    kind: str, names: dict[str, list[list[str]]]
) -> None:
    names |= {f"site{number}.test": [["127.0.0.1"]] for number in range(12)}
    now, most = 0, 0
    lock = threading.Lock()
    pause = threading.Event()

    def script(connection: Any) -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        pause.wait(0.05)
        with lock:
            now -= 1
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
    assert most == 3


class Broken:
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


def test_a_cache_that_is_down_stops_no_decision(kind: str, site: Site) -> None:
    site.robots(body=FILE)
    events: list[Event] = []
    cache = Broken()
    decided = ask(
        kind, *[("allowed", f"{site.url}/private")] * 3, ("allowed", "http://127.0.0.1:1/"),
        cache=cache, on_event=events.append,
    )  # fmt: skip
    assert decided == [False] * 4
    assert len(site.requests) == 1
    assert cache.calls == 1, "a cache that failed is left alone for a while"
    failed = [event for event in events if event.name is EventName.CACHE_FAILED]
    assert failed[0].attributes == {"error.type": "CacheError", "error.message": "down"}


def test_a_file_keeps_what_was_fetched(kind: str, site: Site, tmp_path: Path) -> None:
    site.robots(body=FILE, headers={"ETag": '"1"'})
    path = tmp_path / "cache.sqlite"
    first, second = (outcome(kind, site.url, cache=path) for _ in range(2))
    assert len(site.requests) == 1
    assert (first.robots is None) == (second.robots is None) is False
    assert first.hops == second.hops
    path.write_bytes(b"nonsense" * 1000)
    assert outcome(kind, site.url, cache=str(path)).robots is not None
    assert len(site.requests) == 2


def test_a_redis_that_several_share(kind: str, site: Site, redis_url: str) -> None:
    site.robots(body=FILE)
    for _ in range(2):
        assert outcome(kind, site.url, cache=redis_url).robots is not None
    assert len(site.requests) == 1


def test_dialects_that_read_statuses_otherwise_have_entries_of_their_own(site: Site) -> None:
    site.robots(403)
    cache = MemoryCache()
    words = [
        reason_of(outcome("threads", site.url, cache=cache, dialect=dialect))
        for dialect in (koster.RFC9309, koster.MK1996, koster.GOOGLE, koster.MK1994, koster.MK1996)
    ]
    assert words == ["unavailable", "forbidden", "unavailable", "forbidden", "forbidden"]
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
