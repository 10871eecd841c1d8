"""``koster audit``: the known crawlers against a robots.txt, by what they fetch pages for."""

from __future__ import annotations

import sys
from datetime import date
from typing import TYPE_CHECKING

import rich_click as click
from rich.text import Text

from .. import audit as auditing
from .._json import dumped
from .._records import of_audit
from .._version import VERSION
from ..agents import MANNERS, Heeds, place_in_reports
from ..analysis import Extent
from ..errors import MissingExtraError
from ..robots import parse
from . import _inputs, _screen, _sites
from ._types import dialect_option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..audit import Audit, Verdict
    from ..dialects import Dialect

_WORDS = {Extent.ALL: "nothing", Extent.SOME: "a part", Extent.NONE: "everything"}
#: Crawlers of a row that are named; JSON, Markdown and HTML have a row for each.
_NAMED = 4
#: What is known of a crawler's manners, in a word or two.
_REMARKS = {
    Heeds.UNDOCUMENTED: "undocumented",
    Heeds.DISPUTED: "disputed",
    Heeds.CONTROL: "control only",
}
_STYLES = {Extent.ALL: "bold red", Extent.SOME: "yellow", Extent.NONE: "green"}


@click.command(options_metavar="[OPTIONS]")
@click.argument("robots")
@click.option(
    "--site", metavar="NAME", help="The site's name, for the title; else that of the file."
)
@click.option("--all", "has_all", is_flag=True, help="Print a row for each crawler, also as text.")
@dialect_option("How to read the file")
@click.option(
    "--format",
    "-f",
    "form",
    type=click.Choice(["text", "json", "markdown", "html"]),
    default="text",
    show_default=True,
    help="How to print it; html is one page with a picture, for a report.",
)
@_sites.fetching_options
@_sites.stoppable
def audit(
    robots: str,
    site: str | None,
    has_all: bool,
    dialect: Dialect,
    form: str,
    timeout: float,
    cache: str | None,
    user_agent: str,
) -> None:
    """Say what known crawlers may fetch: search engines, assistants, training crawlers and more.

    ROBOTS is a robots.txt, - for standard input, or the address of a site.

    Example: koster audit --format html --site Example robots.txt > audit.html

    Exit codes: 0 done, 2 wrong usage, 3 the file could not be read.
    """
    settings = _sites.Settings(timeout, cache, user_agent)
    inputs, troubles = _inputs.read_all((robots,), settings, dialect)
    if troubles:
        sys.exit(3)
    (given,) = inputs
    _inputs.warn_of_no_text(given)
    try:
        found = auditing.audit(parse(given.body, dialect))
    except MissingExtraError as error:
        _screen.complain(str(error))
        sys.exit(2)
    title = site or given.name
    made = f"{date.today()}, by koster {VERSION}, read as {dialect}"
    source = made if title == given.name else f"{given.name}, {made}"
    if form == "json":
        print(dumped({"site": title, "dialect": dialect.name} | of_audit(found)))
    elif form == "html":
        print(auditing.page(found, title, source), end="")
    elif form == "markdown":
        print("\n".join(_markdown(found, title, source)))
    else:
        print_text(found, has_all=has_all)


def print_text(audit: Audit, *, has_all: bool = False) -> None:
    """Print a table for each purpose, then preferences, what words mean, and the summary."""
    for purpose in audit.purposes:
        verdicts = audit.of(purpose)
        heading = f"{purpose.value[:1].upper()}{purpose.value[1:]} ({len(verdicts)})"
        _screen.print_lines(Text(heading, "bold"))
        rows = _rows(verdicts, 1 if has_all else None)
        _screen.print_table(["Crawler", "May fetch", "How", "Line"], rows)
        print()
    used = {each.crawler.heeds for each in audit.verdicts}
    for heeds, remark in _REMARKS.items():
        if heeds in used:
            _screen.print_lines(Text(f"{remark}: {MANNERS[heeds]}", "dim"))
    print()
    for line in _stated(audit):
        _screen.print_lines(Text(_screen.shortened(line)))
    _screen.print_lines(Text(_screen.printable(audit.summary), "bold"))


def _rows(verdicts: tuple[Verdict, ...], size: int | None) -> Iterator[list[Text]]:
    """Go through the rows of a table.

    Crawlers of which the same is to be said share one, the well-known ones first; ``size``: that
    many at most.
    """
    alike: dict[tuple[str, ...], list[Verdict]] = {}
    for each in verdicts:
        alike.setdefault((each.extent, _how(each), each.line), []).append(each)
    for some in alike.values():
        some.sort(key=lambda each: place_in_reports(each.crawler))
        for start in range(0, len(some), size or len(some)):
            names = [each.crawler.token for each in some[start:][:size]]
            more = len(names) - _NAMED
            told = ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
            yield _row(some[0], told)


def _row(verdict: Verdict, names: str) -> list[Text]:
    return [
        Text(names),
        Text(_WORDS[verdict.extent], _STYLES[verdict.extent]),
        Text(_how(verdict), "dim"),
        Text(_screen.shortened(verdict.line)),
    ]


def _how(verdict: Verdict) -> str:
    """Return how a crawler comes to its verdict, and what is known of its manners."""
    heeds = verdict.crawler.heeds
    # Who heeds nothing, or no group for everybody, says so by the way it comes to its verdict.
    remark = f"; {_REMARKS[heeds]}" if heeds in _REMARKS else ""
    return verdict.how + remark + ("" if verdict.is_proved else "; not proved")


def _stated(audit: Audit) -> Iterator[str]:
    """Go through what the file says about uses of its content."""
    for each in audit.preferences:
        path = f"{each.pattern} " if each.pattern else ""
        yield f"Line {each.line}, {each.directive}: {path}{each.key}={each.value}"
    for licence in audit.licenses:
        yield f"License: {licence}"
    if not (audit.preferences or audit.licenses):
        yield "No preferences and no licence are stated."


def _markdown(audit: Audit, title: str, source: str) -> Iterator[str]:
    """Go through the lines of a report."""
    yield f"# {_screen.markdown(title)}: who may fetch it"
    yield ""
    yield _screen.markdown(source)
    yield ""
    yield _screen.markdown(audit.summary)
    for purpose in audit.purposes:
        yield ""
        yield f"## {purpose.value[:1].upper()}{purpose.value[1:]}"
        yield ""
        yield "| crawler | operator | may fetch | how | line |"
        yield "|---|---|---|---|---|"
        for each in audit.of(purpose):
            line = _screen.markdown_code(each.line) if each.rule else ""
            token, operator = map(_screen.markdown, (each.crawler.token, each.crawler.operator))
            yield f"| {token} | {operator} | {_WORDS[each.extent]} | {_how(each)} | {line} |"
    yield ""
    yield "## Preferences and licences"
    yield ""
    for line in _stated(audit):
        yield f"- {_screen.markdown_code(line)}"
