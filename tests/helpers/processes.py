"""Processes of a session, of which some may be killed."""

from __future__ import annotations

import time
from pathlib import Path


def members(session: int) -> list[int]:
    """Return the processes of a session, without those that have ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, number = path.read_text().rpartition(")")[2].split()[:4]
        except (OSError, ValueError):
            continue
        if int(number) == session and state not in "ZX":
            found.append(int(path.parent.name))
    return found


def wait_until_ended(session: int, seconds: float = 10) -> None:
    """Wait until no process of a session is left.

    Raises:
        AssertionError: one is.
    """
    until = time.monotonic() + seconds
    while left := members(session):
        assert time.monotonic() < until, f"processes are left: {left}"
        time.sleep(0.01)
