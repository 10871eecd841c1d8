"""Fetching from real servers on loopback, with all three clients: threads, asyncio and trio."""

from __future__ import annotations

import contextlib
import gc
import gzip
import logging
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import anyio
import brotli
import pytest
import server
import wire
from server import Answer, Site
from support import ROOT

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
from koster.fetch._codings import decoder_for

pytestmark = pytest.mark.any_mode

NAME = "FooBot/1.0 (+https://foo.example/bot)"
FILE = b"User-agent: *\nDisallow: /private\n"
FAST = 0.5

KINDS = ["threads", "asyncio", "trio"]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def ask(kind: str, *questions: tuple[str, Any], **options: Any) -> list[Any]:
    """Ask a client of a kind; a question is a method's name and its first argument."""
    options = {"timeout": 10} | options
    if kind == "threads":
        with RobotsClient(NAME, **options) as client:
            return [getattr(client, method)(argument) for method, argument in questions]

    async def asked() -> list[Any]:
        async with AsyncRobotsClient(NAME, **options) as client:
            return [await getattr(client, method)(argument) for method, argument in questions]

    return anyio.run(asked, backend=kind)


def outcome(kind: str, url: str, **options: Any) -> Outcome:
    found: Outcome = ask(kind, ("robots", url), **options)[0]
    return found


def in_a_word(found: Outcome) -> str:
    return "file" if found.reason is None else found.reason.value


# What the README promises


def test_a_site_is_fetched_once(kind: str, site: Site) -> None:
    site.robots(body=FILE)
    url = site.url
    decided = ask(
        kind,
        *(("decide", f"{url}/private/x"), ("decide", f"{url}/open"), ("allowed", f"{url}/private")),
        *(("allowed", f"{url}/robots.txt"), ("robots", url)),
    )
    assert [bool(each) for each in decided[:4]] == [False, True, False, True]
    assert str(decided[0]).endswith("line 2, Disallow: /private")
    assert decided[4].robots.body == FILE
    assert [path for path, _ in site.asked] == ["/robots.txt"]
    headers = {name.lower(): value for name, value in site.asked[0][1].items()}
    assert headers["user-agent"] == NAME
    assert "cookie" not in headers


def test_a_question_about_robots_txt_needs_no_fetch(kind: str, unused: int) -> None:
    url = f"http://127.0.0.1:{unused}/robots.txt?x"
    (decision,) = ask(kind, ("decide", url))
    assert decision.reason is koster.Reason.ROBOTS_TXT


@pytest.mark.parametrize(
    "url", ["", "/x", "example.com", "ftp://example.com/", "http://[x/", "/robots.txt"]
)
def test_urls_of_no_site(kind: str, url: str) -> None:
    for method in ("decide", "allowed", "robots", "wait", "next_request"):
        with pytest.raises(koster.UrlError):
            ask(kind, (method, url))


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        *((status, "file") for status in (200, 203)),
        *((status, "unavailable") for status in (400, 401, 403, 404, 410, 418, 451)),
        *((status, "unreachable") for status in (304, 300, 429, 500, 502, 503, 504, 599)),
    ],
)
def test_statuses(kind: str, site: Site, status: int, reason: str) -> None:
    site.robots(status, FILE)
    found = outcome(kind, site.url)
    assert in_a_word(found) == reason
    assert found.hops[-1].status == status
    if reason != "file":
        assert str(status) in found.why
        decision = found.decide(f"{site.url}/private", "FooBot")
        assert (decision.allowed, decision.why) == (reason == "unavailable", found.why)


#: Ways to write a URL that browsers, and most HTTP clients, take for /private/x.
SPELLINGS = [
    *("{}/private/x", " {}/private/x", "\t{}/private/x\n", "{}\\private\\x", "{}/pri\tvate/x"),
    *("{}/open/../private/x", "{}/./private/x", "{}/open/%2e%2E/private/x", "{}/private/./x#y"),
    *("\x00{}/private/x", "{}/%70rivate/x", "{}/private/x?", "{}\\.\\private/y/../x"),
]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_what_is_matched_is_what_would_be_fetched(kind: str, spelling: str) -> None:
    sites = MockTransport({"https://a.example": "User-agent: *\nDisallow: /private"})
    for origin in (
        "https://a.example",
        "https:a.example",
        "HTTPS:\\\\A.example",
        "https:////a.example",
    ):
        url = spelling.format(origin)
        decision, allowed, again = ask(
            kind, ("decide", url), ("allowed", url), ("decide", url), transport=sites
        )
        assert (bool(decision), allowed, bool(again)) == (False, False, False)
        assert decision.url == again.url == url


def test_robots_txt_itself_in_any_spelling(kind: str, unused: int) -> None:
    for url in (" http://127.0.0.1:{}/robots.txt", "http:127.0.0.1:{}/x/../robots.txt"):
        (decision,) = ask(kind, ("decide", url.format(unused)))
        assert decision.reason is koster.Reason.ROBOTS_TXT


def test_every_status_from_a_real_server(site: Site) -> None:
    statuses = koster.RFC9309.statuses
    clock = Clock()
    with RobotsClient(NAME, clock=clock) as client:
        for status in range(200, 600):
            site.robots(status, b"" if status in (204, 304) else FILE)
            found = in_a_word(client.robots(site.url))
            clock.later(days=40)
            if status < 300:
                assert found == "file", status
            elif status in statuses.unavailable:
                assert found == "unavailable", status
            else:
                # What was there before is no file any more, or an old copy.
                assert found == ("file" if 300 <= status < 400 else "unreachable"), status
    assert len(site.asked) == 400


