"""Servers that send broken, endless, compressed or slow responses."""

from __future__ import annotations

import bz2
import errno
import gzip
import itertools
import json
import lzma
import socket
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

import anyio
import brotli
import pytest

from koster._codings import decoder_for
from koster.fetch import AsyncRobotsClient, Event, EventName, MockTransport, Reply, RobotsClient
from koster.fetch._failures import kinds, to_failure
from tests.helpers import server, wire
from tests.helpers.bodies import stored_zstd
from tests.helpers.fetching import (
    FILE,
    HEAD,
    HTTP_CLIENTS,
    KINDS,
    LIBRARY_KINDS,
    NAME,
    PLAIN,
    REFUSED,
    outcome,
    reason_of,
)
from tests.helpers.server import Answer, Site
from tests.helpers.support import ROOT, sampled

SHORT_TIMEOUT = 0.2
LONG_TIMEOUT = 20


#: All kinds of clients, also over the HTTP library that the caller has.
ALL_KINDS = [*KINDS, *LIBRARY_KINDS]


@pytest.fixture(params=ALL_KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def each_kind(what: str, items: Iterable[Any]) -> pytest.MarkDecorator:
    """Test items with all kinds of clients, or each of both with some of the others."""
    pairs = list(itertools.product(items, ALL_KINDS))
    return pytest.mark.parametrize((what, "kind"), sampled(pairs, 4))


#: What a library reads differently from koster's own network: the pages of docs/guides/crawlers list them.
#: The value is the reason, a part of the message, and whether the timeout is exceeded.
DEVIATIONS: dict[tuple[str, str], tuple[str, str, bool]] = {
    ("requests", "truncated headers"): ("file", "", False),
    ("requests", "invalid Content-Length"): ("file", "", False),
    ("requests", "after 103 Early Hints"): ("unreachable", "103 Early Hints", False),
    ("aiohttp", "reset in the body"): ("unreachable", "invalid HTTP response", False),
    ("aiohttp", "body longer than Content-Length"): (
        "unreachable",
        "invalid HTTP response: 400",
        False,
    ),
    **{
        (library, "slow headers"): ("unreachable", "no complete response within 0.2 s", True)
        for library in HTTP_CLIENTS
    },
}


def _deviation(kind: str, name: str) -> tuple[str, str, bool] | None:
    backend, _, library = kind.partition(" ")
    found = DEVIATIONS.get((library, name))
    # Cancellation enforces the deadline in an event loop.
    return None if found is not None and found[2] and backend != "threads" else found


BROKEN: dict[str, tuple[wire.Script, str]] = {
    "empty response": (wire.sends(), "invalid HTTP response"),
    "not HTTP": (wire.sends(b"SSH-2.0-OpenSSH_9.2\r\n\r\n"), "invalid HTTP response"),
    "binary": (wire.sends(bytes(range(256)) * 10), "invalid HTTP response"),
    "truncated headers": (wire.sends(HEAD + b"Content-"), "invalid HTTP response"),
    "endless headers": (wire.endless(HEAD, b"X-A: b\r\n" * 1000), "invalid HTTP response"),
    "endless status line": (wire.endless(b"", b"x" * 10_000), "invalid HTTP response"),
    "body shorter than Content-Length": (
        wire.sends(PLAIN + b"Content-Length: 1000\r\n\r\n" + FILE),
        "invalid HTTP response",
    ),
    "truncated chunk": (
        wire.sends(PLAIN + b"Transfer-Encoding: chunked\r\n\r\n5\r\nUser-"),
        "invalid HTTP response",
    ),
    "invalid chunk size": (
        wire.sends(PLAIN + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n" + FILE),
        "invalid HTTP response",
    ),
    "two Content-Length headers": (
        wire.sends(PLAIN + b"Content-Length: 5\r\nContent-Length: 33\r\n\r\n" + FILE),
        "invalid HTTP response",
    ),
    "invalid Content-Length": (
        wire.sends(PLAIN + b"Content-Length: many\r\n\r\n" + FILE),
        "invalid HTTP response",
    ),
    "reset before the response": (wire.resets(), "connection failed"),
    "reset in the headers": (wire.resets(HEAD), "connection failed"),
    "reset in the body": (
        wire.resets(PLAIN + b"Content-Length: 1000\r\n\r\n" + FILE),
        "connection failed",
    ),
    "slow headers": (
        wire.sends_slowly(PLAIN + b"\r\n" + FILE, 0.03),
        "no complete response within 0.2 s",
    ),
    "slow body": (
        wire.sends_slowly(FILE * 10, 0.1, PLAIN + b"Content-Length: 330\r\n\r\n"),
        "no complete response within 0.2 s",
    ),
    "no response": (  # type: ignore[dict-item]
        lambda _: threading.Event().wait(3) and None,
        "no complete response within 0.2 s",
    ),
    "invalid gzip": (
        wire.sends(PLAIN + b"Content-Encoding: gzip\r\nContent-Length: 33\r\n\r\n" + FILE),
        "response body cannot be decoded",
    ),
    "invalid brotli": (
        wire.sends(PLAIN + b"Content-Encoding: br\r\nContent-Length: 33\r\n\r\n" + FILE),
        "response body cannot be decoded",
    ),
    "unknown content coding": (
        wire.sends(PLAIN + b"Content-Encoding: x\r\nContent-Length: 2\r\n\r\n\x80\x81"),
        "unsupported Content-Encoding 'x'",
    ),
}


@each_kind("name", BROKEN)
def test_broken_responses_are_unreachable_with_a_reason(kind: str, name: str) -> None:
    script, why = BROKEN[name]
    # A busy machine may take more than half a second for the other cases.
    timeout = SHORT_TIMEOUT if "within 0.2 s" in why else LONG_TIMEOUT
    with wire.running(script) as running:
        start = time.monotonic()
        result = outcome(kind, running.url, timeout=timeout)
        elapsed = time.monotonic() - start
    reason, why, is_late = _deviation(kind, name) or ("unreachable", why, False)
    assert reason_of(result) == reason
    assert why in result.why
    assert elapsed < timeout + (8 if is_late else 2.5)
    assert result.decide("/x", "FooBot").allowed == (reason == "file")


READABLE = {
    "body until close": wire.sends(PLAIN + b"\r\n" + FILE),
    "HTTP/1.0": wire.sends(b"HTTP/1.0 200 OK\r\n\r\n" + FILE),
    "body longer than Content-Length": wire.sends(
        PLAIN + b"Content-Length: 33\r\n\r\n" + FILE + b"User-agent: *\nDisallow: /"
    ),
    "chunked": wire.sends(
        PLAIN + b"Transfer-Encoding: chunked\r\n\r\n21\r\n" + FILE + b"\r\n0\r\n\r\n"
    ),
    "after 103 Early Hints": wire.sends(
        b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", PLAIN + b"\r\n" + FILE
    ),
    "Content-Encoding none": wire.sends(PLAIN + b"Content-Encoding: none\r\n\r\n" + FILE),
    "slow but in time": wire.sends_slowly(FILE, 0.005, PLAIN + b"Content-Length: 33\r\n\r\n"),
}


@each_kind("name", READABLE)
def test_unusual_but_readable_responses(kind: str, name: str) -> None:
    with wire.running(READABLE[name]) as running:
        result = outcome(kind, running.url)
    deviation = _deviation(kind, name)
    if deviation is not None:
        assert (reason_of(result), deviation[1] in result.why) == (deviation[0], True)
        return
    assert result.robots is not None, result.why
    assert result.robots.body == FILE


def test_endless_body_of_a_redirect_is_not_read(kind: str) -> None:
    head = b"HTTP/1.1 301 Moved\r\nLocation: /robots.txt?\r\n\r\n"
    with wire.running(wire.endless(head, b"x" * 65_536)) as running:
        start = time.monotonic()
        result = outcome(kind, running.url)
    assert time.monotonic() - start < 5
    assert "redirect" in result.why


def test_endless_body_is_truncated_at_the_size_limit(kind: str) -> None:
    line = b"Disallow: /0123456789\n"
    with wire.running(wire.endless(PLAIN + b"\r\n", line * 1000)) as running:
        result = outcome(kind, running.url)
    assert result.robots is not None
    assert 512_000 - len(line) < len(result.robots.body) <= 512_000
    assert result.robots.body.endswith(line)


def test_closed_port(kind: str, unused: int) -> None:
    """All clients say what the system says."""
    result = outcome(kind, f"http://127.0.0.1:{unused}/")
    assert result.why.startswith("connection failed: ")
    assert result.why.endswith(REFUSED)
    if kind in KINDS:
        assert result.why == f"connection failed: {REFUSED}"


def test_closed_ports_of_several_addresses() -> None:
    """Of what anyio says about several addresses, the last counts, as for threads."""
    unreachable = OSError(errno.EHOSTUNREACH, "Connect call failed ('::1', 1, 0, 0)")
    refused = ConnectionRefusedError(errno.ECONNREFUSED, "Connect call failed ('127.0.0.1', 1)")
    found = OSError("All connection attempts failed")
    found.__cause__ = ExceptionGroup("multiple connection attempts failed", [unreachable, refused])
    assert to_failure(found, 1, kinds()).why == f"connection failed: {REFUSED}"


@pytest.mark.parametrize("host", ["nowhere.invalid", "a" * 64 + ".example", "a..b"])
def test_unresolvable_names(kind: str, host: str) -> None:
    assert "DNS lookup failed" in outcome(kind, f"http://{host}/", timeout=20).why


def test_hanging_resolver_times_out(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It hangs until the fetch is over; libraries for threads wait for it."""
    original_getaddrinfo, stop = socket.getaddrinfo, threading.Event()
    is_late = kind.startswith("threads ")

    def slow_getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("flags") or host not in ("slow.example", b"slow.example"):
            return original_getaddrinfo(host, *args, **kwargs)
        stop.wait(2 * SHORT_TIMEOUT if is_late else LONG_TIMEOUT)
        raise socket.gaierror("too late")

    def end(event: Event) -> None:
        if event.name is EventName.FETCH_FINISHED:
            stop.set()

    monkeypatch.setattr(socket, "getaddrinfo", slow_getaddrinfo)
    result = outcome(kind, "http://slow.example/", timeout=SHORT_TIMEOUT, on_event=end)
    assert stop.is_set()
    if is_late:
        assert result.why.startswith("DNS lookup failed: ")
    else:
        assert result.why == "no complete response within 0.2 s"


@contextmanager
def unaccepted() -> Iterator[int]:
    """Yield a port at which connections are neither accepted nor refused."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        # Of these, one or two take all the places.
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse the connections")
def test_timeout_covers_the_connection(kind: str) -> None:
    with unaccepted() as port:
        result = outcome(kind, f"http://127.0.0.1:{port}/", timeout=SHORT_TIMEOUT)
    assert result.why == "no complete response within 0.2 s"


def test_timeout_covers_all_redirects(kind: str, site: Site) -> None:
    """Each response is in time, but not all of them together."""
    site.robots(301, headers={"Location": "/1"}, delay=0.08)
    for number in range(1, 5):
        site.pages[f"/{number}"] = Answer(301, headers={"Location": f"/{number + 1}"}, delay=0.08)
    site.pages["/5"] = Answer(body=FILE, delay=0.08)
    result = outcome(kind, site.url, timeout=SHORT_TIMEOUT)
    assert result.why == "no complete response within 0.2 s"
    assert len(site.requests) <= 3


def compressed(coding: str, body: bytes) -> bytes:
    if coding == "gzip":
        return gzip.compress(body)
    if coding == "deflate":
        return zlib.compress(body)
    if coding == "raw deflate":
        compressor = zlib.compressobj(wbits=-15)
        return compressor.compress(body) + compressor.flush()
    if coding == "zstd":
        return stored_zstd(body)
    return brotli.compress(body, quality=5)  # type: ignore[no-any-return]


CODINGS = ["gzip", "deflate", "raw deflate", "br", "zstd"]


@each_kind("coding", CODINGS)
def test_compressed_bodies(kind: str, site: Site, coding: str) -> None:
    site.robots(
        body=compressed(coding, FILE), headers={"Content-Encoding": coding.rsplit(maxsplit=1)[-1]}
    )
    result = outcome(kind, site.url)
    assert result.robots is not None, result.why
    assert result.robots.body == FILE


BOMB = """
import json, sys, resource
sys.path.insert(0, sys.argv[1])
from tests.helpers.fetching import outcome
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for kind, url in json.load(sys.stdin):
    result = outcome(kind, url, timeout=60)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(len(result.robots.body), after - before)
"""


@pytest.mark.thorough
def test_decompression_bombs_take_little_memory() -> None:
    line = b"Disallow: /0123456789\n"
    bomb = line * 2_500_000
    questions = []
    with ExitStack() as stack:
        for coding in CODINGS:
            body = compressed(coding, bomb)
            assert len(body) < 1_000_000
            site = stack.enter_context(server.running())
            site.robots(body=body, headers={"Content-Encoding": coding.rsplit(maxsplit=1)[-1]})
            kinds = [*KINDS[:2], *(LIBRARY_KINDS if coding == "gzip" else ())]
            questions += [(kind, site.url) for kind in kinds]
        process = subprocess.run(
            [sys.executable, "-c", BOMB, str(ROOT)],
            input=json.dumps(questions),
            capture_output=True,
            text=True,
            check=True,
        )
    for each in process.stdout.splitlines():
        raw_bytes, memory_growth = map(int, each.split())
        assert 512_000 - len(line) < raw_bytes <= 512_000
        assert memory_growth < 30_000, "KiB, of 55 MB"
    assert len(process.stdout.splitlines()) == len(questions)


@pytest.mark.parametrize("coding", ["gzip, gzip", "zstd, gzip", "br, deflate, gzip"])
def test_multiple_content_codings_are_rejected(kind: str, site: Site, coding: str) -> None:
    # Nested compression makes small bodies that take half a minute to decompress.
    site.robots(body=gzip.compress(gzip.compress(FILE)), headers={"Content-Encoding": coding})
    assert (
        "content codings" in outcome(kind, site.url).why
        or "Content-Encoding" in outcome(kind, site.url).why
    )


#: Bodies that are compressed more than their Content-Encoding says, and what the reason names.
HIDDEN = {
    "gzip twice": (gzip.compress(gzip.compress(FILE)), "gzip", "gzip"),
    "gzip": (gzip.compress(FILE), "", "gzip"),
    "gzip as identity": (gzip.compress(FILE), "identity", "gzip"),
    "deflate": (zlib.compress(FILE), "", "deflate"),
    "raw deflate": (compressed("raw deflate", FILE), "", "deflate"),
    "raw deflate in gzip": (gzip.compress(compressed("raw deflate", FILE)), "gzip", "deflate"),
    "br": (brotli.compress(FILE), "", "Brotli"),
    "br in gzip": (gzip.compress(brotli.compress(FILE)), "gzip", "Brotli"),
    "long br": (brotli.compress(FILE + b"#" * 300_000), "", "Brotli"),
    "gzip in br": (brotli.compress(gzip.compress(FILE)), "br", "gzip"),
    "bzip2": (bz2.compress(FILE), "", "bzip2"),
    "xz": (lzma.compress(FILE), "", "xz"),
}


@each_kind("name", HIDDEN)
def test_hidden_compression_is_unreachable(kind: str, site: Site, name: str) -> None:
    """A file of compressed bytes has no group, so that everything would be allowed."""
    body, coding, compression = HIDDEN[name]
    headers = {"Content-Type": "application/octet-stream"}
    site.robots(body=body, headers=headers | ({"Content-Encoding": coding} if coding else {}))
    result = outcome(kind, site.url)
    assert reason_of(result) == "unreachable"
    assert f"compressed with {compression}, but" in result.why
    options = {"transport": MockTransport({site.url: Reply(body=body, headers=dict(headers))})}
    if not coding and kind in ("threads", "asyncio"):
        assert outcome(kind, site.url, **options).why == result.why


def test_mock_transport_reads_bodies_as_the_network_does() -> None:
    replies = {
        "https://a.example": Reply(body=FILE, headers={"Content-Length": "9999"}),
        "https://b.example": Reply(body=b"", headers={"content-length": "36"}),
        "https://c.example": Reply(body=gzip.compress(FILE)[:-9], headers={"Content-Encoding": "gzip"}),
        "https://d.example": Reply(body=FILE, headers={"Content-Encoding": "gzip"}),
        "https://e.example": Reply(body=gzip.compress(FILE), headers={"Content-Encoding": "gzip"}),
        "https://f.example": Reply(body=FILE + b"x", headers={"Content-Length": str(len(FILE))}),
        "https://g.example": Reply(404, headers={"Content-Length": "x"}),
    }  # fmt: skip
    for kind in ("threads", "asyncio"):
        found = {
            url: outcome(kind, url, transport=MockTransport(replies), timeout=1) for url in replies
        }
        assert [reason_of(each) for each in found.values()] == [
            *["unreachable"] * 4, "file", "file", "unavailable",
        ]  # fmt: skip
        assert "9999" in found["https://a.example"].why
        for url in ("https://e.example", "https://f.example"):
            robots = found[url].robots
            assert robots is not None
            assert robots.body == FILE


LONG_FILE = b"User-agent: *\n" + b"".join(b"Allow: /p%d\n" % number for number in range(3000))


@each_kind("coding", CODINGS)
def test_truncated_compressed_body_is_rejected(kind: str, coding: str) -> None:
    body = compressed(coding, LONG_FILE + b"Disallow: /private\n")
    head = PLAIN + b"Content-Encoding: %s\r\n\r\n" % coding.rsplit(maxsplit=1)[-1].encode()
    for size in (5, len(body) // 2, len(body) - 1):
        with wire.running(wire.sends(head + body[:size])) as running:
            result = outcome(kind, running.url)
        assert result.why == "truncated response body", size
    with wire.running(wire.sends(head + body)) as running:
        assert outcome(kind, running.url).robots is not None


EMPTY = [
    answer % coding
    for answer in (
        b"HTTP/1.1 204 No Content\r\nContent-Encoding: %s\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    )
    for coding in (b"gzip", b"x-gzip", b"deflate", b"br", b"zstd")
]


@each_kind("answer", EMPTY)
def test_empty_response_is_an_empty_file(kind: str, answer: bytes) -> None:
    with wire.running(wire.sends(answer)) as running:
        result = outcome(kind, running.url)
    assert result.robots is not None, result.why
    assert result.robots.body == b""


@each_kind("coding", CODINGS)
def test_data_after_a_compressed_body_is_ignored(kind: str, coding: str) -> None:
    head = PLAIN + b"Content-Encoding: %s\r\n\r\n" % coding.rsplit(maxsplit=1)[-1].encode()
    response = head + compressed(coding, FILE)
    with wire.running(wire.endless(response, b"x" * 65536)) as running:
        start = time.monotonic()
        result = outcome(kind, running.url, timeout=5)
        assert time.monotonic() - start < 3
    if coding == "br" and result.robots is None:
        # The brotli library rejects trailing data in the same chunk.
        assert "cannot be decoded" in result.why
    else:
        assert result.robots is not None, result.why
        assert result.robots.body == FILE


@pytest.mark.parametrize("step", [1, 7, 1000, 10**6])
def test_incremental_decompression(step: int) -> None:
    members = gzip.compress(LONG_FILE[:14]) + gzip.compress(LONG_FILE[14:])
    bodies = [(coding.split()[-1], compressed(coding, LONG_FILE)) for coding in CODINGS]
    bodies += [
        ("gzip", members),
        ("x-gzip", members + b"\0\0"),
        ("gzip", members + b"\0junk"),
        ("zstd", stored_zstd(LONG_FILE[:14]) + stored_zstd(LONG_FILE[14:]) + b"junk"),
        ("", LONG_FILE),
    ]
    for coding, body in bodies:
        decoder = decoder_for(coding)
        decompressed = b"".join(
            decoder.feed(body[at : at + step], 10**6) for at in range(0, len(body), step)
        )
        assert decompressed == LONG_FILE
        assert decoder.is_whole
    with pytest.raises(zlib.error, match="more than 100 members"):
        decoder_for("gzip").feed(gzip.compress(b"") * 1000, 100)


def reasons_of(backend: str, urls: list[str]) -> list[str]:
    """Fetch many sites at once; return what came of each."""
    reasons = []
    if backend == "threads":
        with RobotsClient(NAME, timeout=1) as client, ThreadPoolExecutor(len(urls)) as pool:
            return [reason_of(each) for each in pool.map(client.robots, urls)]

    async def main() -> None:
        async with AsyncRobotsClient(NAME, timeout=1) as client:

            async def one(url: str) -> None:
                reasons.append(reason_of(await client.robots(url)))

            async with anyio.create_task_group() as tasks:
                for url in urls:
                    tasks.start_soon(one, url)

    anyio.run(main, backend=backend)
    return reasons


@pytest.mark.parametrize("backend", KINDS)
def test_slow_resolver_does_not_delay_other_fetches(
    site: Site, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.robots(body=FILE)
    original_getaddrinfo, stop = socket.getaddrinfo, threading.Event()

    def slow_getaddrinfo(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("flags") or not str(host).endswith(".test"):
            return original_getaddrinfo(host, port, *args, **kwargs)
        if "slow" in host:
            stop.wait(30)
        return original_getaddrinfo("127.0.0.1", port, type=socket.SOCK_STREAM)

    monkeypatch.setattr(socket, "getaddrinfo", slow_getaddrinfo)
    hosts = [*(f"slow{number}.test" for number in range(20)), "good.test"]
    start = time.monotonic()
    reasons = reasons_of(backend, [f"http://{host}:{site.port}/" for host in hosts])
    assert time.monotonic() - start < 5
    stop.set()
    assert sorted(reasons) == ["file"] + ["unreachable"] * 20
