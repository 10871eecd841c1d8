"""Hostile files, and all tools over them: ``python -m benchmarks.hostile [MEGABYTES] [NAME ...]``.

Each file is of one shape, repeated up to the size: lines that many searches meet, lines that are as
long as the file, and bytes that are not text. ``NAME`` is a file or a tool, to run only these. This
is not part of `make bench`: all files of 1 MB take ten minutes, those of 16 MB hours. Part of it is
`growth`: the exponent of the time by the size of a file. 1 is linear, 2 is quadratic.
"""

from __future__ import annotations

import contextlib
import math
import os
import random
import re
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from statistics import median
from subprocess import CalledProcessError
from typing import Any, TypeAlias

import koster
from koster import audit, expectations, formatting
from koster._cli.collecting import collects_rarely
from koster.analysis import disagreements
from koster.compose import Intentions, compose
from koster.crawlers import known
from koster.diff import compare
from koster.lint import lint

from .measure import Action, child, format_time, in_turns, loop_of_python, table

#: A run is stopped after so many seconds of the clock.
MAX_SECONDS = 240
#: So many of the slowest runs are shown.
_SHOWN = 40
#: Short runs are repeated up to so many seconds: the speed of a machine changes within tenths.
_MAX_SHORT = 0.3
#: Bytes of the files that grow, and the tools of which it matters.
_SIZES = (10_000, 100_000, 1_000_000)
_GROWING_TOOLS = ("lint", "fmt", "fmt --minify", "diff", "audit", "disagree")
#: Runs of fewer loops of Python are not compared: what does not depend on the file counts too much.
#: Not in seconds, or a faster machine would compare fewer sizes.
_MIN_LOOPS = 1.0
_STAR = "User-agent: *\n"

#: Makes a file by its size in bytes.
Maker: TypeAlias = Callable[[int], bytes]


def _of_lines(line: Callable[[int], str], start: str = _STAR) -> Maker:
    """Return a function that makes a file of a size from the text of line n."""

    def made(size: int) -> bytes:
        body, number = bytearray(start.encode()), 0
        while len(body) < size:
            body += line(number).encode()
            number += 1
        return bytes(body[:size])

    return made


def _of_parts(*parts: tuple[float, Maker]) -> Maker:
    """Return a function that makes a file of parts, each with its share of the size."""
    return lambda size: b"\n".join(made(int(share * size)) for share, made in parts)


