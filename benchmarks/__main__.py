"""Print all tables, from one run: ``python -m benchmarks [--quick] [--write FILE]``."""

from __future__ import annotations

import argparse
import contextlib
import io
import platform
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TextIO, TypeAlias

import koster

from . import (
    archives,
    cold,
    data,
    facades,
    fetching,
    growth,
    limits,
    native,
    owners,
    service,
    startup,
)
from .measure import (
    all_in_turns,
    compared,
    format_time,
    in_turns,
    print_speed,
    run_child,
    table,
)
from .peers import MAKERS, Peer, peer

ROUNDS = 7
#: susbot takes minutes for all files: it reads one in this many.
_PART = 20
#: A prepared decision is asked so many times in a row.
_IN_A_ROW = 30
#: Of the questions, one in this many.
_ASKED = 7
#: The time limit of a parser that reads all files once, in seconds.
_MAX_READING = 12


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round of everything")
    parser.add_argument("--write", type=Path, help="also write the tables to this file")
    arguments = parser.parse_args()
    if arguments.write is None:
        measure(is_quick=arguments.quick)
        return
    printed = io.StringIO()
    with contextlib.redirect_stdout(_Both(sys.stdout, printed)):
        measure(is_quick=arguments.quick)
    # A run that fails leaves the tables of the last one.
    arguments.write.write_text(printed.getvalue(), "utf-8")


class _Both(io.TextIOBase):
    """A stream that writes to two streams."""

    def __init__(self, *streams: TextIO) -> None:
        self.streams = streams

    def write(self, text: str) -> int:
        for each in self.streams:
            each.write(text)
            each.flush()
        return len(text)


def measure(*, is_quick: bool) -> None:
    """Print all tables."""
    rounds = 1 if is_quick else ROUNDS
    peers = [peer(name) for name in MAKERS]
    machine(peers)
    print_speed("At the start")
    measured = {
        **parse_and_decide(peers, rounds),
        **plain_python(),
        **prepared_decisions(peers, rounds),
        **cold.run(is_quick=is_quick),
        **facade_costs(rounds),
        **decisions_by_rules(),
        **hostile(),
        **memory(),
        **startup.run(rounds),
        **growth.run(is_quick=is_quick),
    }
    fetching.run(is_quick=is_quick)
    measured |= owners.run()
    measured |= archives.run(is_quick=is_quick)
    in_a_small_process("benchmarks.logs", is_quick=is_quick)
    service.run(is_quick=is_quick)
    limits.run(measured)
    print_speed("At the end")
    print(BIAS)


def in_a_small_process(module: str, *, is_quick: bool) -> None:
    """Print what a module prints: the memory of its children counts that of its own process."""
    command = [sys.executable, "-m", module, *(["--quick"] if is_quick else [])]
    print(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)


BIAS = """\
What favours koster: it is used as its documentation says, with bytes, and with rules that are
prepared once. Protego, urllib.robotparser and susbot are given text that was
decoded outside the clock. jwm.robotstxt has no state between decisions, so it has no prepared
decisions; susbot analyses the whole file when it parses, for reports that koster does not make, and
is left out where that takes too long. The files are those of Protego's own tests. Only koster and
susbot return the line that decided, which is not measured. Times differ by up to a quarter from run
to run on a busy machine: ratios are taken within one run, most of them within a round of it, in
which the parsers alternate."""


def machine(peers: list[Peer]) -> None:
    print(f"{platform.machine()}, {_processor()}; {platform.system()} {platform.release()}")
    print(f"Python {platform.python_version()}; koster compiled: {koster.COMPILED}; ", end="")
    print("; ".join(f"{each.name} {each.version}".strip() for each in peers), end="\n\n")


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            return next(
                line.split(":")[1].strip() for line in file if line.startswith("model name")
            )
    except (OSError, StopIteration):
        return platform.processor()


def parse_and_decide(peers: list[Peer], rounds: int) -> dict[str, float]:
    bodies = list(data.corpus().values())
    total_bytes = sum(map(len, bodies))

    def run(each: Peer) -> None:
        decide, agent, url = each.once, data.AGENT, data.URL
        for body in inputs[each.name]:
            decide(body, agent, url)

    several = [each for each in peers if each.name != "susbot"]
    inputs = {
        each.name: [data.prepare_body(body, each.text) for body in bodies] for each in several
    }
    actions = {each.name: partial(run, each) for each in several}
    with native.parser(bodies) as google:
        # Their passes are so short that it matters whose data are in the caches: only theirs.
        alone = all_in_turns({"koster": actions["koster"], **google}, 3 * rounds, before=1)
    taken = all_in_turns(actions, rounds)
    # In a process of its own: koster is a tenth slower in the memory that it leaves.
    taken["susbot"] = [run_child("parsing", "susbot", str(_PART), max_seconds=None) * len(bodies)]
    found = compared(taken, "koster") | {
        name: each for name, each in compared(alone, "koster").items() if name != "koster"
    }
    print(f"## Parse and one decision: {len(bodies):,} files, {total_bytes / 1e6:.1f} MB\n")
    table(
        ["parser", "a file", "MB/s", "koster is"],
        (
            [name, format_time(seconds / len(bodies)), f"{total_bytes / seconds / 1e6:.1f}",
             f"{times:.1f} ×"]
            for name, (seconds, times) in found.items()
        ),
    )  # fmt: skip
    if native.NAME in found:
        print(
            "Google is google/robotstxt in C++, called without Python, in turns with koster alone."
        )
    print(f"susbot reads one in {_PART} of the files.\n")
    return {f"parse {name}": times for name, (_, times) in found.items()}


