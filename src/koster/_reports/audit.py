"""The result of ``koster audit``, as text, JSON, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..analysis import Extent
from ..audit import MARK, Audit, StatedUse, Verdict
from ..crawlers import MANNERS, Obeys, Purpose, place_in_reports
from ..signals import Stated, Statement, Use, use_of
from . import hints, screen
from .json import to_json
from .pages import page
from .plain import markdown, markdown_code, printable, shorten
from .records import of_audit
from .text import Text

if TYPE_CHECKING:
    from ..directives import Preference

_STYLES = {Extent.ALL: "bold red", Extent.SOME: "yellow", Extent.NONE: "green"}
#: Signs that distinguish verdicts without colour.
_SIGNS = {Extent.ALL: "✕", Extent.SOME: "◕", Extent.NONE: "✓"}
#: The sign of crawlers that are blocked from most of the site.
_MOSTLY_BLOCKED = "◔"

#: The width from which a table has a column for each fact: most sources are long.
_WIDE = 200

#: How far a crawler can be trusted, in short.
_REMARKS = {
    Obeys.MAY_IGNORE: "may ignore",
    Obeys.UNDOCUMENTED: "undocumented",
    Obeys.DISPUTED: "disputed",
    Obeys.CONTROL: "control only",
    Obeys.RETIRED: "no longer named by its operator",
}

_USES = {
    Use.SEARCH: "search",
    Use.SNIPPET: "snippets",
    Use.ARCHIVE: "archives",
    Use.AI_INPUT: "AI answers",
    Use.AI_TRAIN: "AI training",
    Use.TDM: "text and data mining",
}
#: How much a use is restricted, for the same colours and signs as those of access.
_EXTENTS = {
    Stated.YES: Extent.NONE,
    Stated.NO: Extent.ALL,
    Stated.UNDECIDED: Extent.SOME,
    Stated.CONFLICT: Extent.SOME,
}
#: Sources of a use, and what is stated about other paths, in a row.
_MAX_SOURCES = 3


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
    """Print the overview and the preferences; with all, a table for each purpose before them."""
    audit = audited.audit
    for each in audit.unread:
        screen.print_lines(Text(f"Not read: {printable(each)}", "bold red"))
    if audited.has_all:
        _print_tables(audit)
    if audit.warning:
        screen.print_lines(Text(audit.warning, "bold red"))
    rows = [
        [Text(row.label, "bold"), Text(printable(row.text), _STYLES[row.extent])]
        for row in audit.overview
    ]
    if _states_nothing(audit):
        rows.append([Text("Use of pages", "bold"), Text(Stated.UNSTATED, "dim")])
    screen.print_table(["", ""], rows)
    _print_uses(audit)
    statements = list(_statements(audit))
    if statements:
        print()
    for line in statements:
        screen.print_lines(Text(shorten(line)))
    if _has_marks(audit):
        screen.print_lines(
            Text(f"{MARK.strip()} may ignore robots.txt, or its operator does not say", "dim")
        )
    for hint in _hints(audit):
        screen.print_lines(Text(hint))
    _print_days(audited)


def _print_days(audited: Audited) -> None:
    """Print when the facts about crawlers were checked."""
    days = sorted(each.crawler.checked for each in audited.audit.verdicts)
    if days:
        checked = " to ".join(dict.fromkeys([days[0], days[-1]]))
        more = "; --all shows each crawler, its line and source"
        if audited.has_all:
            more = "" if screen.width() >= _WIDE else "; koster agents NAME shows the source"
        screen.print_lines(Text(f"Facts about crawlers checked {checked}{more}", "dim"))


@dataclass(frozen=True, slots=True)
class _UseRow:
    """What is stated about a use, or alike about some; extent is None if nothing is."""

    label: str
    text: str
    extent: Extent | None


def _use_rows(audit: Audit) -> Iterator[_UseRow]:
    """Yield a row for each use, and one for all without any statement."""
    silent = [each for each in audit.uses if not (each.statements or each.elsewhere)]
    for each in audit.uses:
        if each not in silent:
            text = "; in part ".join([_stated(each.stated, each.statements), *_in_part(each)])
            is_mixed = bool(each.elsewhere)
            extent = Extent.SOME if is_mixed else _EXTENTS.get(each.stated)
            yield _UseRow(_capitalized(_USES[each.use]), text, extent)
    for stated in (Stated.UNDECIDED, Stated.UNSTATED):
        names = [_USES[each.use] for each in silent if each.stated is stated]
        if names:
            text = "all uses" if len(names) == len(Use) else ", ".join(names)
            yield _UseRow(_capitalized(stated), text, _EXTENTS.get(stated))


def _in_part(use: StatedUse) -> Iterator[str]:
    for stated in Stated:
        some = [each for each in use.elsewhere if each.stated is stated]
        if some:
            yield _stated(stated, some)


def _stated(stated: Stated, statements: Sequence[Statement]) -> str:
    """Return what is stated by which sources.

    >>> _stated(Stated.UNSTATED, [])
    'unstated'
    """
    sources = list(dict.fromkeys(f"{shorten(each.text)}, line {each.line}" for each in statements))
    more = len(sources) - _MAX_SOURCES
    shown = "; ".join(sources[:_MAX_SOURCES]) + (f"; and {more} more" if more > 0 else "")
    return f"{stated} ({shown})" if shown else str(stated)


def _screen_row(row: _UseRow) -> list[Text]:
    style = "dim" if row.extent is None else _STYLES[row.extent]
    return [Text(row.label, "bold"), Text(printable(row.text), style)]


def _capitalized(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _states_nothing(audit: Audit) -> bool:
    """Whether the file was read, and states nothing about any use."""
    return all(each.stated is Stated.UNSTATED and not each.elsewhere for each in audit.uses)


def _print_uses(audit: Audit) -> None:
    """Print a table of uses, unless none is stated."""
    if _states_nothing(audit):
        return
    print()
    screen.print_table(["Use of pages", "Stated"], map(_screen_row, _use_rows(audit)))


def _hints(audit: Audit) -> Iterator[str]:
    """Yield what owners of such files often get wrong."""
    by_token = {each.crawler.token: each for each in audit.verdicts}
    extended, googlebot = by_token.get("Google-Extended"), by_token.get("Googlebot")
    if extended is not None:
        is_blocked = extended.extent is Extent.ALL
        if extended.named_as == "Google-Extended" or (
            is_blocked and (googlebot is None or googlebot.extent is not Extent.ALL)
        ):
            yield hints.GOOGLE_EXTENDED
    for policy in audit.stated_policies:
        yield hints.of_policy(policy.token)
    if any(each.extent is not Extent.NONE for each in audit.of(Purpose.SEARCH)):
        yield hints.INDEX


def _has_marks(audit: Audit) -> bool:
    return any(MARK in row.text for row in audit.overview)


def _print_tables(audit: Audit) -> None:
    for purpose in audit.purposes:
        verdicts = audit.of(purpose)
        screen.print_lines(Text(f"{_heading(purpose)} ({len(verdicts)})", "bold"))
        ordered = sorted(verdicts, key=lambda each: place_in_reports(each.crawler))
        if screen.width() >= _WIDE:
            headings = ["Crawler", "Access", "Group", "Line", "Checked on", "Source"]
            screen.print_table(headings, map(_row, ordered))
        else:
            screen.print_table(["Crawler", "Access"], map(_narrow_row, ordered))
        print()


def _heading(purpose: Purpose) -> str:
    return _capitalized(purpose.value)


def _row(verdict: Verdict) -> list[Text]:
    return [
        Text(verdict.crawler.token),
        Text(printable(verdict.access), _STYLES[verdict.extent]),
        Text(_how(verdict), "dim"),
        Text(shorten(verdict.line)),
        Text(verdict.crawler.checked, "dim"),
        Text(verdict.crawler.source, "dim"),
    ]


def _narrow_row(verdict: Verdict) -> list[Text]:
    """Return the crawler, and below its access the line and the group; no source."""
    access = Text(printable(verdict.access), _STYLES[verdict.extent])
    reason = ", ".join(filter(None, (shorten(verdict.line), _how(verdict))))
    return [Text(verdict.crawler.token), Text.assemble(access, "\n", (reason, "dim"))]


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
    """Yield the preferences and licenses of the file that the rows of uses do not have."""
    by_line: dict[str, list[str]] = {}
    for each in _other_preferences(audit):
        path = f"{each.pattern} " if each.pattern else ""
        place = f"{each.directive} in line {each.line}"
        by_line.setdefault(place, []).append(f"{path}{each.key}={each.value}")
    for place, values in by_line.items():
        yield f"{place}: {', '.join(values)}"
    for license_url in audit.licenses:
        yield f"License: {license_url}"


def _other_preferences(audit: Audit) -> list[Preference]:
    """Return the preferences that no row of a use shows."""
    shown = {
        (each.line, use.use)
        for use in audit.uses
        for some in (use.statements, use.elsewhere)
        for each in some[:_MAX_SOURCES]
    }
    return [each for each in audit.preferences if (each.line, use_of(each)) not in shown]


def print_markdown(audited: Audited) -> None:
    """Print a report with a table for each purpose."""
    print("\n".join(_markdown(audited)))


def _markdown(audited: Audited) -> Iterator[str]:
    audit = audited.audit
    yield f"# Crawlers allowed by {markdown(audited.title)}"
    yield ""
    yield markdown(audited.source)
    yield ""
    for why in audit.unread:
        yield f"**Not read: {markdown(why)}**"
        yield ""
    if audit.warning:
        yield f"**{markdown(audit.warning)}**"
        yield ""
    yield "| crawlers | access |"
    yield "|---|---|"
    for row in audit.overview:
        yield f"| {markdown(row.label)} | {markdown(row.text)} |"
    yield from _markdown_of_uses(audit)
    if _has_marks(audit):
        yield ""
        yield f"{MARK.strip()} may ignore robots.txt, or its operator does not say."
    for hint in _hints(audit):
        yield ""
        yield hint
    statements = list(_statements(audit))
    if statements:
        yield ""
        yield "## Preferences and licenses"
        yield ""
    for line in statements:
        yield f"- {markdown_code(line)}"
    for purpose in audit.purposes:
        yield ""
        yield f"## {_heading(purpose)}"
        yield ""
        yield "| crawler | operator | access | group | line | source, checked on |"
        yield "|---|---|---|---|---|---|"
        for each in audit.of(purpose):
            line = markdown_code(each.line) if each.rule else ""
            token, operator = map(markdown, (each.crawler.token, each.crawler.operator))
            source = f"<{each.crawler.source}>, {each.crawler.checked}"
            cells = (token, operator, markdown(each.access), _how(each) + _also(each), line, source)
            yield f"| {' | '.join(cells)} |"


def _markdown_of_uses(audit: Audit) -> Iterator[str]:
    yield ""
    yield "| use of pages | stated |"
    yield "|---|---|"
    for row in _use_rows(audit):
        yield f"| {markdown(row.label)} | {markdown(row.text)} |"


def print_html(audited: Audited) -> None:
    """Print the page."""
    screen.print_exact(as_page(audited))


def as_page(audited: Audited) -> str:
    """Return a self-contained page."""
    return page(
        "audit.html",
        title=f"{audited.title}: crawlers",
        source=audited.source,
        audit=audited.audit,
        signs=_SIGNS,
        uses=list(_use_rows(audited.audit)),
        preferences=_other_preferences(audited.audit),
        mark=MARK.strip(),
        marked=_has_marks(audited.audit),
        hints=list(_hints(audited.audit)),
        sign_of=_sign,
        heading_of=_heading,
        remark_of=lambda crawler: MANNERS[crawler.obeys] if crawler.obeys in _REMARKS else "",
        also_of=_also,
    )


def _sign(verdict: Verdict) -> str:
    is_mostly_blocked = verdict.extent is Extent.SOME and not verdict.is_mostly_open
    return _MOSTLY_BLOCKED if is_mostly_blocked else _SIGNS[verdict.extent]
