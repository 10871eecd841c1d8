"""Fixtures for the live tests: a browser, the service, and checks on every page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.helpers import serving
from tests.helpers.browsing import browser

__all__ = ["browser"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run tests with a browser last: its event loop stays, and others need one of their own."""
    items.sort(key=lambda item: "browser" in getattr(item, "fixturenames", ()))


@pytest.fixture(scope="session")
def service() -> Iterator[str]:
    with serving.as_command("--rate", 0, "--let-through", "127.0.0.1/32") as command:
        yield command.url


OpenPage = Callable[..., Page]


@pytest.fixture
def open_page(browser: Browser, service: str) -> Iterator[OpenPage]:
    """Open the tester; afterwards, check for errors and for requests to other hosts."""
    contexts = []
    problems: list[str] = []

    def add_listeners(page: Page) -> None:
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.on("console", check_console)
        page.on("request", check_request)

    def check_console(message: Any) -> None:
        # 4xx responses of the service are not errors of the page, and after 503 it tries again.
        usual = ("status of 4", "status of 503", "DISCONNECTED")
        expected = any(each in message.text for each in usual)
        if message.type in ("error", "warning") and not expected:
            problems.append(f"console: {message.text}")

    def check_request(request: Any) -> None:
        if not request.url.startswith((service, "data:", "blob:")):
            problems.append(f"request: {request.url}")

    def open_page(fragment: str = "", width: int = 1400, height: int = 900, **options: Any) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        add_listeners(page)
        page.goto(f"{service}/{fragment}")
        page.wait_for_selector("body[data-ready]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []
