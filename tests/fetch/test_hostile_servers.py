"""Servers that send what is broken, endless, packed or late."""

from __future__ import annotations

import gzip
import socket
import subprocess
import sys
import threading
import time
import zlib
from typing import Any

import anyio
import brotli
import pytest
import wire
from fetching import FILE, HEAD, KINDS, NAME, PLAIN, outcome, reason_of
from server import Site
from support import HERE

from koster.fetch import (
    AsyncRobotsClient,
)
from koster.fetch._codings import decoder_for

pytestmark = pytest.mark.any_mode

FAST = 0.5


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
    assert reason_of(found) == "unreachable"
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
from fetching import outcome
import fetching
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = outcome(sys.argv[3], sys.argv[1], timeout=60)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(len(found.robots.body), after - before)
"""


@pytest.mark.parametrize("coding", CODINGS)
def test_bombs_take_little_memory(coding: str, site: Site) -> None:
    line = b"Disallow: /0123456789\n"
    body = packed(coding, line * 3_000_000)
    assert len(body) < 2_000_000
    site.robots(body=body, headers={"Content-Encoding": coding.rsplit(maxsplit=1)[-1]})
    here = str(HERE)
    for each in KINDS[:2]:
        done = subprocess.run(
            [sys.executable, "-c", BOMB, site.url, here, each],
            capture_output=True,
            text=True,
            check=True,
        )
        raw_bytes, grown = map(int, done.stdout.split())
        assert 512_000 - len(line) < raw_bytes <= 512_000
        assert grown < 30_000, "KiB, of 66 MB"


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
                words.append(reason_of(await client.robots(f"http://{host}:{site.port}/")))

            async with anyio.create_task_group() as tasks:
                for number in range(20):
                    tasks.start_soon(one, f"slow{number}.test")
                tasks.start_soon(one, "good.test")

    began = time.monotonic()
    anyio.run(main, backend=backend)
    assert time.monotonic() - began < 5
    over.set()
    assert sorted(words) == ["file"] + ["unreachable"] * 20
