"""The result of ``koster bulk report``, as text, HTML and CSV."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from decimal import Decimal
from typing import TYPE_CHECKING

from rich.text import Text

from . import screen
from ._csv import csv_line
from .pages import page
from .plain import count_noun, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..bulk.report import Report, Share

#: The maximum number of crawlers in text.
_MAX_ROWS = 12
#: The maximum number of bars, and of curves, for a purpose.
_MAX_BARS = 14
_MAX_CURVES = 6
#: The maximum number of names for crawlers with the same numbers.
_MAX_NAMES = 4

# The chart over several crawls.
_LABEL = 60
_WIDTH = 620
_HEIGHT = 220
_HEIGHT_ABOVE = 20
#: The maximum number of labels below the chart.
_MAX_LABELS = 5

_SHARES = ("share_closed", "share_by_name", "share_partly")


@dataclass(frozen=True, slots=True)
class Shares:
    """A report for output; ``source`` says where its numbers are from."""

    report: Report
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


def print_text(shares: Shares) -> None:
    """Print the numbers of the last crawl for the crawlers that most sites block."""
    report = shares.report
    if not report.crawls:
        return
    crawl = report.crawls[-1]
    last = report.of(crawl)
    most = sorted(last, key=lambda each: -each.share_closed)[:_MAX_ROWS]
    rows = [
        [
            Text(printable(each.agent)),
            Text(each.purpose, "dim"),
            Text(percent(each.share_closed), "bold red"),
            Text(percent(each.share_by_name), "red"),
            Text(percent(each.share_partly), "yellow"),
        ]
        for each in most
    ]
    if rows:
        screen.print_lines(Text(f"{printable(crawl)}: {count_noun(last[0].sites, 'site')}", "bold"))
        headings = ["Crawler", "Purpose", "Allow nothing", "By name", "Disallow a part"]
        screen.print_table(headings, rows)
    if len(last) > len(most):
        print(f"and {len(last) - len(most)} more in the report")


def print_csv(shares: Shares) -> None:
    """Print the shares as CSV."""
    print(as_csv(shares.report), end="")


def as_csv(report: Report) -> str:
    """Return the shares as CSV, with a heading; see `_csv` on formulas."""
    from ..bulk.report import Share  # noqa: PLC0415 - it needs DuckDB

    lines = [csv_line([*(field.name for field in fields(Share)), *_SHARES])]
    for each in report.shares:
        cells = [
            "yes" if value is True else "" if value is False else value for value in astuple(each)
        ]
        shares = [Decimal(f"{getattr(each, share):.6f}") for share in _SHARES]
        lines.append(csv_line([*cells, *shares]))
    return "".join(lines)


def print_html(shares: Shares) -> None:
    """Print the page."""
    print(as_page(shares), end="")


def as_page(shares: Shares) -> str:
    """Return a page: how many sites block each crawler, and since when."""
    report = shares.report
    crawls = report.crawls
    last = report.of(crawls[-1]) if crawls else ()
    suffix = f" in {crawls[-1]}" if len(crawls) > 1 else ""
    return page(
        "bulk.html",
        title=shares.title,
        source=shares.source,
        lead=_lead(last, suffix),
        suffix=suffix,
        purposes=[_purpose(report, last, purpose) for purpose in _purposes(last)],
        report=report,
        grid=_Grid(crawls),
        percent=percent,
        has_outcomes=not {each.outcome for each in report.fetches} <= {"ok"},
        has_own_groups=any(each.by_name for each in report.shares),
    )


def _purposes(shares: Sequence[Share]) -> list[str]:
    """Return the purposes, sorted by the highest share of sites that block a crawler."""
    most: dict[str, float] = {}
    for each in shares:
        most[each.purpose] = max(most.get(each.purpose, 0.0), each.share_closed)
    return sorted(most, key=lambda purpose: -most[purpose])


def _lead(shares: Sequence[Share], suffix: str) -> str:
    """Return a summary in one sentence."""
    if not shares or not any(each.sites for each in shares):
        return "No site answered with a robots.txt."
    sites = max(each.sites for each in shares)
    most = max(shares, key=lambda each: (each.share_closed, each.agent))
    if not most.closed:
        return f"None of {sites:,} sites{suffix} shuts any of these crawlers out."
    compared = f", the most of {len(shares)} crawlers" if len(shares) > 1 else ""
    return (
        f"Of {sites:,} sites{suffix} whose robots.txt was read, {percent(most.share_closed)} shut "
        f"{most.agent} out{compared}."
    )


def _purpose(report: Report, last: Sequence[Share], purpose: str) -> dict[str, object]:
    """Return the charts of a purpose: bars, and curves if there are several crawls."""
    bars = _group_equal([each for each in last if each.purpose == purpose])
    return {
        "heading": purpose[:1].upper() + purpose[1:],
        "name": purpose,
        "bars": [_bar(some) for some in bars[:_MAX_BARS]],
        "more": sum(map(len, bars[_MAX_BARS:])),
        "curves": _curves(report, purpose) if len(report.crawls) > 1 else None,
    }


def _group_equal(shares: Sequence[Share]) -> list[list[Share]]:
    """Group shares with the same numbers."""
    alike: dict[tuple[int, int, int], list[Share]] = {}
    for each in shares:
        alike.setdefault((each.closed, each.closed_by_name, each.partly), []).append(each)
    return list(alike.values())


def _bar(some: list[Share]) -> dict[str, object]:
    each = some[0]
    names = ", ".join(share.agent for share in some[:_MAX_NAMES])
    more = f" and {len(some) - _MAX_NAMES} more" if len(some) > _MAX_NAMES else ""
    by_name = f" ({percent(each.share_by_name)} by name)" if each.closed else ""
    return {
        "names": names + more,
        "closed": f"{each.share_closed * 100:.2f}",
        "partly": f"{each.share_partly * 100:.2f}",
        "label": (
            f"{percent(each.share_closed)} closed{by_name}, {percent(each.share_partly)} in part"
        ),
    }


def _curves(report: Report, purpose: str) -> dict[str, object] | None:
    """Return the share of sites that block the crawlers of a purpose, by crawl."""
    by_crawl = {
        (each.crawl, each.agent): each.share_closed
        for each in report.shares
        if each.purpose == purpose
    }
    agents = [each.agent for each in report.of(report.crawls[-1]) if each.purpose == purpose]
    drawn = [
        agent for agent in agents if any(by_crawl.get((crawl, agent)) for crawl in report.crawls)
    ][:_MAX_CURVES]
    if not drawn:
        return None
    scale = _ceiling(
        max(by_crawl.get((crawl, agent), 0) for crawl in report.crawls for agent in drawn)
    )
    return {
        "scale": scale,
        "lines": [
            (
                agent,
                " ".join(
                    f"{x:.1f},{_HEIGHT_ABOVE + _HEIGHT * (1 - by_crawl[crawl, agent] / scale):.1f}"
                    for x, crawl in zip(_positions(report.crawls), report.crawls, strict=True)
                    if (crawl, agent) in by_crawl
                ),
            )
            for agent in drawn
        ],
    }


def _positions(crawls: Sequence[str]) -> list[float]:
    """Return the position of each crawl on the axis."""
    step = (_WIDTH - 120) / max(len(crawls) - 1, 1)
    return [_LABEL + 60 + number * step for number in range(len(crawls))]


def _ceiling(share: float) -> float:
    """Return the end of a scale for shares up to ``share``."""
    for end in (0.01, 0.02, 0.04, 0.08, 0.12, 0.2, 0.4, 0.6, 0.8):
        if share <= end:
            return end
    return 1.0


class _Grid:
    """The size and labels of charts over several crawls."""

    left = _LABEL
    right = _LABEL + _WIDTH
    bottom = _HEIGHT_ABOVE + _HEIGHT

    def __init__(self, crawls: Sequence[str]) -> None:
        step = -(-len(crawls) // _MAX_LABELS) or 1
        self.names = [
            (f"{x:.1f}", crawl if len(crawl) <= 24 else crawl[:23] + "…")
            for number, (x, crawl) in enumerate(zip(_positions(crawls), crawls, strict=True))
            if number % step == 0
        ]

    def levels(self, scale: float) -> list[tuple[float, str]]:
        """Return the height and the label of each horizontal line."""
        return [
            (_HEIGHT_ABOVE + _HEIGHT * (4 - part) / 4, f"{scale * part * 25:g} %")
            for part in range(5)
        ]
