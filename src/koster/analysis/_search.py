"""The search behind all analysis: a shortest URL that some patterns match and others do not.

An A* search (Hart, Nilsson and Raphael, 1968) over the product of all automata. Branches where a
required match is impossible or a forbidden one is certain are pruned, so only few of the many
states are visited. Exact: if the search finds nothing, there is no such URL.
"""

from __future__ import annotations

from itertools import compress
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from ._automata import CHARACTER, UNREACHABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ._alphabet import Alphabet, Outputs
    from ._automata import Automaton, Row

#: A search with many patterns takes long to prepare, and decides nothing if it may visit only a few
#: states.
_MANY = 64
_MIN_VISITS = 8

#: No pattern needs as many characters but one that has a byte that no URL has.
_MOST_CHARACTERS = UNREACHABLE // CHARACTER // 2

#: Whether the path has a ``?`` so far; the number of `Search.lives`, the members that may still
#: match; and the states of their automata, each plus one: see `Automaton.add_row`.
_SearchState = tuple[bool, int, tuple[int, ...]]


def _chooser(tokens: list[int]) -> Callable[[tuple[int, ...]], tuple[int, ...]]:
    """Return what chooses some items of a tuple."""
    if len(tokens) > 1:
        return itemgetter(*tokens)
    return lambda row: tuple([row[token] for token in tokens])


class BudgetSpentError(Exception):
    """A search exceeded its budget."""


class Budget:
    """Limits of the work, after which a result is *not proved*.

    ``states`` is the maximum number of states per search, ``total`` for all searches together,
    ``compared`` the number of comparisons of rules. The defaults are some seconds of work.
    Functions use up the budget that they are passed, so several calls can share one.
    """

    def __init__(
        self, states: int = 10_000, total: int = 100_000, compared: int = 1_000_000
    ) -> None:
        self._max_states = states
        self._total = total
        self._compared = compared
        #: What is left for the search that is under way.
        self._states = states

    @property
    def is_spent(self) -> bool:
        """Whether no comparison is left, or no search."""
        return not self.has_comparisons or self._total <= 0

    @property
    def has_comparisons(self) -> bool:
        """Whether comparisons are left."""
        return self._compared >= 0

    def begin(self, patterns: int) -> None:
        """Begin another search, with a number of patterns.

        Raises:
            BudgetSpentError: the total is used up, or nearly for this number of patterns.
        """
        if self._total <= 0:
            raise BudgetSpentError
        if patterns >= _MANY:
            self.check(_MIN_VISITS * visit_cost(patterns, 0))
        self._states = min(self._max_states, self._total)

    def spend(self, states: int) -> None:
        """Count visited states.

        Raises:
            BudgetSpentError: a limit is exceeded.
        """
        self._states -= states
        self._total -= states
        if self._states < 0:
            raise BudgetSpentError

    def check(self, states: int) -> None:
        """Check that the budget allows a search with at least this number of states.

        Raises:
            BudgetSpentError: it does not.
        """
        if states > min(self._max_states, self._total):
            raise BudgetSpentError

    def compare(self, rules: int) -> None:
        """Count comparisons of rules.

        Raises:
            BudgetSpentError: the limit is exceeded.
        """
        self._compared -= rules
        if self._compared < 0:
            raise BudgetSpentError

    def require(self, rules: int) -> None:
        """Check that this number of comparisons is left; if not, use up the rest.

        Raises:
            BudgetSpentError: they are not.
        """
        if rules > self._compared:
            self.compare(rules)


