"""Steps that a lookup does not take: counted, not timed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

import koster
from koster._engine import compiler, document, matcher, memory, trie
from koster.bulk import kernel

pytestmark = pytest.mark.skipif(koster.COMPILED, reason="counted in pure Python only")


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count comparisons of a rule with a path."""
    found: Counter[str] = Counter()

    def counting(place: Any, name: str) -> None:
        function = getattr(place, name)

        def counted(*arguments: Any) -> Any:
            found[name] += 1
            return function(*arguments)

        monkeypatch.setattr(place, name, counted)

    counting(memory, "same")
    counting(matcher, "_rest_matches")
    counting(trie.Trie, "step")
    counting(compiler, "compiled")
    counting(document, "Plan")
    return found


def rules_for(*patterns: str) -> koster.Rules:
    lines = "".join(f"Disallow: {pattern}\n" for pattern in patterns)
    return koster.parse(f"User-agent: *\n{lines}").rules_for("x")


def comparisons(rules: koster.Rules, path: str, calls: Counter[str]) -> int:
    before = calls["same"]
    rules.allowed(path)
    return calls["same"] - before


def test_rules_with_another_start_are_not_compared(calls: Counter[str]) -> None:
    rules = rules_for("/", "/d", "/do-do", "/do-dos", "/cat")
    # The key of a path has the pairs of its bytes.
    paths = {"/": 1, "/d": 2, "/do": 2, "/do-do": 3, "/-do/do": 3, "/do-dos": 4, "/tac": 1}
    assert {path: comparisons(rules, path, calls) for path in paths} == paths


def test_usual_paths_are_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = rules_for("/a", "/b*c")
    sizes: list[int] = []
    monkeypatch.setattr(memory, "buffer", lambda size: sizes.append(size) or bytearray(size))  # type: ignore[func-returns-value]
    rules.allowed("https://example.com/AZ/a-z_0.9~x?page=1&all")
    assert sizes == []
    rules.allowed("/%61")
    assert len(sizes) == 1


@pytest.mark.parametrize("pattern", ["/a", "/{:03}"])
def test_rules_are_indexed_with_the_fourth_lookup(pattern: str, calls: Counter[str]) -> None:
    for count in (128, 129):
        rules = rules_for(*[pattern.format(number) for number in range(count)])
        for lookup in range(1, 6):
            before = calls["step"]
            rules.allowed("/ab")
            assert (calls["step"] > before) == (count > 128 and lookup >= 4)


def test_rules_with_another_start_are_not_tried_with_an_index(calls: Counter[str]) -> None:
    rules = rules_for("/", "/*x", *[f"/{number:03}" for number in range(300)])
    rules.allowed_many(["/"] * 4)
    before = calls["_rest_matches"]
    assert not rules.allowed("/123")
    assert calls["_rest_matches"] - before == 3


def test_rows_about_the_same_rules_share_an_index(calls: Counter[str]) -> None:
    body = "User-agent: *\n" + "Disallow: /a\n" * 129
    for rows in (3, 4):
        before = calls["step"]
        assert kernel.allowed(body, [f"/b{row}" for row in range(rows)], "x").to_pylist() == (
            [True] * rows
        )
        assert (calls["step"] > before) == (rows == 4)


def test_the_first_of_equal_rules_decides_with_an_index_too() -> None:
    rules = rules_for("/b", *["/a"] * 140)
    lines = [rules.decide("/a").rule for _ in range(6)]
    assert [rule.line for rule in lines if rule] == [3] * 6


def test_rules_of_a_lower_rank_are_not_compared(calls: Counter[str]) -> None:
    rules = rules_for("/aaa*b", "/a*b", "/aa*b", "/aaaa*b", "/aaab*b")
    rules.allowed_many(["/"] * 4)
    before = calls["_rest_matches"]
    rules.allowed("/aaaab")
    assert calls["_rest_matches"] - before == 2


def test_agents_with_the_same_groups_share_rules(calls: Counter[str]) -> None:
    robots = koster.parse("User-agent: *\nDisallow: /\nUser-agent: a\nAllow: /")
    for agent in ("x", "y", "a", "z", "A/2"):
        assert robots.rules_for(agent).allowed("/") == (agent in "A/2a")
    assert calls["compiled"] == 2


def test_the_group_of_the_last_decision_is_kept() -> None:
    robots = koster.parse("User-agent: x\nDisallow: /a\nUser-agent: x\nDisallow: /b")
    rules = robots.rules_for("x")
    groups = [rules.decide(url).group for url in ("/a", "/a", "/b", "/b", "/a")]
    assert [group.line for group in groups if group] == [1, 1, 3, 3, 1]
    assert [groups[at] is groups[at + 1] for at in range(4)] == [True, False, True, False]


def test_rows_with_the_same_groups_share_rules(calls: Counter[str]) -> None:
    body = "User-agent: *\nDisallow: /\nUser-agent: a\nAllow: /"
    agents = ["x", "a", "y", "a", "z"]
    assert kernel.allowed([body] * 5, "/", agents).to_pylist() == [each == "a" for each in agents]
    assert calls["compiled"] == 2


def test_plans_of_the_last_sixteen_dialects_are_cached(
    calls: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document, "_plans", [])
    dialects = [replace(koster.RFC9309, name=f"dialect {number}") for number in range(17)]
    for dialect in (*dialects[:16], *dialects[:16], koster.RFC9309, replace(dialects[0])):
        koster.parse("", dialect)
    assert calls["Plan"] == 16
    for dialect in (dialects[16], dialects[1], dialects[0]):
        koster.parse("", dialect)
    assert calls["Plan"] == 18
