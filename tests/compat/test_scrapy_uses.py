"""``KOSTER_USES`` for Scrapy, in real crawls of a local site."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from koster.compat.scrapy import UsesMiddleware
from tests.helpers.scrapy_crawls import Crawl, CrawlError
from tests.helpers.server import Answer, Site

if TYPE_CHECKING:
    from pathlib import Path

HTML = {"Content-Type": "text/html"}
SAYS_YES = b"User-agent: *\nContent-Signal: ai-train=yes\nDisallow: /private\n"
SAYS_NOTHING = b"User-agent: *\nDisallow: /private\n"
NOAI = b"<meta name=robots content=noai>"
USES = {
    "KOSTER_USES": ["ai-train"],
    "SPIDER_MIDDLEWARES": {"koster.compat.scrapy.UsesMiddleware": 100},
}


def crawl(site: Site, robots: bytes | int, *paths: Any, **settings: Any) -> Crawl:
    if isinstance(robots, int):
        site.robots(robots)
    else:
        site.robots(body=robots)
    site.pages["/tea"] = Answer(body=b"<p>tea", headers=HTML)
    site.pages["/noai"] = Answer(body=NOAI, headers=HTML)
    site.pages["/zipped"] = Answer(
        body=gzip.compress(NOAI), headers={**HTML, "Content-Encoding": "gzip"}
    )
    site.pages["/header"] = Answer(
        body=b"tea",
        headers={"X-Robots-Tag": "barbot: noindex", "x-robots-tag": "foobot: noai"},
    )
    site.pages["/yes"] = Answer(body=b"tea", headers={**HTML, "Content-Usage": "train-ai=y"})
    urls = [path if isinstance(path, dict) else site.url + path for path in paths]
    found = Crawl(*urls, **USES | settings)
    assert not found.errors
    return found


def names(site: Site, found: Crawl) -> list[str]:
    return sorted(each["url"].removeprefix(site.url) for each in found.items)


def test_items_of_pages_that_may_not_be_used_are_dropped(site: Site) -> None:
    found = crawl(site, SAYS_YES, "/tea", "/noai", "/zipped", "/header", "/private")
    assert names(site, found) == ["/tea"]
    # Their links can be followed: the spider had the pages.
    assert len(found.crawled) == 4
    assert found.stats["robotstxt/items_dropped"] == 3
    assert "line 3, Disallow: /private" in found.blocked[f"{site.url}/private"]


def test_pages_that_the_robots_txt_rules_out_are_refused(site: Site) -> None:
    found = crawl(site, b"User-agent: *\nContent-Signal: ai-train=no\n", "/tea")
    (why,) = found.blocked.values()
    assert why == (
        f"Refused because of its use: {site.url}/tea: the site says no to ai-train: "
        "Content-Signal: ai-train=no (robots.txt, line 2)"
    )
    assert found.stats["robotstxt/use_refused"] == 1
    assert [path for path, _ in site.requests] == ["/robots.txt"]
    assert found.refusals[f"{site.url}/tea"]["reason"] is None


@pytest.mark.parametrize("robots", [SAYS_NOTHING, 404])
def test_nothing_stated(site: Site, robots: Any) -> None:
    assert names(site, crawl(site, robots, "/tea", "/yes")) == ["/yes"]
    allowed = crawl(site, robots, "/tea", "/yes", "/noai", KOSTER_UNSTATED="allow")
    assert names(site, allowed) == ["/tea", "/yes"]


def test_items_can_be_marked(site: Site) -> None:
    found = crawl(site, SAYS_NOTHING, "/tea", "/yes", "/noai", KOSTER_ITEMS="mark")
    marks = {each["url"].removeprefix(site.url): each["koster_use"] for each in found.items}
    assert {path: (mark["allowed"], mark["stated"]) for path, mark in marks.items()} == {
        "/tea": (False, {"ai-train": "unstated"}),
        "/yes": (True, {"ai-train": "yes"}),
        "/noai": (False, {"ai-train": "no"}),
    }
    assert "noai (tag <meta" in marks["/noai"]["why"]


def test_a_mark_of_another_page_does_not_count(site: Site) -> None:
    site.robots(body=SAYS_YES)
    # The spider copies the meta of its first response.
    for meta in ({}, {"dont_obey_robotstxt": True}):
        following = {"url": f"{site.url}/noai", "meta": meta}
        found = crawl(site, SAYS_YES, {"url": f"{site.url}/tea", "then": following})
        assert names(site, found) == ["/tea"]


def test_a_page_without_robots_txt_is_not_judged(site: Site) -> None:
    page = {"url": f"{site.url}/tea", "meta": {"dont_obey_robotstxt": True}}
    found = crawl(site, SAYS_YES, page)
    assert (len(found.crawled), found.items) == (1, [])
    (item,) = crawl(site, SAYS_YES, page, KOSTER_ITEMS="mark").items
    assert item["koster_use"]["why"] == "not judged: the request did not ask robots.txt"


def test_a_body_that_is_not_decoded_is_unread(site: Site) -> None:
    settings = {"COMPRESSION_ENABLED": False, "KOSTER_UNSTATED": "allow"}
    assert names(site, crawl(site, SAYS_NOTHING, "/tea", "/zipped", **settings)) == ["/tea"]


@pytest.mark.parametrize("page", [{"method": "HEAD"}, {"meta": {"stop": True}}])
def test_a_body_that_is_not_there_is_unread(site: Site, page: dict[str, Any]) -> None:
    found = crawl(site, SAYS_NOTHING, "/tea", KOSTER_UNSTATED="allow")
    assert names(site, found) == ["/tea"]
    pages = {"url": f"{site.url}/noai", **page}
    found = crawl(site, SAYS_NOTHING, pages, KOSTER_UNSTATED="allow", KOSTER_ITEMS="mark")
    (item,) = found.items
    assert item["koster_use"]["allowed"] is False
    assert "page: its body is not read" in item["koster_use"]["why"]


@pytest.mark.parametrize(("items", "stored"), [("drop", ["/file"]), ("mark", ["/file", "/header"])])
def test_files_that_may_not_be_used(
    site: Site, tmp_path: Path, items: str, stored: list[str]
) -> None:
    site.robots(body=SAYS_YES)
    site.pages["/tea"] = Answer(body=b"<p>tea", headers=HTML)
    site.pages["/file"] = Answer(body=b"a", headers={"Content-Type": "image/png"})
    site.pages["/header"] = Answer(body=b"b", headers={"X-Robots-Tag": "noai", **HTML})
    files = [f"{site.url}/file", f"{site.url}/header"]
    settings: dict[str, Any] = {
        "ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1},
        "FILES_STORE": str(tmp_path),
        "KOSTER_ITEMS": items,
    }
    found = Crawl({"url": f"{site.url}/tea", "item": {"file_urls": files}}, **USES | settings)
    (item,) = found.items
    assert [each["url"].removeprefix(site.url) for each in item["files"]] == stored
    assert found.stats.get("robotstxt/files_dropped", 0) == 2 - len(stored)


def test_an_item_without_the_field_cannot_be_marked(site: Site) -> None:
    site.robots(body=SAYS_YES)
    site.pages["/tea"] = Answer(body=b"<p>tea", headers=HTML)
    page = {"url": f"{site.url}/tea", "meta": {"fixed": True}}
    assert Crawl(page, **USES).items == [{"url": f"{site.url}/tea"}]
    found = Crawl(page, **USES, KOSTER_ITEMS="mark")
    assert found.items == []
    assert (
        'KOSTER_ITEMS = "mark" needs a field koster_use in FixedItem: add it, or set "drop"'
    ) in found.errors


def test_each_item_has_a_mark_of_its_own() -> None:
    mark = {"allowed": False, "stated": {"ai-train": "no"}, "why": "x"}
    crawler = get_crawler(settings_dict={**USES, "ROBOTSTXT_OBEY": True, "KOSTER_ITEMS": "mark",
                                         "DOWNLOADER_MIDDLEWARES": {
        "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
        "koster.compat.scrapy.RobotsTxtMiddleware": 100}})  # fmt: skip
    request = Request("https://example.com/", meta={"koster_use": mark})
    response = Response(request.url, request=request)
    item = UsesMiddleware(crawler).get_processed_item({}, response)
    assert item["koster_use"] == mark
    item["koster_use"]["stated"]["ai-train"] = "yes"
    item["koster_use"]["allowed"] = True
    assert (mark["allowed"], mark["stated"]) == (False, {"ai-train": "no"})


def test_licenses_are_not_read_so_pages_are_refused(site: Site) -> None:
    found = crawl(site, b"License: https://example.com/l.xml\n" + SAYS_YES, "/tea")
    (why,) = found.blocked.values()
    assert "undecided: robots.txt, line 1: the license https://example.com/l.xml is not read" in why


def test_mining_is_stated_by_pages_only(site: Site) -> None:
    site.pages["/tdm"] = Answer(body=b"tea", headers={**HTML, "tdm-reservation": "0"})
    found = crawl(site, SAYS_NOTHING, "/tea", "/tdm", KOSTER_USES="tdm", KOSTER_ITEMS="mark")
    marks = {each["url"].removeprefix(site.url): each["koster_use"] for each in found.items}
    # The tdmrep.json of the site is not read.
    assert [marks[path]["stated"]["tdm"] for path in ("/tea", "/tdm")] == ["undecided"] * 2


def test_several_uses_from_the_command_line(site: Site) -> None:
    robots = b"User-agent: *\nContent-Signal: ai-train=yes, search=no\n"
    (why,) = crawl(site, robots, "/tea", KOSTER_USES="ai-train, search").blocked.values()
    assert "the site says no to search" in why


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"KOSTER_USES": ["training"]}, "KOSTER_USES: 'training' is not a valid Use: uses are"),
        ({"KOSTER_UNSTATED": "yes"}, "KOSTER_UNSTATED must be"),
        ({"KOSTER_ITEMS": "keep"}, 'KOSTER_ITEMS must be "drop" or "mark", not'),
        ({"SPIDER_MIDDLEWARES": {}}, "koster.compat.scrapy.UsesMiddleware"),
        ({"ROBOTSTXT_OBEY": False}, "KOSTER_USES needs ROBOTSTXT_OBEY = True"),
        (
            {
                "DOWNLOADER_MIDDLEWARES": {
                    "koster.compat.scrapy.RobotsTxtMiddleware": None,
                    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": 100,
                }
            },
            "koster.compat.scrapy.RobotsTxtMiddleware",
        ),
    ],
)
def test_settings_that_would_let_pages_through(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(CrawlError, match=words):
        Crawl("https://example.com/", **USES | settings)


def test_without_uses_items_stay_as_they_are(site: Site) -> None:
    settings: dict[str, Any] = {"KOSTER_USES": []}
    assert names(site, crawl(site, SAYS_NOTHING, "/tea", "/noai", **settings)) == ["/noai", "/tea"]
