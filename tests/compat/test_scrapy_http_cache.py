"""The middleware for Scrapy with Scrapy's HTTP cache: offline, and when its copies are old."""

from __future__ import annotations

import os
import pickle
import time
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import proxy, server, wire
from tests.helpers.bodies import COMPRESSORS, UNREADABLE
from tests.helpers.scrapy_crawls import Crawl
from tests.helpers.server import Answer, Site

DISALLOW = b"User-agent: *\nDisallow: /private"
OWN = "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware"
#: The settings of a crawl with Scrapy's own middleware.
ORIGINAL = {"DOWNLOADER_MIDDLEWARES": {OWN: 100}}
DAY = 86_400.0


@pytest.fixture
def cached(tmp_path: Path) -> dict[str, Any]:
    return {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path)}


def fill(cached: dict[str, Any], **settings: Any) -> list[str]:
    """Crawl two pages of a site that is then gone; return their URLs."""
    with server.running() as site:
        site.robots(**settings.pop("robots", {"body": DISALLOW}))
        for path in ("/", "/private"):
            site.pages[path] = Answer(200, b"page", {"Content-Type": "text/html"})
        urls = [site.url + path for path in ("/", "/private")]
        crawl = Crawl(*urls, **cached, **settings)
        assert urls[0] in crawl.crawled, crawl.errors
        return urls


def make_older(cached: dict[str, Any], seconds: float) -> None:
    """Make all copies in the HTTP cache older."""
    for path in Path(cached["HTTPCACHE_DIR"]).rglob("pickled_meta"):
        metadata = pickle.loads(path.read_bytes())
        metadata["timestamp"] -= seconds
        path.write_bytes(pickle.dumps(metadata))
        os.utime(path, (time.time() - seconds,) * 2)


@pytest.mark.parametrize("age", [0, 2 * DAY, 400 * DAY])
@pytest.mark.parametrize("first", [{}, ORIGINAL], ids=["koster", "scrapy"])
def test_offline(cached: dict[str, Any], age: float, first: dict[str, Any]) -> None:
    urls = fill(cached, **first)
    make_older(cached, age)
    crawl = Crawl(*urls, **cached)
    assert crawl.crawled == {urls[0]}, crawl.blocked
    assert "line 2, Disallow: /private" in crawl.blocked[urls[1]]


@pytest.mark.parametrize("settings", [{}, {"HTTPCACHE_IGNORE_MISSING": True}], ids=["", "only"])
@pytest.mark.parametrize("name", ["gzip, 25 bytes", "br, 12 bytes", "second member of gzip"])
def test_a_copy_that_is_cut_is_not_read(
    cached: dict[str, Any], name: str, settings: dict[str, Any]
) -> None:
    """Scrapy decodes it on its way out of the HTTP cache, and accepts what is there."""
    with wire.running(wire.sends(UNREADABLE[name].raw)) as running:
        for more in ({}, settings):
            crawl = Crawl(f"{running.url}x", **cached, **more)
            assert "truncated response body" in crawl.blocked[f"{running.url}x"]


@pytest.mark.parametrize("coding", ["gzip", "raw deflate", "br"])
def test_a_copy_is_decoded(cached: dict[str, Any], coding: str) -> None:
    headers = {"Content-Encoding": coding.rsplit(maxsplit=1)[-1]}
    urls = fill(cached, robots={"body": COMPRESSORS[coding](DISALLOW), "headers": headers})
    crawl = Crawl(*urls, **cached)
    assert crawl.crawled == {urls[0]}, crawl.blocked
    assert "line 2, Disallow: /private" in crawl.blocked[urls[1]]


@pytest.mark.parametrize("age", [0, 2 * DAY])
def test_offline_without_robots_txt(cached: dict[str, Any], age: float) -> None:
    urls = fill(cached, robots={"status": 404})
    make_older(cached, age)
    assert Crawl(*urls, **cached).crawled == set(urls)


@pytest.mark.parametrize("age", [0, 2 * DAY])
def test_offline_with_a_redirected_robots_txt(cached: dict[str, Any], age: float) -> None:
    with server.running() as site:
        site.robots(301, headers={"Location": "/rules"})
        site.pages["/rules"] = Answer(body=DISALLOW)
        site.pages["/"] = Answer(body=b"page", headers={"Content-Type": "text/html"})
        urls = [f"{site.url}/", f"{site.url}/private"]
        Crawl(*urls, **cached)
    make_older(cached, age)
    crawl = Crawl(*urls, **cached)
    assert crawl.crawled == {urls[0]}, crawl.blocked
    assert "line 2" in crawl.blocked[urls[1]]


