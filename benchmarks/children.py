"""Tasks that run in their own process: they may hang, or are measured from its start."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial

from . import data
from .measure import in_turns
from .peers import Peer, peer


def growth(name: str, *counts: str) -> list[float]:
    """Return the seconds of one decision on as many plain rules, for each count.

    With several counts, in turns, each pass after one outside the clock.
    """
    prepared = [_prepared(name, int(count)) for count in counts]
    taken: list[list[float]] = [[] for _ in prepared]
    for _ in range(7):
        for (decide, urls), times in zip(prepared, taken, strict=True):
            if len(prepared) > 1:
                _ask_all(decide, urls)
            times.append(_ask_all(decide, urls))
    return [statistics.median(times) for times in taken]


def _prepared(name: str, rules: int) -> tuple[Callable[[str], object], list[str]]:
    """Return a function that decides by plain rules, prepared if the peer can, and URLs for it."""
    one = peer(name)
    body = data.prepare_body(data.plain_rules(rules), one.text)
    urls = data.urls_about(rules)
    decide = one.prepare(one.parse(body) if one.parse else body, data.AGENT)
    start = time.perf_counter()
    # koster prepares large rule sets with the 64th lookup; others take long for each.
    for number, url in enumerate(urls[:100]):
        if number >= 10 and time.perf_counter() - start > 0.5:
            break
        decide(url)
    start = time.perf_counter()
    decide(urls[0])
    few = max(3, min(len(urls), int(0.5 / max(time.perf_counter() - start, 1e-9))))
    return decide, urls[:few]


def _ask_all(decide: Callable[[str], object], urls: list[str]) -> float:
    """Return the seconds of one decision."""
    start = time.perf_counter()
    for url in urls:
        decide(url)
    return (time.perf_counter() - start) / len(urls)


def parsing(name: str, part: str) -> float:
    """Return the seconds of parsing a file and deciding once, over one in ``part`` of all files."""
    one = peer(name)
    bodies = [data.prepare_body(body, one.text) for body in data.corpus().values()][:: int(part)]
    start = time.perf_counter()
    for body in bodies:
        one.once(body, data.AGENT, data.URL)
    return (time.perf_counter() - start) / len(bodies)


def hostile(name: str, pattern: str, path: str) -> float:
    """Return the seconds of one decision on one pattern."""
    one = peer(name)
    body = data.prepare_body(f"User-agent: *\nDisallow: {pattern}\n".encode(), one.text)
    decide = one.prepare(one.parse(body) if one.parse else body, data.AGENT)
    taken = []
    for _ in range(5):
        start = time.perf_counter()
        decide(path)
        taken.append(time.perf_counter() - start)
        if sum(taken) > 5:
            break
    return statistics.median(taken)


def hostile_shell(pattern: str, path: str) -> float:
    """Return the seconds of one decision on one shell pattern."""
    import koster

    body = f"User-agent: *\nRobot-version: 2.0\nDisallow: {pattern}\n"
    rules = koster.parse(body, koster.EXTENDED2).rules_for(data.AGENT)
    taken = []
    for _ in range(50):
        start = time.perf_counter()
        rules.allowed(path)
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def memory(name: str) -> float:
    """Return the growth of the process in bytes, for each byte of a parsed file."""
    one = peer(name)
    assert one.parse is not None
    bodies = [data.prepare_body(body, one.text) for body in data.corpus().values()]
    for body in bodies[:20]:
        one.parse(body)
    before = _resident()
    parsed = [one.parse(body) for _ in range(4) for body in bodies]
    grown = _resident() - before
    return grown / (len(parsed) / len(bodies)) / sum(map(len, bodies))


def plain_python() -> dict[str, float]:
    """Return the seconds of parsing a file and deciding once, over all files, for each parser."""
    bodies = list(data.corpus().values())

    def run(one: Peer) -> None:
        for body in inputs[one.name]:
            one.once(body, data.AGENT, data.URL)

    peers = [peer("koster"), peer("Protego")]
    inputs = {each.name: [data.prepare_body(body, each.text) for body in bodies] for each in peers}
    taken = in_turns({each.name: partial(run, each) for each in peers}, 5)
    return {name: seconds / len(bodies) for name, seconds in taken.items()}


def _resident() -> int:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS"))


TASKS = {
    task.__name__: task for task in (growth, hostile, hostile_shell, memory, parsing, plain_python)
}

if __name__ == "__main__":
    print(json.dumps(TASKS[sys.argv[1]](*sys.argv[2:])))
