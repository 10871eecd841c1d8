"""Hostile files through all tools: ``python -m benchmarks.hostile [MEGABYTES] [NAME ...]``.

Each file is of one shape, repeated up to the size: lines that many searches meet, lines that are as
long as the file, and bytes that are not text. ``NAME`` is a file or a tool, to run only these. Not
part of `make bench`: all files of 1 MB take ten minutes, those of 16 MB hours.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import TypeAlias

from koster._cli.collecting import collects_rarely

from . import growth
from .measure import format_time, print_speed, table

MEGABYTE = 1_000_000
#: A run is stopped after so many seconds of the clock.
MAX_SECONDS = 240
#: So many of the slowest runs are shown.
_SHOWN = 40
_STAR = "User-agent: *\n"

#: Makes a file by its size in bytes.
Maker: TypeAlias = Callable[[int], bytes]


def _of_lines(line: Callable[[int], str], start: str = _STAR) -> Maker:
    """Return a function that makes a file of a size from the text of line n."""

    def made(size: int) -> bytes:
        parts = [start.encode()]
        left = size
        for number in count():
            parts.append(line(number).encode())
            left -= len(parts[-1])
            if left <= 0:
                return b"".join(parts)[:size]
        raise AssertionError

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


def _of_bytes(size: int) -> bytes:
    return random.Random(size).randbytes(size)


def _rule(rng: random.Random, pattern: str) -> str:
    return f"{rng.choice(('Allow', 'Disallow'))}: {pattern}\n"


def _starred(rng: random.Random, parts: Sequence[str], most: int) -> str:
    """Return a rule of random runs between stars, anchored or not."""
    runs = ("".join(rng.choices(parts, k=rng.randint(0, 3))) for _ in range(rng.randint(1, most)))
    return _rule(rng, f"/{'*'.join(runs)}{rng.choice(('', '$'))}")


#: Crawlers with groups of their own.
_NAMES = ("Googlebot", "bingbot", "GPTBot", "CCBot", "Googlebot-Image", "Applebot", "YandexBot")


def _group(rng: random.Random, pattern: str) -> str:
    return f"User-agent: {rng.choice(_NAMES)}\n{_rule(rng, pattern)}"


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
    "random": _of_bytes,
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


def _lines_of(family: str) -> Maker:
    """Return a function that makes a file of `growth` by its size in bytes."""

    def made(size: int) -> bytes:
        lines = 1_000
        return growth.FAMILIES[family](lines * size // len(growth.FAMILIES[family](lines))).encode()

    return made


FILES = {**RULES, **GROUPS, **LINES, **{name: _lines_of(name) for name in growth.FAMILIES}}


def _compose(body: bytes) -> None:
    from koster.compose import Intentions, compose

    compose(Intentions(closed=("/a", "/1*"), opened=("/a/b",)), body)


def _init(body: bytes) -> None:
    import koster
    from koster import expectations

    expectations.written(koster.parse(body), "robots.txt")


TOOLS = {**growth.TOOLS, "compose": _compose, "test --init": _init}


def run(megabytes: float, names: list[str]) -> None:
    """Run the tools over the files, two at once, and print the slowest."""
    print_speed("At the start")
    files = [name for name in FILES if name in names] or list(FILES)
    tools = [name for name in TOOLS if name in names] or list(TOOLS)
    runs = [(file, tool) for file in files for tool in tools]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        seconds = pool.map(lambda each: _seconds(*each, megabytes), runs)
        taken = sorted(zip(seconds, runs, strict=True), reverse=True)
    rows = ([*each, format_time(took)] for took, each in taken[:_SHOWN])
    table(["file", "tool", "time"], rows)
    print(f"The slowest of {len(runs)} runs, of {megabytes:g} MB each.")
    print_speed("At the end")


def _seconds(file: str, tool: str, megabytes: float) -> float:
    """Return the seconds of the processor that a tool takes."""
    command = [sys.executable, "-m", "benchmarks.hostile", "--one", file, tool, str(megabytes)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=MAX_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        print(f"{file}, {tool}: more than {MAX_SECONDS} s", flush=True)
        return float("inf")
    if done.returncode:
        print(f"{file}, {tool}: fails\n{done.stderr.decode()}", flush=True)
        return float("inf")
    taken: float = json.loads(done.stdout)
    return taken


def main() -> None:
    """Run as a command."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["--one"]:
        file, tool, megabytes = arguments[1:]
        body = FILES[file](int(float(megabytes) * MEGABYTE))
        start = time.process_time()
        # As the commands do.
        collects_rarely(TOOLS[tool])(body)
        print(time.process_time() - start)
        return
    megabytes = 1.0
    if arguments:
        with contextlib.suppress(ValueError):
            megabytes = float(arguments[0])
    run(megabytes, arguments)


if __name__ == "__main__":
    main()
