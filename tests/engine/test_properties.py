"""Properties that hold for any file, user agent and URL."""

from __future__ import annotations

import importlib.util
import os
import random
import re
import sys
from collections.abc import Callable
from functools import cache
from itertools import product
from types import ModuleType
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import koster
from koster.dialects import BlankLines
from tests.helpers import reference, strategies
from tests.helpers.facades import facade_dialects
from tests.helpers.support import ROOT

#: The named dialects and those of the facades.
DIALECTS = st.sampled_from([*koster.DIALECTS.values(), *facade_dialects("koster").values()])


@given(strategies.bodies, strategies.urls, strategies.agents, DIALECTS)
def test_nothing_raises(body: bytes, url: str, agent: str, dialect: koster.Dialect) -> None:
    """Any bytes parse, any URL and agent get a verdict, and all query methods agree."""
    robots = koster.parse(body, dialect)
    rules = robots.rules_for(agent)
    decision = robots.decide(url, agent)
    assert decision.allowed == robots.allowed(url, agent) == rules.allowed(url)
    assert rules.allowed_many([url, url]) == [decision.allowed] * 2
    assert str(decision).encode()
    assert (decision.reason is koster.Reason.RULE) == (decision.rule is not None)
    if decision.rule is not None:
        assert decision.group is not None
        assert decision.rule in decision.group.rules
        assert decision.rule.allow == decision.allowed
    _read_every_attribute(robots, rules, url)


def _read_every_attribute(robots: koster.RobotsTxt, rules: koster.Rules, url: str) -> None:
    assert repr(robots)
    assert repr(rules)
    assert repr(robots.groups)
    assert robots.sitemaps + robots.hosts + robots.licenses is not None
    assert robots.clean_params is not None
    assert robots.preferences is not None
    assert rules.crawl_delay is None or rules.crawl_delay >= 0
    assert rules.request_rates is not None
    assert rules.visit_times is not None
    assert rules.comments is not None
    assert rules.preferences is not None
    assert rules.preferences_for(url) is not None
    lines = robots.lines
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))


@given(strategies.bodies, strategies.urls, strategies.agents)
def test_reference_agrees(body: bytes, url: str, agent: str) -> None:
    """The engine and the reference implementation agree on the default dialect."""
    decision = koster.parse(body).decide(url, agent)
    line = decision.rule.line if decision.rule else None
    assert (decision.allowed, line) == reference.decide(body, url, agent)


@given(st.lists(st.tuples(st.booleans(), strategies.patterns), max_size=6), strategies.paths)
def test_reference_agrees_on_matching_rules(rules: list[tuple[bool, str]], path: str) -> None:
    """As above, but nearly every example has rules that match."""
    lines = [f"{'Allow' if allow else 'Disallow'}: {pattern}" for allow, pattern in rules]
    body = "\n".join(["User-agent: *", *lines]).encode()
    decision = koster.parse(body).decide(path, "FooBot")
    line = decision.rule.line if decision.rule else None
    assert (decision.allowed, line) == reference.decide(body, path, "FooBot")


@given(
    strategies.files, strategies.urls, strategies.agents,
    st.lists(st.tuples(st.integers(0, 20), strategies.junk), max_size=4),
    st.sampled_from(list(koster.DIALECTS.values())),
)  # fmt: skip
def test_junk_changes_no_decision(
    body: bytes, url: str, agent: str, junk: list[tuple[int, bytes]], dialect: koster.Dialect
) -> None:
    """Lines that are not rules never change a decision, wherever they are."""
    lines = re.split(rb"\r\n|\r|\n", body)
    for at, line in junk:
        # A blank line says something in some dialects.
        if line.strip() or dialect.blank_lines is BlankLines.NOTHING:
            lines.insert(max(1, at % (len(lines) + 1)), line)
    before = koster.parse(body, dialect).decide(url, agent)
    after = koster.parse(b"\n".join(lines), dialect).decide(url, agent)
    assert (before.allowed, before.reason) == (after.allowed, after.reason)
    assert (before.rule and str(before.rule)) == (after.rule and str(after.rule))


