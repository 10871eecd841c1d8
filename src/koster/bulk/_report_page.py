"""The report of `report` as a page: who is shut out of how many sites, and since when."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from .._html import page as document
from .._html import text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .report import Report, Share

_STYLE = """
svg .soft { fill: var(--soft); font-size: 13px; } .wide svg { min-width: 34rem; max-width: 46rem; }
rect.some, .key.some { opacity: .4; }
svg .grid { stroke: var(--line); }
svg .end { text-anchor: end; } svg .middle { text-anchor: middle; }
svg polyline { fill: none; stroke-width: 2; stroke-linejoin: round; }
.bar { display: grid; grid-template-columns: 15rem 1fr 17rem; gap: .2rem 1rem; align-items: center;
  margin: .2rem 0; font-size: .9rem; }
.bar > :first-child { text-align: right; overflow-wrap: anywhere; }
.bar svg { height: 1rem; border: 1px solid var(--line); }
.lines { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; padding: 0;
  font-size: .9rem; } .lines svg { width: 2rem; height: .6rem; }
@media (max-width: 50rem) { .bar { grid-template-columns: 1fr; gap: 0; margin: .6rem 0; }
  .bar > :first-child { text-align: left; font-weight: 600; } }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.key { display: inline-block; width: .8em; height: .8em; border-radius: 2px; }
