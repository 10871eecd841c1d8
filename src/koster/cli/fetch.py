"""``koster fetch``: what a site's robots.txt is, where it comes from, and for how long it holds."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import rich_click as click
from rich.text import Text

from .._json import dumped
from .._records import of_outcome
from ..errors import UrlError
from ..model import Reason, text_of
from . import _screen, _sites
from ._types import dialect_option

if TYPE_CHECKING:
    from ..access import Outcome
    from ..dialects import Dialect

#: The exit code for each reason that there is no file.
_EXIT = {None: 0, Reason.UNAVAILABLE: 1, Reason.FORBIDDEN: 1, Reason.UNREACHABLE: 3}

_SAID = {
    None: "a file",
    Reason.UNAVAILABLE: "no file: robots may fetch everything",
    Reason.FORBIDDEN: "forbidden: robots may fetch nothing",
    Reason.UNREACHABLE: "unreachable: robots may fetch nothing for now",
}


@click.command(options_metavar="[OPTIONS]")
@click.argument("site")
@dialect_option("How to read statuses")
@click.option(
    "--format",
    "-f",
    "form",
    type=click.Choice(["text", "json", "file"]),
    default="text",
    show_default=True,
    help="How to print it; file: the robots.txt alone, as UTF-8.",
)
@_sites.fetching_options
@_sites.stoppable
def fetch(
    site: str, dialect: Dialect, form: str, timeout: float, cache: str | None, user_agent: str
) -> None:
    """Fetch a site's robots.txt; show each hop, the headers that matter, freshness and the file.

    Comment lines for the user agent are shown, too.

    SITE is any address on it, or its name: https is meant then.

    Example: koster fetch example.com

    Exit codes: 0 there is a file, 1 there is none, 2 wrong usage, 3 the fetch failed.
    """
    if site.startswith(("/", ".")):
        raise click.UsageError(f"{site} is a file, not a site; koster check --robots reads files")
    url = site if "://" in site else f"https://{site}"
    try:
        origin = _sites.origin_of(url)
    except UrlError as error:
        raise click.UsageError(str(error)) from error
    began = datetime.now(UTC)
    settings = _sites.Settings(timeout, cache, user_agent)
    ((outcome,),) = _sites.fetched([origin], (dialect,), settings)
    robots = outcome.robots
    comments = [] if robots is None else list(robots.rules_for(user_agent).comments)
    if form == "text":
        _print_text(outcome, comments, began)
    elif form == "json":
        print(dumped(of_outcome(outcome) | {"comments": comments}))
    else:
        _print_file(outcome)
    sys.exit(_EXIT[outcome.reason])


def _print_text(outcome: Outcome, comments: list[str], began: datetime) -> None:
    """Print hops, headers, what they mean, and the file."""
    rows = []
    for hop in outcome.hops:
        came = str(hop.status) if hop.status is not None else "none"
        rows.append([Text(came), Text(_screen.shortened(hop.url)), Text(f"{hop.seconds:.2f} s")])
        rows += [
            [Text(""), Text(f"{name}: {_screen.shortened(value)}", "dim"), Text("")]
            for name, value in hop.headers
        ]
        if hop.why and hop.why != outcome.why:
            rows.append([Text(""), Text(_screen.printable(hop.why), "yellow"), Text("")])
    _screen.print_table(["Status", "Request", "Took"], rows)
    print()
    facts = _facts(outcome, began)
    facts += [("Comment", _screen.printable(comment)) for comment in comments]
    _screen.print_table(["", ""], [[Text(name, "bold"), Text(text)] for name, text in facts])
    if outcome.robots is not None:
        print()
        print(_screen.printable_lines(text_of(outcome.robots.body)), end="")


def _facts(outcome: Outcome, began: datetime) -> list[tuple[str, str]]:
    """Return what there is to say, as names and texts; the command began at a moment."""
    said = _SAID[outcome.reason]
    if outcome.is_stale:
        said = "an old copy of the file holds on"
    facts = [("Site", outcome.origin), ("Outcome", said)]
    if outcome.why:
        facts.append(("Why", _screen.shortened(outcome.why)))
    if outcome.robots is not None:
        size, groups = len(outcome.robots.body), len(outcome.robots.groups)
        counted = f"{size:,} bytes, {groups:,} group{'s' * (groups != 1)}"
        facts.append(("File", f"{counted}, read as {outcome.dialect}"))
        if outcome.is_cut:
            facts.append(("Note", "the file is longer: robots read its first 500 KiB alone"))
        if outcome.charset:
            charset = _screen.shortened(outcome.charset)
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


def _print_file(outcome: Outcome) -> None:
    """Print only the file."""
    if outcome.robots is None:
        _screen.complain(f"{outcome.origin}: {_SAID[outcome.reason]} ({outcome.why})")
        return
    _screen.print_file(outcome.robots.body)
