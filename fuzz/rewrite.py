"""Lint, fix, format and minify never raise; what is proved holds for every question; fixing and
formatting a second time changes nothing.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

import koster
from koster import analysis, diff, formatting
from koster._asking import rules_for_data
from koster.analysis import Extent
from koster.bulk import kernel
from koster.crawlers import agent_for
from koster.formatting import NotTheSame
from koster.lint import CHECK_OF, Finding, Severity, fixed, lint, most_important, with_edits

from . import _inputs, _tally
from ._findings import KindError
from ._inputs import Agent, Case

_BOTH = (koster.RFC9309, koster.GOOGLE)
_NAMED = tuple(koster.DIALECTS.values())

_TOKEN = re.compile(r"[^\s()/]+(?:/\S*)?")

#: Longer files cost a second of analysis, for which thousands of others can be checked.
_MAX_BYTES = 500


describe, simplify = _inputs.decode, _inputs.as_raw


def check(data: bytes) -> None:
    """Check one input."""
    case = _inputs.decode(data)
    if len(case.body) > _MAX_BYTES:
        return
    findings = _check_findings(case)
    match case.choice & 3:
        case 0:
            _check_fix(case, findings)
        case 1:
            _check_format(case)
        case 2:
            _check_minify(case)
        case 3:
            _check_extents(case)


def _check_findings(case: Case) -> list[Finding]:
    dialect = _NAMED[case.choice // 4 % len(_NAMED)] if case.choice & 3 == 3 else koster.RFC9309
    findings = lint(case.body, dialect)
    lines = max(len(koster.parse(case.body).lines), 1)
    for each in findings:
        assert each.code in CHECK_OF
        assert 1 <= each.line <= lines, each
        assert 1 <= each.column <= each.end_column, each
        for edit in (*each.edits, *each.proposal):
            assert 0 <= edit.start <= edit.end <= len(case.body), each
    assert bool(findings) == (most_important(findings) is not None)
    return findings


def _check_fix(case: Case, findings: list[Finding]) -> None:
    """Check that fixing again changes nothing, and that notes change no access if that is proved."""
    after = fixed(case.body)
    remaining = [each for each in lint(after) if each.edits]
    if remaining:
        codes = ", ".join(sorted({each.code for each in remaining}))
        raise KindError(f"fixed again: {codes}", after, with_edits(after, remaining))
    notes = [each for each in findings if each.severity is Severity.NOTE]
    for changed in (after, with_edits(case.body, findings), with_edits(case.body, notes)):
        _check_if_proved(case, changed)


def _check_format(case: Case) -> None:
    try:
        after = formatting.formatted(case.body)
    except NotTheSame:
        return
    _check_alike(case, after, *_BOTH)
    again = formatting.formatted(after)
    if again != after:
        raise KindError("formatted again", after, again)


def _check_minify(case: Case) -> None:
    try:
        after = formatting.minified(case.body)
    except NotTheSame:
        return
    _check_alike(case, after, *_BOTH)
    again = formatting.minified(after)
    if again != after:
        raise KindError("minified again", after, again)


def _check_if_proved(case: Case, after: bytes) -> None:
    """Check a change of a file against its comparison."""
    for dialect in _BOTH:
        old, new = (koster.parse(body, dialect) for body in (case.body, after))
        comparison = diff.compare(old, new)
        if comparison.is_empty:
            _check_alike(case, after, dialect)
        elif comparison.decides_alike:
            _check_decisions(case, old, new)
        for change in comparison.changes:
            _check_change(change, old, new)


def _check_change(change: diff.Change, old: koster.RobotsTxt, new: koster.RobotsTxt) -> None:
    """Check that URLs whose access changes are that."""
    for each in change.differences.found:
        agent = each.after.agent
        verdicts = [rules_for_data(robots, agent).allowed(each.url) for robots in (old, new)]
        assert verdicts == [not each.is_opened, each.is_opened], each


def _check_alike(case: Case, after: bytes, *dialects: Any) -> None:
    """Check that two files are equivalent: decisions and settings."""
    for dialect in dialects:
        old, new = (koster.parse(body, dialect) for body in (case.body, after))
        _check_decisions(case, old, new)
        for agent in case.agents:
            rules = [rules_for_data(robots, _first(agent)) for robots in (old, new)]
            assert len({repr(each.crawl_delay) for each in rules}) == 1, (after, agent)
            assert len({repr(sorted(map(str, each.visit_times))) for each in rules}) == 1, (
                after,
                agent,
            )


def _check_decisions(case: Case, old: koster.RobotsTxt, new: koster.RobotsTxt) -> None:
    for agent in case.agents:
        if not _TOKEN.fullmatch(_first(agent)):
            # Proofs are about product tokens: docs/concepts/proofs.md, "Whole User-Agent headers".
            continue
        for each in dict.fromkeys((agent, agent_for(_first(agent)))):
            before, after = (
                rules_for_data(robots, each).allowed_many(case.urls) for robots in (old, new)
            )
            assert before == after, (new.dialect, new.body, each, before, after)
            _tally.add(len(case.urls))


def _first(agent: Agent) -> str:
    return agent if isinstance(agent, str) else "".join(agent[:1])


def _check_extents(case: Case) -> None:
    """Check how much of a site is disallowed, and which rules have no effect."""
    dialect = _NAMED[case.choice // 4 % len(_NAMED)]
    robots = koster.parse(case.body, dialect)
    names = [_first(agent) for agent in case.agents]
    column = pa.array([case.body], pa.binary())
    cells = kernel.classify(column, names, dialect).to_pylist()[0]
    for name, cell in zip(names, cells, strict=True):
        rules = rules_for_data(robots, agent_for(name))
        found = analysis.classify(rules)
        assert cell["effective"] in (None, found.extent.value) or not found.is_proved, (name, cell)
        _check_extent(case, rules, found)
        dead = {each.rule.line for each in analysis.dead_rules(rules).rules}
        for url in case.urls:
            rule = rules.decide(url).rule
            assert rule is None or rule.line not in dead, (dialect, name, url, rule)
        _tally.add(len(case.urls))


def _check_extent(case: Case, rules: koster.Rules, found: analysis.Classification) -> None:
    assert found.allowed is None or rules.allowed(found.allowed), found
    assert found.disallowed is None or not rules.allowed(found.disallowed), found
    if found.is_proved and found.extent is not Extent.SOME:
        expected = found.extent is Extent.NONE
        for url in case.urls:
            decision = rules.decide(url)
            # Paths that begin with /robots.txt, however it is written, are left out.
            is_exempt = "robots.txt" in unquote(url)
            assert is_exempt or decision.allowed is expected, (url, found)
