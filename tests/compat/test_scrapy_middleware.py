"""The middleware for Scrapy, in real crawls of local sites."""

from __future__ import annotations

import sqlite3
import time
from contextlib import ExitStack, closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from koster.cache import SqliteCache
from tests.helpers import server, wire
from tests.helpers.bodies import UNREADABLE
from tests.helpers.entries import ENTRY
from tests.helpers.scrapy_crawls import Crawl, CrawlError
from tests.helpers.server import Answer, Site

FILE = (
    b"User-agent: FooBot\nDisallow: /private\nAllow: /private/press\n\nUser-agent: *\nDisallow: /"
)


def pages(site: Site, *paths: str) -> list[str]:
    for path in paths:
        site.pages[path] = Answer(200, b"page", {"Content-Type": "text/html"})
    return [site.url + path for path in paths]


def test_concurrent_requests_obey_and_share_one_fetch(site: Site) -> None:
    site.robots(body=FILE, delay=0.2)
    urls = pages(
        site, *(f"/private/{number}" for number in range(20)), "/a", "/b", "/private/press"
    )
    crawl = Crawl(*urls)
    assert crawl.crawled == {site.url + path for path in ("/a", "/b", "/private/press")}, (
        crawl.errors
    )
    assert len(crawl.blocked) == 20
    assert "line 2, Disallow: /private" in crawl.blocked[f"{site.url}/private/7"]
    assert [path for path, _ in site.requests].count("/robots.txt") == 1
    assert crawl.stats["robotstxt/forbidden"] == 20
    assert crawl.stats["robotstxt/response_status_count/200"] == 1
    assert crawl.parsed == [len(FILE)]


@pytest.mark.parametrize(
    ("status", "is_crawled"), [(404, True), (403, True), (503, False), (429, False)]
)
def test_status_codes(site: Site, status: int, is_crawled: bool) -> None:
    # Scrapy's built-in middleware reads the body of any status.
    site.robots(status, b"User-agent: *\nDisallow: /")
    (url,) = pages(site, "/x")
    crawl = Crawl(url)
    assert crawl.crawled == ({url} if is_crawled else set()), crawl.errors
    if not is_crawled:
        assert f"robots.txt failed ({status}" in crawl.blocked[url]


def test_dialects(site: Site) -> None:
    site.robots(403)
    (url,) = pages(site, "/x")
    assert "access to robots.txt is forbidden" in Crawl(url, KOSTER_DIALECT="MK1996").blocked[url]


def test_rules_apply_to_the_requested_origin(site: Site) -> None:
    with server.running() as other:
        site.robots(301, headers={"Location": f"{other.url}/elsewhere"})
        other.pages["/elsewhere"] = Answer(body=FILE)
        other.robots(404)
        urls = pages(site, "/private/x") + pages(other, "/private/x")
        crawl = Crawl(*urls)
        # The rules apply to the site that redirects, not to another port of the same host.
        assert crawl.crawled == {f"{other.url}/private/x"}, crawl.errors
        assert crawl.stats["robotstxt/request_count"] == 2


def test_closed_port(unused: int) -> None:
    crawl = Crawl(f"http://127.0.0.1:{unused}/x")
    (why,) = crawl.blocked.values()
    assert "robots.txt failed (connection failed: Connection refused)" in why


def test_crawl_delay_is_obeyed(site: Site) -> None:
    site.robots(body=FILE.replace(b"Disallow: /private", b"Crawl-delay: 0.4", 1))
    urls = pages(site, "/a", "/b", "/c", "/d")
    site.requests = times = RequestTimes()
    crawl = Crawl(*urls)
    assert crawl.crawled == set(urls), crawl.errors
    # The random jitter of Scrapy would make some gaps 0.2 s.
    assert times.shortest_gap() > 0.35


class RequestTimes(list[Any]):
    """A list that records the time of each append."""

    def __init__(self) -> None:
        super().__init__()
        self.times: list[float] = []

    def append(self, item: Any) -> None:
        self.times.append(time.monotonic())
        super().append(item)

    def shortest_gap(self) -> float:
        return min(second - first for first, second in pairwise(self.times[1:]))


@pytest.mark.parametrize(
    ("delay", "settings", "minimum"),
    [
        # The delay of the site is the minimum: the Scrapy setting may be longer.
        ("0.1", {"DOWNLOAD_DELAY": 0.4, "RANDOMIZE_DOWNLOAD_DELAY": False}, 0.35),
        # AutoThrottle lowers the delay after each response.
        ("0.4", {"AUTOTHROTTLE_ENABLED": True, "AUTOTHROTTLE_START_DELAY": 0.1}, 0.35),
    ],
)
def test_scrapy_settings_do_not_shorten_the_delay(
    site: Site, tmp_path: Path, delay: str, settings: dict[str, Any], minimum: float
) -> None:
    site.robots(body=f"User-agent: *\nCrawl-delay: {delay}".encode())
    urls = pages(site, *(f"/{number}" for number in range(4)))
    path = str(tmp_path / "cache.sqlite")
    Crawl(urls[0], KOSTER_CACHE=path)
    site.requests = times = RequestTimes()
    crawl = Crawl(*urls, KOSTER_CACHE=path, **settings)
    assert crawl.crawled == set(urls), crawl.errors
    assert times.shortest_gap() > minimum


