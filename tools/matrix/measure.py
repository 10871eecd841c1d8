"""What a parser does with the suite and with random files, and how fast it is."""

from __future__ import annotations

import base64
import random
import time
from typing import TYPE_CHECKING, Any

from koster import conformance
from koster.conformance import CaseVerdict, DecisionCase
from koster.conformance._subject import Subject, SubjectError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from koster.conformance import AnyCase, CaseResult

TIMEOUT = 10.0
#: Files of random bytes, and of random pieces of lines.
_HOSTILE = 200
_PIECES = (
    b"User-agent",
    b"Disallow",
    b"Allow",
    b":",
    b" ",
    b"*",
    b"$",
    b"/",
    b"%",
    b"\xff",
    b"\0",
    b"\r",
    b"\n",
    b"\r\n",
    b"#",
    b"\xef\xbb\xbf",
    b"a",
    b"FooBot",
    b"%C3",
    b"[",
    b"\\",
    b"http://[",
)
_URLS = ["https://example.com/", "https://example.com/a%zz?b=%C3", "https://example.com/*$"]
#: A usual file: 30 groups of 10 rules, and 50 URLs.
_FILE = (
    b"".join(
        b"User-agent: Bot-%s\n" % bytes([97 + group % 26])
        + b"".join(b"Disallow: /folder%d/page%d\n" % (group, rule) for rule in range(10))
        for group in range(30)
    )
    + b"User-agent: *\nDisallow: /private/\nDisallow: /*.pdf$\nAllow: /private/press/\n"
)
_PAGES = [f"https://example.com/folder{number}/page{number}.html" for number in range(50)]
_ROUNDS = 15


def measured(command: Sequence[str], cases: Sequence[AnyCase]) -> dict[str, Any]:
    """Return the results of a parser as values for JSON.

    Raises:
        SubjectError: it cannot be started.
    """
    report = conformance.run(cases, command, timeout=TIMEOUT)
    asked = [each for each in report.results if _is_claimed(each, report.dialects)]
    skipped: dict[str, list[str]] = {}
    for each in asked:
        if each.verdict is CaseVerdict.SKIPPED:
            skipped.setdefault(str(each.got), []).append(each.case.id)
    return {
        "version": report.version,
        "dialects": list(report.dialects),
        "fetches": all(each.got != "does not fetch" for each in report.results),
        "passed": sum(each.verdict is CaseVerdict.PASSED for each in asked),
        "failures": {each.case.id: _failure(each) for each in report.failures},
        "skipped": skipped,
        "hostile": _hostile(command),
        "milliseconds": _milliseconds(command),
    }


def _is_claimed(result: CaseResult, dialects: tuple[str, ...]) -> bool:
    case = result.case
    if isinstance(case, DecisionCase):
        return case.dialect in dialects
    return result.got != "does not fetch"


def _failure(result: CaseResult) -> str | list[int]:
    """Return the numbers of the questions with a wrong answer, or why there is no answer."""
    if isinstance(result.got, str):
        return result.got
    case = result.case
    if not isinstance(case, DecisionCase):
        return "wrong answers"
    return [case.questions.index(each) for each in result.expected]


def _hostile(command: Sequence[str]) -> dict[str, int]:
    """Return how many files of random bytes got an answer, an error, or none."""
    chance = random.Random(1)
    counts = {"answers": 0, "errors": 0, "none": 0}
    subject: Subject | None = None
    for number in range(_HOSTILE):
        body = _random_file(chance, number)
        try:
            subject = subject or Subject(command)
            answer = subject.ask(_question(number, body, _URLS), TIMEOUT)
            counts["errors" if "error" in answer else "answers"] += 1
        except SubjectError:
            counts["none"] += 1
            if subject is not None:
                subject.kill()
            subject = None
            if counts["none"] >= 10:
                break
    if subject is not None:
        subject.stop()
    return counts


def _random_file(chance: random.Random, number: int) -> bytes:
    if number % 4 == 0:
        return chance.randbytes(2000)
    # A few kinds of pieces, so that not every file has every problem.
    return b"".join(chance.choices(chance.sample(_PIECES, 9), k=400))


def _question(number: int, body: bytes, urls: list[str]) -> dict[str, Any]:
    robots = base64.b64encode(body).decode("ascii")
    asked = {"cmd": "decide", "id": number, "dialect": "rfc9309", "robots": robots}
    return {**asked, "agent": "FooBot", "urls": urls}


def _milliseconds(command: Sequence[str]) -> float | None:
    """Return how long a usual file with 50 URLs takes, without what an empty one takes."""
    try:
        subject = Subject(command)
        long, short = [], []
        for _ in range(_ROUNDS):
            long.append(_seconds(subject, _FILE, _PAGES))
            short.append(_seconds(subject, b"", []))
        subject.stop()
    except SubjectError:
        return None
    # A parser that does more for an empty question than for a file cannot be measured so.
    spent = 1000 * (min(long) - min(short))
    return round(spent, 2) if spent > 0 else None


def _seconds(subject: Subject, body: bytes, urls: list[str]) -> float:
    began = time.perf_counter()
    subject.ask(_question(0, body, urls), TIMEOUT)
    return time.perf_counter() - began
