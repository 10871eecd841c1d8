"""The one question behind all others: a shortest URL that some patterns match and others do not.

The shortest first over the states of all automata at once (Hart, Nilsson and Raphael, 1968). What
must match and no longer can, or must not match and always will, is not gone on with, so that of the
many combinations of what has matched few are ever seen. Exact: without an answer there is no such
URL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._automata import PRUNED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._alphabet import Alphabet
    from ._automata import Automaton

#: Whether a ``?`` has been passed, and the state of each automaton.
_Place = tuple[bool, tuple[int, ...]]


class BudgetSpentError(Exception):
    """A question took more states than it may."""


class Budget:
    """How much may be done before an answer is *not proved*.

    ``states`` of automata for one question and ``total`` for all that answers need; how often
    rules are ``compared`` with one another. The defaults are some seconds of work. It is spent by
    those who are given it: several answers can share one.
    """

    def __init__(
        self, states: int = 10_000, total: int = 100_000, compared: int = 3_000_000
    ) -> None:
        self._each = states
        self._total = total
        self._compared = compared
        self._left = 0

    def begin(self) -> None:
        """Begin another question.

        Raises:
            BudgetSpentError: there is nothing left for it.
        """
        if self._total <= 0:
            raise BudgetSpentError
        self._left = min(self._each, self._total)

    def spend(self, states: int) -> None:
        """Look at some states.

        Raises:
            BudgetSpentError: there are none left.
        """
        self._left -= states
        self._total -= states
        if self._left < 0:
            raise BudgetSpentError

    def check(self, states: int) -> None:
        """See that a question that needs so many states at least can be answered.

        Raises:
            BudgetSpentError: it cannot.
        """
        if states > min(self._each, self._total):
            raise BudgetSpentError

    def compare(self, rules: int) -> None:
        """Compare a rule with so many others.

        Raises:
            BudgetSpentError: that is more than may be.
        """
        self._compared -= rules
        if self._compared < 0:
            raise BudgetSpentError


class Search:
    """A question: what must match, what must not, and what URLs are made of.

    Automata come with the number of their reading in the alphabet.
    """

    def __init__(
        self,
        letters: Alphabet,
        inside: Sequence[tuple[Automaton, int]],
        outside: Sequence[tuple[Automaton, int]],
    ) -> None:
        self._letters = letters
        self._members = (
            *((automaton, number, True) for automaton, number in inside),
            *((automaton, number, False) for automaton, number in outside),
        )
        self._inside = len(inside)
        self._costs = [len(token) for token in letters.tokens]
        self._all = range(len(letters.tokens))
        #: The tokens whose output begins with a byte, by reading and whether they stand in a query.
        self._beginning: dict[tuple[int, bool, int], list[int]] = {}
        self._turns = letters.has_queries
        self._question = letters.tokens.index("?") if "?" in letters.tokens else -1

    def shortest(self, url: str, prefixes: Sequence[bytes], budget: Budget) -> str | None:
        """Return a shortest URL of those that begin as given, or None: there is none.

        ``prefixes`` are the bytes of the beginning, in each reading.

        Raises:
            BudgetSpentError: nobody knows.
        """
        budget.begin()
        states = []
        for automaton, number, must_match in self._members:
            state = automaton.start(prefixes[number])
            if state == (-1 if must_match else automaton.full) and (
                must_match or not automaton.is_anchored
            ):
                return None
            states.append(state)
        start: _Place = (self._turns and "?" in url, tuple(states))
        came: dict[_Place, tuple[_Place, int] | None] = {start: None}
        costs = {start: 0}
        # By the characters that a URL has at least: those so far, and those that are still needed.
        layers: dict[int, list[_Place]] = {self._left(start): [start]}
        size = 0
        while layers:
            layer = layers.get(size)
            if not layer:
                layers.pop(size, None)
                size += 1
                continue
            place = layer.pop()
            cost = costs[place]
            if cost + self._left(place) < size:
                continue
            if self._accepts(place[1]):
                return url + self._told(came, place)
            # Many patterns at a time take longer.
            budget.spend(1 + len(self._members) // 8)
            for token, successor in self._successors(place):
                after = cost + self._costs[token]
                if costs.get(successor, after + 1) > after:
                    costs[successor] = after
                    came[successor] = place, token
                    layers.setdefault(after + self._left(successor), []).append(successor)
        return None

    def _left(self, place: _Place) -> int:
        """Return how many characters a URL needs at least until all match that must."""
        states = place[1]
        return max(
            [self._members[each][0].left(states[each]) for each in range(self._inside)], default=0
        )

    def _accepts(self, states: tuple[int, ...]) -> bool:
        """Tell whether a path that ends here is an answer."""
        for (automaton, _, must_match), state in zip(self._members, states, strict=True):
            if automaton.accepts(state) != must_match:
                return False
        return True

    def _successors(self, place: _Place) -> list[tuple[int, _Place]]:
        """Return the places that can follow, each with a token that leads to it."""
        in_query, states = place
        outputs = self._letters.outputs
        tokens = self._forced(in_query, states)
        if tokens is None:
            tokens = self._all
            rows = [
                automaton.row(each, outputs[number][in_query], 2 * number + in_query, must_match)
                for (automaton, number, must_match), each in zip(self._members, states, strict=True)
            ]
        else:
            rows = [
                automaton.successors(
                    each, [outputs[number][in_query][token] for token in tokens], must_match
                )
                for (automaton, number, must_match), each in zip(self._members, states, strict=True)
            ]
        found: dict[_Place, int] = {}
        columns = zip(*rows, strict=True) if rows else [()] * len(self._costs)
        for token, successor in zip(tokens, columns, strict=True):
            if PRUNED not in successor:
                turned = in_query or (self._turns and token == self._question)
                found.setdefault((turned, successor), token)
        return [(token, successor) for successor, token in found.items()]

    def _forced(self, in_query: bool, states: tuple[int, ...]) -> Sequence[int] | None:
        """Return the tokens that can follow where a literal prefix leaves few, or None: any can."""
        for (automaton, number, _), state in zip(
            self._members[: self._inside], states[: self._inside], strict=True
        ):
            byte = automaton.forced(state)
            if byte >= 0:
                key = number, in_query, byte
                found = self._beginning.get(key)
                if found is None:
                    found = self._beginning[key] = [
                        token
                        for token, output in enumerate(self._letters.outputs[number][in_query])
                        if not output or output[0] == byte
                    ]
                return found
        return None

    def _told(self, came: dict[_Place, tuple[_Place, int] | None], place: _Place) -> str:
        """Return the tokens that led to a place."""
        tokens = []
        step = came[place]
        while step is not None:
            place, token = step
            tokens.append(self._letters.tokens[token])
            step = came[place]
        return "".join(reversed(tokens))
