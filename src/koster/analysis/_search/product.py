"""The search: a shortest URL that some patterns match and others do not.

The states of the search are those of all automata together (their product). They are visited
breadth-first by the length of the URL, first those that may be nearest to the end (A*: Hart,
Nilsson and Raphael, 1968). Branches where a required match is impossible or a forbidden one is
certain are left out. Exact: if nothing is found, there is no such URL.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import NamedTuple

from .alphabet import Alphabet
from .automata import CHARACTER, UNREACHABLE, Automaton, Row
from .budget import Budget, BudgetSpentError

#: No pattern needs as many characters but one that has a byte that no URL has.
_MOST_CHARACTERS = UNREACHABLE // CHARACTER // 2

#: The steps that it takes to find the successors of a state of an automaton the first time.
_STEPS_PER_ROW = 8
#: Letters that are looked at together.
_MAX_CHAIN = 64

#: Whether the path has a ``?`` so far, and the states of all automata.
_State = tuple[bool, tuple[int, ...]]


class _Member(NamedTuple):
    """A pattern of a search; ``reading`` is the number of its reading."""

    automaton: Automaton
    reading: int
    must_match: bool

    def is_dead_end(self, state: int) -> bool:
        """Return whether no solution can be reached from a state."""
        return self.automaton.is_dead_end(state, must_match=self.must_match)

    def rows(self, letters: Alphabet, in_query: bool) -> dict[int, Row]:
        """Return the rows that are known of the states."""
        moves = letters.moves[self.reading][in_query]
        return self.automaton.rows(moves, must_match=self.must_match)


class Search:
    """A search for a URL that all of ``inside`` match and none of ``outside``.

    The automata are listed by the reading of their patterns, in the order of the alphabet.
    """

    def __init__(
        self,
        letters: Alphabet,
        inside: Sequence[Sequence[Automaton]],
        outside: Sequence[Sequence[Automaton]],
    ) -> None:
        self._letters = letters
        self._members = [
            _Member(each, reading, must_match)
            for by_reading, must_match in ((inside, True), (outside, False))
            for reading, automata in enumerate(by_reading)
            for each in automata
        ]
        self._inside = self._members[: sum(map(len, inside))]
        #: What the rest of each pattern that must match costs at least, by state.
        self._costs_left = [
            member.automaton.costs_left(letters.costs[member.reading]) for member in self._inside
        ]
        #: The steps that the last successors took.
        self._steps = 0
        self._question = letters.tokens.index("?") if letters.has_queries else None
        #: The rows that are known of each member: in paths, and in queries.
        self._rows = [
            [member.rows(letters, in_query) for member in self._members]
            for in_query in (False, True)
        ]

    def shortest(self, url: str, compared: Sequence[bytes], budget: Budget) -> str | None:
        """Return a shortest URL that begins with ``url``, or None if no URL does.

        ``compared`` is what each reading compares of ``url``.
        """
        states = tuple(
            member.automaton.after(0, compared[member.reading]) for member in self._members
        )
        start = self._question is not None and "?" in url, states
        size = len(url)
        nearest = size + self._least_left(states)
        if self._is_dead_end(states) or nearest > _MOST_CHARACTERS:
            return None
        left = budget.most_per_search
        #: How each state was reached, and the length of the URL there.
        reached: dict[_State, tuple[_State | None, str, int]] = {start: (None, "", size)}
        # By the lower bound of the length of the whole URL.
        layers: dict[int, list[tuple[int, _State]]] = {nearest: [(size, start)]}
        while layers:
            layer = layers.get(nearest)
            if not layer:
                layers.pop(nearest, None)
                nearest += 1
                continue
            size, state = layer.pop()
            if reached[state][2] < size:
                continue
            if self._accepts(state[1]):
                return url + _text_to(state, reached)
            successors = self._successors(state)
            budget.spend(self._steps)
            left -= self._steps
            if left < 0:
                raise BudgetSpentError
            for text, successor in successors:
                after = size + len(text)
                known = reached.get(successor)
                if known is None or known[2] > after:
                    reached[successor] = state, text, after
                    bound = after + self._least_left(successor[1])
                    layers.setdefault(bound, []).append((after, successor))
        return None

    def _is_dead_end(self, states: tuple[int, ...]) -> bool:
        return any(map(_Member.is_dead_end, self._members, states))

    def _least_left(self, states: tuple[int, ...]) -> int:
        """Return the minimum number of characters until all required patterns match."""
        costs = (
            left[state] if left is not None and state >= 0 else 0
            for left, state in zip(self._costs_left, states, strict=False)
        )
        return -(-max(costs, default=0) // CHARACTER)

    def _accepts(self, states: tuple[int, ...]) -> bool:
        """Return whether a path that ends here is a solution."""
        return all(
            member.automaton.accepts(state) == member.must_match
            for member, state in zip(self._members, states, strict=True)
        )

    def _successors(self, state: _State) -> list[tuple[str, _State]]:
        """Return the different successors of a state, each with a text that leads to it."""
        in_query, states = state
        self._steps = 1 + len(states)
        chains = self._forced(in_query, states)
        if chains is None:
            letters, successors = self._free(in_query, states)
            chains = [[letter] for letter in letters]
        else:
            steps = [(chain, self._step(in_query, states, chain)) for chain in chains]
            steps = [(chain, after) for chain, after in steps if not self._is_dead_end(after)]
            chains, successors = [chain for chain, _ in steps], [after for _, after in steps]
        # Many letters lead to the same states.
        found: dict[_State, list[int]] = {}
        for chain, after in zip(chains, successors, strict=True):
            found.setdefault((in_query or chain[0] == self._question, after), chain)
        tokens = self._letters.tokens
        return [
            ("".join([tokens[letter] for letter in chain]), after) for after, chain in found.items()
        ]

    def _forced(self, in_query: bool, states: tuple[int, ...]) -> list[list[int]] | None:
        """Return the letters that can lead to a match, if a pattern is within its prefix.

        If there is only one, with those after it as long as there is no choice.
        """
        for member, reached in zip(self._inside, states, strict=False):
            moves = self._letters.moves[member.reading][in_query]
            state = reached
            some = member.automaton.forced_letters(state, moves)
            if some is None:
                continue
            chain: list[int] = []
            while some is not None and len(some) == 1 and len(chain) < _MAX_CHAIN:
                if some[0] == self._question:
                    break
                chain += some
                state = member.automaton.after(state, moves.raw[some[0]])
                some = member.automaton.forced_letters(state, moves)
            self._steps += len(chain)
            return [chain] if chain else [[letter] for letter in some or ()]
        return None

    def _step(self, in_query: bool, states: tuple[int, ...], chain: list[int]) -> tuple[int, ...]:
        raw = [
            b"".join([moves[in_query].raw[letter] for letter in chain])
            for moves in self._letters.moves
        ]
        return tuple(
            [
                member.automaton.after(state, raw[member.reading])
                for member, state in zip(self._members, states, strict=True)
            ]
        )

    def _free(
        self, in_query: bool, states: tuple[int, ...]
    ) -> tuple[list[int], Iterable[tuple[int, ...]]]:
        """Return the first letter and those that lead elsewhere, and the successors with each."""
        chosen = 1 if self._question is None else 1 | 1 << self._question
        dead = 0
        rows = []
        for member, known, state in zip(self._members, self._rows[in_query], states, strict=True):
            found = known.get(state)
            if found is None:
                self._steps += _STEPS_PER_ROW
                moves = self._letters.moves[member.reading][in_query]
                found = member.automaton.add_row(state, moves, must_match=member.must_match)
            rows.append(found[0])
            chosen |= found[1]
            dead |= found[2]
        chosen &= ~dead
        letters = [letter for letter in range(len(self._letters.tokens)) if chosen >> letter & 1]
        if len(letters) < 2:
            return letters, [tuple([row[letter] for row in rows]) for letter in letters]
        return letters, zip(*map(itemgetter(*letters), rows), strict=True)


def _text_to(state: _State, reached: dict[_State, tuple[_State | None, str, int]]) -> str:
    """Return the letters that lead to a state."""
    letters = []
    before, letter, _ = reached[state]
    while before is not None:
        letters.append(letter)
        before, letter, _ = reached[before]
    return "".join(reversed(letters))
