"""The audit as one page of HTML, with nothing from elsewhere: for a report, or a mail."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ..agents import MANNERS, Heeds
from ..analysis import Extent
from ..model import spelt_out

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
:root { --ink: #1b1f24; --soft: #59636e; --line: #d1d9e0; --paper: #fff;
  --link: #0969da; --all: #b3261e; --some: #9a6700; --none: #1a7f37; }
@media (prefers-color-scheme: dark) { :root { --ink: #f0f3f6; --soft: #9198a1; --line: #3d444d;
  --paper: #0d1117; --link: #58a6ff; --all: #ff8a80; --some: #e3b341; --none: #56d364; } }
* { box-sizing: border-box; }
body { margin: 2rem auto; max-width: 68rem; padding: 0 1rem; color: var(--ink);
  background: var(--paper); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
.lead { font-size: 1.1rem; } .soft { color: var(--soft); } a { color: var(--link); }
.all { color: var(--all); } .some { color: var(--some); } .none { color: var(--none); }
svg { width: 100%; height: auto; } svg text { fill: var(--ink); font: 14px system-ui, sans-serif; }
svg .sign { fill: var(--paper); font-size: 11px; text-anchor: middle; }
svg .count { fill: var(--soft); font-size: 13px; }
rect.all { fill: var(--all); } rect.some { fill: var(--some); } rect.none { fill: var(--none); }
.wide { overflow-x: auto; } .wide svg { min-width: 40rem; } .wide table { min-width: 48rem; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; table-layout: fixed; }
th, td { text-align: left; padding: .3rem .75rem .3rem 0; border-top: 1px solid var(--line);
  vertical-align: top; overflow-wrap: break-word; }
th:nth-child(1) { width: 24%; } th:nth-child(2) { width: 14%; } th:nth-child(3) { width: 12%; }
th { white-space: nowrap; color: var(--soft); font-weight: 600; border-top: 0; }
code { font-size: .85em; }
"""

#: The picture: rows of squares.
_SQUARE = 18
_GAP = 4
_LABEL = 110
_PER_ROW = 34
_ROW = 10


def page(audit: Audit, title: str, source: str = "") -> str:
    """Return the page. ``source`` says where the file is from, and when it was looked at."""
    from_where = f'<p class="soft">{_text(source)}</p>' if source else ""
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_text(title)}: who may fetch it</title><style>{_STYLE}</style></head><body>",
        f"<h1>{_text(title)}: who may fetch it</h1>{from_where}",
        f'<p class="lead">{escape(audit.summary)}</p>',
        _picture(audit),
        _legend(),
        _stated(audit),
        *(_table(purpose.value, audit.of(purpose)) for purpose in audit.purposes),
        "</body></html>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


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
    said = escape(audit.summary, quote=True)
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
        f"<td><code>{_text(f'{each.pattern} ' if each.pattern else '')}"
        f"{_text(f'{each.key}={each.value}')}</code></td></tr>"
        for each in audit.preferences
    ]
    rows += [
        f"<tr><td></td><td>License</td><td><code>{_text(each)}</code></td></tr>"
        for each in audit.licenses
    ]
    if not rows:
        return '<p class="soft">The file states no preferences and no licence.</p>'
    return f"<h2>Preferences and licences</h2><table>{''.join(rows)}</table>"


def _text(text: str) -> str:
    return escape("".join(each if each.isprintable() else spelt_out(each) for each in text))


def _table(heading: str, verdicts: tuple[Verdict, ...]) -> str:
    rows = "".join(map(_row, verdicts))
    return (
        f'<h2>{escape(heading[:1].upper() + heading[1:])}</h2><div class="wide"><table>'
        "<tr><th>Crawler</th><th>Operator</th><th>May fetch</th><th>How</th><th>Line</th></tr>"
        f"{rows}</table></div>"
    )


def _row(verdict: Verdict) -> str:
    crawler = verdict.crawler
    line = f"<code>{_text(verdict.line)}</code>" if verdict.rule else ""
    remark = f"; {_REMARKS[crawler.heeds]}" if crawler.heeds in _REMARKS else ""
    link = escape(crawler.source, quote=True)
    return (
        f'<tr><td><a href="{link}" rel="noreferrer">{escape(crawler.token)}</a></td>'
        f"<td>{escape(crawler.operator)}</td>"
        f'<td class="{verdict.extent.value}">{_sign(verdict)} {_WORDS[verdict.extent]}</td>'
        f"<td>{escape(verdict.how + remark)}</td><td>{line}</td></tr>"
    )
