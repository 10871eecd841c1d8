"""Fixtures for the tests of koster.bulk."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from tests.helpers import archives
from tests.helpers.columns import AGENTS, BODIES


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A Parquet file in several row groups."""
    count = 1_000
    rows = pa.table({
        "id": pa.array(range(count)),
        "body": pa.array([BODIES[n % len(BODIES)] for n in range(count)], pa.string()),
        "url": [f"/private/{n % 7}" for n in range(count)],
        "agent": [AGENTS[n % 3] for n in range(count)],
    })  # fmt: skip
    path = tmp_path / "robots.parquet"
    pq.write_table(rows, path, row_group_size=300)
    return path


@pytest.fixture(scope="session")
def four_archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("in")
    for number in range(4):
        archives.write(folder / f"part-{number}.warc.gz", archives.sites(300, 300 * number))
    return folder


@pytest.fixture
def inputs(tmp_path: Path, four_archives: Path) -> Path:
    return Path(shutil.copytree(four_archives, tmp_path / "in"))