def test_after_a_fork_no_connection_is_shared(site: Site) -> None:
    site.robots(body=FILE)
    with RobotsClient(NAME, clock=(clock := Clock())) as client:
        client.robots(site.url)
        clock.later(days=2)
        pid = os.fork()
        if pid == 0:
            try:
                os._exit(0 if client.robots(site.url).robots is not None else 1)
            finally:
                os._exit(2)
        assert os.waitpid(pid, 0)[1] == 0
        assert client.robots(site.url).robots is not None
    # One that the parent keeps on using, and one of the child's.
    assert site.connections == 2


# Redirects


@pytest.mark.parametrize("count", range(8))
def test_chains(kind: str, site: Site, count: int) -> None:
    for number in range(count):
        place = "/robots.txt" if number == 0 else f"/{number}"
        site.pages[place] = Answer(301, headers={"Location": f"/{number + 1}"})
    site.pages[f"/{count}" if count else "/robots.txt"] = Answer(body=FILE)
    found = outcome(kind, site.url)
    assert in_a_word(found) == ("file" if count <= 5 else "unavailable")
    assert len(site.asked) == min(count + 1, 6)


def test_a_loop(kind: str, site: Site) -> None:
    site.robots(302, headers={"Location": "/b"})
    site.pages["/b"] = Answer(302, headers={"Location": f"{site.url}/robots.txt"})
    assert outcome(kind, site.url).why == "redirect loop"
    assert len(site.asked) == 2


def test_to_another_host_whose_rules_hold_here(kind: str, site: Site) -> None:
    with server.running() as other:
        site.robots(308, headers={"Location": f"http://u:p@127.0.0.1:{other.port}/r?é"})
        other.pages["/r?%E9"] = Answer(body=FILE)
        other.robots(404)
        found, private, elsewhere = ask(
            kind,
            ("robots", site.url),
            ("allowed", f"{site.url}/private"),
            ("allowed", f"{other.url}/private"),
        )
        assert found.origin == site.url
        assert found.url == f"{other.url}/r?%E9"
        assert (private, elsewhere) == (False, True)
        assert "Authorization" not in other.asked[0][1]


@pytest.mark.parametrize(
    "location", ["ftp://x/", "http://[", "javascript:x", "http:///", "http://a..b/"]
)
def test_to_nowhere(kind: str, site: Site, location: str) -> None:
    site.robots(301, headers={"Location": location})
    assert in_a_word(outcome(kind, site.url)) == "unreachable"


# What is broken


