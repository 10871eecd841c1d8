"""``koster test``: unit tests for a robots.txt."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import rich_click as click

from .. import expectations
from ..errors import UnreadableError
from ..reports import screen
from ..reports.registry import render
from ..reports.test import Failure, FileResults, Results
from ..robots import parse
from . import _files, _inputs, _sites
from ._types import format_option

if TYPE_CHECKING:
    from ..expectations import Expectations, Result
    from ..robots import RobotsTxt


@click.command(options_metavar="[OPTIONS]")
@click.argument("files", nargs=-1, metavar="EXPECTATIONS...")
@click.option(
    "--robots",
    metavar="FILE",
    help="The robots.txt to test, in place of what the expectations name: a file, - for standard "
    "input, or the address of a site.",
)
@format_option(Results, "How to print the results; junit is XML for a CI server.")
@_sites.fetching_options
@_sites.stoppable
def test(
    files: tuple[str, ...],
    robots: str | None,
    form: str,
    settings: _sites.Settings,
) -> None:
    """Check a robots.txt against expected access.

    EXPECTATIONS are TOML files; docs/testing.md describes them.

    Example: koster test robots.expect.toml

    Exit codes: 0 all is as expected, 1 something is not, 2 wrong usage or invalid expectations, 3
    something could not be read.
    """
    if not files:
        raise click.UsageError("no files given: name a file of expectations")
    tested: list[FileResults] = []
    failures: list[Failure] = []
    has_invalid = False
    for path in files:
        name = _files.shown_name(path)
        try:
            tested.append(FileResults(path, name, _results(path, robots, settings)))
        except (expectations.ExpectationsError, UnreadableError) as error:
            is_invalid = isinstance(error, expectations.ExpectationsError)
            why = f"{name}: {error}" if is_invalid else str(error)
            screen.complain(why)
            failures.append(Failure(path, name, why))
            has_invalid = has_invalid or is_invalid
    results = Results(tested, failures)
    render(results, form)
    if failures:
        sys.exit(2 if has_invalid else 3)
    sys.exit(0 if results.passed else 1)


def _results(path: str, robots: str | None, settings: _sites.Settings) -> list[Result]:
    """Return the results of the expectations in a file.

    Raises:
        ExpectationsError: the file is invalid.
        UnreadableError: it, or a robots.txt that it names, cannot be read.
    """
    try:
        text = _files.read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise expectations.ExpectationsError("is not UTF-8") from error
    expected = expectations.read(text)
    name = robots if robots is not None else _relative_to(path, expected.robots)
    if name is None:
        raise expectations.ExpectationsError("names no robots.txt: add robots = … or use --robots")
    other = _relative_to(path, expected.same_as)
    same_as = None if other is None else _parse(other, expected, settings)
    return expectations.check(expected, _parse(name, expected, settings), same_as)


def _relative_to(path: str, name: str | None) -> str | None:
    """Return a path from an expectations file, which is relative to that file."""
    if name is None or _inputs.is_site(name) or path == _files.STDIN:
        return name
    return os.path.join(os.path.dirname(path), name)


def _parse(path: str, expected: Expectations, settings: _sites.Settings) -> RobotsTxt:
    """Read and parse a robots.txt.

    Raises:
        UnreadableError: it cannot be read.
    """
    file = _inputs.read_one(path, settings, expected.dialect)
    _inputs.warn_if_unreadable(file)
    return parse(file.body, expected.dialect)
