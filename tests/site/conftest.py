"""Fixtures for the tests of the site."""

from __future__ import annotations

import pytest

from tests.helpers.browsing import browser
from tools.site import staging
from tools.site.staging import Page

__all__ = ["browser"]


@pytest.fixture(scope="session")
def pages() -> dict[str, Page]:
    """All pages of the site, as Markdown."""
    return {page.path: page for page in staging.pages()}
