"""What makes the analysis fast finds the same as trying everything."""

from __future__ import annotations

import itertools
import random

from hypothesis import example, given
from hypothesis import strategies as st

import koster
from koster.analysis import Budget, names_in
from koster.analysis._ranking import Ranking
from koster.analysis._search.automata import Starred

_TEXTS = st.text("/ab", max_size=14).map(str.encode)
_RESTS = st.text("ab*", max_size=9).map(lambda text: f"*{text}".rstrip("*").encode())
_LONG_TEXTS = st.lists(st.sampled_from(["abc", "cab", "a", "?", "/"]), max_size=5).map("".join)


@given(_TEXTS, _RESTS, st.booleans(), _TEXTS)
@example(b"/", b"*aab", True, b"/aaab")
@example(b"/", b"*aab*aa", False, b"/aabaa")
@example(b"/", b"*a*a", False, b"/a")
@example(b"/", b"", True, b"/a")
def test_start_of_an_automaton_is_the_state_after_each_byte(
    literal: bytes, rest: bytes, is_anchored: bool, path: bytes
) -> None:
    automaton = Starred(literal, rest, is_anchored)
    for raw in (path, literal + path):
        assert automaton.after(0, raw) == _after_each(automaton, raw)[-1]


def test_agents_of_one_group_are_in_one_list() -> None:
    robots = koster.parse("User-agent: a\nUser-agent: b\nDisallow: /\nUser-agent: c\nDisallow: /c")
    assert names_in(robots) == [["*"], ["a", "b"], ["c"]]


@given(st.lists(_LONG_TEXTS.map("/*{}".format), max_size=6), _LONG_TEXTS.map("/{}".format))
def test_patterns_are_found_by_the_index(patterns: list[str], url: str) -> None:
    lines = "".join(f"Disallow: {pattern}\n" for pattern in patterns)
    ranking = Ranking(koster.parse(f"User-agent: *\n{lines}").rules_for("x"))
    assert ranking.deciding_without((), ranking.path_of(url), Budget()) is ranking.deciding(url)
    for each in ranking.patterns:
        first = next(other for other in ranking.patterns if other.covers(each))
        assert ranking.coverer(each, Budget()) is first
        assert each.matches(each.text) == each.automaton.accepts(each.automaton.after(0, each.text))


def test_many_bytes_lead_where_single_ones_do() -> None:
    rng = random.Random(1)
    for _ in range(300):
        rest = b"".join(b"*" + bytes(rng.choices(b"ab", k=rng.randint(1, 4))) for _ in range(3))
        automaton = Starred(b"/a", rest, rng.random() < 0.5)
        for _ in range(20):
            text = b"/a" + bytes(rng.choices(b"ab", k=rng.randint(0, 20)))
            cut = rng.randint(0, len(text))
            states = _after_each(automaton, text)
            assert automaton.after(states[cut], text[cut:]) == states[-1], (rest, text, cut)


def _after_each(automaton: Starred, text: bytes) -> list[int]:
    """Return the states before and after each byte."""
    return [
        *itertools.accumulate(text, lambda at, byte: automaton.after(at, b"%c" % byte), initial=0)
    ]
