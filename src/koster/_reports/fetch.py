"""The result of ``koster fetch``, as text and JSON, or only the file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from .._wording import count_noun
from ..access import HTML_PAGE, Outcome
from ..decisions import Reason
from ..model import text_of
from . import screen
from .json import to_json
from .plain import printable, printable_lines, shorten
from .records import of_outcome
from .text import Text

_SUMMARY = {
    None: "a file",
    Reason.UNAVAILABLE: "no file: everything is allowed",
    Reason.FORBIDDEN: "forbidden: everything is blocked",
    Reason.UNREACHABLE: "unreachable: everything is blocked for now",
}
_STYLES = {
    None: "green",
    Reason.UNAVAILABLE: "yellow",
    Reason.FORBIDDEN: "bold red",
    Reason.UNREACHABLE: "bold red",
}


@dataclass(frozen=True, slots=True)
class FetchResults:
    """The outcomes of fetching robots.txt files.

    Attributes:
        outcomes: The outcome for each site.
        comments: The Comment lines for the user agent in each file.
        began: When the command started: a file fetched earlier is from the cache.
        total: The number of sites, also if fewer were fetched.
    """

    outcomes: list[Outcome]
    comments: list[list[str]]
    began: datetime
    total: int = 1


def print_json(fetched: FetchResults) -> None:
    """Print an array with an object for each site."""
    pairs = zip(fetched.outcomes, fetched.comments, strict=True)
    print(to_json([of_outcome(outcome) | {"comments": said} for outcome, said in pairs]))


def print_file(fetched: FetchResults) -> None:
    """Print only the files."""
    for outcome in fetched.outcomes:
        if outcome.robots is None:
            screen.complain(f"{outcome.origin}: {_SUMMARY[outcome.reason]} ({outcome.why})")
        else:
            screen.print_file(outcome.robots.body)


def print_text(fetched: FetchResults) -> None:
    """Print hops and headers, the outcome and the file; of several sites, a row for each."""
    if fetched.total == 1:
        _print_details(fetched.outcomes[0], fetched.comments[0], fetched.began)
    else:
        headings = ["Site", "Outcome", "Size", "Fetched again after"]
        screen.print_table(headings, map(_row, fetched.outcomes))


def _row(outcome: Outcome) -> list[Text]:
    why = f" ({shorten(outcome.why)})" if outcome.why else ""
    size = "" if outcome.robots is None else count_noun(len(outcome.robots.body), "byte")
    return [
        Text(outcome.origin),
        Text(_summary(outcome) + why, "yellow" if outcome.is_html else _STYLES[outcome.reason]),
        Text(size),
        Text(f"{outcome.expires:%Y-%m-%d %H:%M} UTC"),
    ]


def _summary(outcome: Outcome) -> str:
    if outcome.is_html:
        return HTML_PAGE
    return "a stale copy of the file" if outcome.is_stale else _SUMMARY[outcome.reason]


def _print_details(outcome: Outcome, comments: list[str], began: datetime) -> None:
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
    facts = _facts(outcome, began)
    facts += [("Comment", printable(comment)) for comment in comments]
    screen.print_table(["", ""], [[Text(name, "bold"), Text(text)] for name, text in facts])
    if outcome.robots is not None:
        print()
        print(printable_lines(text_of(outcome.robots.body)), end="")


def _facts(outcome: Outcome, began: datetime) -> list[tuple[str, str]]:
    """Return the outcome as labels and texts."""
    facts = [("Site", outcome.origin), ("Outcome", _summary(outcome))]
    if outcome.why:
        facts.append(("Why", shorten(outcome.why)))
    if outcome.robots is not None:
        size, groups = len(outcome.robots.body), len(outcome.robots.groups)
        counts = f"{count_noun(size, 'byte')}, {count_noun(groups, 'group')}"
        facts.append(("File", f"{counts}, read as {outcome.dialect}"))
        if outcome.is_html and not groups:
            facts.append(("Note", "crawlers find no rules in it, so everything is allowed"))
        if outcome.is_cut:
            facts.append(
                ("Note", "the file is larger than 500 KiB: crawlers read only its beginning")
            )
        if outcome.charset:
            charset = shorten(outcome.charset)
            facts.append(("Note", f"the file is in {charset}: many crawlers read only UTF-8"))
        source = " (from the cache)" if outcome.fetched < began else ""
        facts.append(("Fetched", _moment(outcome.fetched) + source))
    if outcome.unreachable_since is not None:
        facts.append(("Unreachable", f"since {_moment(outcome.unreachable_since)}"))
    facts.append(("Fetched again", f"not before {_moment(outcome.expires)}"))
    if outcome.is_downgraded:
        facts.append(("Note", "redirected from HTTPS to HTTP: anyone may have changed the file"))
    return facts


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
