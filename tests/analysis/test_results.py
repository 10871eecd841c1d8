"""Results of the analysis for small files, and what is left when a budget is spent."""

from __future__ import annotations

import string
from dataclasses import replace

import pytest

import koster
from koster.analysis import (
    Budget,
    Cause,
    Classification,
    Differences,
    Extent,
    IdleRules,
    WholeFile,
    _differences,
    _names,
    _pairs,
    classify,
    dead_rules,
    difference,
    disagreements,
    first_of,
    idle_rules,
    likely_urls,
    names_in,
    paired_names,
    redundant_rules,
)
from koster.analysis._pairs import Pairs
from koster.analysis._search import BudgetSpentError
from koster.dialects import Escapes

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
    found, is_proved = dead(rules, Budget(steps=600))
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


def test_a_search_that_is_too_long_leaves_a_budget_for_other_lines() -> None:
    hard = [f"Disallow: /h/*a*b{'*c' * n}\nAllow: /h/*a{'*b' * n}*c\n" for n in range(1, 8)]
    rules = rules_of(f"{HEAD}Disallow: /q\n{''.join(hard)}Disallow: /q/{'r' * 10}\n")
    budget = Budget(steps=1000)
    assert [each.line for each in redundant_rules(rules, budget=budget)] == [3, 4, 17]
    assert not budget.is_spent


def test_rule_that_another_dialect_needs_is_not_redundant() -> None:
    """RFC 9309 reads ``:`` and ``%3A`` alike, Google does not."""
    body = (
        f"{HEAD}Disallow: /x:\nDisallow: /x%3Ab\nDisallow: /x%3Ac\nDisallow: /y%\nDisallow: /y%a\n"
    )
    assert idle_lines(body) == [3, 4, 6]
    assert idle_lines(body, koster.GOOGLE) == [6]


def test_undecided_in_another_dialect_is_not_surely_dead() -> None:
    robots = koster.parse(f"{HEAD}Disallow: /*é\nDisallow: /é\nDisallow: /*ü\nDisallow: /ü\n")
    for steps, proved, surely in ((100, [3, 5], [3, 5]), (8, [3], [])):
        whole = WholeFile(robots, (koster.GOOGLE,), Budget(steps=steps))
        ((_, _, found),) = whole.dead
        assert [each.rule.line for each in found.rules] == proved
        assert found.is_proved is (proved == surely)
        assert [each.rule.line for each, _ in whole.surely_dead] == surely
        assert whole.is_proved is (proved == surely)


def test_redundant_shell_pattern() -> None:
    """The first rule decides all longer paths; ``/`` is allowed without a rule, too."""
    body = f"{SHELL}Disallow: /*?\nAllow: *\nDisallow: /??*\n"
    (idle,) = idle_rules(rules_of(body, koster.EXTENDED2)).rules
    assert (idle.rule.line, idle.url, idle.instead) == (4, "/", None)


NARROW = "Disallow: /a\nDisallow: /a/b\n"
#: So many rules for all paths that even checking likely URLs counts as comparisons.
MANY = "".join(f"Disallow: /*{number}\n" for number in range(70))


@pytest.mark.parametrize("file", [NARROW, MANY])
def test_redundant_rules_need_a_budget(file: str) -> None:
    rules = rules_of(HEAD + file)
    first = 3 if file is NARROW else 12
    assert idle_rules(rules).rules[0].rule.line == redundant_rules(rules)[0].line == first
    assert idle_rules(rules, Budget(steps=0)) == IdleRules((), is_proved=False)
    assert redundant_rules(rules, budget=Budget(steps=0)) == ()


def test_likely_urls_among_many_stars_need_a_budget() -> None:
    rules = rules_of(HEAD + "".join(f"Disallow: /*a{number}b\n" for number in range(300)))
    assert idle_rules(rules, Budget(steps=0)) == IdleRules((), is_proved=False)


