"""Suggestions, applied to the letter: the finding disappears, and no other verdict changes."""

from __future__ import annotations

import hashlib
import re

import pytest

import koster
from koster.analysis import Difference, letters_of
from koster.diff import compare
from koster.lint import CHECKS, Edit, Finding, Severity, lint, with_edits
from tests.helpers.lint_cases import CASES
from tests.helpers.support import EVERYTHING, bodies, of_today

#: Suggestions may allow what was blocked only for these: a search engine or a crawler that was
#: blocked together with others by mistake, style sheets and scripts, sitemaps, and rules that move to
#: another group or become a parameter.
MAY_ALLOW = {"S006", "S007", "S008", "S014", "S015", "G002", "G003", "G015", "M002", "P010"}
#: These separate groups that were joined by mistake.
SEPARATE = {"G015", "G003"}
#: These correct a directive or a line of User-agent, so that the rules of a group change.
CHANGE_GROUPS = {
    "E012",
    "B004",
    "B005",
    "B006",
    "B007",
    "L001",
    "L002",
    "L003",
    "L004",
    "L007",
    "L009",
}
CHANGE_GROUPS |= {"G001", "G005", "G006", "G008", "G010", "G012", "G013", "G014", "S006", "S007"}

#: Their suggestions can be words only: what to write depends on what the author wants.
WORDS_ONLY = {
    "E013",
    "B001",
    "B002",
    "B004",
    "B010",
    "B011",
    "D001",
    "E001",
    "E002",
    "E003",
    "E004",
}
WORDS_ONLY |= {
    "E005",
    "E006",
    "E007",
    "E008",
    "E009",
    "E010",
    "G004",
    "G005",
    "G007",
    "G008",
    "G014",
}
WORDS_ONLY |= {
    "G009",
    "G011",
    "G012",
    "L005",
    "L006",
    "L010",
    "L012",
    "M001",
    "M003",
    "P003",
    "P007",
}
WORDS_ONLY |= {
    "B012",
    "B013",
    "L013",
    "L014",
    "M006",
    "M007",
    "P012",
    "S012",
    "Z001",
    "Z002",
    "Z003",
    "Z004",
}

#: What a suggestion says that changes access.
_SAYS_EFFECT = re.compile(r"block|allow|appl(?:y|ies)")

#: What clients send: RFC 3986, appendix A.
_URL = re.compile(r"(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*")


def applied(body: bytes, finding: Finding) -> bytes:
    return with_edits(body, [finding._replace(edits=finding.edits or finding.proposal)])


def changed_lines(body: bytes, edits: tuple[Edit, ...]) -> tuple[set[int], set[int]]:
    """Return the numbers of the lines that edits change, before and after."""
    before: set[int] = set()
    after: set[int] = set()
    shift = 0
    for edit in sorted(edits, key=lambda each: each.start):
        first = _line_number(body, edit.start)
        removed = _line_ends(body[edit.start : edit.end])
        added = _line_ends(edit.replacement)
        before.update(range(first, first + removed + 1))
        after.update(range(first + shift, first + shift + added + 1))
        shift += added - removed
    return before, after


def _line_ends(text: bytes) -> int:
    return len(re.findall(rb"\r\n|\r|\n", text))


def _line_number(body: bytes, at: int) -> int:
    return _line_ends(body[:at]) + 1


def line_after(finding: Finding, body: bytes, edits: tuple[Edit, ...]) -> int:
    """Return the number of a finding's line after edits; 0 if they remove it."""
    line = finding.line
    for edit in edits:
        first = _line_number(body, edit.start)
        removed = _line_ends(body[edit.start : edit.end])
        if first <= finding.line < first + removed:
            return 0
        if first < finding.line or (first == finding.line and _is_line_start(body, edit.start)):
            line += _line_ends(edit.replacement) - removed
    return line


def _is_line_start(body: bytes, at: int) -> bool:
    return at == 0 or body[at - 1 : at] in (b"\n", b"\r")


def agents_above(body: bytes, line: int) -> set[str]:
    """Return the names of the group that a line is in, of those above it."""
    group = None
    for each in koster.parse(body).groups:
        if each.line <= line:
            group = each
    assert group is not None
    return {name.lower() for name in group.agents}


def check_suggestion(body: bytes, finding: Finding) -> None:
    edits = finding.edits or finding.proposal
    after = applied(body, finding)
    line = line_after(finding, body, edits)
    remaining = [
        each
        for each in lint(after)
        if (each.code, each.line, each.message) == (finding.code, line, finding.message)
    ]
    assert not remaining, "still found"
    old_lines, new_lines = changed_lines(body, edits)
    for dialect in (koster.RFC9309, koster.GOOGLE):
        old, new = koster.parse(body, dialect), koster.parse(after, dialect)
        for change in compare(old, new).changes:
            for each in change.differences.found:
                assert not finding.edits, "--fix changes access"
                assert _SAYS_EFFECT.search(finding.suggestion), finding.suggestion
                check_change(str(dialect), finding, each, old_lines, new_lines, after)


def check_change(
    dialect: str,
    finding: Finding,
    each: Difference,
    old_lines: set[int],
    new_lines: set[int],
    after: bytes,
) -> None:
    if not _URL.fullmatch(each.url):
        # No client sends it: Google's parser does not escape characters.
        return
    if finding.code in SEPARATE:
        # The group above gets its own rules: the others keep theirs.
        agents = {name for line in new_lines for name in agents_above(after, line)}
        names = [each.after.agent] if isinstance(each.after.agent, str) else each.after.agent
        # Google's parser cuts names.
        agents |= {letters_of(name) for name in agents}
        assert agents & {name.lower() for name in names}, (dialect, each)
        return
    rules = ((each.before.rule, old_lines), (each.after.rule, new_lines))
    edited = [rule for rule, lines in rules if rule is not None and rule.line in lines]
    changes_groups = finding.code in CHANGE_GROUPS or "User-agent" in finding.suggestion
    assert edited or changes_groups, (dialect, each)
    may_allow = finding.code in MAY_ALLOW or any(rule.allow for rule in edited)
    if each.is_opened and not (may_allow or changes_groups):
        pytest.fail(f"{dialect}: {each.url} is allowed now")


def test_suggestions_remove_their_findings_and_change_nothing_else() -> None:
    for case in CASES:
        _check_case(case)


def _check_case(case: dict[str, str]) -> None:
    body = case["raises"].replace("LONG", "a").encode(case.get("encoding", "utf-8"))
    assert all(each.suggestion for each in lint(body))
    found = [each for each in lint(body, checks=CHECKS) if each.code == case["code"]]
    edited = [each for each in found if each.edits or each.proposal]
    assert edited or case["code"] in WORDS_ONLY, found
    for each in edited[:1]:
        check_suggestion(body, each)


def _is_sampled(site: str, finding: Finding) -> bool:
    # Notes outnumber the rest, and many are alike.
    share = 5 if finding.severity is Severity.NOTE else 1
    key = f"{site} {finding.line} {finding.code}".encode()
    return int.from_bytes(hashlib.sha256(key).digest()[:4]) % share == 0


def test_suggestions_for_real_files(conformance_data: None) -> None:
    checked = set()
    for site, body in of_today(list(bodies("verdicts.tsv.gz").items())):
        by_code = {
            each.code: each
            for each in lint(body)
            if (each.edits or each.proposal) and _is_sampled(site, each)
        }
        for code, each in by_code.items():
            check_suggestion(body, each)
            checked.add(code)
    assert len(checked) > (20 if EVERYTHING else 8)
