"""Run the conformance suite against any robots.txt parser.

A *subject* is a program that answers questions about robots.txt files as JSON lines; the suite's
README defines the protocol. `load` reads the cases, `run` asks a subject about them and returns a
`SuiteReport`. `koster.conformance.subject` is koster itself as a subject.
"""

from __future__ import annotations

from ._results import CaseResult, CaseVerdict, SuiteReport
from ._run import run
from ._subject import SubjectError
from ._suite import (
    LEVELS,
    AnyCase,
    Case,
    DecisionCase,
    ServerCase,
    ServerResponse,
    Step,
    Suite,
    SuiteError,
    UrlDecision,
    folder,
    load,
)

__all__ = [
    "LEVELS",
    "AnyCase",
    "Case",
    "CaseResult",
    "CaseVerdict",
    "DecisionCase",
    "ServerCase",
    "ServerResponse",
    "Step",
    "SubjectError",
    "Suite",
    "SuiteError",
    "SuiteReport",
    "UrlDecision",
    "folder",
    "load",
    "run",
]
