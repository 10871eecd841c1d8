"""``koster test``: unit tests for a robots.txt."""

from __future__ import annotations

import os
import sys

import rich_click as click

from ... import expectations
from ..._reports import screen
from ..._reports.registry import render
from ..._reports.screen import Text
from ..._reports.test import FileResults, Results, UncheckedFile
from ...errors import UnreadableError
from ...expectations import Expectations, Result
from ...robots import RobotsTxt
from .. import fetch_options, file_access, reading, writing
from ..help import INPUT, OUTPUT, command
from ..names import problem_with, warn_of_ignoring
from ..stopping import stoppable
from ..types import FileType, format_option

_DEFAULT = "robots.expect.toml"


@command(
    "test",
    "0 all is as expected, 1 something is not, 2 wrong usage or invalid expectations, "
    "3 something could not be read",
)
@click.argument("files", nargs=-1, type=FileType(), metavar="EXPECTATIONS...")
@click.option(
    "--robots",
    type=FileType(),
    metavar="FILE",
    panel=INPUT,
    help="The robots.txt to test: a file, the address of a site, or -. Default: the one that the "
    "expectations name.",
)
@click.option(
    "--init",
    is_flag=True,
    panel=OUTPUT,
    help="Write EXPECTATIONS from what the robots.txt does now.",
)
@click.option("--force", is_flag=True, panel=INPUT, help="Accept unknown names of crawlers.")
@format_option(Results, "Format")
@fetch_options.fetching_options
@stoppable
def test(
    files: tuple[str, ...],
    robots: str | None,
    init: bool,
    force: bool,
    form: str,
    settings: fetch_options.FetchOptions,
) -> None:
    """Check a robots.txt against expected access.

    EXPECTATIONS are TOML files. Default: robots.expect.toml.
    """
    if init:
        _init(files or (_DEFAULT,), robots or "robots.txt", settings)
        return
    files = files or _usual_file()
    tested: list[FileResults] = []
    failures: list[UncheckedFile] = []
    has_invalid = False
    for path in files:
        name = file_access.shown_name(path)
        try:
            found, tested_path = _results(path, robots, settings, force=force)
            tested.append(FileResults(path, name, found, tested_path))
        except (expectations.ExpectationsError, UnreadableError) as error:
            is_invalid = isinstance(error, expectations.ExpectationsError)
            why = f"{name}: {error}" if is_invalid else str(error)
            if isinstance(error, UnreadableError):
                reading.complain(error)
            else:
                screen.complain(why)
            failures.append(UncheckedFile(path, name, why))
            has_invalid = has_invalid or is_invalid
    results = Results(tested, failures)
    render(results, form)
    if failures:
        sys.exit(2 if has_invalid else 3)
    sys.exit(0 if results.passed else 1)


def _usual_file() -> tuple[str]:
    """Return the usual name of expectations.

    Raises:
        click.UsageError: there is no such file.
    """
    if not os.path.isfile(_DEFAULT):
        raise click.UsageError(
            f"no {_DEFAULT} here: name a file of expectations, or write one with --init"
        )
    return (_DEFAULT,)


def _init(files: tuple[str, ...], robots: str, settings: fetch_options.FetchOptions) -> None:
    """Write an expectations file; exit with an error if it exists, or the robots.txt is missing.

    Raises:
        click.UsageError: several files are named.
    """
    if len(files) > 1 or files[0] == file_access.STDIN:
        raise click.UsageError("--init writes one file: name it, such as robots.expect.toml")
    (path,) = files
    name = file_access.shown_name(path)
    if os.path.exists(path):
        screen.complain(f"{name}: exists; --init does not overwrite it")
        sys.exit(3)
    try:
        file = reading.read_one(robots, settings)
        reading.warn_if_unreadable(file)
        is_file = not reading.is_site(robots) and robots != file_access.STDIN
        folder = os.path.dirname(os.path.abspath(path))
        shown = os.path.relpath(robots, folder).replace(os.sep, "/") if is_file else robots
        writing.replace(path, expectations.written(file.robots(), shown).encode())
    except UnreadableError as error:
        reading.complain(error)
        sys.exit(3)
    screen.print_lines(Text(f"{name}: written; koster test {name} checks it"))


def _results(
    path: str, robots: str | None, settings: fetch_options.FetchOptions, *, force: bool
) -> tuple[list[Result], str]:
    """Return the results of the expectations in a file, and the path of the tested robots.txt.

    Raises:
        ExpectationsError: the file is invalid, or names an unknown crawler without ``force``.
        UnreadableError: it, or a robots.txt that it names, cannot be read.
    """
    try:
        text = file_access.read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise expectations.ExpectationsError("is not UTF-8") from error
    expected = expectations.read(text)
    for agent in dict.fromkeys(question.agent for question in expected.questions):
        problem = None if force else problem_with(agent)
        if problem is not None:
            raise expectations.ExpectationsError(f"{problem} --force accepts it")
    name = robots if robots is not None else _relative_to(path, expected.robots)
    if name is None:
        raise expectations.ExpectationsError("names no robots.txt: add robots = … or use --robots")
    other = _relative_to(path, expected.same_as)
    same_as = None if other is None else _parse(other, expected, settings)
    tested = _parse(name, expected, settings)
    warn_of_ignoring((each.agent for each in expected.questions if not each.allowed), [tested])
    return expectations.check(expected, tested, same_as), name


def _relative_to(path: str, name: str | None) -> str | None:
    """Return a path from an expectations file, which is relative to that file."""
    if name is None or reading.is_site(name) or path == file_access.STDIN:
        return name
    return os.path.join(os.path.dirname(path), name)


def _parse(path: str, expected: Expectations, settings: fetch_options.FetchOptions) -> RobotsTxt:
    """Read and parse a robots.txt.

    Raises:
        UnreadableError: it cannot be read.
    """
    file = reading.read_one(path, settings, expected.dialect)
    reading.warn_if_unreadable(file)
    return file.robots(expected.dialect)
