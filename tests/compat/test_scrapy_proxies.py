"""The middleware for Scrapy and proxies: where credentials go, and what a proxy's refusal means."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from koster import RFC9309
from koster.cache import SqliteCache
from koster.cache.resilient import ResilientCache
from tests.helpers import proxy, server
from tests.helpers.entries import ENTRY
from tests.helpers.scrapy_crawls import Crawl
from tests.helpers.server import Answer, Site

PASSWORD = "user:secret"
HEADER = {"Proxy-Authorization": f"Basic {base64.b64encode(PASSWORD.encode()).decode()}"}
DISALLOW = b"User-agent: *\nDisallow: /private"


@dataclass
class Net:
    """Two sites, ``a.test`` and ``b.test``, and two proxies that lead to them."""

    a: Site
    b: Site
    proxy: proxy.Proxy
    open_proxy: proxy.Proxy  # type: ignore[name-defined]

    @property
    def sites(self) -> tuple[Site, Site]:
        return self.a, self.b


@contextmanager
def _net() -> Iterator[Net]:
    with ExitStack() as stack:
        a, b = (stack.enter_context(server.running()) for _ in range(2))
        hosts = {"a.test": a.port, "b.test": b.port}
        closed = stack.enter_context(proxy.running(PASSWORD, hosts))
        for site in (a, b):
            site.robots(body=DISALLOW)
            for path in ("/", "/private"):
                site.pages[path] = Answer(200, b"page", {"Content-Type": "text/html"})
        yield Net(a, b, closed, stack.enter_context(proxy.running("", hosts)))


@pytest.fixture
def net() -> Iterator[Net]:
    with _net() as running:
        yield running


def check(net: Net, crawl: Crawl) -> None:
    """Check that the page of b.test was refused by its robots.txt, and no credentials leaked."""
    assert "line 2, Disallow: /private" in crawl.blocked["http://b.test/private"], crawl.errors
    assert [path for path, _ in net.b.requests] == ["/robots.txt"]
    for site in net.sites:
        assert all("Proxy-Authorization" not in headers for _, headers in site.requests)


def test_redirected_page_takes_the_credentials_along(net: Net) -> None:
    net.a.pages["/"] = Answer(302, headers={"Location": "http://b.test/private"})
    meta = {"proxy": net.proxy.url_with(PASSWORD)}
    check(net, Crawl({"url": "http://a.test/", "meta": meta}))


def test_header_of_the_user_goes_along(net: Net) -> None:
    meta = {"proxy": net.proxy.url}
    check(net, Crawl({"url": "http://b.test/private", "meta": meta, "headers": HEADER}))


def test_redirected_page_with_a_header_of_the_user(net: Net) -> None:
    net.a.pages["/"] = Answer(302, headers={"Location": "http://b.test/private"})
    meta = {"proxy": net.proxy.url}
    check(net, Crawl({"url": "http://a.test/", "meta": meta, "headers": HEADER}))


def test_proxy_of_the_environment(net: Net) -> None:
    net.a.pages["/"] = Answer(302, headers={"Location": "http://b.test/private"})
    environ = {"http_proxy": net.proxy.url_with(PASSWORD)}
    check(net, Crawl("http://a.test/", environ=environ))


def test_header_of_the_user_for_the_proxy_of_the_environment(net: Net) -> None:
    net.a.pages["/"] = Answer(302, headers={"Location": "http://b.test/private"})
    environ = {"http_proxy": net.proxy.url}
    check(net, Crawl({"url": "http://a.test/", "headers": HEADER}, environ=environ))


def test_copied_meta(net: Net) -> None:
    # Scrapy sends the page itself without credentials then.
    meta = {"proxy": net.proxy.url_with(PASSWORD)}
    first = {"url": "http://a.test/", "meta": meta, "then": "http://b.test/private"}
    check(net, Crawl(first))


def test_retried_page(net: Net) -> None:
    net.a.pages["/"] = Answer(503)
    net.a.robots(body=DISALLOW, headers={"Cache-Control": "max-age=0"})
    meta = {"proxy": net.proxy.url_with(PASSWORD)}
    page = {"url": "http://a.test/", "meta": meta}
    crawl = Crawl(page, RETRY_ENABLED=True, RETRY_TIMES=1, HTTPERROR_ALLOW_ALL=True)
    assert crawl.statuses == {"http://a.test/": 503}
    assert crawl.stats["robotstxt/response_status_count/200"] == 1


def test_redirected_robots_txt(net: Net) -> None:
    net.b.robots(301, headers={"Location": "http://a.test/rules"})
    net.a.pages["/rules"] = Answer(body=DISALLOW)
    meta = {"proxy": net.proxy.url_with(PASSWORD)}
    check(net, Crawl({"url": "http://b.test/private", "meta": meta}))


def test_no_credentials_for_another_proxy(net: Net) -> None:
    meta = {"proxy": net.proxy.url_with(PASSWORD)}
    following = {"url": "http://b.test/private", "meta": {"proxy": net.open_proxy.url}}
    seen = Crawl({"url": "http://a.test/", "meta": meta, "then": following})
    check(net, seen)
    assert not any(net.open_proxy.credentials)
    assert any(net.proxy.credentials)


def test_no_credentials_for_another_proxy_in_a_copied_meta(net: Net) -> None:
    # The header belongs to the first proxy, as Scrapy notes.
    meta = {"proxy": net.open_proxy.url, "_auth_proxy": net.proxy.url}
    check(net, Crawl({"url": "http://b.test/private", "meta": meta, "headers": HEADER}))
    assert not any(net.open_proxy.credentials)


def test_no_credentials_for_the_proxy_of_another_scheme(net: Net) -> None:
    # Of http:// the robots.txt leads to https://, which has another proxy.
    net.b.robots(301, headers={"Location": "https://b.test/robots.txt"})
    environ = {"http_proxy": net.proxy.url, "https_proxy": net.open_proxy.url}
    page = {"url": "http://b.test/private", "headers": HEADER}
    crawl = Crawl(page, environ=environ)
    assert f"through {net.open_proxy.url}" in crawl.blocked["http://b.test/private"]
    assert "CONNECT b.test:443 HTTP/1.1" in net.open_proxy.requests
    assert not any(net.open_proxy.credentials)


@pytest.mark.parametrize("settings", [{}, {"HTTPPROXY_ENABLED": False}])
def test_no_credentials_for_a_site(net: Net, settings: dict[str, bool]) -> None:
    url = net.b.url + "/private"
    crawl = Crawl({"url": url, "headers": HEADER, "meta": {"proxy": None}}, **settings)
    assert "line 2" in crawl.blocked[url]
    ((path, headers),) = net.b.requests
    assert path == "/robots.txt"
    assert "Proxy-Authorization" not in headers


def test_page_without_a_proxy_avoids_the_one_of_the_environment(net: Net) -> None:
    url = net.b.url + "/private"
    environ = {"http_proxy": net.open_proxy.url}
    crawl = Crawl({"url": url, "meta": {"proxy": None}}, environ=environ)
    assert "line 2" in crawl.blocked[url]
    assert not net.open_proxy.requests


def test_status_407_is_the_answer_of_the_proxy(net: Net, tmp_path: Path) -> None:
    cache = f"{tmp_path}/cache.sqlite"
    http, wrong = "http://b.test/private", "http://b.test/"
    refused = {"url": wrong, "meta": {"proxy": net.proxy.url_with("user:wrong")}}
    crawl = Crawl(refused, KOSTER_CACHE=cache)
    why = f"proxy failed: 407 Proxy Authentication Required (through {net.proxy.url})"
    assert why in crawl.blocked[wrong]
    assert crawl.refusals[wrong]["reason"] == "unreachable"
    assert "Forbidden" not in crawl.blocked[wrong]
    assert not net.b.requests
    # Requests through the right proxy are not affected, in the same crawl and the next one.
    right = {"url": http, "meta": {"proxy": net.open_proxy.url}}
    crawl = Crawl(refused, right, KOSTER_CACHE=cache)
    assert why in crawl.blocked[wrong]
    assert "line 2" in crawl.blocked[http]


def test_connect_that_fails_is_the_answer_of_the_proxy() -> None:
    url = "https://b.test/"
    for answer, why in (
        (
            b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
            "407 Proxy Authentication Required",
        ),
        (b"HTTP/1.1 403 Forbidden by policy\r\n\r\n", "403 Forbidden by policy"),
        (b"nonsense\r\n\r\n", "the answer to CONNECT is invalid"),
    ):
        with proxy.running(refuses=answer) as refusing:
            crawl = Crawl({"url": url, "meta": {"proxy": refusing.url}})
        assert f"proxy failed: {why} (through {refusing.url})" in crawl.blocked[url]


def test_proxy_that_is_down(net: Net, unused: int) -> None:
    url, other = "http://b.test/", "http://b.test/private"
    down = {"url": url, "meta": {"proxy": f"http://user:secret@127.0.0.1:{unused}"}}
    crawl = Crawl(down, {"url": other, "meta": {"proxy": net.open_proxy.url}})
    assert f"Connection refused (through http://127.0.0.1:{unused})" in crawl.blocked[url]
    assert "proxy failed" in crawl.blocked[url]
    assert "line 2" in crawl.blocked[other]


def test_outage_without_a_proxy_is_none_through_a_proxy(net: Net, tmp_path: Path) -> None:
    # The name a.test leads nowhere but through the proxy.
    url, other = "http://b.test/", "http://b.test/private"
    proxied = {"url": other, "meta": {"proxy": net.open_proxy.url}}
    cache = f"{tmp_path}/cache.sqlite"
    crawl = Crawl(url, proxied, KOSTER_CACHE=cache)
    assert "DNS lookup failed" in crawl.blocked[url]
    assert "line 2" in crawl.blocked[other]
    # What is known now holds for all.
    assert "line 2" in Crawl(other, KOSTER_CACHE=cache).blocked[other]


def test_outage_in_the_cache_is_none_through_a_proxy(net: Net, tmp_path: Path) -> None:
    url = "http://b.test/private"
    cache = f"{tmp_path}/cache.sqlite"
    assert "DNS lookup failed" in Crawl(url, KOSTER_CACHE=cache).blocked[url]
    proxied = {"url": url, "meta": {"proxy": net.open_proxy.url}}
    assert "line 2" in Crawl(proxied, KOSTER_CACHE=cache).blocked[url]


def test_proxy_is_asked_again_after_a_while(net: Net) -> None:
    page = {"url": "http://b.test/", "meta": {"proxy": net.proxy.url}}
    crawl = Crawl(page, KOSTER_RETRY_UNREACHABLE=2, min_retry=0.1)
    assert "407" in crawl.blocked["http://b.test/"]
    assert len(net.proxy.requests) == 3


def test_file_in_the_cache_applies_while_the_proxy_fails(net: Net, tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    now = datetime.now(UTC)
    old = replace(
        ENTRY, origin="http://b.test", body=DISALLOW, fetched=now - timedelta(days=2), expires=now,
        unreachable_since=None,
    )  # fmt: skip
    with closing(SqliteCache(path)) as cache:
        ResilientCache(cache, RFC9309.statuses, print, time.monotonic).put(old)
        pages = [
            {"url": f"http://b.test/{name}", "meta": {"proxy": net.proxy.url}}
            for name in ("", "private")
        ]
        crawl = Crawl(*pages, KOSTER_CACHE=str(path))
        assert crawl.failed == {}
        assert "line 2" in crawl.blocked["http://b.test/private"]
        assert crawl.blocked["http://b.test/"] == "Ignoring non-200 response"  # the page's own 407
        # The cache does not learn of it.
        (key,) = cache.keys()
        assert cache.get(key) == old
