"""The tab Signals of the tester page."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.helpers.server import Answer, Site
from tests.helpers.tester import OpenPage, editor, fill_page, tab

ROBOTS = """\
User-agent: *
Content-Signal: search=yes, ai-train=no
Disallow: /cart/

User-agent: GPTBot
User-agent: ClaudeBot
Disallow: /
"""
PAGE = b'<!doctype html><meta name="robots" content="noarchive"><link rel=license href=/by.html>'
PICTURES = os.environ.get("KOSTER_SCREENS")


def open_tab(open_page: OpenPage, **options: object) -> Page:
    page: Page = open_page(**options)
    editor(page).fill(ROBOTS)
    tab(page, "signals")
    return page


def use(page: Page, name: str) -> Locator:
    return page.locator("#panel-signals").get_by_role("row", name=re.compile(f"^{name}"))


def take_picture(page: Page, name: str) -> None:
    if PICTURES:
        Path(PICTURES).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(PICTURES) / f"{name}.png", full_page=True)


def test_uses_and_their_lines(open_page: OpenPage) -> None:
    page = open_tab(open_page)
    panel = page.locator("#panel-signals")
    expect(panel.get_by_role("status")).to_have_text("By the text in the editor")
    expect(use(page, "AI training")).to_contain_text("no")
    expect(use(page, "Search")).to_contain_text("yes")
    expect(use(page, "Snippets")).to_contain_text("unstated")
    expect(panel).to_contain_text("GPTBot and ClaudeBot: line 7: Disallow: /")
    use(page, "AI training").get_by_role("button").click()
    expect(page.locator("#editor .gutter .now")).to_have_text("2")
    # Each keystroke counts, also in the file.
    editor(page).fill(ROBOTS.replace("ai-train=no", "ai-train=yes"))
    expect(use(page, "AI training")).to_contain_text("yes")
    expect(use(page, "For GPTBot")).to_contain_text("line 7: Disallow: /")


def test_headers_and_html(open_page: OpenPage) -> None:
    page = open_tab(open_page)
    panel = page.locator("#panel-signals")
    fill_page(page)
    expect(panel.get_by_role("status")).to_have_text("By the text in the editor, headers and HTML")
    expect(use(page, "Search")).to_contain_text("conflict")
    expect(panel).to_contain_text("Conflicts: the most restrictive counts")
    expect(panel).to_contain_text("noindex (header X-Robots-Tag")
    expect(panel).to_contain_text("Licenses")
    page.get_by_label("URL or path of the page").fill("/cart/")
    expect(panel).to_contain_text("Never seen")
    headers = page.get_by_label("Response headers, one per line")
    headers.fill("X-Robots-Tag: noai\nnoai")
    expect(panel.get_by_role("status")).to_have_text("Headers, line 2: write NAME: VALUE")
    headers.fill("X-Robots-Tag: noai")
    expect(panel.get_by_role("status")).to_contain_text("headers and HTML")


def test_what_is_not_read_comes_first(open_page: OpenPage) -> None:
    page = open_tab(open_page)
    editor(page).fill("<html>not a robots.txt</html>")
    panel = page.locator("#panel-signals")
    expect(panel.locator(".unread")).to_have_text(
        "Not read: robots.txt: no line in it is one of a robots.txt"
    )
    expect(panel.get_by_role("status")).to_contain_text("1 source not read")
    expect(panel.get_by_role("table")).not_to_contain_text("unstated")


def test_a_page_is_fetched(open_page: OpenPage, site: Site) -> None:
    site.robots(body=b"User-agent: *\nContent-Signal: ai-train=yes\nDisallow: /x\n")
    site.pages["/tea"] = Answer(body=PAGE, headers={"Content-Type": "text/html"})
    page = open_tab(open_page)
    panel = page.locator("#panel-signals")
    page.get_by_label("URL or path of the page").fill(f"{site.url}/tea")
    # An absolute URL is first read with the text in the editor.
    expect(use(page, "AI training")).to_contain_text("no")
    page.get_by_role("button", name="Fetch page").click()
    expect(panel.get_by_role("status")).to_have_text(
        f"Fetched {site.url}/tea, with the robots.txt of its site instead of the text in the editor"
    )
    expect(use(page, "AI training")).to_contain_text("yes")
    expect(use(page, "AI training")).to_contain_text("(robots.txt, line 2)")
    expect(use(page, "Archives")).to_contain_text("noarchive")
    # Its lines are not those of the editor.
    assert use(page, "AI training").get_by_role("button").count() == 0
    requests = len(site.requests)
    tab(page, "test")
    tab(page, "signals")
    expect(panel.get_by_role("status")).to_contain_text("Fetched")
    assert len(site.requests) == requests
    page.get_by_role("button", name="Read the text in the editor").click()
    expect(use(page, "AI training")).to_contain_text("line 2: Content-Signal: ai-train=no")
    expect(page.get_by_role("button", name="Read the text in the editor")).to_have_count(0)
    site.pages["/gone"] = Answer(500)
    page.get_by_label("URL or path of the page").fill(f"{site.url}/gone")
    page.get_by_label("URL or path of the page").press("Enter")
    expect(panel.locator(".unread")).to_have_text("Not read: page: 500 Internal Server Error")


def test_errors(open_page: OpenPage) -> None:
    page = open_tab(open_page)
    panel = page.locator("#panel-signals")
    page.get_by_role("button", name="Fetch page").click()
    expect(panel.get_by_role("status")).to_contain_text("Enter the URL of a page")
    page.get_by_label("URL or path of the page").fill("tea")
    expect(panel.get_by_role("status")).to_contain_text("Enter a path that starts with /")
    page.get_by_label("URL or path of the page").fill("ftp://a.example/")
    page.get_by_role("button", name="Fetch page").click()
    expect(panel.locator(".empty")).to_be_visible()
    page.get_by_label("URL or path of the page").fill("/")
    expect(use(page, "AI training")).to_contain_text("no")


def test_a_link_contains_the_page(open_page: OpenPage) -> None:
    page = open_tab(open_page)
    fill_page(page)
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#message")).to_contain_text("Link copied")
    other = open_page(page.evaluate("location.hash"))
    expect(other.locator("#panel-signals")).to_contain_text("Conflicts")
    expect(other.get_by_label("HTML", exact=True)).to_have_value(re.compile("max-snippet"))


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits(open_page: OpenPage, site: Site, width: int, scheme: str) -> None:
    page = open_tab(open_page, width=width, color_scheme=scheme)
    take_picture(page, f"plain-{scheme}-{width}")
    fill_page(page)
    page.get_by_label("URL or path of the page").fill("/cart/")
    expect(page.locator("#panel-signals")).to_contain_text("Never seen")
    take_picture(page, f"full-{scheme}-{width}")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
