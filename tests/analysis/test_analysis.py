"""The analysis of rule sets: every result is checked against all short paths."""

from __future__ import annotations

import dataclasses
import itertools
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import koster
from koster import analysis
from koster._asking import selection_of
from koster.analysis import (
    Cause,
    Extent,
    classify,
    dead_rules,
    difference,
    idle_rules,
    redundant_rules,
)
from koster.analysis._examples import Examples
from koster.analysis._ranking import Ranking
from koster.analysis._search.urls import with_host_if_ambiguous
from koster.dialects import DIALECTS, Escapes
from tests.helpers.support import EVERYTHING

#: Few letters, so that patterns overlap, and ``x``, which no pattern contains.
LETTERS = ("a", "b", "/", "?", "$", "x")
SIZE = 5

_wildcard_parts = st.sampled_from(["a", "b", "a", "b", "ab", "/", "*", "*", "**", "?", "$"])
_wildcard_patterns = st.builds(
    lambda start, parts, end: start + "".join(parts) + end,
    st.sampled_from(["/", "/", "/", "/", "*", "", "/*"]),
    st.lists(_wildcard_parts, max_size=4),
    st.sampled_from(["", "", "$", "*", "*$"]),
)
_shell_patterns = st.builds(
    lambda start, parts: start + "".join(parts),
    st.sampled_from(["/", "/", "/", "*"]),
    st.lists(
        st.sampled_from(["a", "b", "*", "*", "?", "[ab]", "[!a]", "[a-x]", "\\a", "\\*", "[", "/"]),
        max_size=4,
    ),
)


def files_with(patterns: st.SearchStrategy[str], head: str) -> st.SearchStrategy[str]:
    rules = st.tuples(st.sampled_from(["Allow", "Disallow", "Disallow"]), patterns)
    return st.builds(
        lambda lines: head + "".join(f"{name}: {pattern}\n" for name, pattern in lines),
        st.lists(rules, max_size=6),
    )


_HEAD = "User-agent: *\n"
WILDCARD_DIALECTS = ["RFC9309", "GOOGLE", "MK1994", "MK1996", "GYM2008"]
SHELL_DIALECTS = ["EXTENDED2", "EXTENDED2_1996"]
#: Dialects in which removing a rule never changes which group the other rules belong to.
STABLE_GROUP_DIALECTS = ["RFC9309", "GOOGLE"]
_wildcard_sets = st.tuples(
    files_with(_wildcard_patterns, _HEAD), st.sampled_from(WILDCARD_DIALECTS)
)
_shell_sets = st.tuples(
    files_with(_shell_patterns, _HEAD + "Robot-version: 2.0\n"), st.sampled_from(SHELL_DIALECTS)
)
rule_sets = _wildcard_sets | _shell_sets
rule_set_pairs = st.one_of(
    st.tuples(
        files_with(_wildcard_patterns, _HEAD),
        files_with(_wildcard_patterns, _HEAD),
        st.sampled_from(WILDCARD_DIALECTS),
    ),
    st.tuples(
        files_with(_shell_patterns, _HEAD + "Robot-version: 2.0\n"),
        files_with(_shell_patterns, _HEAD + "Robot-version: 2.0\n"),
        st.sampled_from(SHELL_DIALECTS),
    ),
)


@cache
def short_paths() -> tuple[str, ...]:
    paths = (
        "/" + "".join(letters)
        for size in range(SIZE)
        for letters in itertools.product(LETTERS, repeat=size)
    )
    return tuple(with_host_if_ambiguous(path) for path in paths)


def rules_of(file: str, dialect: str) -> koster.Rules:
    return koster.parse(file, koster.DIALECTS[dialect]).rules_for("*")


def line_of(decision: koster.Decision) -> int:
    return decision.rule.line if decision.rule else 0


def path_size(url: str) -> int:
    return len(url.removeprefix("https://example.com"))


@given(rule_sets)
def test_dead_rules_decide_no_short_path(
    case: tuple[str, str],
) -> None:
    rules = rules_of(*case)
    deciding = {line_of(rules.decide(path)) for path in short_paths()}
    dead = dead_rules(rules)
    assert dead.is_proved
    assert not {each.rule.line for each in dead.rules} & deciding


