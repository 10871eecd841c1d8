"""Runs the service for tests, in a thread or as ``koster serve``."""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import json
import os
import queue
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from koster.service import ServiceSettings, _server, _work, create_app, open_listener
from koster.service._server import create_server
from tests.helpers import forked_commands

#: Fetching from loopback is allowed, and clients are not rate-limited.
OPEN = ServiceSettings(rate=0, work_per_minute=0, let_through=("127.0.0.1/32",))


@functools.cache
def hard() -> str:
    """Return a file that `lint` takes seconds for: each group has other rules that overlap."""
    chance = random.Random(1)
    lines = []
    for number in range(1_100):
        lines.append(f"User-agent: bot{number}")
        patterns = ("".join(chance.choices("&=?a*", k=chance.randint(1, 3))) for _ in range(50))
        lines += [f"Disallow: /{pattern}" for pattern in patterns]
    return "\n".join(lines)


@contextlib.contextmanager
def in_thread(settings: ServiceSettings = OPEN, **options: Any) -> Iterator[str]:
    """Run the service in a thread and yield its URL. Monkeypatches of the test apply to it."""
    _server._DRAIN_SECONDS = 0.05
    # Workers start when they are first asked.
    _work._INITIAL_WORKERS = -1
    server = create_server(create_app(settings), **options)
    listener = open_listener("127.0.0.1", 0)
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        until = time.monotonic() + 30
        while not server.started:
            assert thread.is_alive(), "the service did not start"
            assert time.monotonic() < until, "the service did not start in time"
            time.sleep(0.01)
        yield url
    finally:
        server.should_exit = True
        thread.join(60)
        if thread.is_alive():
            faulthandler.dump_traceback()
            raise AssertionError("the service did not stop")
        listener.close()


@dataclass
class Command:
    """A running ``koster serve``, whose log is read as it is written."""

    process: subprocess.Popen[str] | forked_commands.Command
    url: str = ""
    entries: list[dict[str, Any]] = field(default_factory=list)
    lines: queue.SimpleQueue[str] = field(default_factory=queue.SimpleQueue)

    def read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.put(line)
        self.lines.put("")

    def entry(self, message: str, timeout: float = 30) -> dict[str, Any]:
        """Return the next log entry with a message."""
        until = time.monotonic() + timeout
        while True:
            line = self.lines.get(timeout=max(0.01, until - time.monotonic()))
            assert line, f"no entry {message!r}; there were {self.entries[-5:]}"
            entry: dict[str, Any] = json.loads(line)
            self.entries.append(entry)
            if entry["message"] == message:
                return entry

    def stop(self, number: int = signal.SIGTERM, timeout: float = 40) -> int:
        """Send a signal, wait until the process exits, and return its exit code."""
        self.process.send_signal(number)
        return self.process.wait(timeout)

    def worker_processes(self) -> list[int]:
        """Return the process identifiers of the workers."""
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(each) for each in path.read_text().split()]

    def pause_workers(self) -> None:
        """Suspend all workers, so that no request that needs one is ever answered."""
        workers = self.worker_processes()
        assert workers
        for each in workers:
            os.kill(each, signal.SIGSTOP)

    def memory(self) -> int:
        """Return the resident memory of the process in bytes."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")


@contextlib.contextmanager
def as_command(
    *options: object, port: int = 0, descriptors: int | None = None, forked: bool = False
) -> Iterator[Command]:
    """Run ``koster serve``; ``descriptors`` limits its open file descriptors."""
    arguments = ["serve", "--port", port, "--cache", "memory", *options]
    if forked:
        command = Command(forked_commands.Command(*arguments, stderr=subprocess.PIPE))
    else:
        limited = ["sh", "-c", f'ulimit -n {descriptors} && exec "$@"', "sh"] if descriptors else []
        started = [*limited, sys.executable, "-m", "koster", *map(str, arguments)]
        command = Command(
            subprocess.Popen(started, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        )
    process = command.process
    reader = threading.Thread(target=command.read, daemon=True)
    reader.start()
    try:
        command.url = command.entry("listening")["address"]
        yield command
    finally:
        process.kill()
        process.wait()
        reader.join(10)
        assert process.stderr is not None
        process.stderr.close()


def connected(url: str) -> socket.socket:
    """Return a connection to a service."""
    address = httpx2.URL(url)
    return socket.create_connection((address.host, address.port or 80), timeout=20)


def read_all(connection: socket.socket) -> bytes:
    """Return all bytes received until the connection closes."""
    parts = []
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)
