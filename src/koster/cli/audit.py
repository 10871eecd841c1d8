"""``koster audit``: what a robots.txt allows the known crawlers, by purpose."""

from __future__ import annotations

import sys
from datetime import date
from typing import TYPE_CHECKING

import rich_click as click

from .. import audit as auditing
from .._version import VERSION
from ..errors import MissingExtraError
from ..reports import screen
from ..reports.audit import Audited
from ..reports.registry import render
from ..robots import parse
from . import _inputs, _sites
from ._types import dialect_option, format_option

if TYPE_CHECKING:
    from ..dialects import Dialect


@click.command(options_metavar="[OPTIONS]")
@click.argument("robots")
@click.option("--site", metavar="NAME", help="The site's name, for the title; default: the file's.")
@click.option("--all", "has_all", is_flag=True, help="Print a row for each crawler in text, too.")
@dialect_option("How to read the file")
@format_option(Audited, "How to print it; html is one page with a picture, for a report.")
@_sites.fetching_options
@_sites.stoppable
def audit(
    robots: str,
    site: str | None,
    has_all: bool,
    dialect: Dialect,
    form: str,
    settings: _sites.Settings,
) -> None:
    """Show what known crawlers may fetch: search engines, assistants, training crawlers and more.

    ROBOTS is a robots.txt, - for standard input, or the address of a site.

    Example: koster audit --format html --site Example robots.txt > audit.html

    Exit codes: 0 done, 2 wrong usage, 3 the file could not be read.
    """
    inputs, errors = _inputs.read_all((robots,), settings, dialect)
    if errors:
        sys.exit(3)
    (source,) = inputs
    _inputs.warn_if_unreadable(source)
    try:
        result = auditing.audit(parse(source.body, dialect))
    except MissingExtraError as error:
        screen.complain(str(error))
        sys.exit(2)
    title = site or source.name
    provenance = f"{date.today()}, by koster {VERSION}, read as {dialect}"
    if title != source.name:
        provenance = f"{source.name}, {provenance}"
    render(Audited(result, title, provenance, dialect.name, has_all), form)