@given(rule_sets)
def test_live_rules_have_a_witness(case: tuple[str, str]) -> None:
    rules = rules_of(*case)
    ranking = Ranking(rules)
    examples = Examples(ranking, analysis.Budget())
    for pattern in (*ranking.numbered, ranking.no_rule):
        url = examples.decided(pattern)
        exact = examples.shortest(
            [pattern], ranking.before(pattern, pattern.literal, examples.budget)
        )
        assert (url is None) == (exact is None)
        for each in filter(None, (url, exact)):
            assert ranking.deciding(each) is pattern
            assert path_size(exact) <= path_size(each)


@given(rule_sets)
def test_covering_rules_alone_make_a_rule_dead(case: tuple[str, str]) -> None:
    """A dead rule stays dead when only the rules that cover it are left."""
    file, dialect = case
    lines = file.splitlines()
    for dead in dead_rules(rules_of(file, dialect)).rules:
        assert (dead.cause is Cause.COVERED) == bool(dead.covered_by)
        kept = {dead.rule.line, *(rule.line for rule in dead.covered_by)}
        fewer = "\n".join(
            line if number in kept or not line.startswith(("Allow", "Disallow")) else ""
            for number, line in enumerate(lines, 1)
        )
        if dialect in STABLE_GROUP_DIALECTS:
            again = dead_rules(rules_of(fewer, dialect))
            assert dead.rule.line in {each.rule.line for each in again.rules}


@given(rule_sets)
def test_classify_agrees_with_short_paths(case: tuple[str, str]) -> None:
    rules = rules_of(*case)
    result = classify(rules)
    assert result.is_proved
    verdicts = {rules.allowed(path) for path in short_paths()}
    if result.extent is Extent.SOME:
        assert rules.allowed(result.allowed or "") is True
        assert rules.allowed(result.disallowed or "") is False
    else:
        assert verdicts == {result.extent is Extent.NONE}
    if result.rule:
        assert result.rule == rules.decide(result.disallowed or "").rule
    elif result.extent is not Extent.NONE:
        assert not selection_of(rules).unmatched_allowed()


@pytest.mark.parametrize("dialect", koster.DIALECTS)
def test_rules_for_robots_txt_do_not_affect_the_extent(dialect: str) -> None:
    """Allowing /robots.txt does not make a site partly open, nor does disallowing it close one."""
    text = "User-agent: *\nAllow: /robots.txt\nDisallow: /"
    result = classify(rules_of(text, dialect))
    assert result.extent is Extent.ALL
    assert result.rule is not None
    assert result.rule.line == 3
    text = "User-agent: *\nDisallow: /robots.txt"
    assert classify(rules_of(text, dialect)).extent is Extent.NONE


def test_classify_names_the_first_disallowing_rule() -> None:
    text = "User-agent: *\nAllow: /a/b\nDisallow: /a/b\nDisallow: /c\nDisallow: /longer/one"
    result = classify(rules_of(text, "RFC9309"))
    assert result.rule is not None
    assert (result.rule.line, result.disallowed) == (4, "/c")


@given(rule_set_pairs)
def test_differences_agree_with_short_paths(
    case: tuple[str, str, str],
) -> None:
    """Each pair of rules that decides a short path differently is listed with a shortest URL."""
    old, new = rules_of(case[0], case[2]), rules_of(case[1], case[2])
    result = difference(old, new)
    assert result.is_proved
    named = {(line_of(each.before), line_of(each.after)): each for each in result.found}
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


@given(rule_sets)
def test_removing_redundant_rules_changes_nothing(case: tuple[str, str]) -> None:
    file, dialect = case
    rules = rules_of(file, dialect)
    removed = {rule.line for rule in redundant_rules(rules)}
    kept = [line for number, line in enumerate(file.splitlines(), 1) if number not in removed]
    if dialect in STABLE_GROUP_DIALECTS:
        fewer = rules_of("\n".join(kept), dialect)
        assert difference(rules, fewer).are_equal
        assert not redundant_rules(fewer)
        for path in short_paths():
            assert rules.allowed(path) == fewer.allowed(path)


def without(file: str, removed: set[int]) -> str:
    """Return the file with some lines replaced by comments."""
    return "\n".join(
        "#" if number in removed else line for number, line in enumerate(file.splitlines(), 1)
    )


