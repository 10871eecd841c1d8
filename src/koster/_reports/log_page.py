"""The page of ``koster logs``: crawlers, requests over time, and broken rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._moments import EPOCH, later
from .._wording import count_noun
from .bulk import percent
from .log_words import (
    Judged,
    fetches_of,
    heading,
    identity_of,
    lead,
    notices,
    pace_of,
    time_of,
)
from .pages import page
from .plain import shorten

if TYPE_CHECKING:
    from ..logs import CrawlerReport, Report, Version

#: The maximum number of rules of a crawler, and of crawlers in charts.
_MAX_RULES = 10
_MAX_CHARTS = 12
#: The bars of a chart, and its size.
_MAX_BARS = 60
_WIDTH, _HEIGHT = 600.0, 90.0


def as_page(judged: Judged) -> str:
    """Return a self-contained page."""
    report = judged.report
    return page(
        "logs.html",
        title=f"{judged.title}: who obeys robots.txt?" if judged.title else "Who obeys robots.txt?",
        source=judged.source,
        lead=lead(report),
        report=report,
        heading=heading(report),
        notices=[*notices(report), *([judged.lists] if judged.lists else [])],
        charts=list(_charts(report)),
        never=[each for each in report.crawlers if each.asked_for_robots_txt is False],
        max_rules=_MAX_RULES,
        grace=judged.grace,
        identity_of=identity_of,
        asked_of=fetches_of,
        pace_of=pace_of,
        percent=percent,
        time_of=time_of,
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
    return f"{later(EPOCH, seconds):%Y-%m-%d %H:%M}"


def _change(version: Version) -> str:
    since = "" if version.since is None else f" from {version.since:%Y-%m-%d %H:%M} UTC"
    return f"robots.txt {version.label}{since}"
