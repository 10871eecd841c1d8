"""Instructions of the hot paths, counted by valgrind: exact, however busy the machine is.

A case is a function that prepares its work, and returns a function that does it once, with the
number of things that this handles. Each runs in two processes, of n and of 2n rounds, whose
difference leaves out Python's start and all that is done once. Counts depend on the compiler,
Python and the C library, so they are compared on one machine.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import koster

from . import data
from .decisions import ask_rules, open_and_ask
from .measure import Action, command_of, table
from .peers import KOSTER

Case = tuple[Action, int]

_ROUNDS = 3
#: Of the real files, one in so many.
_PART = 10
_IMPORT = "import koster"
_TOTAL = re.compile(rb"Collected *: *(\d+)")


def parse() -> Case:
    """Parse a file, and decide once."""
    bodies = data.bodies()[::_PART]
    return partial(open_and_ask, KOSTER.opener(), bodies), len(bodies)


def again() -> Case:
    """Decide by prepared rules, the same URL again and again."""
    rules = koster.parse(b"User-agent: *\nDisallow: /private/\n").rules_for("x")
    return partial(ask_rules, [(rules.allowed, data.URL)] * 1000), 1000


def in_turn() -> Case:
    """Decide by prepared rules, of each file in its turn."""
    files, questions = data.corpus(), data.questions()[:: 12 * _PART]
    rules = [koster.parse(files[site]).rules_for(agent) for site, agent, _ in questions]
    pairs = [(own.allowed, url) for own, (_, _, url) in zip(rules, questions, strict=True)]
    return partial(ask_rules, pairs), len(pairs)


def classify() -> Case:
    """Classify a file for 24 crawlers, in the Arrow kernel."""
    import pyarrow as pa

    from koster.bulk import kernel

    from .archives import AGENTS

    bodies = data.bodies()[::_PART]
    return partial(kernel.classify, pa.array(bodies, pa.binary()), AGENTS), len(bodies)


def lint() -> Case:
    """Lint a file of 5 kB."""
    from koster.lint import lint

    return partial(lint, min(data.bodies(), key=lambda body: abs(len(body) - 5_000))), 1


CASES = {each.__name__: each for each in (parse, again, in_turn, classify, lint)}


def working(name: str, rounds: int) -> int:
    """Do the work of a case, after rounds that fill what koster keeps; return what it handles."""
    work, number = CASES[name]()
    for _ in range(_ROUNDS + rounds):
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
    (once, number), (twice, _) = (
        _total(*command_of(working, name, rounds)) for rounds in (_ROUNDS, 2 * _ROUNDS)
    )
    return (twice - once) / _ROUNDS / number


def _total(*command: str) -> tuple[int, int]:
    """Return the instructions of a process, the same each time, and the number it prints."""
    env = {**os.environ, "PYTHONHASHSEED": "0", "ARROW_DEFAULT_MEMORY_POOL": "system"}
    callgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    done = subprocess.run([*callgrind, *command], capture_output=True, check=True, env=env)
    found = _TOTAL.search(done.stderr)
    assert found, done.stderr
    return int(found[1]), int(done.stdout or 0)