.key.all { background: var(--all); } .key.some { background: var(--some); }
.line-0 { stroke: #b3261e; } .line-1 { stroke: #0969da; } .line-2 { stroke: #9a6700; }
.line-3 { stroke: #1a7f37; } .line-4 { stroke: #8250df; } .line-5 { stroke: #bc4c00; }
@media (prefers-color-scheme: dark) {
.line-0 { stroke: #ff8a80; } .line-1 { stroke: #58a6ff; } .line-2 { stroke: #e3b341; }
.line-3 { stroke: #56d364; } .line-4 { stroke: #bc8cff; } .line-5 { stroke: #ffa657; } }
"""

#: Of a purpose so many rows of crawlers are drawn as bars, and so many crawlers as lines.
_BARS = 14
_LINES = 6
#: Crawlers of which the same is to be said that are named.
_NAMED = 4

_LABEL = 60
_WIDTH = 620
_HEIGHT = 220
_HEIGHT_ABOVE = 20
#: Crawls whose names have room below a picture.
_LABELS = 5

_DASHES = ("", "8 4", "2 3", "8 3 2 3", "12 3", "4 4")


def page(report: Report, title: str, source: str = "") -> str:
    """Return the page. ``source`` says what the numbers are from, and when they were made."""
    crawls = report.crawls
    last = crawls[-1] if crawls else ""
    shares = report.of(last)
    named = f" in {last}" if len(crawls) > 1 else ""
    parts = [
        f'<p class="soft">{text(source)}</p>' if source else "",
        f'<p class="lead">{text(_lead(shares, named))}</p>',
        _legend(),
    ]
    for purpose in _purposes(shares):
        some = [each for each in shares if each.purpose == purpose]
        parts.append(f"<h2>{text(_heading(purpose))}{text(named)}</h2>{_bars(some)}")
        if len(crawls) > 1:
            parts.append(_lines(report, purpose))
    parts += [_outcomes(report), _table(report)]
    return document(title, parts, _STYLE)


def _heading(purpose: str) -> str:
    return purpose[:1].upper() + purpose[1:]


def _purposes(shares: Sequence[Share]) -> list[str]:
    """Return the purposes, that of which somebody is shut out of the most sites first."""
    most: dict[str, float] = {}
    for each in shares:
        most[each.purpose] = max(most.get(each.purpose, 0.0), each.share_closed)
    return sorted(most, key=lambda purpose: -most[purpose])


def percent(share: float) -> str:
    """Return a share as people read it.

    >>> percent(0.123456), percent(0.0004), percent(0), percent(1)
    ('12.3 %', '0.04 %', '0 %', '100 %')
    """
    if share in (0, 1):
        return f"{share * 100:.0f} %"
    return f"{share * 100:.1f} %" if share >= 0.001 else f"{share * 100:.2g} %"


def _lead(shares: Sequence[Share], named: str) -> str:
    """Return what comes out, in a sentence."""
    if not shares or not any(each.sites for each in shares):
        return "No site answered with a robots.txt."
    sites = max(each.sites for each in shares)
    most = max(shares, key=lambda each: (each.share_closed, each.agent))
    if not most.closed:
        return f"None of {sites:,} sites{named} shuts any of these crawlers out."
    compared = f", the most of {len(shares)} crawlers" if len(shares) > 1 else ""
    return (
        f"Of {sites:,} sites{named} whose robots.txt was read, {percent(most.share_closed)} shut "
        f"{most.agent} out{compared}."
    )


def _legend() -> str:
    return (
        '<p class="soft"><span class="key all"></span> may fetch nothing &nbsp; '
        '<span class="key some"></span> may not fetch a part &nbsp; the rest may fetch everything. '
        "By name: in a group that names the crawler, not one for everybody. A site is a host, with "
        "and without www, by http and https.</p>"
    )


def _bars(shares: Sequence[Share]) -> str:
    """Return a bar for each crawler, those that most are closed to first; alike ones share one."""
    alike: dict[tuple[int, int, int], list[Share]] = {}
    for each in shares:
        alike.setdefault((each.closed, each.closed_by_name, each.partly), []).append(each)
    rows = [_bar(some) for some in list(alike.values())[:_BARS]]
    more = sum(map(len, list(alike.values())[_BARS:]))
    rest = f'<p class="soft">and {more} more in the table below</p>' if more else ""
    return "".join(rows) + rest


def _bar(some: list[Share]) -> str:
    each = some[0]
    names = ", ".join(share.agent for share in some[:_NAMED])
    more = f" and {len(some) - _NAMED} more" if len(some) > _NAMED else ""
    closed, partly = each.share_closed * 100, each.share_partly * 100
    by_name = f" ({percent(each.share_by_name)} by name)" if each.closed else ""
    told = f"{percent(each.share_closed)} closed{by_name}, {percent(each.share_partly)} in part"
    return (
        f'<div class="bar"><span>{text(names + more)}</span>'
        '<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="all" x="0" y="0" width="{closed:.2f}" height="10"/>'
        f'<rect class="some" x="{closed:.2f}" y="0" width="{partly:.2f}" height="10"/></svg>'
        f'<span class="soft">{told}</span></div>'
    )


def _short(name: str) -> str:
    return name if len(name) <= 24 else name[:23] + "…"


def _lines(report: Report, purpose: str) -> str:
    """Return how many sites shut the crawlers of a purpose out, crawl by crawl."""
    by_crawl = {
        (each.crawl, each.agent): each.share_closed
        for each in report.shares
        if each.purpose == purpose
    }
    some = [each.agent for each in report.of(report.crawls[-1]) if each.purpose == purpose]
    drawn = [
        agent for agent in some if any(by_crawl.get((crawl, agent)) for crawl in report.crawls)
    ][:_LINES]
    if not drawn:
        return ""
    highest = max(by_crawl.get((crawl, agent), 0) for crawl in report.crawls for agent in drawn)
    scale = _ceiling(highest)
    shapes = [*_grid(report.crawls, scale)]
    legend = []
    for number, agent in enumerate(drawn):
        points = [
            f"{x:.1f},{_HEIGHT_ABOVE + _HEIGHT * (1 - by_crawl[crawl, agent] / scale):.1f}"
            for x, crawl in zip(_places(report.crawls), report.crawls, strict=True)
            if (crawl, agent) in by_crawl
        ]
        style = f'class="line-{number}" stroke-dasharray="{_DASHES[number]}"'
        shapes.append(
            f'<polyline {style} points="{" ".join(points)}"><title>{text(agent)}</title></polyline>'
        )
        legend.append(
            f'<li><svg viewBox="0 0 32 10" aria-hidden="true"><line {style} stroke-width="2" '
            f'x1="0" y1="5" x2="32" y2="5"/></svg> {text(agent)}</li>'
        )
    said = escape(f"Share of sites that shut {purpose} crawlers out, by crawl", quote=True)
    return (
        '<p class="soft">Sites that allow nothing, crawl by crawl</p>'
        f'<ul class="lines">{"".join(legend)}</ul><div class="wide"><svg '
        f'viewBox="0 0 {_LABEL + _WIDTH} {_HEIGHT_ABOVE + _HEIGHT + 36}" role="img" '
        f'aria-label="{said}">{"".join(shapes)}</svg></div>'
    )


def _places(crawls: Sequence[str]) -> list[float]:
    """Return where crawls stand on the axis."""
    step = (_WIDTH - 120) / max(len(crawls) - 1, 1)
    return [_LABEL + 60 + number * step for number in range(len(crawls))]


def _grid(crawls: Sequence[str], scale: float) -> Iterator[str]:
    """Go through the lines and the labels of a picture with crawls."""
    for part in range(5):
        y = _HEIGHT_ABOVE + _HEIGHT * (4 - part) / 4
        yield (
            f'<line class="grid" x1="{_LABEL}" y1="{y}" x2="{_LABEL + _WIDTH}" y2="{y}"/>'
            f'<text class="soft end" x="{_LABEL - 10}" y="{y + 5}">'
            f"{scale * part * 25:g} %</text>"
        )
    every = -(-len(crawls) // _LABELS)
    for number, (x, crawl) in enumerate(zip(_places(crawls), crawls, strict=True)):
        if number % every == 0:
            y = _HEIGHT_ABOVE + _HEIGHT + 24
            yield f'<text class="soft middle" x="{x:.1f}" y="{y}">{text(_short(crawl))}</text>'


def _ceiling(share: float) -> float:
    """Return the end of a scale that has room for a share."""
    for end in (0.01, 0.02, 0.04, 0.08, 0.12, 0.2, 0.4, 0.6, 0.8):
        if share <= end:
            return end
    return 1.0


def _outcomes(report: Report) -> str:
    """Return what sites gave, by crawl."""
    if {each.outcome for each in report.fetches} <= {"ok"}:
        return ""
    rows = "".join(
        f"<tr><td>{text(each.crawl)}</td><td>{text(each.outcome)}</td>"
        f'<td class="number">{each.sites:,}</td></tr>'
        for each in report.fetches
    )
    return (
        "<h2>What sites answered, after redirects</h2><table><tr><th>Crawl</th><th>Answer</th>"
        f'<th class="number">Sites</th></tr>{rows}</table>'
        '<p class="soft">Shares are of the sites that gave a file: ok, or of the wrong type, which '
        "crawlers read all the same.</p>"
    )


def _table(report: Report) -> str:
    rows = "".join(map(_row, report.shares))
    heads = "".join(
        f'<th class="number">{head}</th>'
        for head in (
            *("Sites", "Name it", "Allow nothing", "by name", "Disallow a part", "Not proved"),
        )
    )
    own = (
        '<p class="soft">* heeds groups that name it, and none for everybody: it is counted as '
        "disallowed only by sites that name it.</p>"
        if any(each.by_name for each in report.shares)
        else ""
    )
    return (
        '<h2>All numbers</h2><div class="wide"><table><tr><th>Crawl</th><th>Crawler</th>'
        f"<th>Operator</th><th>Purpose</th>{heads}</tr>{rows}</table></div>{own}"
    )


def _row(each: Share) -> str:
    counts = "".join(
        f'<td class="number">{told}</td>'
        for told in (
            f"{each.sites:,}",
            f"{each.named:,}",
            f"{each.closed:,} ({percent(each.share_closed)})",
            f"{each.closed_by_name:,}",
            f"{each.partly:,} ({percent(each.share_partly)})",
            f"{each.unknown:,}" if each.unknown else "",
        )
    )
    mark = " *" if each.by_name else ""
    return (
        f"<tr><td>{text(each.crawl)}</td><td>{text(each.agent)}{mark}</td>"
        f"<td>{text(each.operator)}</td><td>{text(each.purpose)}</td>{counts}</tr>"
    )
