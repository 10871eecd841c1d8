"""The cases of checks: those of ``tests/findings.toml``, with the examples of the checks."""

from __future__ import annotations

import tomllib
from typing import Any

from koster.lint import CHECK_OF
from tests.helpers.support import ROOT


def _complete(case: dict[str, Any]) -> dict[str, Any]:
    if "raises" in case:
        return case
    check = CHECK_OF[case["code"]]
    fix = "fixed" if "near" in case else "near"
    return {**case, "raises": check.example, "encoding": check.encoding, fix: check.fix}


CASES = [
    _complete(case)
    for case in tomllib.loads((ROOT / "tests/findings.toml").read_text("utf-8"))["case"]
]
