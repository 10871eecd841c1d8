"""Runs ``koster`` in forks of a process that has imported it, which takes most of a short command."""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import os
import pickle
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO

_IMPORTED = [
    "koster._cli.root",
    "koster.logs",
    "koster.bulk.runs",
    "koster.fetch.downloads",
    "koster.fetch.senders.httpx",
    "koster.crawlers._index",
    "koster._reports",
    "koster._cli.sitemap_answers",
    "koster._cli.sitemap_findings",
    "ai_crawler_index",
    "encodings.idna",
    "httpcore2",
    "trio",
    "koster.fetch._backends",
    "koster.fetch._lookup",
    "koster.fetch._network",
    "anyio._backends._asyncio",
    "httpx2",
    "rich.progress",
    *(
        f"koster._cli.commands.{name}"
        for name in ("audit", "check", "compose", "diff", "fetch", "fmt")
    ),
    *(f"koster._cli.commands.{name}" for name in ("lint", "logs", "bulk", "test", "conformance")),
]

#: A process identifier, then the exit code.
_NUMBER = struct.Struct("<i")


class Command:
    """A running command; it is used as a `subprocess.Popen` of text is.

    A stream is a file descriptor, `subprocess.PIPE`, or None for the null device. ``file_size``
    limits the bytes of the files that it writes; ``start_new_session`` makes it the leader of one.
    """

    def __init__(
        self,
        *arguments: object,
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
        cwd: Path | None = None,
        env: Mapping[str, str] = os.environ,
        file_size: int | None = None,
        start_new_session: bool = False,
    ) -> None:
        self.returncode: int | None = None
        self._status, status = os.pipe()
        with contextlib.ExitStack() as stack:
            stack.callback(os.close, status)

            def opened(stream: int | None, mode: int) -> int:
                if stream is not None:
                    return stream
                found = os.open(os.devnull, mode)
                stack.callback(os.close, found)
                return found

            def piped(stream: int | None) -> tuple[IO[str] | None, int]:
                if stream != subprocess.PIPE:
                    return None, opened(stream, os.O_WRONLY)
                reading, writing = os.pipe()
                stack.callback(os.close, writing)
                return open(reading, encoding="utf-8", newline=""), writing

            self.stdout, out = piped(stdout)
            self.stderr, err = piped(stderr)
            request = (
                tuple(map(os.fsencode, map(str, arguments))),
                os.fspath(cwd or Path.cwd()),
                dict(env),
                file_size,
                start_new_session,
            )
            socket.send_fds(
                _parent(), [pickle.dumps(request)], [opened(stdin, os.O_RDONLY), out, err, status]
            )
        self.pid = self._number()

    def _number(self) -> int:
        data = os.read(self._status, _NUMBER.size)
        assert data, "the process that forks commands has ended"
        return int(_NUMBER.unpack(data)[0])

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("koster", timeout or 0)
            self.returncode = self._number()
            os.close(self._status)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait until the command ends; return what it wrote to its pipes."""
        written = ["", ""]

        def read(number: int, pipe: IO[str]) -> None:
            with pipe:
                written[number] = pipe.read()

        pipes = enumerate((self.stdout, self.stderr))
        readers = [
            threading.Thread(target=read, args=(number, pipe))
            for number, pipe in pipes
            if pipe is not None
        ]
        for reader in readers:
            reader.start()
        try:
            self.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        finally:
            for reader in readers:
                reader.join()
        return written[0], written[1]


@functools.cache
def _parent() -> socket.socket:
    """Start the process that forks; return the socket that it reads."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with its:
        process = subprocess.Popen(
            [sys.executable, __file__, str(its.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[its.fileno()],
            start_new_session=True,
        )

    @atexit.register
    def end() -> None:
        # Forks of the tests may have the socket, too.
        ours.shutdown(socket.SHUT_RDWR)
        process.wait()

    return ours


def _wait_for_a_task(control: socket.socket) -> None:
    """Fork a child for each request; return in the child, once it is set up."""
    statuses: dict[int, int] = {}
    woken, waking = os.pipe()
    os.set_blocking(waking, False)
    signal.set_wakeup_fd(waking)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        ready, _, _ = select.select([control.fileno(), woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            _tell_who_ended(statuses)
        if control.fileno() not in ready:
            continue
        data, descriptors, _, _ = socket.recv_fds(control, 1 << 18, 4)
        if not data:
            os._exit(0)
        *streams, status = descriptors
        request = pickle.loads(data)
        if request[0][0] == b"serve":
            importlib.import_module("koster.service").create_app()
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for each in (control.detach(), woken, waking, status, *statuses.values()):
                os.close(each)
            _set_up(streams, *request)
            return
        for each in streams:
            os.close(each)
        statuses[pid] = status
        os.write(status, _NUMBER.pack(pid))


def _tell_who_ended(statuses: dict[int, int]) -> None:
    while statuses:
        pid, code = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        with open(statuses.pop(pid), "wb") as file, contextlib.suppress(BrokenPipeError):
            file.write(_NUMBER.pack(os.waitstatus_to_exitcode(code)))


def _set_up(
    streams: list[int],
    arguments: tuple[bytes, ...],
    folder: str,
    env: dict[str, str],
    file_size: int | None,
    start_new_session: bool,
) -> None:
    if start_new_session:
        os.setsid()
    if file_size is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
    for number, opened in enumerate(streams):
        os.dup2(opened, number)
        os.close(opened)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, encoding="utf-8", closefd=False)
    sys.argv = ["koster", *map(os.fsdecode, arguments)]


if __name__ == "__main__":
    for _name in _IMPORTED:
        importlib.import_module(_name)
    # Children collect no garbage of this process, and free nothing when they end.
    gc.collect()
    gc.freeze()
    _wait_for_a_task(socket.socket(fileno=int(sys.argv[1])))
    try:
        importlib.import_module("koster._cli").main()
    except SystemExit as error:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(error.code if isinstance(error.code, int) else 1 if error.code else 0)
