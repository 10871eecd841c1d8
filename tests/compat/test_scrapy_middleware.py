"""The middleware for Scrapy, shown by real crawls of local sites."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import server
import wire
from server import Answer, Site

pytestmark = pytest.mark.any_mode

SPIDER = """\
import json, sys
import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.exceptions import IgnoreRequest
from scrapy import signals

urls, settings = json.loads(sys.argv[1]), json.loads(sys.argv[2])
parsed = []

class Spider(scrapy.Spider):
    name = "spider"
    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.on_robots, signals.robots_parsed)
        return spider
    def on_robots(self, robotparser, request):
        parsed.append(len(robotparser.robots.body))
    async def start(self):
        for url in urls:
            yield scrapy.Request(url, callback=self.parse, errback=self.failed, dont_filter=True, meta=dict(settings.get("TEST_META", {})))
    def parse(self, response):
        print("GOT", response.url, flush=True)
    def failed(self, failure):
        if failure.check(IgnoreRequest):
            print("NOT", failure.request.url, failure.value, flush=True)

process = CrawlerProcess({
    "ROBOTSTXT_OBEY": True, "USER_AGENT": "FooBot/1.0 (+https://foo.example)", "LOG_LEVEL": "ERROR",
    "TELNETCONSOLE_ENABLED": False, "DOWNLOAD_DELAY": 0, "CONCURRENT_REQUESTS": 16,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 16, "RETRY_ENABLED": False,
    "DOWNLOADER_MIDDLEWARES": {
        "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
        "koster.compat.scrapy.RobotsTxtMiddleware": 100,
    },
    **settings,
})
process.crawl(Spider)
crawler, = process.crawlers
process.start()
stats = {key: value for key, value in crawler.stats.get_stats().items() if key.startswith("robotstxt/")}
print("END", json.dumps([stats, parsed]))
"""

FILE = (
    b"User-agent: FooBot\nDisallow: /private\nAllow: /private/press\n\nUser-agent: *\nDisallow: /"
)


class Crawl:
    """What a crawl got and was not to get, by URL, and Scrapy's numbers."""

    def __init__(self, folder: Path, *urls: str, **settings: Any) -> None:
        script = folder / "spider.py"
        script.write_text(SPIDER)
        done = subprocess.run(
            [sys.executable, str(script), json.dumps(urls), json.dumps(settings)],
            capture_output=True, text=True, check=True, timeout=120,
        )  # fmt: skip
        lines = [line.split(" ", 2) for line in done.stdout.splitlines()]
        self.got = {line[1] for line in lines if line[0] == "GOT"}
        self.refused = {line[1]: line[2] for line in lines if line[0] == "NOT"}
        (last,) = (line for line in lines if line[0] == "END")
        self.stats, self.parsed = json.loads(" ".join(last[1:]))
        self.errors = done.stderr


def pages(site: Site, *paths: str) -> list[str]:
    for path in paths:
        site.pages[path] = Answer(200, b"page", {"Content-Type": "text/html"})
    return [site.url + path for path in paths]


def test_many_requests_at_once_obey_and_one_fetch_is_made(site: Site, tmp_path: Path) -> None:
    site.robots(body=FILE, delay=0.2)
    urls = pages(
        site, *(f"/private/{number}" for number in range(20)), "/a", "/b", "/private/press"
    )
    crawl = Crawl(tmp_path, *urls)
    assert crawl.got == {site.url + path for path in ("/a", "/b", "/private/press")}, crawl.errors
    assert len(crawl.refused) == 20
    assert "line 2, Disallow: /private" in crawl.refused[f"{site.url}/private/7"]
    assert [path for path, _ in site.requests].count("/robots.txt") == 1
    assert crawl.stats["robotstxt/forbidden"] == 20
    assert crawl.stats["robotstxt/response_status_count/200"] == 1
    assert crawl.parsed == [len(FILE)]


@pytest.mark.parametrize(("status", "got"), [(404, True), (403, True), (503, False), (429, False)])
def test_statuses(site: Site, tmp_path: Path, status: int, got: bool) -> None:
    # Scrapy's own middleware would read the body of any status.
    site.robots(status, b"User-agent: *\nDisallow: /")
    (url,) = pages(site, "/x")
    crawl = Crawl(tmp_path, url)
    assert crawl.got == ({url} if got else set()), crawl.errors
    if not got:
        assert f"robots.txt failed ({status}" in crawl.refused[url]


def test_dialects(site: Site, tmp_path: Path) -> None:
    site.robots(403)
    (url,) = pages(site, "/x")
    assert (
        "access to robots.txt is forbidden"
        in Crawl(tmp_path, url, KOSTER_DIALECT="MK1996").refused[url]
    )


def test_origins_and_redirects(site: Site, tmp_path: Path) -> None:
    with server.running() as other:
        site.robots(301, headers={"Location": f"{other.url}/elsewhere"})
        other.pages["/elsewhere"] = Answer(body=FILE)
        other.robots(404)
        urls = pages(site, "/private/x") + pages(other, "/private/x")
        crawl = Crawl(tmp_path, *urls)
        # The rules are those of the site first asked, and of no other on the same host.
        assert crawl.got == {f"{other.url}/private/x"}, crawl.errors
        assert crawl.stats["robotstxt/request_count"] == 2


