"""Starts: the processor time of an import and of a command, beyond that of an empty program."""

from __future__ import annotations

import sys

from . import data
from .measure import compared, cost, format_time, table

_BASE = "`import dataclasses`"
_IMPORTS = ("dataclasses", "koster", "urllib.robotparser", "protego", "rich_click")
#: On the files of the folder ``examples``.
_COMMANDS = (
    "koster check --robots robots.txt --agent Googlebot /x",
    "koster fmt robots.txt",
    "koster diff robots.txt robots2.txt",
    "koster audit robots.txt",
    "koster test robots.expect.toml",
    "koster lint robots.txt",
    "koster check --help",
)


def run(rounds: int) -> dict[str, float]:
    """Print the table; its processes alternate."""
    programs = {
        **{f"`import {module}`": ["-c", f"import {module}"] for module in _IMPORTS},
        **{f"`{command}`": ["-m", *command.split()] for command in _COMMANDS},
    }
    taken: dict[str, list[float]] = {name: [] for name in programs}
    # The first round writes what Python caches of modules.
    for number in range(-1, 3 * rounds):
        empty = cost([sys.executable, "-c", "pass"]).busy
        for name, program in programs.items():
            seconds = cost([sys.executable, *program], cwd=str(data.ROOT / "examples")).busy - empty
            if number >= 0:
                taken[name].append(seconds)
    found = compared(taken, _BASE)
    print("## Starts: an import, and a command on a small file\n")
    print("Processor time beyond an empty program.\n")
    rows = (
        [name, format_time(seconds), f"{times:.2f} ×"] for name, (seconds, times) in found.items()
    )
    table(["program", "time", "of dataclasses"], rows)
    return {"import": found["`import koster`"][1], "start": found[f"`{_COMMANDS[0]}`"][1]}
