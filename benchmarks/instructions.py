"""Instructions of the hot paths, counted by valgrind: exact, however busy the machine is.

A case prepares its work, and returns a function that does it once, and how many things this
handles. It runs in two processes, of one round and of two, whose difference leaves out Python's
start and all that is done once. Counts depend on the compiler, Python and the C library.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import koster

from . import data
from .measure import Action, command_of, table

Case = tuple[Action, int]

#: Of the real files, one in so many.
_PART = 10
_IMPORT = "import koster"
_TOTAL = re.compile(rb"Collected *: *(\d+)")


def parse() -> Case:
    """Parse a file, and decide once."""
    bodies = data.bodies(_PART)
    return partial(_parse, bodies), len(bodies)


def _parse(bodies: list[bytes]) -> None:
    for body in bodies:
        koster.parse(body).allowed(data.URL, data.AGENT)


def again() -> Case:
    """Decide by prepared rules, the same again and again."""
    allowed = koster.parse(b"User-agent: *\nDisallow: /private/\n").rules_for("x").allowed
    return _deciding([allowed] * 1000)


def in_turn() -> Case:
    """Decide by prepared rules, of each file in its turn."""
    rules = [koster.parse(body).rules_for(data.AGENT).allowed for body in data.bodies(_PART)]
    return _deciding(rules)


def _deciding(rules: list[Callable[[str], bool]]) -> Case:
    # koster prepares rules with the fourth lookup.
    for _ in range(4):
        _decide(rules)
    return partial(_decide, rules), len(rules)


def _decide(rules: list[Callable[[str], bool]]) -> None:
    for allowed in rules:
        allowed(data.URL)


def classify() -> Case:
    """Classify a file for 24 crawlers, in the Arrow kernel."""
    import pyarrow as pa

    from koster.bulk import kernel

    bodies = data.bodies(_PART)
    return partial(kernel.classify, pa.array(bodies, pa.binary()), data.CRAWLERS), len(bodies)


def lint() -> Case:
    """Lint a file of 1 kB."""
    from koster.lint import lint

    return partial(lint, min(data.bodies(_PART), key=lambda body: abs(len(body) - 1_000))), 1


CASES = {each.__name__: each for each in (parse, again, in_turn, classify, lint)}


def working(name: str, rounds: int) -> int:
    """Do the work of a case, after some that fill what koster keeps; return what it handles."""
    work, number = CASES[name]()
    for _ in range(3 + rounds):
        work()
    return number


def run(_: int) -> dict[str, float]:
    """Print the table, with what changed; return the instructions of each case."""
    print("## Instructions\n")
    if shutil.which("valgrind") is None:
        print("Not counted: there is no valgrind on this machine.\n")
        return {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counted = dict(zip([*CASES, _IMPORT], pool.map(_counted, [*CASES, _IMPORT]), strict=True))
    before = data.last_run()
    rows = []
    for name, count in counted.items():
        work = CASES[name].__doc__ if name in CASES else "Import koster, beyond an empty program."
        change = count / before.get(f"instructions {name}", count) - 1
        rows.append([work, f"{count:,.0f}", f"{change:+.1%}"])
    table(["work", "instructions", "since the last run"], rows)
    print("Counted by valgrind's callgrind, of koster alone.\n")
    return {f"instructions {name}": count for name, count in counted.items()}


def _counted(name: str) -> float:
    """Return the instructions of one thing that a case handles."""
    if name == _IMPORT:
        empty, whole = (_total(sys.executable, "-c", each)[0] for each in ("pass", _IMPORT))
        return whole - empty
    (once, number), (twice, _) = (_total(*command_of(working, name, each)) for each in (1, 2))
    return (twice - once) / number


def _total(*command: str) -> tuple[int, int]:
    """Return the instructions of a process, the same each time, and the number it prints."""
    env = {**os.environ, "PYTHONHASHSEED": "0", "ARROW_DEFAULT_MEMORY_POOL": "system"}
    callgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    done = subprocess.run([*callgrind, *command], capture_output=True, check=True, env=env)
    found = _TOTAL.search(done.stderr)
    assert found, done.stderr
    return int(found[1]), int(done.stdout or 0)
