"""Dialects with functions of their own: what `choose` and `rewrite` get, and what their results do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

import koster
from koster.dialects import EmptyRules, Merging, Names, Orphans, Patterns, RobotsTxtPath
from koster.model import Directive, LineKind

BODY = """\
Disallow: /orphan

User-agent: *
Disallow: /star

User-agent: FooBot
User-agent: Other
Disallow: /foo

User-agent: F*t
User-agent: caf\u00e9
User-agent:
User-agent: * all
Disallow: /unusual
"""

Call = tuple[list[bytes], list[int], bytes]


class Choosing:
    """A dialect's `choose`, which records its calls and returns ``result``."""

    def __init__(self, *result: int) -> None:
        self.calls: list[Call] = []
        self.result = list(result)

    def __call__(self, names: Sequence[bytes], groups: Sequence[int], agent: bytes) -> list[int]:
        self.calls.append((list(names), list(groups), agent))
        return self.result

    def dialect(self, merging: Merging = Merging.ALL) -> koster.Dialect:
        return replace(
            koster.RFC9309, name="choosing", names=Names.CHOSEN, choose=self, merging=merging,
            orphans=Orphans.FOR_EVERYBODY,
        )  # fmt: skip


def lines_for(agent: str | tuple[str, ...], dialect: koster.Dialect) -> list[int]:
    """Return the lines of the rules that apply to an agent."""
    groups = koster.parse(BODY, dialect).rules_for(agent).groups
    return [rule.line for group in groups for rule in group.rules]


def test_choose_gets_the_names_that_may_match() -> None:
    choose = Choosing(2, 0)
    assert lines_for("FooBot/1.0", choose.dialect()) == [8, 1]
    unusual = [b"f*t", "caf\u00e9".encode(), b"", b"* all"]
    assert choose.calls == [
        ([b"*", b"*", b"foobot", *unusual], [0, 1, 2, 3, 3, 3, 3], b"FooBot/1.0")
    ]


def test_names_with_unusual_bytes_may_match() -> None:
    names = ["a~b", "a b", "a\x7f", "a\x1f", "a\x00", "\x80", "a*", "*a"]
    body = "".join(f"User-agent: {name}\n" for name in names) + "Disallow: /"
    choose = Choosing()
    koster.parse(body.encode("latin-1"), choose.dialect()).rules_for("x")
    ((found, _, _),) = choose.calls
    assert found == [name.encode("latin-1") for name in names[2:]]


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("oo", b"foobot"),
        ("f", b"foobot"),
        ("bot", b"foobot"),
        ("FooBot", b"foobot"),
        ("xOTHERx", b"other"),
        ("xOTHER", b"other"),
        ("OTHERx", b"other"),
    ],
)
def test_names_in_agents_and_agents_in_names_may_match(agent: str, name: bytes) -> None:
    choose = Choosing()
    lines_for(agent, choose.dialect())
    ((names, _, _),) = choose.calls
    assert name in names
    assert len(set(names) & {b"foobot", b"other"}) == 1


def test_star_groups_apply_if_choose_returns_none() -> None:
    choose = Choosing()
    assert lines_for(("x", "y"), choose.dialect()) == [1, 4]
    assert {agent for _, _, agent in choose.calls} == {b"x", b"y"}
    assert lines_for("x", choose.dialect(Merging.FIRST)) == [1]


def test_choose_is_not_called_without_names_that_may_match() -> None:
    long = "n" * 40
    body = f"User-agent: *\nUser-agent: *\nUser-agent: {long}\nUser-agent: foobot\nDisallow: /"
    choose = Choosing(0)
    robots = koster.parse(body, choose.dialect())
    for agent in ("a" * 40, "abc", "barbaz/1"):
        assert not robots.rules_for(agent).is_named
        assert not robots.allowed("/", agent)
    assert choose.calls == []
    assert robots.rules_for(f"Mozilla {long}").is_named
    assert [names for names, _, _ in choose.calls] == [[b"*", b"*", long.encode()]]


def test_names_are_searched_only_within_themselves() -> None:
    # The name ends with the file: there is no byte after it.
    choose = Choosing(0)
    assert not koster.parse("User-agent: xxfo", choose.dialect()).rules_for("foo").is_named
    assert choose.calls == []


def test_groups_that_choose_returns_are_not_repeated() -> None:
    assert lines_for("foobot", Choosing(2, 2, 0).dialect()) == [8, 1]


def test_choose_gets_at_most_the_first_bytes_of_a_header() -> None:
    choose = Choosing(0)
    robots = koster.parse("User-agent: FooBot\nDisallow: /", choose.dialect())
    for size in (8192, 8193):
        assert robots.rules_for("FooBot".rjust(size)).is_named == (size == 8192)
    assert [agent for _, _, agent in choose.calls] == [b"FooBot".rjust(8192)]


def test_settings_hold_for_the_agents_of_a_chosen_group() -> None:
    body = "User-agent: a\nCrawl-delay: 1\nUser-agent: b\nCrawl-delay: 2\nDisallow: /"
    rules = koster.parse(body, Choosing(0).dialect()).rules_for("b")
    assert rules.crawl_delay == 2.0
    assert rules.groups[0].agents == ("a", "b")


def test_rules_before_any_agent_are_those_of_everybody() -> None:
    body = "Disallow: /a\nCrawl-delay: 3\nUser-agent: x\nDisallow: /b"
    dialect = replace(koster.RFC9309, name="orphans", orphans=Orphans.FOR_EVERYBODY)
    robots = koster.parse(body, dialect)
    assert robots.groups[0].agents == ("*",)
    assert (robots.allowed("/a", "y"), robots.allowed("/a", "x")) == (False, True)
    assert (robots.rules_for("y").crawl_delay, robots.rules_for("x").crawl_delay) == (3.0, None)