def plain_python() -> dict[str, float]:
    print("## Plain Python: parse and one decision, without a C compiler\n")
    # Both parsers end; how soon depends on the machine.
    taken = run_child("plain_python", max_seconds=None, KOSTER_PURE="1")
    rows = (
        [name, format_time(seconds), f"{seconds / taken['koster']:.2f} ×"]
        for name, seconds in taken.items()
    )
    table(["parser", "a file", "koster is"], rows)
    return {"plain": taken["koster"] / taken["Protego"]}


def prepared_decisions(peers: list[Peer], rounds: int) -> dict[str, float]:
    count = len(data.questions())
    able = [each for each in peers if each.parse is not None and each.name != "susbot"]
    pairs = {each.name: _prepared(each) for each in able}
    pairs["koster, by RobotsTxt.allowed"] = _through_the_file()
    # koster prepares rules with the fourth lookup.
    for _ in range(4):
        _ask_one_after_the_other(pairs["koster"])
    ways = {
        f"{_IN_A_ROW} times in a row": (_ask_in_a_row, len(range(0, count, _ASKED)) * _IN_A_ROW, 0),
        "one after the other": (_ask_one_after_the_other, count, 2),
    }
    rows = {name: [name] for name in pairs}
    headings = ["parser"]
    found = []
    for way, (ask, decisions, before) in ways.items():
        actions = {name: partial(ask, some) for name, some in pairs.items()}
        taken = compared(all_in_turns(actions, min(rounds, 5), before), "koster")
        for name, (seconds, times) in taken.items():
            rows[name] += [format_time(seconds / decisions), f"{times:.1f} ×"]
        headings += [way, "koster is"]
        found.append((taken["koster"][0] / decisions, taken["Protego"][1]))
    print(f"## Decisions on prepared rules: {count:,} questions\n")
    table(headings, rows.values())
    print(f"In a row: one in {_ASKED} of the questions. One after the other: all of them, after")
    print("two passes outside the clock, but the rules are too many for the nearest caches.\n")
    return {"again": found[0][0] / 1e-9, "again Protego": found[0][1]}


Pairs: TypeAlias = list[tuple[Callable[[str], object], str]]


def _prepared(each: Peer) -> Pairs:
    """Return the function that decides, and the URL, for each question."""
    assert each.parse is not None
    questions = data.questions()
    parsed = {
        site: each.parse(data.prepare_body(body, each.text)) for site, body in data.corpus().items()
    }
    ready = {(site, agent): each.prepare(parsed[site], agent) for site, agent, _ in questions}
    return [(ready[site, agent], url) for site, agent, url in questions]


def _through_the_file() -> Pairs:
    """Return the same with the method of a parsed file, which looks the rules up."""
    robots = {site: koster.parse(body) for site, body in data.corpus().items()}
    return [
        (lambda url, robots=robots[site], agent=agent: robots.allowed(url, agent), url)
        for site, agent, url in data.questions()
    ]


def _ask_one_after_the_other(pairs: Pairs) -> None:
    for decide, url in pairs:
        decide(url)


def _ask_in_a_row(pairs: Pairs) -> None:
    for decide, url in pairs[::_ASKED]:
        for _ in range(_IN_A_ROW):
            decide(url)


def facade_costs(rounds: int) -> dict[str, float]:
    print("## Facades: parse and one decision, beside the native call and the original\n")
    print("The originals answer after the others, in three rounds.\n")
    rows = []
    for facade in facades.FACADES:
        files = [facade.prepare(body) for body in data.corpus().values()]
        actions = {
            name: facades.silenced(partial(facades.run, opened, files))
            for name, opened in facades.openers(facade).items()
        }
        rows.append(
            [f"koster.compat.{facade.name}", *_comparison_cells(actions, rounds, len(files))]
        )
    headings = ["facade", "native", "facade", "of native", "original", "faster by"]
    table(headings, rows)
    print("Decisions on parsed files: the questions of the prepared decisions\n")
    kept = [row for facade in facades.FACADES for row in _prepared_row(facade, rounds)]
    table(headings, kept)
    return {"facade": max(float(row[3].split()[0]) for row in kept)}


