"""Measuring: alternating rounds, medians, and child processes with a time limit."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
import timeit
from collections.abc import Callable, Iterable
from operator import truediv
from typing import Any

#: The time limit of a child process, in seconds: some peers take hours for some patterns.
MAX_SECONDS = 3


def print_speed(when: str) -> None:
    """Print how fast the machine is: on virtual ones that differs twofold from hour to hour."""
    seconds = min(timeit.repeat("sum(i * i for i in range(100_000))", number=20, repeat=3)) / 20
    print(f"{when}, a loop of Python over 100,000 numbers took {format_time(seconds)}.\n")


def in_turns(
    actions: dict[str, Callable[[], object]], rounds: int, before: int = 0
) -> dict[str, float]:
    """Return the median seconds of each action; see `all_in_turns`."""
    taken = all_in_turns(actions, rounds, before)
    return {name: statistics.median(times) for name, times in taken.items()}


def all_in_turns(
    actions: dict[str, Callable[[], object]], rounds: int, before: int = 0
) -> dict[str, list[float]]:
    """Return the seconds of each action in each round, of which each runs all of them once.

    ``before`` is the number of runs before each measured one.
    """
    taken: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            for _ in range(before):
                action()
            start = time.perf_counter()
            action()
            taken[name].append(time.perf_counter() - start)
    return taken


def compared(taken: dict[str, list[float]], with_: str) -> dict[str, tuple[float, float]]:
    """Return the median seconds of each action, and its `ratio` to one of them."""
    others = taken[with_]
    return {name: (statistics.median(times), ratio(times, others)) for name, times in taken.items()}


def ratio(times: list[float], others: list[float]) -> float:
    """Return the median ratio of two actions within a round.

    The speed of a machine changes, but rarely within a round.
    """
    return statistics.median(map(truediv, times, others))


def run_child(
    task: str, *arguments: str, max_seconds: float | None = MAX_SECONDS, **variables: str
) -> Any:
    """Return what a task of `benchmarks.children` prints, or None if it takes too long.

    ``variables`` are added to its environment.
    """
    command = [sys.executable, "-m", "benchmarks.children", task, *arguments]
    env = {**os.environ, **variables}
    try:
        done = subprocess.run(
            command, capture_output=True, check=True, timeout=max_seconds, env=env
        )
    except subprocess.TimeoutExpired:
        return None
    return json.loads(done.stdout)


def format_time(seconds: float | None) -> str:
    """Format a time."""
    if seconds is None:
        return f"> {MAX_SECONDS} s"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.0f} ns"


def table(headings: list[str], rows: Iterable[Iterable[object]]) -> None:
    """Print a table in Markdown, its columns aligned."""
    cells = [headings, *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headings))]
    for number, row in enumerate(cells):
        print(
            "| "
            + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            + " |"
        )
        if number == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")
    print(flush=True)
