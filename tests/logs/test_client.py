"""Property: a crawler built on `RobotsClient` never breaks a robots.txt that changes every minute.

The server is a real one on loopback; the clock of both is simulated. The log has whole seconds, as
servers write them.
"""

from __future__ import annotations

import random
import tempfile
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import koster
from koster.logs import Version, Versions, analyze
from tests.helpers.server import running
from tests.helpers.support import EVERYTHING

START = datetime(2026, 3, 10, tzinfo=UTC)
AGENT = "FooBot/1.0 (+https://foo.example/bot)"
PATHS = ("/a/1", "/b/2?c", "/c/3", "/d/4", "/", "/never/5")

#: A rule of all versions.
ALWAYS = "Disallow: /never/"


def versions(source: random.Random, days: int) -> Versions:
    """Return a version for each minute."""
    bodies = []
    for _ in range(6):
        rules = [f"{source.choice(('Allow', 'Disallow'))}: {path[:3]}" for path in PATHS[:4]]
        agent = source.choice(("FooBot", "*"))
        bodies.append("\n".join([f"User-agent: {agent}", ALWAYS, *rules, ""]).encode())
    bodies.append(f"User-agent: FooBot\n{ALWAYS}\n".encode())
    return Versions(
        "minutes",
        tuple(
            Version(
                str(minute),
                START + timedelta(minutes=minute) if minute else None,
                source.choice(bodies),
            )
            for minute in range(days * 1440)
        ),
    )


@dataclass
class Crawl:
    """A crawl of a site whose log is written: its speed, cache and statuses."""

    source: random.Random
    versions: Versions
    statuses: tuple[int, ...]
    slowest: float
    cache: Any
    ignores: str = "/nothing"
    now: datetime = START
    log: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)

    def run(self, requests: int) -> None:
        with (
            running() as site,
            koster.RobotsClient(AGENT, clock=lambda: self.now, cache=self.cache) as client,
        ):
            for _ in range(requests):
                self.now += timedelta(seconds=self.source.random() ** 4 * self.slowest)
                minute = int((self.now - START).total_seconds() // 60)
                last = len(self.versions.versions) - 1
                body = self.versions.versions[min(minute, last)].body or b""
                status = self.source.choice(self.statuses)
                age = self.source.choice((0, 30, 3600, 10**6))
                site.robots(status, body, {"Cache-Control": f"max-age={age}", "ETag": '"x"'})
                path = self.source.choice(PATHS)
                before = len(site.requests)
                is_allowed = client.allowed(site.url + path)
                if len(site.requests) > before:
                    self.write("/robots.txt", status)
                if is_allowed or path.startswith(self.ignores):
                    self.write(path, 200)
                    if not is_allowed:
                        self.ignored.append(path)

    def write(self, path: str, status: int) -> None:
        self.log.append(
            f'127.0.0.1 - - [{self.now:%d/%b/%Y:%H:%M:%S} +0000] "GET {path} HTTP/1.1" {status} 1 '
            f'"-" "{AGENT}"\n'
        )


def broken(crawl: Crawl) -> list[str]:
    """Return the URLs of the violations in the log of a crawl."""
    found: list[str] = []

    def collect(batch: Any) -> None:
        found.extend(row["url"] for row in batch.to_pylist() if row["verdict"] == "violation")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "access.log")
        path.write_text("".join(crawl.log))
        report = analyze([str(path)], crawl.versions, on_events=collect)
    assert report.lines == len(crawl.log)
    assert report.unreadable == 0
    return found


@settings(max_examples=25 if EVERYTHING else 8)
@given(
    st.integers(0, 2**32),
    st.sampled_from([(200,), (200, 200, 503), (200, 404), (200, 404, 429, 503, 301)]),
    st.sampled_from([10, 600, 10_000]),
    st.sampled_from(["memory", "sqlite", "new"]),
)
def test_obedient_crawler_has_no_violations(
    seed: int, statuses: tuple[int, ...], slowest: float, kind: str
) -> None:
    source = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        cache = str(Path(folder, "cache.sqlite")) if kind != "memory" else None
        crawl = Crawl(source, versions(source, 3), statuses, slowest, cache)
        # A crawler may start again, with its cache or without.
        for part in range(2):
            if kind == "new" and cache is not None:
                crawl.cache = f"{cache}{part}"
            crawl.run(40)
    assert broken(crawl) == []


@settings(max_examples=15 if EVERYTHING else 6)
@given(st.integers(0, 2**32), st.sampled_from([10, 600, 10_000]))
def test_crawler_that_ignores_a_rule_has_exactly_these_violations(
    seed: int, slowest: float
) -> None:
    source = random.Random(seed)
    crawl = Crawl(source, versions(source, 3), (200,), slowest, None, ignores="/never/")
    crawl.run(60)
    assert broken(crawl) == crawl.ignored
    assert set(crawl.ignored) <= {"/never/5"}


def test_ignored_rules_are_tried() -> None:
    source = random.Random(1)
    crawl = Crawl(source, versions(source, 3), (200,), 600, None, ignores="/never/")
    crawl.run(60)
    assert len(crawl.ignored) > 5
