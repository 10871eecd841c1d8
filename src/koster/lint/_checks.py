"""A check: what `check` says above its function.

A new check needs nothing else. Its page in the docs, ``koster lint --explain`` and the rules of
SARIF are made from it, and a test applies it to its example. More cases are in
``tests/findings.toml``.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from .._version import DOCS
from ._model import CheckedFile, Remark, Severity

Find: TypeAlias = Callable[[CheckedFile], Iterable[Remark]]

ERROR, WARNING, NOTE = Severity


class Family(enum.StrEnum):
    """The topic of a finding, from the first letter of its code."""

    BYTES = "bytes and encoding"
    LINES = "lines and keys"
    GROUPS = "groups"
    PATTERNS = "patterns"
    SEMANTICS = "semantics"
    SITEMAPS = "sitemaps"
    EXTENSIONS = "preferences and extensions"
    PORTABILITY = "portability"
    LIMITS = "limits"


#: Families by the first letter of their codes.
_FAMILIES = dict(zip("BLGPSMEDZ", Family, strict=True))


@dataclass(frozen=True, slots=True)
class Check:
    """A check.

    Attributes:
        code: Its code, such as ``P001``.
        name: Its name, such as ``no-leading-slash``.
        severity: The severity of its findings.
        title: What is wrong.
        why: The consequences, and what to do.
        example: A file with a finding; without a ``fix``, how to get one, in words.
        fix: The example without the finding: as ``--fix`` writes it, or similar.
        source: The reference.
        encoding: The encoding of the example.
        find: Yields a `Remark` for each case.
        is_on: Whether it runs by default; if not, only where its whole code is selected.
    """

    code: str
    name: str
    severity: Severity
    title: str
    why: str
    example: str
    fix: str
    source: str
    encoding: str
    find: Find
    is_on: bool = True

    @property
    def family(self) -> Family:
        """Its topic."""
        return _FAMILIES[self.code[0]]

    @property
    def docs(self) -> str:
        """The URL of its page in the documentation."""
        return f"{DOCS}reference/lint/{self.code}.html"


#: All checks, as their modules are imported.
_found: list[Check] = []


def check(
    code: str,
    name: str,
    severity: Severity,
    title: str,
    *,
    why: str,
    example: str,
    source: str,
    fix: str = "",
    encoding: str = "utf-8",
    is_on: bool = True,
) -> Callable[[Find], Find]:
    """Make a function a check; the arguments are the attributes of `Check`."""

    def add(find: Find) -> Find:
        _found.append(
            Check(code, name, severity, title, why, example, fix, source, encoding, find, is_on)
        )
        return find

    return add


def found() -> tuple[Check, ...]:
    """Return the checks so far, by family and code: the limits come last, after all others."""
    families = list(Family)
    return tuple(sorted(_found, key=lambda each: (families.index(each.family), each.code)))
