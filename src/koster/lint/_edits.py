"""Applies the edits of findings, and says which parts of the file they leave as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from ._model import Finding

#: Maximum number of rounds: a fix may show something else to fix.
_MAX_FIXES = 20


class Kept(NamedTuple):
    """A part of a file that edits do not change: where it begins before and after, and its size."""

    before: int
    after: int
    size: int


class Fixed(NamedTuple):
    """A fixed file, and the parts that it has in common with the file before, in order."""

    body: bytes
    kept: tuple[Kept, ...]


def fixes(body: bytes, find: Callable[[bytes], Iterable[Finding]]) -> Fixed:
    """Return a file in which nothing is left that can be fixed automatically.

    A fix may show something else to fix, so the file is checked again after each: at most 20 times.
    """
    found = Fixed(body, (Kept(0, 0, len(body)),))
    for _ in range(_MAX_FIXES):
        after, kept = apply_edits(found.body, find(found.body))
        if after == found.body:
            break
        found = Fixed(after, _joined(found.kept, kept))
    return found


def apply_edits(body: bytes, findings: Iterable[Finding]) -> Fixed:
    """Apply the edits of findings to a file once; of overlapping edits the first one wins."""
    edits = sorted(
        {edit for finding in findings for edit in finding.edits},
        key=lambda edit: (edit.start, -edit.end),
    )
    parts: list[bytes] = []
    kept: list[Kept] = []
    at = size = 0
    for edit in edits:
        if edit.start >= at:
            kept.append(Kept(at, size, edit.start - at))
            parts += [body[at : edit.start], edit.replacement]
            size += edit.start - at + len(edit.replacement)
            at = max(edit.end, at)
    kept.append(Kept(at, size, len(body) - at))
    return Fixed(b"".join([*parts, body[at:]]), tuple(each for each in kept if each.size))


def _joined(first: tuple[Kept, ...], second: tuple[Kept, ...]) -> tuple[Kept, ...]:
    """Return what two changes, one after the other, both keep."""
    found = []
    numbers = [0, 0]
    while numbers[0] < len(first) and numbers[1] < len(second):
        one, other = first[numbers[0]], second[numbers[1]]
        # Where they overlap in the file after the first change and before the second.
        ends = one.after + one.size, other.before + other.size
        start, end = max(one.after, other.before), min(ends)
        if start < end:
            place = one.before + start - one.after, other.after + start - other.before
            found.append(Kept(*place, end - start))
        numbers[ends[0] > ends[1]] += 1
    return tuple(found)
