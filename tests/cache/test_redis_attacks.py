"""A server that is no proper Redis: caches and pacers neither hang nor crash nor lie."""

from __future__ import annotations

import contextlib
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
import wire
from entries import ENTRY
from fetching import KINDS, NAME, ask

import koster
from koster.cache import RedisCache
from koster.cache.store import encode_entry
from koster.fetch import Event, EventName, FleetPacer, MockTransport, RobotsClient

pytestmark = pytest.mark.any_mode

#: What the server does with a connection after a command.
Answer = Callable[[socket.socket, list[bytes]], None]

#: Commands with which redis-py begins a connection, and what Redis says to them.
GREETINGS = {b"HELLO": b"%1\r\n$5\r\nproto\r\n:3\r\n", b"CLIENT": b"+OK\r\n", b"SELECT": b"+OK\r\n"}

KEY = "https://example.com FooBot"
SITES = MockTransport({"https://example.com": "User-agent: *\nCrawl-delay: 60\nDisallow: /x"})
RULES = koster.parse("User-agent: *\nCrawl-delay: 60").rules_for("FooBot")


@dataclass
class Fake:
    """A running server: ``commands`` are those that were sent to it."""

    port: int
    commands: list[list[bytes]]

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"


@contextmanager
def running(answer: Answer, *, is_polite: bool) -> Iterator[Fake]:
    """Run a server; one that is polite begins a connection as Redis does."""
    listener = socket.create_server(("127.0.0.1", 0))
    fake = Fake(listener.getsockname()[1], [])
    over = threading.Event()

    def serve(connection: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError), connection:
            connection.settimeout(10)
            stream = connection.makefile("rb")
            while not over.is_set():
                command = [
                    stream.read(int(stream.readline()[1:]) + 2)[:-2]
                    for _ in range(int(stream.readline()[1:]))
                ]
                fake.commands.append(command)
                if is_polite and command[0] in GREETINGS:
                    connection.sendall(GREETINGS[command[0]])
                else:
                    answer(connection, command)

    with wire.serving(listener, serve, over):
        yield fake


def says(data: bytes) -> Answer:
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


#: To any command.
ATTACKS: dict[str, Answer] = {
    "nothing": lambda connection, command: None,
    "HTTP": says(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    "zeros": says(bytes(1000)),
    "lines": says(b"\r\n" * 100),
    "a line without an end": says(b"+OK"),
    "nonsense": says(b"nonsense\r\n"),
    "an integer": says(b":5\r\n"),
    "an invalid integer": says(b":five\r\n"),
    "a large integer": says(b":" + b"9" * 4000 + b"\r\n"),
    "a larger integer": says(b":" + b"9" * 5000 + b"\r\n"),
    "a status": says(b"+OK\r\n"),
    "text that is no UTF-8": says(b"$2\r\n\xff\xfe\r\n"),
    "null": says(b"$-1\r\n"),
    "null of RESP3": says(b"_\r\n"),
    "a negative length": says(b"$-5\r\n"),
    "no length": says(b"$\r\n"),
    "a length without what is long": says(b"$1000000\r\n"),
    "a length of gigabytes": says(b"$99999999999\r\nx"),
    "a length beyond all": says(b"$" + b"9" * 30 + b"\r\nx"),
    "a null array": says(b"*-1\r\n"),
    "an empty array": says(b"*0\r\n"),
    "an array of nonsense": says(b"*2\r\n$1\r\nx\r\n:7\r\n"),
    "an array of integers": says(b"*2\r\n:-1\r\n:-1\r\n"),
    "an array of huge integers": says(b"*2\r\n:" + b"9" * 400 + b"\r\n:" + b"9" * 400 + b"\r\n"),
    "an array of errors": says(b"*2\r\n-ERR x\r\n-ERR y\r\n"),
    "a long array": says(b"*1000000000\r\n:1\r\n"),
    "a deep array": says(b"*1\r\n" * 100_000),
    "a map": says(b"%1\r\n$1\r\nx\r\n$1\r\ny\r\n"),
    "a map with a key that is a map": says(b"%1\r\n%1\r\n:1\r\n:1\r\n:1\r\n"),
    "a set": says(b"~1\r\n:1\r\n"),
    "a number": says(b",nan\r\n"),
    "a truth": says(b"#t\r\n"),
    "a message": says(b">2\r\n$7\r\nmessage\r\n$1\r\nx\r\n"),
    "messages": says(b">1\r\n:1\r\n" * 10_000),
    "an empty error": says(b"-\r\n"),
    "an error": says(b"-ERR no\r\n"),
    "a wrong type": says(b"-WRONGTYPE Operation against a key\r\n"),
    "no script": says(b"-NOSCRIPT No matching script\r\n"),
    "loading": says(b"-LOADING Redis is loading\r\n"),
    "moved": says(b"-MOVED 1 127.0.0.1:1\r\n"),
    "moved nowhere": says(b"-MOVED\r\n"),
    "read-only": says(b"-READONLY You can't write against a read only replica.\r\n"),
    "two answers": says(b"+OK\r\n+OK\r\n"),
    "the end": closes_after(b""),
    "the end in a line": closes_after(b"$1"),
    "the end in a text": closes_after(b"$100\r\nabc"),
    "the end in an array": closes_after(b"*3\r\n:1\r\n"),
    "drops": drips(b"$100000\r\n" + b"x" * 1000),
    "drops of a line": drips(b"+" + b"x" * 1000),
    "drops of an array": drips(b"*1000\r\n" + b":1\r\n" * 1000),
    "a flood of text": endless(b"$99999999999\r\n", b"x" * 1000),
    "a flood of a line": endless(b"+", b"x" * 1000),
    "a flood of integers": endless(b"*1000000000\r\n", b":1\r\n"),
    "a flood of empty arrays": endless(b"*1000000000\r\n", b"*0\r\n"),
    "a flood of messages": endless(b"", b">1\r\n:1\r\n"),
}


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("koster.cache.redis._TIMEOUT", 0.25)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    # In KiB; what is read of an answer is bounded.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 << 10


@pytest.fixture(params=ATTACKS)
def attack(request: pytest.FixtureRequest) -> Answer:
    return ATTACKS[request.param]


@pytest.fixture(params=[False, True], ids=["from the start", "after greetings"])
def is_polite(request: pytest.FixtureRequest) -> bool:
    found: bool = request.param
    return found


@contextmanager
def in_time(seconds: float = 8) -> Iterator[None]:
    began = time.monotonic()
    yield
    assert time.monotonic() - began < seconds


def test_a_cache_that_is_attacked_has_nothing_or_says_so(attack: Answer, is_polite: bool) -> None:
    with (
        running(attack, is_polite=is_polite) as fake,
        closing(RedisCache(fake.url)) as cache,
        in_time(),
    ):
        for _ in range(2):
            with contextlib.suppress(koster.CacheError):
                assert cache.get("a") is None
            with contextlib.suppress(koster.CacheError):
                cache.put("a", ENTRY)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["nothing", "a deep array", "drops", "a wrong type", "the end"])
