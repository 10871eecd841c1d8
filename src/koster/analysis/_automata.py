"""Patterns as finite automata: a state is an integer, the progress of the match.

Patterns with stars are deterministic: runs match leftmost, one after another (`wildcards`), so the
position in the pattern is the state; after a mismatch, Knuth-Morris-Pratt links give the next one.
Runs of shell patterns, whose elements match several bytes each, use a bit set of positions.

`NEVER` is the state in which no match is possible any more. ``full`` is the accepting state; it is
final, unless the pattern is anchored.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias

from ..dialects import Patterns
from ..engine import wildcards as _wildcards

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ._alphabet import Outputs

#: No continuation of the path matches.
NEVER = -1
#: In rows of successors: prune this branch. A required match is impossible, or a forbidden one is
#: certain.
PRUNED = -2

#: What the next byte of a path may be.
EVERY_BYTE = range(256)

#: So many bytes are read one by one. The states after more are kept, so many of them.
_FEW = 4
_MAX_KNOWN = 8

#: How many of the next bytes of a literal prefix a search looks at.
_FORCED = 64

_STAR = b"*"

#: The cost of a character of a URL. Each byte of a token costs an equal part: tokens have 1, 2, 3,
#: 4, 6, 9 or 12 bytes.
CHARACTER = 36
#: The cost of a byte that no token has, and of what cannot be reached.
IMPOSSIBLE = 255
UNREACHABLE = 1 << 62

#: The successors of a state by token, each plus one. Then three bit sets of tokens: those that may
#: lead elsewhere than all the others, which lead to the same state; those that lead to `NEVER`; and
#: those that lead to `PRUNED`.
Row: TypeAlias = tuple[tuple[int, ...], int, int, int]


def _row(successors: list[int], usual: int, others: Iterable[int]) -> Row:
    """Return a row: ``usual`` is the successor of all tokens but ``others``."""
    unlike = never = pruned = 0
    for token in others:
        bit = 1 << token
        unlike |= bit
        if successors[token] == NEVER + 1:
            never |= bit
        elif successors[token] == PRUNED + 1:
            pruned |= bit
    alike = (1 << len(successors)) - 1 & ~unlike
    if usual == NEVER + 1:
        never |= alike
    elif usual == PRUNED + 1:
        pruned |= alike
    return tuple(successors), unlike, never, pruned


class Automaton:
    """The base class: caches rows of successors."""

    __slots__ = ("_rows", "full", "is_anchored")

    def __init__(self, full: int | None, is_anchored: bool) -> None:
        self.full = full
        self.is_anchored = is_anchored
        self._rows: dict[tuple[Outputs, bool], dict[int, Row]] = {}

    def accepts(self, state: int) -> bool:
        """Return whether the pattern matches a path that ends here."""
        return state == self.full

    def costs_left(self, _costs: bytes) -> list[int] | None:
        """Return by state what the rest of the pattern costs at least; None if nothing is known.

        ``costs`` are those of a byte (`Alphabet.costs`).
        """
        return None

    def forced_bytes(self, _state: int) -> bytes:
        """Return the only next bytes that can lead to a match, if they are known."""
        return b""

    def after(self, state: int, raw: bytes) -> int:
        """Return the state after some bytes."""
        raise NotImplementedError

    def start(self, raw: bytes) -> int:
        """Return the state after the first bytes of a path."""
        return self.after(0, raw)

    def rows(self, outputs: Outputs, must_match: bool) -> dict[int, Row]:
        """Return the rows that are known for the outputs of all tokens, by state plus one."""
        found = self._rows.get((outputs, must_match))
        if found is None:
            found = self._rows[outputs, must_match] = {}
        return found

    def add_row(self, state: int, outputs: Outputs, must_match: bool) -> Row:
        """Add the row of a state to those that are known: the successors, each plus one.

        So `NEVER` becomes 0, which is found and left out faster than any other number. `PRUNED`
        means that a required match is impossible, or a forbidden one is certain.
        """
        row = self._new_row(state, outputs, must_match)
        self.rows(outputs, must_match)[state + 1] = row
        return row

    def _new_row(self, state: int, outputs: Outputs, must_match: bool) -> Row:
        successors = [each + 1 for each in self.successors(state, outputs.raw, must_match)]
        usual = successors[-1]
        return _row(
            successors, usual, [token for token, each in enumerate(successors) if each != usual]
        )

    def pruned_state(self, must_match: bool) -> int | None:
        """Return the state from which no solution can be reached, if there is one."""
        if must_match:
            return NEVER
        return None if self.is_anchored else self.full

    def successors(self, state: int, outputs: Sequence[bytes], must_match: bool) -> list[int]:
        """Return the successors for some outputs, without caching."""
        pruned_state = self.pruned_state(must_match)
        after = [self.after(state, raw) for raw in outputs]
        return [PRUNED if successor == pruned_state else successor for successor in after]


class Starred(Automaton):
    """A pattern with a literal prefix, and possibly further literal runs after stars."""

    __slots__ = (
        *("_costs", "_costs_left", "_known", "_links", "_literal", "_numbers", "_runs", "_starts"),
        "_text",
    )

    def __init__(self, literal: bytes, rest: bytes, is_anchored: bool) -> None:
        runs = [run for run in rest.split(_STAR) if run]
        self._runs = runs
        self._literal = len(literal)
        self._text = literal + b"".join(runs)
        super().__init__(len(self._text), is_anchored)
        #: For each state after the prefix: the start of its run, and the links of that run. Those
        #: of the prefix are not used.
        self._starts = list(range(self._literal + 1))
        self._links: list[int] = []
        self._known: dict[tuple[int, bytes], int] = {}
        #: The number of the run that starts in a state, computed for the first one.
        self._numbers: dict[int, int] = {}
        begin = self._literal
        for run in runs:
            self._starts[begin:] = [begin] * len(run)
            begin += len(run)
            self._starts.append(begin)
        if runs:
            # An anchored pattern must match its last run at the end: continue searching for it.
            self._starts[-1] = begin - len(runs[-1])
        elif is_anchored:
            self._starts[-1] = NEVER
        #: The last argument of `costs_left`, and its result.
        self._costs = b""
        self._costs_left: list[int] = []

    def costs_left(self, costs: bytes) -> list[int] | None:
        """Return by state what the rest of the pattern costs at least; cached."""
        if self._costs is not costs:
            self._costs = costs
            self._costs_left = _costs_left(self._text, costs)
        return self._costs_left

    def forced_bytes(self, _state: int) -> bytes:
        """Return the only next bytes that can lead to a match, if they are known."""
        return self._text[_state : min(_state + _FORCED, self._literal)]

    def after(self, state: int, raw: bytes) -> int:
        """Return the state after some bytes; that after many is cached: searches are alike."""
        if len(raw) <= _FEW:
            return self._after(state, raw)
        found = self._known.get((state, raw))
        if found is None:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            found = self._known[state, raw] = self._after(state, raw)
        return found

    def _after(self, state: int, raw: bytes) -> int:
        if 0 <= state < self._literal:
            size = min(len(raw), self._literal - state)
            if not raw.startswith(self._text[state : state + size]):
                return NEVER
            state += size
            raw = raw[size:]
        if not raw or state == NEVER:
            return state
        if len(raw) > _FEW:
            return self._after_many(state, raw)
        return self._after_literal(state, raw)

    def _after_literal(self, state: int, raw: bytes) -> int:
        """Return the state after some bytes, from a state after the literal prefix."""
        text, full = self._text, self.full
        for byte in raw:
            start = self._starts[state]
            if state == full:
                if not self.is_anchored:
                    return state
                if start == NEVER:
                    return NEVER
                state = start + self._link(state - 1)
            while text[state] != byte:
                if state == start:
                    break
                state = start + self._link(state - 1)
            else:
                state += 1
        return state

    def _after_many(self, state: int, raw: bytes) -> int:
        """Return what `_after_literal` does, by searching for whole runs."""
        start = self._starts[state]
        if start == NEVER or (state == self.full and not self.is_anchored):
            return NEVER if start == NEVER else state
        # What is matched of the run belongs to the bytes in which it is searched.
        raw = self._text[start:state] + raw
        position = 0
        state = start
        for run in self._runs[self._number_of_run(start) :]:
            is_last = state + len(run) == self.full
            found = -1 if is_last and self.is_anchored else raw.find(run, position)
            if found < 0:
                return state + _matched(run, raw, max(position, len(raw) - len(run)))
            state += len(run)
            position = found + len(run)
        return state

    def _number_of_run(self, start: int) -> int:
        if not self._numbers:
            starts = accumulate(map(len, self._runs), initial=self._literal)
            self._numbers = {each: number for number, each in enumerate(starts)}
        return self._numbers[start]

    def _link(self, state: int) -> int:
        """Return the link of a state; they are computed for the first one: few need them."""
        if not self._links:
            self._links = list(range(self._literal))
            for run in self._runs:
                self._links += _wildcards.links_of(run)
        return self._links[state]

    def _new_row(self, state: int, outputs: Outputs, must_match: bool) -> Row:
        if not 0 <= state < len(self._text):
            return super()._new_row(state, outputs, must_match)
        # Most tokens have no byte that goes on, and lead to the start of a run, or nowhere.
        is_prefix = state < self._literal
        start = NEVER if is_prefix else self._starts[state]
        pruned_state = self.pruned_state(must_match)
        usual = (PRUNED if start == pruned_state else start) + 1
        row = [usual] * len(outputs.raw)
        for token in outputs.empty:
            row[token] = state + 1
        others = [*outputs.empty]
        bytes_of_run = {self._text[state]} if is_prefix else set(self._text[start : state + 1])
        for byte in bytes_of_run:
            tokens = outputs.having.get(byte, ())
            others += tokens
            for token in tokens:
                successor = self.after(state, outputs.raw[token])
                row[token] = (PRUNED if successor == pruned_state else successor) + 1
        return _row(row, usual, others)


def _matched(run: bytes, raw: bytes, position: int) -> int:
    """Return how many of the last bytes, from a position on, are the first ones of a run."""
    first = run[:1]
    position = raw.find(first, position)
    while position >= 0:
        if run.startswith(raw[position:]):
            return len(raw) - position
        position = raw.find(first, position + 1)
    return 0


def _costs_left(text: bytes, costs: bytes) -> list[int]:
    """Return for each position what the rest of a text costs at least."""
    of_bytes = text.translate(costs)
    found = list(accumulate(reversed(of_bytes), initial=0))
    found.reverse()
    unreachable = of_bytes.rfind(IMPOSSIBLE) + 1
    found[:unreachable] = [UNREACHABLE] * unreachable
    return found


class Shell(Automaton):
    """A shell pattern, which matches complete paths."""

    __slots__ = ("_bits", "_runs", "_state_numbers", "_states", "tables")

    def __init__(self, literal: bytes, rest: bytes) -> None:
        elements = _wildcards.elements(rest)
        only = {byte: bytes(each == byte for each in EVERY_BYTE) for byte in set(literal)}
        runs: list[list[bytes]] = [[only[byte] for byte in literal]]
        for element in elements:
            if element is None:
                runs.append([])
            else:
                runs[-1].append(element)
        #: Consecutive stars are merged; the first and the last run may be empty.
        middle = [run for run in runs[1:-1] if run]
        self._runs = [runs[0], *middle, *runs[1:][-1:]]
        #: The distinct tables of all elements: which bytes an element matches.
        self.tables = tuple({table for run in self._runs for table in run})
        self._bits: list[list[int] | None] = [None] * len(self._runs)
        self._states: list[tuple[int, int]] = []
        self._state_numbers: dict[tuple[int, int], int] = {}
        self._state_number(0, 0)
        last = len(self._runs) - 1
        open_end = not self._runs[last]
        super().__init__(self._state_number(last, 0) if open_end else None, not open_end)

    def _state_number(self, run: int, mask: int) -> int:
        """Return the number of a state: a run, and the bit set of its matched prefixes."""
        last = len(self._runs) - 1
        while run < last and _is_complete(self._runs[run], mask):
            run, mask = run + 1, 0
        number = self._state_numbers.setdefault((run, mask), len(self._states))
        if number == len(self._states):
            self._states.append((run, mask))
        return number

    def after(self, state: int, raw: bytes) -> int:
        """Return the state after some bytes."""
        for byte in raw:
            if state == NEVER:
                return NEVER
            state = self._step(state, byte)
        return state

    def _step(self, state: int, byte: int) -> int:
        """Return the state after one more byte."""
        if state == self.full:
            return state
        run, mask = self._states[state]
        matched = mask << 1
        # The first run matches only at the start, the others anywhere after the previous one.
        if run > 0 or state == 0:
            matched |= 1
        bits = self._bits[run]
        if bits is None:
            bits = self._bits[run] = _bits(self._runs[run])
        matched &= bits[byte]
        return NEVER if run == 0 and not matched else self._state_number(run, matched)

    def accepts(self, state: int) -> bool:
        if state in (self.full, NEVER):
            return state == self.full
        run, mask = self._states[state]
        return run == len(self._runs) - 1 and _is_complete(self._runs[run], mask)


def _is_complete(run: list[bytes], mask: int) -> bool:
    return not run or bool(mask >> (len(run) - 1))


def _bits(run: list[bytes]) -> list[int]:
    """Return for each byte the bit set of the elements that match it."""
    return [
        sum(1 << place for place, table in enumerate(run) if table[byte]) for byte in EVERY_BYTE
    ]


def automaton(literal: bytes, rest: bytes, kind: int, is_anchored: bool) -> Automaton:
    """Return the automaton of a pattern: its literal prefix, and a rest of some kind."""
    if kind == Patterns.SHELL:
        return Shell(literal, rest)
    return Starred(literal, rest, is_anchored)
