"""Compute all answers, and show which changed since they were recorded.

python -m tools.ledger           shows what changed; the exit code is 1 if something did
python -m tools.ledger --accept  records it; changed decisions need a line in the change log
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import koster
from tools.suite.source import ROOT

from . import history, inputs, store
from .comparing import Differences, compared, shown
from .history import HEADING, Accepted
from .parts import PARTS
from .running import all_answers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from .entries import Entry, Part, Place

FOLDER = ROOT / "tests" / "decisions"
CHANGELOG = ROOT / "CHANGELOG.md"

_MISSING = (
    "Skipped: the real files are missing, so {count:,} entries were not computed; set "
    "KOSTER_CONFORMANCE to their folder"
)
_NO_LINE = (
    f'Not accepted: decisions changed, and CHANGELOG.md has no new line under "### {HEADING}". '
    "Write one that says what changed, and for whom."
)


@dataclass
class Ledger:
    """The recorded answers in a folder, compared with others."""

    folder: Path
    changelog: Path
    parts: tuple[Part, ...]
    found: Mapping[str, dict[Place, Entry]]

    def __post_init__(self) -> None:
        self.recorded = {part.name: store.read(self.folder, part) for part in self.parts}
        self.differences = {
            part.name: compared(self.recorded[part.name], self.found[part.name], self._is_skipped)
            for part in self.parts
        }

    @property
    def history(self) -> Path:
        return self.folder / "history.toml"

    def _is_skipped(self, place: Place) -> bool:
        return inputs.folder() is None and inputs.is_real(place.file)

    def differences_of(self, *, decisions: bool) -> list[Differences]:
        """Return the differences of decisions, or of all other answers."""
        return [
            self.differences[part.name] for part in self.parts if part.are_decisions == decisions
        ]

    @property
    def is_empty(self) -> bool:
        return all(each.is_empty for each in self.differences.values())

    @property
    def skipped(self) -> int:
        return sum(len(each.skipped) for each in self.differences.values())

    def report(self) -> Iterable[str]:
        """Yield lines: decisions, then all other answers, then what was skipped."""
        yield from _section("Decisions", self.differences_of(decisions=True))
        yield from _section("Other answers", self.differences_of(decisions=False))
        if self.skipped:
            yield _MISSING.format(count=self.skipped)

    def errors(self) -> list[str]:
        """Return what is wrong with the accepted changes of the recorded decisions."""
        digest = digest_of_decisions(self.folder, self.parts)
        return list(
            history.errors(self.changelog.read_text("utf-8"), history.read(self.history), digest)
        )

    def accept(self) -> str | None:
        """Record the answers; return the reason if they are not accepted."""
        if self.skipped:
            return "Not accepted: the real files are missing, so their answers cannot be recorded."
        changed = sum(len(each.changes) for each in self.differences_of(decisions=True))
        accepted = history.read(self.history)
        lines = history.uncited(self.changelog.read_text("utf-8"), accepted)
        if changed and not lines:
            return _NO_LINE
        before = accepted[-1].after if accepted else ""
        for part in self.parts:
            store.write(self.folder, part, self.found[part.name].values())
        after = digest_of_decisions(self.folder, self.parts)
        if before != after or lines:
            accepted.append(Accepted(before, after, changed, tuple(lines)))
            history.write(self.history, accepted)
        return None


def digest_of_decisions(folder: Path, parts: Iterable[Part]) -> str:
    """Return one digest for all recorded decisions in a folder."""
    recorded: dict[Place, store.Recorded] = {}
    for part in parts:
        if part.are_decisions:
            recorded |= store.read(folder, part)
    return store.digest_of_all(recorded)


def _section(title: str, differences: list[Differences]) -> Iterable[str]:
    changed = sum(len(each.changes) for each in differences)
    same = sum(each.same for each in differences)
    yield f"{title}: {changed:,} answers changed; {same:,} entries are as recorded"
    yield from (f"  {line}" for line in shown(differences))


def run(ledger: Ledger, *, accepts: bool) -> int:
    """Show what changed, and record it if asked to; return the exit code."""
    for line in ledger.report():
        print(line)
    if accepts:
        refusal = ledger.accept()
        print(refusal or "Recorded.")
        return 1 if refusal else 0
    errors = ledger.errors()
    for error in errors:
        print(f"{ledger.history.name}: {error}")
    if not ledger.is_empty:
        print("If this is intended: make ledger ACCEPT=1")
    return 0 if ledger.is_empty and not errors else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accept", action="store_true", help="record the answers")
    options = parser.parse_args()
    print(f"koster {koster.__version__}, {'compiled' if koster.COMPILED else 'plain Python'}")
    return run(Ledger(FOLDER, CHANGELOG, PARTS, all_answers()), accepts=options.accept)


if __name__ == "__main__":
    sys.exit(main())
