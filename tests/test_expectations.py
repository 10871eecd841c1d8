"""Expectations of a file."""

from __future__ import annotations

import pytest
from owners import results

from koster import crawlers, expectations
from koster.crawlers import Purpose


def test_expectations_are_held_against_a_file() -> None:
    text = '[[expect]]\nagent = ["Foo", "Bar"]\nallow = "/a"\ndisallow = ["/b", "/c"]\n'
    found = results(text, "User-agent: *\nDisallow: /b\nUser-agent: Foo\nDisallow: /\n")
    assert [passed for passed, _, _ in found] == [False, True, True, True, True, False]
    assert found[0] == (False, "it is blocked (line 4: Disallow: /)", 4)
    assert found[5] == (False, "it is allowed (no rule)", None)


def test_crawlers_are_expected_by_their_purpose() -> None:
    found = results(
        '[[expect]]\nagent = "@ai-search"\ndisallow = "/"\n', "User-agent: *\nDisallow: /\n"
    )
    assert len(found) == len(crawlers.of_purposes([Purpose.AI_SEARCH])) > 5
    assert all(passed for passed, _, _ in found)


def test_a_file_must_decide_as_another() -> None:
    text = 'same-as = "old.txt"\n'
    assert results(text, "User-agent: *\nDisallow: /a*\n", "User-agent: *\nDisallow: /a\n")[0][0]
    (found,) = results(text, "User-agent: *\nDisallow: /a\n", "User-agent: *\nDisallow: /b\n")
    assert not found[0]
    assert "/a" in found[1] or "/b" in found[1]


def test_rules_must_decide_something() -> None:
    text = "no-dead-rules = true\n"
    assert results(text, "User-agent: *\nDisallow: /a\nDisallow:\n")[0][0]
    (found,) = results(text, "User-agent: *\nDisallow: /a\nDisallow: /a\n")
    assert found == (
        False,
        "line 3 has no effect for * (Disallow: /a): overridden by line 2",
        3,
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[[expect]\n", "invalid TOML"),
        ("", "no expectations"),
        ("robot = 'x'\n", "'robot'"),
        ("[[expect]]\nagent = 'x'\n", "needs allow or disallow"),
        ("[[expect]]\nallow = 1\n", "allow must be"),
        ("[[expect]]\nallows = '/'\n", "'allows'"),
        ("dialect = 'x'\n", "unknown dialect"),
        ("no-dead-rules = 'yes'\n", "true or false"),
        ("expect = 'x'\n", "tables"),
        ("expect = ['x']\n", "tables"),
        ("[[expect]]\nallow = 'www.example.com/a'\n", "invalid path or URL"),
        ("[[expect]]\nallow = ''\n", "invalid path or URL"),
        (
            "[[expect]]\nagent = '@robots'\nallow = '/'\n",
            "unknown purpose '@robots': valid purposes are @search",
        ),
        ("[[expect]]\nagent = ''\nallow = '/'\n", "must not be empty"),
    ],
)
def test_wrong_expectations_are_told(text: str, why: str) -> None:
    with pytest.raises(expectations.ExpectationsError, match=why):
        expectations.read(text)
