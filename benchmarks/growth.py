"""How the tools grow with a file: ``python -m benchmarks.growth [--quick] [FAMILY ...]``.

Each family is a file made to be hard, of 1,000 to 1,000,000 lines. Every tool runs in a process of
its own with a time limit. An exponent of 1 is linear, 2 is quadratic.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from koster._cli.collecting import collects_rarely

from .measure import format_time, table

#: Lines of the files.
SIZES = (1_000, 10_000, 100_000, 1_000_000)
#: `make bench` reads the largest files of these alone: all of them take ten minutes.
_LARGE = ("plain_rules",)
#: Sizes of a quick run.
QUICK_SIZES = (1_000, 10_000)
#: The time limit of one run, in seconds: a file of the largest size has up to 50 MB, of which 16
#: MiB are read.
MAX_SECONDS = 100
#: 60,000 lines made to be hard, which is less, must not take 5 s.
_HARD = 100_000
#: A tool runs so many times, if the first ones take less than so many seconds.
_RUNS = 5
_MAX_SHORT = 0.5
#: Runs of fewer loops are not compared: what does not depend on the file counts too much. Not in
#: seconds, or a faster machine would compare fewer sizes.
_MIN_LOOPS = 1.0

#: The seconds of the processor that a tool takes, and the same as a multiple of loops beside it.
Times = tuple[float, float]


def one_group(count: int) -> str:
    """Names of one group."""
    return "".join(f"User-agent: bot{number}x\n" for number in range(count)) + "Disallow: /\n"


def groups(count: int) -> str:
    """Groups with a rule each."""
    return "".join(
        f"User-agent: bot{number}x\nDisallow: /a{number}\n" for number in range(count // 2)
    )


def plain_rules(count: int) -> str:
    """Plain rules, some of which overlap, and one in their midst that covers many."""
    rng = random.Random(1)
    rules = [
        f"{_directive(rng)}: /{rng.choice('abcdef')}/{rng.randrange(10**6)}/{rng.randrange(30)}\n"
        for _ in range(count - 1)
    ]
    rules.insert(count // 2, "Disallow: /c/\n")
    return "User-agent: *\n" + "".join(rules)


def starred_rules(count: int) -> str:
    """Rules with stars that overlap."""
    rng = random.Random(2)
    return "User-agent: *\n" + "".join(
        f"{_directive(rng)}: /{rng.choice('abcdef')}*/{rng.randrange(10**6)}/*{rng.choice('xyz')}\n"
        for _ in range(count)
    )


def nested_rules(count: int) -> str:
    """Rules, each of which is a prefix of the next, a hundred times."""
    rng = random.Random(3)
    return "User-agent: *\n" + "".join(
        f"{_directive(rng)}: /{'a' * (number % 100)}\n" for number in range(count)
    )


def equal_rules(count: int) -> str:
    """The same rule again and again."""
    return "User-agent: *\n" + "Disallow: /a\n" * count


def unknown_directives(count: int) -> str:
    """Different unknown directives."""
    return "".join(f"Unknown{number}: x\n" for number in range(count))


def one_name(count: int) -> str:
    """Groups of one name, with a Crawl-delay each."""
    return "".join(
        f"User-agent: a\nCrawl-delay: {number}\nDisallow: /{number}\n"
        for number in range(count // 3)
    )


def without_rules(count: int) -> str:
    """One group of many names, and delays, that has no rules."""
    return "".join(
        f"User-agent: a{number}\nCrawl-delay: {number}\n" for number in range(count // 2)
    )


def sitemaps(count: int) -> str:
    """Sitemap lines."""
    return "".join(f"Sitemap: https://shop.example/{number}.xml\n" for number in range(count))


def malformed(count: int) -> str:
    """Lines without a directive."""
    return "some words here\n" * count


def named_groups(count: int) -> str:
    """Rules for everybody, and groups of other crawlers with a rule each."""
    rules = "".join(f"Disallow: /{number}\n" for number in range(count // 2))
    others = (f"User-agent: a{number}\nDisallow: /a\n" for number in range(count // 4))
    return f"User-agent: *\n{rules}{''.join(others)}"


def shared_rules(count: int) -> str:
    """A group of many names with many rules, and another group for each name."""
    numbers = range(count // 4)
    names = "".join(f"User-agent: a{number}\n" for number in numbers)
    rules = "".join(f"Disallow: /*{number}\n" for number in numbers)
    own = "".join(f"User-agent: a{number}\nDisallow: /{number}\n" for number in numbers)
    return names + rules + own


def blocked_sitemaps(count: int) -> str:
    """Rules with stars, and as many sitemaps."""
    rules = "".join(f"Disallow: *{number}.xml\n" for number in range(count // 2))
    sitemaps = (f"Sitemap: https://shop.example/{number}.xml\n" for number in range(count // 2))
    return f"User-agent: *\n{rules}{''.join(sitemaps)}"


def names_of_words(count: int) -> str:
    """Names of several words, which may be headers, and a setting between them."""
    return "".join(
        f"User-agent: a b{number}\nCrawl-delay: 1\nUser-agent: c\nAllow: /\nDisallow: /\n"
        for number in range(count // 5)
    )


def _directive(rng: random.Random) -> str:
    return rng.choice(("Disallow", "Disallow", "Allow"))


FAMILIES: dict[str, Callable[[int], str]] = {
    each.__name__: each
    for each in (
        *(one_group, groups, plain_rules, starred_rules, nested_rules, equal_rules),
        *(unknown_directives, one_name, without_rules, sitemaps, malformed),
        *(named_groups, shared_rules, blocked_sitemaps, names_of_words),
    )
}


def _lint(body: bytes) -> None:
    from koster.lint import lint

    lint(body)


def _fmt(body: bytes) -> None:
    from koster import formatting

    _suppress_refusal(formatting.formatted, body)


def _minify(body: bytes) -> None:
    from koster import formatting

    _suppress_refusal(formatting.minified, body)


def _suppress_refusal(action: Callable[[bytes], object], body: bytes) -> None:
    from koster import formatting

    with contextlib.suppress(formatting.NotTheSame):
        action(body)


def _diff(body: bytes) -> None:
    import koster
    from koster.diff import compare

    lines = body.splitlines(keepends=True)
    changed = b"".join(lines[: len(lines) // 2] + lines[len(lines) // 2 + 1 :])
    compare(koster.parse(body), koster.parse(changed), _tokens())


def _audit(body: bytes) -> None:
    import koster
    from koster.audit import audit

    audit(koster.parse(body))


def _disagree(body: bytes) -> None:
    import koster
    from koster.analysis import disagreements

    others = [each for each in koster.DIALECTS.values() if each != koster.RFC9309]
    disagreements(koster.parse(body), others, ["*"])


def _tokens() -> list[str]:
    from koster.crawlers import known

    return [crawler.token for crawler in known()]


TOOLS: dict[str, Callable[[bytes], None]] = {
    "lint": _lint,
    "fmt": _fmt,
    "fmt --minify": _minify,
    "diff": _diff,
    "audit": _audit,
    "disagree": _disagree,
}


def run(*, is_quick: bool = False, families: list[str] | None = None) -> dict[str, float]:
    """Print the tables; return the largest exponent, and the most seconds for `_HARD` lines.

    With ``families``, all sizes of these.
    """
    print("## The tools by the lines of a file that is made to be hard\n")
    print("Processor time. The exponent is that of the growth from the smallest to the largest,")
    print("each beside a loop of Python: the speed of the machine changes between them.\n")
    exponents = []
    slowest = 0.0
    for name in families or FAMILIES:
        sizes = SIZES if families or name in _LARGE else SIZES[:-1]
        sizes = QUICK_SIZES if is_quick else sizes
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = list(pool.map(partial(_times, name, sizes), TOOLS))
        rows = []
        for tool, times in zip(TOOLS, found, strict=True):
            seconds = [each and each[0] for each in times]
            cells = (
                f"> {MAX_SECONDS} s" if each is None else format_time(each) for each in seconds
            )
            exponent = _exponent(sizes, times)
            exponents.append(exponent or 0.0)
            at_hard = dict(zip(sizes, seconds, strict=True)).get(_HARD, 0)
            slowest = max(slowest, math.inf if at_hard is None else at_hard)
            rows.append([tool, *cells, "" if exponent is None else f"{exponent:.2f}"])
        print(f"{FAMILIES[name].__doc__}\n")
        table(["", *[f"{size:,}" for size in sizes], "exponent"], rows)
    return {"exponent": max(exponents), **({"hard": slowest} if slowest else {})}


def _times(family: str, sizes: tuple[int, ...], tool: str) -> list[Times | None]:
    """Return the times of a tool by size; None from the first size that takes too long."""
    times: list[Times | None] = []
    for size in sizes:
        ended = bool(times) and times[-1] is None
        times.append(None if ended else _times_of_one(family, size, tool))
    return times


def _exponent(sizes: tuple[int, ...], times: list[Times | None]) -> float | None:
    """Return the exponent of the growth between the smallest and the largest size."""
    found = [
        (size, taken[1])
        for size, taken in zip(sizes, times, strict=True)
        if taken is not None and taken[1] >= _MIN_LOOPS
    ]
    if None in times:
        return math.inf
    if len(found) < 2:
        return None
    (small, before), (large, after) = found[0], found[-1]
    return math.log(after / before) / math.log(large / small)


def _times_of_one(family: str, size: int, tool: str) -> Times | None:
    """Return the times of a tool, or None if it takes too long."""
    command = [sys.executable, "-m", "benchmarks.growth", "--one", family, str(size), tool]
    try:
        done = subprocess.run(command, capture_output=True, check=True, timeout=2 * MAX_SECONDS)
    except subprocess.TimeoutExpired:
        return None
    seconds, loops = json.loads(done.stdout)
    return (seconds, loops) if seconds <= MAX_SECONDS else None


def _measure_one(family: str, size: str, tool: str) -> None:
    body = FAMILIES[family](int(size)).encode()
    TOOLS[tool](b"User-agent: *\nDisallow: /a\n")
    taken: list[float] = []
    loops: list[float] = []
    # Short ones again: the speed of a machine changes from one tenth of a second to the next.
    while len(taken) < _RUNS and sum(taken) < _MAX_SHORT:
        before = _loop_seconds()
        start = time.process_time()
        # As the commands do.
        collects_rarely(TOOLS[tool])(body)
        taken.append(time.process_time() - start)
        loops.append(taken[-1] / (before + _loop_seconds()))
    # Not the fewest loops: these are of the run beside which a loop was slowest.
    print(json.dumps([min(taken), statistics.median(loops)]))


def _loop_seconds() -> float:
    """Return the seconds of the processor that a loop takes."""
    found = []
    for _ in range(3):
        start = time.process_time()
        sum(number * number for number in range(20_000))
        found.append(time.process_time() - start)
    return min(found)


def main() -> None:
    """Print only these tables."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["--one"]:
        _measure_one(*arguments[1:])
        return
    names = [each for each in arguments if not each.startswith("-")]
    run(is_quick="--quick" in arguments, families=names)


if __name__ == "__main__":
    main()
