"""A subject: a child process that answers JSON lines with JSON lines.

Nothing that it does stops a run: it may hang, crash, print anything or nothing, or never read.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any, cast

from .._json import parse_json
from ..errors import KosterError

PROTOCOL = 1

#: How long a subject may take to start, in seconds.
START_TIMEOUT = 60.0
#: How long it may take to end by itself, in seconds.
_STOP_TIMEOUT = 2.0
#: The longest line that is read, in bytes.
_LONGEST_LINE = 16 * 2**20


class SubjectError(KosterError):
    """A subject cannot be started, or gave no valid answer; the message says which."""


@dataclass(frozen=True, slots=True)
class About:
    """How a subject describes itself."""

    name: str
    version: str
    dialects: tuple[str, ...]
    commands: tuple[str, ...]


class Subject:
    """A running subject.

    Args:
        command: The program and its arguments.

    Raises:
        SubjectError: it cannot be started.
    """

    def __init__(self, command: Sequence[str]) -> None:
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own command
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # In a group of its own, so that its children end with it.
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise SubjectError(f"cannot run {command[0]}: {reason}") from error
        # Bounded, so that a subject that prints without end waits for its reader.
        self._lines: queue.Queue[bytes | None] = queue.Queue(maxsize=16)
        self._requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._complaints = b""
        self._threads = [
            threading.Thread(target=work, daemon=True)
            for work in (self._read, self._read_complaints, self._write)
        ]
        for thread in self._threads:
            thread.start()
        try:
            self.about = _about(self.ask({"cmd": "start", "protocol": PROTOCOL}, START_TIMEOUT))
        except BaseException:
            self.kill()
            raise

    def _read(self) -> None:
        stream = cast("IO[bytes]", self._process.stdout)
        with contextlib.suppress(OSError, ValueError):
            while line := stream.readline(_LONGEST_LINE):
                self._lines.put(line)
        self._lines.put(None)
        stream.close()

    def _read_complaints(self) -> None:
        stream = cast("IO[bytes]", self._process.stderr)
        with contextlib.suppress(OSError, ValueError):
            while some := os.read(stream.fileno(), 4096):
                self._complaints = (self._complaints + some)[-4096:]
        stream.close()

    def _write(self) -> None:
        stream = cast("IO[bytes]", self._process.stdin)
        with contextlib.suppress(OSError, ValueError):
            while (line := self._requests.get()) is not None:
                stream.write(line)
                stream.flush()
        with contextlib.suppress(OSError):
            stream.close()

    def ask(self, message: dict[str, Any], timeout: float) -> dict[str, Any]:
        """Send a message, and return the answer.

        Args:
            message: What is sent as a line.
            timeout: How long to wait for the answer, in seconds.

        Raises:
            SubjectError: there is no answer in time, or it is not a JSON object.
        """
        self._requests.put(json.dumps(message).encode() + b"\n")
        try:
            line = self._lines.get(timeout=timeout)
        except queue.Empty:
            raise SubjectError(f"no answer within {timeout:g} s") from None
        if line is None:
            raise SubjectError(self._end())
        try:
            answer = parse_json(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise SubjectError(f"an answer that is not a JSON object: {_shown(line)}")
        return answer

    def _end(self) -> str:
        """Return how the process ended, with its last words."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_STOP_TIMEOUT)
        code = self._process.poll()
        if code is None:
            return "it closed its standard output"
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        words = self._last_words()
        return f"it ended with {how}" + (f": {words}" if words else "")

    def _last_words(self) -> str:
        """Return the last line of its standard error."""
        self._threads[1].join(_STOP_TIMEOUT)
        lines = self._complaints.strip().splitlines()
        return _shown(lines[-1]) if lines else ""

    def stop(self) -> None:
        """Tell it to stop; kill it if it does not."""
        self._requests.put(json.dumps({"cmd": "stop"}).encode() + b"\n")
        self._requests.put(None)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_STOP_TIMEOUT)
        self.kill()

    def kill(self) -> None:
        """End it and its children."""
        self._requests.put(None)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        # A child of it that left its group may hold the pipes open: the threads are daemons.
        until = time.monotonic() + _STOP_TIMEOUT
        while any(each.is_alive() for each in self._threads) and time.monotonic() < until:
            with contextlib.suppress(queue.Empty):
                self._lines.get(timeout=0.01)


def _about(answer: dict[str, Any]) -> About:
    """Return how a subject describes itself.

    Raises:
        SubjectError: something is missing.
    """
    dialects: Any = answer.get("dialects")
    commands: Any = answer.get("commands", ["decide"])
    if not (
        isinstance(answer.get("name"), str)
        and isinstance(answer.get("version"), str)
        and _is_list_of(dialects, str)
        and _is_list_of(commands, str)
    ):
        what = "name, version and dialects"
        raise SubjectError(f"its answer to start needs {what}: {_shown(json.dumps(answer))}")
    return About(answer["name"], answer["version"], tuple(dialects), tuple(commands))


def _is_list_of(value: object, kind: type) -> bool:
    return isinstance(value, list) and all(isinstance(each, kind) for each in value)


def _shown(text: bytes | str) -> str:
    """Return a short text for a message."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    text = text.strip()
    return text if len(text) <= 200 else f"{text[:200]} …"
