"""The facades against the verdicts of what they stand in for."""

from __future__ import annotations

import pytest
from facades import COLUMNS, Column, agreement
from support import EVERYTHING, bodies, verdicts

pytestmark = pytest.mark.usefixtures("conformance_data")


@pytest.mark.parametrize("table", ["verdicts.tsv.gz", "modern-verdicts.tsv.gz"])
@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.name)
def test_rows_agree(column: Column, table: str) -> None:
    asked, others = agreement(column, verdicts(table), bodies(table))
    assert asked > (1500 if EVERYTHING else 20)
    # Of a sample the differences may be a few more.
    assert len(others) <= asked * (1 - column.share) + (0 if EVERYTHING else 5)
