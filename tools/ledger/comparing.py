"""Which answers differ from the recorded ones, and how that is shown."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from .entries import Entry, Place
    from .store import Recorded

#: Lines for the changes of one tool.
_MAX_LINES = 30
#: Of longer answers, the part from a little before the first difference is shown.
_MAX_SHOWN = 200
_CONTEXT = 60


class Change(NamedTuple):
    """An answer that changed; ``old`` or ``new`` is None if there was no answer."""

    place: Place
    question: str
    old: str | None
    new: str | None

    def __str__(self) -> str:
        if self.old is None or self.new is None:
            shown = [_shortened(each) if each is not None else _NONE for each in self[2:]]
        else:
            start = _start_of_difference(self.old, self.new)
            shown = [_shortened(each, start) for each in (self.old, self.new)]
        return ": ".join(filter(None, (self.question, " → ".join(shown))))


_NONE = "(nothing)"


def _start_of_difference(old: str, new: str) -> int:
    """Return where the parts of two answers begin that are shown: 0, unless they are long."""
    if max(len(old), len(new)) <= _MAX_SHOWN:
        return 0
    pairs = enumerate(zip(old, new, strict=False))
    same = next((at for at, (a, b) in pairs if a != b), min(len(old), len(new)))
    return max(0, same - _CONTEXT)


def _shortened(answer: str, start: int = 0) -> str:
    shown = answer[start : start + _MAX_SHOWN]
    return f"{'…' * (start > 0)}{shown}{'…' * (start + len(shown) < len(answer))}"


@dataclass
class Differences:
    """The differences of a part.

    Attributes:
        changes: Answers to the same questions that changed.
        added: Entries that are not recorded yet.
        replaced: Entries whose questions, or their files, are others now.
        removed: Recorded entries that are asked no more.
        skipped: Recorded entries that could not be computed.
        same: How many entries have the recorded answers.
    """

    changes: list[Change] = field(default_factory=list)
    added: list[Place] = field(default_factory=list)
    replaced: list[Place] = field(default_factory=list)
    removed: list[Place] = field(default_factory=list)
    skipped: list[Place] = field(default_factory=list)
    same: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether everything is as recorded, as far as it could be computed."""
        return not (self.changes or self.added or self.replaced or self.removed)


def compared(
    recorded: Mapping[Place, Recorded],
    found: Mapping[Place, Entry],
    is_skipped: Callable[[Place], bool],
) -> Differences:
    """Compare entries with the recorded ones; most differ in no digest, and are not looked at."""
    result = Differences(added=[place for place in found if place not in recorded])
    for place, old in recorded.items():
        new = found.get(place)
        if new is None:
            (result.skipped if is_skipped(place) else result.removed).append(place)
        elif new.asked != old.entry.asked:
            result.replaced.append(place)
        elif new.digest != old.digest:
            result.changes += _changes(old.entry, new)
        else:
            result.same += 1
    return result


def _changes(old: Entry, new: Entry) -> Iterator[Change]:
    if new.questions:
        for question, before, after in zip(new.questions, old.answers, new.answers, strict=True):
            if before != after:
                yield Change(new.place, question, before, after)
        return
    matcher = difflib.SequenceMatcher(None, old.answers, new.answers, autojunk=False)
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag != "equal":
            pairs = zip_longest(old.answers[start:end], new.answers[new_start:new_end])
            yield from (Change(new.place, "", before, after) for before, after in pairs)


def shown(differences: Iterable[Differences]) -> Iterator[str]:
    """Yield lines that show differences, by tool."""
    found = list(differences)
    changes = sorted((each for some in found for each in some.changes), key=lambda each: each.place)
    for tool, some in groupby(changes, key=lambda each: each.place.tool):
        yield from _shown_of_tool(tool, list(some))
    for what in ("added", "replaced", "removed"):
        places = sorted(place for some in found for place in getattr(some, what))
        if places:
            yield _TITLES[what].format(count=len(places))
            yield from _first(f"  {each.tool}: {each}" for each in places)


_TITLES = {
    "added": "Not recorded yet: {count:,} entries",
    "replaced": "Other questions or files than recorded: {count:,} entries",
    "removed": "Recorded, and asked no more: {count:,} entries",
}


def _shown_of_tool(tool: str, changes: list[Change]) -> Iterator[str]:
    places = {each.place for each in changes}
    dialects = sorted({place.dialect for place in places} - {""})
    within = f", {', '.join(dialects)}" if dialects else ""
    files = len({place.file for place in places})
    yield f"{tool}: {len(changes):,} answers changed (files: {files:,}{within})"
    yield from _first(_by_place(changes))


def _by_place(changes: list[Change]) -> Iterator[str]:
    for place, some in groupby(changes, key=lambda each: each.place):
        yield f"  {place}"
        yield from (f"    {each}" for each in some)


def _first(lines: Iterable[str]) -> Iterator[str]:
    every = list(lines)
    yield from every[:_MAX_LINES]
    if len(every) > _MAX_LINES:
        yield f"  … and {len(every) - _MAX_LINES:,} more lines"