def _of_one_line(start: str, repeated: str, end: str = "\n") -> Maker:
    """Return a function that makes a file of one long line."""
    unit = repeated.encode()
    return lambda size: start.encode() + unit * (size // len(unit)) + end.encode()


def _of_random(choose: Callable[[random.Random], str], start: str = _STAR) -> Maker:
    """Return a function that makes a file of random lines, always the same."""

    def made(size: int) -> bytes:
        rng = random.Random(size)
        return _of_lines(lambda _: choose(rng), start)(size)

    return made


def _rule(rng: random.Random, pattern: str) -> str:
    return f"{rng.choice(('Allow', 'Disallow'))}: {pattern}\n"


def _starred(rng: random.Random, parts: Sequence[str], most: int) -> str:
    """Return a rule of random runs between stars, anchored or not."""
    runs = ("".join(rng.choices(parts, k=rng.randint(0, 3))) for _ in range(rng.randint(1, most)))
    return _rule(rng, f"/{'*'.join(runs)}{rng.choice(('', '$'))}")


def _overlapping(rng: random.Random, star: str) -> str:
    letter, many, few = rng.choice("abcdef"), rng.randrange(10**6), rng.randrange(30)
    return _rule(rng, f"/{letter}{star}/{many}/{star}{few}")


def _group(rng: random.Random, pattern: str) -> str:
    names = ("Googlebot", "bingbot", "GPTBot", "CCBot", "Googlebot-Image", "Applebot", "YandexBot")
    return f"User-agent: {rng.choice(names)}\n{_rule(rng, pattern)}"


RULES: dict[str, Maker] = {
    "escapes": _of_lines(lambda n: f"Disallow: /%4{n % 10}%c3%a9/%{n % 256:02x}{n}\n"),
    "escaped slashes": _of_lines(lambda n: f"Allow: /a%2F{n}*%2f\nDisallow: /a/{n}\n"),
    "not ASCII": _of_lines(lambda n: f"Disallow: /é/ü{n}\nAllow: /%C3%A9/ü{n}\n"),
    "bad escapes": _of_lines(lambda n: f"Disallow: /%{n % 7}g%%/{n}\n"),
    "brackets": _of_lines(lambda n: f"Disallow: /[a-{n % 10}]?{n}*\\*[!b]\n"),
    "dollars": _of_lines(lambda n: f"Disallow: /a${n}$\nAllow: /a${n}\n"),
    "queries": _of_lines(lambda n: f"Disallow: /*?id{n}=\nAllow: /*&id{n}=\n"),
    "suffixes": _of_lines(lambda n: f"Disallow: /*.{n}$\nAllow: /{n % 100}/\n"),
    "long beginnings": _of_lines(lambda n: f"Disallow: /{'a' * 500}{n}\n"),
    "long ends": _of_lines(lambda n: f"Disallow: /{n}{'a' * 500}*b\n"),
    "nested stars": _of_lines(lambda n: f"Disallow: /*{'a' * (n % 200)}b\nAllow: /*{n}\n"),
    "nested beginnings": _of_lines(lambda n: f"Disallow: /{'a' * (n % 3000)}\n"),
    "beginnings of stars": _of_lines(lambda n: f"Allow: /{'a*' * (n % 300)}\nDisallow: /{n}*\n"),
    "runs of stars": _of_lines(lambda n: f"Disallow: /{'*' * (n % 300)}{n}\n"),
    "binary": _of_random(lambda rng: _starred(rng, "01", 6)),
    "few letters": _of_random(lambda rng: _starred(rng, "ab/", 4)),
    "many letters": _of_random(lambda rng: _starred(rng, "abcdefghij/._-", 5)),
    "many stars": _of_random(lambda rng: _starred(rng, "ab", 60)),
    "very many stars": _of_random(lambda rng: _starred(rng, "ab", 900)),
    "escaped and starred": _of_random(lambda rng: _starred(rng, ["%41", "a", "é", "%2f"], 4)),
    "shell patterns": _of_random(lambda rng: _starred(rng, ["[ab]", "?", "a", "[!a]", "\\*"], 4)),
    "letters of both cases": _of_random(lambda rng: _starred(rng, "aAbB", 3)),
    "plain and starred": _of_lines(lambda n: f"Disallow: /{n}\nAllow: /*{n % 1000}$\n"),
    "closed, with exceptions": _of_lines(lambda n: f"Allow: /{n}\n", f"{_STAR}Disallow: /\n"),
    "open, with exceptions": _of_lines(lambda n: f"Disallow: /*{n}\n", f"{_STAR}Allow: /\n"),
    "empty rules": _of_one_line(_STAR, "Disallow:\nAllow:\n", ""),
    "rules without a slash": _of_lines(lambda n: f"Disallow: {n}\nDisallow: *{n}\n"),
    "rules with a host": _of_lines(lambda n: f"Disallow: https://example.com/{n}\n"),
    "rules before a group": _of_lines(lambda n: f"Disallow: /{n}\n", ""),
    "rules of query names": _of_lines(lambda n: f"Clean-param: a{n}&b /{n}\nDisallow: /{n}?\n"),
    "comments": _of_lines(lambda n: f"Disallow: /{n} # because of {n}\n# {n}\n"),
    "overlapping": _of_parts(
        (0.5, _of_random(lambda rng: _overlapping(rng, ""))),
        (0.5, _of_random(lambda rng: _overlapping(rng, ""), "Disallow: /c/\n")),
    ),
    "overlapping and starred": _of_random(lambda rng: _overlapping(rng, "*")),
    "the same": _of_one_line(_STAR, "Disallow: /a\n", ""),
}

GROUPS: dict[str, Maker] = {
    "names": _of_lines(lambda n: f"User-agent: b{n}\n", ""),
    "names with versions": _of_lines(lambda n: f"User-agent: Googlebot/{n}.1\nAllow: /{n}\n", ""),
    "names with stars": _of_lines(lambda n: f"User-agent: *{n}\nDisallow: /{n}\n", ""),
    "names of words": _of_lines(lambda n: f"User-agent: Google bot {n}\nAllow: /a{n}\n", ""),
    "names like others": _of_lines(lambda n: f"User-agent: Googlebot{n}\nAllow: /{n}\n", ""),
    "misspelt names": _of_lines(lambda n: f"User-agent: Googlebt-{n % 99}\nAllow: /\n", ""),
    "names of two cases": _of_lines(lambda n: f"User-agent: {'aA'[n % 2]}B{n // 2}\n", ""),
    "the same name": _of_lines(lambda n: f"User-agent: a\nDisallow: /{n}*a\n", ""),
    "one crawler, then all": _of_parts(
        (0.5, _of_lines(lambda n: f"Disallow: /*{n}\n")),
        (0.5, _of_lines(lambda n: f"Allow: /{n}*\n", "User-agent: Googlebot\n")),
    ),
    "known crawlers": _of_random(lambda rng: _group(rng, f"/{rng.randrange(10**6)}"), ""),
    "known crawlers, starred": _of_random(
        lambda rng: _group(rng, f"/*{rng.randrange(99)}*{rng.choice('abc')}"), ""
    ),
    "names, and as many rules": _of_parts(
        (0.5, _of_lines(lambda n: f"User-agent: b{n}\n", "")),
        (0.5, _of_lines(lambda n: f"Disallow: /*{n}\n", "")),
    ),
    "names, rules, and a group for each name": _of_parts(
        (0.25, _of_lines(lambda n: f"User-agent: a{n}\n", "")),
        (0.25, _of_lines(lambda n: f"Disallow: /*{n}\n", "")),
        (0.5, _of_lines(lambda n: f"User-agent: a{n}\nDisallow: /{n}\n", "")),
    ),
    "all, then others": _of_parts(
        (0.3, _of_lines(lambda n: f"Disallow: /{n}\n")),
        (0.7, _of_lines(lambda n: f"User-agent: a{n}\nDisallow: /a\n", "")),
    ),
    "empty names": _of_one_line("", "User-agent:\nDisallow: /\n", ""),
    "groups without rules": _of_lines(lambda n: f"User-agent: b{n}\nNoindex: /{n}\n", ""),
    "settings": _of_lines(lambda n: f"Crawl-delay: {n}\nVisit-time: {n % 2400:04}-0400\n"),
    "paces": _of_lines(lambda n: f"Request-rate: {n}/{n + 1}s\nDisallow: /{n}\n"),
    "signals": _of_lines(lambda n: f"Content-Signal: ai-train=no, a{n}=yes\n"),
    "signals of paths": _of_lines(lambda n: f"Content-Usage: /{n}* train-ai=n\n"),
}

LINES: dict[str, Maker] = {
    "sitemaps": _of_lines(lambda n: f"Sitemap: https://example.com/{n}.xml\n"),
    "sitemaps of sites": _of_lines(lambda n: f"Sitemap: https://a{n}.example/é\n"),
    "bad sitemaps": _of_lines(lambda n: f"Sitemap: /{n}.xml\nSitemap: http://[{n}\n"),
    "rules, and as many sitemaps": _of_parts(
        (0.3, _of_lines(lambda n: f"Disallow: *{n}.xml\n")),
        (0.7, _of_lines(lambda n: f"Sitemap: https://shop.example/{n}.xml\n", "")),
    ),
    "hosts": _of_lines(lambda n: f"Host: a{n}.example\n"),
    "misspelt": _of_lines(lambda n: f"Disalow{'abc'[n % 3]}: /{n}\nUser-agnet: a{n}\n"),
    "unknown": _of_lines(lambda n: f"Dis{n}allow: /\n"),
    "no colon": _of_lines(lambda n: f"Disallow /{n}\nUser-agent b{n}\n"),
    "a space before the colon": _of_lines(lambda n: f"Disallow : /{n}\nuser agent: a\n"),
    "HTML": _of_lines(lambda n: f'<p class="a{n}">User-agent: *<br>Disallow: /{n}</p>\n', ""),
    "CR": _of_one_line("", "\r", ""),
    "LF": _of_one_line("", "\n"),
    "CR LF, CR and LF": _of_lines(lambda n: f"Disallow: /{n}\r\n\rAllow: /{n}\r"),
    "LF CR": _of_one_line(_STAR, "Disallow: /a\n\r"),
    "NUL": _of_one_line("", "\0", ""),
    "NUL in lines": _of_lines(lambda n: f"Disallow: /\0{n}\n"),
    "blanks": _of_one_line("", " \t\n"),
    "one line of blanks": _of_one_line("Disallow:", " ", "/\n"),
    "BOM": _of_one_line("", "\ufeff", ""),
    "random": lambda size: random.Random(size).randbytes(size),
    "comment lines": _of_one_line("", "#\n"),
    "one comment": _of_one_line("#", "# "),
    "one directive": _of_one_line("", "a", ": /\n"),
    "one name": _of_one_line("User-agent: ", "a", "\nDisallow: /\n"),
    "one name of words": _of_one_line("User-agent: ", "a ", "\nDisallow: /\n"),
    "one rule": _of_one_line(f"{_STAR}Disallow: /", "a"),
    "one rule of stars": _of_one_line(f"{_STAR}Disallow: /", "*a"),
    "one rule of escapes": _of_one_line(f"{_STAR}Disallow: /", "%41"),
    "one rule not in ASCII": _of_one_line(f"{_STAR}Disallow: /", "é"),
    "one rule not in UTF-8": lambda size: f"{_STAR}Disallow: /".encode() + b"\xff" * size,
    "one shell pattern": _of_one_line(f"{_STAR}Disallow: /", "[ab]"),
    "one open bracket": _of_one_line(f"{_STAR}Disallow: /", "["),
    "one sitemap": _of_one_line(f"{_STAR}Disallow: /a\nSitemap: https://a.example/", "a"),
    "one sitemap of dots": _of_one_line("Sitemap: https://a.example/", "../"),
    "one sitemap of labels": _of_one_line("Sitemap: https://", "a.", "/\n"),
    "one signal": _of_one_line(f"{_STAR}Content-Signal: ", "ai-train=no, "),
    "one number": _of_one_line(f"{_STAR}Crawl-delay: ", "9"),
    "a long URL, near all rules": _of_parts(
        (0.5, _of_lines(lambda n: f"Disallow: /*{'a' * (n % 9)}b{n}\n")),
        (0.5, _of_one_line("Sitemap: https://a.example/", "ab")),
    ),
    "a long rule, near all rules": _of_parts(
        (0.5, _of_lines(lambda n: f"Disallow: /*{'a' * (n % 9)}b{n}\n")),
        (0.5, _of_one_line("Allow: /", "ab")),
    ),
}

FILES = {**RULES, **GROUPS, **LINES}
#: What `growth` measures: the shapes by which a tool would grow faster than its file.
GROWING = (
    *("overlapping", "overlapping and starred", "nested beginnings", "names", "names like others"),
    *("names, rules, and a group for each name", "rules, and as many sitemaps", "no colon"),
)


# Tools


def _formatted(body: bytes, action: Callable[[bytes], object] = formatting.formatted) -> None:
    with contextlib.suppress(formatting.NotTheSame):
        action(body)


def _diff(body: bytes) -> None:
    """Compare a file with what it is without the line in its midst."""
    lines = body.splitlines(keepends=True)
    changed = b"".join(lines[: len(lines) // 2] + lines[len(lines) // 2 + 1 :])
    compare(koster.parse(body), koster.parse(changed), [each.token for each in known()])


def _disagree(body: bytes) -> None:
    others = [each for each in koster.DIALECTS.values() if each != koster.RFC9309]
    disagreements(koster.parse(body), others, ["*"])


TOOLS: dict[str, Callable[[bytes], object]] = {
    "lint": lint,
    "fmt": _formatted,
    "fmt --minify": lambda body: _formatted(body, formatting.minified),
    "diff": _diff,
    "audit": lambda body: audit.audit(koster.parse(body)),
    "disagree": _disagree,
    "compose": lambda body: compose(Intentions(closed=("/a", "/1*"), opened=("/a/b",)), body),
    "test --init": lambda body: expectations.written(koster.parse(body), "robots.txt"),
}


def measured(file: str, tool: str, sizes: list[int], runs: int = 1) -> list[tuple[float, float]]:
    """Return for each size the seconds of the processor, and the same in loops of Python.

    Of short runs, which are repeated ``runs`` times, the fewest seconds, but the median of loops.
    """
    # As the commands do.
    run = collects_rarely(TOOLS[tool])
    found = []
    for size in sizes:
        body = FILES[file](size)
        taken: list[float] = []
        loops: list[float] = []
        while not taken or (len(taken) < runs and sum(taken) < _MAX_SHORT):
            before = _seconds(_loop, 3)
            taken.append(_seconds(partial(run, body), 1))
            loops.append(taken[-1] / (before + _seconds(_loop, 3)))
        found.append((min(taken), median(loops)))
    return found


def _loop() -> None:
    sum(number * number for number in range(20_000))


def _seconds(action: Action, rounds: int) -> float:
    """Return the seconds of the processor that an action takes, the least of some rounds."""
    return min(in_turns({"": action}, rounds, clock=time.process_time)[""])


def _measured(runs: list[tuple[str, str]], *more: Any) -> list[list[tuple[float, float]] | None]:
    """Return what `measured` does for files and tools, two at once; None if one takes too long."""

    def one(run: tuple[str, str]) -> Any:
        try:
            return child(measured, *run, *more, max_seconds=MAX_SECONDS)
        except CalledProcessError as error:
            print(*run, *error.__notes__, sep=": ", file=sys.stderr)
            return None

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [*pool.map(one, runs)]


def main(*arguments: str) -> None:
    """Print the slowest runs of the tools over the files."""
    numbers = [each for each in arguments if re.fullmatch(r"\d+(\.\d+)?", each)]
    size = int(float(numbers[0] if numbers else 1) * 1e6)
    files = [name for name in FILES if name in arguments] or FILES
    tools = [name for name in TOOLS if name in arguments] or TOOLS
    runs = [*product(files, tools)]
    seconds = [math.inf if each is None else each[0][0] for each in _measured(runs, [size])]
    slowest = sorted(zip(seconds, runs, strict=True), reverse=True)[:_SHOWN]
    table(["file", "tool", "time"], ([*run, format_time(taken)] for taken, run in slowest))
    print(f"The slowest of {len(runs)} runs, of {size:,} bytes each. Infinite: it failed, or took")
    print(f"more than {MAX_SECONDS} s. At the end, {loop_of_python()}")


def growth(rounds: int) -> dict[str, float]:
    """Print the table; return the largest exponent, and the most seconds for the largest files."""
    sizes = _SIZES if rounds > 1 else _SIZES[:2]
    runs = [*product(GROWING, _GROWING_TOOLS)]
    found = [each or [(math.inf, math.inf)] * len(sizes) for each in _measured(runs, sizes, 3)]
    powers = [_exponent(sizes, [loops for _, loops in times]) for times in found]
    cells = [
        format_time(times[-1][0]) + ("" if power is None else f", {power:.2f}")
        for times, power in zip(found, powers, strict=True)
    ]
    width = len(_GROWING_TOOLS)
    print("## The tools by the size of a file that is made to be hard\n")
    print(f"Processor time for {sizes[-1]:,} bytes, and the exponent of its growth from")
    print(f"{sizes[0]:,}, beside a loop of Python: the speed of the machine changes.\n")
    rows = ([file, *cells[at * width :][:width]] for at, file in enumerate(GROWING))
    table(["file", *_GROWING_TOOLS], rows)
    slowest = max(times[-1][0] for times in found)
    largest = max(power for power in powers if power is not None)
    return {"exponent": largest, **({"hard": slowest} if sizes == _SIZES else {})}


def _exponent(sizes: Sequence[int], loops: list[float]) -> float | None:
    """Return the exponent of the growth from the smallest size that counts to the largest."""
    found = [each for each in zip(sizes, loops, strict=True) if each[1] >= _MIN_LOOPS]
    if len(found) < 2:
        return None
    (small, before), (large, after) = found[0], found[-1]
    return math.log(after / before) / math.log(large / small) if after < math.inf else math.inf


if __name__ == "__main__":
    main(*sys.argv[1:])
