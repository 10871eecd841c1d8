"""Decisions on many kept files, each asked in its turn.

A crawler's next URL is usually on another site. Each parser keeps its files in processes of its
own, which take turns: the speed of a machine changes, and so does what is in which place in memory.
Before each pass, the caches of the processor are filled with something else. The URLs are next to
each other, as they come from a queue.

A client that has a site is measured in the same turns: its limit is a multiple of such a decision.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from statistics import median
from typing import Any

import koster
from koster.fetch import MockTransport

from . import data
from .decisions import ask_files, ask_rules
from .measure import asked, format_time, ratio, resident, started, table
from .peers import KOSTER, PEERS, PROTEGO, REPPY, ROBOTPARSER, Ask, Open, Parser

FILES = 5_000
#: Processes of each parser, and passes of each process.
_PROCESSES = 3
_PASSES = 7
_CACHE_BYTES = 96 << 20
_CLIENT = "koster, RobotsClient.allowed"
_CLIENT_DECISIONS = 20_000


def run(rounds: int) -> dict[str, float]:
    """Print the table; return by how much koster is faster, and what a client takes."""
    parsers = [each.name for each in (KOSTER, PROTEGO, ROBOTPARSER, REPPY) if each.is_here]
    memory: dict[str, float] = {}
    taken: defaultdict[str, list[float]] = defaultdict(list)
    for _ in range(min(rounds, _PROCESSES)):
        children = {name: started(deciding, name) for name in parsers}
        children[_CLIENT] = started(deciding_by_a_client)
        with ThreadPoolExecutor() as pool:
            memory |= zip(children, pool.map(asked, children.values()), strict=True)
        for _ in range(_PASSES):
            for name, process in children.items():
                taken[name].append(asked(process))
        for process in children.values():
            process.communicate()
    times = {name: ratio(each, taken[KOSTER.name]) for name, each in taken.items()}
    print(f"## Decisions on {FILES:,} kept files, each asked in its turn\n")
    print("With cold caches. Memory: what the process grows by for each file, with its bytes. The")
    print("client has one site, and is asked again and again.\n")
    rows = []
    for name, each in taken.items():
        size = f"{memory[name] / 1024:.1f} KiB" if memory[name] else ""
        rows.append([name, format_time(median(each)), f"{times[name]:.1f} ×", size])
    table(["parser", "a decision", "koster is", "memory"], rows)
    return {"client": times[_CLIENT], **{f"kept {name}": times[name] for name in parsers}}


def deciding(name: str) -> Iterator[float]:
    """Yield the memory of a file in bytes, then again and again the seconds of a decision."""
    bodies = data.bodies()
    urls = [url for _, _, url in data.questions()]
    keep = _rules if name == KOSTER.name else partial(_file, PEERS[name], PEERS[name].opener())
    keep(bodies[0])
    before = resident()
    kept = [keep(bodies[number % len(bodies)] + b"\n# %d" % number) for number in range(FILES)]
    # A crawler reads its URLs one after the other: they are not all over the memory, as these are.
    read = [urls[number * 7919 % len(urls)].encode() for number in range(FILES)]
    questions: list[Any] = [(ask, url.decode()) for ask, url in zip(kept, read, strict=True)]
    ask_all: Callable[[list[Any]], None] = ask_rules
    if name != KOSTER.name:
        questions = [(*each, data.AGENT) for each in questions]
        ask_all = ask_files
    # koster prepares rules with the fourth lookup.
    for _ in range(4 if name == KOSTER.name else 1):
        ask_all(questions)
    yield (resident() - before) / FILES
    noise = os.urandom(1 << 20) * (_CACHE_BYTES >> 20)
    while True:
        bytearray(noise)
        start = time.perf_counter()
        ask_all(questions)
        yield (time.perf_counter() - start) / FILES


def _rules(body: bytes) -> Callable[[str], bool]:
    return koster.parse(body).rules_for(data.AGENT).allowed


def _file(parser: Parser, opener: Open, body: bytes) -> Ask:
    return opener(parser.takes(body))


def deciding_by_a_client() -> Iterator[float]:
    """Yield 0, then again and again the seconds of a decision of a client that has a site."""
    body = next(body for body in data.bodies() if len(body) > 3_000)
    sites = MockTransport({"https://example.com": body})
    with koster.RobotsClient("FooBot/1.0 (+https://foo.example/bot)", transport=sites) as client:
        allowed = client.allowed
        allowed(data.URL)
        yield 0
        while True:
            start = time.perf_counter()
            for _ in range(_CLIENT_DECISIONS):
                allowed(data.URL)
            yield (time.perf_counter() - start) / _CLIENT_DECISIONS
