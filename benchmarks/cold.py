"""Decisions on many kept files, each asked in its turn: ``python -m benchmarks.cold [--quick]``.

A crawler's next URL is usually on another site. Each parser keeps its files in processes of its
own, which take turns: the speed of a machine changes, and so does what is in which place in memory.
Before each pass, the caches of the processor are filled with something else. The URLs are next to
each other, as they come from a queue.

A client that has a site is measured in the same turns: its limit is a multiple of such a decision.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import koster

from . import data
from .fetching import client_of_one_site
from .measure import format_time, ratio, table

#: How many files are kept, by what the limits call it, in how many processes by each parser, and
#: how many passes a process makes.
_COUNTS = {"cold": (5_000, 3, 7), "colder": (100_000, 1, 4)}
#: The parsers that keep more files than that: others take minutes to read them.
_MANY = ("koster", "reppy", "Protego")
#: Passes before those that count: koster prepares rules with the fourth lookup.
_WARM_PASSES = {"koster": 4}
_CACHE_BYTES = 96 << 20
_CLIENT = "client"
_CLIENT_DECISIONS = 20_000


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
    """Print the table; return by how much koster is faster, and what a client takes.

    That is a multiple of what `Rules.allowed` does.
    """
    counts = dict([*_COUNTS.items()][:1]) if is_quick else _COUNTS
    print("## Decisions on kept files, each asked in its turn\n")
    print("With cold caches. Memory: what the process grows by for each file, with its bytes.\n")
    rows = {name: [name] for name in SUBJECTS}
    faster = {}
    for kind, (count, *turns) in counts.items():
        names = [name for name in SUBJECTS if kind == "cold" or name in _MANY]
        more = [_CLIENT] if kind == "cold" else []
        memory, taken = _in_turns([*names, *more], count, *turns)
        for name, row in rows.items():
            if name not in taken:
                row += ["not here" if name in names else "", "", ""]
                continue
            seconds = statistics.median(taken[name])
            faster[f"{kind} {name}"] = by = ratio(taken[name], taken["koster"])
            row += [format_time(seconds), f"{by:.1f} ×", f"{memory[name] / 1024:.1f} KiB"]
        if more:
            faster[_CLIENT] = ratio(taken[_CLIENT], taken["koster"])
    headings = [
        text
        for count, *_ in counts.values()
        for text in (f"{count:,} files", "koster is", "a file")
    ]
    table(["parser", *headings], rows.values())
    return faster


def _in_turns(
    names: list[str], count: int, processes: int, passes: int
) -> tuple[dict[str, float], dict[str, list[float]]]:
    """Let the processes of the parsers that are here make a pass in turns.

    Returns the memory of a file in bytes, and the seconds of a decision in each pass.
    """
    memory: dict[str, float] = {}
    taken: defaultdict[str, list[float]] = defaultdict(list)
    for _ in range(processes):
        # They read their files at once.
        children = {name: _start(name, count) for name in names}
        for name, child in [*children.items()]:
            if answer := child.stdout.readline():
                memory[name] = float(answer)
            else:
                del children[name]
        for _ in range(passes):
            for name, child in children.items():
                print(file=child.stdin, flush=True)
                taken[name].append(float(child.stdout.readline()))
        for child in children.values():
            child.stdin.close()
            child.wait()
    return memory, taken


def _start(name: str, count: int) -> Any:
    command = [sys.executable, "-m", "benchmarks.cold", "--one", name, str(count)]
    # reppy writes to standard error, in C++.
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def _serve(name: str, count: int) -> None:
    """Print the memory of a file in bytes, then for each line the seconds of a decision."""
    if name == _CLIENT:
        _serve_client()
        return
    keep, ask = SUBJECTS[name]
    bodies = list(data.corpus().values())
    urls = [url for _, _, url in data.questions()]
    keep(bodies[0])
    before = _resident()
    kept = [keep(bodies[number % len(bodies)] + b"\n# %d" % number) for number in range(count)]
    # A crawler reads its URLs one after the other: they are not all over the memory, as these are.
    read = [urls[number * 7919 % len(urls)].encode() for number in range(count)]
    pairs = [(file, url.decode()) for file, url in zip(kept, read, strict=True)]
    for _ in range(_WARM_PASSES.get(name, 1)):
        ask(pairs)
    print((_resident() - before) / count, flush=True)
    noise = os.urandom(1 << 20) * (_CACHE_BYTES >> 20)
    for _ in sys.stdin:
        bytearray(noise)
        start = time.perf_counter()
        ask(pairs)
        print((time.perf_counter() - start) / count, flush=True)


def _serve_client() -> None:
    """Print a number, then for each line the seconds of a decision of a client that has a site."""
    with client_of_one_site() as (client, url):
        allowed = client.allowed
        print(0, flush=True)
        for _ in sys.stdin:
            start = time.perf_counter()
            for _ in range(_CLIENT_DECISIONS):
                allowed(url)
            print((time.perf_counter() - start) / _CLIENT_DECISIONS, flush=True)


def _resident() -> int:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS"))


def main() -> None:
    """Print only this table."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["--one"]:
        _serve(arguments[1], int(arguments[2]))
        return
    run(is_quick="--quick" in arguments)


if __name__ == "__main__":
    main()
