"""The main loop of a worker process: runs functions one after another, each with a timeout.

Requests arrive on standard input and results leave on standard output, pickled and prefixed with
their size. The process ends when its input ends.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import sys
import time
import traceback
from typing import IO, Any

from . import answers
from .refusals import RefusedError

#: The size prefix of a message.
SIZE = struct.Struct(">Q")

#: The first message, and the kinds of results.
READY = "ready"
FINISHED = "answered"
REFUSED = "refused"
TIMED_OUT = "overtime"
FAILED = "failed"

#: Maximum characters of a traceback: its message may contain the file.
_MAX_TRACEBACK = 20_000

#: CPU seconds after the timeout when the system kills the process, in case its code does not check
#: for signals and the server is gone.
_KILL_GRACE = 5.0


class _TimeoutSignal(BaseException):
    pass


#: Whether a function is running.
_is_running = False


def _raise_timeout(_number: int, _frame: object) -> None:
    """Stop the running function, once: a timer may expire just after it has returned."""
    global _is_running  # noqa: PLW0603 - shared with the signal handler
    if _is_running:
        _is_running = False
        raise _TimeoutSignal


def run(
    name: str, arguments: tuple[Any, ...], cpu_seconds: float, wall_seconds: float
) -> tuple[str, Any, float]:
    """Run a function of `answers` with a limit of CPU seconds and wall-clock seconds.

    Returns the kind of result; the result, a refusal, or the traceback of an exception; and the CPU
    seconds used. A stopped function leaves only tables of `functools.cache` behind, which stay
    consistent.
    """
    global _is_running  # noqa: PLW0603 - shared with the signal handler
    began = time.process_time()
    kind, result = TIMED_OUT, None
    try:
        _is_running = True
        _set_timers(cpu_seconds, wall_seconds)
        result = getattr(answers, name)(*arguments)
        _is_running = False
        kind = FINISHED
    except _TimeoutSignal:
        result = None
    except RefusedError as refusal:
        kind, result = REFUSED, refusal.args
    except Exception:  # noqa: BLE001 - the server logs it
        kind, result = FAILED, traceback.format_exc()[-_MAX_TRACEBACK:]
    finally:
        _is_running = False
        _set_timers(0, 0)
    return kind, result, time.process_time() - began


def _set_timers(cpu_seconds: float, wall_seconds: float) -> None:
    """Set the timers for signals; 0 disables them."""
    if sys.platform == "win32":
        return
    signal.signal(signal.SIGPROF, _raise_timeout)
    signal.signal(signal.SIGALRM, _raise_timeout)
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_VIRTUAL, wall_seconds + _KILL_GRACE if wall_seconds else 0)
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
    signal.setitimer(signal.ITIMER_REAL, wall_seconds)


def _send(stream: IO[bytes], message: object) -> None:
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    stream.write(SIZE.pack(len(data)) + data)
    stream.flush()


def main() -> None:
    """Run functions until the input ends."""
    # The server handles these signals, and waits for the result.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    incoming = sys.stdin.buffer
    # Output of libraries must not mix with the results.
    outgoing = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        _send(outgoing, READY)
        while head := incoming.read(SIZE.size):
            (size,) = SIZE.unpack(head)
            _send(outgoing, run(*pickle.loads(incoming.read(size))))  # noqa: S301 - the server's
    except (BrokenPipeError, EOFError, struct.error, pickle.UnpicklingError):
        # The server has ended.
        pass
    # Skip the flush at exit, which would fail again.
    os._exit(0)
