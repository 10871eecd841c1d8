"""Fixtures for the fetch tests."""

from __future__ import annotations

import pytest

from tests.helpers.fetching import KINDS


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name
