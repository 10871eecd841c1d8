"""Tasks of `benchmarks.fetching` that run in their own process."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import time
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio

from . import data
from .fetching import AT_ONCE, NAME, ORIGINS


def server(port: str) -> None:
    """Answer every origin with a real file; ``/counts`` returns the requests of each host."""
    bodies = [body[:512_000] for body in data.corpus().values()]
    counts: Counter[str] = Counter()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
                host = next(line[6:].decode() for line in head if line[:6].lower() == b"host: ")
                if head[0].split()[1] == b"/counts":
                    body = json.dumps(counts).encode()
                else:
                    counts[host] += 1
                    body = bodies[int(host.split(".")[0][4:]) % len(bodies)]
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n"
                    % len(body)
                )
                writer.write(body)
                await writer.drain()
                if b"Connection: close" in head:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def run() -> None:
        running = await asyncio.start_server(serve, "127.0.0.1", int(port), backlog=1000)
        await running.serve_forever()

    asyncio.run(run())


def _resolve_to_loopback() -> None:
    """Resolve all names of the benchmark to this machine."""
    real = socket.getaddrinfo

    def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        return real("127.0.0.1" if str(name).endswith(".test") else host, *args, **kwargs)

    socket.getaddrinfo = getaddrinfo


def _resident() -> int:
    """Return the resident memory of this process, in KiB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


async def _request_all(ask: Any, port: str) -> dict[str, float]:
    """Request all origins, `AT_ONCE` at a time."""
    numbers = iter(range(ORIGINS))
    memory: dict[int, int] = {}
    done = 0

    async def work() -> None:
        nonlocal done
        for number in numbers:
            await ask(f"http://site{number}.test:{port}/robots.txt-is-not-this")
            done += 1
            if done in (1_000, ORIGINS):
                memory[done] = _resident()

    start = time.perf_counter()
    async with anyio.create_task_group() as tasks:
        for _ in range(AT_ONCE):
            tasks.start_soon(work)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "first": memory[1_000], "last": memory[ORIGINS]}


def koster(port: str) -> None:
    """Decide about a page of each origin."""
    from koster import AsyncRobotsClient
    from koster.cache import MemoryCache

    async def run() -> None:
        cache = MemoryCache(entries=1_000)
        async with AsyncRobotsClient(NAME, cache=cache, at_once=AT_ONCE, timeout=60) as client:

            async def ask(url: str) -> None:
                decision = await client.decide(url)
                assert not decision.why, decision

            print(json.dumps(await _request_all(ask, port)))

    _resolve_to_loopback()
    asyncio.run(run())


def httpx2(port: str) -> None:
    """Get the robots.txt of each origin."""
    import httpx2 as bare

    async def run() -> None:
        limits = bare.Limits(max_connections=AT_ONCE, max_keepalive_connections=10)
        headers = {"User-Agent": NAME}
        async with bare.AsyncClient(limits=limits, timeout=60, headers=headers) as client:

            async def ask(url: str) -> None:
                response = await client.get(url.rpartition("/")[0] + "/robots.txt")
                assert response.status_code == 200

            print(json.dumps(await _request_all(ask, port)))

    _resolve_to_loopback()
    asyncio.run(run())


def first_decision(path: str, number: str) -> None:
    """Decide by the entries of a cache file."""
    from koster.fetch import MockTransport, RobotsClient

    start = time.perf_counter()
    with RobotsClient(NAME, cache=path, transport=MockTransport({})) as client:
        decision = client.decide(f"https://site{number}.example/x")
        seconds = time.perf_counter() - start
    assert not decision.why
    print(json.dumps({"opened": seconds}))


def write(path: str, name: str, first: str) -> None:
    """Write until killed, and print each number that is written."""
    from koster.cache import SqliteCache
    from koster.freshness import Answer, Entry

    cache = SqliteCache(path)
    now = datetime.now(UTC)
    entry = Entry(name, Answer.FILE, name, (), 0, "", b"", now, now + timedelta(hours=1))
    number = int(first)
    while True:
        number += 1
        cache.put(name, replace(entry, status=number, body=b"%d\n" % number * 1000))
        print(number, flush=True)


if __name__ == "__main__":
    task, *arguments = sys.argv[1:]
    globals()[task](*arguments)
