"""Servers that imitate Redis badly: caches and pacers do not hang, crash or return wrong results."""

from __future__ import annotations

import contextlib
import itertools
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest

import koster
from koster.cache import RedisCache
from koster.cache.store import encode_entry
from koster.fetch import Event, EventName, FleetPacer, MockTransport, RobotsClient
from tests.helpers import wire
from tests.helpers.entries import ENTRY
from tests.helpers.fetching import KINDS, NAME, ask
from tests.helpers.support import sampled

#: Handles a command on a connection.
Answer = Callable[[socket.socket, list[bytes]], None]

#: The commands with which redis-py opens a connection, and the replies of Redis.
HANDSHAKE = {
    b"PING": b"+PONG\r\n",
    b"HELLO": b"%1\r\n$5\r\nproto\r\n:3\r\n",
    b"CLIENT": b"+OK\r\n",
    b"SELECT": b"+OK\r\n",
}

KEY = "https://example.com FooBot"
SITES = MockTransport({"https://example.com": "User-agent: *\nCrawl-delay: 60\nDisallow: /x"})
RULES = koster.parse("User-agent: *\nCrawl-delay: 60").rules_for("FooBot")


@dataclass
class FakeRedis:
    """A running server; ``commands`` are the commands it has received."""

    port: int
    commands: list[list[bytes]]

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"


@contextmanager
def running(answer: Answer, *, is_polite: bool) -> Iterator[FakeRedis]:
    """Run a server; with ``is_polite``, it answers the handshake as Redis does."""
    listener = socket.create_server(("127.0.0.1", 0))
    fake = FakeRedis(listener.getsockname()[1], [])
    stop = threading.Event()

    def serve(connection: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError), connection:
            connection.settimeout(10)
            stream = connection.makefile("rb")
            while not stop.is_set():
                command = [
                    stream.read(int(stream.readline()[1:]) + 2)[:-2]
                    for _ in range(int(stream.readline()[1:]))
                ]
                fake.commands.append(command)
                if is_polite and command[0] in HANDSHAKE:
                    connection.sendall(HANDSHAKE[command[0]])
                else:
                    answer(connection, command)

    with wire.serving(listener, serve, stop):
        yield fake


def replies_with(data: bytes) -> Answer:
    return lambda connection, _: connection.sendall(data)


def closes_after(data: bytes) -> Answer:
    def answer(connection: socket.socket, _: list[bytes]) -> None:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_RDWR)

    return answer


def drips(data: bytes) -> Answer:
    def answer(connection: socket.socket, _: list[bytes]) -> None:
        for byte in data:
            connection.sendall(bytes([byte]))
            time.sleep(0.1)

    return answer


def endless(head: bytes, part: bytes) -> Answer:
    def answer(connection: socket.socket, _: list[bytes]) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(part * 1000)

    return answer