@pytest.mark.parametrize("others", ["/{}/a*x", "/a/b/{}/*x"], ids=["apart", "alike"])
@given(
    rules=st.lists(st.tuples(st.booleans(), strategies.patterns), min_size=1, max_size=8),
    paths=st.lists(strategies.paths, min_size=1, max_size=4),
    dialect=DIALECTS,
)
def test_index_and_scan_agree(
    others: str, rules: list[tuple[bool, str]], paths: list[str], dialect: koster.Dialect
) -> None:
    """A large rule set gives the same decisions after enough lookups to build its index."""
    lines = [f"{'Allow' if allow else 'Disallow'}: {pattern}" for allow, pattern in rules]
    filler = [f"Disallow: {others.format(number)}" for number in range(140)]
    body = "\n".join(["User-agent: *", *lines[::2], *filler, *lines[1::2]])
    indexed = koster.parse(body, dialect).rules_for("FooBot")
    indexed.allowed_many(["/"] * 20)
    for path in paths:
        assert indexed.decide(path) == koster.parse(body, dialect).rules_for("FooBot").decide(path)


def test_index_agrees_with_regular_expressions() -> None:
    """Patterns that share prefixes, which the index splits, in every order of insertion."""
    chance = random.Random(3)
    paths = ["/" + "".join(each) for size in range(6) for each in product("abc", repeat=size)]
    for _ in range(5):
        literals = [*chance.sample(paths[1:], 60), "/abcab", "/abcabb", "/ab"]
        lines = [
            (chance.random() < 0.5, literal + chance.choice(("", "", "", "$", "*b", "*c$")))
            for literal in literals
        ]
        body = "\n".join(f"{'Allow' if allow else 'Disallow'}: {text}" for allow, text in lines)
        rules = koster.parse(f"User-agent: *\n{body}").rules_for("x")
        matchers = [
            (len(text), allow, re.compile(text.replace("*", ".*").replace("$", r"\Z")))
            for allow, text in lines
        ]
        rules.allowed_many(["/"] * 5)
        for path in paths:
            ranks = [(size, allow) for size, allow, each in matchers if each.match(path)]
            assert (path, rules.allowed(path)) == (path, not ranks or max(ranks)[1])


