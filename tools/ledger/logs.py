"""Verdicts about requests in tables, and in log files as ``koster logs`` reads them."""

from __future__ import annotations

import tempfile
import zlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

import koster
from koster.logs import Options, Versions, analyze, judge

from .entries import Entry, Part, Place, entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

T = TypeVar("T")

_NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
_CRAWLERS = ("GPTBot", "AdsBot-Google", "bingbot", "ChatGPT-User", "Googlebot-Image", "x")
_URLS = ("/robots.txt", "/robots.txt?x", "/a", "/b/c", "/c", "//d", "https://example.com/a")
_STATUSES = (200, 200, 200, 304, 404, 503, 429, 301, None)
_BODIES = (
    "User-agent: *\nDisallow: /a\n",
    "User-agent: *\nDisallow: /b\nAllow: /a\n",
    "",
    None,
    "User-agent: GPTBot\nDisallow: /\n",
    "User-agent: AdsBot-Google\nDisallow: /a\n\nDisallow: /c",
    "User-agent: GPTBot\nUser-agent: bingbot\nCrawl-delay: 20\nDisallow: /c\n",
)
_COUNTS = (
    "requests",
    "disallowed",
    "violations",
    "within_caching_period",
    "exempt",
    "not_judged",
    "robots_txt",
    "asked_for_robots_txt",
)
_TABLES = 16
_LOGS = 4


