"""Patterns as finite automata: a state is an integer, the progress of the match.

Patterns with stars are deterministic: runs match leftmost, one after another (`wildcards`), so the
position in the pattern is the state; after a mismatch, Knuth-Morris-Pratt links give the next one.
Runs of shell patterns, whose elements match several bytes each, use a bit set of positions.

`NEVER` is the state in which no match is possible any more. ``full`` is the accepting state; it is
final, unless the pattern is anchored.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import TypeAlias

from ..._engine import wildcards as _wildcards

#: No continuation of the path matches.
NEVER = -1

#: The cost of a character of a URL. Each byte of a token costs an equal part: tokens have 1, 2, 3,
#: 4, 6, 9 or 12 bytes.
CHARACTER = 36
#: The cost of a byte that no token has, and of what cannot be reached.
IMPOSSIBLE = 255
UNREACHABLE = 1 << 62

_BYTES = range(256)

#: The successors of a state by letter, and the bit sets of the letters that lead elsewhere than the
#: first one, which are few, and of those that lead to a dead end.
Row: TypeAlias = tuple[list[int], int, int]


class Moves:
    """What a reading compares of each letter of an alphabet, in a path or in a query."""

    def __init__(self, raw: Iterable[bytes]) -> None:
        self.raw = tuple(raw)
        #: The letters by their bytes, and by the first byte; and how many bytes they have.
        self.of_bytes: dict[bytes, list[int]] = {}
        self.starting_with: dict[int, list[int]] = {}
        for letter, each in enumerate(self.raw):
            if each:
                self.of_bytes.setdefault(each, []).append(letter)
                self.starting_with.setdefault(each[0], []).append(letter)
        self.sizes = sorted(set(map(len, self.of_bytes)))


class Automaton:
    """The base class: keeps the rows of successors."""

    __slots__ = ("_rows", "full", "is_anchored")

    def __init__(self, full: int | None, is_anchored: bool) -> None:
        self.full = full
        self.is_anchored = is_anchored
        self._rows: dict[tuple[Moves, bool], dict[int, Row]] = {}

    def accepts(self, state: int) -> bool:
        """Return whether the pattern matches a path that ends here."""
        return state == self.full

    def after(self, state: int, raw: bytes) -> int:
        """Return the state after some bytes."""
        raise NotImplementedError

    def forced_letters(self, _state: int, _moves: Moves) -> list[int] | None:
        """Return the letters with the only next byte that can lead to a match, if it is known."""
        return None

    def costs_left(self, _costs: bytes) -> list[int] | None:
        """Return by state what the rest of the pattern costs at least; None if nothing is known.

        ``costs`` are those of each byte (`Alphabet.costs`).
        """
        return None

    def is_dead_end(self, state: int, *, must_match: bool) -> bool:
        """Return whether no path that goes on from a state can match, or must not."""
        return state == NEVER if must_match else state == self.full and not self.is_anchored

    def rows(self, moves: Moves, *, must_match: bool) -> dict[int, Row]:
        """Return the rows that are known of the states."""
        return self._rows.setdefault((moves, must_match), {})

    def add_row(self, state: int, moves: Moves, *, must_match: bool) -> Row:
        """Return the row of a state, and add it to those that are known."""
        successors = [self.after(state, raw) for raw in moves.raw]
        first = successors[0]
        unlike = dead = 0
        for letter, each in enumerate(successors):
            if each != first:
                unlike |= 1 << letter
            if self.is_dead_end(each, must_match=must_match):
                dead |= 1 << letter
        row = self.rows(moves, must_match=must_match)[state] = successors, unlike, dead
        return row


class Starred(Automaton):
    """A pattern with a literal prefix, and possibly further literal runs after stars."""

    __slots__ = ("_links", "_literal", "_starts", "_text")

    def __init__(self, literal: bytes, rest: bytes, is_anchored: bool) -> None:
        runs = [run for run in rest.split(b"*") if run]
        self._literal = len(literal)
        self._text = literal + b"".join(runs)
        super().__init__(len(self._text), is_anchored)
        #: For each state after the prefix: the start of its run, and the links of that run.
        self._starts = [*range(self._literal)]
        self._links = [*self._starts]
        begin = self._literal
        for run in runs:
            self._starts += [begin] * len(run)
            self._links += _wildcards.links_of(run)
            begin += len(run)
        # An anchored pattern must match its last run at the end: continue searching for it.
        self._starts.append(begin - len(runs[-1]) if runs else NEVER if is_anchored else begin)

    def after(self, state: int, raw: bytes) -> int:
        """Return the state after some bytes."""
        if state == NEVER:
            return NEVER
        text, starts, links, full = self._text, self._starts, self._links, self.full
        for byte in raw:
            if state < self._literal:
                if text[state] != byte:
                    return NEVER
                state += 1
                continue
            start = starts[state]
            if state == full:
                if not self.is_anchored or start == NEVER:
                    return start if self.is_anchored else state
                state = start + links[state - 1]
            while text[state] != byte and state != start:
                state = start + links[state - 1]
            state += text[state] == byte
        return state

    def forced_letters(self, state: int, moves: Moves) -> list[int] | None:
        """Return the letters that can lead to a match, within the prefix."""
        if not 0 <= state < self._literal:
            return None
        if state + moves.sizes[-1] <= self._literal:
            some = (moves.of_bytes.get(self._text[state : state + size]) for size in moves.sizes)
            return [letter for letters in some if letters for letter in letters]
        letters = moves.starting_with.get(self._text[state], ())
        return [each for each in letters if self.after(state, moves.raw[each]) != NEVER]

    def costs_left(self, costs: bytes) -> list[int] | None:
        """Return by state what the rest of the pattern costs at least."""
        of_bytes = self._text.translate(costs)
        found = list(accumulate(reversed(of_bytes), initial=0))
        found.reverse()
        unreachable = of_bytes.rfind(IMPOSSIBLE) + 1
        found[:unreachable] = [UNREACHABLE] * unreachable
        return found


class Shell(Automaton):
    """A shell pattern, which matches complete paths."""

    __slots__ = ("_bits", "_runs", "_state_numbers", "_states", "tables")

    def __init__(self, literal: bytes, rest: bytes) -> None:
        only = {byte: bytes(each == byte for each in _BYTES) for byte in set(literal)}
        runs: list[list[bytes]] = [[only[byte] for byte in literal]]
        for element in _wildcards.elements(rest):
            if element is None:
                runs.append([])
            else:
                runs[-1].append(element)
        #: Consecutive stars are merged; the first and the last run may be empty.
        self._runs = [runs[0], *filter(None, runs[1:-1]), *runs[1:][-1:]]
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
            if state in (NEVER, self.full):
                break
            run, mask = self._states[state]
            matched = mask << 1
            # The first run matches only at the start, the others anywhere after the previous one.
            if run > 0 or state == 0:
                matched |= 1
            bits = self._bits[run]
            if bits is None:
                bits = self._bits[run] = _bits(self._runs[run])
            matched &= bits[byte]
            state = NEVER if run == 0 and not matched else self._state_number(run, matched)
        return state

    def accepts(self, state: int) -> bool:
        """Return whether the pattern matches a path that ends here."""
        if state in (self.full, NEVER):
            return state == self.full
        run, mask = self._states[state]
        return run == len(self._runs) - 1 and _is_complete(self._runs[run], mask)


def _is_complete(run: list[bytes], mask: int) -> bool:
    return not run or bool(mask >> (len(run) - 1))


def _bits(run: list[bytes]) -> list[int]:
    """Return for each byte the bit set of the elements that match it."""
    return [sum(1 << place for place, table in enumerate(run) if table[byte]) for byte in _BYTES]