@cache
def pure() -> ModuleType:
    """Import koster a second time, as plain Python, next to the compiled one."""
    init = ROOT / "src" / "koster" / "__init__.py"
    spec = importlib.util.spec_from_file_location(
        "pure_koster", init, submodule_search_locations=[str(init.parent)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["pure_koster"] = module
    with mock.patch.dict(os.environ, KOSTER_PURE="1"):
        spec.loader.exec_module(module)
    assert not module.COMPILED
    return module


#: Lines that make a file so large that the names in its groups are indexed.
LINE = b"Sitemap: https://shop.example/\n"
MANY_LINES = LINE * 5_000
#: Agents whose groups are searched before there is an index.
OTHER_AGENTS = [f"agent{number}" for number in range(48)]


@given(strategies.bodies, st.lists(strategies.agents, max_size=6), DIALECTS)
@example(
    b"User-agent: a\nUser-agent: *\nUser-agent: b c\nDisallow: /", ["A", "b", "d"], koster.GOOGLE
)
@example(
    b"User-agent: *\x0bfoo\nDisallow: /\nUser-agent: *\nAllow: /", ["*", "b", "*/1"], koster.RFC9309
)
@example(b"Disallow: /\nUser-agent: **\nUser-agent: /1\nAllow: /", ["*", ""], koster.RFC9309)
def test_indexed_names_apply_to_the_same_agents(
    body: bytes, agents: list[str], dialect: koster.Dialect
) -> None:
    body += b"\n" + LINE
    large = koster.parse(body + MANY_LINES, dialect)
    for agent in OTHER_AGENTS:
        large.rules_for(agent)
    for agent in agents:
        # Each file selects once, so that it has no index.
        found = koster.parse(body, dialect).rules_for(agent)
        assert large.rules_for(agent).group_lines == found.group_lines
        assert large.rules_for(agent).is_named == found.is_named
        assert large.rules_for(agent).crawl_delay == found.crawl_delay


needs_both = pytest.mark.skipif(not koster.COMPILED, reason="not compiled: nothing to compare")


@needs_both
@given(strategies.bodies, strategies.urls, strategies.agents, DIALECTS)
def test_compiled_and_pure_agree(
    body: bytes, url: str, agent: str, dialect: koster.Dialect
) -> None:
    """Both builds parse alike, down to the objects they create."""
    one = koster.parse(body, dialect)
    dialects = {**pure().DIALECTS, **facade_dialects("pure_koster")}
    other = pure().parse(body, dialects[dialect.name])
    first, second = one.decide(url, agent), other.decide(url, agent)
    assert str(first) == str(second)
    assert str(first.reason) == str(second.reason)
    assert repr(first.group) == repr(second.group)
    assert repr(one.lines) == repr(other.lines)
    assert repr(one.groups) == repr(other.groups)
    rules, others = one.rules_for(agent), other.rules_for(agent)
    assert repr(rules.preferences_for(url)) == repr(others.preferences_for(url))
    assert repr(rules.request_rates) == repr(others.request_rates)
    assert rules.crawl_delay == others.crawl_delay


@needs_both
def test_compiled_and_pure_have_the_same_names() -> None:
    for name in koster.__all__:
        one, other = getattr(koster, name), getattr(pure(), name)
        if isinstance(one, type):
            public = {each for each in dir(one) if not each.startswith("_")}
            assert public == {each for each in dir(other) if not each.startswith("_")}


def shell_elements(pattern: str) -> list[Callable[[str], bool] | None]:
    """Parse a /bin/sh pattern: a predicate for each element, None for a star."""
    elements: list[Callable[[str], bool] | None] = []
    at = 0
    while at < len(pattern):
        if pattern[at] == "*":
            elements.append(None)
            at += 1
        elif pattern[at] == "?":
            elements.append(lambda byte: True)
            at += 1
        elif klass := re.match(
            r"\[(!?+)((?:\\.|[^\\])(?:\\.|[^\\\]])*)\]", pattern[at:], re.DOTALL
        ):
            members = [each[-1] for each in re.findall(r"\\.|[^\\]", klass[2], re.DOTALL)]
            raw = re.findall(r"\\.|[^\\]", klass[2], re.DOTALL)
            ranges = []
            while members:
                if len(members) >= 3 and raw[1] == "-":
                    ranges.append((members[0], members[2]))
                    del members[:3], raw[:3]
                else:
                    ranges.append((members[0], members[0]))
                    del members[:1], raw[:1]
            negated = bool(klass[1])
            elements.append(
                lambda byte, ranges=ranges, negated=negated: (  # type: ignore[misc]
                    any(low <= byte <= high for low, high in ranges) != negated
                )
            )
            at += klass.end()
        else:
            at += pattern[at] == "\\" and at + 1 < len(pattern)
            elements.append(lambda byte, wanted=pattern[at]: byte == wanted)  # type: ignore[misc]
            at += 1
    return elements


def shell_oracle(pattern: str, path: str) -> bool:
    """Match by tracking the set of possible positions, element by element."""
    positions = {0}
    for element in shell_elements(pattern):
        if element is None:
            positions = set(range(min(positions), len(path) + 1)) if positions else set()
        else:
            positions = {at + 1 for at in positions if at < len(path) and element(path[at])}
    return len(path) in positions


@given(
    st.text("/ab*?[]!-\\", min_size=1, max_size=14).map(lambda text: "/" + text),
    st.text("/ab*?[]!-\\", max_size=10).map(lambda text: "/" + text),
)
@example("/[!]a]", "/b")
@example("/*[a-b]*b?", "/aabab")
@example("/[\\]-a]", "/^")
def test_shell_patterns_match_like_the_oracle(pattern: str, path: str) -> None:
    robots = koster.parse(
        f"User-agent: *\nRobot-version: 2.0\nDisallow: {pattern}", koster.EXTENDED2
    )
    assert robots.allowed("x://" + path, "a") != shell_oracle(pattern, path)


def test_short_classes_match_like_the_oracle() -> None:
    for members in (each for size in range(1, 5) for each in product("ac-!\\]", repeat=size)):
        pattern = f"/[{''.join(members)}]"
        body = f"User-agent: *\nRobot-version: 2.0\nDisallow: {pattern}"
        rules = koster.parse(body, koster.EXTENDED2).rules_for("x")
        for path in ("/a", "/b", "/c", "/-", "/!", "/\\", "/]", "/[", "/[a]", "/[a", "/a]", "/-]"):
            found = rules.allowed("x://" + path)
            assert (pattern, path, found) == (pattern, path, not shell_oracle(pattern, path))
