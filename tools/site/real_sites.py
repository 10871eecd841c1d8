"""What lint finds in real files: counted in the answers that the ledger keeps, so that no page is out of date."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from koster.lint import CHECK_OF, CHECKS, Severity
from tools.ledger import lint, store

from .lint import escape
from .markdown import table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from koster.lint import Check

_LEDGER = Path(__file__).parents[2] / "tests" / "decisions"
_FINDING = re.compile(r"line [\d:-]+ \w+ (?P<code>[A-Z]\d{3}) ")


class _Counts(NamedTuple):
    """How many files there are; how many have findings, by code; and how many findings."""

    sites: int
    files: Counter[str]
    findings: Counter[str]
    serious: int
    noted: int


@cache
def _counts() -> _Counts:
    codes = [
        [
            found["code"]
            for found in map(_FINDING.match, recorded.entry.answers)
            if found and found["code"] in CHECK_OF
        ]
        for place, recorded in store.read(_LEDGER, lint.PART).items()
        if place.file.startswith("site/") and place.dialect == "RFC9309"
    ]
    are_notes = [[CHECK_OF[code].severity is Severity.NOTE for code in some] for some in codes]
    return _Counts(
        len(codes),
        Counter(code for some in codes for code in set(some)),
        Counter(code for some in codes for code in some),
        sum(not all(some) for some in are_notes),
        sum(map(any, are_notes)),
    )


def findings() -> str:
    """Return how many files have findings, and how many of each code, by severity."""
    counts = _counts()
    parts = [
        f"`koster lint` finds an error or a warning in {counts.serious} of {counts.sites:,} files, and a note in {counts.noted}."
    ]
    for severity in Severity:
        checks = [
            check for check in CHECKS if check.severity is severity and counts.files[check.code]
        ]
        parts += [f"## {severity.title()}s", _table(checks, counts)]
    missing = [_link(check) for check in CHECKS if not counts.files[check.code]]
    parts += [
        "## Not found",
        f"No file has a finding with one of these codes: {', '.join(missing)}.",
    ]
    return "\n\n".join(parts)


def _table(checks: Iterable[Check], counts: _Counts) -> str:
    rows = [
        (
            _link(check),
            escape(check.title),
            f"{counts.files[check.code]} ({counts.files[check.code] / counts.sites:.1%})".replace(
                "%", " %"
            ),
            f"{counts.findings[check.code]:,}",
        )
        for check in sorted(checks, key=lambda check: -counts.files[check.code])
    ]
    return table(("Code", "What it finds", "Files", "Findings"), rows)


def _link(check: Check) -> str:
    return f"[{check.code}](../reference/lint/{check.code}.md)"
