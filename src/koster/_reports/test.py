"""The results of ``koster test``, as text and JSON; see `junit` for XML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import screen
from .json import to_json
from .plain import printable
from .text import Text

if TYPE_CHECKING:
    from ..expectations import Result


@dataclass(frozen=True, slots=True)
class FileResults:
    """The results of a file of expectations; ``name`` is its path for output.

    ``robots`` is the path of the robots.txt that was tested.
    """

    path: str
    name: str
    results: list[Result]
    robots: str = ""


@dataclass(frozen=True, slots=True)
class UncheckedFile:
    """A file whose expectations could not be checked, and why."""

    path: str
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Results:
    """The results of some files, and the files that could not be checked."""

    files: list[FileResults]
    failures: list[UncheckedFile]

    @property
    def passed(self) -> bool:
        """Whether all checked expectations hold."""
        return all(each.passed for file in self.files for each in file.results)

    @property
    def counts(self) -> str:
        """How many expectations hold, as a sentence."""
        everything = [each for file in self.files for each in file.results]
        failures = sum(not each.passed for each in everything)
        return f"{len(everything) - failures:,} as expected, {failures:,} not"


def print_json(results: Results) -> None:
    """Print an array with an object for each expectation."""
    records: list[dict[str, object]] = [
        {
            "file": file.name,
            "name": each.name,
            "passed": each.passed,
            "why": each.why or None,
            "line": each.line,
        }
        for file in results.files
        for each in file.results
    ]
    records += [
        {"file": each.name, "name": "can be read", "passed": False, "why": each.why, "line": None}
        for each in results.failures
    ]
    print(to_json(records))


def print_text(results: Results) -> None:
    """Print the failed expectations, and the counts."""
    if not results.files:
        return
    for file in results.files:
        for each in file.results:
            if not each.passed:
                place = Text(f"{file.name}: ", "bold")
                verdict = Text("failed", "bold red")
                why = f": {printable(each.name)}, but {printable(each.why)}"
                screen.print_lines(Text.assemble(place, verdict, why))
    screen.print_lines(Text(results.counts, "green" if results.passed else "bold red"))
