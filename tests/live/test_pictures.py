"""Takes the screenshots of the tester for the docs."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from server import Site
from tester import TABS, OpenPage, editor, row, tab

PICTURES = (
    Path(os.environ.get("KOSTER_PICTURES", "")) if os.environ.get("KOSTER_PICTURES") else None
)


@pytest.mark.skipif(PICTURES is None, reason="run make pictures to take the pictures")
@pytest.mark.parametrize("name", [*TABS, "margin", "dark", "narrow"])
def test_pictures_for_the_docs(open_page: OpenPage, site: Site, name: str) -> None:
    assert PICTURES is not None
    narrow = name == "narrow"
    page = open_page(
        width=390 if narrow else 1280, height=844 if narrow else 760,
        color_scheme="dark" if name == "dark" else "light",
    )  # fmt: skip
    if name in ("findings", "margin"):
        editor(page).fill(
            "# robots.txt of shop.example\nUser-agent: *\nDisallow: admin\nDisallow: /search*\n"
            "Disalow /cart\nAllow: /cart/help\nDisallow: /cart/help\nCrawl-delay: fast\n\n"
            "User-agent: GPTBot, CCBot\nDisallow: /\n\nSitemap: /sitemap.xml\n"
        )
    if name in TABS:
        tab(page, name)
    if name in ("test", "narrow"):
        row(page, "Googlebot", "/private/press/2026").get_by_role("button").click()
    if name == "compare":
        page.get_by_role("button", name="Use the file in the editor").click()
        before = page.get_by_label("The robots.txt before")
        before.fill(before.input_value().replace("Disallow: /private/", "Disallow: /private")
                    .replace("User-agent: ClaudeBot\n", ""))  # fmt: skip
        page.get_by_text("Before", exact=True).first.click()
    if name == "dark":
        tab(page, "audit")
    page.wait_for_timeout(500)
    if name == "margin":
        page.get_by_role("button", name=re.compile("^Line 5: ")).click()
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur()")
    page.screenshot(path=PICTURES / f"tester-{name}.png")
