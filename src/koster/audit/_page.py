"""The audit as one page of HTML, with nothing from elsewhere: for a report, or a mail."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from .._html import page as document
from .._html import text
from ..agents import MANNERS, Heeds
from ..analysis import Extent

if TYPE_CHECKING:
    from . import Audit, Verdict

_WORDS = {Extent.ALL: "nothing", Extent.SOME: "a part", Extent.NONE: "everything"}
#: What distinguishes without colour, too.
_SIGNS = {Extent.ALL: "✕", Extent.SOME: "◕", Extent.NONE: "✓"}
#: Of those who may fetch a part, but not the start page.
_BARELY = "◔"

#: Whom it takes more to believe.
_REMARKS = {heeds: MANNERS[heeds] for heeds in (Heeds.UNDOCUMENTED, Heeds.DISPUTED, Heeds.CONTROL)}

_STYLE = """
svg .sign { fill: var(--paper); font-size: 11px; text-anchor: middle; }
svg .count { fill: var(--soft); font-size: 13px; }
.wide svg { min-width: 40rem; } .wide table { min-width: 48rem; }
table { table-layout: fixed; }
th:nth-child(1) { width: 24%; } th:nth-child(2) { width: 14%; } th:nth-child(3) { width: 12%; }
"""

#: The picture: rows of squares.
_SQUARE = 18
_GAP = 4
_LABEL = 110
_PER_ROW = 34
_ROW = 10


def page(audit: Audit, title: str, source: str = "") -> str:
    """Return the page. ``source`` says where the file is from, and when it was looked at."""
    parts = [
        f'<p class="soft">{text(source)}</p>' if source else "",
        f'<p class="lead">{text(audit.summary)}</p>',
        _picture(audit),
        _legend(),
        _stated(audit),
        *(_table(purpose.value, audit.of(purpose)) for purpose in audit.purposes),
    ]
    return document(f"{title}: who may fetch it", parts, _STYLE)


def _picture(audit: Audit) -> str:
    """Return a row of squares for each purpose: one for each crawler."""
    order = list(Extent)
    shapes = []
    top = 0
    for purpose in audit.purposes:
        verdicts = sorted(audit.of(purpose), key=lambda each: order.index(each.extent))
        rows = -(-len(verdicts) // _PER_ROW)
        shapes.append(f'<text x="0" y="{top + 14}">{escape(purpose.value)}</text>')
        for number, verdict in enumerate(verdicts):
            x = _LABEL + (number % _PER_ROW) * (_SQUARE + _GAP)
            y = top + (number // _PER_ROW) * (_SQUARE + _GAP)
            shapes.append(_square(verdict, x, y))
        closed = sum(each.extent is Extent.ALL for each in verdicts)
        x = _LABEL + min(len(verdicts), _PER_ROW) * (_SQUARE + _GAP) + 6
        counted = f"{closed} of {len(verdicts)} shut out"
        shapes.append(f'<text class="count" x="{x}" y="{top + 14}">{counted}</text>')
        top += rows * (_SQUARE + _GAP) + _ROW
    width = _LABEL + _PER_ROW * (_SQUARE + _GAP) + 130
    said = text(audit.summary)
    return (
        f'<div class="wide"><svg viewBox="0 0 {width} {top}" role="img" aria-label="{said}">'
        + "".join(shapes)
        + "</svg></div>"
    )


def _square(verdict: Verdict, x: int, y: int) -> str:
    name = escape(f"{verdict.crawler.token}: {_may(verdict)}")
    middle = _SQUARE // 2
    sign = f'<text class="sign" x="{x + middle}" y="{y + middle + 4}">'
    return (
        f'<g><title>{name}</title><rect class="{verdict.extent.value}" x="{x}" y="{y}" '
        f'width="{_SQUARE}" height="{_SQUARE}" rx="3"/>'
        f"{sign}{_sign(verdict)}</text></g>"
    )


def _sign(verdict: Verdict) -> str:
    is_barely = verdict.extent is Extent.SOME and not verdict.may_enter
    return _BARELY if is_barely else _SIGNS[verdict.extent]


def _may(verdict: Verdict) -> str:
    return f"may fetch {_WORDS[verdict.extent]}"


def _legend() -> str:
    marks = " &nbsp; ".join(
        f'<span class="{extent.value}">{_SIGNS[extent]}</span> may fetch {_WORDS[extent]}'
        for extent in Extent
    )
    barely = f'<span class="some">{_BARELY}</span> a part, but not the start page'
    return f'<p class="soft">{marks} &nbsp; {barely}. Each square is a crawler.</p>'


def _stated(audit: Audit) -> str:
    """Return what the file says about uses of its content."""
    rows = [
        f"<tr><td>line {each.line}</td><td>{escape(str(each.directive))}</td>"
        f"<td><code>{text(f'{each.pattern} ' if each.pattern else '')}"
        f"{text(f'{each.key}={each.value}')}</code></td></tr>"
        for each in audit.preferences
    ]
    rows += [
        f"<tr><td></td><td>License</td><td><code>{text(each)}</code></td></tr>"
        for each in audit.licenses
    ]
    if not rows:
        return '<p class="soft">The file states no preferences and no licence.</p>'
    return f"<h2>Preferences and licences</h2><table>{''.join(rows)}</table>"


def _table(heading: str, verdicts: tuple[Verdict, ...]) -> str:
    rows = "".join(map(_row, verdicts))
    return (
        f'<h2>{escape(heading[:1].upper() + heading[1:])}</h2><div class="wide"><table>'
        "<tr><th>Crawler</th><th>Operator</th><th>May fetch</th><th>How</th><th>Line</th></tr>"
        f"{rows}</table></div>"
    )


def _row(verdict: Verdict) -> str:
    crawler = verdict.crawler
    line = f"<code>{text(verdict.line)}</code>" if verdict.rule else ""
    remark = f"; {_REMARKS[crawler.heeds]}" if crawler.heeds in _REMARKS else ""
    link = escape(crawler.source, quote=True)
    return (
        f'<tr><td><a href="{link}" rel="noreferrer">{escape(crawler.token)}</a></td>'
        f"<td>{escape(crawler.operator)}</td>"
        f'<td class="{verdict.extent.value}">{_sign(verdict)} {_WORDS[verdict.extent]}</td>'
        f"<td>{escape(verdict.how + remark)}</td><td>{line}</td></tr>"
    )
