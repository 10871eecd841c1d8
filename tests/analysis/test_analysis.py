"""Questions about rule sets: every answer against all short paths, one by one."""

from __future__ import annotations

import itertools
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

import koster
from koster import analysis
from koster.analysis import (
    Cause,
    Extent,
    classify,
    dead_rules,
    difference,
    idle_rules,
    redundant_rules,
)
from koster.dialects import DIALECTS
from koster.robots import selection_of

#: Small, so that patterns meet, with a byte of which no pattern speaks.
LETTERS = ("a", "b", "/", "?", "$", "x")
SIZE = 5

_parts = st.sampled_from(["a", "b", "a", "b", "ab", "/", "*", "*", "**", "?", "$"])
_wildcards = st.builds(
    lambda start, parts, end: start + "".join(parts) + end,
    st.sampled_from(["/", "/", "/", "/", "*", "", "/*"]),
    st.lists(_parts, max_size=4),
    st.sampled_from(["", "", "$", "*", "*$"]),
)
_shells = st.builds(
    lambda start, parts: start + "".join(parts),
    st.sampled_from(["/", "/", "/", "*"]),
    st.lists(
        st.sampled_from(["a", "b", "*", "*", "?", "[ab]", "[!a]", "[a-x]", "\\a", "\\*", "[", "/"]),
        max_size=4,
    ),
)


def files_of(patterns: st.SearchStrategy[str], head: str) -> st.SearchStrategy[str]:
    rules = st.tuples(st.sampled_from(["Allow", "Disallow", "Disallow"]), patterns)
    return st.builds(
        lambda some: head + "".join(f"{key}: {pattern}\n" for key, pattern in some),
        st.lists(rules, max_size=6),
    )


_HEAD = "User-agent: *\n"
STARRED = ["RFC9309", "GOOGLE", "MK1994", "MK1996", "GYM2008"]
SHELLS = ["EXTENDED2", "EXTENDED2_1996"]
#: Those in which a rule may go without the group that it stands in being another one.
FREE = ["RFC9309", "GOOGLE"]
_starred = st.tuples(files_of(_wildcards, _HEAD), st.sampled_from(STARRED))
_shell = st.tuples(files_of(_shells, _HEAD + "Robot-version: 2.0\n"), st.sampled_from(SHELLS))
sets = _starred | _shell
pairs = st.one_of(
    st.tuples(files_of(_wildcards, _HEAD), files_of(_wildcards, _HEAD), st.sampled_from(STARRED)),
    st.tuples(
        files_of(_shells, _HEAD + "Robot-version: 2.0\n"),
        files_of(_shells, _HEAD + "Robot-version: 2.0\n"),
        st.sampled_from(SHELLS),
    ),
)


@cache
def short_paths() -> tuple[str, ...]:
    paths = (
        "/" + "".join(letters)
        for size in range(SIZE)
        for letters in itertools.product(LETTERS, repeat=size)
    )
    return tuple(analysis._alphabet.with_host_if_ambiguous(path) for path in paths)


def rules_of(file: str, dialect: str) -> koster.Rules:
    return koster.parse(file, koster.DIALECTS[dialect]).rules_for("*")


def line_of(decision: koster.Decision) -> int:
    return decision.rule.line if decision.rule else 0


def path_size(url: str) -> int:
    return len(url.removeprefix("https://example.com"))


@given(sets)
def test_a_rule_is_dead_where_no_short_path_is_decided_by_it(
    given: tuple[str, str],
) -> None:
    """Of rules as short as these every one that lives decides a path that is hardly longer."""
    rules = rules_of(*given)
    deciding = {line_of(rules.decide(path)) for path in short_paths()}
    dead = dead_rules(rules)
    assert dead.is_proved
    assert not {each.rule.line for each in dead.rules} & deciding


@given(sets)
def test_a_living_rule_has_a_witness(given: tuple[str, str]) -> None:
    rules = rules_of(*given)
    reasoner = analysis._questions.Reasoner(analysis._ranked.Ranked(rules), analysis.Budget())
    for entry in reasoner.ranked.in_file_order:
        url = reasoner.witness(entry)
        exact = reasoner.shortest_match([entry], reasoner.ranked.ranked_above(entry, entry.literal))
        assert (url is None) == (exact is None)
        for each in filter(None, (url, exact)):
            assert reasoner.ranked.deciding(each) is entry
            assert path_size(exact) <= path_size(each)


@given(sets)
def test_what_covers_a_dead_rule_does(given: tuple[str, str]) -> None:
    """Without all other rules the dead one is still dead, if it is not so by itself."""
    file, dialect = given
    lines = file.splitlines()
    for dead in dead_rules(rules_of(file, dialect)).rules:
        assert (dead.cause is Cause.COVERED) == bool(dead.covered_by)
        kept = {dead.rule.line, *(rule.line for rule in dead.covered_by)}
        fewer = "\n".join(
            line if number in kept or not line.startswith(("Allow", "Disallow")) else ""
            for number, line in enumerate(lines, 1)
        )
        if dialect in FREE:
            again = dead_rules(rules_of(fewer, dialect))
            assert dead.rule.line in {each.rule.line for each in again.rules}


