"""Helpers for the parts of the tester page."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

OpenPage = Any


BROKEN = "User-agent: *\nDisallow: admin\nDisalow /foo\nDisallow: /b\nSitemap: /sitemap.xml\n"

TABS = ["test", "findings", "audit", "signals", "compare", "dialects"]


def editor(page: Page) -> Any:
    return page.get_by_label("The text of the robots.txt")


def tab(page: Page, name: str) -> None:
    page.locator(f"#tab-{name}").click()
    expect(page.locator(f"#panel-{name}")).to_be_visible()


def row(page: Page, crawler: str, url: str) -> Any:
    return (
        page.locator("#panel-test tbody tr")
        .filter(has_text=crawler)
        .filter(has=page.get_by_text(url, exact=True))
    )


def fill_page(page: Page, text: str = "") -> None:
    """Fill in a page for the tab Signals, with a text in its path, headers and HTML."""
    page.get_by_label("URL or path of the page").fill(f"/tea/{text}")
    if not page.get_by_label("HTML", exact=True).is_visible():
        page.get_by_text("Headers and HTML of the page").click()
    headers = "HTTP/2 200\nX-Robots-Tag: noindex\nX-Robots-Tag: googlebot: index, nosnippet"
    page.get_by_label("Response headers, one per line").fill(
        f"{headers}\nLink: <{text}>; rel=license"
    )
    html = f'<meta name="robots" content="all, max-snippet:{text}"><link rel="license" href="/l?{text}">'
    page.get_by_label("HTML", exact=True).fill(html)
