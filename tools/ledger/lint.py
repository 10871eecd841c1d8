"""The findings of ``koster lint``, and whether its fixes changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import koster
from koster.lint import Edit, Finding, fixed, lint

from . import inputs
from .entries import Entry, Part, Place, digest_of, entry

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The share of the files that are checked in the other dialects, too.
_IN_ALL_DIALECTS = 30


def _entries(name: str) -> Iterator[Entry]:
    body = inputs.body(name)
    usual = koster.RFC9309
    found = lint(body)
    answers = [*map(_finding, found), f"fixed: {_fixed(body, found)}"]
    yield entry(Place("lint", name, usual.name), [body], answers)
    if inputs.is_sampled(name, _IN_ALL_DIALECTS):
        for dialect in koster.DIALECTS.values():
            if dialect is not usual:
                answers = [*map(_finding, lint(body, dialect))]
                yield entry(Place("lint", name, dialect.name), [body], answers)


def _fixed(body: bytes, found: list[Finding]) -> str:
    """Return what ``lint --fix`` writes, as a digest."""
    after = fixed(body, lambda each: found if each == body else lint(each))
    return "unchanged" if after == body else f"{len(after)} bytes, {digest_of(after)}"


def _finding(found: Finding) -> str:
    place = f"line {found.line}:{found.column}-{found.end_column}"
    more = [f"fix {_edits(found.edits)}"] if found.edits else []
    more += [f"proposal {_edits(found.proposal)}"] if found.proposal else []
    text = f"{place} {found.severity} {found.code} {found.message}"
    return "; ".join([text, *filter(None, (found.suggestion, found.url)), *more])


def _edits(edits: tuple[Edit, ...]) -> str:
    return ", ".join(f"{each.start}-{each.end} {each.replacement!r}" for each in edits)


PART = Part("lint", False, inputs.usual_files, _entries, at_once=20)
