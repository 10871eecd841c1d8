"""Checks that time grows in proportion to the size of an input: not with its square.

Timing is not exact, so that nothing is reported unless an input that is four times as large took
more than `MAX_RATIO` times as long, in the fastest of several runs of each. A quadratic step takes
16 times as long.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

import koster

from ._findings import KindError

#: Sizes in bytes of the smaller and the larger input; plain Python is a hundred times as slow.
SMALL, LARGE = (1 << 14, 1 << 16) if koster.COMPILED else (1 << 10, 1 << 12)

#: The processor's caches, and growing tables, make the larger one a little slower.
MAX_RATIO = 9.0

#: Whatever takes no longer than this many seconds for `LARGE` bytes is fast enough. A square of
#: the lines alone would take longer.
FAST = 0.004

#: A run never takes longer than this.
MAX_SECONDS = 5.0

_RUNS = 3


def repeated(head: bytes, part: bytes, tail: bytes, size: int) -> bytes:
    """Return about ``size`` bytes: a part many times, between a head and a tail."""
    count = max((size - len(head) - len(tail)) // max(len(part), 1), 1)
    return head + part * count + tail


def check(run: Callable[[int], object], what: str) -> None:
    """Check the time of ``run``, which takes the size of its input.

    Raises:
        KindError: it grows too fast.
    """
    if _seconds(run, LARGE) <= FAST:
        return
    small, large = (min(_seconds(run, size) for _ in range(_RUNS)) for size in (SMALL, LARGE))
    if large > FAST and (large > small * MAX_RATIO or large > MAX_SECONDS):
        times = f"{large:.4f} s for {LARGE:,} bytes, {small:.4f} s for {SMALL:,}"
        raise KindError(f"time: {what}", times)


def _seconds(run: Callable[[int], object], size: int) -> float:
    """Return the processor time of a run, without that of the garbage collector."""
    gc.disable()
    try:
        start = time.thread_time()
        run(size)
        return time.thread_time() - start
    finally:
        gc.enable()
