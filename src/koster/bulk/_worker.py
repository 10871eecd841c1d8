"""A worker process: writes one shard after another.

Tasks arrive on standard input, after the number of threads; the progress and a report of each task
leave on standard output, all pickled. It ends when it gets None, or its parent has ended.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import sys
import threading
import time
import traceback
from contextlib import suppress
from typing import IO, Any

from .._own_process import leave_out_unused

#: Seconds between two reports of the progress.
INTERVAL = 0.1


def main() -> None:
    """Write shards until there are no more tasks."""
    # The parent handles it, and ends its processes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Output of libraries must not mix with the messages.
    outgoing = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    incoming: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(incoming,), daemon=True).start()
    leave_out_unused()
    from ._answering import write_shard  # noqa: PLC0415 - imports Arrow, which takes 0.2 s

    last = 0.0

    def update(_: int, position: int, rows: int) -> None:
        nonlocal last
        if time.monotonic() - last > INTERVAL:
            last = time.monotonic()
            _send(outgoing, (position, rows))

    threads = incoming.get()
    # If the parent has ended, `_receive` ends this process, too.
    with suppress(OSError):
        # For the parent to know that it has started.
        _send(outgoing, (0, 0))
        while (task := incoming.get()) is not None:
            try:
                message: object = write_shard(task, threads, update)
            except Exception as error:  # noqa: BLE001 - the parent raises it
                message = _sendable(error)
            _send(outgoing, message)
    # All files are closed; tearing down the interpreter takes 0.1 s.
    os._exit(0)


def _receive(incoming: queue.SimpleQueue[Any]) -> None:
    try:
        while True:
            incoming.put(pickle.load(sys.stdin.buffer))  # noqa: S301 - from the parent
    except (EOFError, OSError, pickle.UnpicklingError):
        os._exit(1)


def _send(stream: IO[bytes], message: object) -> None:
    pickle.dump(message, stream)
    stream.flush()


def _sendable(error: Exception) -> Exception:
    """Return an exception with its traceback as a note; another one if it cannot be pickled."""
    text = traceback.format_exc()
    try:
        error.add_note(text)
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    except Exception:  # noqa: BLE001 - whatever it raises
        return RuntimeError(text)
    return error