def _prepared_row(facade: facades.Facade, rounds: int) -> list[list[str]]:
    """Return the row of a facade whose parsed files can be reused, measured after a first pass."""
    if not facade.is_reusable:
        return []
    files = {site: facade.prepare(body) for site, body in data.corpus().items()}

    def pairs(opened: Callable[[Any], facades.Ask]) -> list[tuple[facades.Ask, str, str]]:
        parsed = {site: opened(file) for site, file in files.items()}
        return [(parsed[site], url, agent) for site, agent, url in data.questions()]

    actions = {
        name: partial(facades.run_prepared, pairs(opened))
        for name, opened in facades.openers(facade).items()
    }
    name = f"koster.compat.{facade.name}"
    return [[name, *_comparison_cells(actions, rounds, len(data.questions()), before=1)]]


def _comparison_cells(actions: dict, rounds: int, count: int, before: int = 0) -> list[str]:
    """Return the cells of a row: native, facade, and original if it is installed."""
    pair = {name: actions[name] for name in ("native", "facade")}
    taken = compared(all_in_turns(pair, 3 * rounds, before), "native")
    (native, _), (facade, times) = taken["native"], taken["facade"]
    # It takes ten times as long, and its ratio differs less.
    original = {"original": actions["original"]} if "original" in actions else {}
    first = in_turns(original, min(rounds, 3), before).get("original")
    return [
        format_time(native / count), format_time(facade / count), f"{times:.2f} ×",
        format_time(first / count) if first else "not here",
        f"{first / facade:.1f} ×" if first else "",
    ]  # fmt: skip


def decisions_by_rules() -> dict[str, float]:
    counts = [10, 100, 1_000, 10_000, 100_000]
    print("## One decision, by number of plain rules\n")
    rows = []
    found = {}
    for name in MAKERS:
        times: list[float | None] = []
        if name == "koster":
            times += run_child("growth", name, *map(str, counts), max_seconds=None)
        else:
            # One by one: many of them do not end.
            for count in counts:
                hung = bool(times) and times[-1] is None
                taken = None if hung else run_child("growth", name, str(count))
                times.append(taken and taken[0])
        growth = f"{times[-1] / times[0]:.1f} ×" if times[0] and times[-1] else ""
        rows.append([name, *map(format_time, times), growth])
        if name == "koster" and times[0] and times[-1]:
            found["growth"] = times[-1] / times[0]
    table(["parser", *[f"{count:,}" for count in counts], "last : first"], rows)
    return found


def hostile() -> dict[str, float]:
    print("## Hostile patterns: 1 KiB on a path of 2 KiB, the worst of six\n")
    rows = []
    worst_of = {}
    for name in MAKERS:
        taken = [run_child("hostile", name, *each) for each in data.HOSTILE.values()]
        worst_of[name] = worst = None if None in taken else max(taken)
        which = list(data.HOSTILE)[taken.index(worst)]
        stars = run_child("hostile", name, *data.MANY_STARS)
        rows.append([name, format_time(worst), which, format_time(stars)])
    taken = {name: run_child("hostile_shell", *each) for name, each in data.HOSTILE_SHELL.items()}
    worst = max(taken, key=taken.__getitem__)
    rows.append(["koster, shell patterns of EXTENDED2", format_time(taken[worst]), worst, ""])
    table(["parser", "worst", "pattern", "`/*a` × 25, `*b` on 60 bytes"], rows)
    return {"hostile": max(worst_of["koster"] or 0, taken[worst]) / 1e-3}


def memory() -> dict[str, float]:
    print("## Memory: growth of the process for each byte of a parsed file\n")
    print("Without the file itself, which the caller holds.\n")
    able = [name for name in MAKERS if peer(name).parse is not None]
    grown = {name: run_child("memory", name, max_seconds=_MAX_READING) for name in able}
    rows = (
        [name, "not measured: too slow" if each is None else f"{each:.2f}"]
        for name, each in grown.items()
    )
    table(["parser", "bytes"], rows)
    sizes = [(sys.getsizeof(koster.parse(body)), len(body)) for body in data.corpus().values()]
    largest = max((own + size - 2 * size) for own, size in sizes)
    total = sum(own for own, _ in sizes) / sum(size for _, size in sizes)
    print(f"koster by its own count: {total:.2f} bytes for each; with the file itself no file")
    print(f"takes more than twice its bytes and {largest:,} bytes.\n")
    return {"memory": largest}


if __name__ == "__main__":
    main()
