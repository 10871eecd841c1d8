"""Says aloud what is not tested here, and why."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
import server
from hypothesis import HealthCheck, settings
from support import conformance

import koster

settings.register_profile("usual", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("long", parent=settings.get_profile("usual"), max_examples=5000)
settings.load_profile(os.environ.get("KOSTER_HYPOTHESIS", "usual"))


def pytest_report_header() -> list[str]:
    found = conformance()
    return [
        f"koster {koster.__version__}, {'compiled' if koster.COMPILED else 'pure Python'}",
        f"conformance data: {found or 'NOT FOUND, its tests are skipped'}",
    ]


@pytest.fixture(scope="session")
def conformance_data() -> None:
    if conformance() is None:
        pytest.skip("no conformance data: set KOSTER_CONFORMANCE to its folder")


@pytest.fixture
def site() -> Iterator[server.Site]:
    """A server on loopback; see `server.Site`."""
    with server.running() as running:
        yield running
