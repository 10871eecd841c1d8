"""The result of ``koster agents``, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from .._wording import count_noun
from ..crawlers import CHANGE_DELAY, MANNERS, Crawler, PolicyToken, place_in_reports
from . import screen
from .json import to_json
from .records import of_crawler, of_policy_token
from .text import Text

#: What is said about old facts.
OUTDATED = "checked more than a year ago"


@dataclass(frozen=True, slots=True)
class Agents:
    """Known crawlers and policy tokens, on a day; ``is_exact``: the only one is explained."""

    crawlers: tuple[Crawler, ...]
    policies: tuple[PolicyToken, ...]
    today: date
    is_exact: bool = False


def print_json(agents: Agents) -> None:
    """Print an array with an object for each crawler, then for each policy token."""
    crawlers = [of_crawler(each, agents.today) for each in agents.crawlers]
    print(to_json([*crawlers, *map(of_policy_token, agents.policies)]))


def print_text(agents: Agents) -> None:
    """Print a table of crawlers; of a single one, all that is known."""
    if agents.is_exact:
        some = (_facts(each, agents.today) for each in agents.crawlers)
        for facts in (*some, *map(_policy_facts, agents.policies)):
            screen.print_table(
                ["", ""], [[Text(name, "bold"), Text(value)] for name, value in facts]
            )
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
    count = count_noun(len(rows), "crawler")
    rows += [
        [Text(each.token), Text(""), Text(each.purpose), Text("a policy token: no crawler")]
        for each in agents.policies
    ]
    screen.print_table(["Crawler", "Operator", "Purpose", "Obeys"], rows)
    screen.print_note(f"{count}; koster agents NAME explains one of them")


def _policy_facts(token: PolicyToken) -> Iterator[tuple[str, str]]:
    """Yield what is known about a policy token, by name."""
    yield "Policy token", token.token
    yield "States", f"{token.title}; no request has it in its User-Agent"
    yield "Specification", token.specification
    if not token.is_spelling_certain:
        yield "Spelling", f"not from the specification, but from {token.spelled_in}"
    for question in token.open:
        yield "Undecided", question
    for each in token.followers:
        yield each.operator, f"{each.says}: {each.source} ({each.checked})"
    yield "Source", token.source
    yield "Checked on", token.checked


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
