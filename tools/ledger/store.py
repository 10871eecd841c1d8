"""The recorded answers: a compressed text for each part.

Each entry is a line that begins with a tab, and has the place, the digest of what was asked and the
digest of the answers, separated by tabs; then a line for each answer.
"""

from __future__ import annotations

import lzma
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .entries import Entry, Part, Place, digest_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Recorded:
    """A recorded entry; ``digest`` is the one that was recorded with it."""

    entry: Entry
    digest: str


def read(folder: Path, part: Part) -> dict[Place, Recorded]:
    """Return the recorded entries of a part."""
    path = _path(folder, part)
    if not path.exists():
        return {}
    found: dict[Place, Recorded] = {}
    _, *blocks = ("\n" + lzma.decompress(path.read_bytes()).decode("utf-8")).split("\n\t")
    for block in blocks:
        head, *answers = block.removesuffix("\n").split("\n")
        *place, asked, digest = head.split("\t")
        each = Entry(Place(*place), asked, tuple(answers))
        found[each.place] = Recorded(each, digest)
    return found


def write(folder: Path, part: Part, entries: Iterable[Entry]) -> None:
    """Record the entries of a part."""
    lines = []
    for each in sorted(entries, key=_file_first):
        lines += ["\t".join(["", *each.place, each.asked, each.digest]), *each.answers]
    path = _path(folder, part)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{line}\n" for line in lines).encode("utf-8")
    # Another version of xz may write other bytes for the same answers.
    if not path.exists() or lzma.decompress(path.read_bytes()) != text:
        path.write_bytes(lzma.compress(text, preset=9 | lzma.PRESET_EXTREME))


def _file_first(entry: Entry) -> tuple[str, str, str]:
    """Return a sort key with which similar answers are beside one another."""
    tool, file, dialect = entry.place
    return tool, file, dialect


def digest_of_all(recorded: Mapping[Place, Recorded]) -> str:
    """Return one digest for all entries."""
    lines = (
        "\t".join([*place, recorded[place].entry.asked, recorded[place].digest])
        for place in sorted(recorded)
    )
    return digest_of(*lines, digits=32)


def _path(folder: Path, part: Part) -> Path:
    return folder / "answers" / f"{part.name}.xz"
