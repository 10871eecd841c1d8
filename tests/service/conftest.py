"""Fixtures for the service tests."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from tests.helpers import serving


@pytest.fixture(scope="module")
def api() -> Iterator[httpx2.Client]:
    with serving.in_thread() as url, httpx2.Client(base_url=url, timeout=30) as client:
        yield client
