"""Parts of the tester page, in tests."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

Opened = Any


TABS = ["test", "findings", "audit", "compare", "dialects"]


def editor(page: Page) -> Any:
    return page.get_by_label("The text of the robots.txt")


def tab(page: Page, name: str) -> None:
    page.locator(f"#tab-{name}").click()
    expect(page.locator(f"#panel-{name}")).to_be_visible()


def row(page: Page, robot: str, url: str) -> Any:
    return (
        page.locator("#panel-test tbody tr")
        .filter(has_text=robot)
        .filter(has=page.get_by_text(url, exact=True))
    )
