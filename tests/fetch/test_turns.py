"""One call for a crawler's loop, answers from the cache only, and fetching many sites at once."""

from __future__ import annotations

import importlib.util
import itertools
import logging
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import anyio
import pytest

import koster
from koster.cache import MemoryCache
from koster.fetch import AsyncRobotsClient, Event, EventName, MockTransport, Pacer, RobotsClient
from koster.politeness import Pace
from tests.helpers import server
from tests.helpers.fetching import FILE, NAME, Clock, call, call_all
from tests.helpers.server import Answer, Site
from tests.helpers.support import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

URL = "https://example.com/page"

#: The method that closes a client.
CLOSE = {"threads": "close", "asyncio": "aclose", "trio": "aclose"}


def turns(kind: str, urls: list[str], seconds: float = 0, **options: Any) -> list[Any]:
    """Take a turn for each URL; the block takes some seconds. Return the turns."""
    found = []
    if kind == "threads":
        with RobotsClient(NAME, **options) as client:
            for url in urls:
                with client.turn(url) as turn:
                    time.sleep(seconds)
                found.append(turn)
        return found

    async def main() -> None:
        async with AsyncRobotsClient(NAME, **options) as client:
            for url in urls:
                async with client.turn(url) as turn:
                    await anyio.sleep(seconds)
                found.append(turn)

    anyio.run(main, backend=kind)
    return found


class Spy(Pacer):
    """A pacer that records how long requests took."""

    def __init__(self, default: Pace) -> None:
        super().__init__(default)
        self.durations: list[float] = []
        self.turns: list[float] = []

    def turn(self, *arguments: Any) -> float:
        seconds = super().turn(*arguments)
        if not seconds:
            self.turns.append(time.monotonic())
        return seconds

    def took(self, key: str, seconds: float) -> None:
        self.durations.append(seconds)
        super().took(key, seconds)


def test_turn_decides_waits_and_records_the_duration(kind: str) -> None:
    sites = MockTransport({"https://example.com": FILE})
    pacer = Spy(Pace(times_fetch=0, at_least=0.3))
    first, second = turns(kind, [URL, URL], 0.1, transport=sites, pacer=pacer)
    assert first.allowed
    assert first.decision.url == URL
    assert first.waited < 0.1
    # The interval counts from the end of the block.
    assert 0.29 < second.waited < 0.5
    assert pacer.turns[1] - pacer.turns[0] >= 0.4
    assert [0.1 <= each < 0.25 for each in pacer.durations] == [True, True]


def test_turn_of_a_disallowed_url_does_not_wait(kind: str) -> None:
    sites = MockTransport({"https://example.com": FILE})
    pacer = Spy(Pace(times_fetch=0, at_least=100))
    start = time.monotonic()
    found = turns(kind, ["https://example.com/private/x"] * 3, transport=sites, pacer=pacer)
    assert time.monotonic() - start < 5
    assert [turn.allowed for turn in found] == [False] * 3
    assert found[0].decision.rule.line == 2
    assert pacer.turns == pacer.durations == []


def test_duration_of_a_failed_request_is_recorded() -> None:
    sites = MockTransport({})
    pacer = Spy(Pace(times_fetch=0, at_least=0))
    with (
        RobotsClient(NAME, transport=sites, pacer=pacer) as client,
        pytest.raises(OSError, match="broken"),
        client.turn(URL),
    ):
        raise OSError("broken")
    assert len(pacer.durations) == 1


def test_turn_decides_again_after_a_wait() -> None:
    """The file may expire during a long wait."""
    replies: dict[str, Any] = {"https://example.com": "User-agent: *\nCrawl-delay: 0.2"}
    clock = Clock()
    sites = MockTransport(replies)
    with RobotsClient(NAME, transport=sites, clock=clock) as client:
        with client.turn(URL):
            pass
        replies["https://example.com"] = "User-agent: *\nDisallow: /"

        def expire() -> None:
            time.sleep(0.05)
            clock.later(hours=25)

        thread = threading.Thread(target=expire)
        thread.start()
        with client.turn(URL) as turn:
            assert not turn.allowed
        thread.join()


