"""The result of ``koster lint``, as text and JSON; `sarif` and `github` have other formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from ..lint import Severity
from ..robots import parse
from . import screen
from ._json import to_json
from .plain import printable
from .records import of_finding

if TYPE_CHECKING:
    from ..lint import Finding

STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}

#: The maximum characters of a line around a finding.
_MAX_EXCERPT = 72


@dataclass(frozen=True, slots=True)
class FileFindings:
    """The findings in a file.

    Attributes:
        name: The file's name for people.
        path: The name for programs: a path, or the address of a site.
        body: The file.
        findings: The findings, by line.
    """

    name: str
    path: str
    body: bytes
    findings: list[Finding]


@dataclass(frozen=True, slots=True)
class Findings:
    """The findings in some files, and the errors of files that could not be read."""

    files: list[FileFindings]
    errors: list[str]


def print_json(found: Findings) -> None:
    """Print an array with an object for each finding; files that could not be read have none."""
    print(
        to_json(
            [
                {"file": file.path} | of_finding(each)
                for file in found.files
                for each in file.findings
            ]
        )
    )


def print_text(found: Findings) -> None:
    """Print each finding with its line, and a mark below it."""
    for file in found.files:
        lines = parse(file.body).lines
        for finding in file.findings:
            text = lines[finding.line - 1].text if finding.line <= len(lines) else ""
            screen.print_lines(*_lines_of(file.name, text, finding))


def _lines_of(name: str, text: str, finding: Finding) -> list[Text]:
    """Return the message, the line, and the mark with the suggestion."""
    style = STYLES[finding.severity]
    place = f"{name}:{finding.line}:{finding.column}"
    parts = [
        Text.assemble(
            *((place, "bold"), " ", (finding.severity, style), " ", (finding.code, "bold"), " "),
            printable(finding.message),
        )
    ]
    excerpt, mark = _excerpt(text, finding)
    number = f"{finding.line:>5} | "
    blank = " " * (len(number) - 2) + "| "
    if excerpt and finding.end_column > finding.column:
        parts.append(Text.assemble((number, "dim"), excerpt))
        under = Text.assemble((blank, "dim"), (mark, style))
        if finding.suggestion:
            under.append(f" {printable(finding.suggestion)}")
        parts.append(under)
    elif finding.suggestion:
        parts.append(Text.assemble((blank, "dim"), printable(finding.suggestion)))
    return parts


def _excerpt(text: str, finding: Finding) -> tuple[str, str]:
    """Return the part of a line around a finding, and the marks for the line below."""
    start, end = finding.column - 1, finding.end_column - 1
    first = 0 if end <= _MAX_EXCERPT else max(0, start - _MAX_EXCERPT // 3)
    shown = text[first : first + _MAX_EXCERPT]
    before = ("…" if first else "") + printable(shown[: start - first].expandtabs(1))
    marked = printable(shown[start - first : end - first].expandtabs(1))
    after = printable(shown[end - first :].expandtabs(1)) + (
        "…" if len(text) > first + _MAX_EXCERPT else ""
    )
    return before + marked + after, " " * len(before) + "^" * max(len(marked), 1)
