"""Ask a subject about cases."""

from __future__ import annotations

import base64
import itertools
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Self

from ._results import CaseResult, CaseVerdict, SuiteReport
from ._servers import SuiteServers
from ._subject import Subject, SubjectError
from ._suite import AnyCase, DecisionCase, ServerCase, UrlDecision

#: How long an answer may take, in seconds, unless the budget of a case is longer.
TIMEOUT = 10.0
#: After this many cases in a row without an answer, the others are not asked.
_GIVE_UP = 10


def run(
    cases: Iterable[AnyCase],
    command: Sequence[str],
    *,
    timeout: float = TIMEOUT,
    on_result: Callable[[CaseResult], None] = lambda _: None,
) -> SuiteReport:
    """Ask a subject about cases.

    A subject that hangs, ends or breaks the protocol fails the case, and is started again.

    Args:
        cases: What to ask.
        command: The program that is the subject, and its arguments.
        timeout: How long an answer may take, in seconds, unless the budget of a case is longer.
        on_result: Called after each case.

    Raises:
        SubjectError: the subject cannot be started.
    """
    with _Runner(command, timeout) as runner:
        results = []
        for case in cases:
            results.append(runner.result(case))
            on_result(results[-1])
        about = runner.about
        return SuiteReport(about.name, about.version, about.dialects, tuple(results))


class _Runner:
    """Asks, starts the subject again when it failed, and gives up when it fails too often."""

    def __init__(self, command: Sequence[str], timeout: float) -> None:
        self._command = command
        self._timeout = timeout
        self._numbers = itertools.count(1)
        self._unanswered = 0
        self._subject: Subject | None = Subject(command)
        self.about = self._subject.about

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._subject is not None:
            if kind is None:
                self._subject.stop()
            else:
                self._subject.kill()

    def result(self, case: AnyCase) -> CaseResult:
        """Ask about a case."""
        if isinstance(case, DecisionCase) and case.dialect not in self.about.dialects:
            return CaseResult(
                case, CaseVerdict.SKIPPED, got=f"does not read the dialect {case.dialect}"
            )
        if isinstance(case, ServerCase) and "fetch" not in self.about.commands:
            return CaseResult(case, CaseVerdict.SKIPPED, got="does not fetch")
        if self._unanswered >= _GIVE_UP:
            why = f"not asked: {_GIVE_UP} cases in a row had no answer"
            return CaseResult(case, CaseVerdict.FAILED, _questions(case), why)
        began = time.monotonic()
        try:
            found = self._asked(case)
            self._unanswered = 0
        except SubjectError as error:
            self._unanswered += 1
            self._discard()
            found = CaseResult(case, CaseVerdict.FAILED, _questions(case), str(error))
        return replace(found, seconds=time.monotonic() - began)

    def _discard(self) -> None:
        if self._subject is not None:
            self._subject.kill()
            self._subject = None

    def _asked(self, case: AnyCase) -> CaseResult:
        """Return the result of a case.

        Raises:
            SubjectError: the subject has no valid answer.
        """
        if isinstance(case, DecisionCase):
            message = {
                "cmd": "decide",
                "dialect": case.dialect,
                "robots": base64.b64encode(case.robots).decode("ascii"),
                "agent": case.agent,
                "urls": [each.url for each in case.questions],
            }
            return self._result(case, message, case.questions)
        with SuiteServers() as sites:
            return self._at_sites(case, sites)

    def _at_sites(self, case: ServerCase, sites: SuiteServers) -> CaseResult:
        """Return the first result that is not good, or the last one."""
        result = CaseResult(case, CaseVerdict.PASSED)
        for step in case.steps:
            sites.change(step)
            questions = tuple(replace(each, url=sites.filled(each.url)) for each in step.questions)
            message = {
                "cmd": "fetch",
                "session": case.id,
                "at": round(step.hours * 3600),
                "agent": case.agent,
                "urls": [each.url for each in questions],
            }
            result = self._result(case, message, questions)
            if result.verdict is not CaseVerdict.PASSED:
                break
        return result

    def _result(
        self, case: AnyCase, message: dict[str, Any], questions: tuple[UrlDecision, ...]
    ) -> CaseResult:
        if self._subject is None:
            self._subject = Subject(self._command)
        number = next(self._numbers)
        limit = max(self._timeout, case.budget or 0)
        began = time.monotonic()
        answer = self._subject.ask({**message, "id": number}, limit)
        seconds = time.monotonic() - began
        if answer.get("id") != number:
            raise SubjectError(f"an answer to question {answer.get('id')!r}, not {number}")
        if isinstance(answer.get("skipped"), str):
            return CaseResult(case, CaseVerdict.SKIPPED, got=answer["skipped"])
        if isinstance(answer.get("error"), str):
            return CaseResult(case, CaseVerdict.FAILED, questions, f"error: {answer['error']}")
        wrong = _wrong(answer, questions)
        if wrong is not None:
            return CaseResult(case, CaseVerdict.FAILED, *wrong)
        if case.budget is not None and seconds > case.budget:
            took = f"took {seconds:.1f} s; the budget is {case.budget:g} s"
            return CaseResult(case, CaseVerdict.FAILED, questions, took)
        return CaseResult(case, CaseVerdict.PASSED)


def _questions(case: AnyCase) -> tuple[UrlDecision, ...]:
    if isinstance(case, DecisionCase):
        return case.questions
    return tuple(each for step in case.steps for each in step.questions)


def _wrong(
    answer: dict[str, Any], questions: tuple[UrlDecision, ...]
) -> tuple[tuple[UrlDecision, ...], tuple[UrlDecision, ...]] | None:
    """Return the questions that were answered wrongly, and the answers to them.

    Raises:
        SubjectError: the answer is not one for each question.
    """
    allowed: Any = answer.get("allowed")
    lines: Any = answer.get("lines", [None] * len(questions))
    if not _are(allowed, bool, len(questions)) or not _are(lines, int | None, len(questions)):
        raise SubjectError("an answer without one verdict, or line, for each URL")
    got = [
        replace(question, allowed=verdict, line=line if "lines" in answer else question.line)
        for question, verdict, line in zip(questions, allowed, lines, strict=True)
    ]
    wrong = [
        (question, each)
        for question, each in zip(questions, got, strict=True)
        if question.allowed != each.allowed or question.line not in (None, each.line)
    ]
    if not wrong:
        return None
    return tuple(question for question, _ in wrong), tuple(each for _, each in wrong)


def _are(values: object, kind: Any, count: int) -> bool:
    return (
        isinstance(values, list)
        and len(values) == count
        and all(isinstance(each, kind) for each in values)
    )
