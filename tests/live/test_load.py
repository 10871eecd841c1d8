"""Load tests: no response is lost or mixed up, also when the service stops under load."""

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

from tests.helpers import serving

#: Concurrent clients, and the duration in seconds; `make soak` takes 30.
CLIENTS = 500
SECONDS = float(os.environ.get("KOSTER_LOAD_SECONDS", "10"))


@dataclass
class Tally:
    """Totals over all requests."""

    answered: int = 0
    wrong: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    refused: int = 0
    #: Connections that were reset before their first response.
    resets: int = 0
    latencies: list[float] = field(default_factory=list)


class LoadClient:
    """A client that sends distinct requests one after another on one connection."""

    def __init__(self, url: str, name: int, tally: Tally) -> None:
        parsed_url = httpx2.URL(url)
        self.host, self.port = parsed_url.host, parsed_url.port
        self.name = name
        self.tally = tally
        self.number = 0
        self.has_response = False
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None

    async def connect(self) -> bool:
        """Connect; return False if the service no longer listens."""
        try:
            self.has_response = False
            self.reader, self.writer = await asyncio.open_connection(self.host, self.port)
        except (ConnectionRefusedError, ConnectionResetError):
            self.tally.refused += 1
            return False
        return True

    def next_request(self) -> tuple[bytes, str, int]:
        """Return a unique request, its URL, and the line of the deciding rule."""
        self.number += 1
        lines = 1 + (self.name * 7 + self.number) % 20
        url = f"/client-{self.name}/{self.number}"
        robots = "User-agent: *\n" + "Disallow: /other\n" * lines + f"Disallow: {url}$\n"
        body = json.dumps({"robots": robots, "agents": [f"Bot{self.name}"], "urls": [url]}).encode()
        head = (
            "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body, url, lines + 2

    async def ask(self) -> bool:
        """Send one request; return False if the connection must be closed."""
        assert self.reader is not None
        assert self.writer is not None
        raw_bytes, url, line = self.next_request()
        start = time.monotonic()
        try:
            self.writer.write(raw_bytes)
            head = await self.reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            body = await self.reader.readexactly(length)
        except (OSError, asyncio.IncompleteReadError) as error:
            if isinstance(error, ConnectionResetError) and not self.has_response:
                self.tally.resets += 1
                return False
            self.tally.lost.append(f"{url}: {error!r}")
            return False
        self.tally.latencies.append(time.monotonic() - start)
        self.tally.answered += 1
        self.has_response = True
        (decision,) = json.loads(body)["decisions"]
        decision_values = decision["agent"], decision["url"], decision["line"], decision["allowed"]
        if decision_values != (f"Bot{self.name}", url, line, False):
            self.tally.wrong.append(f"{url}: {decision_values}")
        return b"connection: close" not in head.lower()

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()


async def run_clients(
    command: serving.Command, clients: int, seconds: float
) -> tuple[Tally, list[int]]:
    """Run clients for a time; return the totals and the memory use of the service."""
    tally = Tally()
    until = time.monotonic() + seconds
    memory: list[int] = []

    async def run_client(name: int) -> None:
        client = LoadClient(command.url, name, tally)
        assert await client.connect()
        while time.monotonic() < until:
            if not await client.ask():
                tally.lost.append("the connection was closed")
                break
        client.close()

    async def watch_memory() -> None:
        while time.monotonic() < until:
            await asyncio.sleep(seconds / 30)
            memory.append(command.memory())

    await asyncio.gather(watch_memory(), *(run_client(name) for name in range(clients)))
    return tally, memory


def test_five_hundred_clients(record_property: Any) -> None:
    with serving.as_command("--rate", 0, "--connections-per-client", 0) as command:
        tally, memory = asyncio.run(run_clients(command, CLIENTS, SECONDS))
        assert tally.wrong == []
        assert (tally.lost, tally.resets) == ([], 0)
        assert tally.answered > CLIENTS
        # Memory use must not grow after the first third of the time.
        baseline = memory[len(memory) // 3]
        assert max(memory) < baseline * 1.15 + (8 << 20), [each >> 20 for each in memory]
        assert max(memory) < 400 << 20
        with httpx2.Client(base_url=command.url) as api:
            metrics = api.get("/metrics").text
        assert f"koster_questions_total {tally.answered}.0" in metrics
    latencies = sorted(tally.latencies)
    print(
        f"\n{CLIENTS} clients, {SECONDS:g} s: {tally.answered / SECONDS:,.0f} requests/s, "
        f"median {latencies[len(latencies) // 2] * 1000:.0f} ms, "
        f"p99 {latencies[len(latencies) * 99 // 100] * 1000:.0f} ms, "
        f"memory {baseline >> 20} to {max(memory) >> 20} MiB"
    )


@pytest.mark.parametrize("number", range(5))
def test_stop_under_load_answers_all_accepted_requests(number: int) -> None:
    """Each accepted connection gets its responses; the last one closes the connection."""
    tally = Tally()
    with serving.as_command("--rate", 0) as command:

        async def run_client(name: int) -> None:
            client = LoadClient(command.url, name, tally)
            while await client.connect():
                while await client.ask():
                    pass
                client.close()

        async def run_until_stopped() -> None:
            tasks = [asyncio.create_task(run_client(name)) for name in range(50)]
            await asyncio.sleep(0.5 + number / 7)
            command.process.send_signal(signal.SIGTERM)
            await asyncio.gather(*tasks)

        asyncio.run(run_until_stopped())
        assert command.process.wait(30) in (0, -signal.SIGTERM)
        command.entry("stopped")
    assert tally.wrong == []
    assert tally.lost == []
    assert tally.answered > 100
    # Connections reset before their first response were not accepted; there are very few.
    assert tally.refused + tally.resets == 50 + tally.resets
    assert tally.resets <= 2


def test_stop_waits_for_long_requests() -> None:
    """One request is running in a worker process; the body of another is still arriving."""
    robots = "User-agent: *\n" + "".join(f"Disallow: *{number}*x\n" for number in range(3_000))
    request_body = json.dumps({"robots": robots}).encode()
    head = (
        b"POST /v1/audit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n" % len(request_body)
    )
    with serving.as_command("--rate", 0) as command:
        with serving.connected(command.url) as busy, serving.connected(command.url) as sending:
            busy.sendall(head + request_body)
            sending.sendall(head + request_body[:100])
            time.sleep(0.1)
            command.process.send_signal(signal.SIGTERM)
            time.sleep(0.2)
            sending.sendall(request_body[100:])
            for connection in (busy, sending):
                answer = serving.read_all(connection)
                assert answer.startswith(b"HTTP/1.1 200 OK"), answer[:200]
                assert answer.endswith(b"}")
        assert command.process.wait(40) in (0, -signal.SIGTERM)


def test_requests_unfinished_after_the_grace_period_get_503() -> None:
    """One of two endless requests waits for a worker; two more requests are still arriving."""
    request_body = json.dumps({"robots": "User-agent: *\nDisallow: /private/\n" * 100}).encode()
    head = (
        b"POST /v1/audit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n" % len(request_body)
    )
    options = ("--rate", 0, "--grace", 1, "--workers", 1, "--work-timeout", 60)
    with serving.as_command(*options) as command, ExitStack() as stack:
        busy, queued, arriving, beginning, idle = (
            stack.enter_context(serving.connected(command.url)) for _ in range(5)
        )
        command.pause_workers()
        for connection in (busy, queued):
            connection.sendall(head + request_body)
            time.sleep(0.5)
        arriving.sendall(head + request_body[:100])
        beginning.sendall(head[:-10])
        time.sleep(0.5)
        command.process.send_signal(signal.SIGTERM)
        for connection in (busy, queued, arriving, beginning):
            answer = serving.read_all(connection)
            assert answer.startswith(b"HTTP/1.1 503 "), answer[:200]
            assert b'"code": "stopping"' in answer
            assert answer.count(b"HTTP/1.1") == 1
        assert serving.read_all(idle) == b""
        assert command.process.wait(20) in (0, -signal.SIGTERM)
        command.entry("stopped")
    grace_entry = next(
        each for each in command.entries if each["message"].startswith("grace period")
    )
    assert grace_entry["requests"] == 3
    assert [each for each in command.entries if "exception" in each] == []


def test_kill_leaves_no_processes() -> None:
    """The worker processes end with the service."""
    with serving.as_command("--rate", 0) as command:
        children = command.worker_processes()
        assert children
        command.process.kill()
        command.process.wait()
        until = time.monotonic() + 10
        while any(os.path.exists(f"/proc/{child}/fd/0") for child in children):
            assert time.monotonic() < until, "a process is left"
            time.sleep(0.05)