def test_budget_may_be_spent_anywhere() -> None:
    rules = rules_of(f"{HEAD}{NARROW}Allow: /*a*b\nDisallow: /*ab$\nAllow: /c\n")
    theirs = rules_of(f"{HEAD}{NARROW}Allow: /*b*a\nDisallow: /*:b\n", koster.GOOGLE)
    for steps in range(300):
        for ask in (dead_rules, idle_rules, classify, likely_urls):
            ask(rules, Budget(steps))
        redundant_rules(rules, theirs, budget=Budget(steps))
        difference(rules, theirs, Budget(steps))


def test_nothing_is_proved_without_a_budget() -> None:
    before, after = rules_of(f"{HEAD}Disallow: /a\n"), rules_of(f"{HEAD}Disallow: /b\n")
    assert difference(before, after, Budget(steps=0)) == Differences((), is_proved=False)
    hidden = rules_of(f"{HEAD}Disallow: /*a*b\nAllow: /*a*b\n")
    assert dead(hidden, Budget(steps=0)) == ([(2, Cause.COVERED, [3])], True)
    stars = rules_of(f"{HEAD}Disallow: /*a*b\nAllow: /*ab*****\nAllow: /*axyb****\n")
    assert dead(stars, Budget(steps=5)) == ([], False)
    assert classify(stars, Budget(steps=5)) == Classification(Extent.NONE, "/", None, None, False)
    assert classify(stars).extent is Extent.SOME


def test_of_very_many_plain_rules_the_shortest_urls_are_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before, after = rules_of(HEAD), rules_of(f"{HEAD}Disallow: /bb\nDisallow: /a\nDisallow: /ccc\n")
    assert difference(before, after).is_proved
    monkeypatch.setattr(_differences, "_MAX_PLAIN", 2)
    found = difference(before, after)
    assert not found.is_proved
    assert [each.url for each in found.found] == ["/a", "/bb"]


def test_very_many_rules_are_not_compared_with_those_of_a_dialect() -> None:
    body = f"{HEAD}Disallow: /a$\nAllow: /b\n".encode()
    robots, other = koster.parse(body), koster.parse(body, koster.MK1994)
    rules, theirs = robots.rules_for("x"), other.rules_for("x")
    assert WholeFile(robots).difference(rules, theirs).found
    whole = WholeFile(robots, budget=Budget(steps=10))
    assert whole.difference(rules, theirs) == Differences((), is_proved=False)


