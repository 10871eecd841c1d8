"""Patterns as automata: how much of a pattern a path has matched so far, as one integer.

A pattern of stars needs no set of states: its runs are found one after another, each as far left
as it can stand (`wildcards`), so that the place in the pattern says everything; the links of Knuth,
Morris and Pratt say where to go on when a byte does not fit. A run of a shell pattern, whose
elements stand for several bytes each, has a bit for each element up to which it may have matched.

`NEVER` is the state in which nothing can match any more, ``full`` the one in which the pattern has
matched: for ever, unless it is anchored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..dialects import Patterns
from ..engine import wildcards as _wildcards

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Nothing that follows can make the pattern match.
NEVER = -1
#: In rows of successors: not to be gone on with. What is to match cannot, or what is not to match
#: always will.
PRUNED = -2

_STAR = b"*"


class Automaton:
    """What the two kinds have in common: rows of successors, made when they are asked for."""

    __slots__ = ("_rows", "full", "is_anchored")

    def __init__(self, full: int, is_anchored: bool) -> None:
        self.full = full
        self.is_anchored = is_anchored
        self._rows: dict[tuple[int, int, bool], tuple[int, ...]] = {}

    def step(self, state: int, byte: int) -> int:
        """Return the state after one more byte."""
        raise NotImplementedError

    def accepts(self, state: int) -> bool:
        """Tell whether the pattern matches a path that ends here."""
        return state == self.full

    def left(self, _state: int) -> int:
        """Return how many characters at least a URL needs until it matches."""
        return 0

    def forced(self, _state: int) -> int:
        """Return the only byte that a path may go on with to match, or -1: there are several."""
        return -1

    def run_start(self, _state: int) -> int:
        """Return what at least stays of a state after any bytes."""
        return NEVER

    def after(self, state: int, raw: bytes) -> int:
        """Return the state after some bytes."""
        for byte in raw:
            if state == NEVER:
                break
            state = self.step(state, byte)
        return state

    def start(self, raw: bytes) -> int:
        """Return the state after the bytes that a path begins with."""
        return self.after(0, raw)

    def row(
        self, state: int, outputs: Sequence[bytes], number: int, must_match: bool
    ) -> tuple[int, ...]:
        """Return the successors for each of some bytes; ``number`` is that of the outputs.

        `PRUNED` where a pattern that must match never will, or one that must not always will.
        """
        key = state, number, must_match
        found = self._rows.get(key)
        if found is None:
            found = self._rows[key] = self.successors(state, outputs, must_match)
        return found

    def successors(self, state: int, outputs: Sequence[bytes], must_match: bool) -> tuple[int, ...]:
        """Return the same, without keeping it."""
        hopeless = NEVER if must_match else PRUNED if self.is_anchored else self.full
        after = [self.after(state, raw) for raw in outputs]
        return tuple([PRUNED if successor == hopeless else successor for successor in after])


class Starred(Automaton):
    """A literal prefix, and perhaps runs of literal bytes with stars before them."""

    __slots__ = ("_left", "_links", "_literal", "_starts", "_text")

    def __init__(self, literal: bytes, rest: bytes, is_anchored: bool) -> None:
        runs = [run for run in rest.split(_STAR) if run]
        self._literal = len(literal)
        self._text = literal + b"".join(runs)
        super().__init__(len(self._text), is_anchored)
        #: Of each state behind the prefix: where its run begins, and that run's links.
        self._starts = list(range(self._literal + 1))
        self._links = [0] * self._literal
        begin = self._literal
        for run in runs:
            self._links += _wildcards.links_of(run)
            self._starts[begin:] = [begin] * len(run)
            begin += len(run)
            self._starts.append(begin)
        if runs:
            # From behind the last run it is looked for again, if it must stand at the end.
            self._starts[-1] = begin - len(runs[-1])
        elif is_anchored:
            self._starts[-1] = NEVER
        self._left: list[int] = []

    def left(self, _state: int) -> int:
        """Return how many characters at least a URL needs until it matches."""
        if not self._left:
            self._left = _characters_left(self._text)
        return self._left[_state]

    def forced(self, _state: int) -> int:
        """Return the only byte that a path may go on with to match, or -1: there are several."""
        return self._text[_state] if 0 <= _state < self._literal else -1

    def run_start(self, _state: int) -> int:
        """Return what at least stays of a state after any bytes: where its run begins."""
        return NEVER if _state < self._literal else self._starts[_state]

    def step(self, state: int, byte: int) -> int:
        """Return the state after one more byte."""
        if state == self.full and not self.is_anchored:
            return state
        text = self._text
        if state < self._literal:
            return state + 1 if text[state] == byte else NEVER
        start = self._starts[state]
        if start == NEVER:
            return NEVER
        if state == self.full:
            state = start + self._links[state - 1]
        while text[state] != byte:
            if state == start:
                return start
            state = start + self._links[state - 1]
        return state + 1

    def start(self, raw: bytes) -> int:
        """Return the state after the bytes that a path begins with."""
        literal = self._literal
        if len(raw) <= literal:
            return len(raw) if self._text.startswith(raw) else NEVER
        if not raw.startswith(self._text[:literal]):
            return NEVER
        return self.after(literal, raw[literal:])


def _characters_left(text: bytes) -> list[int]:
    """Return for each place how many characters a URL needs for what follows, at least.

    One may be brought to an escape of three bytes, or be a character of several.
    """
    left = [0]
    for place in range(len(text) - 1, -1, -1):
        counts = 0x80 <= text[place] < 0xC0
        in_an_escape = b"%" in text[max(0, place - 2) : place]
        left.append(left[-1] + (0 if counts or in_an_escape else 1))
    left.reverse()
    return left


class Shell(Automaton):
    """A shell pattern: it matches whole paths."""

    __slots__ = ("_bits", "_numbers", "_runs", "_states", "tables")

    def __init__(self, literal: bytes, rest: bytes) -> None:
        elements = _wildcards.elements(rest)
        only = {byte: bytes(each == byte for each in range(256)) for byte in set(literal)}
        runs: list[list[bytes]] = [[only[byte] for byte in literal]]
        for element in elements:
            if element is None:
                runs.append([])
            else:
                runs[-1].append(element)
        #: Stars without anything between them are one; the first and the last run stay.
        middle = [run for run in runs[1:-1] if run]
        self._runs = [runs[0], *middle, *runs[1:][-1:]]
        #: A table for each byte that any element stands for.
        self.tables = tuple({table for run in self._runs for table in run})
        self._bits = [_bits(run) for run in self._runs]
        self._states: list[tuple[int, int]] = []
        self._numbers: dict[tuple[int, int], int] = {}
        self._number(0, 0)
        last = len(self._runs) - 1
        open_end = last > 0 and not self._runs[last]
        super().__init__(self._number(last, 0) if open_end else -3, not open_end)

    def _number(self, run: int, mask: int) -> int:
        """Return the number of a state: a run, and the bits of what of it has matched."""
        last = len(self._runs) - 1
        while run < last and _is_complete(self._runs[run], mask):
            run, mask = run + 1, 0
        number = self._numbers.setdefault((run, mask), len(self._states))
        if number == len(self._states):
            self._states.append((run, mask))
        return number

    def step(self, state: int, byte: int) -> int:
        """Return the state after one more byte."""
        if state == self.full:
            return state
        run, mask = self._states[state]
        matched = mask << 1
        # The first run stands where the path begins, the others anywhere behind the one before.
        if run > 0 or state == 0:
            matched |= 1
        matched &= self._bits[run][byte]
        return NEVER if run == 0 and not matched else self._number(run, matched)

    def accepts(self, state: int) -> bool:
        """Tell whether the pattern matches a path that ends here."""
        if state in (self.full, NEVER):
            return state == self.full
        run, mask = self._states[state]
        return run == len(self._runs) - 1 and _is_complete(self._runs[run], mask)


def _is_complete(run: list[bytes], mask: int) -> bool:
    """Tell whether all elements of a run have matched."""
    return not run or mask >> (len(run) - 1) & 1 == 1


def _bits(run: list[bytes]) -> list[int]:
    """Return for each byte the bits of the elements that it matches."""
    return [
        sum(1 << place for place, table in enumerate(run) if table[byte]) for byte in range(256)
    ]


def automaton(literal: bytes, rest: bytes, kind: int, is_anchored: bool) -> Automaton:
    """Return the automaton of a pattern: its literal prefix, and what of ``kind`` follows."""
    if kind == Patterns.SHELL:
        return Shell(literal, rest)
    return Starred(literal, rest, is_anchored)
