"""The result of ``koster agents``, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from .._wording import count_noun
from ..crawlers import CHANGE_DELAY, MANNERS, Crawler, place_in_reports
from . import screen
from .json import to_json
from .records import of_crawler
from .text import Text

#: What is said about old facts.
OUTDATED = "checked more than a year ago"


@dataclass(frozen=True, slots=True)
class Agents:
    """Known crawlers for output, on a day; ``is_exact``: the only one is explained."""

    crawlers: tuple[Crawler, ...]
    today: date
    is_exact: bool = False


def print_json(agents: Agents) -> None:
    """Print an array with an object for each crawler."""
    print(to_json([of_crawler(each, agents.today) for each in agents.crawlers]))


def print_text(agents: Agents) -> None:
    """Print a table of crawlers; of a single one, all that is known."""
    if agents.is_exact:
        _explain(agents.crawlers[0], agents.today)
        return
    rows = [
        [
            Text(each.token),
            Text(each.operator, "dim"),
            Text(", ".join(each.purposes)),
            Text(each.obeys + (f"; {OUTDATED}" if each.is_outdated(agents.today) else "")),
        ]
        for each in sorted(agents.crawlers, key=place_in_reports)
    ]
    screen.print_table(["Crawler", "Operator", "Purpose", "Obeys"], rows)
    screen.print_note(
        f"{count_noun(len(rows), 'crawler')}; koster agents NAME explains one of them"
    )


def _explain(crawler: Crawler, today: date) -> None:
    rows = [[Text(name, "bold"), Text(value)] for name, value in _facts(crawler, today)]
    screen.print_table(["", ""], rows)


def _facts(crawler: Crawler, today: date) -> Iterator[tuple[str, str]]:
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
    if crawler.change_delay > CHANGE_DELAY:
        hours = crawler.change_delay // timedelta(hours=1)
        yield "Changes", f"take effect after {count_noun(hours, 'hour')}"
    if crawler.old_copy:
        yield "Old copies", f"of up to {count_noun(crawler.old_copy.days, 'day')}, if fetches fail"
    if crawler.note:
        yield "Note", crawler.note
    yield "Source", crawler.source
    outdated = f" ({OUTDATED})" if crawler.is_outdated(today) else ""
    yield "Checked on", crawler.checked + outdated
