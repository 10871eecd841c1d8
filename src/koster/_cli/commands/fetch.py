"""``koster fetch``: sites' robots.txt files, where they come from, and how long they are fresh."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

import rich_click as click

from ..._asking import rules_for_data
from ..._reports.fetch import FetchResults
from ..._reports.registry import render
from ...decisions import Reason
from ...dialects import Dialect
from ...errors import UrlError
from ...robots import RobotsTxt
from .. import fetch_options, fetching
from ..help import command
from ..stopping import stop, stoppable
from ..types import dialect_option, format_option

#: Exit codes by the reason why there is no file.
_EXIT = {None: 0, Reason.UNAVAILABLE: 1, Reason.FORBIDDEN: 1, Reason.UNREACHABLE: 3}


@command(
    "fetch",
    "0 there is a file, 1 there is no file, 2 wrong usage, 3 the fetch failed; "
    "of several sites, the highest",
)
@click.argument("sites", nargs=-1, required=True, metavar="SITE...")
@dialect_option("How to read HTTP statuses")
@format_option(FetchResults, "Format (file: only the robots.txt)")
@fetch_options.fetching_options
@stoppable
def fetch(
    sites: tuple[str, ...], dialect: Dialect, form: str, settings: fetch_options.FetchOptions
) -> None:
    """Fetch a robots.txt: show redirects, headers, freshness and the file.

    SITE is a host or any URL on a site. Of several sites, each is a row.
    """
    origins = [_origin(site) for site in sites]
    began = datetime.now(UTC)
    fetched = fetching.fetch_all(origins, (dialect,), settings)
    outcomes = [outcome for each in fetched if each is not None for outcome in each]
    comments = [
        [] if each.robots is None else list(_comments(each.robots, settings.user_agent))
        for each in outcomes
    ]
    if outcomes or form == "json":
        render(FetchResults(outcomes, comments, began, len(origins)), form)
    if len(outcomes) < len(origins):
        stop(len(outcomes), len(origins), "site")
    sys.exit(max(_EXIT[outcome.reason] for outcome in outcomes))


def _comments(robots: RobotsTxt, user_agent: str) -> tuple[str, ...]:
    return rules_for_data(robots, user_agent).comments


def _origin(site: str) -> str:
    """Return the origin of a site.

    Raises:
        click.UsageError: it is a file, or an invalid URL.
    """
    if site.startswith(("/", ".")):
        raise click.UsageError(f"{site} is a file, not a site; koster check --robots reads files")
    try:
        return fetching.origin_of(site if "://" in site else f"https://{site}")
    except UrlError as error:
        raise click.UsageError(str(error)) from error