def test_at_most_limits_the_turn(kind: str) -> None:
    sites = MockTransport({"https://example.com": "User-agent: *\nCrawl-delay: 60"})
    message = r"next request at .* UTC \(line 2, Crawl-delay: 60\)"

    async def main() -> None:
        async with AsyncRobotsClient(NAME, transport=sites) as client:
            async with client.turn(URL, at_most=1):
                pass
            async with client.turn(URL, "OtherBot", at_most=1):
                pass
            with pytest.raises(koster.TooSoonError, match=message):
                await client.turn(URL, at_most=1).__aenter__()

    if kind != "threads":
        anyio.run(main, backend=kind)
        return
    with RobotsClient(NAME, transport=sites) as client:
        with client.turn(URL, at_most=1):
            pass
        with pytest.raises(koster.TooSoonError, match=message), client.turn(URL, at_most=1):
            pytest.fail("the turn is not due")


# The default interval, and why a wait is as long as it is.


@pytest.mark.parametrize("make", [RobotsClient, AsyncRobotsClient])
def test_default_interval_is_checked(make: Any) -> None:
    for value in (-1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="finite number of at least 0"):
            make(NAME, default_interval=value)
    with pytest.raises(TypeError, match="default interval must be a number, not str"):
        make(NAME, default_interval="5")
    with pytest.raises(ValueError, match="default_interval cannot be combined with pacer"):
        make(NAME, default_interval=1, pacer=Pacer())
    with pytest.raises(TypeError, match=r"pacer must be .*, not float"):
        make(NAME, pacer=1.5)


def test_default_interval_applies_where_the_site_sets_no_pace(kind: str) -> None:
    bodies = {"https://a.example": FILE, "https://b.example": "User-agent: *\nCrawl-delay: 30"}
    sites = MockTransport(bodies)
    clock = Clock()
    arguments = [("wait", (f"{site}/",)) for site in bodies]
    asks = [("next_request", (f"{site}/",)) for site in bodies]
    options = {"transport": sites, "clock": clock, "default_interval": 3}
    found = call_all(kind, *arguments, *asks, **options)
    assert [(moment - clock.now).total_seconds() for moment in found[2:]] == pytest.approx(
        [3, 30], abs=0.5
    )


def reasons(kind: str, body: str | int, **options: Any) -> list[Event]:
    events: list[Event] = []
    sites = MockTransport({"https://example.com": body})
    call_all(
        kind,
        *[("wait", (URL,))] * 3,
        transport=sites,
        on_event=events.append,
        **options,
    )
    return [event for event in events if event.name is EventName.PACE_WAITING]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("User-agent: *\nCrawl-delay: 0.2", "line 2, Crawl-delay: 0.2"),
        ("User-agent: *\nRequest-rate: 5/1s\nCrawl-delay: 0.1", "line 2, Request-rate: 5/1s"),
        ("User-agent: *", "the site sets no pace, so default_interval applies"),
        (404, "the site sets no pace, so default_interval applies"),
    ],
)
def test_event_says_why_a_wait_is_long(kind: str, body: str | int, why: str) -> None:
    events = reasons(kind, body, default_interval=0.2)
    assert len(events) == 2
    for event in events:
        assert event.origin == "https://example.com"
        assert event.attributes["koster.agent"] == NAME
        assert event.attributes["koster.why"] == why
        assert 0 < float(str(event.attributes["koster.wait.seconds"])) <= 0.2
        assert 0 <= float(str(event.attributes["koster.wait.queued"])) < 0.2


