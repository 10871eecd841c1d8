"""Many clients at once, and a stop while they ask: nothing is lost, nothing is mixed up."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest
import serving

#: Clients at once, and seconds for which they ask.
CLIENTS = 500
SECONDS = float(os.environ.get("KOSTER_LOAD_SECONDS", "30"))


@dataclass
class Tally:
    """What came of all requests."""

    answered: int = 0
    wrong: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    refused: int = 0
    #: Connections that were reset before the service had taken them up.
    untaken: int = 0
    waited: list[float] = field(default_factory=list)


class Asker:
    """A client that asks one question after the other, each its own, on one connection."""

    def __init__(self, url: str, name: int, tally: Tally) -> None:
        place = httpx2.URL(url)
        self.host, self.port = place.host, place.port
        self.name = name
        self.tally = tally
        self.number = 0
        self.is_taken_up = False
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None

    async def connect(self) -> bool:
        """Connect; False if nobody listens any more."""
        try:
            self.is_taken_up = False
            self.reader, self.writer = await asyncio.open_connection(self.host, self.port)
        except (ConnectionRefusedError, ConnectionResetError):
            self.tally.refused += 1
            return False
        return True

    def question(self) -> tuple[bytes, str, int]:
        """Return a request that nobody else makes, its URL, and the line that decides."""
        self.number += 1
        lines = 1 + (self.name * 7 + self.number) % 20
        url = f"/client-{self.name}/{self.number}"
        robots = "User-agent: *\n" + "Disallow: /other\n" * lines + f"Disallow: {url}$\n"
        body = json.dumps({"robots": robots, "agents": [f"Bot{self.name}"], "urls": [url]}).encode()
        head = (
            "POST /v1/decide HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body, url, lines + 2

    async def ask(self) -> bool:
        """Ask once; False if the connection is to be closed."""
        assert self.reader is not None
        assert self.writer is not None
        raw_bytes, url, line = self.question()
        began = time.monotonic()
        try:
            self.writer.write(raw_bytes)
            head = await self.reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            body = await self.reader.readexactly(length)
        except (OSError, asyncio.IncompleteReadError) as error:
            if isinstance(error, ConnectionResetError) and not self.is_taken_up:
                self.tally.untaken += 1
                return False
            self.tally.lost.append(f"{url}: {error!r}")
            return False
        self.tally.waited.append(time.monotonic() - began)
        self.tally.answered += 1
        self.is_taken_up = True
        (decided,) = json.loads(body)["decisions"]
        told = decided["agent"], decided["url"], decided["line"], decided["allowed"]
        if told != (f"Bot{self.name}", url, line, False):
            self.tally.wrong.append(f"{url}: {told}")
        return b"connection: close" not in head.lower()

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()


async def all_asking(
    command: serving.Command, clients: int, seconds: float
) -> tuple[Tally, list[int]]:
    """Have many ask for a time; gives what came of it, and what memory the service had."""
    tally = Tally()
    until = time.monotonic() + seconds
    memory: list[int] = []

    async def asking(name: int) -> None:
        asker = Asker(command.url, name, tally)
        assert await asker.connect()
        while time.monotonic() < until:
            if not await asker.ask():
                tally.lost.append("the connection was closed")
                break
        asker.close()

    async def watching() -> None:
        while time.monotonic() < until:
            await asyncio.sleep(seconds / 30)
            memory.append(command.memory())

    await asyncio.gather(watching(), *(asking(name) for name in range(clients)))
    return tally, memory


def test_five_hundred_clients(record_property: Any) -> None:
    with serving.as_command("--rate", 0, "--connections-per-client", 0) as command:
        tally, memory = asyncio.run(all_asking(command, CLIENTS, SECONDS))
        assert tally.wrong == []
        assert (tally.lost, tally.untaken) == ([], 0)
        assert tally.answered > CLIENTS
        # After a third of the time it has what it needs; then it stays.
        settled = memory[len(memory) // 3]
        assert max(memory) < settled * 1.15 + (8 << 20), [each >> 20 for each in memory]
        assert max(memory) < 400 << 20
        with httpx2.Client(base_url=command.url) as api:
            told = api.get("/metrics").text
        assert f"koster_questions_total {tally.answered}.0" in told
    waited = sorted(tally.waited)
    print(
        f"\n{CLIENTS} clients, {SECONDS:g} s: {tally.answered / SECONDS:,.0f} requests/s, "
        f"median {waited[len(waited) // 2] * 1000:.0f} ms, "
        f"p99 {waited[len(waited) * 99 // 100] * 1000:.0f} ms, "
        f"memory {settled >> 20} to {max(memory) >> 20} MiB"
    )


@pytest.mark.parametrize("number", range(5))
def test_a_stop_under_load_loses_nothing_that_was_accepted(number: int) -> None:
    """Who has a connection gets an answer to what was sent on it; the last one says so."""
    tally = Tally()
    with serving.as_command("--rate", 0) as command:

        async def asking(name: int) -> None:
            asker = Asker(command.url, name, tally)
            while await asker.connect():
                while await asker.ask():
                    pass
                asker.close()

        async def all_until_the_end() -> None:
            tasks = [asyncio.create_task(asking(name)) for name in range(50)]
            await asyncio.sleep(0.5 + number / 7)
            command.process.send_signal(signal.SIGTERM)
            await asyncio.gather(*tasks)

        asyncio.run(all_until_the_end())
        assert command.process.wait(30) in (0, -signal.SIGTERM)
        command.entry("stopped")
    assert tally.wrong == []
    assert tally.lost == []
    assert tally.answered > 100
    # A connection that was never taken up is no request that was accepted: those are hardly any.
    assert tally.refused + tally.untaken == 50 + tally.untaken
    assert tally.untaken <= 2


def test_long_work_ends_before_the_service_does() -> None:
    """A question that is worked on in another process, and one whose body is still coming."""
    robots = "User-agent: *\n" + "".join(f"Disallow: *{number}*x\n" for number in range(3_000))
    question = json.dumps({"robots": robots}).encode()
    head = (
        b"POST /v1/audit HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n" % len(question)
    )
    with serving.as_command("--rate", 0) as command:
        with serving.connected(command.url) as working, serving.connected(command.url) as sending:
            working.sendall(head + question)
            sending.sendall(head + question[:100])
            time.sleep(0.1)
            command.process.send_signal(signal.SIGTERM)
            time.sleep(0.2)
            sending.sendall(question[100:])
            for connection in (working, sending):
                answer = serving.read_all(connection)
                assert answer.startswith(b"HTTP/1.1 200 OK"), answer[:200]
                assert answer.endswith(b"}")
        assert command.process.wait(40) in (0, -signal.SIGTERM)


def test_who_is_not_answered_within_the_grace_period_is_told() -> None:
    """Of two questions without end, one waits for a worker; two requests are still arriving."""
    stars = "".join(f"Disallow: /*{number}*x\n" for number in range(60_000))
    endless = json.dumps({"robots": f"User-agent: *\n{stars}"}).encode()
    head = (
        b"POST /v1/audit HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n" % len(endless)
    )
    options = ("--rate", 0, "--grace", 1, "--workers", 1, "--work-timeout", 60)
    with serving.as_command(*options, "--max-body", 8 << 20) as command, ExitStack() as stack:
        working, waiting, arriving, beginning, idle = (
            stack.enter_context(serving.connected(command.url)) for _ in range(5)
        )
        for connection in (working, waiting):
            connection.sendall(head + endless)
            time.sleep(0.5)
        arriving.sendall(head + endless[:100])
        beginning.sendall(head[:-10])
        time.sleep(0.5)
        command.process.send_signal(signal.SIGTERM)
        for connection in (working, waiting, arriving, beginning):
            answer = serving.read_all(connection)
            assert answer.startswith(b"HTTP/1.1 503 "), answer[:200]
            assert b'"code": "stopping"' in answer
            assert answer.count(b"HTTP/1.1") == 1
        assert serving.read_all(idle) == b""
        assert command.process.wait(20) in (0, -signal.SIGTERM)
        command.entry("stopped")
    over = next(each for each in command.entries if each["message"].startswith("grace period"))
    assert over["requests"] == 3
    assert [each for each in command.entries if "exception" in each] == []


def test_nothing_is_left_when_it_is_killed() -> None:
    """Its processes end with it."""
    with serving.as_command("--rate", 0) as command:
        with open(f"/proc/{command.process.pid}/task/{command.process.pid}/children") as file:
            children = [int(each) for each in file.read().split()]
        assert children
        command.process.kill()
        command.process.wait()
        until = time.monotonic() + 10
        while any(os.path.exists(f"/proc/{child}/fd/0") for child in children):
            assert time.monotonic() < until, "a process is left"
            time.sleep(0.05)
