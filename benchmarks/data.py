"""The data of the benchmarks: the corpus and the hostile patterns."""

from __future__ import annotations

import csv
import gzip
import json
import os
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
#: The numbers of each run of `make bench`, a line each.
HISTORY = ROOT / "benchmarks" / "history.jsonl"
AGENT = "FooBot"
URL = "https://example.com/some/path/page.html?x=1"

#: Crawlers that archives are classified for.
CRAWLERS = (
    *("Googlebot", "bingbot", "YandexBot", "Baiduspider", "DuckDuckBot", "Applebot"),
    *("GPTBot", "ClaudeBot", "CCBot", "Bytespider", "Amazonbot", "PerplexityBot"),
    *("Google-Extended", "Applebot-Extended", "meta-externalagent", "OAI-SearchBot"),
    *("ChatGPT-User", "anthropic-ai", "Claude-Web", "cohere-ai", "Diffbot", "FacebookBot"),
    *("AhrefsBot", "SemrushBot"),
)
#: A pattern of about 1 KiB and a path of about 2 KiB each, made to be as slow as possible.
HOSTILE = {
    "`*a` × 500, `*b`": ("/" + "*a" * 500 + "*b", "/" + "a" * 2047),
    "one run of 1,000 `a`, then `b`": ("/*" + "a" * 1000 + "b", "/" + "a" * 2047),
    "runs of 31 `a` and `b`": ("/" + ("*" + "a" * 31 + "b") * 30 + "*c", "/" + "a" * 2047),
    "runs of 40 `a` and `b`": (
        "/" + ("*" + "a" * 40 + "b") * 24 + "*c",
        "/" + ("a" * 39 + "b") * 51,
    ),
    "1,000 `*`, then `$`": ("/" + "*" * 1000 + "x$", "/" + "a" * 2047),
    "`*%2F` × 250": ("/" + "*%2F" * 250 + "x", "/" + "%2f" * 680),
}
#: The same for the shell patterns of EXTENDED2.
HOSTILE_SHELL = {
    "`?` × 1,000, `b*`": ("/*" + "?" * 1000 + "b*", "/" + "a" * 2047),
    "one run of 1,000 `a`, then `b*`": ("/*" + "a" * 1000 + "b*", "/" + "a" * 2047),
    "`[a]` × 330, `b*`": ("/*" + "[a]" * 330 + "b*", "/" + "a" * 2047),
    "`[!b]` × 250, `b*`": ("/*" + "[!b]" * 250 + "b*", "/" + "a" * 2047),
    "`[` × 1,000": ("/*" + "[" * 1000, "/" + "[" * 2047),
    "`*?a` × 340": ("/" + "*?a" * 340 + "*b", "/" + "a" * 2047),
}
#: Takes more than 8 s in some parsers.
MANY_STARS = ("/" + "*a" * 25 + "*b", "/" + "a" * 59)


def last_run() -> dict[str, float]:
    """Return the numbers of the last run."""
    lines = HISTORY.read_text("utf-8").splitlines() if HISTORY.exists() else []
    found: dict[str, float] = json.loads(lines[-1])["measured"] if lines else {}
    return found


def conformance() -> Path:
    named = os.environ.get("KOSTER_CONFORMANCE")
    path = Path(named) if named else ROOT.parent / "shared" / "conformance"
    if not path.is_dir():
        sys.exit("no conformance data: set KOSTER_CONFORMANCE to its folder")
    return path


def corpus(step: int = 1) -> dict[str, bytes]:
    with zipfile.ZipFile(conformance() / "robots-top-sites.zip") as archive:
        names = archive.namelist()[::step]
        return {name.removesuffix(".txt"): archive.read(name) for name in names}


def bodies(step: int = 1) -> list[bytes]:
    """Return the files, one in ``step`` of them."""
    return list(corpus(step).values())


def questions() -> list[tuple[str, str, str]]:
    """Return site, agent and URL."""
    with gzip.open(conformance() / "verdicts.tsv.gz", "rt", encoding="utf-8", newline="\n") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [(row["site"], row["agent"], row["url"]) for row in rows]


def plain_rules(count: int) -> bytes:
    lines = (f"Disallow: /path-{number:06d}/x\n" for number in range(count))
    return b"User-agent: *\n" + "".join(lines).encode()


def urls_about(count: int) -> list[str]:
    return [f"https://example.com/path-{number * 7919 % count:06d}/y" for number in range(1000)]
