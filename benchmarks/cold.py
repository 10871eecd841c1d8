"""Decisions on many kept files, each asked in its turn: ``python -m benchmarks.cold [--quick]``.

A crawler's next URL is usually on another site. Each parser keeps its files in a process of its
own. Before each pass, the caches of the processor are filled with something else.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import koster

from . import data
from .measure import format_time, table

COUNTS = (5_000, 100_000)
#: What the limits call them.
_NAMES = ("cold", "colder")
#: The parsers that keep more files than that: others take minutes to read them.
_MANY = ("koster", "reppy", "Protego")
#: Passes before those that count: koster prepares rules with the fourth lookup.
_WARM_PASSES = {"koster": 4}
_PASSES = 5
_CACHE_BYTES = 96 << 20


def _koster(body: bytes) -> Any:
    return koster.parse(body).rules_for(data.AGENT)


def _protego(body: bytes) -> Any:
    from protego import Protego

    return Protego.parse(body.decode("utf-8", "replace"))


def _reppy(body: bytes) -> Any:
    from reppy.robots import Robots

    return Robots.parse("https://example.com/robots.txt", body)


def _reppy_agent(body: bytes) -> Any:
    return _reppy(body).agent(data.AGENT)


def _robotparser(body: bytes) -> Any:
    from urllib.robotparser import RobotFileParser

    parser = RobotFileParser()
    parser.parse(body.decode("utf-8", "replace").splitlines())
    return parser


def _by_url(pairs: list[tuple[Any, str]]) -> None:
    for rules, url in pairs:
        rules.allowed(url)


def _by_url_and_agent(pairs: list[tuple[Any, str]]) -> None:
    agent = data.AGENT
    for robots, url in pairs:
        robots.allowed(url, agent)


def _can_fetch(pairs: list[tuple[Any, str]]) -> None:
    agent = data.AGENT
    for parser, url in pairs:
        parser.can_fetch(url, agent)


def _can_fetch_agent_first(pairs: list[tuple[Any, str]]) -> None:
    agent = data.AGENT
    for parser, url in pairs:
        parser.can_fetch(agent, url)


#: How a parser keeps a file, and how it is asked.
SUBJECTS: dict[str, tuple[Callable[[bytes], Any], Callable[[list[tuple[Any, str]]], None]]] = {
    "koster": (_koster, _by_url),
    "reppy": (_reppy, _by_url_and_agent),
    "reppy, an agent of the file": (_reppy_agent, _by_url),
    "Protego": (_protego, _can_fetch),
    "urllib.robotparser": (_robotparser, _can_fetch_agent_first),
}


def run(*, is_quick: bool = False) -> dict[str, float]:
    """Print the table; return by how much koster is faster, and the seconds that it takes."""
    counts = COUNTS[:1] if is_quick else COUNTS
    print("## Decisions on kept files, each asked in its turn\n")
    print("With cold caches. Memory: what the process grows by for each file, with its bytes.\n")
    found = {
        name: [_child(name, count) for count in (counts if name in _MANY else COUNTS[:1])]
        for name in SUBJECTS
    }
    own = found["koster"]
    rows = []
    faster = {
        f"{kind} seconds": each["seconds"]
        for kind, each in zip(_NAMES, own, strict=False)
        if each is not None
    }
    for name, results in found.items():
        cells = []
        for kind, result, ours in zip(_NAMES, results, own, strict=False):
            if result is None or ours is None:
                cells += ["not here", "", ""]
                continue
            ratio = faster[f"{kind} {name}"] = result["seconds"] / ours["seconds"]
            cells += [
                format_time(result["seconds"]),
                f"{ratio:.1f} ×",
                f"{result['memory'] / 1024:.1f} KiB",
            ]
        cells += [""] * (3 * len(counts) - len(cells))
        rows.append([name, *cells])
    headings = [text for count in counts for text in (f"{count:,} files", "koster is", "a file")]
    table(["parser", *headings], rows)
    return faster


def _child(name: str, count: int) -> dict[str, float] | None:
    command = [sys.executable, "-m", "benchmarks.cold", "--one", name, str(count)]
    # reppy writes to standard error, in C++.
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def _measure_one(name: str, count: str) -> None:
    keep, ask = SUBJECTS[name]
    bodies = list(data.corpus().values())
    urls = [url for _, _, url in data.questions()]
    keep(bodies[0])
    before = _resident()
    kept = []
    for number in range(int(count)):
        body = bodies[number % len(bodies)] + b"\n# %d" % number
        kept.append((keep(body), urls[number * 7919 % len(urls)]))
    for _ in range(_WARM_PASSES.get(name, 1)):
        ask(kept)
    grown = _resident() - before
    noise = os.urandom(1 << 20) * (_CACHE_BYTES >> 20)
    taken = []
    for _ in range(_PASSES):
        bytearray(noise)
        start = time.perf_counter()
        ask(kept)
        taken.append(time.perf_counter() - start)
    seconds = statistics.median(taken) / len(kept)
    print(json.dumps({"seconds": seconds, "memory": grown / len(kept)}))


def _resident() -> int:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS"))


def main() -> None:
    """Print only this table."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["--one"]:
        _measure_one(*arguments[1:])
        return
    run(is_quick="--quick" in arguments)


if __name__ == "__main__":
    main()
