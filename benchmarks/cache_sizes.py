"""What a site takes in each cache: ``python -m benchmarks.cache_sizes [SITES] [redis://…]``.

Each cache gets the corpus of real files, repeated up to so many sites; the default is 50,000. A
Redis database must be empty.
"""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import koster
from koster.cache import MemoryCache, RedisCache, SqliteCache
from koster.fetch import FleetPacer, MockTransport
from koster.freshness import Answer, Entry, Hop

from .data import corpus

#: Headers of a common server, of which an entry keeps those that matter.
_HEADERS = (("content-type", "text/plain; charset=utf-8"), ("cache-control", "max-age=3600"))


def entries(number: int) -> Iterator[Entry]:
    """Yield the entry of each site."""
    now = datetime.now(UTC)
    files = itertools.cycle(corpus().values())
    for site, body in zip(range(number), files, strict=False):
        origin = f"https://www.site{site}.example"
        url = f"{origin}/robots.txt"
        # A copy: no other site shares its memory.
        own = bytes(bytearray(body))
        yield Entry(
            origin, Answer.FILE, url, (Hop(url, 200, _HEADERS, "", 0.1),), 200, "", own, now,
            now + timedelta(days=1), None, '"5f3e-5a1b2c3d4e5f6"', None, False, None, None,
        )  # fmt: skip


def _resident() -> int:
    """Return the bytes of memory that this process has."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _fill(cache: Any, number: int) -> float:
    began = time.perf_counter()
    for entry in entries(number):
        cache.put(entry.origin, entry)
    return number / (time.perf_counter() - began)


def _read(cache: Any, number: int) -> float:
    began = time.perf_counter()
    for site in range(0, number, 10):
        assert cache.get(f"https://www.site{site}.example") is not None
    return number / 10 / (time.perf_counter() - began)


def _report(name: str, size: float, number: int, written: float, read: float) -> None:
    one, all_of_them = size / number, 10_000_000 * size / number / 1e9
    print(
        f"{name:<16} {one:>9,.0f} bytes a site   {all_of_them:>6.1f} GB for ten million   "
        f"{written:>8,.0f} written/s   {read:>8,.0f} read/s"
    )


def _memory(number: int) -> None:
    before = _resident()
    cache = MemoryCache(number, 1 << 40)
    written = _fill(cache, number)
    _report("MemoryCache", _resident() - before, number, written, _read(cache, number))


def _sqlite(number: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cache.sqlite"
        cache = SqliteCache(path, None)
        written = _fill(cache, number)
        read = _read(cache, number)
        cache.close()
        _report("SqliteCache", path.stat().st_size, number, written, read)


def _redis(number: int, url: str) -> None:
    cache = RedisCache(url)
    client: Any = cache._server.client
    before = client.info("memory")["used_memory"]
    written = _fill(cache, number)
    size = client.info("memory")["used_memory"] - before
    _report("RedisCache", size, number, written, _read(cache, number))
    cache.close()


def _paces(number: int, url: str) -> None:
    """Report what a site's turn takes on the server."""
    rules = koster.parse("User-agent: *\nCrawl-delay: 5").rules_for("FooBot")
    pacer = FleetPacer(url)
    client: Any = pacer._redis
    before = client.info("memory")["used_memory"]
    began = time.perf_counter()
    for site in range(number):
        pacer.turn(f"https://www.site{site}.example FooBot", rules, datetime.now(UTC))
    seconds = time.perf_counter() - began
    size = client.info("memory")["used_memory"] - before
    print(f"FleetPacer: {size / number:,.0f} bytes a site, {number / seconds:,.0f} turns/s")
    pacer.close()


def _client(number: int) -> None:
    """Report the sites that a client keeps ready: at most 1,000, and 32 MiB."""
    sites = {entry.origin: entry.body for entry in entries(min(number, 1000))}
    before = _resident()
    cache = MemoryCache(1, 1)
    with koster.RobotsClient("FooBot/1.0", cache=cache, transport=MockTransport(sites)) as client:
        client.prefetch(sites)
        print(f"rules of {len(sites):,} sites in a client: {(_resident() - before) / 1e6:.0f} MB")


if __name__ == "__main__":
    numbers = [int(each) for each in sys.argv[1:] if each.isdecimal()] or [50_000]
    _client(numbers[0])
    _memory(numbers[0])
    _sqlite(numbers[0])
    for each in sys.argv[1:]:
        if "://" in each:
            _redis(numbers[0], each)
            _paces(numbers[0], each)
