"""Attacks on a service. Each runs as a separate process: ``python attack.py NAME URL …``."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import sys
import time
from urllib.parse import urlsplit


def address_of(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    assert parts.hostname
    return parts.hostname, parts.port or 80


def idle(url: str, count: int, seconds: float) -> None:
    """Keep ``count`` idle connections open for a time, and reopen closed ones."""
    until = time.monotonic() + 30
    connections: list[socket.socket] = []
    opened = 0
    is_complete = False
    while time.monotonic() < until:
        alive = []
        for connection in connections:
            try:
                connection.recv(4096)
            except BlockingIOError:
                alive.append(connection)
            except OSError:
                connection.close()
            else:
                connection.close()
        connections = alive
        while len(connections) < count and time.monotonic() < until:
            connection = socket.socket()
            connection.settimeout(1)
            try:
                connection.connect(address_of(url))
            except OSError:
                connection.close()
                break
            connection.setblocking(False)
            connections.append(connection)
            opened += 1
        if opened >= count and not is_complete:
            is_complete = True
            until = time.monotonic() + seconds
        time.sleep(0.02)
    print(json.dumps({"opened": opened, "held": len(connections)}))


async def _send_repeatedly(
    url: str, address: str, request: bytes, until: float, codes: list[int]
) -> None:
    """Send the same request on one connection after another, from one address."""
    while time.monotonic() < until:
        status = 0
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, ValueError):
            reader, writer = await asyncio.open_connection(
                *address_of(url), local_addr=(address, 0)
            )
            writer.write(request)
            line = await reader.readline()
            status = int(line.split()[1])
            await reader.read(1 << 20)
            writer.close()
        codes.append(status)
        if status != 200:
            await asyncio.sleep(0.05)


async def _send_from_all(
    url: str,
    route: str,
    body: bytes,
    addresses: list[str],
    connections_per_client: int,
    seconds: float,
) -> dict[str, int]:
    codes: list[int] = []
    head = (
        f"POST /v1/{route} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    until = time.monotonic() + seconds
    tasks = [
        asyncio.create_task(_send_repeatedly(url, address, head.encode() + body, until, codes))
        for address in addresses
        for _ in range(connections_per_client)
    ]
    await asyncio.wait(tasks, timeout=seconds)
    return {str(code): codes.count(code) for code in sorted(set(codes))}


def work(
    url: str, route: str, path: str, clients: int, connections_per_client: int, seconds: float
) -> None:
    """Send a long request repeatedly from several clients, each with its own address."""
    with open(path, "rb") as file:
        body = file.read()
    addresses = [f"127.0.1.{number + 1}" for number in range(clients)]
    print(
        json.dumps(
            asyncio.run(
                _send_from_all(url, route, body, addresses, connections_per_client, seconds)
            )
        )
    )


if __name__ == "__main__":
    name, *arguments = sys.argv[1:]
    if name == "idle":
        idle(arguments[0], int(arguments[1]), float(arguments[2]))
    else:
        url, route, path, clients, connections_per_client, seconds = arguments
        work(url, route, path, int(clients), int(connections_per_client), float(seconds))
