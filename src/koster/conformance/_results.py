"""What a run finds out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ._suite import AnyCase, UrlDecision


class CaseVerdict(Enum):
    """How a subject did on a case."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class CaseResult:
    """How a subject did on a case.

    Attributes:
        case: The case.
        verdict: Whether it passed.
        expected: The questions that were answered wrongly.
        got: The answers to them, or why there are none.
        seconds: How long the subject took.
    """

    case: AnyCase
    verdict: CaseVerdict
    expected: tuple[UrlDecision, ...] = ()
    got: tuple[UrlDecision, ...] | str = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class SuiteReport:
    """The results of a run.

    Attributes:
        subject: What the program calls itself.
        version: Its version.
        dialects: The dialects that it reads.
        results: How it did, case by case.
    """

    subject: str
    version: str
    dialects: tuple[str, ...]
    results: tuple[CaseResult, ...]

    def count(self, verdict: CaseVerdict) -> int:
        """Return the number of cases with a verdict."""
        return sum(each.verdict is verdict for each in self.results)

    @property
    def failures(self) -> tuple[CaseResult, ...]:
        """The results that are failures."""
        return tuple(each for each in self.results if each.verdict is CaseVerdict.FAILED)
