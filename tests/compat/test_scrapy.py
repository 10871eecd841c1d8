"""The parser for Scrapy."""

from __future__ import annotations

import subprocess
import sys

import pytest

import koster
import koster.compat.scrapy
from koster.compat.scrapy import KosterRobotParser
from koster.compat.scrapy._parser import _warn_of_requests_let_through
from tests.helpers.scrapy_crawls import Crawl
from tests.helpers.server import Answer, Site
from tests.helpers.support import all_cases


def test_scrapy_parser() -> None:
    body = b"\xef\xbb\xbfUser-agent: FooBot\nDisallow: /x\nCrawl-delay: 2\n\nUser-agent: *\nDisallow: /\xff"
    for parser in (KosterRobotParser.from_crawler(None, body), KosterRobotParser(body, None)):
        assert not parser.allowed("https://example.com/x", "FooBot")
        assert not parser.allowed(b"https://example.com/x", b"FooBot/2.0 (+https://foo.example)")
        assert not parser.allowed(b"https://example.com/%FF", b"*")
        assert parser.crawl_delay("FooBot") == 2.0
        assert parser.crawl_delay(b"other") is None
        assert parser.spider is None
    empty = KosterRobotParser.from_crawler(None, b"")
    assert empty.allowed("https://example.com/", "*")


OWN = {"DOWNLOADER_MIDDLEWARES": {
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": 100
}}  # fmt: skip
PARSER = "koster.compat.scrapy.KosterRobotParser"
HTML = {"Content-Type": "text/html"}


@pytest.mark.parametrize(
    ("agent", "crawled"),
    [("FooBot/1.0 (+https://foo.example)", {"/", "/private/press", "/loose"}),
     ("OtherBot/1.0", {"/", "/private/x", "/private/press"})],
)  # fmt: skip
def test_scrapy_crawl_obeys_robots_txt(site: Site, agent: str, crawled: set[str]) -> None:
    site.robots(
        200,
        b"User-agent: FooBot\nDisallow: /private\nAllow: /private/press\n\nUser-agent: *\nDisallow: /loose",
    )
    paths = ("/", "/private/x", "/private/press", "/loose")
    site.pages |= {path: Answer(200, b"page", HTML) for path in paths}
    urls = [site.url + path for path in paths]
    crawl = Crawl(*urls, **OWN, ROBOTSTXT_PARSER=PARSER, USER_AGENT=agent, CONCURRENT_REQUESTS=1)
    assert crawl.crawled == {site.url + path for path in crawled}, crawl.errors
    assert {path for path, _ in site.requests} == crawled | {"/robots.txt"}


@pytest.mark.parametrize("parser", [PARSER, "scrapy.robotstxt.ProtegoRobotParser"])
def test_scrapy_lets_requests_through_while_the_file_is_on_its_way(site: Site, parser: str) -> None:
    # What the guide says of Scrapy 2.19: if this changes, so must the guide and the warning.
    site.robots(body=b"User-agent: *\nDisallow: /private", delay=0.1)
    paths = [f"/private/{number}" for number in range(6)]
    site.pages |= {path: Answer(200, b"page", HTML) for path in paths}
    urls = [site.url + path for path in paths]
    assert len(Crawl(*urls, **OWN, ROBOTSTXT_PARSER=parser).crawled) == 4
    assert not Crawl(*urls).crawled


def test_parser_warns_once(caplog: pytest.LogCaptureFixture) -> None:
    _warn_of_requests_let_through.cache_clear()
    KosterRobotParser.from_crawler(None, b"")
    assert not caplog.records
    for _ in range(2):
        KosterRobotParser.from_crawler(object(), b"")
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert "use koster.compat.scrapy.RobotsTxtMiddleware instead" in record.message


def test_parser_needs_no_scrapy() -> None:
    code = "import sys, koster.compat.scrapy as one; assert 'scrapy' not in sys.modules; one.KosterRobotParser(b'')"
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'Robots'"):
        _ = koster.compat.scrapy.Robots


def test_cases_with_the_scrapy_parser() -> None:
    for case in all_cases():
        if case.dialect is koster.RFC9309 and isinstance(case.agent, str):
            parser = KosterRobotParser.from_crawler(None, case.body)
            for url, allowed in case.expected.items():
                context = (url, str(case))
                assert (parser.allowed(url, case.agent), context) == (allowed, context)
