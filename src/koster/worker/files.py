"""The files that the functions of `koster.worker` are asked about."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TypeAlias

from ..access import Outcome
from ..dialects import dialect_named
from ..robots import RobotsTxt, parse


@dataclass(frozen=True, slots=True)
class UnreadOutcome(Outcome):
    """An outcome with its file as bytes, so that nobody parses it before it is needed.

    ``robots`` is an empty file, or None. ``body`` is the file, or None.
    """

    body: bytes | None


#: A file: its bytes, or the outcome of fetching it.
File: TypeAlias = bytes | UnreadOutcome


def body_of(file: File) -> bytes:
    """Return the bytes of a file; none if its site has no file."""
    return file if isinstance(file, bytes) else file.body or b""


def robots_of(file: File, dialect: str) -> RobotsTxt:
    """Return a file as it is read in a dialect."""
    return parse(body_of(file), dialect_named(dialect))


def read(outcome: UnreadOutcome) -> Outcome:
    """Return an outcome with its file parsed."""
    values = {each.name: getattr(outcome, each.name) for each in fields(Outcome)}
    if outcome.body is not None:
        values["robots"] = parse(outcome.body, outcome.dialect)
    return Outcome(**values)
