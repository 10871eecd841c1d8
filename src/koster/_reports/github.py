"""Results as GitHub's workflow commands, which become annotations of a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lint import Finding, Severity
from .plain import printable
from .records import sentence

if TYPE_CHECKING:
    from .lint import Findings
    from .test import Results

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def print_commands(found: Findings) -> None:
    """Print the commands."""
    commands = as_commands(found)
    if commands:
        print(commands)


def as_commands(found: Findings) -> str:
    """Return a command for each finding and for each file that could not be read."""
    lines = [f"::error title=koster::{_data(printable(each))}" for each in found.errors]
    lines += [_command(file.path, each) for file in found.files for each in found.shown(file)]
    return "\n".join(lines)


def print_failures(results: Results) -> None:
    """Print a command for each failed expectation, and the counts.

    A command is for the line of the robots.txt that decides, or its first one; for that of a site,
    the file of expectations.
    """
    for failure in results.failures:
        print(f"::error title=koster::{_data(printable(failure.why))}")
    for file in results.files:
        for each in file.results:
            if not each.passed:
                path = file.path if "://" in file.robots else file.robots or file.path
                place = f"file={_property(printable(path))},line={each.line or 1}"
                text = f"{each.name}, but {each.why}"
                print(f"::error {place},title=koster test::{_data(printable(text))}")
    if results.files:
        print(results.counts)


def _command(path: str, finding: Finding) -> str:
    """Return a command, with control characters escaped: GitHub has no escapes for them."""
    return (
        f"::{_COMMANDS[finding.severity]} file={_property(printable(path))},line={finding.line},"
        f"col={finding.column},endColumn={max(finding.end_column - 1, finding.column)},"
        f"title={_property(finding.code)}::{_data(sentence(finding))}"
    )


def _data(text: str) -> str:
    """Escape text as the data of a workflow command: these are the only escapes of GitHub."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Escape text as a property of a workflow command, which also ends at a colon or comma."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
