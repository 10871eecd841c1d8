"""What site owners get wrong: each finding, its line, its place in the output, and what it suggests."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

import koster
from koster.diff import compare
from koster.lint import by_importance, fixed, lint, with_edits
from tests.helpers.support import ROOT, bodies, sampled

CASES = tomllib.loads((ROOT / "tests/cases/owners.toml").read_text("utf-8"))["case"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['kind']}: {case['file'][:40]!r}")
def test_findings_are_in_order(case: dict[str, Any]) -> None:
    found = by_importance(lint(case["file"].encode()))
    assert all(each.suggestion for each in found)
    assert [[each.line, each.code, each.message, each.suggestion] for each in found] == case[
        "finds"
    ]


def test_no_proposal_for_joined_groups_blocks_more() -> None:
    for case in CASES:
        body = case["file"].encode()
        for each in lint(body) if case["kind"] == "joined" else ():
            if each.code in ("G003", "G015"):
                after = with_edits(body, [each._replace(edits=each.proposal)])
                changes = compare(koster.parse(body), koster.parse(after)).changes
                found = [one for change in changes for one in change.differences.found]
                assert all(one.is_opened for one in found), (body, each)
                assert found or each.code == "G003"


def test_fixes_change_no_access(conformance_data: None) -> None:
    files = [case["file"].encode() for case in CASES]
    files += sampled(list(bodies("verdicts.tsv.gz").values()), 60)
    for body in files:
        after = fixed(body)
        for dialect in (koster.RFC9309, koster.GOOGLE):
            comparison = compare(koster.parse(body, dialect), koster.parse(after, dialect))
            assert not any(change.differences.found for change in comparison.changes), body
