"""A browser, the service that it asks, and what must hold of every page."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import serving
from playwright.sync_api import Browser, Page, expect, sync_playwright

# Beside the tests of the load a browser may be slow.
expect.set_options(timeout=20_000)

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

#: It starts as root, and calls nobody by itself.
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium: install it (.ci/run does)")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def service() -> Iterator[str]:
    with serving.as_command("--rate", 0, "--let-through", "127.0.0.1/32") as command:
        yield command.url


OpenPage = Callable[..., Page]


@pytest.fixture
def opened(browser: Browser, service: str) -> Iterator[OpenPage]:
    """Open the tester; at the end see that nothing went wrong, and nobody else was asked."""
    contexts = []
    troubles: list[str] = []

    def listen(page: Page) -> None:
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on("console", note)
        page.on("request", ask)

    def note(message: Any) -> None:
        # What the service answers with 4xx is no fault of the page.
        expected = "status of 4" in message.text or "DISCONNECTED" in message.text
        if message.type in ("error", "warning") and not expected:
            troubles.append(f"console: {message.text}")

    def ask(request: Any) -> None:
        if not request.url.startswith((service, "data:", "blob:")):
            troubles.append(f"asked: {request.url}")

    def opened(fragment: str = "", width: int = 1400, height: int = 900, **options: Any) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        listen(page)
        page.goto(f"{service}/{fragment}")
        page.wait_for_selector("body[data-ready]")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []
