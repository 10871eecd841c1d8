"""The middleware for Scrapy: what a site can make a crawl wait for, and what ends the waiting."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from koster.cache import SqliteCache
from tests.helpers import wire
from tests.helpers.scrapy_crawls import Crawl, CrawlError
from tests.helpers.server import Answer, Site


def pages(site: Site, *paths: str) -> list[str]:
    for path in paths:
        site.pages[path] = Answer(200, b"page", {"Content-Type": "text/html"})
    return [site.url + path for path in paths]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Crawl-delay: 86400", "wants 86400 s"),
        ("Crawl-delay: 1000000000000", "wants 1e+12 s"),
        ("Request-rate: 1/3600", "wants 3600 s"),
        ("Crawl-delay: 301", "wants 301 s"),
    ],
)
def test_pages_of_a_site_that_wants_too_long_an_interval_are_refused(
    site: Site, line: str, words: str
) -> None:
    site.robots(body=f"User-agent: *\n{line}".encode())
    urls = pages(site, "/a", "/b")
    crawl = Crawl(*urls)
    assert not crawl.crawled
    for url in urls:
        assert f"{words} between requests (line 2, {line})" in crawl.blocked[url]
        assert "KOSTER_MAX_INTERVAL is 300" in crawl.blocked[url]
        assert "Forbidden" not in crawl.blocked[url]
        # It is no decision: the page is allowed.
        assert crawl.refusals[url]["reason"] is None
        assert f"may fetch {url}" in crawl.refusals[url]["decision"]
    assert crawl.stats["robotstxt/interval_too_long"] == 2
    assert "robotstxt/forbidden" not in crawl.stats


def test_max_interval_is_a_setting(site: Site) -> None:
    site.robots(body=b"User-agent: *\nCrawl-delay: 2")
    (url,) = pages(site, "/a")
    assert Crawl(url, KOSTER_MAX_INTERVAL="1.9").blocked
    assert Crawl(url, KOSTER_MAX_INTERVAL="2").crawled == {url}
    assert Crawl(url, KOSTER_MAX_INTERVAL="inf").crawled == {url}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("KOSTER_MAX_INTERVAL", "fast"),
        ("KOSTER_MAX_INTERVAL", 0),
        ("KOSTER_MAX_INTERVAL", "nan"),
        ("KOSTER_TIMEOUT", -1),
        ("KOSTER_TIMEOUT", True),
        ("KOSTER_TIMEOUT", "inf"),
        ("KOSTER_RETRY_UNREACHABLE", "often"),
        ("KOSTER_RETRY_UNREACHABLE", -1),
        ("KOSTER_RETRY_UNREACHABLE", 1.5),
        ("KOSTER_UNREACHABLE", "maybe"),
    ],
)
def test_invalid_settings_end_the_crawl(name: str, value: object) -> None:
    with pytest.raises(CrawlError, match=f"{name} must be .*, not {value!r}"):
        Crawl("data:,a", **{name: value})


def test_robots_txt_does_not_count_as_the_first_page(site: Site) -> None:
    site.robots(body=b"User-agent: *\nCrawl-delay: 100")
    (url,) = pages(site, "/a")
    began = time.monotonic()
    assert Crawl(url).crawled == {url}
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("delay", [0, 30])
def test_redirected_robots_txt_waits_for_no_delay(site: Site, delay: float) -> None:
    site.robots(301, headers={"Location": "/rules"})
    site.pages["/rules"] = Answer(body=b"User-agent: *\nDisallow: /private")
    (url,) = pages(site, "/private")
    began = time.monotonic()
    crawl = Crawl(url, DOWNLOAD_DELAY=delay, AUTOTHROTTLE_ENABLED=True, KOSTER_TIMEOUT=5)
    assert "line 2, Disallow: /private" in crawl.blocked[url]
    assert time.monotonic() - began < 5


def test_closing_ends_waiting(site: Site) -> None:
    site.robots(body=b"User-agent: *\nCrawl-delay: 200")
    urls = pages(site, *(f"/{number}" for number in range(5)))
    began = time.monotonic()
    crawl = Crawl(*urls, CLOSESPIDER_TIMEOUT=0.3)
    assert time.monotonic() - began < 5
    assert len(crawl.crawled) == 1
    assert len(crawl.blocked) == 4
    assert set(crawl.blocked.values()) == {
        "The spider closes, so the request does not wait any longer"
    }
    assert crawl.refusals[urls[-1]]["retry_at"] == "None"
    assert crawl.stats["finish_reason"] == "closespider_timeout"
    assert any("ignored: 4 requests that waited" in line for line in crawl.log)


def test_waiting_requests_are_kept_for_the_next_run(site: Site, tmp_path: Path) -> None:
    site.robots(body=b"User-agent: *\nCrawl-delay: 200")
    urls = pages(site, *(f"/{number}" for number in range(3)))
    crawled: set[str] = set()
    for number in range(3):
        crawl = Crawl(
            *(urls if not number else ()), CLOSESPIDER_TIMEOUT=0.3, JOBDIR=str(tmp_path / "job")
        )
        assert len(crawl.crawled) == 1, crawl.errors
        assert not crawl.blocked
        crawled |= crawl.crawled
    assert crawled == set(urls)
    assert crawl.stats["finish_reason"] == "finished"


def test_pages_of_an_unreachable_site_are_kept_for_the_next_run(site: Site, tmp_path: Path) -> None:
    (url,) = pages(site, "/")
    settings = {"JOBDIR": str(tmp_path / "job"), "KOSTER_RETRY_UNREACHABLE": 1}
    site.robots(503)
    crawl = Crawl(url, CLOSESPIDER_TIMEOUT=0.2, **settings)
    assert not crawl.blocked
    assert any("back in the queue: 1 request that waited" in line for line in crawl.log)
    site.robots(404)
    assert Crawl(**settings).crawled == {url}


SCRIPT = """\
import scrapy
from scrapy.crawler import CrawlerProcess

