"""A process that answers questions for a service, one after the other, each within its time.

Questions come in on standard input and answers go out on standard output, pickled, with their size
before them. It ends when its input does.
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

#: The size of a message, before it.
SIZE = struct.Struct(">Q")

#: What is said at the start, and what came of a question.
READY = "ready"
ANSWERED = "answered"
OVERTIME = "overtime"
FAILED = "failed"

#: Seconds of processor time after its time at which the system ends a process that did not end its
#: question: where code does not look at signals, and the server is gone.
_LAST_GRACE = 5.0


class _Overtime(BaseException):
    """The time for a question is over."""


#: Whether a question is worked on.
_is_working = False


def _stop(_number: int, _frame: object) -> None:
    """End what is worked on, once: a timer may go off when the answer is just there."""
    global _is_working  # noqa: PLW0603 - as signals have it
    if _is_working:
        _is_working = False
        raise _Overtime


def answered(
    name: str, arguments: tuple[Any, ...], processor: float, real: float
) -> tuple[str, Any, float]:
    """Answer a question of `answers` within seconds of processor time, and of real time.

    Returns what came of it; the answer, or the traceback of a failure; and the processor time used.
    What a question leaves behind in the process are tables of `functools.cache`, which are complete
    however it ended.
    """
    global _is_working  # noqa: PLW0603 - as signals have it
    began = time.process_time()
    kind, answer = OVERTIME, None
    try:
        _is_working = True
        _set_timers(processor, real)
        answer = getattr(answers, name)(*arguments)
        _is_working = False
        kind = ANSWERED
    except _Overtime:
        answer = None
    except Exception:  # noqa: BLE001 - the server says so in its log
        kind, answer = FAILED, traceback.format_exc()
    finally:
        _is_working = False
        _set_timers(0, 0)
    return kind, answer, time.process_time() - began


def _set_timers(processor: float, real: float) -> None:
    """Have signals come after so many seconds; 0 for none."""
    if sys.platform == "win32":
        return
    signal.signal(signal.SIGPROF, _stop)
    signal.signal(signal.SIGALRM, _stop)
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_VIRTUAL, real + _LAST_GRACE if real else 0)
    signal.setitimer(signal.ITIMER_PROF, processor)
    signal.setitimer(signal.ITIMER_REAL, real)


def _send(stream: IO[bytes], message: object) -> None:
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    stream.write(SIZE.pack(len(data)) + data)
    stream.flush()


def main() -> None:
    """Answer questions until there are no more."""
    # Whoever stops the service stops the server, which waits for the answer.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    incoming = sys.stdin.buffer
    # What some library prints must not get between the answers.
    outgoing = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        _send(outgoing, READY)
        while head := incoming.read(SIZE.size):
            (size,) = SIZE.unpack(head)
            _send(outgoing, answered(*pickle.loads(incoming.read(size))))  # noqa: S301 - the server's
    except (BrokenPipeError, EOFError, struct.error, pickle.UnpicklingError):
        # The server is gone.
        pass
    # Nothing is left to do; what cannot be written any more is not tried again.
    os._exit(0)
