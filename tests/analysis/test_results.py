"""Results of the analysis for small files, and what is left when a budget is spent."""

from __future__ import annotations

import string

import pytest

import koster
from koster.analysis import (
    Budget,
    Cause,
    Classification,
    Differences,
    Extent,
    WholeFile,
    classify,
    dead_rules,
    difference,
    idle_rules,
    redundant_rules,
)
from koster.analysis._differences import _Pairs

HEAD = "User-agent: *\n"
SHELL = HEAD + "Robot-version: 2.0\n"


def rules_of(body: str | bytes, dialect: koster.Dialect = koster.RFC9309) -> koster.Rules:
    return koster.parse(body, dialect).rules_for("x")


#: A dead rule's line, its cause, and the lines that override it.
Dead = tuple[int, Cause, list[int]]


def dead(rules: koster.Rules, budget: Budget | None = None) -> tuple[list[Dead], bool]:
    found = dead_rules(rules, budget)
    return [
        (each.rule.line, each.cause, [rule.line for rule in each.covered_by])
        for each in found.rules
    ], found.is_proved


def test_several_rules_together_override_one() -> None:
    """The first match decides; of the rules above, only those that are needed are named."""
    body = SHELL + (
        "Allow: /a*\nAllow: /b?\nDisallow: /[!a]*\n"
        "Allow: /c\n"
        "Allow: /[!z]*\n"
        "Allow: /x?y\n"
    )  # fmt: skip
    rules = rules_of(body, koster.EXTENDED2)
    assert dead(rules) == (
        [(6, Cause.COVERED, [5]), (7, Cause.COVERED, [3, 5]), (8, Cause.COVERED, [5])],
        True,
    )


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("Disallow: /*?\nAllow: *\nDisallow: /??*\n", [(5, Cause.COVERED, [4])]),
        ("Allow: *[ab]*\nDisallow: *a\nDisallow: /c*a*\n", [(4, Cause.COVERED, [3]), (5, Cause.COVERED, [3])]),
        ("Allow: /*a?\nDisallow: /*[ab]?\nDisallow: /*b\n", []),
    ],
)  # fmt: skip
def test_shell_patterns_override(file: str, expected: list[Dead]) -> None:
    assert dead(rules_of(SHELL + file, koster.EXTENDED2)) == (expected, True)


def test_without_a_budget_all_rules_that_may_override_are_named() -> None:
    body = SHELL + "Allow: /a*\nAllow: /b?\nDisallow: /[!a]*\nAllow: /[!z]*\nAllow: /x?y\n"
    rules = rules_of(body, koster.EXTENDED2)
    found, is_proved = dead(rules, Budget(states=0))
    assert (found, is_proved) == ([(7, Cause.COVERED, [5, 6])], False)
    assert dead(rules)[0][-1] == (7, Cause.COVERED, [5])


def test_rule_that_ends_within_a_character_is_not_proved_to_be_dead() -> None:
    """URLs are text, and this one continues with any character that starts with the same byte."""
    assert dead(rules_of(b"User-agent: *\nDisallow: /caf\xc3\n", koster.MK1994)) == ([], False)
    assert dead(rules_of(b"User-agent: *\nDisallow: /caf\xff\n", koster.MK1994)) == (
        [(2, Cause.NO_PATH, [])], True,
    )  # fmt: skip


def test_paths_of_characters_that_no_rule_has() -> None:
    """Rules for each character that the canonical form does not escape leave escapes."""
    lines = "".join(f"Disallow: /*{each}\n" for each in f"{string.ascii_letters}0123456789-._~?&=/")
    rules = rules_of(f"{HEAD}Disallow: /$\n{lines}")
    found = classify(rules)
    assert (found.extent, found.disallowed, found.is_proved) == (Extent.SOME, "/", True)
    assert found.allowed is not None
    assert found.allowed.startswith("/%")
    assert rules.allowed(found.allowed)


def test_differences_of_shell_patterns() -> None:
    before = rules_of(f"{SHELL}Disallow: /[ab]*c\n", koster.EXTENDED2)
    after = rules_of(f"{SHELL}Disallow: /a*[cd]\nAllow: /b*\n", koster.EXTENDED2)
    found = difference(before, after)
    assert [(each.url, each.is_opened) for each in found.found] == [("/ad", False), ("/bc", True)]
    assert found.is_proved