class _Chance:
    """Chooses what looks random, the same in every run and every version of Python."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._count = 0

    def below(self, end: int) -> int:
        self._count += 1
        return zlib.crc32(b"%d %d" % (self._seed, self._count)) % end

    def choice(self, values: Sequence[T]) -> T:
        return values[self.below(len(values))]

    def moment(self) -> datetime:
        """Return a moment: many are close together, or about a day apart."""
        return _NOON + timedelta(days=self.choice((0, 1, 2)), seconds=self.below(600))


def _versions(chance: _Chance) -> list[tuple[datetime | None, str | None]]:
    found = [(chance.moment(), chance.choice(_BODIES)) for _ in range(1 + chance.below(5))]
    some: list[tuple[datetime | None, str | None]] = [*sorted(found, key=lambda each: each[0])]
    if chance.below(2):
        some[0] = (None, some[0][1])
    return some


def _entries(name: str) -> Iterator[Entry]:
    kind, _, number = name.partition("/")
    chance = _Chance(int(number))
    if kind == "log":
        yield from _analyzed(name, chance)
    else:
        yield from _judged(name, chance, has_sites=kind == "sites")


def _judged(name: str, chance: _Chance, *, has_sites: bool) -> Iterator[Entry]:
    """Yield the verdicts about a table of requests, with sites and methods or without."""
    versions = _versions(chance)
    rows = [
        (chance.moment(), chance.choice(_CRAWLERS), chance.choice(_URLS), chance.choice(_STATUSES),
         chance.choice(("", "1.2.3.4")))
        for _ in range(150)
    ]  # fmt: skip
    moment = pa.timestamp("us", "UTC")
    types = (moment, pa.string(), pa.string(), pa.int32(), pa.string())
    names = ("time", "crawler", "url", "status", "client")
    requests = pa.table(
        [pa.array(c, t) for c, t in zip(zip(*rows, strict=False), types, strict=True)], names
    )
    labels = [" ".join(map(str, row)) for row in rows]
    if has_sites:
        for column, values in (("host", _HOSTS), ("method", _METHODS)):
            chosen = [chance.choice(values) for _ in rows]
            requests = requests.append_column(column, pa.array(chosen, pa.string()))
            labels = [f"{one} {other}" for one, other in zip(labels, chosen, strict=True)]
    of = pa.table({
        "since": pa.array([since for since, _ in versions], moment),
        "body": pa.array([body for _, body in versions], pa.string()),
        "label": [str(number) for number in range(1, len(versions) + 1)],
    })  # fmt: skip
    for dialect in koster.DIALECTS.values():
        answers = map(_verdict, judge(requests, of, dialect=dialect).to_pylist())
        yield entry(Place("logs", name, dialect.name), [str(versions)], answers, labels)


_HOSTS = ("a.example", "A.example:443", "example.com", None)
_METHODS = ("GET", "GET", "HEAD", None)


def _verdict(row: dict[str, Any]) -> str:
    """Return a verdict with its rule; ``disallowed`` is about the version in force."""
    rule = f", version {row['version']} line {row['line']}" if row["line"] else ""
    return f"{row['verdict']}{', disallowed' if row['disallowed'] else ''}{rule}"


_PAGES = ("/", "/a", "/b/c", "/c", "/robots.txt", "/robots.txt", "/a?x=1", "/%61", "//d")
_AGENTS = (
    "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)",
    "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 (compatible; ChatGPT-User/1.0; +https://openai.com/bot)",
    "AdsBot-Google (+http://www.google.com/adsbot.html)",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/145.0.0.0 Safari/537.36",
    "curl/8.5",
)


def _lines(chance: _Chance) -> Iterator[str]:
    """Yield the lines of a log in the combined format; some are broken."""
    for moment in sorted(chance.moment() for _ in range(200)):
        status = chance.choice((200, 200, 200, 304, 404, 503, 403))
        yield (
            f"192.0.2.{chance.below(4)} - - [{moment:%d}/Mar/2026:{moment:%H:%M:%S} +0000] "
            f'"{chance.choice(("GET", "GET", "HEAD"))} {chance.choice(_PAGES)} HTTP/1.1" '
            f'{status} {chance.below(5000)} "-" "{chance.choice(_AGENTS)}"'
        )
        if chance.below(50) == 0:
            yield "a line that is cut [10/Mar"


def _analyzed(name: str, chance: _Chance) -> Iterator[Entry]:
    """Yield the verdicts about the requests of a log file, and the counts for each crawler."""
    lines = list(_lines(chance))
    versions = [body or "" for _, body in _versions(chance)]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        log = folder / "access.log"
        log.write_bytes("".join(f"{line}\n" for line in lines).encode())
        for day, body in enumerate(versions, 9):
            (folder / "versions").mkdir(exist_ok=True)
            (folder / "versions" / f"2026-03-{day:02}T1205Z.txt").write_bytes(body.encode())
        for dialect in koster.DIALECTS.values():
            answers = _report(str(log), str(folder / "versions"), dialect)
            yield entry(Place("logs", name, dialect.name), [*lines, *versions], answers)


def _report(log: str, versions: str, dialect: koster.Dialect) -> list[str]:
    events: list[str] = []
    options = Options(dialect=dialect, are_addresses_shown=True, jobs=1)
    report = analyze(
        [log], Versions.read(versions), options,
        lambda batch: events.extend(map(_event, batch.to_pylist())),
    )  # fmt: skip
    return [
        *events,
        *map(_summary, report.crawlers),
        f"{report.lines} lines, {report.unreadable} not",
    ]


def _event(row: dict[str, Any]) -> str:
    asked = (row[name] for name in ("crawler", "identified", "url", "status"))
    return f"{row['time']:%d %H:%M:%S} {' '.join(map(str, asked))}: {_verdict(row)}"


def _summary(found: Any) -> str:
    counts = " ".join(f"{name}={getattr(found, name)}" for name in _COUNTS)
    pace = found.pace and f"{found.pace.directive} {found.pace.kept} of {found.pace.intervals}"
    return f"{found.crawler} {found.identified.value}: {counts} pace={pace}"


def _files() -> list[str]:
    requests = [f"requests/{number:02}" for number in range(_TABLES)]
    requests += [f"sites/{number:02}" for number in range(_TABLES // 2)]
    return [*requests, *(f"log/{number:02}" for number in range(_LOGS))]


PART = Part("logs", True, _files, _entries, at_once=4)
