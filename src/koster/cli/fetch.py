"""``koster fetch``: a site's robots.txt, where it comes from, and how long it is fresh."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import rich_click as click

from ..errors import UrlError
from ..model import Reason
from ..reports.fetch import Fetched
from ..reports.registry import render
from ..robots import rules_for_data
from . import _sites
from ._types import dialect_option, format_option

if TYPE_CHECKING:
    from ..dialects import Dialect

#: Exit codes by the reason why there is no file.
_EXIT = {None: 0, Reason.UNAVAILABLE: 1, Reason.FORBIDDEN: 1, Reason.UNREACHABLE: 3}


@click.command(options_metavar="[OPTIONS]")
@click.argument("site")
@dialect_option("How to read statuses")
@format_option(Fetched, "How to print it; file: the robots.txt alone, as UTF-8.")
@_sites.fetching_options
@_sites.stoppable
def fetch(site: str, dialect: Dialect, form: str, settings: _sites.Settings) -> None:
    """Fetch a site's robots.txt; show each hop, the headers that matter, freshness and the file.

    Comment lines for the user agent are shown, too.

    SITE is any URL on it, or its name, for which https is used.

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
    ((outcome,),) = _sites.fetch_all([origin], (dialect,), settings)
    robots = outcome.robots
    comments = [] if robots is None else list(rules_for_data(robots, settings.user_agent).comments)
    render(Fetched(outcome, comments, began), form)
    sys.exit(_EXIT[outcome.reason])
