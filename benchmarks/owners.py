"""The site owner's tools over all files, and over large ones, compared with susbot."""

from __future__ import annotations

import gc
import gzip
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import koster
from koster import formatting
from koster._cli.collecting import collects_rarely
from koster.analysis import classify, dead_rules, difference, redundant_rules
from koster.lint import lint

from . import data
from .measure import format_time, table

#: So many of the slowest files are measured again in turns, so many times: other processes
#: interrupt, and the speed of virtual machines changes within seconds.
_SLOWEST = 3
_AGAIN = 15
#: susbot reads one in this many of the files.
_PART = 40
_SUSBOT = f"susbot: its findings, one in {_PART} files"


def run() -> dict[str, float]:
    """Print the tables; return the times of the slowest files in milliseconds."""
    slowest = over_all_files()
    large()
    sitemaps()
    return slowest


def over_all_files() -> dict[str, float]:
    bodies = list(data.corpus().values())
    # Otherwise what other benchmarks have in memory is looked through for garbage again and again.
    gc.collect()
    gc.freeze()
    actions: dict[str, Callable[[bytes], object]] = {
        # As the commands do.
        "`koster lint`": collects_rarely(lint),
        "`koster fmt`, proved": collects_rarely(formatting.formatted),
        "`koster fmt --minify`, proved": collects_rarely(formatting.minified),
    }
    try:
        from susbot import Analysis

        # It computes its findings on access, and takes minutes for all files.
        actions[_SUSBOT] = lambda body: Analysis(_text(body)).issues
    except (ImportError, AttributeError):
        print("susbot is not measured")
    print(f"### The tools over {len(bodies):,} files\n")
    rows = []
    found = {}
    for label, action in actions.items():
        some = bodies[:: _PART if label == _SUSBOT else 1]
        times, refused = zip(*(_timed(action, body) for body in some), strict=True)
        by_time = sorted(zip(times, some, strict=True), reverse=True)
        slowest = [body for _, body in by_time[:_SLOWEST]]
        rounds = [[_timed(action, body)[0] for body in slowest] for _ in range(_AGAIN)]
        slow = max(map(median, zip(*rounds, strict=True)))
        name = f"{label}; {sum(refused)} files refused" if any(refused) else label
        rows.append((name, format_time(median(times)), format_time(slow), format_time(sum(times))))
        found[label] = slow / 1e-3
    table(["", "median", "slowest file", "all"], rows)
    print("Processor time. The slowest file: the median of fifteen runs.\n")
    return {"lint": found["`koster lint`"], "minify": found["`koster fmt --minify`, proved"]}


def _timed(action: Callable[[bytes], object], body: bytes) -> tuple[float, bool]:
    """Return the seconds of the processor that an action takes, and whether it refuses the file."""
    began = time.process_time()
    refused = False
    try:
        action(body)
    except formatting.NotTheSame:
        refused = True
    return time.process_time() - began, refused


def _text(body: bytes) -> str:
    return body.decode("utf-8", "replace")


def plain(count: int, seed: int) -> koster.Rules:
    """Return ``count`` plain rules, some of which overlap."""
    rng = random.Random(seed)
    lines = [
        f"{rng.choice(['Disallow', 'Disallow', 'Allow'])}: "
        f"/{rng.choice('abcdef')}/{rng.randrange(10**6)}/{rng.randrange(30)}"
        for _ in range(count)
    ]
    return koster.parse("User-agent: *\n" + "\n".join(lines)).rules_for("x")


def large() -> None:
    one, other = plain(30_000, 1), plain(30_000, 2)
    stars = koster.parse(
        "User-agent: *\nDisallow: /" + "*a" * 1000 + "\nAllow: /" + "*ab" * 500
    ).rules_for("x")
    questions: dict[str, Callable[[], object]] = {
        "30,000 plain rules: how much is closed": lambda: classify(one),
        "30,000 plain rules: which are dead": lambda: dead_rules(one),
        "30,000 plain rules: which are redundant": lambda: redundant_rules(one),
        "30,000 against 30,000 others: every difference": lambda: difference(one, other),
        "a pattern of 1,000 stars: which are dead": lambda: dead_rules(stars),
    }
    print("### Questions about large files\n")
    rows = []
    for name, question in questions.items():
        began = time.perf_counter()
        answer = question()
        took = time.perf_counter() - began
        proved = "proved" if getattr(answer, "is_proved", True) else "not proved"
        rows.append((name, format_time(took), proved))
    table(["", "time", ""], rows)
    print()


#: Sitemaps, and URLs of each.
_SITEMAPS = 20
_URLS_OF_SITEMAP = 50_000

#: Runs the command with its arguments, and writes its peak memory in KiB to a file.
_MEASURED = """
import sys
from koster._cli import main
path, *sys.argv[1:] = sys.argv[1:]
try:
    main()
finally:
    with open("/proc/self/status") as status, open(path, "w") as file:
        file.write(next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""


def sitemaps() -> None:
    """Check the URLs of compressed sitemaps in an index: a million, and a fifth of them as CSV."""
    robots = str(data.ROOT / "examples" / "robots.txt")
    commands = {
        "`koster check`": (_SITEMAPS, ["check", "--robots", robots]),
        "`koster check --format csv`": (
            _SITEMAPS // 5,
            ["check", "--robots", robots, "--format", "csv"],
        ),
        "`koster lint`": (_SITEMAPS, ["lint", robots]),
    }
    print("### URLs of sitemaps\n")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        write_sitemaps(Path(folder))
        peak = Path(folder) / "peak"
        for name, (count, arguments) in commands.items():
            index = write_index(Path(folder), count)
            command = [sys.executable, "-c", _MEASURED, str(peak), *arguments, "--sitemap", index]
            began = time.perf_counter()
            subprocess.run(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
            )
            took = time.perf_counter() - began
            urls = count * _URLS_OF_SITEMAP
            memory = f"{int(peak.read_text()) >> 10} MiB"
            rows.append((name, f"{urls:,}", format_time(took), format_time(took / urls), memory))
    table(["", "URLs", "time", "for each", "peak memory"], rows)


def write_sitemaps(folder: Path) -> None:
    """Write the sitemaps."""
    sections = ("chairs", "search?q=", "tables", "cart", "press", "account", "beds", "lamps")
    entry = (
        "<url>\n<loc>https://shop.example/{}/{}-{}-some-words-of-a-title</loc>\n"
        "<lastmod>2026-11-01</lastmod>\n<priority>0.5</priority>\n</url>\n"
    )
    for number in range(_SITEMAPS):
        pages = range(_URLS_OF_SITEMAP)
        entries = (entry.format(sections[page % 8], number, page) for page in pages)
        content = f"<urlset>{''.join(entries)}</urlset>"
        (folder / f"{number}.xml.gz").write_bytes(gzip.compress(content.encode(), 6))


def write_index(folder: Path, count: int) -> str:
    """Write an index of the first sitemaps; return its path."""
    index = folder / "index.xml"
    names = (f"<sitemap><loc>https://shop.example/{n}.xml.gz</loc></sitemap>" for n in range(count))
    index.write_text(f"<sitemapindex>{''.join(names)}</sitemapindex>")
    return str(index)
