"""``koster test``: unit tests for a robots.txt."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import rich_click as click
from rich.text import Text

from .. import expectations
from .._json import dumped
from ..errors import UnreadableError
from ..robots import parse
from . import _files, _inputs, _screen, _sites

if TYPE_CHECKING:
    from ..expectations import Expectations, Result
    from ..robots import RobotsTxt

#: XML 1.0 §2.2: what it cannot say.
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@click.command(options_metavar="[OPTIONS]")
@click.argument("files", nargs=-1, metavar="EXPECTATIONS...")
@click.option(
    "--robots",
    metavar="FILE",
    help="The robots.txt to test, in place of what the expectations name: a file, - for standard "
    "input, or the address of a site.",
)
@click.option(
    "--format",
    "-f",
    "form",
    type=click.Choice(["text", "json", "junit"]),
    default="text",
    show_default=True,
    help="How to print the results; junit is XML for a CI server.",
)
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
    found: list[tuple[str, list[Result]]] = []
    troubles: list[tuple[str, str]] = []
    is_wrong = False
    for path in files:
        try:
            found.append((path, _results(path, robots, settings)))
        except (expectations.ExpectationsError, UnreadableError) as error:
            is_misuse = isinstance(error, expectations.ExpectationsError)
            why = f"{_files.shown_name(path)}: {error}" if is_misuse else str(error)
            _screen.complain(why)
            troubles.append((path, why))
            is_wrong = is_wrong or is_misuse
    if form == "json":
        records = [_record(path, each) for path, some in found for each in some]
        records += [_trouble(path, why) for path, why in troubles]
        print(dumped(records))
    elif form == "junit":
        print(_junit(found, troubles))
    elif found:
        _print_text(found)
    if troubles:
        sys.exit(2 if is_wrong else 3)
    sys.exit(0 if all(each.passed for _, some in found for each in some) else 1)


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


def _record(path: str, result: Result) -> dict[str, object]:
    return {
        "file": _files.shown_name(path),
        "name": result.name,
        "passed": result.passed,
        "why": result.why or None,
        "line": result.line,
    }


def _trouble(path: str, why: str) -> dict[str, object]:
    """Return the record of expectations that could not be held against anything."""
    name = "can be read"
    return {
        "file": _files.shown_name(path),
        "name": name,
        "passed": False,
        "why": why,
        "line": None,
    }


def _junit(found: list[tuple[str, list[Result]]], troubles: list[tuple[str, str]]) -> str:
    """Return JUnit's XML: a suite for each file, a case for each expectation."""
    suites = ET.Element("testsuites", name="koster")
    for path, results in found:
        failed = sum(not each.passed for each in results)
        suite = ET.SubElement(
            suites,
            "testsuite",
            name=_plain(_files.shown_name(path)),
            tests=str(len(results)),
            failures=str(failed),
            errors="0",
        )
        for each in results:
            case = ET.SubElement(suite, "testcase", classname=_plain(path), name=_plain(each.name))
            if not each.passed:
                ET.SubElement(case, "failure", message=_plain(each.why))
    for path, why in troubles:
        name = _plain(_files.shown_name(path))
        counts = {"tests": "1", "failures": "0", "errors": "1"}
        suite = ET.SubElement(suites, "testsuite", {"name": name, **counts})
        case = ET.SubElement(suite, "testcase", classname=_plain(path), name="can be read")
        ET.SubElement(case, "error", message=_plain(why))
    ET.indent(suites)
    xml = ET.tostring(suites, "unicode")
    # XML allows characters that a terminal may obey: they become references.
    safe = (each if each.isprintable() or each == "\n" else f"&#{ord(each)};" for each in xml)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + "".join(safe)


def _plain(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)


def _print_text(found: list[tuple[str, list[Result]]]) -> None:
    """Print what failed, and how many there were."""
    for path, results in found:
        failed = [each for each in results if not each.passed]
        for each in failed:
            place = Text(f"{_files.shown_name(path)}: ", "bold")
            verdict = Text("failed", "bold red")
            why = f": {_screen.printable(each.name)}, but {_screen.printable(each.why)}"
            _screen.print_lines(Text.assemble(place, verdict, why))
    results = [each for _, some in found for each in some]
    failures = sum(not each.passed for each in results)
    counted = f"{len(results) - failures} as expected, {failures} not"
    _screen.print_lines(Text(counted, "bold red" if failures else "green"))