@given(sets)
def test_how_much_is_closed_is_what_short_paths_say(given: tuple[str, str]) -> None:
    rules = rules_of(*given)
    found = classify(rules)
    assert found.is_proved
    verdicts = {rules.allowed(path) for path in short_paths()}
    if found.extent is Extent.SOME:
        assert rules.allowed(found.allowed or "") is True
        assert rules.allowed(found.disallowed or "") is False
    else:
        assert verdicts == {found.extent is Extent.NONE}
    if found.rule:
        assert found.rule == rules.decide(found.disallowed or "").rule
    elif found.extent is not Extent.NONE:
        assert not selection_of(rules).unmatched_allowed()


@pytest.mark.parametrize("dialect", koster.DIALECTS)
def test_what_is_said_of_robots_txt_does_not_count(dialect: str) -> None:
    """An Allow for it is no part of a site that is open, and what begins like it is no page."""
    text = "User-agent: *\nAllow: /robots.txt\nDisallow: /"
    found = classify(rules_of(text, dialect))
    assert found.extent is Extent.ALL
    assert found.rule is not None
    assert found.rule.line == 3
    text = "User-agent: *\nDisallow: /robots.txt"
    assert classify(rules_of(text, dialect)).extent is Extent.NONE


def test_the_first_rule_that_disallows_tells_how_much_is_closed() -> None:
    text = "User-agent: *\nAllow: /a/b\nDisallow: /a/b\nDisallow: /c\nDisallow: /longer/one"
    found = classify(rules_of(text, "RFC9309"))
    assert found.rule is not None
    assert (found.rule.line, found.disallowed) == (4, "/c")


@given(pairs)
def test_differences_are_what_short_paths_say(
    given: tuple[str, str, str],
) -> None:
    """Each pair of rules that decides a short path differently is named, with a shortest one."""
    old, new = rules_of(given[0], given[2]), rules_of(given[1], given[2])
    found = difference(old, new)
    assert found.is_proved
    named = {(line_of(each.before), line_of(each.after)): each for each in found.found}
    shortest: dict[tuple[int, int], int] = {}
    for path in short_paths():
        before, after = old.decide(path), new.decide(path)
        if before.allowed != after.allowed:
            lines = line_of(before), line_of(after)
            shortest.setdefault(lines, path_size(path))
            shortest[lines] = min(shortest[lines], path_size(path))
    assert not set(shortest) - set(named)
    for lines, each in named.items():
        assert each.is_opened is each.after.allowed is not each.before.allowed
        assert old.allowed(each.url) != new.allowed(each.url)
        size = path_size(each.url)
        if set(each.url.removeprefix("https://example.com")) <= set(LETTERS):
            assert size == shortest.get(lines, max(size, SIZE + 1))
        assert size <= shortest.get(lines, size)


@given(sets)
def test_nothing_changes_without_redundant_rules(given: tuple[str, str]) -> None:
    file, dialect = given
    rules = rules_of(file, dialect)
    gone = {rule.line for rule in redundant_rules(rules)}
    kept = [line for number, line in enumerate(file.splitlines(), 1) if number not in gone]
    if dialect in FREE:
        fewer = rules_of("\n".join(kept), dialect)
        assert difference(rules, fewer).are_equal
        assert not redundant_rules(fewer)
        for path in short_paths():
            assert rules.allowed(path) == fewer.allowed(path)


def without(file: str, gone: set[int]) -> str:
    """A file in which some lines are remarks."""
    return "\n".join(
        "#" if number in gone else line for number, line in enumerate(file.splitlines(), 1)
    )


@given(sets)
def test_a_rule_is_idle_where_nothing_changes_without_it(given: tuple[str, str]) -> None:
    """Whether rules that decide nothing stay or go."""
    file, dialect = given
    rules = rules_of(file, dialect)
    dead = {each.rule.line for each in dead_rules(rules).rules}
    likely = analysis.likely_urls(rules)
    idle = {each.rule.line: each for each in idle_rules(rules)}
    assert set(idle) <= set(likely)
    for line, each in idle.items():
        assert line_of(rules.decide(each.url)) == line
    for line in likely if dialect in FREE else ():
        fewer = [rules_of(without(file, gone), dialect) for gone in ({line}, {line, *dead})]
        is_idle = all(difference(rules, each).are_equal for each in fewer)
        # What lives and has no likely URL may be taken for dead.
        all_are_told = len(likely) + len(dead) == len(rules.groups[0].rules)
        assert is_idle or line not in idle
        if line not in idle:
            assert not (is_idle and all_are_told)
        elif all_are_told:
            instead = fewer[1].decide(idle[line].url)
            assert line_of(instead) == (idle[line].instead.line if idle[line].instead else 0)