RULES = """\
User-agent: x
Allow: /plain
Disallow: /
Disallow:
Allow: /a$b
Disallow: /plain/longer

User-agent: y
Disallow: /y

User-agent: x
Disallow: /c$
"""


def test_names_that_contain_the_agent_or_are_in_it() -> None:
    choose = Choosing()
    body = "User-agent: aa\nUser-agent: ab\nUser-agent: b\nUser-agent: c\nDisallow: /"
    rules = koster.parse(body, choose.dialect()).rules_for("a")
    koster.parse("User-agent: aa\nDisallow: /", choose.dialect()).rules_for("a")
    assert not rules.groups
    assert [names for names, _, _ in choose.calls] == [[b"aa", b"ab"], [b"aa"]]


def test_a_group_for_everybody_is_chosen_once() -> None:
    body = "User-agent: *\nAllow: /\n" + "User-agent: *\n" * 3 + "Disallow: /a"
    rules = koster.parse(body, Choosing().dialect()).rules_for("x")
    assert rules.group_lines == (1, 3)


def test_a_rule_of_the_lowest_rank_decides_with_an_index_too() -> None:
    reading = replace(koster.RFC9309.reading, empty_rules=EmptyRules.OPPOSITE)
    dialect = replace(koster.RFC9309, name="opposite", reading=reading)
    body = "User-agent: *\nDisallow: /a$\nAllow:\n" + "Disallow: /b\n" * 60
    rules = koster.parse(body, dialect).rules_for("x")
    assert [rules.allowed("/c") for _ in range(6)] == [False] * 6


def test_unknown_directives_that_close_a_group() -> None:
    closing = frozenset({Directive.DISALLOW, LineKind.UNKNOWN})
    dialect = replace(koster.RFC9309, name="unknown", closing=closing)
    body = "User-agent: a\nFoo: 1\nUser-agent: b\nCrawl-delay: 1\nUser-agent: c\nDisallow: /"
    assert [group.agents for group in koster.parse(body, dialect).groups] == [("a",), ("b", "c")]


def test_invalid_versions_are_read_as_the_dialect_says() -> None:
    prefix = replace(koster.EXTENDED2.reading, patterns=Patterns.PREFIX)
    shell = replace(prefix, patterns=Patterns.SHELL)
    dialect = replace(koster.EXTENDED2, reading=prefix, versions={1: shell, 2: shell})
    for version, expected in (("x", True), ("1.0", False), ("2.0", False)):
        body = f"User-agent: *\nRobot-version: {version}\nDisallow: /a*"
        assert koster.parse(body, dialect).rules_for("x").allowed("/ab") == expected


class Rewriting:
    """A dialect's `rewrite`, which records its calls; ``$`` becomes another byte."""

    def __init__(self) -> None:
        self.calls: list[tuple[bytes, bool]] = []

    def __call__(self, value: bytes, allow: bool) -> list[tuple[bytes, int]]:
        self.calls.append((value, allow))
        if not value:
            return []
        return [(value.replace(b"$", b"1"), 100), (value.replace(b"$", b"/2"), 1)]

    def dialect(
        self, rewritten: bytes | None, empty_rules: EmptyRules = EmptyRules.NOTHING
    ) -> koster.Dialect:
        return replace(
            koster.RFC9309, name="rewriting", rewrite=self, rewritten=rewritten,
            reading=replace(koster.RFC9309.reading, empty_rules=empty_rules),
        )  # fmt: skip


def test_rewrite_replaces_rules_with_certain_bytes() -> None:
    rewrite = Rewriting()
    rules = koster.parse(RULES, rewrite.dialect(b"$")).rules_for("x")
    assert rewrite.calls == [(b"", False), (b"/a$b", True), (b"/c$", False)]
    lines = {
        url: (decision.rule.line if decision.rule else None, decision.allowed)
        for url in ("/a1b", "/a/2b", "/a$b", "/plain", "/plain/longer", "/c1", "/c/2", "/a1b/c1")
        for decision in [rules.decide(url)]
    }
    assert lines == {
        "/a1b": (5, True), "/a1b/c1": (5, True),
        # Its length is 1, like that of "Disallow: /": Allow wins, then the earlier line.
        "/a/2b": (5, True), "/a$b": (3, False), "/plain": (2, True), "/plain/longer": (6, False),
        "/c1": (12, False), "/c/2": (3, False),
    }  # fmt: skip


def test_rewrite_replaces_all_rules() -> None:
    rewrite = Rewriting()
    rules = koster.parse(RULES, rewrite.dialect(None)).rules_for("y")
    assert rewrite.calls == [(b"/y", False)]
    assert rules.decide("/y").rule == rules.groups[0].rules[0]


def test_rewrite_does_not_get_empty_rules_that_have_a_meaning() -> None:
    rewrite = Rewriting()
    rules = koster.parse(RULES, rewrite.dialect(b"$", EmptyRules.OPPOSITE)).rules_for("x")
    assert rewrite.calls == [(b"/a$b", True), (b"/c$", False)]
    assert not rules.allowed("/other")


def test_files_without_groups_are_read_as_the_dialect_says() -> None:
    reading = replace(koster.RFC9309.reading, robots_txt=RobotsTxtPath.ALWAYS_ALLOWED)
    other = replace(reading, robots_txt=RobotsTxtPath.NOT_SPECIAL)
    dialect = replace(koster.EXTENDED2, reading=reading, versions={1: other, 2: other})
    assert koster.parse("", dialect).decide("/robots.txt", "x").reason is koster.Reason.ROBOTS_TXT