def idle_lines(body: str, *beside: koster.Dialect) -> list[int]:
    return [each.rule.line for each in WholeFile(koster.parse(body), beside).surely_idle]


def test_rule_that_another_dialect_needs_is_not_redundant() -> None:
    """RFC 9309 reads ``:`` and ``%3A`` alike, Google does not."""
    body = (
        f"{HEAD}Disallow: /x:\nDisallow: /x%3Ab\nDisallow: /x%3Ac\nDisallow: /y%\nDisallow: /y%a\n"
    )
    assert idle_lines(body) == [3, 4, 6]
    assert idle_lines(body, koster.GOOGLE) == [6]


def test_undecided_in_another_dialect_is_not_surely_dead() -> None:
    robots = koster.parse(f"{HEAD}Disallow: /é\nDisallow: /é\nDisallow: /ü\nDisallow: /ü\n")
    for compared, proved, surely in ((100, [3, 5], [3, 5]), (5, [3], [])):
        whole = WholeFile(robots, (koster.GOOGLE,), Budget(compared=compared))
        ((_, _, found),) = whole.dead
        assert [each.rule.line for each in found.rules] == proved
        assert found.is_proved is (proved == surely)
        assert [each.rule.line for each, _ in whole.surely_dead] == surely


def test_redundant_shell_pattern() -> None:
    """The first rule decides all longer paths; ``/`` is allowed without a rule, too."""
    body = f"{SHELL}Disallow: /*?\nAllow: *\nDisallow: /??*\n"
    (idle,) = idle_rules(rules_of(body, koster.EXTENDED2))
    assert (idle.rule.line, idle.url, idle.instead) == (4, "/", None)


NARROW = "Disallow: /a\nDisallow: /a/b\n"
#: So many rules for all paths that even checking likely URLs counts as comparisons.
MANY = "".join(f"Disallow: /*{number}\n" for number in range(70))


@pytest.mark.parametrize("file", [NARROW, MANY])
def test_redundant_rules_need_a_budget(file: str) -> None:
    rules = rules_of(HEAD + file)
    first = 3 if file is NARROW else 12
    assert idle_rules(rules)[0].rule.line == redundant_rules(rules)[0].line == first
    assert idle_rules(rules, Budget(compared=0)) == ()
    assert redundant_rules(rules, budget=Budget(compared=0)) == ()


def test_nothing_is_proved_without_a_budget() -> None:
    before, after = rules_of(f"{HEAD}Disallow: /a\n"), rules_of(f"{HEAD}Disallow: /b\n")
    assert difference(before, after, Budget(compared=0)) == Differences((), is_proved=False)
    hidden = rules_of(f"{HEAD}Disallow: /*a*b\nAllow: /*a*b\n")
    assert dead(hidden, Budget(total=0, compared=1000)) == ([(2, Cause.COVERED, [3])], True)
    stars = rules_of(f"{HEAD}Disallow: /*a*b\nAllow: /*ab*****\nAllow: /*axyb****\n")
    assert dead(stars, Budget(total=0)) == ([], False)
    assert classify(stars, Budget(total=0)) == Classification(Extent.NONE, "/", None, None, False)
    assert classify(stars).extent is Extent.SOME


def test_number_of_samples_is_limited() -> None:
    """Without a budget for searches, 200 pairs of rules are tried with likely URLs."""
    before = rules_of(HEAD + "".join(f"Allow: /*a{number}z*b\n" for number in range(10, 30)))
    after = rules_of(HEAD + "".join(f"Disallow: /*c{number}z*d\n" for number in range(10, 30)))
    found = difference(before, after, Budget(states=1, total=1))
    assert len(found.found) == 200
    assert not found.is_proved
    for each in found.found:
        assert before.allowed(each.url) is not after.allowed(each.url)


def test_url_that_the_engine_decides_alike_is_no_difference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The search could be wrong; what the engine says counts."""
    monkeypatch.setattr(_Pairs, "witness", lambda *_: "/same")
    before, after = rules_of(f"{HEAD}Disallow: /a\n"), rules_of(f"{HEAD}Disallow: /b\n")
    assert difference(before, after) == Differences((), is_proved=False)
