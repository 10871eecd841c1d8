"""The result of ``koster agents``, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .._wording import count_noun
from ..crawlers import MANNERS, Crawler, place_in_reports
from . import screen
from .json import to_json
from .records import of_crawler
from .text import Text


@dataclass(frozen=True, slots=True)
class Agents:
    """Known crawlers for output; ``is_exact``: the only one is explained."""

    crawlers: tuple[Crawler, ...]
    is_exact: bool = False


def print_json(agents: Agents) -> None:
    """Print an array with an object for each crawler."""
    print(to_json([of_crawler(each) for each in agents.crawlers]))


def print_text(agents: Agents) -> None:
    """Print a table of crawlers; of a single one, all that is known."""
    if agents.is_exact:
        _explain(agents.crawlers[0])
        return
    rows = [
        [
            Text(each.token),
            Text(each.operator, "dim"),
            Text(", ".join(each.purposes)),
            Text(each.obeys),
        ]
        for each in sorted(agents.crawlers, key=place_in_reports)
    ]
    screen.print_table(["Crawler", "Operator", "Purpose", "Obeys"], rows)
    screen.print_note(
        f"{count_noun(len(rows), 'crawler')}; koster agents NAME explains one of them"
    )


def _explain(crawler: Crawler) -> None:
    rows = [[Text(name, "bold"), Text(value)] for name, value in _facts(crawler)]
    screen.print_table(["", ""], rows)


def _facts(crawler: Crawler) -> Iterator[tuple[str, str]]:
    """Yield what is known about a crawler, by name."""
    yield "Crawler", crawler.token
    yield "Operator", crawler.operator
    if crawler.names:
        yield "Known as", ", ".join(crawler.names)
    yield "Purpose", ", ".join(crawler.purposes)
    yield "Robots.txt", MANNERS[crawler.obeys]
    if crawler.falls_back_to:
        chain = ", then ".join(crawler.falls_back_to)
        yield "Falls back to", f"{chain}, if no group names {crawler.token}"
    for name, values in (
        ("IP ranges", crawler.verification.ranges),
        ("Reverse DNS", crawler.verification.domains),
    ):
        if values:
            yield name, ", ".join(values)
    if crawler.verification.signatures:
        yield "Signatures", "signs its requests (Web Bot Auth)"
    if crawler.successor:
        yield "Replaced by", crawler.successor
    yield "Source", crawler.source
    yield "Checked on", crawler.checked
