"""The library's verdicts on the cases in tests/cases."""

from __future__ import annotations

import pytest

import koster
from tests.helpers.support import Case, all_cases, sampled
from tests.helpers.variants import variants

CASES = all_cases()

of_each_dialect = pytest.mark.parametrize("dialect", koster.DIALECTS.values(), ids=str)


@of_each_dialect
def test_verdicts(dialect: koster.Dialect) -> None:
    for case in sampled(CASES, 1 if koster.COMPILED else 6):
        if case.dialect is dialect:
            _check_verdicts(case)


def _check_verdicts(case: Case) -> None:
    for variant, body in variants(case):
        robots = koster.parse(body, case.dialect)
        rules = robots.rules_for(case.agent)
        for url, allowed in case.expected.items():
            context = (str(case), variant, url)
            assert (robots.allowed(url, case.agent), context) == (allowed, context)
            assert (robots.decide(url, case.agent).allowed, context) == (allowed, context)
            assert (rules.allowed(url), context) == (allowed, context)
        assert rules.allowed_many(case.expected) == list(case.expected.values()), str(case)


@of_each_dialect
def test_lines(dialect: koster.Dialect) -> None:
    for case in CASES:
        if case.dialect is dialect and case.lines:
            _check_lines(case)


def _check_lines(case: Case) -> None:
    for _, body in variants(case):
        robots = koster.parse(body, case.dialect)
        for url, line in case.lines.items():
            decision = robots.decide(url, case.agent)
            assert decision.reason is koster.Reason.RULE, str(case)
            assert decision.rule is not None
            assert (decision.rule.line, url, str(case)) == (line, url, str(case))
            assert decision.group is not None
            assert decision.rule in decision.group.rules


def test_reasons() -> None:
    for case in CASES:
        if case.reason:
            robots = koster.parse(case.body, case.dialect)
            for url in case.expected:
                if url not in case.lines:
                    reason = robots.decide(url, case.agent).reason.value
                    assert (reason, url, str(case)) == (case.reason, url, str(case))


def test_str_and_bytes_give_the_same_verdicts() -> None:
    for case in sampled(CASES, 3 if koster.COMPILED else 18):
        try:
            text = case.body.decode()
        except UnicodeDecodeError:
            continue
        robots = koster.parse(text, case.dialect)
        assert robots.body == case.body
        for url, allowed in case.expected.items():
            assert robots.allowed(url, case.agent) == allowed


def test_case_names_are_unique() -> None:
    names = [str(case) for case in CASES]
    assert sorted(names) == sorted(set(names))


def test_every_dialect_has_cases() -> None:
    assert {case.dialect.name for case in CASES} == set(koster.DIALECTS)
