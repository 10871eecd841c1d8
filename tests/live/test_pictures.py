"""Takes the screenshots of pages for the docs."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser

from koster._cli.root import koster
from tests.helpers.server import Site
from tests.helpers.support import ROOT
from tests.helpers.tester import TABS, OpenPage, editor, row, tab

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
    if name == "signals":
        editor(page).fill(
            "User-agent: *\nContent-Signal: search=yes, ai-train=no\nDisallow: /cart/\n\n"
            "User-agent: GPTBot\nUser-agent: ClaudeBot\nDisallow: /\n"
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


@pytest.mark.skipif(PICTURES is None, reason="run make pictures to take the pictures")
def test_picture_of_the_report_on_logs(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert PICTURES is not None
    target = PICTURES.resolve() / "logs-report.png"
    monkeypatch.chdir(ROOT / "examples")
    report = tmp_path / "report.html"
    arguments = ["logs", "access.log", "--robots", "versions/", "--ranges", "ranges/", "-o"]
    assert CliRunner().invoke(koster, [*arguments, str(report)]).exit_code == 1
    with browser.new_page(viewport={"width": 1120, "height": 1120}) as page:
        page.goto(report.as_uri())
        page.screenshot(path=target)
