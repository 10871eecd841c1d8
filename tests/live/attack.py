"""Attacks on a service, each run as a process of its own: ``python attack.py NAME URL …``."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import sys
import time
from urllib.parse import urlsplit


def place(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    assert parts.hostname
    return parts.hostname, parts.port or 80


def idle(url: str, number: int, seconds: float) -> None:
    """Hold so many connections on which nothing is sent; open those again that are closed."""
    until = time.monotonic() + seconds
    held: list[socket.socket] = []
    opened = 0
    while time.monotonic() < until:
        alive = []
        for connection in held:
            try:
                connection.recv(4096)
            except BlockingIOError:
                alive.append(connection)
            except OSError:
                connection.close()
            else:
                connection.close()
        held = alive
        while len(held) < number and time.monotonic() < until:
            connection = socket.socket()
            connection.settimeout(1)
            try:
                connection.connect(place(url))
            except OSError:
                connection.close()
                break
            connection.setblocking(False)
            held.append(connection)
            opened += 1
        time.sleep(0.02)
    print(json.dumps({"opened": opened, "held": len(held)}))


async def _asking(url: str, address: str, request: bytes, until: float, codes: list[int]) -> None:
    """Ask the same on one connection after the other, from an address."""
    while time.monotonic() < until:
        status = 0
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, ValueError):
            reader, writer = await asyncio.open_connection(*place(url), local_addr=(address, 0))
            writer.write(request)
            line = await reader.readline()
            status = int(line.split()[1])
            await reader.read(1 << 20)
            writer.close()
        codes.append(status)
        if status != 200:
            await asyncio.sleep(0.05)


async def _all_asking(
    url: str, route: str, body: bytes, addresses: list[str], each: int, seconds: float
) -> dict[str, int]:
    codes: list[int] = []
    head = (
        f"POST /v1/{route} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    until = time.monotonic() + seconds
    tasks = [
        asyncio.create_task(_asking(url, address, head.encode() + body, until, codes))
        for address in addresses
        for _ in range(each)
    ]
    await asyncio.wait(tasks, timeout=seconds)
    return {str(code): codes.count(code) for code in sorted(set(codes))}


def work(url: str, route: str, path: str, clients: int, each: int, seconds: float) -> None:
    """Have some clients, each with an address of its own, ask a long question again and again."""
    with open(path, "rb") as file:
        body = file.read()
    addresses = [f"127.0.1.{number + 1}" for number in range(clients)]
    print(json.dumps(asyncio.run(_all_asking(url, route, body, addresses, each, seconds))))


if __name__ == "__main__":
    name, *arguments = sys.argv[1:]
    if name == "idle":
        idle(arguments[0], int(arguments[1]), float(arguments[2]))
    else:
        url, route, path, clients, each, seconds = arguments
        work(url, route, path, int(clients), int(each), float(seconds))
