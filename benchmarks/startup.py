"""Starts: the processor time of an import and of a command, beyond that of an empty program."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

from . import data
from .measure import compared, format_time, table

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
    imports = {name: ("-c", f"import {module}") for name, module in IMPORTS.items()}
    taken = compared(_beyond(imports, 4 * rounds), "dataclasses (standard library)")
    rows = (
        [name, format_time(seconds), f"{times:.2f} ×"] for name, (seconds, times) in taken.items()
    )
    table(["module", "time", "of dataclasses"], rows)
    found["import"] = taken["koster"][1]
    print("## The start of a command on a small file\n")
    print("Beyond an empty program, into a pipe.\n")
    taken = compared(
        _beyond({each: ("-m", *each.split()) for each in COMMANDS}, 2 * rounds), COMMANDS[0]
    )
    rows = ([f"`{name}`", format_time(seconds)] for name, (seconds, _) in taken.items())
    table(["command", "time"], rows)
    found["start"] = taken[COMMANDS[0]][0] / 1e-3
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
