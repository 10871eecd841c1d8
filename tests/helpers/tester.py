"""Helpers for the parts of the tester page."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

OpenPage = Any


BROKEN = "User-agent: *\nDisallow: admin\nDisalow /foo\nDisallow: /b\nSitemap: /sitemap.xml\n"

TABS = ["test", "findings", "audit", "compare", "dialects"]


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
