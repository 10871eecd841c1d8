"""``koster diff``: what a change of a robots.txt allows and blocks, for whom, by which lines."""

from __future__ import annotations

import sys

import rich_click as click

from ..._reports.diff import Changes
from ..._reports.registry import render
from ...crawlers import known
from ...dialects import Dialect
from ...diff import compare
from ...errors import MissingExtraError
from .. import fetch_options, reading
from ..collecting import collects_rarely
from ..help import command
from ..stopping import stoppable
from ..types import FileType, dialect_option, format_option


@command(
    "diff",
    "0 no access changes (proved), 1 access changes, or may change, 2 wrong usage, "
    "3 a file could not be read",
)
@click.argument("old", type=FileType())
@click.argument("new", type=FileType())
@dialect_option("How to read both files")
@format_option(Changes, "Format (markdown: for a pull request)")
@fetch_options.fetching_options
@stoppable
@collects_rarely
def diff(
    old: str,
    new: str,
    dialect: Dialect,
    form: str,
    settings: fetch_options.FetchOptions,
) -> None:
    """Show what a change allows and blocks: for each crawler, by which lines.

    OLD and NEW are each a robots.txt, the address of a site, or - for standard input.
    """
    inputs, errors = reading.read_all((old, new), settings, dialect)
    if errors:
        sys.exit(3)
    before, after = (each.robots(dialect) for each in inputs)
    for each in inputs:
        reading.warn_if_unreadable(each)
    comparison = compare(before, after, _known_tokens())
    render(Changes(comparison, dialect, (inputs[0].name, inputs[1].name)), form)
    sys.exit(0 if comparison.decides_alike else 1)


def _known_tokens() -> list[str]:
    try:
        return [crawler.token for crawler in known()]
    except MissingExtraError:
        return []
