"""The parser for Scrapy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from server import Answer, Site
from support import Case, all_cases

import koster
from koster.compat.scrapy import KosterRobotParser


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


# One request at a time: of the requests that wait together for a robots.txt, Scrapy 2.19 passes
# only the first two to any parser.
SPIDER = """\
import json, sys
import scrapy
from scrapy.crawler import CrawlerProcess

class Spider(scrapy.Spider):
    name = "spider"
    async def start(self):
        for path in ("/", "/private/x", "/private/press", "/loose"):
            yield scrapy.Request(sys.argv[1] + path, callback=self.parse)
    def parse(self, response):
        print("GOT", response.url.removeprefix(sys.argv[1]), flush=True)

process = CrawlerProcess({
    "ROBOTSTXT_OBEY": True, "CONCURRENT_REQUESTS": 1, "USER_AGENT": sys.argv[2], "LOG_LEVEL": "ERROR", "DOWNLOAD_DELAY": 0,
    "ROBOTSTXT_PARSER": "koster.compat.scrapy.KosterRobotParser", "TELNETCONSOLE_ENABLED": False,
})
process.crawl(Spider)
process.start()
"""


@pytest.mark.parametrize(
    ("agent", "crawled"),
    [("FooBot/1.0 (+https://foo.example)", {"/", "/private/press", "/loose"}),
     ("OtherBot/1.0", {"/", "/private/x", "/private/press"})],
)  # fmt: skip
def test_scrapy_crawl_obeys_robots_txt(
    site: Site, tmp_path: Path, agent: str, crawled: set[str]
) -> None:
    site.robots(
        200,
        b"User-agent: FooBot\nDisallow: /private\nAllow: /private/press\n\nUser-agent: *\nDisallow: /loose",
    )
    for path in ("/", "/private/x", "/private/press", "/loose"):
        site.pages[path] = Answer(200, b"page", {"Content-Type": "text/html"})
    script = tmp_path / "spider.py"
    script.write_text(SPIDER)
    process = subprocess.run(
        [sys.executable, str(script), site.url, agent],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert {line.split()[1] for line in process.stdout.splitlines() if line[:3] == "GOT"} == crawled
    requested_paths = {path for path, _ in site.requests}
    assert requested_paths == crawled | {"/robots.txt"}, process.stderr


@pytest.mark.parametrize(
    "case", [case for case in all_cases() if case.dialect is koster.RFC9309], ids=str
)
def test_cases_with_the_scrapy_parser(case: Case) -> None:
    if isinstance(case.agent, str):
        parser = KosterRobotParser.from_crawler(None, case.body)
        for url, allowed in case.expected.items():
            assert (parser.allowed(url, case.agent), url) == (allowed, url)
