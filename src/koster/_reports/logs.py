"""The result of ``koster logs``, as text, JSON, CSV, Markdown and HTML."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from . import screen
from .bulk import percent
from .complaints import complaints
from .csv import csv_line
from .json import to_json
from .log_page import as_page
from .log_words import (
    IDENTITIES,
    Judged,
    day_of,
    fetches_of,
    heading,
    identity_of,
    lead,
    most_broken,
    notices,
    pace_of,
    time_of,
)
from .plain import printable, shorten
from .text import Text

if TYPE_CHECKING:
    from ..logs import BrokenRule, CrawlerReport, Example, Violation

__all__ = [
    "Judged",
    "as_page",
    "print_csv",
    "print_html",
    "print_json",
    "print_markdown",
    "print_text",
    "print_violation",
]

#: The width from which a table has a column for each fact.
_WIDE = 130

_STYLES = {"verified": "bold red", "impostor": "yellow", "unverified": "yellow"}


def print_text(judged: Judged) -> None:
    """Print a row for each crawler, its most broken rule, and what the numbers leave open."""
    report = judged.report
    screen.print_lines(Text(heading(report), "dim"), Text(lead(report), "bold"))
    if not report.crawlers:
        _print_notices(judged)
        return
    is_wide = screen.width() >= _WIDE
    headings = ["Crawler", "Identity", "Requests", "Disallowed", "Violations", "robots.txt"]
    headings += ["First", "Last", "Most broken rule"] if is_wide else []
    screen.print_table(headings, [_row(each) for each in report.crawlers])
    if not is_wide:
        for each in report.crawlers:
            if each.rules:
                screen.print_lines(Text(_line(each, most_broken(each))))
    for each in report.crawlers:
        if each.pace is not None:
            screen.print_lines(Text(_line(each, pace_of(each))))
    _print_notices(judged)


def _line(each: CrawlerReport, what: str) -> str:
    return printable(f"{each.crawler} ({identity_of(each)}): {what}")


def _row(each: CrawlerReport) -> list[Text]:
    violations = Text(f"{each.violations:,}")
    if each.violations:
        violations = Text.assemble(
            (f"{each.violations:,}", _STYLES[each.identified]), (f"  {percent(each.share)}", "dim")
        )
    return [
        Text(printable(each.crawler)),
        Text(identity_of(each), "green" if each.identified == "verified" else "dim"),
        Text(f"{each.requests:,}"),
        Text(f"{each.disallowed:,}"),
        violations,
        Text(fetches_of(each), "dim"),
        Text(day_of(each.first), "dim"),
        Text(day_of(each.last), "dim"),
        Text(most_broken(each)),
    ]


def _print_notices(judged: Judged) -> None:
    for each in notices(judged.report):
        screen.print_lines(Text(printable(each), "yellow"))
    if judged.lists:
        screen.print_lines(Text(judged.lists, "dim"))


def _to_record(each: CrawlerReport) -> dict[str, Any]:
    pace = each.pace
    return {
        "crawler": each.crawler,
        "operator": each.operator or None,
        "identified": each.identified.value,
        "requests": each.requests,
        "disallowed": each.disallowed,
        "violations": each.violations,
        "within_caching_period": each.within_caching_period,
        "exempt": each.exempt,
        "not_judged": each.not_judged,
        "robots_txt": each.robots_txt,
        "asked_for_robots_txt": each.asked_for_robots_txt,
        "first": each.first.isoformat(),
        "last": each.last.isoformat(),
        "rules": [_rule_record(rule) for rule in each.rules],
        "pace": None
        if pace is None
        else {
            "directive": pace.directive,
            "intervals": pace.intervals,
            "kept": pace.kept,
            "worst_minute": pace.worst_minute.isoformat(),
            "worst_minute_requests": pace.worst_minute_requests,
            "outside_visit_time": pace.outside_visit_time,
        },
        "addresses": [{"address": address, "requests": count} for address, count in each.addresses],
    }


def _rule_record(rule: BrokenRule) -> dict[str, Any]:
    return {
        "line": rule.line,
        "rule": rule.rule,
        "version": rule.version,
        "since": None if rule.since is None else rule.since.isoformat(),
        "violations": rule.violations,
        "first": rule.first.isoformat(),
        "last": rule.last.isoformat(),
        "example": rule.examples[0].url if rule.examples else None,
        "examples": [_example_record(each) for each in rule.examples],
    }


def _example_record(each: Example) -> dict[str, Any]:
    return {
        "time": each.time.isoformat(),
        "address": each.address or None,
        "method": each.method or None,
        "url": each.url,
        "status": each.status,
        "agent": each.agent or None,
    }


def print_json(judged: Judged) -> None:
    """Print the report as an object."""
    report = judged.report
    print(
        to_json({
            "crawlers": [_to_record(each) for each in report.crawlers],
            "lines": report.lines,
            "unreadable": report.unreadable,
            "samples": [{"file": path, "line": line} for path, line in report.samples],
            "first": None if report.first is None else report.first.isoformat(),
            "last": None if report.last is None else report.last.isoformat(),
            "versions": [
                {
                    "version": each.label,
                    "since": None if each.since is None else each.since.isoformat(),
                }
                for each in report.versions
            ],
            "files": [{"file": path, "format": form} for path, form in report.files],
            "errors": list(report.errors),
            "notices": list(report.notices),
        })
    )  # fmt: skip


def print_csv(judged: Judged) -> None:
    """Print a row for each crawler as CSV; see `_csv` on formulas."""
    headings = (
        "crawler", "operator", "identified", "requests", "disallowed", "violations", "share",
        "within_caching_period", "exempt", "not_judged", "robots_txt", "asked_for_robots_txt",
        "first", "last", "most_broken_line", "most_broken_rule", "version",
    )  # fmt: skip
    screen.print_exact(csv_line(headings))
    for each in judged.report.crawlers:
        rule = each.rules[0] if each.rules else None
        cells = (
            each.crawler, each.operator, each.identified.value, each.requests, each.disallowed,
            each.violations, Decimal(f"{each.share:.6f}"), each.within_caching_period,
            each.exempt, each.not_judged, each.robots_txt, each.asked_for_robots_txt,
            each.first.isoformat(), each.last.isoformat(),
            *((rule.line, rule.rule, rule.version) if rule else (None, None, None)),
        )  # fmt: skip
        screen.print_exact(csv_line(cells))


def print_markdown(judged: Judged) -> None:
    """Print a complaint for each operator whose verified crawlers broke rules."""
    print("\n".join(complaints(judged)))


def print_violation(each: Violation) -> None:
    """Print a violation as one line."""
    request = each.request
    screen.print_lines(
        Text.assemble(
            (time_of(request.time), "dim"),
            "  ",
            (printable(each.crawler), "bold"),
            f" ({IDENTITIES[each.identified]})  ",
            shorten(f"{request.method} {request.url}".strip()),
            "  ",
            (f"line {each.line}, {shorten(each.rule)}", "red"),
        )
    )


def print_html(judged: Judged) -> None:
    """Print the page."""
    screen.print_exact(as_page(judged))
