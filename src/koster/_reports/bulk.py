"""The result of ``koster bulk report``, as text, HTML and CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

from .._wording import count_noun
from . import line_charts, screen
from .csv import csv_line
from .pages import page
from .plain import printable
from .text import Text

if TYPE_CHECKING:
    from ..bulk.report import BlockingReport, Share

    #: Shares by crawl and agent.
    Numbers: TypeAlias = dict[tuple[str, str], Share]

#: The maximum number of crawlers and crawls in text.
_MAX_ROWS = 12
_MAX_COLUMNS = 4
#: The maximum number of bars and of lines in the chart.
_MAX_BARS = 14
_MAX_LINES = 8
#: The maximum number of names for crawlers with the same numbers.
_MAX_NAMES = 4
#: The maximum length of a line's name at its end.
_MAX_NAME = 24
#: The maximum number of crawls in the tables of a page, and in the small chart of a crawler.
_MAX_CRAWLS = 24
_MAX_POINTS = 60

_BY_STAR = ("blocked_by_star", "partly_by_star")
_SHARES = ("share_blocked", "share_by_name", "share_partly")


@dataclass(frozen=True, slots=True)
class Shares:
    """A report for output; ``source`` says where its numbers are from."""

    report: BlockingReport
    title: str = ""
    source: str = ""


def percent(share: float) -> str:
    """Format a share.

    >>> percent(0.123456), percent(0.0004), percent(0), percent(1)
    ('12.3 %', '0.04 %', '0 %', '100 %')
    """
    if share in (0, 1):
        return f"{share * 100:.0f} %"
    return f"{share * 100:.1f} %" if share >= 0.001 else f"{share * 100:.2g} %"


def notices(report: BlockingReport) -> list[str]:
    """Return what the numbers of a report leave open, in sentences."""
    found = []
    files = f"of {count_noun(report.files, 'file')}"
    if report.undated:
        is_one = report.undated == 1
        found.append(
            f"{report.undated:,} {files} {'has' if is_one else 'have'} no date and "
            f"{'is' if is_one else 'are'} reported as undated."
        )
    if report.without_host:
        is_one = report.without_host == 1
        found.append(
            f"{report.without_host:,} {files} {'has' if is_one else 'have'} no URL or host: "
            f"{'it' if is_one else 'each'} counts as a site of its own."
        )
    if report.panel is not None:
        found += [
            f"{report.panel - total:,} of {count_noun(report.panel, 'site')} of the list "
            f"{'is' if report.panel - total == 1 else 'are'} not in {crawl}."
            for crawl, total in _fetched(report).items()
            if total < report.panel
        ][:_MAX_COLUMNS]
    return found


def _fetched(report: BlockingReport) -> dict[str, int]:
    """Return how many sites each crawl has, with or without a file."""
    found = dict.fromkeys(report.crawls, 0)
    for each in report.fetches:
        found[each.crawl] = found.get(each.crawl, 0) + each.sites
    return found


def print_text(shares: Shares) -> None:
    """Print the numbers for the crawlers that most sites block: over time, or of one crawl."""
    report = shares.report
    screen.print_lines(*(Text(notice, "yellow") for notice in notices(report)))
    crawls = report.dated
    if not crawls:
        return
    last = sorted(report.of(crawls[-1]), key=lambda each: -each.share_blocked)
    most = last[:_MAX_ROWS]
    if len(crawls) > 1:
        _print_crawls(report, crawls, [each.agent for each in most])
    elif most:
        _print_crawl(crawls[-1], most)
    if len(last) > len(most):
        print(f"and {len(last) - len(most)} more in the report")


def _print_crawls(report: BlockingReport, crawls: Sequence[str], agents: Sequence[str]) -> None:
    """Print the shares of crawlers in several crawls, evenly spread."""
    shown = _some(crawls, _MAX_COLUMNS)
    numbers = {(each.crawl, each.agent): each for each in report.shares}
    some = f" in {len(shown)} of {len(crawls)} crawls" if len(shown) < len(crawls) else ""
    screen.print_lines(Text(f"Sites that block each crawler{some}", "bold"))
    rows = [
        [Text(printable(agent))]
        + [
            Text("" if share is None else percent(share), "red")
            for share in _history(numbers, shown, agent)
        ]
        for agent in agents
    ]
    sites = [Text(f"{_sites(report, crawl):,}", "dim") for crawl in shown]
    headings = ["Crawler", *(line_charts.shorten(printable(crawl), _MAX_NAME) for crawl in shown)]
    screen.print_table(headings, [[Text("Sites", "dim"), *sites], *rows])


def _print_crawl(crawl: str, shares: Sequence[Share]) -> None:
    """Print the shares of crawlers in a crawl."""
    rows = [
        [
            Text(printable(each.agent)),
            Text(each.purpose, "dim"),
            Text(percent(each.share_blocked), "bold red"),
            Text(percent(each.share_by_name), "red"),
            Text(percent(each.share_partly), "dim"),
        ]
        for each in shares
    ]
    screen.print_lines(Text(f"{printable(crawl)}: {count_noun(shares[0].sites, 'site')}", "bold"))
    screen.print_table(["Crawler", "Purpose", "Blocked", "By name", "Partly blocked"], rows)


def _sites(report: BlockingReport, crawl: str) -> int:
    """Return how many sites of a crawl have a file."""
    return max((each.sites for each in report.of(crawl)), default=0)


def print_csv(shares: Shares) -> None:
    """Print the shares as CSV."""
    screen.print_exact(as_csv(shares.report))


def as_csv(report: BlockingReport) -> str:
    """Return the shares as CSV, with a heading; see `_csv` on formulas."""
    from ..bulk.report import Share  # noqa: PLC0415 - it needs DuckDB

    names = [field.name for field in fields(Share)]
    lines = [csv_line([*names, *_BY_STAR, *_SHARES])]
    for each in report.shares:
        by_star = [getattr(each, name) for name in _BY_STAR]
        shares = [Decimal(f"{getattr(each, share):.6f}") for share in _SHARES]
        lines.append(csv_line([*astuple(each), *by_star, *shares]))
    return "".join(lines)


def print_html(shares: Shares) -> None:
    """Print the page."""
    screen.print_exact(as_page(shares))


def as_page(shares: Shares) -> str:
    """Return a page: the share of sites that block each crawler, over time."""
    report = shares.report
    crawls = report.dated
    last = sorted(report.of(crawls[-1]) if crawls else (), key=lambda each: -each.share_blocked)
    numbers = {(each.crawl, each.agent): each for each in report.shares}
    blocking = _blocking(numbers, crawls, last)
    groups = blocking[: _MAX_LINES if len(crawls) > 1 else _MAX_BARS]
    columns = _some(report.crawls, _MAX_CRAWLS)
    return page(
        "bulk.html",
        title=shares.title,
        source=shares.source,
        notices=notices(report),
        lead=_lead(numbers, crawls, last),
        report=report,
        crawl=crawls[-1] if crawls else "",
        charts=_charts(numbers, crawls, groups) if len(crawls) > 1 else {},
        bars=_bars(groups) if len(crawls) == 1 else [],
        names=[_names(some) for some in groups],
        more=len(last) - sum(map(len, groups)),
        purposes=_purposes(numbers, crawls, last),
        agents=[each.agent for some in blocking for each in some],
        never=len(last) - sum(map(len, blocking)),
        columns=columns,
        numbers=numbers,
        sites={crawl: _sites(report, crawl) for crawl in columns},
        outcomes=_outcomes(report),
        percent=percent,
        shorten=line_charts.shorten,
    )


def _some(crawls: Sequence[str], most: int) -> list[str]:
    """Return at most ``most`` crawls, evenly spread."""
    return [crawls[place] for place in line_charts.spread(len(crawls), most)]


def _lead(numbers: Numbers, crawls: Sequence[str], last: Sequence[Share]) -> str:
    """Return a summary in one or two sentences."""
    if not last:
        return "No site answered with a robots.txt."
    from ..bulk.report import UNDATED  # noqa: PLC0415 - it needs DuckDB

    most = max(last, key=lambda each: (each.share_blocked, each.agent))
    sites = count_noun(max(each.sites for each in last), "site")
    where = f" in {crawls[-1]}" if crawls[-1] != UNDATED else ""
    if not most.blocked:
        return f"None of {sites}{where} blocks any of these crawlers."
    compared = f", the most of {len(last)} crawlers" if len(last) > 1 else ""
    first = numbers.get((crawls[0], most.agent))
    before = (
        f" In {crawls[0]} it was {percent(first.share_blocked)}." if first and first != most else ""
    )
    return (
        f"Of {sites}{where} whose robots.txt was read, {percent(most.share_blocked)} "
        f"block {most.agent}{compared}.{before}"
    )


def _blocking(numbers: Numbers, crawls: Sequence[str], last: Sequence[Share]) -> list[list[Share]]:
    """Return the crawlers that a site blocks; those with the same numbers are in one group."""
    alike: dict[tuple[int, ...], list[Share]] = {}
    for each in last:
        shares = (numbers.get((crawl, each.agent)) for crawl in crawls)
        blocked = tuple(-1 if share is None else share.blocked for share in shares)
        if max(blocked) > 0:
            alike.setdefault((*blocked, each.blocked_by_name), []).append(each)
    return list(alike.values())


def _names(some: Sequence[Share]) -> str:
    names = ", ".join(each.agent for each in some[:_MAX_NAMES])
    return names + (f" and {len(some) - _MAX_NAMES} more" if len(some) > _MAX_NAMES else "")


def _charts(
    numbers: Numbers, crawls: Sequence[str], groups: Sequence[Sequence[Share]]
) -> dict[str, line_charts.Chart]:
    """Return the chart over several crawls, for wide and for narrow screens."""
    lines = [
        line_charts.ChartLine(_line_name(some), _history(numbers, crawls, some[0].agent))
        for some in groups
    ]
    frames = {"broad": line_charts.WIDE, "slim": line_charts.NARROW} if lines else {}
    return {name: line_charts.chart(crawls, lines, frame) for name, frame in frames.items()}


def _line_name(some: Sequence[Share]) -> str:
    """Return a name that fits at the end of a line."""
    names = _names(some)
    if len(names) <= _MAX_NAME:
        return names
    more = f" +{len(some) - 1}" if len(some) > 1 else ""
    return line_charts.shorten(some[0].agent, _MAX_NAME - len(more)) + more


def _history(numbers: Numbers, crawls: Sequence[str], agent: str) -> list[float | None]:
    """Return the share of sites that block a crawler, by crawl; None where none has a file."""
    shares = (numbers.get((crawl, agent)) for crawl in crawls)
    return [None if share is None else share.share_blocked for share in shares]


def _bars(groups: Sequence[Sequence[Share]]) -> list[dict[str, str]]:
    """Return the chart of a single crawl."""
    _, top = line_charts.scale(max((some[0].share_blocked for some in groups), default=0.0))
    return [
        {
            "width": f"{some[0].share_blocked / top * 100:.2f}",
            "label": f"{percent(some[0].share_blocked)} ({percent(some[0].share_by_name)} by name)",
        }
        for some in groups
    ]


def _purposes(
    numbers: Numbers, crawls: Sequence[str], last: Sequence[Share]
) -> list[dict[str, object]]:
    """Return the crawlers of each purpose; first the purpose of the one that most sites block."""
    shown = _some(crawls, _MAX_POINTS)
    histories = {each.agent: _history(numbers, shown, each.agent) for each in last}
    highest = max((share or 0.0 for some in histories.values() for share in some), default=0.0)
    found: dict[str, list[dict[str, object]]] = {}
    for each in last:
        points = line_charts.small(histories[each.agent], line_charts.scale(highest)[1])
        found.setdefault(each.purpose, []).append({"share": each, "points": points})
    return [
        {"heading": purpose[:1].upper() + purpose[1:], "rows": rows}
        for purpose, rows in found.items()
    ]


def _outcomes(report: BlockingReport) -> dict[str, dict[str, int]]:
    """Return the sites of some crawls by outcome; nothing if all have a file."""
    found: dict[str, dict[str, int]] = {}
    for each in report.fetches:
        found.setdefault(each.outcome, {})[each.crawl] = each.sites
    return {} if found.keys() <= {"ok"} else found