def test_event_names_the_visit_time() -> None:
    events: list[Event] = []
    clock = Clock()
    sites = MockTransport({"https://example.com": "User-agent: *\nVisit-time: 1300-1400"})

    def later(event: Event) -> None:
        events.append(event)
        if event.name is EventName.PACE_WAITING:
            clock.later(hours=1.5)
            client._closing.set()

    with (
        RobotsClient(NAME, transport=sites, clock=clock, on_event=later) as client,
        pytest.raises(RuntimeError, match="closed"),
    ):
        client.wait(URL)
    (event,) = [each for each in events if each.name is EventName.PACE_WAITING]
    assert event.attributes["koster.why"] == "line 2, Visit-time: 13:00-14:00 UTC"
    assert event.attributes["koster.wait.seconds"] == 3600


def test_wait_for_other_callers_is_reported() -> None:
    events: list[Event] = []
    sites = MockTransport({"https://example.com": "User-agent: *\nCrawl-delay: 0.3"})
    with RobotsClient(NAME, transport=sites, on_event=events.append) as client:
        threads = [threading.Thread(target=client.wait, args=(URL,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    queued = [
        float(str(event.attributes["koster.wait.queued"]))
        for event in events
        if event.name is EventName.PACE_WAITING
    ]
    assert max(queued) > 0.25


def test_reason_of_a_wait_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "koster.fetch")
    reasons("threads", "User-agent: *", default_interval=0.05)
    messages = [record.getMessage() for record in caplog.records if "waits" in record.getMessage()]
    assert len(messages) == 1
    assert messages[0].startswith(f"https://example.com: {NAME} waits 0.")
    assert messages[0].endswith(
        " s for its turn: the site sets no pace, so default_interval applies"
    )


# From the cache only.


def test_cached_never_fetches(kind: str) -> None:
    sites = MockTransport({"https://example.com": FILE})
    cache = MemoryCache()
    calls = [("cached", (URL,)), ("robots", (URL,)), ("cached", (URL,))]
    before, fetched, after = call_all(kind, *calls, transport=sites, cache=cache)
    assert before is None
    assert after == fetched
    assert not after.allowed("https://example.com/private/x", NAME)
    # Another client finds it in the cache.
    options = {"transport": sites, "cache": cache}
    assert call(kind, "cached", "https://example.com:443/", **options).robots is not None
    assert len(sites.requests) == 1


def test_cached_returns_only_fresh_files(kind: str) -> None:
    sites = MockTransport({"https://example.com": [FILE, 503]})
    cache, clock = MemoryCache(), Clock()
    options: Any = {"transport": sites, "cache": cache, "clock": clock}
    call(kind, "robots", URL, **options)
    clock.later(hours=25)
    assert call(kind, "cached", URL, **options) is None
    call(kind, "robots", URL, **options)
    stale = call(kind, "cached", URL, **options)
    assert stale.is_stale
    assert len(sites.requests) == 2


def test_cached_does_not_wait_for_a_fetch(site: Site) -> None:
    site.robots(body=FILE, delay=1)
    with RobotsClient(NAME) as client:
        thread = threading.Thread(target=client.robots, args=(site.url,))
        thread.start()
        time.sleep(0.2)
        start = time.monotonic()
        assert client.cached(site.url) is None
        assert time.monotonic() - start < 0.5
        thread.join()
        assert client.cached(site.url) is not None


def test_cached_checks_its_url(kind: str) -> None:
    with pytest.raises(koster.UrlError):
        call(kind, "cached", "ftp://example.com/", transport=MockTransport({}))


# Many sites at once.


@pytest.fixture
def many() -> Iterator[list[Site]]:
    with ExitStack() as stack:
        yield [stack.enter_context(server.running()) for _ in range(20)]


def test_prefetch_fetches_each_site_once_and_at_once(kind: str, many: list[Site]) -> None:
    for each in many:
        each.robots(body=FILE, delay=0.5)
    many[3].pages.clear()
    urls = [f"{each.url}/page/{number}" for number in range(5) for each in many]
    start = time.monotonic()
    found = call_all(kind, ("prefetch", (iter(urls),)), *[("cached", (each.url,)) for each in many])
    assert time.monotonic() - start < 4
    assert found[0] is None
    assert [outcome.robots is not None for outcome in found[1:]] == [
        number != 3 for number in range(20)
    ]
    assert [len(each.requests) for each in many] == [1] * 20


def test_prefetch_obeys_at_once(kind: str, many: list[Site]) -> None:
    for each in many[:4]:
        each.robots(body=FILE, delay=0.2)
    start = time.monotonic()
    call(kind, "prefetch", [each.url for each in many[:4]], at_once=2)
    assert 0.4 <= time.monotonic() - start < 2


def test_prefetch_of_nothing_and_of_sites_that_fail(kind: str, unused: int) -> None:
    call(kind, "prefetch", [])
    call(kind, "prefetch", [f"http://127.0.0.1:{unused}/", "http://nowhere.invalid/"])


def test_prefetch_checks_urls_first(kind: str) -> None:
    sites = MockTransport({})
    with pytest.raises(koster.UrlError, match="mailto:x"):
        call(kind, "prefetch", [URL, "mailto:x"], transport=sites)
    with pytest.raises(TypeError, match="iterable of str, not str"):
        call(kind, "prefetch", URL, transport=sites)
    assert sites.requests == []


def test_errors_of_prefetch_propagate(kind: str) -> None:
    urls = [URL, "https://b.example"]
    with pytest.raises(RuntimeError, match="the client is closed"):
        call_all(kind, (CLOSE[kind], ()), ("prefetch", (urls,)), transport=MockTransport({}))
    sites = MockTransport({"https://example.com": AssertionError("of the test")})
    with pytest.raises(AssertionError, match="of the test"):
        call(kind, "prefetch", urls, transport=sites)


# The example.


def test_example_crawls_20_sites(many: list[Site], tmp_path: Path) -> None:
    example = ROOT / "examples" / "polite_crawler.py"
    assert len(example.read_text("utf-8").splitlines()) < 60
    page = (
        b'<a href="/b">b</a> <A class=x HREF="/private/c?a=1&amp;b=2">c</A> <a href="http://e.com">'
    )
    for each in many:
        each.robots(body=b"User-agent: ExampleBot\nDisallow: /private/\nCrawl-delay: 0.3")
        each.pages |= {
            "/": Answer(body=page, headers={"Content-Type": "text/html"}),
            "/b": Answer(302, headers={"Location": "/d#top"}),
            "/d": Answer(body=b'<a href="/b">'),
        }
    start = time.monotonic()
    process = subprocess.run(
        [sys.executable, str(example), *(f"{each.url}/" for each in many)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert time.monotonic() - start < 30
    for each in many:
        paths = [path for path, _ in each.requests]
        assert paths == ["/robots.txt", "/", "/b", "/d"]
        assert {headers["User-Agent"] for _, headers in each.requests} == {
            "ExampleBot/1.0 (+https://bot.example/about)"
        }
        assert f"200 {each.url}/\n" in process.stdout
        assert f"may not fetch {each.url}/private/c?a=1&b=2: line 2" in process.stdout


def test_example_keeps_the_pace(site: Site) -> None:
    site.robots(body=b"User-agent: *\nCrawl-delay: 0.5")
    moments: list[float] = []
    links = b"".join(b'<a href="/%d">' % number for number in range(4))
    site.pages["/"] = Answer(body=links)
    spec = importlib.util.spec_from_file_location("crawler", ROOT / "examples/polite_crawler.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    class Requests(list[Any]):
        def append(self, item: Any) -> None:
            moments.append(time.monotonic())
            super().append(item)

    site.requests = Requests()
    anyio.run(module.main, [f"{site.url}/"])
    pauses = [after - before for before, after in itertools.pairwise(moments[1:])]
    assert len(pauses) == 4
    assert min(pauses) > 0.4