@given(rule_sets)
def test_idle_rules_can_be_removed_without_effect(case: tuple[str, str]) -> None:
    """This holds whether or not dead rules are removed too."""
    file, dialect = case
    rules = rules_of(file, dialect)
    dead = {each.rule.line for each in dead_rules(rules).rules}
    likely = analysis.likely_urls(rules)
    idle = {each.rule.line: each for each in idle_rules(rules).rules}
    assert set(idle) <= set(likely)
    for line, each in idle.items():
        assert line_of(rules.decide(each.url)) == line
    for line in likely if dialect in STABLE_GROUP_DIALECTS else ():
        fewer = [rules_of(without(file, removed), dialect) for removed in ({line}, {line, *dead})]
        is_idle = all(difference(rules, each).are_equal for each in fewer)
        # A live rule without a likely URL may count as dead.
        all_have_urls = len(likely) + len(dead) == len(rules.groups[0].rules)
        assert is_idle or line not in idle
        if line not in idle:
            assert not (is_idle and all_have_urls)
        elif all_have_urls:
            instead = fewer[1].decide(idle[line].url)
            assert line_of(instead) == (idle[line].instead.line if idle[line].instead else 0)  # type: ignore[union-attr]


@given(
    files_with(_wildcard_patterns, _HEAD),
    st.sampled_from(WILDCARD_DIALECTS),
    st.sampled_from(WILDCARD_DIALECTS),
)
def test_differences_between_dialects_are_real(
    file: str, first: koster.Dialect, second: koster.Dialect
) -> None:
    """All dialects normalize these short paths alike."""
    old, new = rules_of(file, first), rules_of(file, second)
    result = difference(old, new)
    assert result.is_proved
    named = {(line_of(each.before), line_of(each.after)) for each in result.found}
    for path in short_paths():
        before, after = old.decide(path), new.decide(path)
        if before.allowed != after.allowed:
            assert (line_of(before), line_of(after)) in named
    for each in result.found:
        assert old.allowed(each.url) != new.allowed(each.url)


_escape_patterns = st.builds(
    lambda parts, end: "/" + "".join(parts) + end,
    st.lists(st.sampled_from(["a", "b", "&", "%26", "*"]), max_size=4),
    st.sampled_from(["", "", "$"]),
)
#: Decodes escapes like GYM2008, and chooses like RFC9309.
_DECODED_LONGEST = koster.Dialect(
    name="decoded",
    source="a test",
    reading=dataclasses.replace(koster.RFC9309.reading, escapes=Escapes.DECODED),
)


@given(
    file=files_with(_escape_patterns, _HEAD),
    first=st.sampled_from(["RFC9309", "GYM2008"]),
)
def test_differences_of_dialects_that_decode_escapes(file: str, first: str) -> None:
    """A rule for ``&`` matches more URLs where ``%26`` is decoded."""
    old = rules_of(file, first)
    escapes = ("a", "b", "&", "x", "%26") if "%26" in file else ("a", "b", "&", "x")
    urls = [
        "/" + "".join(parts)
        for size in range(5)
        for parts in itertools.product(escapes, repeat=size)
    ]
    for dialect in (koster.GYM2008, koster.MK1996, _DECODED_LONGEST, koster.RFC9309):
        new = koster.parse(file, dialect).rules_for("*")
        result = difference(old, new)
        assert result.is_proved
        named = {(line_of(each.before), line_of(each.after)) for each in result.found}
        for url in urls:
            before, after = old.decide(url), new.decide(url)
            if before.allowed != after.allowed:
                assert (line_of(before), line_of(after)) in named, url


@settings(max_examples=4 * settings().max_examples if EVERYTHING else 80)
@given(
    dialect=st.sampled_from(list(koster.DIALECTS)),
    file=files_with(_wildcard_patterns, _HEAD)
    | files_with(_shell_patterns, _HEAD + "Robot-version: 2.0\n"),
)
def test_file_has_no_difference_from_itself(dialect: str, file: str) -> None:
    assert difference(rules_of(file, dialect), rules_of(file + "\n", dialect)).are_equal


def test_disagreements_between_dialects() -> None:
    robots = koster.parse("User-agent: MJ12bot\nDisallow: /\nUser-agent: *\nDisallow: /a\n")
    (result,) = analysis.disagreements(robots, [koster.GOOGLE, koster.RFC9309], ["MJ12bot", "*"])
    assert (result.agent, result.dialect) == ("MJ12bot", koster.GOOGLE)
    (each,) = result.differences.found
    assert (each.url, each.before.allowed, each.after.allowed) == ("/", False, True)


