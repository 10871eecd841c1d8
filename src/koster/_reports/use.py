"""What sites say about use, counted over archives, as text, HTML and CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from .._wording import count_noun
from ..signals import GRAMMARS, Stated, Use
from . import line_charts, screen
from .bulk import percent
from .csv import csv_line
from .pages import page
from .plain import printable
from .text import Text

if TYPE_CHECKING:
    from ..bulk.use_report import CrawlPages, UseReport, UseShare

#: The maximum number of crawls in text and in the tables of a page.
_MAX_CRAWLS = 4
_MAX_COLUMNS = 12

#: The columns of CSV.
_COLUMNS = (
    "crawl", "use", "stated", "grammar", "pages", "sites", "all_pages", "all_sites", "unread_pages",
    "unread_sites", "not_fetched", "share_of_pages", "share_of_sites",
)  # fmt: skip
_STYLES = {
    Stated.YES: "green", Stated.NO: "bold red", Stated.UNSTATED: "dim", Stated.UNDECIDED: "yellow",
    Stated.CONFLICT: "bold yellow",
}  # fmt: skip
_TITLES = {each.name: each.title for each in GRAMMARS}


@dataclass(frozen=True, slots=True)
class UseShares:
    """A report for output; ``source`` says where its numbers are from."""

    report: UseReport
    title: str = ""
    source: str = ""


def notices(report: UseReport) -> Iterator[str]:
    """Yield what the numbers leave open, in sentences."""
    for each in report.crawls:
        if each.unread_pages:
            have = "has" if each.unread_pages == 1 else "have"
            yield (
                f"{each.unread_pages:,} of {count_noun(each.pages, 'page')} in {each.crawl}, on "
                f"{each.unread_sites:,} of {count_noun(each.sites, 'site')}, {have} a source that "
                "could not be read: what is not stated elsewhere is undecided."
            )
        if each.not_fetched:
            yield (
                f"{each.not_fetched:,} of {count_noun(report.panel or 0, 'site')} of the list "
                f"{'has' if each.not_fetched == 1 else 'have'} no page in {each.crawl}."
            )


def print_text(shares: UseShares) -> None:
    """Print the shares of answers and grammars in some crawls."""
    report = shares.report
    screen.print_lines(*(Text(printable(each), "yellow") for each in notices(report)))
    shown = line_charts.spread(len(report.crawls), _MAX_CRAWLS)
    for number in shown:
        _print_crawl(report, report.crawls[number])
    if len(report.crawls) > len(shown):
        print(f"and {count_noun(len(report.crawls) - len(shown), 'more crawl')}")
    if report.crawls:
        # Their shares may be more than 100 % together.
        screen.print_lines(Text("A site counts for each answer that one of its pages has.", "dim"))
    else:
        print("no HTML page in the archives")


def _print_crawl(report: UseReport, crawl: CrawlPages) -> None:
    found = report.of(crawl.crawl)
    name, pages, sites = printable(crawl.crawl), crawl.pages, crawl.sites
    screen.print_lines(
        Text(f"{name}: {count_noun(pages, 'page')}, {count_noun(sites, 'site')}", "bold")
    )
    headings = [str(stated).capitalize() for stated in Stated]
    for what, share in (("Pages", "share_of_pages"), ("Sites", "share_of_sites")):
        numbers = {(each.use, each.stated): getattr(each, share) for each in found}
        rows = [
            [Text(str(use))]
            + [Text(percent(numbers.get((use, each), 0.0)), _STYLES[each]) for each in Stated]
            for use in Use
        ]
        screen.print_table([what, *headings], rows)
    grammars = _of_training(found)
    if grammars:
        rows = [
            [Text(_TITLES[each.grammar]), Text(percent(each.share_of_sites)),
             Text(percent(each.share_of_pages))]
            for each in grammars
        ]  # fmt: skip
        screen.print_table(["AI training: grammar", "Sites", "Pages"], rows)


def _of_training(found: Sequence[UseShare]) -> list[UseShare]:
    """Return the grammars in which something about AI training is stated, the most usual first."""
    some = [each for each in found if each.use == Use.AI_TRAIN and each.grammar]
    return sorted(some, key=lambda each: (-each.sites, -each.pages))


def print_csv(shares: UseShares) -> None:
    """Print the shares as CSV."""
    screen.print_exact(as_csv(shares.report))


def as_csv(report: UseReport) -> str:
    """Return the shares as CSV, with a heading."""
    lines = [csv_line(_COLUMNS)]
    for each in report.shares:
        crawl = each.of
        shares = [Decimal(f"{share:.6f}") for share in (each.share_of_pages, each.share_of_sites)]
        lines.append(
            csv_line([
                each.crawl, each.use, each.stated, each.grammar, each.pages, each.sites,
                crawl.pages, crawl.sites, crawl.unread_pages, crawl.unread_sites,
                crawl.not_fetched, *shares,
            ])
        )  # fmt: skip
    return "".join(lines)


def print_html(shares: UseShares) -> None:
    """Print the page."""
    screen.print_exact(as_page(shares))


def as_page(shares: UseShares) -> str:
    """Return a page: what sites say about each use, and about AI training in each grammar."""
    report = shares.report
    crawls = [each.crawl for each in report.crawls]
    last = report.crawls[-1] if crawls else None
    columns = [crawls[number] for number in line_charts.spread(len(crawls), _MAX_COLUMNS)]
    names = [each.grammar for each in _of_training(report.of(crawls[-1]))] if crawls else []
    return page(
        "use.html",
        title=shares.title,
        source=shares.source,
        notices=list(notices(report)),
        lead=_lead(report, last),
        last=last,
        charts=_charts(report, crawls) if len(crawls) > 1 else {},
        numbers={(each.crawl, each.use, each.stated, each.grammar): each for each in report.shares},
        uses=[str(use) for use in Use],
        answers=[str(stated) for stated in Stated],
        grammars=[*names, *(name for name in _elsewhere(report) if name not in names)],
        titles=_TITLES,
        columns=columns,
        percent=percent,
        shorten=line_charts.shorten,
    )


def _elsewhere(report: UseReport) -> list[str]:
    """Return the grammars that state something about AI training in any crawl."""
    return list(dict.fromkeys(each.grammar for each in _of_training(report.shares)))


def _lead(report: UseReport, last: CrawlPages | None) -> str:
    """Return a summary in a sentence."""
    if last is None:
        return "No HTML page is in the archives."
    share = _share(report, last.crawl, Use.AI_TRAIN)
    return (
        f"Of {count_noun(last.sites, 'site')} in {last.crawl}, {percent(share)} have a page for "
        "which no to AI training is stated."
    )


def _share(report: UseReport, crawl: str, use: Use) -> float:
    """Return the share of sites that say no to a use."""
    found = (each for each in report.of(crawl) if (each.use, each.stated) == (use, Stated.NO))
    return next((each.share_of_sites for each in found), 0.0)


def _charts(report: UseReport, crawls: Sequence[str]) -> dict[str, line_charts.Chart]:
    """Return the chart of the sites that say no to each use, for wide and for narrow screens."""
    lines = [
        line_charts.ChartLine(str(use), [_share(report, crawl, use) for crawl in crawls])
        for use in Use
    ]
    frames = {"broad": line_charts.WIDE, "slim": line_charts.NARROW}
    return {name: line_charts.chart(crawls, lines, frame) for name, frame in frames.items()}
