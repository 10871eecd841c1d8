"""Starts a real Redis server on loopback if it is installed."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.helpers import server

#: The reason for skipping tests, with the package to install.
MISSING = "no redis-server on this machine: install Debian's package redis-server"


def program() -> str | None:
    return shutil.which("redis-server")


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """Run a server and yield its URL."""
    port = server.closed_port()
    process = start(folder, port)
    try:
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.kill()
        process.wait()


def start(folder: Path, port: int) -> subprocess.Popen[bytes]:
    """Start a server and wait until it responds."""
    path = program()
    assert path is not None
    options = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(folder)]
    process = subprocess.Popen(
        [path, "--port", str(port), *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for _ in range(500):
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
                connection.sendall(b"PING\r\n")
                if connection.recv(7) == b"+PONG\r\n":
                    return process
        except OSError:
            time.sleep(0.02)
    process.kill()
    raise AssertionError("redis-server did not start")
