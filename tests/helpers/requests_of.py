"""Requests and versions for tests of logs, written as a few words."""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

#: The moment 0 of tests: noon.
NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)

OPEN = "User-agent: *\nDisallow: /other/\n"
CLOSED = "User-agent: *\nDisallow: /private/\n"


def at(hours: float) -> datetime:
    """Return the moment some hours after noon."""
    return NOON + timedelta(hours=hours)


def requests(rows: Iterable[tuple[Any, ...]], crawler: str = "GPTBot") -> pa.Table:
    """Return requests from rows of hours, URL, and perhaps status, client and crawler."""
    full = [(*row, *(200, "", crawler)[len(row) - 2 :]) for row in rows]
    return pa.table({
        "time": pa.array([at(row[0]) for row in full], pa.timestamp("us", "UTC")),
        "crawler": pa.array([row[4] for row in full], pa.string()),
        "url": pa.array([row[1] for row in full], pa.string()),
        "status": pa.array([row[2] for row in full], pa.int32()),
        "client": pa.array([row[3] for row in full], pa.string()),
    })  # fmt: skip


def versions(*some: tuple[float | None, str | None]) -> pa.Table:
    """Return versions from hours (None: always) and bodies, labelled 1, 2 and so on."""
    return pa.table({
        "since": pa.array(
            [None if hours is None else at(hours) for hours, _ in some], pa.timestamp("us", "UTC")
        ),
        "body": pa.array([body for _, body in some], pa.string()),
        "label": pa.array([str(number) for number in range(1, len(some) + 1)], pa.string()),
    })  # fmt: skip


CRAWLERS = (
    "GPTBot", "AdsBot-Google", "bingbot", "ChatGPT-User", "Googlebot-Image", "DuckAssistBot/1.2",
    "Amazonbot", "x",
)  # fmt: skip
URLS = ("/robots.txt", "/robots.txt?x", "/a", "/b/c", "/c", "//d", "https://example.com/a")
STATUSES = (200, 200, 200, 304, 404, 503, 429, 301, 499, None)
#: With that of the absolute URL.
SITES = ("a.example", "A.example:443", None, "example.com")
BODIES = (
    "User-agent: *\nDisallow: /a\n",
    "User-agent: *\nDisallow: /b\nAllow: /a\n",
    "",
    None,
    "User-agent: GPTBot\nDisallow: /\n",
    "User-agent: AdsBot-Google\nDisallow: /a\n\nDisallow: /c",
)


def random_case(seed: int, sites: tuple[str | None, ...] = SITES) -> tuple[pa.Table, pa.Table]:
    """Return requests to some sites, in no order, and versions."""
    source = random.Random(seed)

    def hours() -> float:
        # Many are close together, or about a day apart.
        return source.choice([0, 24, 48, 72, 720]) + source.randrange(600) / 3600

    rows = [
        (hours(), source.choice(URLS), source.choice(STATUSES), source.choice(("", "1.2.3.4")),
         source.choice(CRAWLERS))
        for _ in range(150)
    ]  # fmt: skip
    methods = [source.choice(("GET", "GET", "HEAD", "get", None)) for _ in rows]
    hosts = [source.choice(sites) for _ in rows]
    some = [(hours(), source.choice(BODIES)) for _ in range(source.randrange(1, 6))]
    if source.random() < 0.5:
        some[0] = (None, some[0][1])  # type: ignore[assignment]
    table = requests(rows).append_column("method", pa.array(methods, pa.string()))
    return table.append_column("host", pa.array(hosts, pa.string())), versions(*some)
