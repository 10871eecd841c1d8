"""Expectations files: checks against a robots.txt, and errors in them."""

from __future__ import annotations

import collections
import sys
from functools import partial

import pytest

import koster
from koster import crawlers, expectations
from koster.analysis import Budget
from koster.crawlers import Purpose
from koster.diff import compare
from tests.helpers.owners import results


def test_allow_and_disallow_expectations() -> None:
    text = '[[expect]]\nagent = ["Foo", "Bar"]\nallow = "/a"\ndisallow = ["/b", "/c"]\n'
    outcomes = results(text, "User-agent: *\nDisallow: /b\nUser-agent: Foo\nDisallow: /\n")
    assert [passed for passed, _, _ in outcomes] == [False, True, True, True, True, False]
    assert outcomes[0] == (False, "it is blocked (line 4: Disallow: /)", 4)
    assert outcomes[5] == (False, "it is allowed (no rule)", None)


def test_agents_can_be_a_purpose() -> None:
    outcomes = results(
        '[[expect]]\nagent = "@ai-search"\ndisallow = "/"\n', "User-agent: *\nDisallow: /\n"
    )
    assert len(outcomes) == len(crawlers.of_purposes([Purpose.AI_SEARCH])) > 5
    assert all(passed for passed, _, _ in outcomes)


def test_same_as_compares_with_another_file() -> None:
    text = 'same-as = "old.txt"\n'
    assert results(text, "User-agent: *\nDisallow: /a*\n", "User-agent: *\nDisallow: /a\n")[0][0]
    (outcome,) = results(text, "User-agent: *\nDisallow: /a\n", "User-agent: *\nDisallow: /b\n")
    assert not outcome[0]
    assert "/a" in outcome[1] or "/b" in outcome[1]


def test_files_that_differ_too_much_are_not_proved_to_be_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(expectations, "compare", partial(compare, budget=Budget(steps=1)))
    before = "User-agent: *\nDisallow: /*a*b\nUser-agent: x\nDisallow: /*c*d\n"
    after = before.replace("*a*b", "*b*a").replace("*c*d", "*d*c")
    assert results('same-as = "old.txt"\n', after, before) == [
        (False, "not proved: the files differ too much", None)
    ]


def test_no_dead_rules() -> None:
    text = "no-dead-rules = true\n"
    assert results(text, "User-agent: *\nDisallow: /a\nDisallow:\n")[0][0]
    (outcome,) = results(text, "User-agent: *\nDisallow: /a\nDisallow: /a\n")
    assert outcome == (
        False,
        "line 3 has no effect for * (Disallow: /a): overridden by line 2",
        3,
    )


def test_too_many_rules_may_be_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("koster.analysis._files.MAX_RULES_OF_SETS", 1)
    body = "".join(f"User-agent: {name}\nDisallow: /\nDisallow: /a\n" for name in "abc")
    (outcome,) = results("no-dead-rules = true\n", body)
    assert outcome == (False, "not proved: too many rules", None)


@pytest.mark.parametrize(
    ("text", "message"),
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
def test_invalid_expectations_are_errors(text: str, message: str) -> None:
    with pytest.raises(expectations.ExpectationsError, match=message):
        expectations.read(text)


def test_purposes_need_the_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ai_crawler_index", None)
    crawlers.known.cache_clear()
    try:
        with pytest.raises(
            expectations.ExpectationsError, match=r"needs the extra 'crawlers': pip"
        ):
            expectations.read("[[expect]]\nagent = '@search'\nallow = '/'\n")
    finally:
        crawlers.known.cache_clear()


def test_written_expectations_of_another_dialect_with_dead_rules() -> None:
    body = "User-agent: Foo\nUser-agent: Qux\nDisallow: /x\nDisallow: /x\n"
    assert expectations.written(koster.parse(body, koster.MK1994), 'a"b.txt') == (
        "# What the file does now. Change it to what it should do.\n"
        'robots = "a\\"b.txt"\n'
        'dialect = "MK1994"\n'
        "\n"
        "[[expect]]\n"
        'agent = ["*", "Googlebot", "bingbot"]\n'
        'allow = ["/"]\n'
        "\n"
        "[[expect]]\n"
        'agent = ["Foo", "Qux"]\n'
        'allow = ["/"]\n'
        'disallow = ["/x"]\n'
    )


def test_written_expectations_notice_new_groups_of_search_engines() -> None:
    before = "User-agent: *\nDisallow: /cart\n"
    expected = expectations.read(expectations.written(koster.parse(before), "robots.txt"))
    for name in ("Googlebot", "bingbot"):
        after = koster.parse(f"{before}User-agent: {name}\nDisallow: /\n")
        results = expectations.check(expected, after)
        assert [each.passed for each in results].count(False) >= 1
    named = koster.parse(f"{before}User-agent: bingbot\nDisallow: /a\n")
    assert 'agent = ["*", "Googlebot"]' in expectations.written(named, "robots.txt")


def test_written_expectations_have_few_urls() -> None:
    rules = "".join(f"Allow: /a{each}\nDisallow: /d{each}\n" for each in range(9))
    found = expectations.read(expectations.written(koster.parse(f"User-agent: *\n{rules}"), "x"))
    assert collections.Counter(each.allowed for each in found.questions) == {True: 15, False: 15}


def test_written_expectations_name_crawlers_until_it_takes_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    robots = koster.parse("User-agent: a\nUser-agent: b\nUser-agent: c\nDisallow: /")
    assert 'agent = ["a", "b", "c"]' in expectations.written(robots, "x")
    # One that falls back to another name.
    image = koster.parse("User-agent: Googlebot-Image\nUser-agent: c\nDisallow: /")
    assert 'agent = ["Googlebot-Image", "c"]' in expectations.written(image, "x")
    monkeypatch.setattr("koster.analysis._files.Selecting.allows", lambda _, agent: agent < "c")
    assert 'agent = ["a", "b"]' in expectations.written(robots, "x")


def test_written_expectations_name_so_many_crawlers_that_they_can_be_read() -> None:
    names = "".join(f"User-agent: a{number}\n" for number in range(2_000))
    robots = koster.parse(f"{names}Allow: /b\nDisallow: /\n")
    found = expectations.read(expectations.written(robots, "x"))
    assert len({each.agent for each in found.questions} - {"*"}) == 502


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("robots = " + "[" * 9_999, "nested more than 50 deep"),
        ("a." * 20_000 + "a = 1", "more than 32 parts"),
        ("#" * (1 << 20) + "\n", "larger than 1 MiB"),
        (f'dialect = ["{"x" * 9_999}"]', "dialect must be a name, not \\['xxx"),
        # Lists of agents and URLs multiply.
        (
            f"[[expect]]\nagent = {['a'] * 9_999}\nallow = {['/'] * 9_999}",
            "more than 100,000 pairs of an agent and a URL",
        ),
    ],
)
def test_hostile_files_are_refused(text: str, message: str) -> None:
    with pytest.raises(expectations.ExpectationsError, match=message) as error:
        expectations.read(text)
    assert len(str(error.value)) < 300
