"""The result of ``koster fetch``, as text and JSON, or only the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from ..model import Reason, text_of
from . import screen
from ._json import to_json
from .plain import printable, printable_lines, shorten
from .records import of_outcome

if TYPE_CHECKING:
    from datetime import datetime

    from ..access import Outcome

_SUMMARY = {
    None: "a file",
    Reason.UNAVAILABLE: "no file: robots may fetch everything",
    Reason.FORBIDDEN: "forbidden: robots may fetch nothing",
    Reason.UNREACHABLE: "unreachable: robots may fetch nothing for now",
}


@dataclass(frozen=True, slots=True)
class Fetched:
    """The outcome of fetching a robots.txt.

    Attributes:
        outcome: The outcome.
        comments: The file's Comment lines for the user agent.
        began: When the command started: a file fetched earlier is from the cache.
    """

    outcome: Outcome
    comments: list[str]
    began: datetime


def print_json(fetched: Fetched) -> None:
    """Print the outcome as an object."""
    print(to_json(of_outcome(fetched.outcome) | {"comments": fetched.comments}))


def print_file(fetched: Fetched) -> None:
    """Print only the file."""
    outcome = fetched.outcome
    if outcome.robots is None:
        screen.complain(f"{outcome.origin}: {_SUMMARY[outcome.reason]} ({outcome.why})")
        return
    screen.print_file(outcome.robots.body)


def print_text(fetched: Fetched) -> None:
    """Print hops and headers, the outcome, and the file."""
    outcome = fetched.outcome
    rows = []
    for hop in outcome.hops:
        status = str(hop.status) if hop.status is not None else "none"
        rows.append([Text(status), Text(shorten(hop.url)), Text(f"{hop.seconds:.2f} s")])
        rows += [
            [Text(""), Text(f"{name}: {shorten(value)}", "dim"), Text("")]
            for name, value in hop.headers
        ]
        if hop.why and hop.why != outcome.why:
            rows.append([Text(""), Text(printable(hop.why), "yellow"), Text("")])
    screen.print_table(["Status", "Request", "Took"], rows)
    print()
    facts = _facts(outcome, fetched.began)
    facts += [("Comment", printable(comment)) for comment in fetched.comments]
    screen.print_table(["", ""], [[Text(name, "bold"), Text(text)] for name, text in facts])
    if outcome.robots is not None:
        print()
        print(printable_lines(text_of(outcome.robots.body)), end="")


def _facts(outcome: Outcome, began: datetime) -> list[tuple[str, str]]:
    """Return the outcome as labels and texts."""
    summary = _SUMMARY[outcome.reason]
    if outcome.is_stale:
        summary = "an old copy of the file holds on"
    facts = [("Site", outcome.origin), ("Outcome", summary)]
    if outcome.why:
        facts.append(("Why", shorten(outcome.why)))
    if outcome.robots is not None:
        size, groups = len(outcome.robots.body), len(outcome.robots.groups)
        counts = f"{size:,} bytes, {groups:,} group{'s' * (groups != 1)}"
        facts.append(("File", f"{counts}, read as {outcome.dialect}"))
        if outcome.is_cut:
            facts.append(("Note", "the file is longer: robots read its first 500 KiB alone"))
        if outcome.charset:
            charset = shorten(outcome.charset)
            facts.append(("Note", f"the file is in {charset}: many crawlers read only UTF-8"))
        source = " (from the cache)" if outcome.fetched < began else ""
        facts.append(("Fetched", _moment(outcome.fetched) + source))
    if outcome.unreachable_since is not None:
        facts.append(("Unreachable", f"since {_moment(outcome.unreachable_since)}"))
    facts.append(("Asked again", f"not before {_moment(outcome.expires)}"))
    if outcome.is_downgraded:
        facts.append(("Note", "a redirect led from HTTPS to HTTP: the file may be anybody's"))
    return facts


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