_few_letters = st.builds("/{}".format, st.text("ab/", max_size=4))


@settings(max_examples=3 * settings().max_examples if EVERYTHING else 40)
@given(
    dialect=st.sampled_from(["RFC9309", "MK1996", "EXTENDED2"]),
    file=files_with(_few_letters, _HEAD)
    | files_with(_few_letters | _wildcard_patterns, _HEAD)
    | files_with(_few_letters | _shell_patterns, _HEAD + "Robot-version: 2.0\n"),
)
def test_dialects_that_decide_alike_share_their_differences(dialect: str, file: str) -> None:
    robots = koster.parse(file, koster.DIALECTS[dialect])
    others = [each for each in koster.DIALECTS.values() if each != robots.dialect]
    found = {each.dialect: each.differences for each in analysis.disagreements(robots, others, "*")}
    for other in others:
        alone = difference(robots.rules_for("*"), rules_of(file, other.name))
        assert found.get(other, analysis.Differences(())) == alone


def test_exceeding_the_budget_is_not_proved() -> None:
    """Differences found before the budget ran out are still returned."""
    stars = "".join(
        f"Disallow: /*{a}*{b}*{a}*{b}\nAllow: /*{b}*{a}*{b}*{a}\n" for a in "abc" for b in "xyz"
    )
    old = rules_of(f"User-agent: *\n{stars}", "RFC9309")
    new = rules_of(f"User-agent: *\n{stars}Disallow: /a*a*b*cc*dd\nDisallow: /new\n", "RFC9309")
    result = difference(old, new, analysis.Budget(steps=2_000))
    assert not result.is_proved
    assert not result.are_equal
    assert "/new" in {each.url for each in result.found}


def test_large_files_are_analyzed() -> None:
    """Many plain rules and a pattern of a thousand stars. docs/about/performance.md lists the times."""
    count = 30_000 if koster.COMPILED or EVERYTHING else 3_000
    lines = "".join(f"Disallow: /{number % 977}/{number}/\n" for number in range(count))
    rules = rules_of(f"User-agent: *\n{lines}Disallow: /5/", "RFC9309")
    assert dead_rules(rules).is_proved
    assert classify(rules).extent is Extent.SOME
    fewer = rules_of(f"User-agent: *\n{lines.replace('/7/', '/8/')}", "RFC9309")
    result = difference(rules, fewer)
    assert result.is_proved
    assert result.found
    stars = rules_of(
        "User-agent: *\nDisallow: /" + "*a" * 1000 + "\nAllow: /" + "*ab" * 500, "RFC9309"
    )
    dead_rules(stars)
    redundant_rules(stars)


@pytest.mark.parametrize(
    ("one", "other"),
    [("MK1994", "MK1996"), ("MK1994", "GYM2008"), ("GOOGLE", "GYM2008"), ("GOOGLE", "MK1996")],
)
def test_escapes_that_only_one_dialect_decodes_are_differences(one: str, other: str) -> None:
    """A pattern with & does not cover the same pattern in a dialect that decodes %26."""
    text = "User-agent: *\nDisallow: /&\nDisallow: /x\nDisallow: /x%26\n"
    before, after = (koster.parse(text, DIALECTS[name]).rules_for("x") for name in (one, other))
    assert before.allowed("/%26") != after.allowed("/%26")
    result = difference(before, after)
    assert "/%26" in [each.url for each in result.found]


@pytest.mark.parametrize("other", ["MK1996", "GYM2008", "EXTENDED2"])
@pytest.mark.parametrize(("escape", "character"), [("%26", "&"), ("%3D", "="), ("%3F", "?")])
def test_urls_keep_the_escapes_of_the_file(escape: str, character: str, other: str) -> None:
    """RFC 9309 distinguishes ``%26`` from ``&``; a dialect that decodes both reads another rule."""
    text = f"User-agent: *\nDisallow: /a{character}b\nDisallow: /x{escape}\n"
    before, after = (
        koster.parse(text, DIALECTS[name]).rules_for("x") for name in ("RFC9309", other)
    )
    result = difference(before, after)
    assert result.is_proved
    assert {each.url for each in result.found} == {f"/a{escape}b", f"/x{character}"}