def test_url_that_the_engine_decides_alike_is_no_difference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The search could be wrong; what the engine says counts."""
    monkeypatch.setattr(Pairs, "_shortest", lambda *_: "/same")
    before, after = rules_of(f"{HEAD}Disallow: /*b\n"), rules_of(f"{HEAD}Disallow: /*c\n")
    assert difference(before, after) == Differences((), is_proved=False)


def test_only_some_pairs_of_a_hard_rule_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def too_hard(*_: object) -> None:
        raise BudgetSpentError

    monkeypatch.setattr(Pairs, "_shortest", too_hard)
    monkeypatch.setattr(Pairs, "_likely", lambda *_: tried.append(1))
    allows = "".join(f"Allow: /{number}/\n" for number in range(10))
    body = f"{HEAD}Disallow: /*:e*f\n{allows}Disallow: /x%3Ay\n"
    found = difference(rules_of(body), rules_of(body, koster.GOOGLE), once=True)
    assert found == Differences((), is_proved=False)
    assert len(tried) == 6
    difference(rules_of(body), rules_of(body, koster.GOOGLE))
    assert len(tried) > 6 + 20


def test_rules_that_take_too_long_have_no_likely_url(monkeypatch: pytest.MonkeyPatch) -> None:
    body = HEAD + "".join(f"Disallow: /*{number}*x\n" for number in range(100))
    whole = WholeFile(koster.parse(body))
    assert whole.likely_url(2) is not None
    whole = WholeFile(koster.parse(body))
    monkeypatch.setattr("koster.analysis._files.Budget", lambda: Budget(steps=0))
    assert whole.likely_url(2) is None
    assert not whole.is_proved


def test_shortest_url_of_a_class() -> None:
    """A class is one character, and ``[[a]*`` matches its own text as well."""
    before, after = (
        rules_of(SHELL, koster.EXTENDED2),
        rules_of(f"{SHELL}Disallow: /[[a]*\n", koster.EXTENDED2),
    )
    assert [each.url for each in difference(before, after).found] == ["/a"]


@pytest.mark.parametrize("character", ["\x01", "\x7f"])
def test_shortest_url_may_need_a_control_character(character: str) -> None:
    """Google compares URLs as they are. An Allow rule overrides what ends with the character."""
    body = f"{HEAD}Disallow: /*{character}\nAllow: /*{character}$\n"
    found = difference(rules_of(HEAD, koster.GOOGLE), rules_of(body, koster.GOOGLE))
    assert [each.url for each in found.found] == [f"/{character}x"]


def test_run_of_a_pattern_may_begin_inside_an_escape() -> None:
    """The dialect of 2008 compares a literal dollar as ``%24``, which ``/*4`` matches."""
    robots = koster.parse(f"{HEAD}Disallow: /*4\n")
    (found,) = disagreements(robots, [koster.GYM2008], ["x"])
    assert [each.url for each in found.differences.found] == ["/$"]


@pytest.mark.parametrize("rule", ["/a*b", "/*a?"])
def test_rules_on_other_lines_decide_alike(rule: str) -> None:
    group = f"User-agent: *\nDisallow: {rule}\n"
    moved = rules_of(f"User-agent: b\nDisallow: /\n\n{group}", koster.RFC9309)
    assert difference(rules_of(group, koster.RFC9309), moved, Budget(steps=100)).are_equal


def test_proof_for_two_readings_is_none_for_one() -> None:
    """Two readings are compared only on URLs that clients send, which have no ``<``."""
    robots = koster.parse(f"{HEAD}Disallow: /a\nAllow: /a<\n", koster.GOOGLE)
    directives = koster.GOOGLE.directives - {koster.Directive.ALLOW}
    alike = replace(koster.GOOGLE, name="alike", directives=directives)
    other = replace(alike, name="other", reading=replace(alike.reading, escapes=Escapes.CANONICAL))
    (alone,) = disagreements(robots, [alike], ["x"])
    assert [each.url for each in alone.differences.found] == ["/a<"]
    assert disagreements(robots, [other, alike], ["x"]) == (alone,)


@pytest.mark.parametrize(
    ("rule", "are_equal"),
    [("/*a?", True), ("/*4", True), ("/é*a", True), ("/*0%20", False), ("/a b", False)],
)
def test_dialects_with_wildcards_read_most_rules_alike(rule: str, are_equal: bool) -> None:
    """A star may end within an escape that URLs have, and Google does not escape spaces."""
    body = f"{HEAD}Disallow: {rule}\n"
    found = difference(rules_of(body), rules_of(body, koster.GOOGLE), Budget(steps=20_000))
    assert found.is_proved
    assert found.are_equal is are_equal


def test_budget_may_be_spent_to_its_end() -> None:
    budget = Budget(steps=2)
    budget.spend(2)
    assert not budget.is_spent
    with pytest.raises(BudgetSpentError):
        budget.spend(1)
    assert budget.is_spent


def test_likely_urls_of_a_number_of_pairs_are_tried_without_a_budget_for_searches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def shortest(*_: object) -> None:
        raise BudgetSpentError

    monkeypatch.setattr(Pairs, "_shortest", shortest)
    monkeypatch.setattr(_pairs, "_MAX_SAMPLES", 30)
    before = rules_of(HEAD + "".join(f"Allow: /*a{number}z*b\n" for number in range(10, 30)))
    after = rules_of(HEAD + "".join(f"Disallow: /*c{number}z*d\n" for number in range(10, 30)))
    found = difference(before, after)
    assert len(found.found) == 30
    assert not found.is_proved
    for each in found.found:
        assert before.allowed(each.url) is not after.allowed(each.url)


@pytest.mark.parametrize(
    ("rules", "once", "count"),
    [
        ("Disallow: /*:e*f\nAllow: /a/\nAllow: /b/\nAllow: /c/\n", True, 2),
        ("Disallow: /*:e*f\nAllow: /a/\nAllow: /b/\nAllow: /c/\n", False, 10),
    ],
)
def test_one_url_for_each_rule_needs_no_second_search_for_a_hard_rule(
    monkeypatch: pytest.MonkeyPatch, rules: str, once: bool, count: int
) -> None:
    searches = []

    def shortest(*_: object) -> None:
        searches.append(1)
        raise BudgetSpentError

    monkeypatch.setattr(Pairs, "_shortest", shortest)
    body = f"{HEAD}{rules}Disallow: /x%3Ay\n"
    found = difference(rules_of(body), rules_of(body, koster.GOOGLE), once=once)
    assert not found.is_proved
    assert len(searches) == count


def test_very_long_rules_among_many_have_no_likely_url() -> None:
    """A decision may look for each of the others in each place."""
    others = "".join(f"Disallow: *ab{number}\n" for number in range(3_000))
    for size, expected in ((9, "/b" + 9 * "a"), (600_000, None)):
        whole = WholeFile(koster.parse(f"{HEAD}Allow: /b{'a' * size}\n{others}"))
        assert whole.likely_url(2) == expected


def test_idle_rules_of_a_whole_file_need_a_budget() -> None:
    robots = koster.parse(HEAD + NARROW)
    assert [each.rule.line for each in WholeFile(robots).surely_idle] == [3]
    whole = WholeFile(robots, idle_budget=Budget(steps=0))
    assert whole.is_complete
    assert whole.surely_idle == []
    assert not whole.is_complete
    assert not whole.is_proved  # type: ignore[unreachable]


@pytest.mark.parametrize(("steps", "lines"), [(20_000, [2, 4]), (300, [4])])
def test_search_that_takes_too_long_leaves_out_no_other_rule(steps: int, lines: list[int]) -> None:
    """Whether line 2 is redundant takes a search."""
    robots = koster.parse(f"{HEAD}Allow: *a$\nDisallow: *b$\nAllow: /c\n")
    whole = WholeFile(robots, idle_budget=Budget(steps))
    assert [each.rule.line for each in whole.surely_idle] == lines
    assert whole.is_complete
    assert whole.is_proved is (len(lines) == 2)


def test_names_of_several_words() -> None:
    """The first word of a name selects its group, too."""
    body = "User-agent: Foo Bar Baz\nDisallow: /a\nUser-agent: Qux/1.0 x/2\nDisallow: /\n"
    assert names_in(koster.parse(body)) == [["*"], ["Foo Bar Baz"], ["Foo"], ["Qux"]]


@pytest.mark.parametrize(("limit", "count"), [(88, 4), (87, 3)])
def test_number_of_compared_names_is_limited(
    limit: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each name is compared with all four lines. A header counts as 20; the last name is kept."""
    monkeypatch.setattr(_names, "_MAX_NAME_COMPARISONS", limit)
    names = [["Foo/1 (x)"], ["a"], ["b"]]
    robots = koster.parse("User-agent: a\nUser-agent: a\nDisallow:\nUser-agent: b\nUser-agent: c")
    assert first_of(names, robots) == names[:count]


@pytest.mark.parametrize(("limit", "count"), [(3, 0), (4, 1), (27, 1), (28, 2), (52, 3)])
def test_rules_of_agents_are_selected_as_long_as_that_takes_seconds(
    limit: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four names to compare with; then each rule counts as 20."""
    monkeypatch.setattr(_names, "_MAX_NAME_COMPARISONS", limit)
    names = "".join(f"User-agent: {name}\n" for name in "abcd")
    whole = WholeFile(koster.parse(f"{names}Disallow: /a\n"))
    selected = [rules for rules in map(whole.rules_for, "abc") if rules]
    assert len(selected) == count


def test_sets_beyond_the_limit_of_rules_are_not_classified(monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest is."""
    monkeypatch.setattr(WholeFile, "_max_rules", 1)
    robots = koster.parse(
        "User-agent: a\nDisallow: /\nUser-agent: b\nDisallow: /\nUser-agent: *\nDisallow: /\n"
    )
    whole = WholeFile(robots)
    found = [whole.classification(robots.rules_for(name)) for name in "abc"]
    assert [each.extent for each in found] == [Extent.ALL, Extent.ALL, Extent.SOME]
    assert [each.is_proved for each in found] == [True, True, False]


def test_other_dialects_are_compared_up_to_a_limit_of_rules(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(WholeFile, "_max_rules", 1)
    robots = koster.parse("".join(f"User-agent: {name}\nDisallow: /a*$b\n" for name in "abc"))
    whole = WholeFile(robots)
    other = koster.parse(robots.body, koster.GOOGLE)
    found = [whole.difference(robots.rules_for(name), other.rules_for(name)) for name in "abc"]
    assert [each.is_proved for each in found] == [True, True, False]


def test_very_long_rules_are_not_the_first_to_classify_with() -> None:
    """All rules may be compared with each of their characters, so a budget counts them."""
    robots = koster.parse(f"User-agent: *\nDisallow: /{'a' * 3_000}\nDisallow: /b\n")
    assert classify(robots.rules_for("a")).disallowed == "/b"
    robots = koster.parse(f"User-agent: *\nDisallow: /{'a' * 3_000}\n")
    assert classify(robots.rules_for("a")).disallowed == f"/{'a' * 3_000}"


def test_number_of_paired_names_is_limited() -> None:
    named = [["*"], *([f"Bot{number}"] for number in range(201))]
    pairs = list(paired_names(named, koster.parse("", koster.MK1994)))
    assert len(pairs) == 200 * 199 // 2
    assert pairs[0] == "Bot0 Bot1"
    assert not list(paired_names(named, koster.parse("")))


def test_rule_sets_beyond_the_limit_of_rules_are_not_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing is said to be dead that is in one of them."""
    monkeypatch.setattr(WholeFile, "_max_rules", 4)
    dead = "Disallow: /a\nDisallow: /a\n"
    body = f"User-agent: a\n{dead}User-agent: b\n{dead}Disallow: /b\n"
    robots = koster.parse(f"{body}User-agent: c\n{dead}Disallow: /c\nDisallow: /d\n")
    whole = WholeFile(robots)
    assert [(name, each.is_proved) for name, _, each in whole.dead] == [
        ("*", True),
        ("a", True),
        ("b", True),
        ("c", False),
    ]
    assert [each.rule.line for each, _ in whole.surely_dead] == [3, 6]


@pytest.mark.parametrize(("limit", "lines"), [(8, [6]), (4, [])])
def test_rules_of_a_group_that_is_also_in_a_set_beyond_the_limit_are_not_dead(
    monkeypatch: pytest.MonkeyPatch, limit: int, lines: list[int]
) -> None:
    monkeypatch.setattr(WholeFile, "_max_rules", limit)
    names = "".join(f"User-agent: {name}\n" for name in "abcd")
    own = "User-agent: b\nDisallow: /b\nUser-agent: c\nDisallow: /c\nDisallow: /d\nDisallow: /e\n"
    own += "User-agent: d\nDisallow: /f\n"
    robots = koster.parse(f"{names}Disallow: /a\nDisallow: /a\n{own}")
    assert [each.rule.line for each, _ in WholeFile(robots).surely_dead] == lines


@pytest.mark.parametrize(("limit", "most", "count"), [(5, None, 4), (4, None, 4), (9, 3, 3)])
def test_without_all_sets_of_a_file_no_rule_is_dead_or_idle(
    monkeypatch: pytest.MonkeyPatch, limit: int, most: int | None, count: int
) -> None:
    """It may have an effect for another crawler. The set that exceeds the limit is kept."""
    monkeypatch.setattr("koster.analysis._files.MAX_RULES_OF_SETS", limit)
    dead = "Disallow: /\nDisallow: /a\nDisallow: /a\n"
    robots = koster.parse(f"User-agent: a\n{dead}User-agent: b\n{dead}User-agent: c\n{dead}")
    whole = WholeFile(robots, most=most)
    assert len(whole.sets) == count
    assert len(whole.surely_dead) == (3 if whole.has_all_sets else 0)
    assert len(whole.surely_idle) == (3 if whole.has_all_sets else 0)
    assert whole.has_all_sets == (limit == 6)
