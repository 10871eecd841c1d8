"""The result of ``koster audit``, as text, JSON, Markdown and HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from ..analysis import Extent
from ..crawlers import MANNERS, Obeys, place_in_reports
from . import screen
from ._json import to_json
from .pages import page
from .plain import markdown, markdown_code, printable, shorten
from .records import of_audit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..audit import Audit, Verdict
    from ..crawlers import Purpose

_WORDS = {Extent.ALL: "nothing", Extent.SOME: "a part", Extent.NONE: "everything"}
_STYLES = {Extent.ALL: "bold red", Extent.SOME: "yellow", Extent.NONE: "green"}
#: Signs that distinguish verdicts without colour.
_SIGNS = {Extent.ALL: "✕", Extent.SOME: "◕", Extent.NONE: "✓"}
#: The sign of crawlers that may fetch a part, but not the start page.
_NOT_START_PAGE = "◔"

#: The maximum number of names in a row; JSON, Markdown and HTML have a row for each crawler.
_MAX_NAMES = 4
#: How far a crawler can be trusted, in short.
_REMARKS = {
    Obeys.MAY_IGNORE: "may ignore",
    Obeys.UNDOCUMENTED: "undocumented",
    Obeys.DISPUTED: "disputed",
    Obeys.CONTROL: "control only",
}


@dataclass(frozen=True, slots=True)
class Audited:
    """An audit for output.

    Attributes:
        audit: The result.
        title: The name of the site or file.
        source: The origin of the file, when it was read, and how.
        dialect: The name of the dialect.
        has_all: Whether text has a row for each crawler.
    """

    audit: Audit
    title: str = ""
    source: str = ""
    dialect: str = ""
    has_all: bool = False


def print_json(audited: Audited) -> None:
    """Print the audit as an object."""
    print(to_json({"site": audited.title, "dialect": audited.dialect} | of_audit(audited.audit)))


def print_text(audited: Audited) -> None:
    """Print a table for each purpose, then remarks, preferences and the summary."""
    audit = audited.audit
    sources = ["Checked on", "Source"] if audited.has_all else []
    for purpose in audit.purposes:
        verdicts = audit.of(purpose)
        screen.print_lines(Text(f"{_heading(purpose)} ({len(verdicts)})", "bold"))
        rows = _rows(verdicts, 1 if audited.has_all else None)
        screen.print_table(["Crawler", "May fetch", "How", "Line", *sources], rows)
        print()
    days = sorted(each.crawler.checked for each in audit.verdicts)
    dates = (*days[:1], *days[-1:])
    if dates:
        screen.print_lines(
            Text(
                f"Facts about crawlers: checked {' to '.join(dict.fromkeys(dates))}; "
                "koster agents NAME shows the source.",
                "dim",
            )
        )
    used = {each.crawler.obeys for each in audit.verdicts}
    for obeys, remark in _REMARKS.items():
        if obeys in used:
            screen.print_lines(Text(f"{remark}: {MANNERS[obeys]}", "dim"))
    print()
    for line in _statements(audit):
        screen.print_lines(Text(shorten(line)))
    screen.print_lines(Text(printable(audit.summary), "bold"))


def _heading(purpose: Purpose) -> str:
    return f"{purpose.value[:1].upper()}{purpose.value[1:]}"


def _rows(verdicts: tuple[Verdict, ...], size: int | None) -> Iterator[list[Text]]:
    """Yield the rows of a table.

    Crawlers with the same verdict share a row, well-known ones first; ``size`` is the maximum for
    each row.
    """
    alike: dict[tuple[str, ...], list[Verdict]] = {}
    for each in verdicts:
        alike.setdefault((each.extent, _how(each), each.line), []).append(each)
    for some in alike.values():
        some.sort(key=lambda each: place_in_reports(each.crawler))
        for start in range(0, len(some), size or len(some)):
            names = [each.crawler.token for each in some[start:][:size]]
            more = len(names) - _MAX_NAMES
            shown = ", ".join(names[:_MAX_NAMES]) + (f" and {more} more" if more > 0 else "")
            yield _row(some[start], shown)


def _row(verdict: Verdict, names: str) -> list[Text]:
    return [
        Text(names),
        Text(_WORDS[verdict.extent], _STYLES[verdict.extent]),
        Text(_how(verdict), "dim"),
        Text(shorten(verdict.line)),
        Text(verdict.crawler.checked, "dim"),
        Text(verdict.crawler.source, "dim"),
    ]


def _how(verdict: Verdict) -> str:
    """Return how a verdict was reached, and how far the crawler can be trusted."""
    obeys = verdict.crawler.obeys
    # Crawlers that ignore all groups, or the * group, have that in their verdict.
    remark = f"; {_REMARKS[obeys]}" if obeys in _REMARKS else ""
    return verdict.how + remark + ("" if verdict.is_proved else "; not proved")


def _also(verdict: Verdict) -> str:
    """Return the other purposes of a crawler."""
    others = ", ".join(verdict.crawler.purposes[1:])
    return f"; also {others}" if others else ""


def _statements(audit: Audit) -> Iterator[str]:
    """Yield the preferences and licences of the file."""
    for each in audit.preferences:
        path = f"{each.pattern} " if each.pattern else ""
        yield f"Line {each.line}, {each.directive}: {path}{each.key}={each.value}"
    for licence in audit.licenses:
        yield f"License: {licence}"
    if not (audit.preferences or audit.licenses):
        yield "No preferences and no licence are stated."


def print_markdown(audited: Audited) -> None:
    """Print a report with a table for each purpose."""
    print("\n".join(_markdown(audited)))


def _markdown(audited: Audited) -> Iterator[str]:
    audit = audited.audit
    yield f"# {markdown(audited.title)}: who may fetch it"
    yield ""
    yield markdown(audited.source)
    yield ""
    yield markdown(audit.summary)
    for purpose in audit.purposes:
        yield ""
        yield f"## {_heading(purpose)}"
        yield ""
        yield "| crawler | operator | may fetch | how | line | source, checked on |"
        yield "|---|---|---|---|---|---|"
        for each in audit.of(purpose):
            line = markdown_code(each.line) if each.rule else ""
            token, operator = map(markdown, (each.crawler.token, each.crawler.operator))
            source = f"<{each.crawler.source}>, {each.crawler.checked}"
            cells = (token, operator, _WORDS[each.extent], _how(each) + _also(each), line, source)
            yield f"| {' | '.join(cells)} |"
    yield ""
    yield "## Preferences and licences"
    yield ""
    for line in _statements(audit):
        yield f"- {markdown_code(line)}"


# The chart of the page: rows of squares, one for each crawler.
_SQUARE = 18
_GAP = 4
_LABEL = 110
_PER_ROW = 34
_ROW_GAP = 10


def print_html(audited: Audited) -> None:
    """Print the page."""
    print(as_page(audited), end="")


def as_page(audited: Audited) -> str:
    """Return a self-contained page."""
    rows, height = _chart(audited.audit)
    return page(
        "audit.html",
        title=f"{audited.title}: who may fetch it",
        source=audited.source,
        audit=audited.audit,
        rows=rows,
        width=_LABEL + _PER_ROW * (_SQUARE + _GAP) + 130,
        height=height,
        square=_SQUARE,
        signs=_SIGNS,
        words=_WORDS,
        extents=list(Extent),
        not_start_page=_NOT_START_PAGE,
        sign_of=_sign,
        heading_of=_heading,
        remark_of=lambda crawler: MANNERS[crawler.obeys] if crawler.obeys in _REMARKS else "",
        also_of=_also,
    )


@dataclass(frozen=True, slots=True)
class _Row:
    """A purpose in the chart: its top, its squares, and how many crawlers are blocked."""

    purpose: str
    top: int
    squares: list[tuple[int, int, Verdict]]
    closed: int
    end: int


def _chart(audit: Audit) -> tuple[list[_Row], int]:
    """Return the rows of the chart, and its height."""
    order = list(Extent)
    rows = []
    top = 0
    step = _SQUARE + _GAP
    for purpose in audit.purposes:
        verdicts = sorted(audit.of(purpose), key=lambda each: order.index(each.extent))
        squares = [
            (_LABEL + number % _PER_ROW * step, top + number // _PER_ROW * step, verdict)
            for number, verdict in enumerate(verdicts)
        ]
        closed = sum(each.extent is Extent.ALL for each in verdicts)
        end = _LABEL + min(len(verdicts), _PER_ROW) * step + 6
        rows.append(_Row(purpose.value, top, squares, closed, end))
        top += -(-len(verdicts) // _PER_ROW) * step + _ROW_GAP
    return rows, top


def _sign(verdict: Verdict) -> str:
    is_start_blocked = verdict.extent is Extent.SOME and not verdict.may_enter
    return _NOT_START_PAGE if is_start_blocked else _SIGNS[verdict.extent]