def test_a_client_goes_on_without_a_cache_that_is_attacked(kind: str, name: str) -> None:
    events: list[Event] = []
    with running(ATTACKS[name], is_polite=True) as fake, in_time():
        found = ask(
            kind, *[("allowed", "https://example.com/x")] * 3, cache=fake.url, transport=SITES,
            on_event=events.append,
        )  # fmt: skip
    assert found == [False] * 3
    assert [event.name for event in events].count(EventName.CACHE_FAILED) <= 1


def test_a_pacer_that_is_attacked_keeps_the_pace_alone(attack: Answer, is_polite: bool) -> None:
    events: list[Event] = []
    now = datetime.now(UTC)
    with running(attack, is_polite=is_polite) as fake, in_time(15):
        pacer = FleetPacer(fake.url, on_event=events.append)
        pacer.took(KEY, 1)
        assert pacer.turn(KEY, RULES, now) >= 0
        assert pacer.next_request(KEY, RULES, now) >= now
        # Were the server's word the only one, the first turn might not be had at all.
        alone = pacer._local.turn(KEY, RULES, now)
        assert 0 <= alone <= 60
        assert 59 < pacer.turn(KEY, RULES, now) <= 61
        pacer.took(KEY, 1)
        pacer._redis.close()
    assert len(events) <= 2
    assert all(event.name in (EventName.PACE_FAILED, EventName.PACE_REPLACED) for event in events)


def test_a_client_waits_by_itself_where_the_pacer_is_attacked(attack: Answer) -> None:
    with running(attack, is_polite=True) as fake, in_time(15):
        pacer = FleetPacer(fake.url)
        with (
            RobotsClient(NAME, transport=SITES, pacer=pacer) as client,
            contextlib.suppress(koster.TooSoonError),
        ):
            client.wait("https://example.com/y", at_most=0.5)
            with pytest.raises(koster.TooSoonError):
                client.wait("https://example.com/y", at_most=0.5)
        pacer._redis.close()


def test_the_entry_of_another_origin_is_not_taken() -> None:
    """As where the server answers each command with what the one before should have had."""
    other = replace(ENTRY, origin="https://other.example", body=b"User-agent: *\nDisallow: /")
    expires = datetime.now(UTC) + timedelta(hours=1)
    record = encode_entry(replace(other, expires=expires, unreachable_since=None))
    with (
        running(says(b"$%d\r\n%s\r\n" % (len(record), record)), is_polite=True) as fake,
        RobotsClient(NAME, transport=SITES, cache=fake.url) as client,
    ):
        assert client.allowed("https://example.com/y")
        assert not client.allowed("https://example.com/x")
        assert client.robots("https://example.com/").origin == "https://example.com"


def test_a_greeting_that_fails_is_not_skipped_the_next_time() -> None:
    """Or commands would go to another database than the one that was asked for."""
    state = {"is_bad": True}

    def answer(connection: socket.socket, command: list[bytes]) -> None:
        if command[0] in GREETINGS and not (command[0] == b"HELLO" and state["is_bad"]):
            connection.sendall(GREETINGS[command[0]])
        elif command[0] == b"HELLO":
            connection.sendall(b":5\r\n")
        else:
            connection.sendall(b"_\r\n")

    with running(answer, is_polite=False) as fake:
        with closing(RedisCache(fake.url.replace("/0", "/7"))) as cache:
            with contextlib.suppress(koster.CacheError):
                cache.get("a")
            state["is_bad"] = False
            fake.commands.clear()
            assert cache.get("a") is None
        names = [command[0] for command in fake.commands]
    assert names.index(b"SELECT") < names.index(b"GET")


def test_an_entry_of_the_greatest_length_is_read(redis_url: str) -> None:
    hops = (replace(ENTRY.hops[0], headers=(("location", "\udcff" * 1000),) * 11),) * 6
    entry = replace(ENTRY, body="┌".encode() * koster.access.MAX_BYTES, hops=hops)
    with closing(RedisCache(redis_url, prefix="longest:")) as cache:
        cache.put("a", entry)
        assert cache.get("a") == entry
