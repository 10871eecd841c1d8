"""Indexes of entries find the same as a look at all of them."""

from __future__ import annotations

import random

import pytest

import koster
from koster.analysis import WholeFile, _overlaps, _questions, dead_rules, difference, idle_rules
from koster.analysis._index import Keys
from koster.analysis._ranked import Ranked
from koster.analysis._urls import ANY_URL

#: All lines of a file: with them, no entries are left out.
ALL = range(1_000)

KEYS = ("/", "/a", "/a/", "/a/b", "/ab", "/b", "/c", "/c/d")


@pytest.mark.parametrize("rules_per_key", [1, 40])
def test_overlapping_entries_with_a_lower_order(rules_per_key: int) -> None:
    rng = random.Random(rules_per_key)
    patterns = [f"{key}*{rng.randrange(1_000)}x" for key in KEYS for _ in range(rules_per_key)]
    rng.shuffle(patterns)
    body = "User-agent: *\n" + "".join(f"Disallow: {pattern}\n" for pattern in patterns)
    entries = Ranked(koster.parse(body).rules_for("x")).entries
    index = Keys(entries)
    for key in (b"", b"/abc", b"/d", *(key.encode() for key in KEYS)):
        overlapping = index.both_ways(key)
        assert {each.order for each in overlapping} == {
            each.order
            for each in entries
            if each.literal.startswith(key) or key.startswith(each.literal)
        }
        assert index.count_both_ways(key) == len(overlapping)
        for order in (0, len(entries) // 3, len(entries)):
            found = index.both_ways_before(key, order)
            assert found == [each for each in overlapping if each.order < order]


def test_first_of_overlapping_entries() -> None:
    rng = random.Random(1)
    patterns = [f"{rng.choice(KEYS)}{'*' * rng.randrange(2)}{number}" for number in range(60)]
    body = "User-agent: *\n" + "".join(f"Disallow: {pattern}\n" for pattern in patterns)
    ranked = Ranked(koster.parse(body).rules_for("x"))
    index = Keys(ranked.entries)
    expected = {
        each.order
        for each in ranked.entries
        if all(other.order >= each.order for other in index.both_ways(each.key))
    }
    assert {*index.first_of_overlapping()} == expected
    # The first few are looked at one by one, the others in a list.
    assert {each.order for each in ranked.entries if ranked.decides_all(each.order)} == expected
    assert {each.order for each in ranked.entries if ranked.decides_all(each.order)} == expected


@pytest.mark.parametrize("counted", [1, 20_000])
def test_entries_are_found_by_any_rare_part(monkeypatch: pytest.MonkeyPatch, counted: int) -> None:
    monkeypatch.setattr(_overlaps, "_MAX_COUNTED", counted)
    rng = random.Random(counted)
    patterns = [f"/*abcabc{rng.randrange(30)}def*{rng.randrange(9)}" for _ in range(200)]
    body = "User-agent: *\n" + "".join(f"Disallow: {pattern}\n" for pattern in patterns)
    ranked = Ranked(koster.parse(body).rules_for("x"))
    for number in range(30):
        for path in (f"/abcabc{number}def5", f"/xabcabc{number}/abcabc7def12", "/abcdef1"):
            raw = path.encode()
            found = ranked.overlaps.parts().candidates(raw, raw)
            matching = [each for each in ranked.overlaps.first.values() if each.matches(raw)]
            assert {each.order for each in matching} <= {each.order for each in found}


@pytest.mark.parametrize("keeps_next", [False, True])
@pytest.mark.parametrize("dialect", koster.DIALECTS.values(), ids=str)
def test_entries_without_repeated_ones(dialect: koster.Dialect, keeps_next: bool) -> None:
    rng = random.Random(2)
    patterns = ["/a", "/a*", "/a**", "/a$", "*a", "/*a", "/a*b$", "/[a]*", "", "/robots.txt"]
    patterns += ["/index.html", "/", "/index.htm*", "https://e.com/", "a*"]
    body = "User-agent: *\n" + "".join(
        f"{rng.choice(['Allow', 'Disallow'])}: {rng.choice(patterns)}\n" for _ in range(60)
    )
    rules = koster.parse(body, dialect).rules_for("x")
    whole, some = Ranked(rules, lines=ALL), Ranked(rules, keeps_next=keeps_next)
    expected = []
    for paths, first in whole.overlaps.first.items():
        later = [each for each in whole.overlaps.later.get(paths, []) if each.row != first.row]
        expected += [first] if first.is_rule else later[:1]
        if not keeps_next and first.literal and not first.literal.startswith(b"/"):
            # It matches no path.
            expected.remove(first)
        if keeps_next:
            later = [each for each in later if each.row != expected[-1].row]
            expected += later[:1]
    in_order = sorted(expected, key=lambda entry: entry.order)
    assert [each.row for each in some.entries if each.is_rule] == [
        each.row for each in in_order if each.is_rule
    ]
    rows = [each.row for each in some.entries if each.is_rule]
    assert sorted([*rows, *some.left_out]) == sorted(
        each.row for each in whole.entries if each.is_rule
    )
    if keeps_next:
        assert {*some.first_of_left_out()} == {*some.left_out}
    for url in ("/", "/a", "/ab", "/a/b", "/ba", "/b", "/robots.txt", "/index.html"):
        assert some.deciding(url).row == whole.deciding(url).row


@pytest.mark.parametrize("dialect", koster.DIALECTS.values(), ids=str)
@pytest.mark.parametrize("seed", range(20))
def test_repeated_rules_do_not_change_what_is_dead_or_idle(
    monkeypatch: pytest.MonkeyPatch, dialect: koster.Dialect, seed: int
) -> None:
    """With entries for all rules, the results are the same."""
    rng = random.Random(seed)
    patterns = ["/a", "/a*", "/a$", "/*a", "/a/b", "/a*b", "/ab", "/", "", "/robots.txt", "/b"]
    patterns += ["/index.html", "/[ab]*"]
    some = rng.choices(patterns, k=rng.randrange(2, 9))
    rules = "".join(f"{rng.choice(['Allow', 'Disallow'])}: {rng.choice(some)}\n" for _ in range(12))
    body = f"User-agent: *\n{rules}"
    found = dead_rules(koster.parse(body, dialect).rules_for("x"))
    idle = idle_rules(koster.parse(body, dialect).rules_for("x"))
    monkeypatch.setattr(_questions, "Ranked", lambda rules, **_: Ranked(rules, lines=ALL))
    assert dead_rules(koster.parse(body, dialect).rules_for("x")) == found
    assert idle_rules(koster.parse(body, dialect).rules_for("x")) == idle


def test_entries_of_a_rule_with_two_patterns() -> None:
    """Google's parser also reads a rule about an index page as one about its folder."""
    body = "User-agent: *\nAllow: /a/index.html\nDisallow: /\n"
    ranked = Ranked(koster.parse(body, koster.GOOGLE).rules_for("x"))
    assert sorted(len(entries) for entries in ranked.by_row.values()) == [1, 2]


def test_removed_entries_do_not_count() -> None:
    body = "User-agent: *\n" + "Disallow: /a*b\n" * 4 + "Disallow: /a*bc\n"
    ranked = Ranked(koster.parse(body).rules_for("x"), lines=ALL)
    longer, *alike = (each for each in ranked.entries if each.rest)
    orders = [each.order for each in alike]
    last = ranked.no_rule_entry.order
    overlaps = ranked.overlaps

    def found(*gone: int) -> tuple[int, int]:
        left = overlaps.deciding_without(b"/aXb", {*gone})
        return left, overlaps.covered_by(longer, {longer.order, *gone})

    assert found() == (orders[0], orders[0])
    assert found(orders[0]) == (orders[1], orders[1])
    overlaps.remove({orders[1], orders[2]})
    assert found(orders[0]) == (orders[3], orders[3])
    assert found(orders[0], orders[3]) == (last, last)
    overlaps.restore()
    assert found(orders[0]) == (orders[1], orders[1])


@pytest.mark.parametrize("special", ["%0A", "%0a", "%C3%A9", "%7e", "%4", "%"])
def test_escapes_in_the_keys_of_entries(special: str) -> None:
    patterns = ["/a", f"/a{special}", f"/{special}a", f"/a/{special}/b"]
    body = "User-agent: *\n" + "".join(f"Disallow: {pattern}\n" for pattern in patterns)
    for dialect in koster.DIALECTS.values():
        rules = koster.parse(body, dialect).rules_for("x")
        entries = Ranked(rules).entries
        keys = [each.key for each in Ranked(rules, likeness=ANY_URL).entries]
        # As if there were no other entries.
        for entry, key in zip(entries, keys, strict=True):
            if entry.is_rule:
                alone = f"User-agent: *\n{body.splitlines()[entry.row]}\n"
                others = Ranked(
                    koster.parse(alone, dialect).rules_for("x"), likeness=ANY_URL
                ).entries
                assert key in {each.key for each in others}


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
