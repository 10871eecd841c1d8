"""The result of ``koster logs``, as text, JSON, CSV, Markdown and HTML."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from rich.text import Text

from .._wording import count_noun, joined
from . import screen
from ._csv import csv_line
from ._json import to_json
from .pages import page
from .plain import markdown, markdown_code, printable, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from ..logs import BrokenRule, CrawlerReport, Example, Report, Version, Violation

#: The width from which a table has a column for each fact.
_WIDE = 150

#: The maximum number of rules of a crawler, and of crawlers in charts.
_MAX_RULES = 10
_MAX_CHARTS = 12
#: The bars of a chart, and its size.
_MAX_BARS = 60
_WIDTH, _HEIGHT = 600.0, 90.0
#: Examples in a complaint.
_MAX_EXAMPLES = 12

_STYLES = {"verified": "bold red", "impostor": "yellow", "unverified": "yellow"}

#: What is known about an identity, for a person.
_IDENTITIES = {
    "verified": "verified",
    "impostor": "impostor",
    "unverified": "not verified",
}

_CAUTION = (
    "Anyone can use the name of a crawler: do not blame its operator for requests that are not "
    "verified"
)


@dataclass(frozen=True, slots=True)
class Judged:
    """A report for output.

    Attributes:
        report: The result.
        title: What the log is of.
        source: Where the numbers are from.
        grace: The caching period, in words.
        are_addresses_hashed: Whether addresses are hashes.
        lists: The days of the lists of addresses, in words.
    """

    report: Report
    title: str = ""
    source: str = ""
    grace: str = "24 hours"
    are_addresses_hashed: bool = True
    lists: str = ""


def percent(share: float) -> str:
    """Format a share.

    >>> percent(0.123), percent(0.0001), percent(0), percent(1)
    ('12.3 %', '0.01 %', '0 %', '100 %')
    """
    if share in (0, 1):
        return f"{share:.0%}".replace("%", " %")
    return f"{share * 100:.1f} %" if share >= 0.001 else f"{share * 100:.2g} %"


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def _period(first: datetime, last: datetime) -> str:
    return _day(first) if _day(first) == _day(last) else f"{_day(first)} to {_day(last)}"


def lead(report: Report) -> str:
    """Return the result in a sentence.

    Only crawlers that were verified are named.
    """
    verified = [each for each in report.crawlers if each.identified == "verified"]
    broken = [each for each in verified if each.violations]
    others = sum(each.violations for each in report.crawlers) - sum(
        each.violations for each in broken
    )
    names = [each.crawler for each in broken]
    some = names if len(names) <= 4 else [*names[:3], f"{len(names) - 3} more"]
    if broken:
        verb = "ignores" if len(broken) == 1 else "ignore"
        sentence = f"{joined(some)} {verb} robots.txt"
        sentence += f": {count_noun(sum(each.violations for each in broken), 'violation')}."
    elif verified:
        sentence = "No verified crawler ignores robots.txt."
    elif report.crawlers:
        sentence = "No crawler could be verified."
    else:
        return "No crawler in the log."
    if others:
        sentence += f" {count_noun(others, 'violation')} by crawlers that are not verified."
    return sentence


def print_text(judged: Judged) -> None:
    """Print a row for each crawler, its most broken rule, and what the numbers leave open."""
    report = judged.report
    screen.print_lines(Text(_heading(report), "dim"), Text(lead(report), "bold"))
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
                screen.print_lines(Text(_line(each, _most_broken(each))))
    for each in report.crawlers:
        if each.pace is not None:
            screen.print_lines(Text(_line(each, pace_of(each))))
    _print_notices(judged)


def _line(each: CrawlerReport, what: str) -> str:
    return printable(f"{each.crawler} ({_identity(each)}): {what}")


def _heading(report: Report) -> str:
    if report.first is None or report.last is None:
        return count_noun(report.lines, "line")
    versions = count_noun(len(report.versions), "version")
    return (
        f"{_period(report.first, report.last)}, {count_noun(report.lines, 'line')}, "
        f"{versions} of robots.txt"
    )


def _row(each: CrawlerReport) -> list[Text]:
    violations = Text(f"{each.violations:,}")
    if each.violations:
        violations = Text.assemble(
            (f"{each.violations:,}", _STYLES[each.identified]), (f"  {percent(each.share)}", "dim")
        )
    return [
        Text(printable(each.crawler)),
        Text(_identity(each), "green" if each.identified == "verified" else "dim"),
        Text(f"{each.requests:,}"),
        Text(f"{each.disallowed:,}"),
        violations,
        Text(_asked(each), "dim"),
        Text(_time(each.first), "dim"),
        Text(_time(each.last), "dim"),
        Text(_most_broken(each)),
    ]


def _identity(each: CrawlerReport) -> str:
    return _IDENTITIES[each.identified]


def _asked(each: CrawlerReport) -> str:
    return "never" if each.asked_for_robots_txt is False else f"{each.robots_txt:,}"


def _most_broken(each: CrawlerReport) -> str:
    if not each.rules:
        return ""
    rule = each.rules[0]
    more = f", and {count_noun(len(each.rules) - 1, 'other rule')}" if len(each.rules) > 1 else ""
    return f"line {rule.line}, {shorten(rule.rule)} ({rule.violations:,} times{more})"


def pace_of(each: CrawlerReport) -> str:
    """Return how a crawler kept to the pace that a site asks for, in words."""
    pace = each.pace
    if pace is None:
        return ""
    parts = []
    if pace.intervals:
        kept = percent(pace.kept / pace.intervals)
        parts.append(f"kept {kept} of {count_noun(pace.intervals, 'interval')}")
    if pace.outside_visit_time:
        parts.append(f"{count_noun(pace.outside_visit_time, 'request')} outside the visit time")
    parts.append(
        f"at most {count_noun(pace.worst_minute_requests, 'request')} in a minute "
        f"({pace.worst_minute:%Y-%m-%d %H:%M})"
    )
    return f"{pace.directive}: {'; '.join(parts)}"


def _print_notices(judged: Judged) -> None:
    for each in notices(judged.report):
        screen.print_lines(Text(printable(each), "yellow"))
    if judged.lists:
        screen.print_lines(Text(judged.lists, "dim"))


def notices(report: Report) -> list[str]:
    """Return what the numbers leave open, in sentences."""
    found = list(report.notices)
    if report.unreadable:
        found.append(f"{count_noun(report.unreadable, 'line')} could not be read, such as:")
        found += [f"{path}: {shorten(sample)}" for path, sample in report.samples[:3]]
    if any(each.violations and each.identified != "verified" for each in report.crawlers):
        found.append(_CAUTION)
    return found


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
        "address": each.address,
        "method": each.method,
        "url": each.url,
        "status": each.status,
        "agent": each.agent,
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
        *("crawler", "operator", "identified", "requests", "disallowed", "violations", "share"),
        *("within_caching_period", "exempt", "not_judged", "robots_txt", "asked_for_robots_txt"),
        *("first", "last", "most_broken_line", "most_broken_rule", "version"),
    )
    print(csv_line(headings), end="")
    for each in judged.report.crawlers:
        rule = each.rules[0] if each.rules else None
        cells = (
            *(each.crawler, each.operator, each.identified.value, each.requests, each.disallowed),
            *(each.violations, Decimal(f"{each.share:.6f}"), each.within_caching_period),
            *(each.exempt, each.not_judged, each.robots_txt, each.asked_for_robots_txt),
            *(each.first.isoformat(), each.last.isoformat()),
            *((rule.line, rule.rule, rule.version) if rule else (None, None, None)),
        )
        print(csv_line(cells), end="")


def print_markdown(judged: Judged) -> None:
    """Print a complaint for each operator whose verified crawlers broke rules."""
    print("\n".join(_complaints(judged)))


def _complaints(judged: Judged) -> Iterator[str]:
    broken = [each for each in judged.report.crawlers if each.violations]
    verified = [each for each in broken if each.identified == "verified"]
    others = [each for each in broken if each.identified != "verified"]
    if not verified:
        yield "# No violations by verified crawlers"
        yield ""
        yield markdown(lead(judged.report))
    for number, each in enumerate(verified):
        yield from ["", "---", ""] if number else []
        yield from _complaint(judged, each)
    if others:
        yield ""
        yield "## Not verified"
        yield ""
        yield f"{_CAUTION}. They are no evidence against an operator."
        yield ""
        yield "| crawler | identity | requests | violations |"
        yield "|---|---|---:|---:|"
        for each in others:
            yield (
                f"| {markdown(each.crawler)} | {_identity(each)} | {each.requests:,} "
                f"| {each.violations:,} |"
            )


def _complaint(judged: Judged, each: CrawlerReport) -> Iterator[str]:
    report = judged.report
    of = f" of {markdown(judged.title)}" if judged.title else ""
    yield f"# {markdown(each.crawler)} ignores the robots.txt{of}"
    yield ""
    operator = f", run by {markdown(each.operator)}," if each.operator else ""
    yield (
        f"From {_time(each.first)} to {_time(each.last)} UTC, {markdown(each.crawler)}{operator} "
        f"made {count_noun(each.requests, 'request')}{of}. The robots.txt disallows "
        f"{each.violations:,} of them ({percent(each.share)})."
    )
    yield ""
    yield "## Rules"
    yield ""
    yield "| rule | version, in force since | violations | first (UTC) | last (UTC) |"
    yield "|---|---|---:|---|---|"
    for rule in each.rules[:_MAX_RULES]:
        since = "the beginning of the log" if rule.since is None else f"{_time(rule.since)} UTC"
        yield (
            f"| line {rule.line}: {markdown_code(rule.rule)} | {markdown(rule.version)}, {since} "
            f"| {rule.violations:,} | {_time(rule.first)} | {_time(rule.last)} |"
        )
    if len(each.rules) > _MAX_RULES:
        yield ""
        yield f"And {count_noun(len(each.rules) - _MAX_RULES, 'other rule')}."
    yield ""
    yield "## Requests, for example"
    yield ""
    yield "| time (UTC) | address | request | status | User-Agent |"
    yield "|---|---|---|---:|---|"
    examples = [some for rule in each.rules for some in rule.examples][:_MAX_EXAMPLES]
    for some in sorted(examples, key=lambda example: example.time):
        request = markdown_code(f"{some.method} {some.url}".strip())
        status = "" if some.status is None else some.status
        yield (
            f"| {_time(some.time)} | {markdown(some.address)} | {request} | {status} "
            f"| {markdown_code(some.agent)} |"
        )
    if judged.are_addresses_hashed:
        yield ""
        yield "The addresses are hashed; koster logs --show-addresses has them."
    yield ""
    yield "## Identification"
    yield ""
    yield _identification(each, judged)
    yield ""
    yield "## How violations were counted"
    yield ""
    yield (
        f"A request counts only if every version of the robots.txt disallows it that the crawler "
        f"may have held at that moment: the one it last fetched, according to this log, in the "
        f"{judged.grace} before (RFC 9309 §2.4), or any version in force in that time."
    )
    if each.within_caching_period:
        yield ""
        yield (
            f"Not counted: {count_noun(each.within_caching_period, 'request')} that only the "
            "current version disallowed."
        )
    if report.first is not None and report.last is not None:
        yield ""
        yield (
            f"Source: access logs from {_time(report.first)} to {_time(report.last)} UTC, "
            f"{count_noun(len(report.versions), 'version')} of the robots.txt, read by koster."
        )


def _identification(each: CrawlerReport, judged: Judged) -> str:
    """Return how the identity of a crawler was verified."""
    record = each.record
    ways = []
    if record is not None and record.verification.ranges:
        ways.append(f"the ranges published at {' and '.join(record.verification.ranges)}")
    if record is not None and record.verification.domains:
        ways.append(f"reverse DNS in {joined(record.verification.domains, 'or')}")
    how = f" The operator's ways to verify are {joined(ways)}." if ways else ""
    lists = f" {judged.lists}." if judged.lists else ""
    return f"All of these requests were verified as those of {markdown(each.crawler)}.{how}{lists}"


def print_violation(each: Violation) -> None:
    """Print a violation as one line."""
    request = each.request
    screen.print_lines(
        Text.assemble(
            (_time(request.time), "dim"),
            "  ",
            (printable(each.crawler), "bold"),
            f" ({_IDENTITIES[each.identified]})  ",
            shorten(f"{request.method} {request.url}".strip()),
            "  ",
            (f"line {each.line}, {shorten(each.rule)}", "red"),
        )
    )


def print_html(judged: Judged) -> None:
    """Print the page."""
    print(as_page(judged), end="")


def as_page(judged: Judged) -> str:
    """Return a self-contained page."""
    report = judged.report
    return page(
        "logs.html",
        title=f"{judged.title}: who obeys robots.txt?" if judged.title else "Who obeys robots.txt?",
        source=judged.source,
        lead=lead(report),
        report=report,
        heading=_heading(report),
        notices=[*notices(report), *([judged.lists] if judged.lists else [])],
        charts=list(_charts(report)),
        never=[each for each in report.crawlers if each.asked_for_robots_txt is False],
        max_rules=_MAX_RULES,
        grace=judged.grace,
        identity_of=_identity,
        asked_of=_asked,
        most_broken_of=_most_broken,
        pace_of=pace_of,
        percent=percent,
        time_of=_time,
        shorten=shorten,
        count_noun=count_noun,
        size=(_WIDTH, _HEIGHT),
    )


@dataclass(frozen=True, slots=True)
class _Bar:
    """A period: where it is, the heights of both parts, and its description."""

    x: float
    width: float
    allowed: tuple[float, float]
    broken: tuple[float, float]
    title: str


@dataclass(frozen=True, slots=True)
class _Chart:
    """The requests of a crawler over time, and the changes of the file."""

    crawler: CrawlerReport
    bars: tuple[_Bar, ...]
    changes: tuple[tuple[float, str], ...]
    top: str
    period: str
    first: str
    last: str


def _charts(report: Report) -> Iterator[_Chart]:
    """Yield the charts of the crawlers with most violations and requests."""
    if report.first is None or report.last is None:
        return
    start = report.first.timestamp() // report.period * report.period
    periods = max(int((report.last.timestamp() - start) // report.period) + 1, 1)
    # Several periods of the report may be one bar.
    each_bar = -(-periods // _MAX_BARS) * report.period
    bars = -(-periods * report.period // each_bar)
    for crawler in report.crawlers[:_MAX_CHARTS]:
        counts = [[0, 0] for _ in range(bars)]
        for moment, allowed, broken in crawler.series:
            place = min(max(int((moment.timestamp() - start) // each_bar), 0), bars - 1)
            counts[place][0] += allowed
            counts[place][1] += broken
        yield _chart(report, crawler, counts, start, each_bar)


def _chart(
    report: Report, crawler: CrawlerReport, counts: list[list[int]], start: float, seconds: int
) -> _Chart:
    top = max(*map(sum, counts), 1)
    width = _WIDTH / len(counts)
    drawn = []
    for number, (allowed, broken) in enumerate(counts):
        if not allowed + broken:
            continue
        high, low = _HEIGHT * allowed / top, _HEIGHT * broken / top
        begin = _moment(start + number * seconds)
        title = f"{begin} UTC: {count_noun(allowed + broken, 'request')}"
        title += f", {count_noun(broken, 'violation')}"
        drawn.append(
            _Bar(
                round(number * width, 2),
                round(max(width - 1, 0.5), 2),
                (round(_HEIGHT - high - low, 2), round(high, 2)),
                (round(_HEIGHT - low, 2), round(low, 2)),
                title,
            )
        )
    end = start + len(counts) * seconds
    changes = [
        (round((each.since.timestamp() - start) / (end - start) * _WIDTH, 2), _change(each))
        for each in report.versions
        if each.since is not None and start < each.since.timestamp() < end
    ]
    return _Chart(
        crawler,
        tuple(drawn),
        tuple(changes),
        f"{top:,}",
        _period_words(seconds),
        _moment(start),
        _moment(end),
    )


def _period_words(seconds: int) -> str:
    """Return a period for a sentence.

    >>> _period_words(3600), _period_words(7200), _period_words(86400), _period_words(604800)
    ('an hour', '2 hours', 'a day', '7 days')
    """
    if seconds % 86_400:
        hours = seconds // 3600
        return "an hour" if hours == 1 else f"{hours} hours"
    days = seconds // 86_400
    return "a day" if days == 1 else f"{days} days"


def _moment(seconds: float) -> str:
    from datetime import UTC, datetime  # noqa: PLC0415 - a type above

    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M}"


def _change(version: Version) -> str:
    since = "" if version.since is None else f" from {version.since:%Y-%m-%d %H:%M} UTC"
    return f"robots.txt {version.label}{since}"
