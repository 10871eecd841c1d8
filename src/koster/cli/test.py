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
    timeout: float,
    cache: str | None,
    user_agent: str,
) -> None:
    """Test a robots.txt: may those who should, and only those?

    EXPECTATIONS are files of TOML; what is in them is described in docs/testing.md.

    Example: koster test robots.expect.toml

    Exit codes: 0 all is as expected, 1 something is not, 2 wrong usage or wrong expectations, 3
    something could not be read.
    """
    if not files:
        raise click.UsageError("nothing to test: give a file of expectations")
    settings = _sites.Settings(timeout, cache, user_agent)
    tested: list[FileResults] = []
    failures: list[Failure] = []
    is_wrong = False
    for path in files:
        name = _files.shown_name(path)
        try:
            tested.append(FileResults(path, name, _results(path, robots, settings)))
        except (expectations.ExpectationsError, UnreadableError) as error:
            is_misuse = isinstance(error, expectations.ExpectationsError)
            why = f"{name}: {error}" if is_misuse else str(error)
            screen.complain(why)
            failures.append(Failure(path, name, why))
            is_wrong = is_wrong or is_misuse
    results = Results(tested, failures)
    render(results, form)
    if failures:
        sys.exit(2 if is_wrong else 3)
    sys.exit(0 if results.passed else 1)


def _results(path: str, robots: str | None, settings: _sites.Settings) -> list[Result]:
    """Return how the expectations of a file turn out.

    Raises:
        ExpectationsError: it is no such file.
        UnreadableError: it, or a robots.txt that it names, cannot be read.
    """
    try:
        text = _files.read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise expectations.ExpectationsError("is not UTF-8") from error
    expected = expectations.read(text)
    name = robots if robots is not None else _beside(path, expected.robots)
    if name is None:
        raise expectations.ExpectationsError("names no robots.txt: write robots = … or --robots")
    other = _beside(path, expected.same_as)
    same_as = None if other is None else _parsed(other, expected, settings)
    return expectations.check(expected, _parsed(name, expected, settings), same_as)


def _beside(path: str, name: str | None) -> str | None:
    """Return a path in a file, which is relative to that file."""
    if name is None or _inputs.is_site(name) or path == _files.STDIN:
        return name
    return os.path.join(os.path.dirname(path), name)


def _parsed(path: str, expected: Expectations, settings: _sites.Settings) -> RobotsTxt:
    """Return a robots.txt.

    Raises:
        UnreadableError: it cannot be read.
    """
    given = _inputs.read_one(path, settings, expected.dialect)
    _inputs.warn_of_no_text(given)
    return parse(given.body, expected.dialect)
