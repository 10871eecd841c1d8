"""A unified diff of two files of which the common parts are known: its time is linear."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ..model import text_of

if TYPE_CHECKING:
    from ..lint import Kept

_LINE_END = re.compile(rb"\r\n|\n|\r")
#: Lines of context before and after a change.
_CONTEXT = 3


class _Change(NamedTuple):
    """The lines ``start`` to ``end`` that others replace; either may be none."""

    start: int
    end: int
    new_start: int
    new_end: int


def unified_diff(
    before: bytes, after: bytes, kept: Iterable[Kept], name: str, new_name: str
) -> Iterator[str]:
    """Yield the lines of a unified diff: nothing if no line differs. Line ends do not count."""
    old, new = _Lines(before), _Lines(after)
    changes = list(_changes(old, new, _kept_lines(old, new, kept)))
    if changes:
        yield f"--- {name}"
        yield f"+++ {new_name}"
    for hunk in _hunks(changes):
        yield from _format_hunk(hunk, old.texts, new.texts)


class _Lines:
    """The lines of a file: their texts, and where each starts and ends in bytes."""

    def __init__(self, body: bytes) -> None:
        ends = list(_LINE_END.finditer(body))
        self.starts = [0, *(match.end() for match in ends)]
        self.ends = [*(match.start() for match in ends), len(body)]
        places = zip(self.starts, self.ends, strict=True)
        self.texts = [text_of(body[start:end]) for start, end in places]


def _kept_lines(old: _Lines, new: _Lines, kept: Iterable[Kept]) -> Iterator[tuple[int, int]]:
    """Yield the numbers of the lines that are whole in a common part, before and after."""
    old_numbers = {start: number for number, start in enumerate(old.starts)}
    number = 0
    for each in kept:
        end = each.after + each.size
        while number < len(new.starts) and new.starts[number] < each.after:
            number += 1
        while number < len(new.starts) and new.ends[number] <= end:
            old_number = old_numbers.get(new.starts[number] - each.after + each.before)
            if old_number is not None and old.texts[old_number] == new.texts[number]:
                yield old_number, number
            number += 1


def _changes(old: _Lines, new: _Lines, kept_lines: Iterable[tuple[int, int]]) -> Iterator[_Change]:
    """Yield what is between kept lines, without equal lines at its start and end."""
    end = len(old.texts), len(new.texts)
    for (number, new_number), (next_number, next_new) in pairwise([(-1, -1), *kept_lines, end]):
        change = _Change(number + 1, next_number, new_number + 1, next_new)
        change = _without_equal_ends(change, old.texts, new.texts)
        if change.start < change.end or change.new_start < change.new_end:
            yield change


def _without_equal_ends(change: _Change, old: Sequence[str], new: Sequence[str]) -> _Change:
    start, end, new_start, new_end = change
    while start < end and new_start < new_end and old[start] == new[new_start]:
        start, new_start = start + 1, new_start + 1
    while start < end and new_start < new_end and old[end - 1] == new[new_end - 1]:
        end, new_end = end - 1, new_end - 1
    return _Change(start, end, new_start, new_end)


def _hunks(changes: Iterable[_Change]) -> Iterator[list[_Change]]:
    """Yield changes together whose lines of context meet."""
    hunk: list[_Change] = []
    for change in changes:
        if hunk and change.start - hunk[-1].end > 2 * _CONTEXT:
            yield hunk
            hunk = []
        hunk.append(change)
    if hunk:
        yield hunk


def _format_hunk(hunk: list[_Change], old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    first, last = hunk[0], hunk[-1]
    lead = min(_CONTEXT, first.start)
    trail = min(_CONTEXT, len(old) - last.end)
    place = _format_range(first.start - lead, last.end + trail)
    new_place = _format_range(first.new_start - lead, last.new_end + trail)
    yield f"@@ -{place} +{new_place} @@"
    at = first.start - lead
    for change in hunk:
        yield from (f" {line}" for line in old[at : change.start])
        yield from (f"-{line}" for line in old[change.start : change.end])
        yield from (f"+{line}" for line in new[change.new_start : change.new_end])
        at = change.end
    yield from (f" {line}" for line in old[at : at + trail])


def _format_range(start: int, end: int) -> str:
    """Return a range of lines as unified diffs have it: an empty one is after a line."""
    size = end - start
    return str(end) if size == 1 else f"{start + (size > 0)},{size}"
