"""``koster audit``: who is allowed and who is blocked, by purpose."""

from __future__ import annotations

import sys
from datetime import date

import rich_click as click

from ... import audit as auditing
from ..._reports import screen
from ..._reports.audit import Audited
from ..._reports.registry import render
from ..._version import VERSION
from ...dialects import Dialect
from ...errors import MissingExtraError
from .. import fetch_options, reading
from ..collecting import collects_rarely
from ..help import OUTPUT, command
from ..stopping import stoppable
from ..types import FileType, dialect_option, format_option


@command("audit", "0 done, 2 wrong usage, 3 the file could not be read")
@click.argument("robots", type=FileType())
@dialect_option("How to read the file")
@click.option(
    "--site",
    metavar="NAME",
    panel=OUTPUT,
    help="The site's name, for the title. Default: the file's.",
)
@click.option(
    "--all",
    "has_all",
    is_flag=True,
    panel=OUTPUT,
    help="Also print a row for each crawler, with its line.",
)
@format_option(Audited, "Format (html: one page)")
@fetch_options.fetching_options
@stoppable
@collects_rarely
def audit(
    robots: str,
    site: str | None,
    has_all: bool,
    dialect: Dialect,
    form: str,
    settings: fetch_options.FetchOptions,
) -> None:
    """Show which crawlers are allowed and which are blocked, by purpose.

    ROBOTS is a robots.txt, the address of a site, or - for standard input.
    """
    inputs, errors = reading.read_all((robots,), settings, dialect)
    if errors:
        sys.exit(3)
    (source,) = inputs
    reading.warn_if_unreadable(source)
    try:
        result = auditing.audit(source.robots(dialect), unread=source.unread)
    except MissingExtraError as error:
        screen.complain(str(error))
        sys.exit(2)
    title = site or source.name
    provenance = f"{date.today()}, by koster {VERSION}, read as {dialect}"
    if title != source.name:
        provenance = f"{source.name}, {provenance}"
    render(Audited(result, title, provenance, dialect.name, has_all), form)
