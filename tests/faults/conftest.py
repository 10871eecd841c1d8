"""Fixtures for the tests of faults."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers import disks


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[disks.Disk]:
    """A disk of one megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    try:
        with disks.mounted(folder) as disk:
            yield disk
    except disks.NoDiskError as error:
        pytest.skip(str(error))
