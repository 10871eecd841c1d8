"""A parser with one error is caught by the cases that name the rule; one without passes all."""

from __future__ import annotations

import sys

import pytest

from koster import conformance
from koster.conformance import CaseVerdict, DecisionCase
from tests.helpers import doubles

#: The reference is slow, so that large files exceed their budgets.
CASES = [
    case
    for case in conformance.load().cases
    if isinstance(case, DecisionCase) and case.dialect == "rfc9309" and "size" not in case.tags
]


def test_the_reference_passes_all_cases() -> None:
    report = conformance.run(CASES, [sys.executable, doubles.__file__, ""])
    assert report.failures == ()
    assert report.count(CaseVerdict.PASSED) == len(CASES) > 450


@pytest.mark.parametrize("name", doubles.DOUBLES)
def test_an_error_is_caught_by_the_cases_that_name_the_rule(name: str) -> None:
    _, tag = doubles.DOUBLES[name]
    named = [case for case in CASES if tag in case.tags]
    report = conformance.run(named, [sys.executable, doubles.__file__, name])
    caught = [each.case for each in report.failures]
    assert {case.level for case in caught} & {"must", "widespread"}
    assert len(caught) >= 2
