"""Entries: the answers of a tool about a file in a dialect."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

#: Hexadecimal digits of a digest: most of what is stored is digests, and one change in four billion
#: goes unnoticed.
_DIGITS = 8


class Place(NamedTuple):
    """What an entry is about; ``dialect`` is empty where it is a choice of the tool."""

    tool: str
    file: str
    dialect: str

    def __str__(self) -> str:
        return ", ".join(filter(None, (self.file, self.dialect)))


@dataclass(frozen=True)
class Entry:
    """Answers, one to a line.

    ``asked`` is a digest of all that is asked: answers of entries are compared if these are equal.
    ``questions`` has one for each answer if their number is fixed; they are not stored.
    """

    place: Place
    asked: str
    answers: tuple[str, ...]
    questions: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """The digest of the answers."""
        return digest_of("\n".join(self.answers))


@dataclass(frozen=True)
class Part:
    """The tools of a module.

    Attributes:
        name: The name of its file of answers.
        are_decisions: Whether its answers are decisions.
        files: Returns the files to ask about; see `inputs`.
        entries: Returns the entries of a file.
        at_once: How many files a process answers before it takes the next ones.
    """

    name: str
    are_decisions: bool
    files: Callable[[], Iterable[str]]
    entries: Callable[[str], Iterator[Entry]]
    at_once: int = 50


def digest_of(*parts: str | bytes, digits: int = _DIGITS) -> str:
    """Return a digest of texts and bytes."""
    found = hashlib.sha256()
    for part in parts:
        raw = part if isinstance(part, bytes) else part.encode("utf-8", "surrogateescape")
        found.update(b"%d:" % len(raw))
        found.update(raw)
    return found.hexdigest()[:digits]


def printable(text: str) -> str:
    """Return a text as one line of ASCII."""
    return text.encode("unicode_escape").decode("ascii")


def entry(
    place: Place,
    asked: Iterable[str | bytes],
    answers: Iterable[str],
    questions: Iterable[str] = (),
) -> Entry:
    """Return an entry about inputs."""
    labels = tuple(map(printable, questions))
    return Entry(place, digest_of(*asked, *labels), tuple(map(printable, answers)), labels)