#: The reply to every command, by name.
ATTACKS: dict[str, Answer] = {
    "no reply": lambda connection, command: None,
    "HTTP": replies_with(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    "zeros": replies_with(bytes(1000)),
    "empty lines": replies_with(b"\r\n" * 100),
    "an unterminated line": replies_with(b"+OK"),
    "an invalid type byte": replies_with(b"nonsense\r\n"),
    "an integer": replies_with(b":5\r\n"),
    "an invalid integer": replies_with(b":five\r\n"),
    "a large integer": replies_with(b":" + b"9" * 4000 + b"\r\n"),
    "a larger integer": replies_with(b":" + b"9" * 5000 + b"\r\n"),
    "a simple string": replies_with(b"+OK\r\n"),
    "a string with invalid UTF-8": replies_with(b"$2\r\n\xff\xfe\r\n"),
    "null": replies_with(b"$-1\r\n"),
    "RESP3 null": replies_with(b"_\r\n"),
    "a negative length": replies_with(b"$-5\r\n"),
    "a missing length": replies_with(b"$\r\n"),
    "a length without data": replies_with(b"$1000000\r\n"),
    "a length of gigabytes": replies_with(b"$99999999999\r\nx"),
    "a length of 30 digits": replies_with(b"$" + b"9" * 30 + b"\r\nx"),
    "a null array": replies_with(b"*-1\r\n"),
    "an empty array": replies_with(b"*0\r\n"),
    "an array of wrong types": replies_with(b"*2\r\n$1\r\nx\r\n:7\r\n"),
    "an array of integers": replies_with(b"*2\r\n:-1\r\n:-1\r\n"),
    "an array of huge integers": replies_with(
        b"*2\r\n:" + b"9" * 400 + b"\r\n:" + b"9" * 400 + b"\r\n"
    ),
    "an array of errors": replies_with(b"*2\r\n-ERR x\r\n-ERR y\r\n"),
    "a long array": replies_with(b"*1000000000\r\n:1\r\n"),
    "a deep array": replies_with(b"*1\r\n" * 100_000),
    "a map": replies_with(b"%1\r\n$1\r\nx\r\n$1\r\ny\r\n"),
    "a map with a key that is a map": replies_with(b"%1\r\n%1\r\n:1\r\n:1\r\n:1\r\n"),
    "a set": replies_with(b"~1\r\n:1\r\n"),
    "a double": replies_with(b",nan\r\n"),
    "a boolean": replies_with(b"#t\r\n"),
    "a pubsub message": replies_with(b">2\r\n$7\r\nmessage\r\n$1\r\nx\r\n"),
    "pubsub messages": replies_with(b">1\r\n:1\r\n" * 10_000),
    "an empty error": replies_with(b"-\r\n"),
    "an error": replies_with(b"-ERR no\r\n"),
    "a WRONGTYPE error": replies_with(b"-WRONGTYPE Operation against a key\r\n"),
    "a NOSCRIPT error": replies_with(b"-NOSCRIPT No matching script\r\n"),
    "a LOADING error": replies_with(b"-LOADING Redis is loading\r\n"),
    "a MOVED error": replies_with(b"-MOVED 1 127.0.0.1:1\r\n"),
    "a MOVED error without an address": replies_with(b"-MOVED\r\n"),
    "a READONLY error": replies_with(b"-READONLY You can't write against a read only replica.\r\n"),
    "two replies": replies_with(b"+OK\r\n+OK\r\n"),
    "a closed connection": closes_after(b""),
    "a connection closed in a line": closes_after(b"$1"),
    "a connection closed in a string": closes_after(b"$100\r\nabc"),
    "a connection closed in an array": closes_after(b"*3\r\n:1\r\n"),
    "a slow string": drips(b"$100000\r\n" + b"x" * 1000),
    "a slow line": drips(b"+" + b"x" * 1000),
    "a slow array": drips(b"*1000\r\n" + b":1\r\n" * 1000),
    "an endless string": endless(b"$99999999999\r\n", b"x" * 1000),
    "an endless line": endless(b"+", b"x" * 1000),
    "an endless array of integers": endless(b"*1000000000\r\n", b":1\r\n"),
    "an endless array of empty arrays": endless(b"*1000000000\r\n", b"*0\r\n"),
    "endless pubsub messages": endless(b"", b">1\r\n:1\r\n"),
}


@pytest.fixture(autouse=True)
def _short_timeout_and_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("koster.cache.redis._TIMEOUT", 0.25)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    # In KiB: the client reads a bounded part of each reply.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 << 10


#: Each attack from the start and after the handshake.
BOTH = list(itertools.product(ATTACKS, (False, True)))


@contextmanager
def time_limit(seconds: float = 8) -> Iterator[None]:
    start = time.monotonic()
    yield
    assert time.monotonic() - start < seconds


@pytest.mark.parametrize(
    ("name", "is_polite"),
    [
        *((name, True) for name in sampled([*ATTACKS], 2)),
        *((name, False) for name in sampled([*ATTACKS], 3)),
    ],
)
def test_attacked_cache_misses_or_raises_cache_error(name: str, is_polite: bool) -> None:
    with running(ATTACKS[name], is_polite=is_polite) as fake, time_limit():
        try:
            cache = RedisCache(fake.url)
        except koster.CacheError:
            assert not is_polite
            return
        for _ in range(2):
            with contextlib.suppress(koster.CacheError):
                assert cache.get("a") is None
            with contextlib.suppress(koster.CacheError):
                cache.put("a", ENTRY)
        cache.close()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "name",
    ["no reply", "a deep array", "a slow string", "a WRONGTYPE error", "a closed connection"],
)
def test_client_continues_without_an_attacked_cache(kind: str, name: str) -> None:
    events: list[Event] = []
    with running(ATTACKS[name], is_polite=True) as fake, time_limit():
        allowed = ask(
            kind, *[("allowed", "https://example.com/x")] * 3, cache=fake.url, transport=SITES,
            on_event=events.append,
        )  # fmt: skip
    assert allowed == [False] * 3
    assert [event.name for event in events].count(EventName.CACHE_FAILED) <= 1


