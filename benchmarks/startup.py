"""Starts: the processor time of an import and of a command, beyond that of an empty program."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys

from . import data
from .measure import format_time, ratio, table

IMPORTS = {
    "koster": "koster",
    "dataclasses (standard library)": "dataclasses",
    "urllib.robotparser": "urllib.robotparser",
    "Protego": "protego",
}
#: On the files of the folder ``examples``.
COMMANDS = (
    "koster check --robots robots.txt --agent Googlebot /x",
    "koster fmt robots.txt",
    "koster diff robots.txt robots2.txt",
    "koster audit robots.txt",
    "koster test robots.expect.toml",
    "koster lint robots.txt",
    "koster check --help",
)


#: With this variable, each process would compile the modules anew.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def run(rounds: int) -> dict[str, float]:
    """Print the tables; the processes of a table alternate."""
    found = {}
    print("## Import\n")
    print("Beyond an empty program.\n")
    taken = _beyond(
        {name: ("-c", f"import {module}") for name, module in IMPORTS.items()}, 4 * rounds
    )
    dataclasses = taken["dataclasses (standard library)"]
    ratios = {name: ratio(times, dataclasses) for name, times in taken.items()}
    rows = (
        [name, format_time(statistics.median(times)), f"{ratios[name]:.2f} ×"]
        for name, times in taken.items()
    )
    table(["module", "time", "of dataclasses"], rows)
    found["import"] = ratios["koster"]
    print("## The start of a command on a small file\n")
    print("Beyond an empty program, into a pipe.\n")
    started = {
        name: statistics.median(times)
        for name, times in _beyond(
            {each: ("-m", *each.split()) for each in COMMANDS}, 2 * rounds
        ).items()
    }
    table(["command", "time"], ([f"`{name}`", format_time(each)] for name, each in started.items()))
    found["start"] = started[COMMANDS[0]] / 1e-3
    return found


def _beyond(programs: dict[str, tuple[str, ...]], rounds: int) -> dict[str, list[float]]:
    """Return the processor times of programs in each round, beyond that of an empty one."""
    taken: dict[str, list[float]] = {name: [] for name in programs}
    # The first round writes what Python caches of modules.
    for number in range(-1, rounds):
        empty = _processor_time(("-c", "pass"))
        for name, program in programs.items():
            seconds = _processor_time(program) - empty
            if number >= 0:
                taken[name].append(seconds)
    return taken


def _processor_time(program: tuple[str, ...]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *program], cwd=data.ROOT / "examples", env=ENVIRONMENT, check=False,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
