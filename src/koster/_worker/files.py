"""The files that the functions of `koster._worker` are asked about."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TypeAlias

from ..access import Outcome
from ..dialects import Dialect, dialect_named
from ..robots import RobotsTxt, parse


@dataclass(frozen=True, slots=True)
class UnreadOutcome(Outcome):
    """An outcome whose file is not parsed before it is needed.

    ``robots`` is an empty file, or None; the file itself is in ``entry``.
    """

    @property
    def body(self) -> bytes | None:
        """The file as UTF-8, or None."""
        return None if self.robots is None else self.entry.body


#: A file: its bytes, or the outcome of fetching it.
File: TypeAlias = bytes | UnreadOutcome


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file of a batch, with the client's name for it: its bytes, or these in base64."""

    id: str | None
    content: bytes | str


def body_of(file: File) -> bytes:
    """Return the bytes of a file; none if its site has no file."""
    return file if isinstance(file, bytes) else file.body or b""


def robots_of(file: File, dialect: str) -> RobotsTxt:
    """Return a file as it is read in a dialect."""
    target = dialect_named(dialect)
    if isinstance(file, bytes) or file.robots is None:
        return parse(body_of(file), target)
    return _parsed(file, target)


def read(outcome: UnreadOutcome) -> Outcome:
    """Return an outcome with its file parsed."""
    values = {each.name: getattr(outcome, each.name) for each in fields(Outcome)}
    if outcome.robots is not None:
        values["robots"] = _parsed(outcome, outcome.dialect)
    return Outcome(**values)


def _parsed(outcome: UnreadOutcome, dialect: Dialect) -> RobotsTxt:
    entry = outcome.entry
    return parse(dialect.body_of(entry.body, entry.served), dialect)