HEAD = b"HTTP/1.1 200 OK\r\n"
PLAIN = HEAD + b"Content-Type: text/plain\r\n"
LOSSES: dict[str, tuple[wire.Script, str]] = {
    "nothing": (wire.says(), "invalid HTTP response"),
    "no HTTP": (wire.says(b"SSH-2.0-OpenSSH_9.2\r\n\r\n"), "invalid HTTP response"),
    "binary": (wire.says(bytes(range(256)) * 10), "invalid HTTP response"),
    "half a head": (wire.says(HEAD + b"Content-"), "invalid HTTP response"),
    "an endless head": (wire.endless(HEAD, b"X-A: b\r\n" * 1000), "invalid HTTP response"),
    "an endless line": (wire.endless(b"", b"x" * 10_000), "invalid HTTP response"),
    "too short": (
        wire.says(PLAIN + b"Content-Length: 1000\r\n\r\n" + FILE),
        "invalid HTTP response",
    ),
    "chunks cut off": (
        wire.says(PLAIN + b"Transfer-Encoding: chunked\r\n\r\n5\r\nUser-"),
        "invalid HTTP response",
    ),
    "no chunks": (
        wire.says(PLAIN + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n" + FILE),
        "invalid HTTP response",
    ),
    "two lengths": (
        wire.says(PLAIN + b"Content-Length: 5\r\nContent-Length: 33\r\n\r\n" + FILE),
        "invalid HTTP response",
    ),
    "no length": (
        wire.says(PLAIN + b"Content-Length: many\r\n\r\n" + FILE),
        "invalid HTTP response",
    ),
    "reset at once": (wire.resets(), "connection failed"),
    "reset in the head": (wire.resets(HEAD), "connection failed"),
    "reset in the body": (
        wire.resets(PLAIN + b"Content-Length: 1000\r\n\r\n" + FILE),
        "connection failed",
    ),
    "a drip of the head": (
        wire.drips(PLAIN + b"\r\n" + FILE, 0.1),
        "no complete response within 0.5 s",
    ),
    "a drip of the body": (
        wire.drips(FILE * 10, 0.1, PLAIN + b"Content-Length: 330\r\n\r\n"),
        "no complete response within 0.5 s",
    ),
    "silence": (lambda _: threading.Event().wait(3) and None, "no complete response within 0.5 s"),
    "no gzip": (
        wire.says(PLAIN + b"Content-Encoding: gzip\r\nContent-Length: 33\r\n\r\n" + FILE),
        "response body cannot be decoded",
    ),
    "no brotli": (
        wire.says(PLAIN + b"Content-Encoding: br\r\nContent-Length: 33\r\n\r\n" + FILE),
        "response body cannot be decoded",
    ),
    "an unknown coding": (
        wire.says(PLAIN + b"Content-Encoding: x\r\nContent-Length: 2\r\n\r\n\x80\x81"),
        "unsupported Content-Encoding 'x'",
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_what_is_broken_is_unreachable_and_says_why(kind: str, name: str) -> None:
    script, why = LOSSES[name]
    with wire.running(script) as running:
        began = time.monotonic()
        found = outcome(kind, running.url, timeout=FAST)
        took = time.monotonic() - began
    assert in_a_word(found) == "unreachable"
    assert why in found.why
    assert took < FAST + 2.5
    assert not found.decide("/x", "FooBot")


READ = {
    "until it closes": wire.says(PLAIN + b"\r\n" + FILE),
    "HTTP/1.0": wire.says(b"HTTP/1.0 200 OK\r\n\r\n" + FILE),
    "too long": wire.says(
        PLAIN + b"Content-Length: 33\r\n\r\n" + FILE + b"User-agent: *\nDisallow: /"
    ),
    "in chunks": wire.says(
        PLAIN + b"Transfer-Encoding: chunked\r\n\r\n21\r\n" + FILE + b"\r\n0\r\n\r\n"
    ),
    "after others": wire.says(
        b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", PLAIN + b"\r\n" + FILE
    ),
    "said to be packed": wire.says(PLAIN + b"Content-Encoding: none\r\n\r\n" + FILE),
    "slow, but in time": wire.drips(FILE, 0.005, PLAIN + b"Content-Length: 33\r\n\r\n"),
}


@pytest.mark.parametrize("name", READ)
def test_what_can_be_read(kind: str, name: str) -> None:
    with wire.running(READ[name]) as running:
        found = outcome(kind, running.url)
    assert found.robots is not None, found.why
    assert found.robots.body == FILE


def test_an_endless_body_is_cut(kind: str) -> None:
    line = b"Disallow: /0123456789\n"
    with wire.running(wire.endless(PLAIN + b"\r\n", line * 1000)) as running:
        found = outcome(kind, running.url)
    assert found.robots is not None
    assert 512_000 - len(line) < len(found.robots.body) <= 512_000
    assert found.robots.body.endswith(line)


def test_nobody_there(kind: str, unused: int) -> None:
    found = outcome(kind, f"http://127.0.0.1:{unused}/")
    assert "connection failed" in found.why


@pytest.mark.parametrize("host", ["nowhere.invalid", "a" * 64 + ".example", "a..b"])
def test_names_without_an_address(kind: str, host: str) -> None:
    assert "DNS lookup failed" in outcome(kind, f"http://{host}/", timeout=20).why


def test_a_resolver_that_hangs_ends_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    real, over = socket.getaddrinfo, threading.Event()

    def slow(host: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("flags"):
            return real(host, *args, **kwargs)
        over.wait(20)
        raise socket.gaierror("too late")

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    began = time.monotonic()
    found = outcome("threads", "http://slow.example/", timeout=FAST)
    assert time.monotonic() - began < 3
    over.set()
    assert found.why == "no complete response within 0.5 s"


# Codings


def packed(coding: str, body: bytes) -> bytes:
    if coding == "gzip":
        return gzip.compress(body)
    if coding == "deflate":
        return zlib.compress(body)
    if coding == "raw deflate":
        packer = zlib.compressobj(wbits=-15)
        return packer.compress(body) + packer.flush()
    return brotli.compress(body)


CODINGS = ["gzip", "deflate", "raw deflate", "br"]


@pytest.mark.parametrize("coding", CODINGS)
def test_packed_bodies(kind: str, site: Site, coding: str) -> None:
    site.robots(
        body=packed(coding, FILE), headers={"Content-Encoding": coding.rsplit(maxsplit=1)[-1]}
    )
    found = outcome(kind, site.url)
    assert found.robots is not None, found.why
    assert found.robots.body == FILE


BOMB = """
import sys, resource
sys.path.insert(0, sys.argv[2])
from test_fetch import outcome
import test_fetch
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = outcome(sys.argv[3], sys.argv[1], timeout=60)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(len(found.robots.body), after - before)
"""


@pytest.mark.parametrize("coding", CODINGS)
def test_bombs_take_little_memory(coding: str, site: Site) -> None:
    line = b"Disallow: /0123456789\n"
    body = packed(coding, line * 10_000_000)
    assert len(body) < 2_000_000
    site.robots(body=body, headers={"Content-Encoding": coding.rsplit(maxsplit=1)[-1]})
    here = str(Path(__file__).parent)
    for each in KINDS[:2]:
        done = subprocess.run(
            [sys.executable, "-c", BOMB, site.url, here, each],
            capture_output=True,
            text=True,
            check=True,
        )
        octets, grown = map(int, done.stdout.split())
        assert 512_000 - len(line) < octets <= 512_000
        assert grown < 30_000, "KiB"


@pytest.mark.parametrize("coding", ["gzip, gzip", "zstd, gzip", "br, deflate, gzip"])
def test_what_is_packed_several_times_is_not_unpacked(kind: str, site: Site, coding: str) -> None:
    # Small bodies that make work for half a minute are made of layers.
    site.robots(body=gzip.compress(gzip.compress(FILE)), headers={"Content-Encoding": coding})
    assert (
        "content codings" in outcome(kind, site.url).why
        or "Content-Encoding" in outcome(kind, site.url).why
    )


MANY = b"User-agent: *\n" + b"".join(b"Allow: /p%d\n" % number for number in range(3000))


@pytest.mark.parametrize("coding", CODINGS)
def test_a_packed_body_that_breaks_off_is_none(kind: str, coding: str) -> None:
    body = packed(coding, MANY + b"Disallow: /private\n")
    head = PLAIN + b"Content-Encoding: %s\r\n\r\n" % coding.rsplit(maxsplit=1)[-1].encode()
    for size in (5, len(body) // 2, len(body) - 1):
        with wire.running(wire.says(head + body[:size])) as running:
            found = outcome(kind, running.url)
        assert found.why == "truncated response body", size
    with wire.running(wire.says(head + body)) as running:
        assert outcome(kind, running.url).robots is not None


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "deflate", "br"])
@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 204 No Content\r\nContent-Encoding: %s\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
)
def test_an_empty_answer_is_an_empty_file(kind: str, coding: str, answer: bytes) -> None:
    with wire.running(wire.says(answer % coding.encode())) as running:
        found = outcome(kind, running.url)
    assert found.robots is not None, found.why
    assert found.robots.body == b""


@pytest.mark.parametrize("coding", CODINGS)
def test_what_follows_a_packed_body_is_not_read(kind: str, coding: str) -> None:
    head = PLAIN + b"Content-Encoding: %s\r\n\r\n" % coding.rsplit(maxsplit=1)[-1].encode()
    first = head + packed(coding, FILE)
    with wire.running(wire.endless(first, b"x" * 65536)) as running:
        began = time.monotonic()
        found = outcome(kind, running.url, timeout=5)
        assert time.monotonic() - began < 3
    if coding == "br" and found.robots is None:
        # Its library says no to what follows in the same part.
        assert "cannot be decoded" in found.why
    else:
        assert found.robots is not None, found.why
        assert found.robots.body == FILE


@pytest.mark.parametrize("step", [1, 7, 1000, 10**6])
def test_unpacking_part_by_part(step: int) -> None:
    members = gzip.compress(MANY[:14]) + gzip.compress(MANY[14:])
    bodies = [(coding.split()[-1], packed(coding, MANY)) for coding in CODINGS]
    bodies += [
        ("gzip", members),
        ("x-gzip", members + b"\0\0"),
        ("gzip", members + b"\0junk"),
        ("", MANY),
    ]
    for coding, body in bodies:
        made = decoder_for(coding)
        found = b"".join(made.feed(body[at : at + step], 10**6) for at in range(0, len(body), step))
        assert found == MANY
        assert made.is_whole
    with pytest.raises(zlib.error, match="more than 100 members"):
        decoder_for("gzip").feed(gzip.compress(b"") * 1000, 100)


@pytest.mark.parametrize("backend", KINDS[1:])
def test_a_slow_resolver_holds_up_nobody_else(
    site: Site, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.robots(body=FILE)
    real, over = socket.getaddrinfo, threading.Event()

    def slow(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("flags") or not str(host).endswith(".test"):
            return real(host, port, *args, **kwargs)
        if "slow" in host:
            over.wait(30)
        return real("127.0.0.1", port, type=socket.SOCK_STREAM)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    words = []

    async def main() -> None:
        async with AsyncRobotsClient(NAME, timeout=1) as client:

            async def one(host: str) -> None:
                words.append(in_a_word(await client.robots(f"http://{host}:{site.port}/")))

            async with anyio.create_task_group() as tasks:
                for number in range(20):
                    tasks.start_soon(one, f"slow{number}.test")
                tasks.start_soon(one, "good.test")

    began = time.monotonic()
    anyio.run(main, backend=backend)
    assert time.monotonic() - began < 5
    over.set()
    assert sorted(words) == ["file"] + ["unreachable"] * 20


def test_closing_a_client_says_nothing_about_sites(kind: str, site: Site) -> None:
    site.robots(body=FILE, delay=0.5)
    cache = MemoryCache()
    if kind == "threads":
        client = RobotsClient(NAME, cache=cache)
        raised = []

        def work() -> None:
            try:
                client.robots(site.url)
            except RuntimeError as error:
                raised.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        while not site.asked:
            time.sleep(0.01)
        client.close()
        thread.join()
        assert len(raised) == 1
    else:

        async def main() -> None:
            asynchronous = AsyncRobotsClient(NAME, cache=cache)

            async def work() -> None:
                with pytest.raises(RuntimeError, match="closed"):
                    await asynchronous.robots(site.url)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(work)
                while not site.asked:
                    await anyio.sleep(0.01)
                await asynchronous.aclose()

        anyio.run(main, backend=kind)
    assert len(cache) == 0


def test_those_who_wait_for_a_fetch_are_told_when_the_client_is_closed(kind: str) -> None:
    with wire.running(lambda _: threading.Event().wait(3) and None) as running:
        raised: list[BaseException] = []
        began = time.monotonic()
        if kind == "threads":
            client = RobotsClient(NAME, timeout=1)

            def work() -> None:
                try:
                    client.allowed(running.url)
                except RuntimeError as error:
                    raised.append(error)

            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            time.sleep(0.2)
            client.close()
            for thread in threads:
                thread.join()
        else:

            async def main() -> None:
                asynchronous = AsyncRobotsClient(NAME, timeout=1)

                async def work() -> None:
                    try:
                        await asynchronous.allowed(running.url)
                    except RuntimeError as error:
                        raised.append(error)

                async with anyio.create_task_group() as tasks:
                    for _ in range(4):
                        tasks.start_soon(work)
                    await anyio.sleep(0.2)
                    await asynchronous.aclose()

            anyio.run(main, backend=kind)
        assert time.monotonic() - began < 2.5
        assert len(raised) == 4
        assert running.connections == 1


def test_a_url_that_is_too_long_is_so_cold_and_warm(kind: str) -> None:
    url = "https://e.example/" + "a" * 70_000
    with pytest.raises(koster.UrlError):
        ask(kind, ("allowed", "https://e.example/"), ("allowed", url), transport=MockTransport({}))


def test_a_thread_that_cannot_be_started_makes_a_site_unreachable(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = threading.Thread.start

    def fails(self: threading.Thread) -> None:
        if self.name.startswith("resolve "):
            raise RuntimeError("can't start new thread")
        start(self)

    monkeypatch.setattr(threading.Thread, "start", fails)
    assert "can't start new thread" in outcome(kind, "http://nowhere.invalid/").why


def test_bounds_shorter_than_a_pause_do_not_make_a_site_be_asked_again_and_again() -> None:
    statuses = replace(koster.RFC9309.statuses, lifetime=600, longest=600)
    sites = MockTransport({"https://e.example": Reply(503, headers={"Retry-After": "7200"})})
    dialect = replace(koster.RFC9309, name="SHORT", statuses=statuses)
    with RobotsClient(NAME, transport=sites, dialect=dialect) as client:
        for _ in range(5):
            client.allowed("https://e.example/")
    assert len(sites.requests) == 1


def test_sites_are_not_mixed_up_however_their_urls_begin(kind: str) -> None:
    sites = MockTransport(
        {"https://a.example": "", "https://b.example": "User-agent: *\nDisallow: /"}
    )
    for form in (
        " https://{}/x",
        "https:///{}/x",
        "\n\nhttps://{}/x",
        "https:/\n/{}/x",
        "https:\\\\{}\\x",
    ):
        first, second = (form.format(host) for host in ("a.example", "b.example"))
        found = ask(
            kind,
            ("allowed", first),
            ("allowed", second),
            ("robots", second),
            ("allowed", first),
            transport=sites,
        )
        assert (found[0], found[1], found[3]) == (True, False, True), form
        assert found[2].origin == "https://b.example"


@pytest.mark.parametrize("backend", KINDS[1:])
def test_who_stops_waiting_for_tls_leaves_no_connection(backend: str) -> None:
    over = threading.Event()
    with wire.running(lambda _: over.wait(5) and None) as running:
        # Speaks no TLS, and says nothing.
        async def main() -> int:
            async with AsyncRobotsClient(NAME, timeout=0.3) as client:
                await client.robots(running.url.replace("http:", "https:"))
                return _open_to(running.port)

        gc.disable()
        try:
            assert anyio.run(main, backend=backend) == 0
        finally:
            gc.enable()
            over.set()


def _open_to(port: int) -> int:
    """Return how many connections of this process to a port are open."""
    table = Path("/proc/self/net/tcp").read_text().splitlines()[1:]
    ends = [line.split() for line in table]
    return sum(
        each[2].endswith(f":{port:04X}") and each[3] == "01" and each[9] in _own_sockets()
        for each in ends
    )


def _own_sockets() -> set[str]:
    links = []
    for path in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            links.append(os.readlink(path))
    return {link[8:-1] for link in links if link.startswith("socket:")}


# TLS


@pytest.fixture(scope="module")
def own_certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return wire.certificate(tmp_path_factory.mktemp("tls"))


def test_tls(
    kind: str, own_certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    pem, secret = own_certificate
    with wire.running(
        wire.says(PLAIN + b"\r\n" + FILE), wire.server_context(pem, secret)
    ) as running:
        url = f"https://127.0.0.1:{running.port}/"
        assert "TLS connection failed" in outcome(kind, url).why
        monkeypatch.setenv("SSL_CERT_FILE", str(pem))
        found = outcome(kind, url)
        assert found.robots is not None, found.why


@pytest.mark.parametrize(("host", "days"), [("other.example", 2), ("127.0.0.1", -1)])
def test_certificates_that_are_wrong(
    kind: str, host: str, days: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pem, secret = wire.certificate(tmp_path, host, days)
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    with wire.running(
        wire.says(PLAIN + b"\r\n" + FILE), wire.server_context(pem, secret)
    ) as running:
        assert "TLS connection failed" in outcome(kind, f"https://127.0.0.1:{running.port}/").why


def test_no_tls_where_it_should_be(kind: str, site: Site) -> None:
    assert "TLS connection failed" in outcome(kind, site.url.replace("http:", "https:")).why


def test_tls_where_it_should_not_be(kind: str, own_certificate: tuple[Path, Path]) -> None:
    with wire.running(wire.says(), wire.server_context(*own_certificate)) as running:
        assert in_a_word(outcome(kind, running.url, timeout=2)) == "unreachable"


# Time


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def later(self, **time: float) -> None:
        self.now += timedelta(**time)


def after(clock: Clock, **time: float) -> Callable[[Any], None]:
    return lambda _: clock.later(**time)


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
    assert [in_a_word(each) for each in found] == ["file"] * 10 + ["unavailable", "file"]
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
        assert [in_a_word(each) for each in found] == ["unreachable"] * 2


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
    assert [in_a_word(each) for each in found] == ["file"] * 4
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
            assert [in_a_word(each) for each in found[:3]] == [word] * 3
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
        site.asked.clear()
        site.robots(body=FILE, headers=headers)
        found = Steps(kind, clock=clock).run(site.url, changed, site.url)
        sent = site.asked[1][1]
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


# One at a time


def test_a_site_may_be_asked_again_before_its_time(kind: str, site: Site) -> None:
    """Its owner has mended the file, and would see what robots see."""
    site.robots(body=FILE, headers={"ETag": '"1"', "Cache-Control": "max-age=86400"})
    page = f"{site.url}/x"
    first, again, kept = ask(kind, ("robots", page), ("refetch", page), ("robots", page))
    assert [path for path, _ in site.asked] == ["/robots.txt"] * 2
    assert site.asked[1][1]["If-None-Match"] == '"1"'
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
    assert len(site.asked) == 1


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
    assert len(site.asked) == 2


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


# Caches


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
    assert len(site.asked) == 1
    assert cache.calls == 1, "a cache that failed is left alone for a while"
    failed = [event for event in events if event.name is EventName.CACHE_FAILED]
    assert failed[0].attributes == {"error.type": "CacheError", "error.message": "down"}


def test_a_file_keeps_what_was_fetched(kind: str, site: Site, tmp_path: Path) -> None:
    site.robots(body=FILE, headers={"ETag": '"1"'})
    path = tmp_path / "cache.sqlite"
    first, second = (outcome(kind, site.url, cache=path) for _ in range(2))
    assert len(site.asked) == 1
    assert (first.robots is None) == (second.robots is None) is False
    assert first.hops == second.hops
    path.write_bytes(b"nonsense" * 1000)
    assert outcome(kind, site.url, cache=str(path)).robots is not None
    assert len(site.asked) == 2


def test_a_redis_that_several_share(kind: str, site: Site, redis_url: str) -> None:
    site.robots(body=FILE)
    for _ in range(2):
        assert outcome(kind, site.url, cache=redis_url).robots is not None
    assert len(site.asked) == 1


def test_dialects_that_read_statuses_otherwise_have_entries_of_their_own(site: Site) -> None:
    site.robots(403)
    cache = MemoryCache()
    words = [
        in_a_word(outcome("threads", site.url, cache=cache, dialect=dialect))
        for dialect in (koster.RFC9309, koster.MK1996, koster.GOOGLE, koster.MK1994, koster.MK1996)
    ]
    assert words == ["unavailable", "forbidden", "unavailable", "forbidden", "forbidden"]
    assert len(site.asked) == 3


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


# Events


def test_events(kind: str, site: Site) -> None:
    site.robots(301, headers={"Location": "/r"})
    site.pages["/r"] = Answer(
        body=b"User-agent: *\nVisit-time: 0600-0700\nComment: at dawn, please"
    )
    events: list[Event] = []
    clock = Clock()
    ask(
        kind,
        ("decide", f"{site.url}/x"),
        ("decide", f"{site.url}/x"),
        on_event=events.append,
        clock=clock,
    )
    assert [event.name.name for event in events] == [
        *("FETCH_STARTED", "REDIRECTED", "FETCH_FINISHED", "SITE_COMMENTS", "OUTSIDE_VISIT_TIME"),
        *("CACHE_HIT", "OUTSIDE_VISIT_TIME"),
    ]
    assert {event.origin for event in events} == {site.url}
    started, redirected, finished, comments, outside, hit, _ = (
        event.attributes for event in events
    )
    assert started["url.full"] == f"{site.url}/robots.txt"
    assert started["server.port"] == site.port
    assert redirected["http.response.status_code"] == 301
    assert finished["koster.fetch.requests"] == 2
    assert finished["koster.outcome"] == "file"
    assert comments == {"koster.agent": NAME, "koster.comments": ("at dawn, please",)}
    assert outside["koster.comments"] == ("at dawn, please",)
    assert outside["koster.visit.next_open"] == "2026-11-22T06:00:00+00:00"
    assert hit["koster.outcome"] == "file"


# "All Comment:'s in a rule set are to be sent back" (An Extended Standard for Robot Exclusion).

COMMENTED = """\
User-agent: FooBot
Comment: you are welcome
Comment: by night
Disallow: /private

User-agent: BarBot
Comment: you are not

User-agent: *
Disallow:
"""


def told(events: list[Event], name: EventName) -> list[tuple[str, ...]]:
    key = "koster.comments" if name is EventName.SITE_COMMENTS else "koster.policy"
    return [event.attributes[key] for event in events if event.name is name]  # type: ignore[misc]


@pytest.mark.parametrize("dialect", [koster.RFC9309, koster.EXTENDED2], ids=str)
def test_comments_are_told_when_a_file_is_first_used_or_changes(
    kind: str, site: Site, dialect: koster.Dialect, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "koster")
    site.robots(body=COMMENTED.encode())
    events: list[Event] = []
    clock = Clock()

    def listen(event: Event) -> None:
        events.append(event)
        if len(told(events, EventName.SITE_COMMENTS)) == 1:
            clock.later(days=2)

    url = f"{site.url}/x"
    questions = [("allowed", url), ("robots", url), ("refetch", url), ("decide", url)]
    ask(kind, *questions, on_event=listen, clock=clock, dialect=dialect)
    said = ("you are welcome", "by night")
    assert told(events, EventName.SITE_COMMENTS) == [said]
    assert len(site.asked) > 1
    (record,) = caplog.records
    assert record.levelname == "INFO"
    assert record.message == f"{site.url} has comments for {NAME}: you are welcome, by night"


def test_comments_are_told_again_when_the_file_has_changed() -> None:
    sites = MockTransport({"https://example.com": COMMENTED})
    events: list[Event] = []
    with RobotsClient(NAME, transport=sites, on_event=events.append) as client:
        url = "https://example.com/x"
        for body in (COMMENTED, COMMENTED + "#", "User-agent: *\nDisallow: /", COMMENTED):
            sites.replies["https://example.com"] = body
            client.refetch(url)
            client.allowed(url)
        assert len(told(events, EventName.SITE_COMMENTS)) == 3
        client.allowed(url, "BarBot")
        client.decide(url, ("BarBot",))
        client.allowed(url, "Other")
    assert told(events, EventName.SITE_COMMENTS)[3:] == [("you are not",)]


def test_comments_of_dialects_without_them_are_not_told() -> None:
    events: list[Event] = []
    sites = MockTransport({"https://example.com": COMMENTED})
    with RobotsClient(
        NAME, transport=sites, on_event=events.append, dialect=koster.GOOGLE
    ) as client:
        assert not client.allowed("https://example.com/private", "FooBot")
    assert told(events, EventName.SITE_COMMENTS) == []


def test_comments_cannot_break_a_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "koster")
    sites = MockTransport(
        {"https://example.com": b"User-agent: *\nComment: a\x1b[31m\xff\x85b \xc3\xa9"}
    )
    with RobotsClient(NAME, transport=sites) as client:
        client.robots("https://example.com")
    assert caplog.records[-1].message.endswith("a\\x1b[31m\\udcff\\udc85b \xe9")


def test_thousands_of_comments_make_one_short_line_of_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "koster")
    body = "User-agent: *\n" + "Comment: hello\n" * 4000
    events: list[Event] = []
    sites = MockTransport({"https://example.com": body})
    with RobotsClient(NAME, transport=sites, on_event=events.append) as client:
        client.robots("https://example.com")
    assert len(caplog.records[-1].message) < 1000
    assert len(told(events, EventName.SITE_COMMENTS)[0]) == 4000


@pytest.mark.parametrize("agent", [5, b"x", [5]])
def test_an_agent_of_a_wrong_type_is_named(agent: Any) -> None:
    sites = MockTransport({"https://example.com": COMMENTED})
    with RobotsClient(NAME, transport=sites) as client:
        for _ in range(2):
            with pytest.raises(TypeError, match=r"^agent must be"):
                client.allowed("https://example.com/x", agent)


def test_a_visit_outside_the_visit_time_is_logged_once_until_it_opens(
    kind: str, caplog: pytest.LogCaptureFixture, site: Site
) -> None:
    caplog.set_level(logging.INFO, "koster")
    site.robots(body=b"User-agent: *\nVisit-time: 0600-0700\nVisit-time: 2000-2100")
    clock = Clock()
    url = f"{site.url}/x"
    ask(kind, ("allowed", url), ("decide", url), clock=clock)
    assert [each.message for each in caplog.records] == [
        f"{NAME} visits {site.url} outside its visit times: 06:00-07:00, 20:00-21:00 UTC"
    ]
    assert caplog.records[0].levelname == "INFO"
    with RobotsClient(NAME, clock=clock) as client:
        for hours in (0, 0, 8, 2, 1):
            clock.later(hours=hours)
            client.allowed(url)
            client.allowed(url, "BarBot")
    # At noon twice, which is one closed period; open at 20:00; closed again at 22:00 and 23:00.
    assert len(caplog.records) == 1 + 2 * 2


# What an unreachable site means.


def test_an_unreachable_site_disallows_unless_the_client_is_told_otherwise(
    kind: str, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    site.robots(503)
    url = f"{site.url}/x"
    for unreachable, expected in (
        (koster.Unreachable.DISALLOW, False),
        (koster.Unreachable.ALLOW, True),
    ):
        events: list[Event] = []
        questions = [("allowed", url), ("decide", url), ("robots", url)]
        allowed, decision, found = ask(
            kind, *questions, on_event=events.append, unreachable=unreachable
        )
        assert (allowed, decision.allowed, found.allowed("/x", "Other")) == (expected,) * 3
        assert decision.reason is found.reason is koster.Reason.UNREACHABLE
        assert told(events, EventName.SITE_UNREACHABLE) == [unreachable.value]
        warned = [each.message for each in caplog.records if each.levelname == "WARNING"]
        assert warned == ([] if not expected else [
            f"{site.url} is unreachable (503 Service Unavailable): everything is allowed"
        ])  # fmt: skip


def test_a_copy_goes_before_the_policy_for_unreachable_sites() -> None:
    sites = MockTransport({"https://example.com": "User-agent: *\nDisallow: /"})
    events: list[Event] = []
    with RobotsClient(
        NAME, transport=sites, on_event=events.append, unreachable=koster.Unreachable.ALLOW
    ) as client:
        client.robots("https://example.com")
        sites.replies["https://example.com"] = TimeoutError("slow")
        assert client.refetch("https://example.com").is_stale
        assert not client.allowed("https://example.com/x")
    assert told(events, EventName.SITE_UNREACHABLE) == []


@pytest.mark.parametrize("make", [RobotsClient, AsyncRobotsClient])
def test_a_policy_is_one_of_two(make: Any) -> None:
    with pytest.raises(TypeError, match=r"koster\.Unreachable\.DISALLOW or ALLOW, not str"):
        make(NAME, unreachable="allow")


def test_what_a_callback_raises_stops_nothing(
    kind: str, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(event: Event) -> None:
        raise RuntimeError("callback")

    site.robots(body=FILE)
    assert ask(kind, ("allowed", f"{site.url}/private"), on_event=fails) == [False]
    assert "on_event callback failed for koster.fetch.started" in caplog.text


def test_stale_and_errors_are_told() -> None:
    clock = Clock()
    sites = MockTransport({"https://example.com": FILE})
    events: list[Event] = []
    with RobotsClient(NAME, transport=sites, on_event=events.append, clock=clock) as client:
        client.robots("https://example.com")
        sites.replies["https://example.com"] = TimeoutError("slow")
        clock.later(days=2)
        assert client.robots("https://example.com").is_stale
    stale, finished = events[-1].attributes, events[-2].attributes
    assert events[-1].name is EventName.STALE_USED
    assert stale["koster.cache.fetched"] == "2026-11-21T12:00:00+00:00"
    assert finished["error.type"] == "timeout"


# The client


@pytest.mark.parametrize("make", [RobotsClient, AsyncRobotsClient])
@pytest.mark.parametrize(
    "options",
    [
        *({"user_agent": ""}, {"user_agent": "a\nb"}, {"user_agent": "é"}, {"timeout": 0}),
        *({"timeout": float("nan")}, {"timeout": float("inf")}, {"timeout": -1}, {"at_once": 0}),
        {"guard": koster.PUBLIC_ONLY, "transport": MockTransport({})},
    ],
)
def test_wrong_arguments(make: Any, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"user_agent|timeout|at_once|guard"):
        make(**{"user_agent": NAME} | options)


def test_who_asks() -> None:
    body = "User-agent: FooBot\nDisallow: /foo\nUser-agent: BarBot\nDisallow: /bar\nUser-agent: *\nDisallow: /"
    sites = MockTransport({"https://example.com": body})
    for user_agent in (NAME, "Mozilla/5.0 (compatible; FooBot/1.0)"):
        with RobotsClient(user_agent, transport=sites) as client:
            assert client.allowed("https://example.com/bar")
            assert not client.allowed("https://example.com/foo")
            assert client.allowed("https://example.com/foo", "BarBot")
            assert not client.decide("https://example.com/bar", ("BarBot", "FooBot"))
    for options in ({"dialect": koster.GOOGLE}, {"agent": "FooBot"}, {"agent": ("X", "FooBot")}):
        with RobotsClient(NAME, transport=sites, **options) as client:  # type: ignore[arg-type]
            assert client.allowed("https://example.com/bar")
            assert not client.allowed("https://example.com/foo")


def test_a_client_that_is_closed_says_so(kind: str) -> None:
    sites = MockTransport({})
    if kind == "threads":
        client = RobotsClient(NAME, transport=sites)
        client.close()
        with pytest.raises(RuntimeError, match="closed"):
            client.robots("https://example.com")
        return

    async def main() -> None:
        async with AsyncRobotsClient(NAME, transport=sites) as client:
            pass
        with pytest.raises(RuntimeError, match="closed"):
            await client.robots("https://example.com")

    anyio.run(main, backend=kind)


def test_errors_of_a_test_s_own_are_not_swallowed(kind: str) -> None:
    sites = MockTransport({"https://example.com": AssertionError("of the test")})
    with pytest.raises(AssertionError, match="of the test"):
        ask(kind, ("robots", "https://example.com"), transport=sites)


def test_the_mock() -> None:
    sites = MockTransport(
        {
            "https://example.com": "User-agent: *\nDisallow: /a",
            "http://example.com/page": "not its robots.txt",
            "https://example.com:8443/robots.txt": 503,
            "https://m.example": Reply(301, headers={"Location": "https://münchen.example/r?ü"}),
            "https://münchen.example/r?ü": b"User-agent: *\nDisallow: /b",
        }
    )
    with RobotsClient(NAME, transport=sites) as client:
        assert not client.allowed("https://example.com/a")
        assert client.robots("http://example.com/").reason is koster.Reason.UNAVAILABLE
        assert client.robots("https://example.com:8443/").reason is koster.Reason.UNREACHABLE
        assert not client.allowed("https://m.example/b")
    assert sites.requests[0] == "https://example.com/robots.txt"


def test_the_mock_s_table_is_checked_and_may_be_changed() -> None:
    with pytest.raises(koster.UrlError):
        MockTransport({"a.example": 404})
    with pytest.raises(TypeError, match="invalid reply of type function"):
        MockTransport({"https://a.example": lambda: 404})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="the list of replies is empty"):
        MockTransport({"https://a.example": []})
    replies: dict[str, Any] = {"https://a.example/": [503, 429, FILE]}
    clock = Clock()
    with RobotsClient(NAME, transport=MockTransport(replies), clock=clock) as client:
        found = []
        for _ in range(4):
            found.append(in_a_word(client.robots("https://a.example")))
            clock.later(hours=25)
        replies["https://a.example/"] = 404
        found.append(in_a_word(client.robots("https://a.example")))
    assert found == ["unreachable", "unreachable", "file", "file", "unavailable"]


@pytest.mark.parametrize(
    "options",
    [
        *({"user_agent": None}, {"dialect": "GOOGLE"}, {"timeout": None}, {"timeout": "5"}),
        {"on_event": 5},
    ],
)
def test_arguments_of_the_wrong_type(options: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=next(iter(options))):
        RobotsClient(**{"user_agent": NAME} | options)


@pytest.mark.parametrize("url", [None, b"https://example.com/", 5])
def test_urls_of_the_wrong_type(kind: str, url: Any) -> None:
    for method in ("decide", "allowed", "robots", "wait"):
        with pytest.raises(TypeError, match="url must be a str, not"):
            ask(kind, (method, url), transport=MockTransport({}))


def test_a_file_that_is_cut_says_so(kind: str, site: Site, tmp_path: Path) -> None:
    site.robots(body=b"Disallow: /x\n" * 50_000)
    for _ in range(2):
        assert outcome(kind, site.url, cache=tmp_path / "c.sqlite").is_cut
    site.robots(body=FILE)
    assert not outcome(kind, site.url).is_cut


def test_the_synchronous_client_is_made_from_the_asynchronous_one(tmp_path: Path) -> None:
    """``make sync`` has nothing to change."""
    folder = Path(koster.__file__).parent / "fetch"
    copy = tmp_path / "fetch"
    shutil.copytree(folder / "_async", copy / "_async")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    subprocess.run([sys.executable, ROOT / "tools" / "sync_client.py", copy], check=True)
    made = (copy / "_sync" / "client.py").read_text("utf-8")
    assert made == (folder / "_sync" / "client.py").read_text("utf-8")


def test_star_import_and_dir_work_without_the_extra() -> None:
    code = """
import sys
sys.modules["httpx2"] = None
from koster import *
import koster
assert hasattr(koster, "parse")
import inspect
inspect.getmembers(koster)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_the_extra_it_says_what_to_install() -> None:
    code = """
import sys
sys.modules["httpx2"] = None
import koster
try:
    koster.RobotsClient
except koster.MissingExtraError as error:
    print(error)
sys.modules["redis"] = None
import koster.cache
try:
    koster.cache.RedisCache
except koster.MissingExtraError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "koster.fetch needs the extra 'http': pip install 'koster[http]'" in done.stdout
    assert "RedisCache needs the extra 'redis': pip install 'koster[redis]'" in done.stdout


def test_koster_loads_no_network() -> None:
    code = "import sys, koster; print([m for m in ('httpx2', 'socket', 'sqlite3', 'koster.access') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
