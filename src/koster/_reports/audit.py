"""The result of ``koster audit``, as text, JSON, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..analysis import Extent
from ..audit import MARK, Audit, Verdict
from ..crawlers import MANNERS, Obeys, Purpose, place_in_reports
from . import hints, screen
from .json import to_json
from .pages import page
from .plain import markdown, markdown_code, printable, shorten
from .records import of_audit
from .text import Text

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
    if audited.has_all:
        _print_tables(audit)
    if audit.warning:
        screen.print_lines(Text(audit.warning, "bold red"))
    rows = [
        [Text(row.label, "bold"), Text(printable(row.text), _STYLES[row.extent])]
        for row in audit.overview
    ]
    screen.print_table(["", ""], rows)
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
    days = sorted(each.crawler.checked for each in audit.verdicts)
    if days:
        checked = " to ".join(dict.fromkeys([days[0], days[-1]]))
        more = "; --all shows each crawler, its line and source"
        if audited.has_all:
            more = "" if screen.width() >= _WIDE else "; koster agents NAME shows the source"
        screen.print_lines(Text(f"Facts about crawlers checked {checked}{more}", "dim"))


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
    return f"{purpose.value[:1].upper()}{purpose.value[1:]}"


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
    """Yield the preferences and licenses of the file."""
    by_line: dict[str, list[str]] = {}
    for each in audit.preferences:
        path = f"{each.pattern} " if each.pattern else ""
        place = f"{each.directive} in line {each.line}"
        by_line.setdefault(place, []).append(f"{path}{each.key}={each.value}")
    for place, values in by_line.items():
        yield f"{place}: {', '.join(values)}"
    for license_url in audit.licenses:
        yield f"License: {license_url}"


def print_markdown(audited: Audited) -> None:
    """Print a report with a table for each purpose."""
    print("\n".join(_markdown(audited)))


def _markdown(audited: Audited) -> Iterator[str]:
    audit = audited.audit
    yield f"# Crawlers allowed by {markdown(audited.title)}"
    yield ""
    yield markdown(audited.source)
    yield ""
    if audit.warning:
        yield f"**{markdown(audit.warning)}**"
        yield ""
    yield "| crawlers | access |"
    yield "|---|---|"
    for row in audit.overview:
        yield f"| {markdown(row.label)} | {markdown(row.text)} |"
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
