"""Rule sets without special characters: compared without a search, with the same results."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import pytest

import koster
from koster.analysis import Budget, Differences, difference, disagreements
from koster.analysis._differences import plain_texts
from tests.helpers.support import EVERYTHING

HEAD = "User-agent: *\n"
DIALECTS = [*koster.DIALECTS.values()]


def rules_of(text: str, dialect: koster.Dialect = koster.RFC9309) -> koster.Rules:
    return koster.parse(HEAD + text, dialect).rules_for("x")


def plain_file(rng: random.Random) -> str:
    """Return rules that overlap often."""
    rules = []
    for _ in range(rng.randrange(9)):
        path = "/" + "".join(rng.choice("ab/") for _ in range(rng.randrange(6)))
        key = rng.choice(["Allow", "Disallow", "Disallow"])
        rules.append(f"{key}: {path if rng.random() < 0.9 else ''}")
    return "\n".join(rules)


@pytest.fixture
def only_search(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Stops the comparison without a search, as long as it is not undone."""
    monkeypatch.setattr("koster.analysis._differences.plain_texts", lambda *_: None)
    return monkeypatch


def test_differences_are_those_of_the_search(only_search: pytest.MonkeyPatch) -> None:
    rng = random.Random(4)
    files = [plain_file(rng) for _ in range(200 if EVERYTHING else 70)]

    def results() -> list[Differences]:
        found = [
            difference(rules_of(old, dialect), rules_of(new, dialect))
            for number, (old, new) in enumerate(pairwise(files))
            for dialect in (DIALECTS[number % len(DIALECTS)], koster.RFC9309)
        ]
        for number, file in enumerate(files):
            robots = koster.parse(HEAD + file, DIALECTS[number % len(DIALECTS)])
            found += [each.differences for each in disagreements(robots, DIALECTS, ["x"])]
        return found

    searched = results()
    only_search.undo()
    assert results() == searched
    assert sum(len(each.found) for each in searched) > len(files)


@pytest.mark.parametrize(
    "rule",
    ["/a*b", "/a*", "/a$", "/a?b", "/a%20b", "/é", "a", "/robots.txt", "/robots.txtx"],
)
def test_these_need_a_search(rule: str) -> None:
    for dialect in DIALECTS:
        texts = plain_texts(rules_of(f"Disallow: /b\nDisallow: {rule}\n", dialect))
        # A final star changes nothing in dialects with wildcards.
        assert texts is None or (rule == "/a*" and texts == {b"/a", b"/b"})


def test_shell_patterns_match_whole_paths() -> None:
    assert plain_texts(rules_of("Robot-version: 2.0\nDisallow: /a", koster.EXTENDED2)) is None


def test_path_that_looks_like_a_host() -> None:
    (found,) = difference(rules_of("Disallow: //a"), rules_of("Disallow: /b//")).found[:1]
    assert found.url == "/b//"
    urls = [each.url for each in difference(rules_of("Disallow: //a"), rules_of("")).found]
    assert urls == ["https://example.com//a"]


def test_one_url_for_each_pair_of_rules_with_several_patterns() -> None:
    def rewrite(value: bytes, _allow: bool) -> list[tuple[bytes, int]]:
        return [(b"/a" + value, -1), (b"/b" + value, -1)]

    dialect = replace(koster.RFC9309, rewrite=rewrite, rewritten=None)
    before, after = (rules_of(f"Disallow: {value}", dialect) for value in "pq")
    assert [each.url for each in difference(before, after).found] == ["/ap", "/aq"]


def test_too_many_texts_are_not_proved() -> None:
    before = rules_of("".join(f"Disallow: /{number}\n" for number in range(100)))
    assert difference(before, rules_of(""), Budget(steps=44)) == Differences((), False)
    assert len(difference(before, rules_of(""), Budget(steps=45)).found) == 100
