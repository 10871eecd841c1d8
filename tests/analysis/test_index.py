"""The index of patterns finds the same as a look at all of them."""

from __future__ import annotations

import random

import pytest

import koster
from koster.analysis import Budget, WholeFile, difference
from koster.analysis._ranking import Ranking

KEYS = ("/", "/a", "/a/", "/a/b", "/ab", "/b", "/c", "/c/d")


@pytest.mark.parametrize("rules_per_key", [1, 40])
def test_patterns_that_may_match_the_same(rules_per_key: int) -> None:
    rng = random.Random(rules_per_key)
    patterns = [f"{key}*{rng.randrange(1_000)}x" for key in KEYS for _ in range(rules_per_key)]
    rng.shuffle(patterns)
    body = "User-agent: *\n" + "".join(f"Disallow: {pattern}\n" for pattern in patterns)
    ranking = Ranking(koster.parse(body).rules_for("x"))
    budget = Budget()
    for key in (b"", b"/abc", b"/d", *(key.encode() for key in KEYS)):
        prefixing = [each for each in ranking.firsts if key.startswith(each.literal)]
        everything = b"".join([each.text for each in ranking.firsts])
        assert {*ranking.index.candidates(key, everything, budget)} >= {*prefixing}
        text = key + ranking.firsts[0].rest
        found = ranking.index.candidates(key, text, budget)
        assert found == sorted(found, key=lambda each: each.order)
        assert {*found} >= {each for each in prefixing if each.needle in text}
        assert {*ranking.index.touching(key, budget)} == {
            each
            for each in ranking.firsts
            if each.literal.startswith(key) or key.startswith(each.literal)
        }


def test_patterns_of_a_rule_with_two() -> None:
    """Google's parser also reads a rule about an index page as one about its folder."""
    body = "User-agent: *\nAllow: /a/index.html\nDisallow: /\n"
    ranking = Ranking(koster.parse(body, koster.GOOGLE).rules_for("x"))
    assert sorted(map(len, ranking.by_row.values())) == [1, 2]


def test_patterns_that_are_gone_do_not_count() -> None:
    body = "User-agent: *\n" + "Disallow: /a*b\n" * 4 + "Disallow: /a*bc\n"
    ranking = Ranking(koster.parse(body).rules_for("x"))
    longer, *alike = (each for each in ranking.patterns if each.rest)
    for count in range(5):
        gone = {longer.order, *(each.order for each in alike[:count])}
        left = [*alike, ranking.no_rule][count]
        assert ranking.deciding_without(gone, b"/aXb", Budget()) is left
        assert ranking.coverer(longer, Budget(), gone) is left


def test_rules_on_other_lines_are_analyzed_like_the_first() -> None:
    group = "Disallow: /x\nDisallow: /x/y\nDisallow: /x\nAllow: /z\n"
    file = WholeFile(koster.parse(f"User-agent: a\n{group}\nUser-agent: b\n{group}"))
    idle = [(each.rule.line, each.instead and each.instead.line) for each in file.surely_idle]
    assert idle == [(3, 2), (5, None), (9, 8), (11, None)]
    dead = [
        (each.rule.line, each.twin and each.twin.line, [rule.line for rule in each.covered_by])
        for each, _ in file.surely_dead
    ]
    assert dead == [(4, 2, [2]), (10, 8, [8])]
    alone = WholeFile(koster.parse(f"User-agent: a\n{group}"))
    assert [each.rule.line for each in alone.surely_idle] == [3, 5]


def test_differences_with_escaped_line_ends() -> None:
    body = "User-agent: *\nDisallow: /a%0Ab\nAllow: /a%0A*c\nDisallow: /d%4\nAllow: /d%41"
    one = koster.parse(body).rules_for("x")
    other = koster.parse(body, koster.MK1996).rules_for("x")
    for each in difference(one, other).found:
        assert one.allowed(each.url) != other.allowed(each.url)
