"""The files that follow from others are what ``make generate`` writes."""

from __future__ import annotations

from tests.helpers.support import ROOT
from tools import generate


def test_generated_files_are_up_to_date() -> None:
    outdated = [str(path.relative_to(ROOT)) for path in generate.outdated()]
    assert not outdated, "make generate writes them"
