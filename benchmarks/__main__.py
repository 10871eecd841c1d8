"""Print all tables, from one run, or those that are named: ``python -m benchmarks [NAME ...]``."""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import io
import json
import platform
import subprocess
import sys
import time
from pathlib import Path

import koster

from . import (
    archives,
    data,
    decisions,
    fetching,
    hostile,
    instructions,
    kept,
    limits,
    owners,
    peers,
    reports,
    starts,
)
from .measure import loop_of_python

ROUNDS = 7
#: Each prints its tables, and returns the numbers of them that have limits, by name.
PARTS = {
    "parse": decisions.parse,
    "plain": decisions.plain,
    "prepared": decisions.prepared,
    "kept": kept.run,
    "facades": decisions.facades,
    "rules": decisions.by_rules,
    "hostile": decisions.hostile,
    "memory": decisions.memory,
    "instructions": instructions.run,
    "starts": starts.run,
    "growth": hostile.growth,
    "origins": fetching.run,
    "tools": owners.tools,
    "sitemaps": owners.sitemaps,
    "classify": archives.classify,
    "decide": archives.decide,
    "archives": archives.command,
    "archive-memory": archives.memory,
    "reports": reports.run,
    "logs": owners.logs,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PARTS))
    parser.add_argument("--quick", action="store_true", help="one round of everything")
    parser.add_argument("--write", type=Path, help="write the tables to this file, and the history")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(PARTS):
        parser.error(f"no such part: {', '.join(unknown)}")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed) if arguments.write else contextlib.nullcontext():
        measured = measure(arguments.names or [*PARTS], 1 if arguments.quick else ROUNDS)
    # A run that fails leaves the tables of the last one.
    if arguments.write:
        arguments.write.write_text(printed.getvalue(), "utf-8")
        with data.HISTORY.open("a") as file:
            print(json.dumps(_record(measured)), file=file)
        print(printed.getvalue())


def measure(names: list[str], rounds: int) -> dict[str, float]:
    """Print the tables of the parts; return their numbers."""
    began = time.monotonic()
    print(f"{platform.machine()}, {_processor()}; {platform.system()} {platform.release()}")
    print(f"Python {platform.python_version()}; koster compiled: {koster.COMPILED}; ", end="")
    print("; ".join(f"{each.name} {each.version}".strip() for each in peers.here()), end="\n\n")
    print(f"At the start, {loop_of_python()}\n")
    measured: dict[str, float] = {}
    for name in names:
        start = time.monotonic()
        measured |= PARTS[name](rounds)
        print(f"{name}: {time.monotonic() - start:.0f} s", file=sys.stderr)
    limits.run(measured)
    minutes = (time.monotonic() - began) / 60
    print(f"At the end, {loop_of_python()} The whole run took {minutes:.1f} minutes.")
    return measured


def _processor() -> str:
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        for line in lines:
            if line.startswith("model name"):
                return line.split(": ")[1]
    return platform.processor()


def _record(measured: dict[str, float]) -> dict[str, object]:
    commit = ["git", "rev-parse", "--short", "HEAD"]
    done = subprocess.run(commit, capture_output=True, text=True, check=False)
    return {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "commit": done.stdout.strip(),
        "machine": f"{_processor()}, Python {platform.python_version()}",
        "measured": {name: float(f"{number:.4g}") for name, number in measured.items()},
    }


if __name__ == "__main__":
    main()
