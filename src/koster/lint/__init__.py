"""Lint a robots.txt: findings, each with a position, a reason and often a fix.

>>> for finding in lint(b"User-agent: *\\nDisallow: admin\\n"):
...     print(finding.line, finding.code, finding.message)
2 P001 a path begins with a slash: this matches nothing
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..dialects import GOOGLE, RFC9309
from ._bytes import KINDS
from ._checks import CHECK_OF, CHECKS
from ._model import (
    Check,
    Edit,
    Family,
    Finding,
    Severity,
    Subject,
    is_binary,
    is_page,
    wide_charset,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..dialects import Dialect

__all__ = [
    "CHECKS",
    "CHECK_OF",
    "Check",
    "Edit",
    "Family",
    "Finding",
    "Severity",
    "chosen",
    "fixed",
    "is_binary",
    "is_page",
    "lint",
    "wide_charset",
]


def chosen(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> tuple[Check, ...]:
    """Return the checks selected by code prefixes, except those ignored by other prefixes.

    Raises:
        ValueError: no code starts with a prefix.
    """
    select, ignore = list(select), list(ignore)
    for prefix in (*select, *ignore):
        if not any(check.code.startswith(prefix.upper()) for check in CHECKS):
            raise ValueError(f"unknown code {prefix}: koster lint --explain all lists all codes")

    def starts_with_any(check: Check, prefixes: list[str]) -> bool:
        return any(check.code.startswith(prefix.upper()) for prefix in prefixes)

    return tuple(
        check
        for check in CHECKS
        if (not select or starts_with_any(check, select)) and not starts_with_any(check, ignore)
    )


def lint(
    body: bytes,
    dialect: Dialect = RFC9309,
    checks: Iterable[Check] = CHECKS,
    *,
    dialects: tuple[Dialect, ...] = (GOOGLE,),
    is_cut: bool = False,
    charset: str | None = None,
) -> list[Finding]:
    """Return the findings in a file, ordered by position.

    Args:
        body: The file as served.
        dialect: How it is read.
        checks: The checks to run.
        dialects: Dialects to compare with ``dialect``.
        is_cut: Whether ``body`` is truncated.
        charset: The original charset, if ``body`` was converted to UTF-8.
    """
    subject = Subject(body, dialect, dialects=dialects, is_cut=is_cut, charset=charset)
    found = []
    for check in checks:
        if not (subject.is_text or check.find in KINDS):
            continue
        for remark in check.find(subject):
            finding = Finding(
                code=check.code,
                severity=check.severity,
                line=remark.line,
                column=remark.start + 1,
                end_column=remark.end + 1,
                message=remark.message,
                suggestion=remark.suggestion,
                edits=remark.edits,
                url=remark.url,
            )
            found.append(finding)
    return sorted(found, key=lambda each: (each.line, each.column, each.code))


def fixed(body: bytes, findings: Iterable[Finding]) -> bytes:
    """Apply the edits of findings to a file; of overlapping edits the first one wins."""
    edits = sorted(
        {edit for finding in findings for edit in finding.edits},
        key=lambda edit: (edit.start, -edit.end),
    )
    parts = []
    at = 0
    for edit in edits:
        if edit.start >= at:
            parts += [body[at : edit.start], edit.replacement]
            at = max(edit.end, at)
    return b"".join([*parts, body[at:]])
