"""The built site in Chromium: from disk, without a network, on a phone and a desktop."""

from __future__ import annotations

import http.server
import re
from collections.abc import Iterator
from functools import partial

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.helpers.browsing import AXE, check_axe
from tests.helpers.server import served
from tests.helpers.support import ROOT
from tools.site.__main__ import VERSION

SITE = ROOT / "site" / VERSION
PAGES = (
    "index",
    "start",
    "guides/crawlers/caching",
    "guides/owners/no-ai-training",
    "concepts/decisions",
    "reference/lint/S007",
    "reference/api/koster",
    "reference/commands/lint",
    "about/performance",
)


@pytest.fixture(scope="module")
def over_http() -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Quiet, directory=SITE.parent)
    )
    with served(server):
        yield f"http://127.0.0.1:{server.server_address[1]}/{VERSION}"


@pytest.fixture(params=["disk", "server"])
def address(request: pytest.FixtureRequest, over_http: str) -> str:
    return SITE.as_uri() if request.param == "disk" else over_http


def opened(
    browser: Browser, url: str, width: int = 1400, scheme: str = "light"
) -> tuple[Page, list[str]]:
    """Open a page; return it, and what goes wrong, or to another host."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
    )  # type: ignore[arg-type]
    page = context.new_page()
    wrong: list[str] = []
    base = url.partition("/0.")[0]
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "console", lambda message: wrong.append(message.text) if message.type == "error" else None
    )
    page.on(
        "request",
        lambda each: (
            None if each.url.startswith((base, "data:", "blob:")) else wrong.append(each.url)
        ),
    )
    page.goto(url)
    page.wait_for_load_state("networkidle")
    return page, wrong


def test_search_works(browser: Browser, address: str) -> None:
    page, wrong = opened(browser, f"{address}/index.html")
    page.get_by_role("button", name="Search").click()
    page.get_by_placeholder("Search").fill("crawl delay")
    expect(page.get_by_text(re.compile(r"^\d+ results$"))).to_be_visible()
    expect(page.get_by_text("Crawl-delay").filter(visible=True).first).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_url("**/*.html*")
    expect(page.locator("h1")).to_be_visible()
    assert wrong == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1400])
def test_pages_are_accessible_and_load_nothing_from_elsewhere(
    browser: Browser, over_http: str, width: int, scheme: str
) -> None:
    if not AXE.is_file():
        pytest.skip("no axe-core: make test-docs installs it, with npm")
    for name in PAGES:
        page, wrong = opened(browser, f"{over_http}/{name}.html", width, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        page.evaluate(AXE.read_text("utf-8"))
        check_axe(page, f"{name} at {width}, {scheme}")
        assert wrong == []
        page.context.close()


def test_menus_and_links_of_a_page(browser: Browser, address: str) -> None:
    page, wrong = opened(browser, f"{address}/reference/lint/S007.html")
    expect(page.get_by_label("Version")).to_have_value(VERSION)
    edit = page.get_by_title("Edit this page").get_attribute("href") or ""
    assert edit.endswith("/edit/main/src/koster/lint/_blocking.py")
    page.get_by_title("This page as Markdown").click()
    page.wait_for_url("**/S007.md")
    assert "# S007: " in page.content()
    # The browser looks for an icon of the plain text.
    assert [each for each in wrong if "404" not in each] == []


def test_start_page_leads_to_the_newest_version(browser: Browser) -> None:
    page = browser.new_context().new_page()
    # Nothing else is waited for: what a page that leads elsewhere still loads may never be idle.
    page.goto((SITE.parent / "index.html").as_uri(), wait_until="commit")
    page.wait_for_url(f"**/{VERSION}/index.html")
    expect(page.locator("h1")).to_contain_text("koster")