@pytest.mark.parametrize(
    ("headers", "body", "why"),
    [
        (
            b"Content-Encoding: compress\r\n",
            b"\x28\xb5\xff\0\x80",
            "unsupported Content-Encoding 'compress'",
        ),
        (b"Content-Length: 5000\r\n", FILE, "invalid HTTP response: truncated response body"),
    ],
)
def test_unreadable_bodies(headers: bytes, body: bytes, why: str) -> None:
    with wire.running(wire.sends(b"HTTP/1.1 200 OK\r\n" + headers + b"\r\n" + body)) as running:
        crawl = Crawl(f"{running.url}x", DOWNLOAD_TIMEOUT=5)
    assert why in crawl.blocked[f"{running.url}x"], crawl.errors


def test_bodies_that_are_cut_or_compressed_block_the_site() -> None:
    """As in the client: a truncated gzip has no rules, so that everything would be allowed."""
    names = [
        "gzip, 25 bytes", "zstd, 5 bytes", "br, 12 bytes", "raw deflate, 12 bytes", "gzip twice",
        "two codings", "between chunks", "zstd without label",
    ]  # fmt: skip
    with ExitStack() as stack:
        urls = [
            stack.enter_context(wire.running(wire.sends(UNREADABLE[name].raw))).url
            for name in names
        ]
        crawl = Crawl(*urls, DOWNLOAD_TIMEOUT=5)
    assert (set(crawl.blocked), crawl.crawled) == (set(urls), set()), crawl.errors


def test_robots_txt_is_fetched_through_the_proxy_of_the_page(site: Site) -> None:
    site.pages["http://nowhere.invalid/robots.txt"] = Answer(body=FILE)
    url = "http://nowhere.invalid/private/x"
    crawl = Crawl({"url": url, "meta": {"proxy": site.url}})
    assert "line 2, Disallow: /private" in crawl.blocked[url], crawl.errors


def test_url_over_the_limit_is_not_crawled(site: Site) -> None:
    site.robots(404)
    url = f"{site.url}/x?" + "a" * 70_000
    assert list(Crawl(url, URLLENGTH_LIMIT=0).blocked) == [url]


def test_cache_survives_the_crawl(site: Site, tmp_path: Path) -> None:
    site.robots(body=FILE)
    (url,) = pages(site, "/private/x")
    for _ in range(2):
        crawl = Crawl(url, KOSTER_CACHE=str(tmp_path / "cache.sqlite"))
        assert list(crawl.blocked) == [url], crawl.errors
    assert [path for path, _ in site.requests] == ["/robots.txt"]
    (tmp_path / "text").write_text("no cache")
    # A cache that cannot be opened ends the crawl before its first request.
    with pytest.raises(CrawlError) as caught:
        Crawl(url, KOSTER_CACHE=str(tmp_path / "text"))
    assert "cannot open the cache" in str(caught.value)
    assert (tmp_path / "text").read_text() == "no cache"


def test_cache_that_fails_later_is_skipped_and_counted(site: Site, tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    with closing(SqliteCache(path)) as cache:
        cache.put("a", ENTRY)
    with closing(sqlite3.connect(path, isolation_level=None)) as other, server.running() as second:
        other.execute("BEGIN IMMEDIATE")
        urls = []
        for each in (site, second):
            each.robots(body=FILE)
            urls += pages(each, "/private/x", "/a")
        crawl = Crawl(*urls, KOSTER_CACHE=str(path))
    assert crawl.crawled == {urls[1], urls[3]}, crawl.errors
    assert set(crawl.blocked) == {urls[0], urls[2]}
    # The second site is asked within ten seconds of the failure.
    name = "robotstxt/cache_exception_count/<class 'koster.errors.CacheError'>"
    assert crawl.stats[name] == 1


def test_endless_file_is_truncated() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\nDisallow: /x\n"
    with wire.running(wire.endless(head, b"Disallow: /0123456789\n" * 1000)) as running:
        crawl = Crawl(f"{running.url}x")
    assert "line 2, Disallow: /x" in crawl.blocked[f"{running.url}x"], crawl.errors
    assert 511_000 < crawl.parsed[0] <= 512_000


def test_middleware_follows_scrapy_settings(site: Site) -> None:
    site.robots(body=FILE)
    (url,) = pages(site, "/private/x")
    assert Crawl(url, ROBOTSTXT_OBEY=False).crawled == {url}
    assert Crawl("data:,hello").crawled == {"data:,hello"}
    crawl = Crawl(url, ROBOTSTXT_USER_AGENT="OtherBot")
    assert "line 6, Disallow: /" in crawl.blocked[url]
