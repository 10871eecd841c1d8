"""Lint a robots.txt: findings, each with a position, a reason and often a fix.

>>> for finding in lint(b"User-agent: *\\nDisallow: admin\\n"):
...     print(finding.line, finding.code, finding.message)
2 P001 A path must start with /: this matches nothing
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from types import MappingProxyType

from .._contents import is_binary, is_page, program_language, wide_charset
from .._templates import Template, template_of
from ..dialects import GOOGLE, RFC9309, Dialect
from ._bytes import KINDS, is_unreadable
from ._checks import Check, Family
from ._edits import Fixed, Kept, apply_edits, fixes
from ._ignoring import ignored_codes
from ._managed import CHANGE_ELSEWHERE, MANAGED_CODE, managed_lines
from ._model import (
    SEARCH_CRAWLERS,
    CheckedFile,
    Edit,
    Finding,
    Remark,
    Severity,
)
from ._sitemaps import SitemapUrls, with_sitemaps
from ._table import CHECK_OF, CHECKS, DEFAULT_CHECKS
from .settings import chosen

__all__ = [
    "CHECKS",
    "CHECK_OF",
    "SEARCH_CRAWLERS",
    "Check",
    "Edit",
    "Family",
    "Finding",
    "Fixed",
    "Kept",
    "Severity",
    "SitemapUrls",
    "by_importance",
    "chosen",
    "fixed",
    "fixes",
    "is_binary",
    "is_page",
    "lint",
    "most_important",
    "template_of",
    "wide_charset",
    "with_edits",
    "with_sitemaps",
]

_TEMPLATE_CODE = "B011"
#: These compare lines with one another, so they need all lines: not for a template with conditions.
_NEEDS_ALL_LINES = ("G001", "G002", "G003", "G004", "G009", "G010", "S", "D", "E006", "E008")
#: Findings about the whole site: more important than all others, the first of these most.
_WHOLE_SITE = (
    "B001",
    "B010",
    "B002",
    "B012",
    "B013",
    "L014",
    "G015",
    "S006",
    "S007",
    "Z001",
    "L009",
)
#: The most important of the other findings, if their severity is the same.
_IMPORTANT = (
    "G001", "G006", "G014", "P009", "B011", "G003", "S015", "S013", "G005", "S008", "M002", "M006",
    "S001", "S002", "G002", "G013",
)  # fmt: skip

#: The maximum number of findings with one code. Files of millions of lines have more.
_MAX_FINDINGS = 100_000

_SEVERITIES = list(Severity)
_BY_PLACE = attrgetter("line", "column", "code")


def lint(
    body: bytes,
    dialect: Dialect = RFC9309,
    checks: Iterable[Check] = DEFAULT_CHECKS,
    *,
    dialects: tuple[Dialect, ...] = (GOOGLE,),
    crawlers: tuple[str, ...] = SEARCH_CRAWLERS,
    severities: Mapping[str, Severity] = MappingProxyType({}),
    is_cut: bool = False,
    charset: str | None = None,
    site: str | None = None,
) -> list[Finding]:
    """Return the findings in a file, ordered by position: at most 100,000 with one code.

    Comments such as ``# koster: ignore[S009]`` are obeyed. A template is checked around its tags.

    Args:
        body: The file as served.
        dialect: How it is read.
        checks: The checks to run.
        dialects: Dialects to compare with ``dialect``.
        crawlers: The search engines that should find the site.
        severities: Severities that differ from those of the checks, by code.
        is_cut: Whether ``body`` is truncated.
        charset: The original charset, if ``body`` was converted to UTF-8.
        site: The origin that served the file, if it is known: ``https://example.com``.
    """
    template = None if program_language(body) else template_of(body)
    subject = CheckedFile(
        template.body if template else body,
        dialect,
        dialects=dialects,
        crawlers=crawlers,
        codes=frozenset(CHECK_OF),
        template=template,
        is_cut=is_cut,
        charset=charset,
        site=site,
    )
    found = []
    is_robots = subject.is_text and not is_unreadable(subject)
    for check in checks:
        if not (is_robots or check.find in KINDS):
            continue
        if template and template.has_logic and check.code.startswith(_NEEDS_ALL_LINES):
            continue
        severity = severities.get(check.code, check.severity)
        found += [_finding(check, severity, remark) for remark in _first_of(check.find(subject))]
    if template:
        found = list(_beside_tags(found, template))
    found = list(_with_owners(found, managed_lines(subject)))
    ignored = ignored_codes(subject.lines, CHECK_OF) if b"koster" in body else {}
    if ignored:
        found = [each for each in found if each.code not in ignored.get(each.line, ())]
    return sorted(found, key=_BY_PLACE)


def _first_of(remarks: Iterable[Remark]) -> list[Remark]:
    """Return the first remarks, of which the last one says that there are more."""
    remaining = iter(remarks)
    found = list(itertools.islice(remaining, _MAX_FINDINGS))
    if next(remaining, None) is not None:
        last = found[-1]
        message = f"{last.message} ({_MAX_FINDINGS:,} are listed, and there are more)"
        found[-1] = last._replace(message=message)
    return found


def _finding(check: Check, severity: Severity, remark: Remark) -> Finding:
    (line, start, size), message, suggestion, edits, proposal, url = remark
    place = line, start + 1, start + size + 1
    return Finding(check.code, severity, *place, message, suggestion, edits, proposal, url)


def _beside_tags(findings: Iterable[Finding], template: Template) -> Iterator[Finding]:
    """Yield the findings on lines without tags; what an edit changes depends on the rendering."""
    for each in findings:
        if each.code == _TEMPLATE_CODE or each.line not in template.lines:
            yield each._replace(edits=(), proposal=())


def by_importance(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings, the most important first.

    What affects the whole site comes before single rules, then errors come before warnings. Notes
    come last.
    """
    return sorted(findings, key=_importance)


def _with_owners(findings: Iterable[Finding], managed: range) -> Iterator[Finding]:
    """Yield findings; those on lines that a service writes say where to change these."""
    for each in findings:
        if each.line not in managed or each.code == MANAGED_CODE:
            yield each
        else:
            yield each._replace(
                suggestion=CHANGE_ELSEWHERE.format(line="this line"), edits=(), proposal=()
            )


def most_important(findings: Iterable[Finding]) -> Finding | None:
    """Return the finding to look at first, or None without findings: see `by_importance`."""
    return min(findings, key=_importance, default=None)


def _importance(finding: Finding) -> tuple[bool, int, int, int, int]:
    return (
        finding.severity is Severity.NOTE,
        _place(finding.code, _WHOLE_SITE),
        _SEVERITIES.index(finding.severity),
        _place(finding.code, _IMPORTANT),
        finding.line,
    )


def _place(code: str, codes: tuple[str, ...]) -> int:
    return codes.index(code) if code in codes else len(codes)


def fixed(body: bytes, find: Callable[[bytes], Iterable[Finding]] = lint) -> bytes:
    """Return a file in which nothing is left that can be fixed automatically.

    A fix may show something else to fix, so the file is checked again after each: at most 20 times.

    Args:
        body: The file as served.
        find: Returns the findings to fix, such as `lint` with other checks.
    """
    return fixes(body, find).body


def with_edits(body: bytes, findings: Iterable[Finding]) -> bytes:
    """Apply the edits of findings to a file once; of overlapping edits the first one wins."""
    return apply_edits(body, findings).body
