"""Run the conformance suite against any robots.txt parser.

A *subject* is a program that answers questions about robots.txt files as JSON lines; the suite's
README defines the protocol. `load` reads the cases, `run` asks a subject about them and returns a
`Report`. `koster.conformance.subject` is koster itself as a subject.
"""

from __future__ import annotations

from ._results import Report, Result, Verdict
from ._run import run
from ._subject import SubjectError
from ._suite import (
    LEVELS,
    Answer,
    AnyCase,
    Case,
    DecisionCase,
    Question,
    ServerCase,
    Step,
    Suite,
    SuiteError,
    folder,
    load,
)

__all__ = [
    "LEVELS",
    "Answer",
    "AnyCase",
    "Case",
    "DecisionCase",
    "Question",
    "Report",
    "Result",
    "ServerCase",
    "Step",
    "SubjectError",
    "Suite",
    "SuiteError",
    "Verdict",
    "folder",
    "load",
    "run",
]