class Spider(scrapy.Spider):
    name = "spider"
    start_urls = [{url!r} + path for path in ("/a", "/b", "/c")]
    def parse(self, response):
        print("GOT", flush=True)

process = CrawlerProcess({{
    "ROBOTSTXT_OBEY": True, "USER_AGENT": "FooBot/1.0", "LOG_LEVEL": "ERROR",
    "TELNETCONSOLE_ENABLED": False,
    "DOWNLOADER_MIDDLEWARES": {{
        "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
        "koster.compat.scrapy.RobotsTxtMiddleware": 100,
    }},
}})
process.crawl(Spider)
process.start()
"""


def test_sigterm_ends_waiting(site: Site) -> None:
    site.robots(body=b"User-agent: *\nCrawl-delay: 200")
    pages(site, "/a", "/b", "/c")
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(url=site.url)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "GOT\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


def silent(connection: socket.socket) -> None:
    connection.settimeout(30)
    connection.recv(1)


def test_time_limit_for_a_robots_txt_that_never_comes() -> None:
    with wire.running(silent) as running:
        began = time.monotonic()
        crawl = Crawl(f"{running.url}x", KOSTER_TIMEOUT=0.5, RETRY_ENABLED=True)
        assert time.monotonic() - began < 3
    why = "fetching the site's robots.txt failed (no complete response within 0.5 s)"
    assert why in crawl.blocked[f"{running.url}x"]


def test_time_limit_beside_a_handler_without_one() -> None:
    handlers = {"DOWNLOAD_HANDLERS": {"http": "scrapy_worker.SilentHandler"}}
    crawl = Crawl("http://a.test/", KOSTER_TIMEOUT=0.2, **handlers)
    assert "no complete response within 0.2 s" in crawl.blocked["http://a.test/"]


def test_closing_ends_waiting_for_a_robots_txt(tmp_path: Path) -> None:
    cache = tmp_path / "cache.sqlite"
    with wire.running(silent) as running:
        urls = [f"{running.url}{number}" for number in range(3)]
        began = time.monotonic()
        crawl = Crawl(*urls, CLOSESPIDER_TIMEOUT=0.3, KOSTER_CACHE=str(cache))
        assert time.monotonic() - began < 5
    assert set(crawl.blocked.values()) == {
        "The spider closes, so the request does not wait any longer"
    }
    assert set(crawl.blocked) == set(urls)
    assert not crawl.errors
    # That is no outage of the site.
    with closing(SqliteCache(cache)) as opened:
        assert not list(opened.keys())


def test_time_limit_for_a_body_that_drips() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
    with wire.running(wire.sends_slowly(b"User-agent: *\n" * 10, 0.1, head)) as running:
        crawl = Crawl(f"{running.url}x", KOSTER_TIMEOUT=0.5, RETRY_ENABLED=True)
    assert "no complete response within 0.5 s" in crawl.blocked[f"{running.url}x"]


def test_time_limit_holds_for_all_redirects_and_retries(site: Site) -> None:
    site.robots(301, headers={"Location": "/1"})
    for number in range(1, 5):
        site.pages[f"/{number}"] = Answer(301, headers={"Location": f"/{number + 1}"}, delay=0.25)
    (url,) = pages(site, "/page")
    began = time.monotonic()
    crawl = Crawl(url, KOSTER_TIMEOUT=0.6, RETRY_ENABLED=True)
    assert time.monotonic() - began < 2
    assert "no complete response within 0.6 s" in crawl.blocked[url]


def test_retries_of_scrapy_within_the_time_limit(site: Site) -> None:
    site.robots(503)
    (url,) = pages(site, "/page")
    crawl = Crawl(url, RETRY_ENABLED=True, RETRY_TIMES=2)
    assert "503 Service Unavailable" in crawl.blocked[url]
    assert [path for path, _ in site.requests] == ["/robots.txt"] * 3
