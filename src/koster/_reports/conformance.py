"""The results of ``koster conformance`` as text and JSON, and its cases; see `junit` for XML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .._wording import count_noun
from ..conformance import (
    LEVELS,
    Case,
    CaseResult,
    CaseVerdict,
    DecisionCase,
    ServerCase,
    ServerResponse,
    Step,
    SuiteReport,
    UrlDecision,
)
from ..model import text_of
from . import screen
from .json import to_json
from .plain import printable, printable_lines
from .text import Text

#: How many failures the text has; the other formats have all.
_SHOWN = 20
#: How many bytes of a file are shown.
_SHOWN_BYTES = 4096


@dataclass(frozen=True, slots=True)
class ShownCase:
    """A case, and the sentences of RFC 9309 by name."""

    case: Case
    sentences: Mapping[str, str]


def print_text(report: SuiteReport) -> None:
    """Print how many cases of each level passed, and the first failures."""
    dialects = ", ".join(report.dialects)
    screen.print_lines(
        Text(printable(f"{report.subject} {report.version} ({dialects})"), "bold"), Text("")
    )
    counts = Counter((each.case.level, each.verdict) for each in report.results)
    asked = (CaseVerdict.PASSED, CaseVerdict.FAILED)
    levels = [level for level in LEVELS if any(counts[level, each] for each in asked)]
    screen.print_table(
        ["Level", "Passed", "Failed", "Skipped"],
        [
            [Text(level), *(Text(f"{counts[level, each]:,}") for each in CaseVerdict)]
            for level in levels
        ],
    )
    screen.print_lines(Text(""))
    _print_failures(report)
    _print_skipped(report)


def _print_failures(report: SuiteReport) -> None:
    failures = sorted(report.failures, key=lambda each: LEVELS.index(each.case.level))
    if not failures:
        passed = report.count(CaseVerdict.PASSED)
        if not passed:
            return  # All were skipped.
        screen.print_lines(Text(f"{_cases(passed)} passed, none failed", "green"))
        return
    for failure in failures[:_SHOWN]:
        case = failure.case
        screen.print_lines(
            Text.assemble((f"{case.level:<10} ", "bold red"), printable(case.id)),
            Text(f"  {printable(case.title)} ({printable(case.source)})"),
            *(Text(f"  {line}") for line in _differences(failure)),
        )
    is_cut = len(failures) > _SHOWN
    more = f"; the first {_SHOWN} are above, --format json has all" if is_cut else ""
    screen.print_lines(
        Text(""),
        Text(f"{_cases(len(failures))} failed{more}", "bold red"),
        Text(f"koster conformance show {printable(failures[0].case.id)} shows a case"),
    )


def _cases(count: int) -> str:
    return count_noun(count, "case")


def _print_skipped(report: SuiteReport) -> None:
    reasons = Counter(
        str(each.got) for each in report.results if each.verdict is CaseVerdict.SKIPPED
    )
    for reason, count in reasons.most_common(3):
        screen.print_lines(Text(f"{_cases(count)} skipped: {printable(reason)}"))


def _differences(failure: CaseResult) -> Iterator[str]:
    """Yield what was wrong, a line for each question."""
    if isinstance(failure.got, str):
        yield printable(failure.got)
        return
    for question, answer in zip(failure.expected, failure.got, strict=True):
        expected, got = _word(question), _word(answer)
        if question.allowed == answer.allowed:
            expected, got = f"by line {question.line}", f"by line {answer.line}"
        yield f"{printable(question.url)}: expected {expected}, got {got}"


def _word(question: UrlDecision) -> str:
    return "allowed" if question.allowed else "blocked"


def print_json(report: SuiteReport) -> None:
    """Print the counts and the failures."""
    print(
        to_json(
            {
                "subject": report.subject,
                "version": report.version,
                "cases": len(report.results),
                **{each.value: report.count(each) for each in CaseVerdict},
                "failures": [_failure(each) for each in report.failures],
            }
        )
    )


def _failure(failure: CaseResult) -> dict[str, Any]:
    case = failure.case
    return {
        "id": case.id,
        "level": case.level,
        "title": case.title,
        "source": case.source,
        "expected": [_question(each) for each in failure.expected],
        "got": failure.got
        if isinstance(failure.got, str)
        else [_question(each) for each in failure.got],
    }


def _question(question: UrlDecision) -> dict[str, Any]:
    line = {} if question.line is None else {"line": question.line}
    return {"url": question.url, "allowed": question.allowed, **line}


def failure_text(failure: CaseResult) -> str:
    """Return what was wrong, for JUnit's XML."""
    return "; ".join(_differences(failure))


def print_case(shown: ShownCase) -> None:
    """Print a case: what it tests, the file or the servers, and the questions."""
    case = shown.case
    screen.print_lines(
        Text(f"{printable(case.id)}: {printable(case.title)}", "bold"),
        Text(f"Level: {case.level}"),
        Text(f"Source: {printable(case.source)}"),
        *(Text(f"  {printable(shown.sentences[each])}") for each in case.sentences),
        Text(f"Crawler: {printable(case.agent)}"),
        *([Text(f"Time: at most {case.budget:g} s")] if case.budget else []),
    )
    if isinstance(case, DecisionCase):
        screen.print_lines(Text(f"Dialect: {case.dialect}"), Text(""))
        _print_body(case.robots, "robots.txt")
        _print_questions(case.questions)
    elif isinstance(case, ServerCase):
        for step in case.steps:
            _print_step(step)


def _print_step(step: Step) -> None:
    screen.print_lines(Text(""), Text(f"After {step.hours:g} hours", "bold"))
    for site, pages in step.answers.items():
        for path, answer in pages.items():
            _print_answer(f"{{{site}}}{path}", answer)
    _print_questions(step.questions)


def _print_answer(url: str, answer: ServerResponse) -> None:
    how = f"fault {answer.fault}" if answer.fault else f"status {answer.status}"
    headers = {**answer.headers, **({"ETag": answer.etag} if answer.etag else {})}
    screen.print_lines(
        Text(f"{printable(url)}: {how}"),
        *(Text(f"  {name}: {printable(value)}") for name, value in headers.items()),
    )
    if answer.written:
        _print_body(answer.body, "body")


def _print_body(body: bytes, what: str) -> None:
    screen.print_lines(Text(f"{what} ({count_noun(len(body), 'byte')}):", "bold"))
    for number, line in enumerate(printable_lines(text_of(body[:_SHOWN_BYTES])).splitlines(), 1):
        screen.print_lines(Text(f"{number:4} {line}"))
    if len(body) > _SHOWN_BYTES:
        screen.print_lines(Text("     …"))


def _print_questions(questions: tuple[UrlDecision, ...]) -> None:
    screen.print_lines(Text(""))
    for each in questions:
        line = "" if each.line is None else f" by line {each.line}"
        screen.print_lines(Text(f"{_word(each)}{line}: {printable(each.url)}"))
