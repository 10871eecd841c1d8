"""Forks child processes with a time limit."""

from __future__ import annotations

import faulthandler
import gc
import os
import pickle
import select
import signal
import time
import traceback
import warnings
from collections.abc import Callable
from typing import Any

#: Seconds after which a hanging child is killed.
LIMIT = 20


def fork() -> int:
    """Fork while other threads run; a hanging child is killed by its own alarm."""
    # A child that collects garbage of earlier tests crashes in libraries with threads of their own.
    with warnings.catch_warnings():
        # It is not this test that left connections open.
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
    pid = os.fork()
    if pid == 0:
        faulthandler.dump_traceback_later(LIMIT - 2)
        # The parent's event loop receives signals through this descriptor.
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(LIMIT)
    return pid


def in_child(work: Callable[[], Any]) -> Any:
    """Return what a function returns in a forked child.

    Raises:
        AssertionError: The function raised, or the child crashed or did not exit in time.
    """
    reading, writing = os.pipe()
    pid = fork()
    if pid == 0:
        try:
            answer = "returned", work()
        except BaseException:  # noqa: BLE001 - the parent raises it
            answer = "raised", traceback.format_exc()
        try:
            os.write(writing, pickle.dumps(answer))
        finally:
            os._exit(0)
    os.close(writing)
    try:
        received = _answer(reading)
    finally:
        os.close(reading)
        status = wait_for(pid)
    assert received is not None, f"the child ended with status {status} and without an answer"
    assert received[0] == "returned", received[1]
    return received[1]


def _answer(reading: int) -> tuple[str, Any] | None:
    data = b""
    until = time.monotonic() + LIMIT + 5
    while select.select([reading], [], [], max(until - time.monotonic(), 0))[0]:
        part = os.read(reading, 65536)
        if not part:
            break
        data += part
    return pickle.loads(data) if data else None


def wait_for(pid: int) -> int:
    """Wait for a child with a time limit, and return its status."""
    until = time.monotonic() + LIMIT + 5
    while time.monotonic() < until:
        ended_pid, status = os.waitpid(pid, os.WNOHANG)
        if ended_pid:
            return status
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    raise AssertionError("the child did not end")
