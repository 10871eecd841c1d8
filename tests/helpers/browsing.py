"""A browser for tests, and the check of a page for accessibility."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.helpers.support import ROOT

# The browser may be slow while the load tests run.
expect.set_options(timeout=20_000)

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

REBOUND = "rebound.test"

#: Run as root, without background requests.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # The name of a website that now resolves to the visitor's computer.
    f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1",
]


#: Installed by make, with npm.
AXE = ROOT / ".venv/node/node_modules/axe-core/axe.min.js"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium: install it (.ci/run does)")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


def check_axe(page: Page, place: str) -> None:
    options = {"resultTypes": ["violations"]}
    result = page.evaluate("options => axe.run(document, options)", options)
    violations = [
        (each["id"], each["help"], [node["html"][:200] for node in each["nodes"]])
        for each in result["violations"]
    ]
    assert violations == [], place
