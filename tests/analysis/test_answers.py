"""The answers of the analysis are the recorded ones."""

from __future__ import annotations

import json

import pytest

from tests.helpers.analysis_answers import PATH, answers
from tests.helpers.support import sampled

CASES = sampled(json.loads(PATH.read_text("utf-8")), 12)


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_analysis_answers_as_recorded(case: dict[str, object]) -> None:
    asked = [case.pop(name) for name in ("dialect", "body", "other")]
    assert answers(*map(str, asked)) == case