def test_nobody_there(unused: int, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, f"http://127.0.0.1:{unused}/x")
    (why,) = crawl.refused.values()
    assert "robots.txt failed (DownloadConnectionRefusedError" in why


def test_the_delay_that_a_site_asks_for_is_kept(site: Site, tmp_path: Path) -> None:
    site.robots(body=FILE.replace(b"Disallow: /private", b"Crawl-delay: 0.4", 1))
    urls = pages(site, "/a", "/b", "/c", "/d")
    site.requests = times = Times()
    crawl = Crawl(tmp_path, *urls)
    assert crawl.got == set(urls), crawl.errors
    # Scrapy's jitter of a half would have made some of them 0.2 s.
    assert times.least() > 0.35


class Times(list[Any]):
    """Notes when something was appended."""

    def __init__(self) -> None:
        super().__init__()
        self.times: list[float] = []

    def append(self, item: Any) -> None:
        self.times.append(time.monotonic())
        super().append(item)

    def least(self) -> float:
        return min(second - first for first, second in pairwise(self.times[1:]))


@pytest.mark.parametrize(
    ("delay", "settings", "least"),
    [
        # What the site asks for is the least: Scrapy's own setting may ask for more.
        ("0.1", {"DOWNLOAD_DELAY": 0.4, "RANDOMIZE_DOWNLOAD_DELAY": False}, 0.35),
        # AutoThrottle lowers the delay after each response.
        ("0.4", {"AUTOTHROTTLE_ENABLED": True, "AUTOTHROTTLE_START_DELAY": 0.1}, 0.35),
    ],
)
def test_nothing_makes_the_crawl_faster(
    site: Site, tmp_path: Path, delay: str, settings: dict[str, Any], least: float
) -> None:
    site.robots(body=f"User-agent: *\nCrawl-delay: {delay}".encode())
    urls = pages(site, *(f"/{number}" for number in range(6)))
    path = str(tmp_path / "cache.sqlite")
    Crawl(tmp_path, urls[0], KOSTER_CACHE=path)
    site.requests = times = Times()
    crawl = Crawl(tmp_path, *urls, KOSTER_CACHE=path, **settings)
    assert crawl.got == set(urls), crawl.errors
    assert times.least() > least


@pytest.mark.parametrize(
    ("headers", "body", "why"),
    [
        (
            b"Content-Encoding: compress\r\n",
            b"\x28\xb5\xff\0\x80",
            "unsupported Content-Encoding 'compress'",
        ),
        (b"Content-Length: 5000\r\n", FILE, "DataLoss"),
    ],
)
def test_bodies_that_cannot_be_read(tmp_path: Path, headers: bytes, body: bytes, why: str) -> None:
    with wire.running(wire.says(b"HTTP/1.1 200 OK\r\n" + headers + b"\r\n" + body)) as running:
        crawl = Crawl(tmp_path, f"{running.url}x", DOWNLOAD_TIMEOUT=5)
    assert why in crawl.refused[f"{running.url}x"], crawl.errors


def test_the_proxy_of_the_page_is_used(site: Site, tmp_path: Path) -> None:
    site.pages["http://nowhere.invalid/robots.txt"] = Answer(body=FILE)
    url = "http://nowhere.invalid/private/x"
    crawl = Crawl(tmp_path, url, TEST_META={"proxy": site.url})
    assert "line 2, Disallow: /private" in crawl.refused[url], crawl.errors


def test_a_url_that_is_no_site_s_is_not_fetched(site: Site, tmp_path: Path) -> None:
    site.robots(404)
    url = f"{site.url}/x?" + "a" * 70_000
    assert list(Crawl(tmp_path, url, URLLENGTH_LIMIT=0).refused) == [url]


def test_a_cache_that_outlives_the_crawl(site: Site, tmp_path: Path) -> None:
    site.robots(body=FILE)
    (url,) = pages(site, "/private/x")
    for _ in range(2):
        crawl = Crawl(tmp_path, url, KOSTER_CACHE=str(tmp_path / "cache.sqlite"))
        assert list(crawl.refused) == [url], crawl.errors
    assert [path for path, _ in site.requests] == ["/robots.txt"]
    (tmp_path / "text").write_text("no cache")
    crawl = Crawl(tmp_path, url, KOSTER_CACHE=str(tmp_path / "text"))
    assert list(crawl.refused) == [url]
    assert any(key.startswith("robotstxt/cache_exception_count/") for key in crawl.stats)


def test_an_endless_file_is_cut(tmp_path: Path) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\nDisallow: /x\n"
    with wire.running(wire.endless(head, b"Disallow: /0123456789\n" * 1000)) as running:
        crawl = Crawl(tmp_path, f"{running.url}x")
    assert "line 2, Disallow: /x" in crawl.refused[f"{running.url}x"], crawl.errors
    assert 511_000 < crawl.parsed[0] <= 512_000


def test_it_is_off_where_scrapy_is_not_to_obey(site: Site, tmp_path: Path) -> None:
    site.robots(body=FILE)
    (url,) = pages(site, "/private/x")
    assert Crawl(tmp_path, url, ROBOTSTXT_OBEY=False).got == {url}
    assert Crawl(tmp_path, "data:,hello").got == {"data:,hello"}
    crawl = Crawl(tmp_path, url, ROBOTSTXT_USER_AGENT="OtherBot")
    assert "line 6, Disallow: /" in crawl.refused[url]
