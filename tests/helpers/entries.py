"""A cache entry for tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from koster.freshness import Answer, Entry, Hop

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


ENTRY = Entry(
    origin="https://example.com",
    answer=Answer.FILE,
    url="https://www.example.com/robots.txt",
    hops=(
        Hop("https://example.com/robots.txt", 301, (("location", "/é\udcff"),), "", 0.25),
        Hop("https://www.example.com/robots.txt", None, (), "timeout\n", 9.5),
    ),
    status=None,
    why="timeout\n",
    body=b"User-agent: *\r\nDisallow: /\xff\0\n",
    fetched=NOW - timedelta(days=1, microseconds=1),
    expires=NOW + timedelta(hours=1),
    unreachable_since=NOW,
    etag='W/"1"',
    last_modified=None,
    charset="koi8-r",
)
