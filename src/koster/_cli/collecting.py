"""How often a command collects garbage."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

#: How many more objects there must be for a young collection, young ones before a middle one, and
#: those before a full one: as good as never. A large file becomes millions of objects, all of them
#: in use until the command ends; going through them again and again takes a third of its time.
_THRESHOLDS = (1_000_000, 1_000, 1_000)


def collects_rarely(command: Callable[P, R]) -> Callable[P, R]:
    """Make a command that ends soon collect garbage rarely."""

    @wraps(command)
    def collecting(*args: P.args, **kwargs: P.kwargs) -> R:
        usual = gc.get_threshold()
        gc.set_threshold(*_THRESHOLDS)
        try:
            return command(*args, **kwargs)
        finally:
            gc.set_threshold(*usual)

    return collecting
