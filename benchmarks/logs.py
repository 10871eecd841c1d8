"""``koster logs`` beside goaccess on a log of ten million lines: time and memory.

``python -m benchmarks.logs FILE LINES`` writes the log alone.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from koster.logs._ranges import bundled_data

from .measure import table

#: The log of the measurement: about 3 GB.
LINES = 1_000_000
QUICK_LINES = 300_000

_SEED = 20261123
_START = 1_767_225_600
_BLOCK = 100_000

#: The share of requests by crawlers: more than most sites have.
_CRAWLERS = 0.35

_AGENTS = {
    "googlebot": "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 "
    "(KHTML, like Gecko) Chrome/131.0.6778.69 Mobile Safari/537.36 (compatible; Googlebot/2.1; "
    "+http://www.google.com/bot.html)",
    "bingbot": "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; "
    "+http://www.bing.com/bingbot.htm) Chrome/116.0.1938.76 Safari/537.36",
    "gptbot": "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; "
    "+https://openai.com/gptbot)",
    "oai-searchbot": "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; "
    "OAI-SearchBot/1.0; +https://openai.com/searchbot",
    "ccbot": "CCBot/2.0 (https://commoncrawl.org/faq/)",
    "ahrefsbot": "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)",
    "claudebot": "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; "
    "+claudebot@anthropic.com)",
    "bytespider": "Mozilla/5.0 (Linux; Android 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Mobile "
    "Safari/537.36 (compatible; Bytespider; spider-feedback@bytedance.com)",
}

ROBOTS = """\
User-agent: *
Disallow: /search
Disallow: /cart/
Disallow: /*?sort=

User-agent: GPTBot
User-agent: CCBot
User-agent: Bytespider
Disallow: /

User-agent: AhrefsBot
Crawl-delay: 10
Disallow: /product/1
"""


def run(*, is_quick: bool = False) -> None:
    """Print the table."""
    lines = QUICK_LINES if is_quick else LINES
    with tempfile.TemporaryDirectory() as folder:
        log, robots = Path(folder, "access.log"), Path(folder, "robots.txt")
        robots.write_text(ROBOTS)
        write(log, lines)
        small = Path(folder, "small.log")
        write(small, max(lines // 10, 1))
        size = log.stat().st_size
        print(f"## Access logs: {lines:,} lines, {size / 1e9:.1f} GB\n")
        koster = [sys.executable, "-m", "koster", "logs", str(log), "--robots", str(robots)]
        quiet = ["--no-progress", "-o", str(Path(folder, "report.html"))]
        commands = {
            "koster, one core": ["taskset", "-c", "0", *koster, "--jobs", "1"],
            "koster, two cores": [*koster, "--jobs", "2"],
        }
        if shutil.which("goaccess"):
            commands["goaccess"] = [
                *("goaccess", str(log), "--log-format=COMBINED", *quiet),
            ]
        rounds = 1
        taken: dict[str, list[float]] = {name: [] for name in commands}
        memory = dict.fromkeys(commands, 0.0)
        for _ in range(rounds):
            for name, command in commands.items():
                seconds, megabytes = measure(command)
                taken[name].append(seconds)
                memory[name] = max(memory[name], megabytes)
        _, on_small = measure([*koster[:4], str(small), *koster[5:], "--jobs", "2"])
        middle = {name: median(some) for name, some in taken.items()}
        table(
            ["", "seconds", "lines a second", "memory, MB", "koster with one core is"],
            (
                [name, f"{seconds:.1f}", f"{lines / seconds:,.0f}", f"{memory[name]:,.0f}",
                 f"{seconds / middle['koster, one core']:.2f} ×"]
                for name, seconds in middle.items()
            ),
        )  # fmt: skip
        print(f"On a tenth of the log koster takes {on_small:,.0f} MB with two cores. goaccess")
        print("counts visitors, pages and referrers, and does not judge requests.\n")


def measure(command: list[str]) -> tuple[float, float]:
    """Return the seconds a command takes, and its memory in megabytes."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode in (0, 1), command
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def write(path: Path, lines: int) -> None:
    """Write a log in the Combined format: people, and crawlers from their published addresses."""
    with path.open("w") as file:
        for number in range(0, lines, _BLOCK):
            file.writelines(_lines(number, min(_BLOCK, lines - number)))


def _lines(first: int, count: int) -> Iterator[str]:
    source = random.Random(_SEED + first)
    agents, addresses = _crawlers()
    people = [
        f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
        f"Chrome/{major}.0.{minor}.0 Safari/537.36"
        for major in range(100, 140)
        for minor in range(0, 50, 5)
    ]
    for number in range(first, first + count):
        second = _START + number // 10
        stamp = time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(second))
        page = source.randrange(200_000)
        if source.random() < _CRAWLERS:
            kind = source.randrange(len(agents))
            agent, address = agents[kind], source.choice(addresses[kind])
            url = "/robots.txt" if page < 100 else f"/product/{page}/a-name-of-a-product-in-words"
            referrer = "-"
        else:
            address = f"{page % 223 + 1}.{page % 251}.{page // 1000}.{source.randrange(256)}"
            agent = source.choice(people)
            query = f"utm_source=newsletter&sort={page % 7}"
            url = f"/product/{page}/a-name-of-a-product-in-words?{query}"
            referrer = f"https://www.example.com/category/{page % 1000}/"
        yield (f'{address} - - [{stamp}] "GET {url} HTTP/1.1" 200 {page} "{referrer}" "{agent}"\n')


def _crawlers() -> tuple[list[str], list[list[str]]]:
    """Return the headers of crawlers, and for each a hundred addresses, published if there are."""
    data = bundled_data()
    addresses = []
    for token in _AGENTS:
        source = data["sources"].get(data["crawlers"].get(token, {}).get("source"), {})
        prefixes = source.get("ipv4", ["203.0.113.0/24"])
        addresses.append(
            [f"{prefix.rpartition('.')[0]}.{prefix.partition('/')[0].rpartition('.')[2]}"
             for prefix in prefixes][:100]
        )  # fmt: skip
    return list(_AGENTS.values()), addresses


if __name__ == "__main__":
    if len(sys.argv) > 2:
        write(Path(sys.argv[1]), int(sys.argv[2]))
    else:
        run(is_quick="--quick" in sys.argv)
