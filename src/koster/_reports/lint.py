"""The result of ``koster lint``, as text and JSON; `sarif` and `github` have other formats."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from .._wording import count_noun
from ..lint import CHECK_OF, Finding, Severity, by_importance, most_important
from ..robots import parse
from . import screen
from .json import to_json
from .plain import printable
from .records import of_finding, sentence
from .text import Text

STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}

#: The note that text mentions even where it only counts notes: other findings may be missing.
_PARTLY_CHECKED = "Z004"

#: The maximum characters of a line around a finding.
_MAX_EXCERPT = 72
#: The maximum number of lines for a file, with one for each code that is left, and for the findings
#: that say the same.
_MAX_LINES = 50
_LINES_PER_GROUP = 4
#: The maximum number of places listed in a group of findings.
_MAX_PLACES = 8


@dataclass(frozen=True, slots=True)
class FileFindings:
    """The findings in a file.

    Attributes:
        name: The file's name for people.
        path: The name for programs: a path, or the address of a site.
        body: The file.
        findings: The findings, by line.
        fixable: The number of those that ``--fix`` fixes.
        is_missing: Whether a site has no file.
    """

    name: str
    path: str
    body: bytes
    findings: list[Finding]
    fixable: int = 0
    is_missing: bool = False


@dataclass(frozen=True, slots=True)
class Findings:
    """The findings in some files, and the errors of files that could not be read.

    ``severities`` are those that text shows; all others are only counted there.
    """

    files: list[FileFindings]
    errors: list[str]
    severities: tuple[Severity, ...] = tuple(Severity)

    @property
    def all(self) -> list[Finding]:
        """The findings of all files."""
        return [finding for file in self.files for finding in file.findings]

    def shown(self, file: FileFindings) -> list[Finding]:
        """Return the findings of a file that text shows, the most important first."""
        return by_importance(each for each in file.findings if each.severity in self.severities)


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
    """Print findings, the most important first, and a summary."""
    for file in found.files:
        _print_groups(file, found.shown(file))
    print_summary(found)
    _print_most_important(found)


def _print_groups(file: FileFindings, findings: list[Finding]) -> None:
    """Print the findings of a file, those that say the same together; of very many, only some."""
    lines = parse(file.body).lines
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for each in findings:
        groups.setdefault((each.code, each.message, each.suggestion), []).append(each)
    printed, is_full = 0, False
    left: dict[str, list[Finding]] = {}
    codes = {each.code for each in findings}
    for first, *others in groups.values():
        codes.discard(first.code)
        is_full = is_full or printed + _LINES_PER_GROUP + len(codes) > _MAX_LINES
        if is_full:
            left.setdefault(first.code, []).extend([first, *others])
            continue
        text = lines[first.line - 1].text if first.line <= len(lines) else ""
        shown = _lines_of(file.name, text, first)
        if others:
            shown.append(Text.assemble(("      | ", "dim"), _more(others)))
        screen.print_lines(*shown)
        printed += len(shown)
    for first, *others in left.values():
        heading = _heading(file.name, first)
        screen.print_lines(heading.append(f" ({_more(others)})") if others else heading)


def _more(findings: list[Finding]) -> str:
    return f"{len(findings):,} more: {_places(each.line for each in findings)}"


def _places(numbers: Iterable[int]) -> str:
    """Return line numbers, consecutive ones as a range.

    >>> _places([3, 5, 6, 7, 7]), _places([3])
    ('lines 3, 5-7', 'line 3')
    """
    unique = sorted(set(numbers))
    ranges: list[list[int]] = []
    for _, run in itertools.groupby(enumerate(unique), lambda pair: pair[1] - pair[0]):
        members = [number for _, number in run]
        ranges.append([members[0], members[-1]])
    shown = [str(a) if a == b else f"{a}-{b}" for a, b in ranges[:_MAX_PLACES]]
    more = ", …" if len(ranges) > _MAX_PLACES else ""
    return f"line{'s' * (len(unique) != 1)} {', '.join(shown)}{more}"


def print_concise(found: Findings) -> None:
    """Print each finding on one line, and a summary."""
    for file in found.files:
        for finding in found.shown(file):
            place = (f"{file.name}:{finding.line}:{finding.column}", "bold")
            severity = (finding.severity, STYLES[finding.severity])
            screen.print_lines(
                Text.assemble(
                    place, " ", severity, " ", (finding.code, "bold"), f" {sentence(finding)}"
                )
            )
    print_summary(found)


def print_statistics(found: Findings) -> None:
    """Print the number of findings and files by code, the most frequent first."""
    by_code: dict[str, list[tuple[int, Finding]]] = {}
    for number, file in enumerate(found.files):
        for finding in file.findings:
            by_code.setdefault(finding.code, []).append((number, finding))
    rows = [
        [
            Text(f"{len(some):,}"),
            Text(f"{len({number for number, _ in some}):,}"),
            Text(code, "bold"),
            Text(some[0][1].severity, STYLES[some[0][1].severity]),
            Text(CHECK_OF[code].title),
        ]
        for code, some in sorted(by_code.items(), key=lambda item: (-len(item[1]), item[0]))
    ]
    if rows:
        screen.print_table(["Findings", "Files", "Code", "Severity", "What it finds"], rows)


def print_summary(found: Findings) -> None:
    """Print the numbers of findings by severity."""
    counts = {
        severity: sum(each.severity is severity for each in found.all) for severity in Severity
    }
    shown = [count_noun(counts[each], each) for each in found.severities if counts[each]]
    hidden = {each: counts[each] for each in Severity if each not in found.severities}
    notes = [
        f"{count_noun(hidden[each], each)} (shown with --notes)" for each in hidden if hidden[each]
    ]
    if not found.files:
        return
    parts = [
        ", ".join(shown) or _without_findings(found, has_notes=bool(notes)),
        *notes,
    ]
    if any(each.code == _PARTLY_CHECKED and each.severity in hidden for each in found.all):
        parts.append(f"not checked completely ({_PARTLY_CHECKED})")
    if found.errors and shown:
        parts.append("not everything could be checked")
    fixable = sum(file.fixable for file in found.files)
    if fixable:
        parts.append(f"--fix fixes {fixable:,}")
    summary = "; ".join(parts)
    screen.print_lines(Text(f"{summary[:1].upper()}{summary[1:]}", "bold"))


def _without_findings(found: Findings, *, has_notes: bool) -> str:
    """Return what to say where no errors or warnings were found: only if all could be checked."""
    if found.errors:
        return "not everything could be checked"
    if all(file.is_missing for file in found.files):
        return "nothing was checked: no robots.txt was read"
    return "no errors or warnings" if has_notes else "no problems found"


def _print_most_important(found: Findings) -> None:
    shown = [(file, finding) for file in found.files for finding in found.shown(file)]
    first = most_important(finding for _, finding in shown)
    if first is None or len({finding.code for _, finding in shown}) == 1:
        return
    file = next(file for file, finding in shown if finding is first)
    screen.print_lines(
        Text.assemble(
            ("Look first at ", "bold"),
            f"{file.name}:{first.line}: {printable(first.message)} ({first.code})",
        )
    )


def _heading(name: str, finding: Finding) -> Text:
    """Return where a finding is, and its message."""
    style = STYLES[finding.severity]
    return Text.assemble(
        (f"{name}:{finding.line}:{finding.column}", "bold"),
        " ",
        (finding.severity, style),
        " ",
        (finding.code, "bold"),
        f" {printable(finding.message)}",
    )


def _lines_of(name: str, text: str, finding: Finding) -> list[Text]:
    """Return the message, the line, and the mark with the suggestion."""
    parts = [_heading(name, finding)]
    excerpt, mark = _excerpt(text, finding)
    number = f"{finding.line:>5} | "
    blank = " " * (len(number) - 2) + "| "
    if excerpt and finding.end_column > finding.column:
        parts.append(Text.assemble((number, "dim"), excerpt))
        under = Text.assemble((blank, "dim"), (mark, STYLES[finding.severity]))
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