@pytest.mark.parametrize(("name", "is_polite"), sampled(BOTH, 3))
def test_attacked_pacer_falls_back_to_local_pacing(name: str, is_polite: bool) -> None:
    events: list[Event] = []
    now = datetime.now(UTC)
    with running(ATTACKS[name], is_polite=is_polite) as fake, time_limit(15):
        try:
            pacer = FleetPacer(fake.url, on_event=events.append)
        except koster.CacheError:
            assert not is_polite
            return
        pacer.took(KEY, 1)
        assert pacer.turn(KEY, RULES, now) >= 0
        assert pacer.next_request(KEY, RULES, now) >= now
        # If only the server decided, the first turn might never be granted.
        local_wait = pacer._local.turn(KEY, RULES, now)
        assert 0 <= local_wait <= 60
        assert 59 < pacer.turn(KEY, RULES, now) <= 61
        pacer.took(KEY, 1)
        pacer.close()
    assert len(events) <= 2
    assert all(event.name in (EventName.PACE_FAILED, EventName.PACE_REPLACED) for event in events)


@pytest.mark.parametrize("name", sampled([*ATTACKS], 3))
def test_client_waits_when_its_pacer_is_attacked(name: str) -> None:
    with running(ATTACKS[name], is_polite=True) as fake, time_limit(15):
        pacer = FleetPacer(fake.url)
        with (
            RobotsClient(NAME, transport=SITES, pacer=pacer) as client,
            contextlib.suppress(koster.TooSoonError),
        ):
            client.wait("https://example.com/y", at_most=0.5)
            with pytest.raises(koster.TooSoonError):
                client.wait("https://example.com/y", at_most=0.5)
        pacer.close()


def test_entry_of_another_origin_is_ignored() -> None:
    """For example, when the server replies to each command with the reply to the previous one."""
    other = replace(ENTRY, origin="https://other.example", body=b"User-agent: *\nDisallow: /")
    expires = datetime.now(UTC) + timedelta(hours=1)
    record = encode_entry(replace(other, expires=expires, unreachable_since=None))
    with (
        running(replies_with(b"$%d\r\n%s\r\n" % (len(record), record)), is_polite=True) as fake,
        RobotsClient(NAME, transport=SITES, cache=fake.url) as client,
    ):
        assert client.allowed("https://example.com/y")
        assert not client.allowed("https://example.com/x")
        assert client.robots("https://example.com/").origin == "https://example.com"


def test_failed_handshake_is_repeated() -> None:
    """Otherwise commands would go to the wrong database."""
    state = {"is_bad": False}

    def answer(connection: socket.socket, command: list[bytes]) -> None:
        if command[0] in HANDSHAKE and not (command[0] == b"HELLO" and state["is_bad"]):
            connection.sendall(HANDSHAKE[command[0]])
        elif command[0] == b"HELLO":
            connection.sendall(b":5\r\n")
        else:
            connection.sendall(b"_\r\n")

    with running(answer, is_polite=False) as fake:
        with closing(RedisCache(fake.url.replace("/0", "/7"))) as cache:
            cache._server.client.connection_pool.disconnect()
            state["is_bad"] = True
            with contextlib.suppress(koster.CacheError):
                cache.get("a")
            state["is_bad"] = False
            fake.commands.clear()
            assert cache.get("a") is None
        names = [command[0] for command in fake.commands]
    assert names.index(b"SELECT") < names.index(b"GET")


def test_entry_of_maximum_size_round_trips(redis_url: str) -> None:
    hops = (replace(ENTRY.hops[0], headers=(("location", "\udcff" * 1000),) * 11),) * 6
    entry = replace(ENTRY, body="┌".encode() * koster.access.MAX_BYTES, hops=hops)
    with closing(RedisCache(redis_url, prefix="longest:")) as cache:
        cache.put("a", entry)
        assert cache.get("a") == entry