def test_copy_counts_as_long_as_rfc_9309_allows(site: Site, cached: dict[str, Any]) -> None:
    site.robots(body=DISALLOW)
    url = f"{site.url}/new"
    site.pages["/new"] = Answer(200, b"page", {"Content-Type": "text/html"})
    old = f"{site.url}/private"
    Crawl(old, **cached)
    make_older(cached, 0.9 * DAY)
    site.robots(body=b"User-agent: *\nDisallow: /new")
    assert "line 2" in Crawl(old, **cached).blocked[old]
    assert [path for path, _ in site.requests] == ["/robots.txt"]
    make_older(cached, 0.2 * DAY)
    # A day is over: the site is asked, whatever the HTTP cache has.
    crawl = Crawl(url, **cached)
    assert "line 2, Disallow: /new" in crawl.blocked[url]
    assert [path for path, _ in site.requests] == ["/robots.txt"] * 2


def test_old_copy_without_rules_is_for_pages_of_the_http_cache(cached: dict[str, Any]) -> None:
    urls = fill(cached, robots={"status": 404})
    new = urls[0] + "new"
    make_older(cached, 2 * DAY)
    crawl = Crawl(*urls, new, **cached)
    assert crawl.crawled == set(urls)
    assert "robots.txt failed (connection failed: Connection refused)" in crawl.blocked[new]
    assert crawl.refusals[new]["reason"] == "unreachable"
    # A copy that is fresh counts for all pages, and so does the policy.
    assert new in Crawl(new, **cached, KOSTER_UNREACHABLE="allow").failed
    make_older(cached, -2 * DAY)
    assert new in Crawl(new, **cached).failed


def test_error_online_is_not_hidden_by_an_old_copy(site: Site, cached: dict[str, Any]) -> None:
    site.robots(404)
    url = f"{site.url}/"
    Crawl(url, **cached)
    make_older(cached, 2 * DAY)
    site.robots(503)
    crawl = Crawl(f"{site.url}/x", **cached)
    assert "503" in crawl.blocked[f"{site.url}/x"]


def test_errors_in_the_http_cache_do_not_count(site: Site, cached: dict[str, Any]) -> None:
    site.robots(503)
    url = f"{site.url}/private"
    assert "503" in Crawl(url, **cached).blocked[url]
    site.robots(body=DISALLOW)
    assert "line 2" in Crawl(url, **cached).blocked[url]


def test_refusal_of_a_proxy_in_the_http_cache_does_not_count(cached: dict[str, Any]) -> None:
    with server.running() as site:
        site.robots(body=DISALLOW)
        url = f"{site.url}/private"
        with proxy.running("user:secret") as refusing:
            Crawl({"url": url, "meta": {"proxy": refusing.url}}, **cached)
        # It is stored under the URL of the site.
        assert not site.requests
        assert "line 2" in Crawl(url, **cached).blocked[url]
        offline = Crawl(url, **cached, HTTPCACHE_IGNORE_MISSING=True)
        assert offline.refusals[url]["reason"] == "unreachable"


def test_http_cache_alone(site: Site, cached: dict[str, Any]) -> None:
    urls = fill(cached)
    make_older(cached, 400 * DAY)
    site.robots(404)
    other = f"{site.url}/"
    crawl = Crawl(*urls, other, **cached, HTTPCACHE_IGNORE_MISSING=True)
    assert crawl.crawled == {urls[0]}
    assert "line 2" in crawl.blocked[urls[1]]
    why = "not in the HTTP cache, and HTTPCACHE_IGNORE_MISSING is on"
    assert why in crawl.blocked[other]
    assert not site.requests


def test_cache_of_koster_beside_the_http_cache(
    site: Site, cached: dict[str, Any], tmp_path: Path
) -> None:
    # The expired entry makes the request conditional; a 304 is not stored as the file.
    cached["KOSTER_CACHE"] = str(tmp_path / "robots.sqlite")
    site.robots(body=DISALLOW, headers={"ETag": '"1"', "Cache-Control": "max-age=0"})
    url = f"{site.url}/private"
    for _ in range(2):
        assert "line 2" in Crawl(url, **cached).blocked[url]
    assert [path for path, _ in site.requests] == ["/robots.txt"]


def test_policy_that_asks_the_site_again(site: Site, cached: dict[str, Any]) -> None:
    cached["HTTPCACHE_POLICY"] = "scrapy.extensions.httpcache.RFC2616Policy"
    site.robots(body=DISALLOW, headers={"ETag": '"1"', "Cache-Control": "max-age=0"})
    url = f"{site.url}/private"
    Crawl(url, **cached)
    make_older(cached, 2 * DAY)
    site.robots(304, headers={"ETag": '"1"', "Cache-Control": "max-age=0"})
    crawl = Crawl(url, **cached)
    assert "line 2" in crawl.blocked[url]
    assert crawl.stats["httpcache/revalidate"] == 1
    assert [path for path, _ in site.requests] == ["/robots.txt"] * 2
