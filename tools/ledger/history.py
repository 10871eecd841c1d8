"""Which changes of decisions were accepted, and the line of the change log about each.

``history.toml`` is a chain: each entry has the digest of all decisions before and after, so that
the last one is that of the recorded answers. An entry with changed decisions cites lines of the
change log under a heading "Decisions that changed", each of which is cited once.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

HEADING = "Decisions that changed"

_INTRODUCTION = """\
# Accepted changes of decisions, the newest last: written by `make ledger ACCEPT=1`.
#
# before, after  digests of all recorded decisions
# changed        how many answers to the same questions changed
# lines          what CHANGELOG.md says about them, under "Decisions that changed"
"""


@dataclass(frozen=True)
class Accepted:
    """An accepted change; see the file."""

    before: str
    after: str
    changed: int
    lines: tuple[str, ...]


def read(path: Path) -> list[Accepted]:
    """Return the accepted changes, the newest last."""
    if not path.exists():
        return []
    entries = tomllib.loads(path.read_text("utf-8"))["accepted"]
    return [
        Accepted(each["before"], each["after"], each["changed"], tuple(each["lines"]))
        for each in entries
    ]


def write(path: Path, accepted: Iterable[Accepted]) -> None:
    """Write the accepted changes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([_INTRODUCTION, *map(_entry, accepted)]), "utf-8")


def _entry(each: Accepted) -> str:
    lines = "".join(f"\n    {json.dumps(line, ensure_ascii=False)}," for line in each.lines)
    end = "\n]" if lines else "]"
    return (
        f'[[accepted]]\nbefore = "{each.before}"\nafter = "{each.after}"\n'
        f"changed = {each.changed}\nlines = [{lines}{end}\n"
    )


def lines_of(changelog: str) -> list[str]:
    """Return the items of the change log under the heading, each on one line."""
    return [item for section in _sections(changelog) for item in _items(section)]


def _sections(changelog: str) -> Iterator[str]:
    for section in re.split(r"^#+ ", changelog, flags=re.MULTILINE):
        title, _, text = section.partition("\n")
        if title.strip() == HEADING:
            yield text


def _items(section: str) -> Iterator[str]:
    _, *items = re.split(r"^- ", section, flags=re.MULTILINE)
    for item in items:
        # A paragraph that follows the list is not part of its last item.
        yield " ".join(re.split(r"\n(?! )", item)[0].split())


def uncited(changelog: str, accepted: Iterable[Accepted]) -> list[str]:
    """Return the lines of the change log that no accepted change cites."""
    lines = lines_of(changelog)
    for cited in (line for each in accepted for line in each.lines):
        if cited in lines:
            lines.remove(cited)
    return lines


def errors(changelog: str, accepted: list[Accepted], digest: str) -> Iterator[str]:
    """Yield what is wrong with the accepted changes, for decisions with a digest."""
    chain = ["", *(each.after for each in accepted)]
    for number, (before, each) in enumerate(zip(chain, accepted, strict=False), 1):
        if each.before != before:
            yield f"change {number} does not begin where the one before ended"
        if each.changed and not each.lines:
            yield f"change {number} has no line of the change log"
    if chain[-1] != digest:
        yield "the recorded decisions are others than those that were accepted last"
    remaining = lines_of(changelog)
    for line in (line for each in accepted for line in each.lines):
        if line in remaining:
            remaining.remove(line)
        else:
            yield f'not in the change log under "{HEADING}", or cited twice: {line}'
    for line in remaining:
        yield f"in the change log, but no accepted change cites it: {line}"