@given(files_of(_wildcards, _HEAD), st.sampled_from(STARRED), st.sampled_from(STARRED))
def test_dialects_that_disagree_do(file: str, one: koster.Dialect, other: koster.Dialect) -> None:
    """On paths of which all dialects think the same form, which these are."""
    old, new = rules_of(file, one), rules_of(file, other)
    found = difference(old, new)
    assert found.is_proved
    named = {(line_of(each.before), line_of(each.after)) for each in found.found}
    for path in short_paths():
        before, after = old.decide(path), new.decide(path)
        if before.allowed != after.allowed:
            assert (line_of(before), line_of(after)) in named
    for each in found.found:
        assert old.allowed(each.url) != new.allowed(each.url)


@pytest.mark.parametrize("dialect", koster.DIALECTS)
@given(file=files_of(_wildcards, _HEAD) | files_of(_shells, _HEAD + "Robot-version: 2.0\n"))
def test_a_file_is_equal_to_itself(dialect: str, file: str) -> None:
    assert difference(rules_of(file, dialect), rules_of(file + "\n", dialect)).are_equal


def test_where_dialects_disagree() -> None:
    robots = koster.parse("User-agent: MJ12bot\nDisallow: /\nUser-agent: *\nDisallow: /a\n")
    (found,) = analysis.disagreements(robots, [koster.GOOGLE, koster.RFC9309], ["MJ12bot", "*"])
    assert (found.agent, found.dialect) == ("MJ12bot", koster.GOOGLE)
    (each,) = found.differences.found
    assert (each.url, each.before.allowed, each.after.allowed) == ("/", False, True)


def test_what_takes_too_long_is_not_proved() -> None:
    """And what was tried is given all the same."""
    stars = "".join(
        f"Disallow: /*{a}*{b}*{a}*{b}\nAllow: /*{b}*{a}*{b}*{a}\n" for a in "abc" for b in "xyz"
    )
    old = rules_of(f"User-agent: *\n{stars}", "RFC9309")
    new = rules_of(f"User-agent: *\n{stars}Disallow: /a*a*b*cc*dd\nDisallow: /new\n", "RFC9309")
    found = difference(old, new, analysis.Budget(states=2, total=2))
    assert not found.is_proved
    assert not found.are_equal
    assert "/new" in {each.url for each in found.found}


def test_a_large_file_is_answered() -> None:
    """Many plain rules, and a pattern of a thousand stars: see docs/linting.md for the time."""
    count = 30_000 if koster.COMPILED else 3_000
    lines = "".join(f"Disallow: /{number % 977}/{number}/\n" for number in range(count))
    rules = rules_of(f"User-agent: *\n{lines}Disallow: /5/", "RFC9309")
    assert dead_rules(rules).is_proved
    assert classify(rules).extent is Extent.SOME
    fewer = rules_of(f"User-agent: *\n{lines.replace('/7/', '/8/')}", "RFC9309")
    found = difference(rules, fewer)
    assert found.is_proved
    assert found.found
    stars = rules_of(
        "User-agent: *\nDisallow: /" + "*a" * 1000 + "\nAllow: /" + "*ab" * 500, "RFC9309"
    )
    dead_rules(stars)
    redundant_rules(stars)


@pytest.mark.parametrize(
    ("one", "other"),
    [("MK1994", "MK1996"), ("MK1994", "GYM2008"), ("GOOGLE", "GYM2008"), ("GOOGLE", "MK1996")],
)
def test_escapes_that_one_reading_alone_matches_are_differences(one: str, other: str) -> None:
    """A pattern with & does not cover the same pattern of a reading that decodes %26."""
    text = "User-agent: *\nDisallow: /&\nDisallow: /x\nDisallow: /x%26\n"
    before, after = (koster.parse(text, DIALECTS[name]).rules_for("x") for name in (one, other))
    assert before.allowed("/%26") != after.allowed("/%26")
    found = difference(before, after)
    assert "/%26" in [each.url for each in found.found]


@pytest.mark.parametrize("other", ["MK1996", "GYM2008", "EXTENDED2"])
@pytest.mark.parametrize(("escape", "character"), [("%26", "&"), ("%3D", "="), ("%3F", "?")])
def test_urls_have_the_escapes_that_the_file_has(escape: str, character: str, other: str) -> None:
    """RFC 9309 tells ``%26`` from ``&``; a dialect that decodes both reads another rule."""
    text = f"User-agent: *\nDisallow: /a{character}b\nDisallow: /x{escape}\n"
    before, after = (
        koster.parse(text, DIALECTS[name]).rules_for("x") for name in ("RFC9309", other)
    )
    found = difference(before, after)
    assert found.is_proved
    assert {each.url for each in found.found} == {f"/a{escape}b", f"/x{character}"}
