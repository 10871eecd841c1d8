"""Measuring: rounds in turns, child processes, the cost of commands, and tables.

Also a program: ``python -m benchmarks.measure MODULE:FUNCTION ARGUMENTS`` is a child process.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
import timeit
from collections.abc import Callable, Iterable, Iterator
from operator import truediv
from statistics import median
from typing import Any, NamedTuple

Action = Callable[[], object]

#: The time limit of a decision in a child process, in seconds: some parsers need hours.
MAX_SECONDS = 3


# Turns


def in_turns(
    actions: dict[str, Action],
    rounds: int,
    before: int = 0,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Return the seconds of each action in each round, of which each runs all of them once.

    ``before`` is the number of runs before each measured one.
    """
    taken: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            for _ in range(before):
                action()
            start = clock()
            action()
            taken[name].append(clock() - start)
    return taken


def compared(taken: dict[str, list[float]], base: str) -> dict[str, tuple[float, float]]:
    """Return the median seconds of each action, and its `ratio` to the action ``base``."""
    return {name: (median(each), ratio(each, taken[base])) for name, each in taken.items()}


def ratio(times: list[float], others: list[float]) -> float:
    """Return the median ratio of two actions within a round.

    The speed of a machine changes, but rarely within a round.
    """
    return median(map(truediv, times, others))


# Child processes


def child(
    function: Callable[..., Any], *arguments: Any, max_seconds: float | None = None, **env: str
) -> Any:
    """Return what a function returns in a process of its own; None if it takes too long.

    ``env`` is added to its environment.
    """
    try:
        done = subprocess.run(
            command_of(function, *arguments), capture_output=True, check=True,
            timeout=max_seconds, env={**os.environ, **env},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None
    except subprocess.CalledProcessError as error:
        error.add_note(error.stderr.decode())
        raise
    return json.loads(done.stdout)


def started(function: Callable[..., Iterator[Any]], *arguments: Any) -> Any:
    """Start a generator in a process of its own, which prints the next value for each line."""
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    command = command_of(function, *arguments)
    # reppy writes to standard error, in C++.
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere, text=True)


def asked(process: Any) -> Any:
    """Return the next value of a generator."""
    print(file=process.stdin, flush=True)
    return json.loads(process.stdout.readline())


def command_of(function: Callable[..., Any], *arguments: Any) -> list[str]:
    """Return the command that calls a function of `benchmarks`."""
    module = function.__module__
    if module == "__main__":
        module = sys.modules["__main__"].__spec__.name  # type: ignore[union-attr]
    place = f"{module}:{function.__qualname__}"
    return [sys.executable, "-m", "benchmarks.measure", place, json.dumps(arguments)]


def _be_a_child(place: str, arguments: str) -> None:
    module, _, name = place.partition(":")
    found = getattr(importlib.import_module(module), name)(*json.loads(arguments))
    if isinstance(found, Iterator):
        for _ in sys.stdin:
            print(json.dumps(next(found)), flush=True)
    else:
        print(json.dumps(found))


class Cost(NamedTuple):
    """What a command takes: seconds of the clock and of the processor, and the most memory."""

    seconds: float
    busy: float
    megabytes: float


def cost(command: list[str], cwd: str | None = None) -> Cost:
    """Run a command; its memory is at least that of this process: for it, call this by `child`."""
    # Without this variable, or each process would compile the modules anew.
    env = {name: each for name, each in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    nowhere = subprocess.DEVNULL
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=cwd, env=env, stdout=nowhere, stderr=nowhere)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    # 1 is an answer: blocked, or findings.
    if process.returncode not in (0, 1):
        raise RuntimeError(f"exit code {process.returncode}: {command}")
    seconds = time.perf_counter() - start
    return Cost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6)


def resident() -> int:
    """Return the bytes of memory that this process has."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS"))


# Tables


def loop_of_python() -> str:
    """Return how fast the machine is: on virtual ones that differs twofold from hour to hour."""
    seconds = min(timeit.repeat("sum(i * i for i in range(100_000))", number=20, repeat=3)) / 20
    return f"a loop of Python over 100,000 numbers took {format_time(seconds)}."


def format_time(seconds: float | None) -> str:
    """Format a time; None is one over the limit."""
    if seconds is None:
        return f"> {MAX_SECONDS} s"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.0f} ns"


def table(headings: list[str], rows: Iterable[Iterable[object]]) -> None:
    """Print a table in Markdown, its columns aligned."""
    cells = [headings, *([str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    print("\n".join(lines), end="\n\n", flush=True)


if __name__ == "__main__":
    _be_a_child(*sys.argv[1:])
