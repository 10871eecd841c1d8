"""Parsing and deciding, beside other parsers: real files, many rules, hostile patterns, memory."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import koster

from . import data, native, peers
from .measure import MAX_SECONDS, Action, child, compared, format_time, in_turns, table
from .peers import FACADES, KOSTER, PEERS, PROTEGO, SUSBOT, Ask, Open, Parser

#: A prepared decision is asked so many times in a row; of the questions, one in so many.
_IN_A_ROW = 30
_ASKED = 7
#: Numbers of plain rules.
_COUNTS = (10, 100, 1_000, 10_000, 100_000)


# Parse, and decide once


def parse(rounds: int) -> dict[str, float]:
    bodies = data.bodies()
    total = sum(map(len, bodies))
    actions = {each.name: _parsing(each, bodies) for each in peers.here() if each.part == 1}
    with native.parser(bodies) as google, peers.quiet():
        # Their passes are so short that it matters whose data are in the caches: only theirs.
        alone = in_turns({"koster": actions["koster"], **google}, 3 * rounds, before=1)
        taken = in_turns(actions, rounds)
    if SUSBOT.is_here:
        # In a process of its own: koster is a tenth slower in the memory that it leaves.
        taken[SUSBOT.name] = [child(parsing_of_a_part, SUSBOT.name) * len(bodies)]
    found = compared(taken, "koster")
    if google:
        found[native.NAME] = compared(alone, "koster")[native.NAME]
    print(f"## Parse and one decision: {len(bodies):,} files, {total / 1e6:.1f} MB\n")
    rows = [
        [name, format_time(each / len(bodies)), f"{total / each / 1e6:.1f}", f"{times:.1f} ×"]
        for name, (each, times) in found.items()
    ]
    table(["parser", "a file", "MB/s", "koster is"], rows)
    if google:
        print(
            "Google is google/robotstxt in C++, called without Python, in turns with koster alone."
        )
    print(f"susbot reads one in {SUSBOT.part} of the files.\n")
    return {f"parse {name}": times for name, (_, times) in found.items()}


def _parsing(parser: Parser, bodies: list[bytes]) -> Action:
    return partial(open_and_ask, parser.opener(), [parser.takes(body) for body in bodies])


def open_and_ask(opener: Open, files: list[Any]) -> None:
    agent, url = data.AGENT, data.URL
    for file in files:
        opener(file)(url, agent)


def parsing_of_a_part(name: str) -> float:
    """Return the seconds to parse a file and decide once, over a part of all files."""
    bodies = data.bodies()[:: PEERS[name].part]
    (taken,) = in_turns({name: _parsing(PEERS[name], bodies)}, 1).values()
    return taken[0] / len(bodies)


def plain(rounds: int) -> dict[str, float]:
    print("## Plain Python: parse and one decision, without a C compiler\n")
    taken = compared(child(parsing_in_turns, min(rounds, 3), KOSTER_PURE="1"), "koster")
    files = len(data.corpus())
    rows = [[name, format_time(all_ / files), f"{n:.2f} ×"] for name, (all_, n) in taken.items()]
    table(["parser", "a file", "koster is"], rows)
    return {"plain": 1 / taken[PROTEGO.name][1]}


def parsing_in_turns(rounds: int) -> dict[str, list[float]]:
    bodies = data.bodies()
    return in_turns({each.name: _parsing(each, bodies) for each in (KOSTER, PROTEGO)}, rounds)


# Decide by prepared rules


def prepared(rounds: int) -> dict[str, float]:
    files, questions = data.corpus(), data.questions()
    rules = {each[:2]: koster.parse(files[each[0]]).rules_for(each[1]) for each in questions}
    own = [(rules[site, agent].allowed, url) for site, agent, url in questions]
    # koster prepares rules with the fourth lookup.
    for _ in range(4):
        ask_rules(own)
    actions: dict[str, tuple[Callable[..., None], list[Any]]] = {"koster": (ask_rules, own)}
    for each in peers.here():
        if each.is_reusable:
            name = "koster, by RobotsTxt.allowed" if each is KOSTER else each.name
            actions[name] = (ask_files, _questions_of(each, each.opener()))
    ways = {f"{_IN_A_ROW} times in a row": (_ASKED, _IN_A_ROW, 0), "one after the other": (1, 1, 2)}
    cells: dict[str, list[str]] = {name: [name] for name in actions}
    found = []
    for step, often, before in ways.values():
        turns = {name: partial(ask, all_[::step], often) for name, (ask, all_) in actions.items()}
        with peers.quiet():
            taken = compared(in_turns(turns, min(rounds, 5), before), "koster")
        count = len(questions[::step]) * often
        for name, (seconds, times) in taken.items():
            cells[name] += [format_time(seconds / count), f"{times:.1f} ×"]
        found.append((taken["koster"][0] / count, taken[PROTEGO.name][1]))
    print(f"## Decisions on prepared rules: {len(questions):,} questions\n")
    table(["parser", *(each for way in ways for each in (way, "koster is"))], cells.values())
    print(f"In a row: one in {_ASKED} of the questions. One after the other: all of them, after")
    print("two passes outside the clock, but the rules are too many for the nearest caches.\n")
    return {"again": found[0][0] / 1e-9, "again Protego": found[0][1]}


def _questions_of(parser: Parser, opener: Open) -> list[tuple[Ask, str, str]]:
    """Return the function that decides, URL and agent of each question."""
    opened = {site: opener(parser.takes(body)) for site, body in data.corpus().items()}
    return [(opened[site], url, agent) for site, agent, url in data.questions()]


def ask_rules(pairs: list[tuple[Callable[[str], object], str]], often: int = 1) -> None:
    if often == 1:
        for ask, url in pairs:
            ask(url)
        return
    for ask, url in pairs:
        for _ in range(often):
            ask(url)


def ask_files(questions: list[tuple[Ask, str, str]], often: int = 1) -> None:
    if often == 1:
        for ask, url, agent in questions:
            ask(url, agent)
        return
    for ask, url, agent in questions:
        for _ in range(often):
            ask(url, agent)


def facades(rounds: int) -> dict[str, float]:
    """Compare the facades with the native call, and with the libraries they replace."""
    headings = ["facade", "native", "facade", "of native", "original", "faster by"]
    once, kept, ratios = [], [], []
    for name, parser in FACADES.items():
        openers = {"native": parser.native(), "facade": parser.opener(f"koster.compat.{name}")}
        if parser.is_here:
            openers["original"] = parser.opener()
        files = [parser.takes(body) for body in data.bodies()]
        actions = {key: partial(open_and_ask, each, files) for key, each in openers.items()}
        once.append([name, *_cells(actions, rounds, len(files))[0]])
        if parser.is_reusable:
            asked = {key: _questions_of(parser, each) for key, each in openers.items()}
            actions = {key: partial(ask_files, each) for key, each in asked.items()}
            cells, times = _cells(actions, rounds, len(data.questions()), before=1)
            kept.append([name, *cells])
            ratios.append(times)
    print("## Facades: parse and one decision, beside the native call and the original\n")
    print("The originals answer after the others, in three rounds.\n")
    table(headings, once)
    print("Decisions on parsed files: the questions of the prepared decisions\n")
    table(headings, kept)
    return {"facade": max(ratios)}


def _cells(
    actions: dict[str, Action], rounds: int, count: int, before: int = 0
) -> tuple[list[str], float]:
    """Return the cells of a facade, and the ratio of its time to that of the native call."""
    # It takes ten times as long, and its ratio differs less.
    original = {name: each for name, each in actions.items() if name == "original"}
    pair = {name: each for name, each in actions.items() if name != "original"}
    with peers.quiet():
        taken = compared(in_turns(pair, 3 * rounds, before), "native")
        first = [median(each) for each in in_turns(original, min(rounds, 3)).values()]
    (native_, _), (facade, times) = taken.values()
    cells = [format_time(native_ / count), format_time(facade / count), f"{times:.2f} ×"]
    more = [[format_time(each / count), f"{each / facade:.1f} ×"] for each in first]
    return [*cells, *(more[0] if more else ["not here", ""])], times


# Many rules, hostile patterns, memory


def by_rules(_: int) -> dict[str, float]:
    print("## One decision, by number of plain rules\n")
    rows, found = [], {}
    for parser in peers.here():
        times: list[float | None] = []
        if parser is KOSTER:
            times += child(deciding_by_rules, parser.name, _COUNTS)
            found["growth"] = times[-1] / times[0]  # type: ignore[operator]
        for count in _COUNTS[len(times) :]:
            # One by one, up to the first that does not end.
            one = (deciding_by_rules, parser.name, [count])
            taken = child(*one, max_seconds=MAX_SECONDS) if None not in times else None
            times.append(taken and taken[0])
        growth = f"{times[-1] / times[0]:.1f} ×" if times[0] and times[-1] else ""
        rows.append([parser.name, *map(format_time, times), growth])
    table(["parser", *(f"{count:,}" for count in _COUNTS), "last : first"], rows)
    return found


def deciding_by_rules(name: str, counts: list[int]) -> list[float]:
    """Return the seconds of one decision on as many plain rules, for each count, in turns."""
    actions, asked = {}, {}
    for count in counts:
        ask = _opened(name, data.plain_rules(count))
        urls = data.urls_about(count)
        start = time.perf_counter()
        # koster prepares large rule sets with the 64th lookup; others take long for each.
        for number, url in enumerate(urls[:100]):
            if number >= 10 and time.perf_counter() - start > 0.5:
                break
            ask(url)
        (one,) = in_turns({"": partial(ask, urls[0])}, 1).values()
        asked[str(count)] = few = urls[: max(3, int(0.5 / max(one[0], 1e-9)))]
        actions[str(count)] = partial(ask_rules, [(ask, url) for url in few])
    taken = in_turns(actions, 7, before=int(len(counts) > 1))
    return [median(taken[each]) / len(asked[each]) for each in actions]


def _opened(name: str, body: bytes) -> Callable[[str], object]:
    """Open a file; return a function that decides by URL."""
    if name == KOSTER.name:
        return koster.parse(body).rules_for(data.AGENT).allowed
    parser, agent = PEERS[name], data.AGENT
    ask = parser.opener()(parser.takes(body))
    return lambda url: ask(url, agent)


def hostile(_: int) -> dict[str, float]:
    print("## Hostile patterns: 1 KiB on a path of 2 KiB, the worst of six\n")
    rows, found = [], []
    for parser in peers.here():
        ask = partial(child, deciding_by_a_pattern, parser.name, max_seconds=MAX_SECONDS)
        seconds, worst = _worst(ask, data.HOSTILE)
        rows.append([parser.name, format_time(seconds), worst, format_time(ask(*data.MANY_STARS))])
        found += [seconds or 0] if parser is KOSTER else []
    seconds, worst = _worst(partial(child, deciding_by_a_pattern, ""), data.HOSTILE_SHELL)
    rows.append(["koster, shell patterns of EXTENDED2", format_time(seconds), worst, ""])
    table(["parser", "worst", "pattern", "`/*a` × 25, `*b` on 60 bytes"], rows)
    return {"hostile": max(*found, seconds or 0) / 1e-3}


def _worst(
    ask: Callable[..., float | None], patterns: dict[str, tuple[str, str]]
) -> tuple[float | None, str]:
    """Return the most seconds, and for which pattern; None for the first that takes too long."""
    worst = (0.0, "")
    for name, one in patterns.items():
        taken = ask(*one)
        if taken is None:
            return None, name
        worst = max(worst, (taken, name))
    return worst


def deciding_by_a_pattern(name: str, pattern: str, path: str) -> float:
    """Return the seconds of one decision on one pattern; without a name, on a shell pattern."""
    if name:
        ask = _opened(name, f"User-agent: *\nDisallow: {pattern}\n".encode())
    else:
        body = f"User-agent: *\nRobot-version: 2.0\nDisallow: {pattern}\n"
        ask = koster.parse(body, koster.EXTENDED2).rules_for(data.AGENT).allowed
    ask(path)
    return median(in_turns({"": partial(ask, path)}, 9)[""])


def memory(_: int) -> dict[str, float]:
    sizes = [(sys.getsizeof(koster.parse(body)), len(body)) for body in data.bodies()]
    largest = max(own - size for own, size in sizes)
    total = sum(own for own, _ in sizes) / sum(size for _, size in sizes)
    print("## Memory: a parsed file\n")
    print(f"By koster's own count, {total:.2f} bytes for each byte, besides the file itself; with")
    print(f"the file no file takes more than twice its bytes and {largest:,} bytes.\n")
    return {"memory": largest}
