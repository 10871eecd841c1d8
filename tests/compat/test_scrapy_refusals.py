"""The middleware for Scrapy: what a blocked request says, and what happens to unreachable sites."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.helpers import wire
from tests.helpers.scrapy_crawls import Crawl, CrawlError
from tests.helpers.server import Answer, Site

DISALLOW = b"User-agent: *\nDisallow: /private"
OWN = "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware"
KOSTER = "koster.compat.scrapy.RobotsTxtMiddleware"


def page(site: Site, path: str) -> str:
    site.pages[path] = Answer(200, b"page", {"Content-Type": "text/html"})
    return site.url + path


def test_refusal_by_a_rule(site: Site) -> None:
    site.robots(body=DISALLOW)
    url = page(site, "/private")
    crawl = Crawl(url)
    decision = f"FooBot/1.0 (+https://foo.example) may not fetch {url}: line 2, Disallow: /private"
    assert crawl.refusals[url] == {
        "message": f"Forbidden by robots.txt: {decision}",
        "decision": decision,
        "reason": "rule",
        "retry_at": "None",
    }
    assert crawl.stats["robotstxt/forbidden"] == 1
    assert "robotstxt/unreachable" not in crawl.stats
    (line,) = (line for line in crawl.log if "Forbidden by robots.txt" in line)
    assert line.startswith(f"DEBUG [koster.compat.scrapy] <GET {url}>")
    assert "line 2, Disallow: /private" in line


def test_refusal_while_unreachable(site: Site) -> None:
    site.robots(503, headers={"Retry-After": "600"})
    url = page(site, "/")
    crawl = Crawl(url)
    refusal = crawl.refusals[url]
    assert refusal["reason"] == "unreachable"
    assert refusal["message"].startswith("Blocked while robots.txt is unreachable: ")
    assert "503 Service Unavailable" in refusal["decision"]
    retry_at = datetime.fromisoformat(refusal["retry_at"])
    assert timedelta(seconds=580) < retry_at - datetime.now(UTC) <= timedelta(seconds=600)
    assert f"asked again from {retry_at:%Y-%m-%d %H:%M:%S} UTC" in refusal["message"]
    assert crawl.stats["robotstxt/unreachable"] == 1
    assert "robotstxt/forbidden" not in crawl.stats
    assert any("503 Service Unavailable" in line and url in line for line in crawl.log)


@pytest.mark.parametrize("value", ["allow", "ALLOW"])
def test_unreachable_sites_can_be_allowed(site: Site, value: str) -> None:
    site.robots(503)
    url = page(site, "/")
    crawl = Crawl(url, KOSTER_UNREACHABLE=value)
    assert crawl.crawled == {url}
    (line,) = (line for line in crawl.log if "is unreachable" in line)
    assert line.startswith("WARNING [koster.compat.scrapy]")
    assert "everything is allowed" in line
    # Rules that are known still hold.
    site.robots(body=DISALLOW)
    private = page(site, "/private")
    assert "line 2" in Crawl(private, KOSTER_UNREACHABLE=value).blocked[private]


def test_retry_of_unreachable_sites(site: Site) -> None:
    site.robots(503)
    urls = [page(site, path) for path in ("/a", "/b", "/private")]
    timer = threading.Timer(0.8, lambda: site.robots(body=DISALLOW))
    timer.start()
    crawl = Crawl(*urls, KOSTER_RETRY_UNREACHABLE=5, min_retry=0.4, CONCURRENT_REQUESTS=2)
    timer.join()
    assert crawl.crawled == set(urls[:2]), crawl.errors
    assert "line 2" in crawl.blocked[urls[2]]
    assert [path for path, _ in site.requests].count("/robots.txt") in (2, 3, 4)
    assert crawl.stats["finish_reason"] == "finished"


def test_retries_are_limited(site: Site) -> None:
    site.robots(503)
    url = page(site, "/")
    crawl = Crawl(url, KOSTER_RETRY_UNREACHABLE="2", min_retry=0.1)
    assert crawl.refusals[url]["reason"] == "unreachable"
    assert [path for path, _ in site.requests] == ["/robots.txt"] * 3
    assert crawl.stats["robotstxt/retry_count"] == 2


def test_nobody_waits_longer_than_the_longest_interval(site: Site) -> None:
    site.robots(503, headers={"Retry-After": "600"})
    url = page(site, "/")
    began = time.monotonic()
    assert Crawl(url, KOSTER_RETRY_UNREACHABLE=3).blocked
    assert time.monotonic() - began < 5


def test_other_sites_are_crawled_while_one_is_unreachable(site: Site, unused: int) -> None:
    site.robots(404)
    url = page(site, "/")
    down = [f"http://127.0.0.1:{unused}/{number}" for number in range(5)]
    began = time.monotonic()
    # Scrapy counts the robots.txt as a page, too.
    settings = {"KOSTER_RETRY_UNREACHABLE": 3, "CONCURRENT_REQUESTS": 2, "CLOSESPIDER_PAGECOUNT": 2}
    crawl = Crawl(*down, url, **settings)
    # Closing ends the wait, too.
    assert time.monotonic() - began < 4
    assert crawl.crawled == {url}
    assert set(crawl.blocked) == set(down)


def test_both_middlewares_are_an_error() -> None:
    with pytest.raises(CrawlError, match=f'set "{OWN}": None in DOWNLOADER_MIDDLEWARES'):
        Crawl("data:,a", DOWNLOADER_MIDDLEWARES={KOSTER: 100})
    with pytest.raises(CrawlError, match="is on, beside that of koster"):
        Crawl("data:,a", DOWNLOADER_MIDDLEWARES={KOSTER: 90, OWN: 100})
    # Without robots.txt there is nothing to do.
    crawl = Crawl("data:,a", DOWNLOADER_MIDDLEWARES={KOSTER: 100}, ROBOTSTXT_OBEY=False)
    assert crawl.crawled == {"data:,a"}


REASONS: list[tuple[wire.Script, str]] = [
    (wire.sends(), "connection failed: the server closed the connection"),
    (wire.resets(), "connection failed: the server closed the connection"),
    (wire.sends(b"this is not HTTP\r\n\r\n"), "invalid HTTP response: non-integer status code"),
    (wire.sends(b"HTTP/1.1\r\n\r\n"), "invalid HTTP response: wrong number of parts"),
    (
        wire.sends(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\nUser"),
        "invalid HTTP response: truncated response body",
    ),
    (
        wire.sends(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nUser"),
        "invalid HTTP response: truncated response body",
    ),
    (
        wire.sends(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"),
        "invalid HTTP response: truncated response body",
    ),
    (
        wire.sends(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nUser-"),
        "invalid HTTP response: Invalid response: conflicting Content-Length headers: 5,6",
    ),
]


@pytest.mark.parametrize(("script", "why"), REASONS, ids=map(str, range(len(REASONS))))
def test_reasons_are_plain(script: wire.Script, why: str) -> None:
    with wire.running(script) as running:
        crawl = Crawl(f"{running.url}x", DOWNLOAD_TIMEOUT=5)
    assert f"robots.txt failed ({why})" in crawl.blocked[f"{running.url}x"]
    check_plain(crawl)


def check_plain(crawl: Crawl) -> None:
    for message in crawl.blocked.values():
        assert not any(each in message for each in ("<", "twisted", "Failure", "['", "b'")), message


def test_reason_of_a_failed_lookup() -> None:
    crawl = Crawl("http://nowhere.invalid/")
    why = "robots.txt failed (DNS lookup failed: no results for hostname lookup: nowhere.invalid)"
    assert why in crawl.blocked["http://nowhere.invalid/"]


def test_reason_without_tls(site: Site) -> None:
    url = f"https://127.0.0.1:{site.port}/"
    crawl = Crawl(url)
    why = "TLS connection failed: the server does not use TLS; try http://"
    assert why in crawl.blocked[url]


def test_truncated_body_is_no_file_even_if_scrapy_accepts_it(tmp_path: Path) -> None:
    script = wire.sends(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\nUser-agent: *\nAllow: /")
    settings = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path)}
    with wire.running(script) as running:
        url = f"{running.url}x"
        for _ in range(2):
            crawl = Crawl(url, DOWNLOAD_FAIL_ON_DATALOSS=False, **settings)
            assert "truncated response body" in crawl.blocked[url]


def test_truncated_body_is_not_read_after_a_retry(site: Site) -> None:
    # The bytes of the first try do not count for the second.
    size = 300_000
    site.robots(503, body=b"#" * size)
    url = page(site, "/private")
    threading.Timer(0.2, lambda: site.robots(body=DISALLOW + b"\n#" + b"#" * size)).start()
    site.pages["/robots.txt"].delay = 0.3
    crawl = Crawl(url, RETRY_ENABLED=True, RETRY_TIMES=1)
    assert "line 2" in crawl.blocked[url]
    assert crawl.parsed == [len(DISALLOW) + 2 + size]
