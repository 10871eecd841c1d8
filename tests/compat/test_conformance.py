"""The verdicts of the facades against those of the originals."""

from __future__ import annotations

import pytest

from tests.helpers.facades import COLUMNS, Column, agreement
from tests.helpers.support import EVERYTHING, bodies, verdicts

pytestmark = pytest.mark.usefixtures("conformance_data")


@pytest.mark.parametrize("table", ["verdicts.tsv.gz", "modern-verdicts.tsv.gz"])
@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.name)
def test_rows_agree(column: Column, table: str) -> None:
    count, differences = agreement(column, verdicts(table), bodies(table))
    assert count > (1500 if EVERYTHING else 20)
    # A sample may have a few more differences.
    assert len(differences) <= count * (1 - column.share) + (0 if EVERYTHING else 5)
