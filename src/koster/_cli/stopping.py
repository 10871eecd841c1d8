"""What Ctrl-C leaves: what is finished is printed, and how much that is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import wraps
from typing import Generic, NoReturn, ParamSpec, TypeVar

from .._reports import screen
from .._reports.interrupts import delayable
from .._wording import count_noun

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

#: The exit code of a program that Ctrl-C stopped, as shells have it (128 + SIGINT).
INTERRUPTED = 130


def stoppable(command: Callable[P, R]) -> Callable[P, R]:
    """Make a command exit cleanly on Ctrl-C."""

    @wraps(command)
    def stopping(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            with delayable():
                return command(*args, **kwargs)
        except KeyboardInterrupt:
            screen.complain("stopped")
            sys.exit(INTERRUPTED)

    return stopping


def stop(done: int, total: int, noun: str) -> NoReturn:
    """Exit after Ctrl-C: say how much is done."""
    screen.complain(f"stopped: {done:,} of {count_noun(total, noun)} done")
    sys.exit(INTERRUPTED)


@dataclass(slots=True)
class Finished(Generic[R]):
    """The results of work on several items: on all of them, unless Ctrl-C stopped it."""

    results: list[R] = field(default_factory=list)
    is_stopped: bool = False


def finish(items: Iterable[T], work: Callable[[T], R]) -> Finished[R]:
    """Return the results of work on items, up to Ctrl-C."""
    finished: Finished[R] = Finished()
    try:
        for item in items:
            finished.results.append(work(item))
    except KeyboardInterrupt:
        finished.is_stopped = True
    return finished
