"""The result of ``koster signals``, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..signals import Answer, Signals, Stated, Statement, Use
from . import screen
from .json import to_json
from .plain import printable, shorten
from .records import of_signals
from .text import Text

_STYLES = {
    Stated.YES: "green",
    Stated.NO: "bold red",
    Stated.UNSTATED: "dim",
    Stated.UNDECIDED: "yellow",
    Stated.CONFLICT: "bold yellow",
}
#: Names of crawlers in a line.
_MAX_NAMES = 4


@dataclass(frozen=True, slots=True)
class PageSignals:
    """What sites say about pages; ``uses`` are those to show; empty: all."""

    pages: tuple[Signals, ...]
    fetched: str | None
    uses: tuple[Use, ...] = ()


def print_json(found: PageSignals) -> None:
    """Print an array with an object for each page."""
    print(to_json([of_signals(each, found.fetched, found.uses) for each in found.pages]))


def print_text(found: PageSignals) -> None:
    """Print a table for each page, then what is not in it."""
    for number, page in enumerate(found.pages):
        if number:
            print()
        if len(found.pages) > 1:
            screen.print_lines(Text(printable(page.url), "bold"))
        for each in page.unread:
            screen.print_lines(Text(f"Not read: {printable(each)}", "bold red"))
        screen.print_table(["Use", "Stated", "By"], _rows(page, found.uses or tuple(Use)))
        for line in _lines(page, found.uses or tuple(Use)):
            screen.print_lines(Text(shorten(line)))
    screen.print_lines(Text("These are stated preferences, not legal advice", "dim"))


def _rows(page: Signals, uses: Sequence[Use]) -> Iterator[list[Text]]:
    """Yield a row for each use, for everybody, then for crawlers that are told something else."""
    for use in uses:
        everybody = page.of(use)
        yield _row(str(use), everybody.stated, _sources(everybody.statements))
        for stated, answers in _others(page, everybody).items():
            names = _names(each.crawler for each in answers)
            statements = [some for each in answers for some in each.statements]
            yield _row(f"  {names}", stated, _sources(statements))


def _row(what: str, stated: Stated, by: str) -> list[Text]:
    return [Text(printable(what)), Text(stated, _STYLES[stated]), Text(printable(by))]


def _others(page: Signals, everybody: Answer) -> dict[Stated, list[Answer]]:
    """Return the answers for crawlers that differ from that for everybody, by what is stated."""
    found: dict[Stated, list[Answer]] = {}
    for each in page.answers:
        if each.use is everybody.use and each.crawler and each.stated is not everybody.stated:
            found.setdefault(each.stated, []).append(each)
    return found


def _names(names: Iterable[str]) -> str:
    all_names = list(names)
    more = len(all_names) - _MAX_NAMES
    shown = ", ".join(all_names[:_MAX_NAMES])
    return f"{shown} and {more} more" if more > 0 else shown


def _sources(statements: Iterable[Statement]) -> str:
    """Return what is stated where, each once."""
    found = dict.fromkeys(f"{each.text} ({each.where})" for each in statements)
    some = list(found)[:_MAX_NAMES]
    more = len(found) - len(some)
    return "; ".join(some) + (f"; and {more} more" if more else "")


def _lines(page: Signals, uses: Sequence[Use]) -> Iterator[str]:
    """Yield what the table does not show."""
    for crawl in page.crawl:
        rule = f" (robots.txt, line {crawl.line}: {crawl.rule})" if crawl.line else ""
        if not crawl.allowed:
            yield f"{crawl.crawler} may not fetch the page{rule}"
    for unseen in page.unseen:
        what = f"{unseen.signal} ({unseen.where})"
        who = "everybody" if unseen.crawler == "*" else unseen.crawler
        effect = "No effect for" if unseen.where.startswith("robots.txt") else "Never seen by"
        yield f"{effect} {who}: {what}, as {unseen.because}"
    for each in page.conflicts:
        if each.use not in uses:
            continue
        who = f" for {each.crawler}" if each.crawler else ""
        yield (
            f"Conflict about {each.use}{who}: {each.yes.text} ({each.yes.where}) against "
            f"{each.no.text} ({each.no.where}); the most restrictive counts"
        )
    for license_ in page.licenses:
        yield f"License: {license_.url} ({license_.where})"
    for note in page.notes:
        yield f"Note: {note}"