def visit_cost(patterns: int, steps: int) -> int:
    """Return how many states a visited one counts as: more with many patterns, or steps from it."""
    return (1 + patterns // 8) * (1 + steps // 32)


class _Member(NamedTuple):
    """A pattern of a search.

    ``number`` is that of its reading, ``outputs`` the bytes of the tokens in a path and in a query.
    """

    automaton: Automaton
    number: int
    outputs: tuple[Outputs, Outputs]
    must_match: bool
    pruned_state: int | None

    def add_row(self, state: int, in_query: bool) -> Row:
        """Add the row of a state; see `Automaton.add_row`."""
        return self.automaton.add_row(state, self.outputs[in_query], self.must_match)


class Search:
    """A search: patterns that must match (``inside``), or must not (``outside``), and the alphabet.

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
            _Member(
                *(automaton, number, letters.outputs[number], must_match),
                automaton.pruned_state(must_match),
            )
            for automata_by_reading, must_match in ((inside, True), (outside, False))
            for number, automata in enumerate(automata_by_reading)
            for automaton in automata
        ]
        #: The rows that are known of each member: in paths, and in queries if they differ.
        self._rows = [
            [
                automaton.rows(outputs[in_query], must_match)
                for automaton, _, outputs, must_match, _ in self._members
            ]
            for in_query in (False, True)[: 1 + letters.has_queries]
        ]
        self._inside = sum(map(len, inside))
        #: What the rest of each pattern that must match costs at least, by state.
        self._costs_left = [
            member.automaton.costs_left(letters.costs[member.number])
            for member in self._members[: self._inside]
        ]
        self._has_queries = letters.has_queries
        self._question = letters.tokens.index("?")
        self._choices: dict[
            tuple[int, int], tuple[list[int], Callable[[tuple[int, ...]], tuple[int, ...]]]
        ] = {}
        #: Members that may still match, by number: hashing such a list takes long.
        self._lives: list[tuple[int, ...]] = []
        self._numbers_of_lives: dict[tuple[int, ...], int] = {}

    def shortest(self, url: str, prefixes: Sequence[bytes], budget: Budget) -> str | None:
        """Return a shortest URL that begins with ``url``, or None if no URL does.

        ``prefixes`` are the bytes of ``url`` in each reading. Call `Budget.begin` before.

        Raises:
            BudgetSpentError: not decided within the budget.
        """
        start = self._start(url, prefixes)
        if start is None or self._min_cost_left(start) > _MOST_CHARACTERS:
            return None
        size = len(url)
        # The states that were reached, by number: how, and with how many characters.
        numbers = {start: 0}
        reached = [start]
        steps: list[tuple[int, str] | None] = [None]
        costs = [size]
        # By the lower bound of the URL's length: characters so far plus those still needed.
        layers = {size + self._min_cost_left(start): [0]}
        while layers:
            layer = layers.get(size)
            if not layer:
                layers.pop(size, None)
                size += 1
                continue
            number = layer.pop()
            state = reached[number]
            cost = costs[number]
            if cost + self._min_cost_left(state) < size:
                continue
            if self._accepts(state):
                return url + self._path_to(steps, number)
            successors = self._successors(state)
            # One of them may be far away.
            count = len(successors) if len(successors) != 1 else len(successors[0][0])
            budget.spend(visit_cost(len(self._members), count))
            for text, successor in successors:
                after = cost + len(text)
                # Hashing a state takes long.
                found = numbers.setdefault(successor, len(reached))
                if found == len(reached):
                    reached.append(successor)
                    steps.append((number, text))
                    costs.append(after)
                elif costs[found] > after:
                    steps[found] = number, text
                    costs[found] = after
                else:
                    continue
                layers.setdefault(after + self._min_cost_left(successor), []).append(found)
        return None

    def _start(self, url: str, prefixes: Sequence[bytes]) -> _SearchState | None:
        """Return the state after the beginning of a URL, or None if no solution begins so."""
        states = []
        for automaton, number, _, _, pruned_state in self._members:
            initial = automaton.start(prefixes[number])
            if initial == pruned_state:
                return None
            states.append(initial + 1)
        in_query = self._has_queries and "?" in url
        return self._without_never(in_query, tuple(range(len(states))), tuple(states))

    def _without_never(
        self, in_query: bool, live: tuple[int, ...], states: tuple[int, ...]
    ) -> _SearchState:
        """Return a state without the members that cannot match any more.

        Only those that must not match: otherwise the branch is pruned.
        """
        live = tuple(compress(live, states))
        number = self._numbers_of_lives.setdefault(live, len(self._lives))
        if number == len(self._lives):
            self._lives.append(live)
        return in_query, number, tuple(filter(None, states))

    def _min_cost_left(self, state: _SearchState) -> int:
        """Return the minimum number of characters until all required patterns match."""
        states = state[2]
        costs = [
            0 if left is None else left[states[each] - 1]
            for each, left in enumerate(self._costs_left)
        ]
        return -(-max(costs) // CHARACTER)

    def _accepts(self, state: _SearchState) -> bool:
        """Return whether a path that ends here is a solution."""
        for each, reached in zip(self._lives[state[1]], state[2], strict=True):
            member = self._members[each]
            if member.automaton.accepts(reached - 1) != member.must_match:
                return False
        return True

    def _successors(self, state: _SearchState) -> list[tuple[str, _SearchState]]:
        """Return the successors of a state, each with a text that leads to it."""
        in_query, number, states = state
        live = self._lives[number]
        forced = self._forced(states)
        steps: Iterable[tuple[int, tuple[int, ...]]]
        if forced is None:
            steps, never = self._free_steps(in_query, live, states)
        else:
            outputs, raw = forced[0].outputs[in_query], forced[1]
            tokens = outputs.only_tokens(raw)
            if self._has_queries and self._question in tokens:
                tokens = tokens[: tokens.index(self._question)]
            if tokens:
                return self._successor_after(tokens, in_query, live, states)
            steps, never = self._forced_steps(in_query, live, states, outputs, raw), -1
        question = self._question if self._has_queries and not in_query else -1
        # Many tokens lead to the same states.
        found: dict[tuple[tuple[int, ...], bool], int] = {}
        for token, after in steps:
            found.setdefault((after, token == question), token)
        return [
            (
                self._letters.tokens[token],
                self._without_never(in_query or is_question, live, after)
                if never >> token & 1
                else (in_query or is_question, number, after),
            )
            for (after, is_question), token in found.items()
        ]

    def _free_steps(
        self, in_query: bool, live: tuple[int, ...], states: tuple[int, ...]
    ) -> tuple[Iterable[tuple[int, tuple[int, ...]]], int]:
        """Return the tokens that are not pruned, each with the states after it.

        And the bit set of the tokens after which a member cannot match any more.
        """
        rows = []
        unlike, never, pruned = 1 << self._question, 0, 0
        known = self._rows[in_query]
        for each, reached in zip(live, states, strict=True):
            found_row = known[each].get(reached)
            row, others, to_never, to_pruned = found_row or self._members[each].add_row(
                reached - 1, in_query
            )
            rows.append(row)
            unlike |= others
            never |= to_never
            pruned |= to_pruned
        tokens, choose = self._tokens_for(unlike, pruned)
        return zip(tokens, zip(*map(choose, rows), strict=True), strict=True), never

    def _tokens_for(
        self, unlike: int, pruned: int
    ) -> tuple[list[int], Callable[[tuple[int, ...]], tuple[int, ...]]]:
        """Return the tokens of a bit set, the first other one, and what chooses theirs from a row.

        All the others lead to the same states. Without those of branches that are ``pruned``.
        """
        found = self._choices.get((unlike, pruned))
        if found is None:
            # The first other one is the lowest bit that is not set.
            chosen = (unlike | unlike + 1) & ~pruned
            tokens = [token for token in range(len(self._letters.tokens)) if chosen >> token & 1]
            found = self._choices[unlike, pruned] = tokens, _chooser(tokens)
        return found

    def _forced(self, states: tuple[int, ...]) -> tuple[_Member, bytes] | None:
        """Return the only possible next bytes for a required pattern within its prefix, or None.

        Those of the pattern with the most: the others must match too.
        """
        found = None
        longest = b""
        for member, state in zip(self._members[: self._inside], states, strict=False):
            raw = member.automaton.forced_bytes(state - 1)
            if len(raw) > len(longest):
                found, longest = (member, raw), raw
        return found

    def _forced_steps(
        self,
        in_query: bool,
        live: tuple[int, ...],
        states: tuple[int, ...],
        outputs: Outputs,
        forced: bytes,
    ) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield the tokens that may lead to the next bytes of a pattern, with the states after."""
        for token in outputs.beginning_with(forced):
            after = self._step(live, in_query, states, (token,))
            if after:
                yield token, after

    def _successor_after(
        self, tokens: Sequence[int], in_query: bool, live: tuple[int, ...], states: tuple[int, ...]
    ) -> list[tuple[str, _SearchState]]:
        """Return the only successor, after several tokens, unless the branch is pruned."""
        after = self._step(live, in_query, states, tokens)
        if not after:
            return []
        text = "".join([self._letters.tokens[token] for token in tokens])
        return [(text, self._without_never(in_query, live, after))]

    def _step(
        self, live: tuple[int, ...], in_query: bool, states: tuple[int, ...], tokens: Sequence[int]
    ) -> tuple[int, ...]:
        """Return the states after some tokens; empty if the branch is pruned."""
        raw_by_reading = [
            b"".join([pair[in_query].raw[token] for token in tokens])
            for pair in self._letters.outputs
        ]
        found = []
        for each, state in zip(live, states, strict=True):
            automaton, number, _, _, pruned_state = self._members[each]
            successor = automaton.after(state - 1, raw_by_reading[number])
            if successor == pruned_state:
                return ()
            found.append(successor + 1)
        return tuple(found)

    def _path_to(self, steps: Sequence[tuple[int, str] | None], number: int) -> str:
        """Return what leads to a state, from the state before each, and what leads from there."""
        texts = []
        step = steps[number]
        while step is not None:
            number, text = step
            texts.append(text)
            step = steps[number]
        return "".join(reversed(texts))
