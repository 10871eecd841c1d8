"""How the time of a function grows with its input: as a ratio, which slow machines do not change."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Times are the best of so many.
_TRIES = 2
#: Shorter ones say nothing.
_SHORTEST = 0.004


def growth(run: Callable[[int], object], size: int, factor: int = 4) -> float:
    """Return how much longer a function takes for ``factor`` times a size.

    In linear time it is about ``factor``, in quadratic time its square.
    """
    return _time(run, size * factor) / max(_time(run, size), _SHORTEST)


def _time(run: Callable[[int], object], size: int) -> float:
    best = float("inf")
    for _ in range(_TRIES):
        began = time.process_time()
        run(size)
        best = min(best, time.process_time() - began)
    return best
