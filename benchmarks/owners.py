"""The site owner's tools: over all files, beside susbot; the URLs of sitemaps; access logs."""

from __future__ import annotations

import gc
import gzip
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median

from koster._cli.collecting import collects_rarely
from koster.logs._ranges import bundled_data

from . import data, peers
from .hostile import TOOLS
from .measure import Cost, child, cost, format_time, in_turns, table

#: So many of the slowest files are measured again in turns, so many times: other processes
#: interrupt, and the speed of virtual machines changes within seconds.
_SLOWEST = 3
_AGAIN = 5
#: susbot reads one in this many of the files.
_PART = 40
_SUSBOT = f"susbot: its findings, one in {_PART} files"
#: Sitemaps, and URLs of each.
_SITEMAPS = 20
_URLS = 50_000
#: Lines of a log.
_LINES = 1_000_000


def tools(_: int) -> dict[str, float]:
    """Run the tools over all files; return the milliseconds of the slowest."""
    # Otherwise what other benchmarks have in memory is looked through for garbage again and again.
    gc.collect()
    gc.freeze()
    names = ("lint", "fmt", "fmt --minify")
    # As the commands do.
    actions = {f"`koster {name}`": collects_rarely(TOOLS[name]) for name in names}
    if peers.SUSBOT.is_here:
        from susbot import Analysis

        # It computes its findings on access, and takes minutes for all files.
        actions[_SUSBOT] = lambda body: Analysis(body.decode("utf-8", "replace")).issues
    bodies = data.bodies()
    print(f"## The tools over {len(bodies):,} files\n")
    rows = []
    found: dict[str, float] = {}
    for name, action in actions.items():
        some = {str(at): partial(action, body) for at, body in enumerate(bodies)}
        if name == _SUSBOT:
            some = {at: some[at] for at in [*some][::_PART]}
        times = {at: taken[0] for at, taken in in_turns(some, 1, clock=time.process_time).items()}
        slowest = {at: some[at] for at in sorted(some, key=times.__getitem__)[-_SLOWEST:]}
        again = in_turns(slowest, _AGAIN, clock=time.process_time)
        found[name] = max(map(median, again.values()))
        three = (median(times.values()), found[name], sum(times.values()))
        rows.append([name, *map(format_time, three)])
    table(["", "median", "slowest file", "all"], rows)
    print(f"Processor time. The slowest file: the median of {_AGAIN} runs.\n")
    slow, _fmt, minify, *susbot = found.values()
    of_susbot = {"lint susbot": slow / susbot[0]} if susbot else {}
    return {"lint": slow / 1e-3, "minify": minify / 1e-3, **of_susbot}


def sitemaps(_: int) -> dict[str, float]:
    """Check the URLs of compressed sitemaps in an index, and those of one sitemap as CSV."""
    robots = str(data.ROOT / "examples" / "robots.txt")
    check = ["check", "--robots", robots, "--sitemap"]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        index, one = _write_sitemaps(Path(folder))
        commands = {
            "`koster check`": [*check, index],
            "`koster check --format csv`": [*check, one, "--format", "csv"],
            "`koster lint`": ["lint", robots, "--sitemap", index],
        }
        for name, arguments in commands.items():
            taken = Cost(*child(cost, [sys.executable, "-m", "koster", *arguments]))
            urls = _URLS * (_SITEMAPS if index in arguments else 1)
            times = map(format_time, (taken.seconds, taken.seconds / urls))
            rows.append([name, f"{urls:,}", *times, f"{taken.megabytes:.0f} MB"])
    print("## URLs of sitemaps\n")
    table(["", "URLs", "time", "for each", "peak memory"], rows)
    return {}


def _write_sitemaps(folder: Path) -> tuple[str, str]:
    """Return the paths of an index of sitemaps, and of one of these."""
    sections = ("chairs", "search?q=", "tables", "cart", "press", "account", "beds", "lamps")
    entry = (
        "<url>\n<loc>https://shop.example/{}/{}-{}-some-words-of-a-title</loc>\n"
        "<lastmod>2026-11-01</lastmod>\n<priority>0.5</priority>\n</url>\n"
    )
    for number in range(_SITEMAPS):
        urls = "".join(entry.format(sections[page % 8], number, page) for page in range(_URLS))
        content = f"<urlset>{urls}</urlset>".encode()
        (folder / f"{number}.xml.gz").write_bytes(gzip.compress(content, 1))
    place = "<sitemap><loc>https://shop.example/{}.xml.gz</loc></sitemap>"
    places = "".join(map(place.format, range(_SITEMAPS)))
    (folder / "index.xml").write_text(f"<sitemapindex>{places}</sitemapindex>")
    return str(folder / "index.xml"), str(folder / "0.xml.gz")


def logs(rounds: int) -> dict[str, float]:
    """Read a log of people, and of crawlers from their published addresses."""
    lines = _LINES if rounds > 1 else _LINES // 10
    command = [sys.executable, "-m", "koster", "logs", "access.log", "--robots", "robots.txt"]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "robots.txt").write_bytes((data.ROOT / "examples" / "robots.txt").read_bytes())
        for count, jobs in ((lines, "1"), (lines, "2"), (lines // 10, "2")):
            with Path(folder, "access.log").open("w") as file:
                file.writelines(_log(count))
            taken = Cost(*child(cost, [*command, "--jobs", jobs], folder))
            rate = f"{count / taken.seconds:,.0f}"
            rows.append([f"{count:,}", jobs, rate, f"{taken.megabytes:,.0f} MB"])
    print("## Access logs\n")
    table(["lines", "cores", "lines a second", "peak memory of a process"], rows)
    return {}


def _log(lines: int) -> Iterator[str]:
    """Yield lines in the Combined format."""
    source = random.Random(20261123)
    bundled = bundled_data()
    prefixes = [
        (name, bundled["sources"][found["source"]].get("ipv4", ["203.0.113.0/24"])[:100])
        for name, found in bundled["crawlers"].items()
        if found.get("source") in bundled["sources"]
    ]
    for number in range(lines):
        stamp = time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(1_767_225_600 + number // 10))
        page = source.randrange(200_000)
        path = f"/product/{page}/a-name-of-a-product-in-words"
        address = f"{page % 223 + 1}.{page % 251}.{page // 1000}.{source.randrange(256)}"
        agent = (
            f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/{100 + page % 400 / 10} Safari/537"
        )
        # More than most sites have.
        if number % 3 == 0:
            name, networks = source.choice(prefixes)
            address = source.choice(networks).partition("/")[0]
            agent = f"Mozilla/5.0 (compatible; {name}/1.2; +https://{name}.example/bot)"
            path = "/robots.txt" if page < 100 else path
        yield f'{address} - - [{stamp}] "GET {path} HTTP/1.1" 200 {page} "-" "{agent}"\n'
