"""Fetching, on loopback: the server, and all names, for which a patched resolver is."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from statistics import median
from typing import Any

import anyio

import koster
from koster.cache import MemoryCache

from . import data
from .measure import asked, child, ratio, resident, started, table

ORIGINS = 5_000
AT_ONCE = 100
#: The files that the memory of a client is looked at after.
_FIRST = 1_000
NAME = "FooBot/1.0 (+https://foo.example/bot)"


def run(rounds: int) -> dict[str, float]:
    """Compare a client that fetches many origins with httpx2 alone."""
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in CLIENTS}
    for _ in range(min(rounds, 3)):
        for name in CLIENTS:
            server = started(serving)
            port = asked(server)
            print(file=server.stdin, flush=True)
            taken[name].append(child(fetching, name, port))
            origins, of_one = asked(server)
            assert (origins, of_one) == (ORIGINS, 1), f"{name}: {origins} origins, {of_one} times"
            server.communicate()
    seconds = {name: [each["seconds"] for each in results] for name, results in taken.items()}
    faster = ratio(seconds["httpx2"], seconds["koster"])
    rows = []
    for name, results in taken.items():
        first, last = (median(each[key] / 2**20 for each in results) for key in ("first", "last"))
        rows.append([
            name, f"{ORIGINS / median(seconds[name]):,.0f}",
            f"{faster:.0%}" if name == "koster" else "",
            f"{first:.0f} MiB", f"{last:.0f} MiB", f"{last / first - 1:.0%}",
        ])  # fmt: skip
    print(f"## {ORIGINS:,} origins, {AT_ONCE} at a time, each fetched once over loopback\n")
    memory = [f"RSS after {_FIRST:,}", "after all", "grown"]
    table(["client", "fetches a second", "of httpx2", *memory], rows)
    print("httpx2 reads each body and does nothing with it; koster decodes, parses, decides and")
    print(f"keeps the last {_FIRST:,} entries. No origin was asked twice.\n")
    return {"origins": faster}


def serving() -> Iterator[Any]:
    """Yield a port; answer each origin there with a real file, until the next line of input.

    Then yield the number of origins that were asked, and the most requests of one.
    """
    bodies = [body[:512_000] for body in data.bodies()]
    counts: Counter[str] = Counter()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
                host = next(line[6:].decode() for line in head if line[:6].lower() == b"host: ")
                counts[host] += 1
                body = bodies[int(host.split(".")[0][4:]) % len(bodies)]
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n"
                    % len(body)
                )
                writer.write(body)
                await writer.drain()
        writer.close()

    async def until_asked() -> None:
        running = await asyncio.start_server(serve, sock=listening)
        async with running:
            await asyncio.to_thread(sys.stdin.readline)

    listening = socket.create_server(("127.0.0.1", 0), backlog=1000)
    yield listening.getsockname()[1]
    asyncio.run(until_asked())
    yield [len(counts), max(counts.values())]


def _koster() -> Any:
    cache = MemoryCache(entries=_FIRST)
    return koster.AsyncRobotsClient(NAME, cache=cache, at_once=AT_ONCE, timeout=60)


async def _decide(client: Any, origin: str) -> None:
    decision = await client.decide(f"{origin}/robots.txt-is-not-this")
    assert not decision.why, decision


def _httpx2() -> Any:
    import httpx2

    limits = httpx2.Limits(max_connections=AT_ONCE, max_keepalive_connections=10)
    return httpx2.AsyncClient(limits=limits, timeout=60, headers={"User-Agent": NAME})


async def _get(client: Any, origin: str) -> None:
    response = await client.get(f"{origin}/robots.txt")
    assert response.status_code == 200


#: How a client is made, and how it fetches the robots.txt of an origin.
CLIENTS = {"koster": (_koster, _decide), "httpx2": (_httpx2, _get)}


def fetching(name: str, port: int) -> dict[str, float]:
    """Return the seconds that a client takes for all origins, and its memory in between."""
    return asyncio.run(_ask_all(*CLIENTS[name], port))


async def _ask_all(
    made: Callable[[], Any], ask: Callable[[Any, str], Awaitable[None]], port: int
) -> dict[str, float]:
    """Ask all origins, `AT_ONCE` at a time, all of which are this machine."""
    resolve = socket.getaddrinfo
    socket.getaddrinfo = lambda _, *rest, **more: resolve("127.0.0.1", *rest, **more)
    numbers = iter(range(ORIGINS))
    found: dict[str, float] = {}
    done = 0

    async def work() -> None:
        nonlocal done
        for number in numbers:
            await ask(client, f"http://site{number}.test:{port}")
            done += 1
            if done in (_FIRST, ORIGINS):
                found["first" if done == _FIRST else "last"] = resident()

    async with made() as client:
        start = time.perf_counter()
        async with anyio.create_task_group() as tasks:
            for _ in range(AT_ONCE):
                tasks.start_soon(work)
        return {**found, "seconds": time.perf_counter() - start}
