"""Whatever a subject does, a run goes on, and says what happened."""

from __future__ import annotations

import json
import re
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pytest

from koster import conformance
from koster.conformance import CaseVerdict, DecisionCase, SubjectError, UrlDecision
from tests.helpers.support import EVERYTHING, sampled

SUITE = conformance.load()
#: Three cases that allow and disallow.
CASES = [case for case in SUITE.cases if case.id.startswith("groups/merged-")][:3]

#: The start of a program that answers; the rest says what it does with a question.
ANSWERING = """
import json, sys, time, os, signal, subprocess
def say(answer): print(json.dumps(answer), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message["cmd"] == "stop": break
    if message["cmd"] == "start":
        say({"name": "double", "version": "1", "dialects": ["rfc9309"]})
        continue
    id, urls = message["id"], message["urls"]
    good = {"id": id, "allowed": [url.endswith("/z") for url in urls]}
"""


def program(body: str) -> list[str]:
    return [sys.executable, "-c", ANSWERING + textwrap.indent(textwrap.dedent(body), "    ")]


def run(body: str, **options: float) -> conformance.SuiteReport:
    return conformance.run(CASES, program(body), **{"timeout": 5.0, **options})


def test_a_good_subject_passes() -> None:
    report = run("say(good)")
    assert (report.subject, report.version, report.dialects) == ("double", "1", ("rfc9309",))
    assert [each.verdict for each in report.results] == [CaseVerdict.PASSED] * 3


def test_wrong_answers_are_named() -> None:
    (result, *_) = run("good['allowed'] = [True] * len(urls); say(good)").failures
    wrong = [UrlDecision("https://example.com/x", allowed=False)]
    assert list(result.expected)[:1] == wrong
    assert isinstance(result.got, tuple)
    assert [each.allowed for each in result.got] == [True, True]


def test_lines_are_compared_where_they_are_settled() -> None:
    case = next(case for case in SUITE.cases if case.id == "records/between-rules-sitemap")
    assert isinstance(case, DecisionCase)
    body = "say({'id': id, 'allowed': [u.endswith('z') for u in urls], 'lines': [None, 2, 3]})"
    (failure,) = conformance.run([case], program(body)).failures
    # Only the line of /y is settled.
    assert failure.expected == (UrlDecision("https://example.com/y", allowed=False, line=4),)
    assert failure.got == (UrlDecision("https://example.com/y", allowed=False, line=3),)


FAULTS = {
    "time.sleep(60)": "no answer within 0.5 s",
    "os._exit(3)": "it ended with exit code 3",
    "os.kill(os.getpid(), signal.SIGSEGV)": "it ended with signal SIGSEGV",
    "print('Traceback', file=sys.stderr); sys.exit(1)": "exit code 1: Traceback",
    "print('hello', flush=True)": "not a JSON object: hello",
    "print('[1]', flush=True)": "not a JSON object: [1]",
    "print('[' * 100000, flush=True)": "not a JSON object",
    "sys.stdout.buffer.write(b'\\xff\\xfe\\n'); sys.stdout.flush()": "not a JSON object",
    "say({**good, 'id': 99})": "an answer to question 99",
    "say({'id': id})": "without one verdict",
    "say({'id': id, 'allowed': [True]})": "without one verdict",
    "say({'id': id, 'allowed': [1] * len(urls)})": "without one verdict",
    "say({**good, 'lines': ['1'] * len(urls)})": "without one verdict",
    "say({'id': id, 'error': 'ValueError: x'})": "error: ValueError: x",
    "os.close(1); time.sleep(60)": "it closed its standard output",
    "\nwhile True: print('x' * 1000)": "not a JSON object",
    "\nwhile True: sys.stdout.write('x' * 100000)": "not a JSON object",
    "\nwhile True: sys.stderr.write('x' * 100000)": "no answer within 0.5 s",
}


@pytest.mark.parametrize("body", sampled([*FAULTS], 3))
def test_faults_fail_the_case_and_the_run_goes_on(
    body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One of them closes its output, and does not end.
    monkeypatch.setattr("koster.conformance._subject._STOP_TIMEOUT", 0.3)
    if "\n" in body:
        once = f"if id == 2:\n    {body.strip()}\nsay(good)"
    else:
        once = f"if id == 2:\n    {body}\nelse:\n    say(good)"
    report = run(once, timeout=0.5 if "no answer" in FAULTS[body] else 20)
    first, second, third = report.results
    assert [first.verdict, second.verdict, third.verdict] == [
        CaseVerdict.PASSED, CaseVerdict.FAILED, CaseVerdict.PASSED,
    ]  # fmt: skip
    assert isinstance(second.got, str)
    assert FAULTS[body] in second.got
    assert "\n" not in second.got
    assert len(second.got) < 400


def test_a_subject_that_never_answers_is_given_up() -> None:
    cases = [case for case in SUITE.cases if isinstance(case, DecisionCase)][:60]
    began = time.monotonic()
    report = conformance.run(cases, program("time.sleep(60)"), timeout=0.1)
    assert time.monotonic() - began < 30
    assert report.count(CaseVerdict.FAILED) == 60
    assert "not asked: 10 cases in a row" in str(report.results[-1].got)


def test_a_subject_that_never_reads_does_not_block(tmp_path: Path) -> None:
    case = next(case for case in SUITE.cases if case.id == "limits/hundred-thousand-rules")
    start = 'print(\'{"name": "n", "version": "1", "dialects": ["rfc9309"]}\', flush=True)'
    silent = [sys.executable, "-c", f"{start}; import time; time.sleep(60)"]
    # The case has a budget of its own.
    report = conformance.run([replace(case, budget=0.5)], silent, timeout=0.2)
    assert report.failures[0].got == "no answer within 0.5 s"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_children_of_a_subject_end_with_it(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    body = f"""
    child = subprocess.Popen(["sleep", "60"])
    open({str(mark)!r}, "w").write(str(child.pid))
    say(good)
    """
    run(body)
    state = Path(f"/proc/{mark.read_text()}/stat")
    until = time.monotonic() + 10
    # It was killed; on a busy machine it ends a little later.
    while state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < until
        time.sleep(0.01)


STARTS = {
    "raise SystemExit('no such module')": "it ended with exit code 1: no such module",
    "print('{}')": "its answer to start needs name, version and dialects: {}",
    'print(\'{"name": "x", "version": 1, "dialects": []}\')': "needs name, version and dialects",
    "print('usage: parser FILE')": "an answer that is not a JSON object: usage: parser FILE",
}


@pytest.mark.parametrize("body", STARTS)
def test_a_subject_that_does_not_start_says_why(body: str) -> None:
    with pytest.raises(SubjectError, match=STARTS[body].replace("{", r"\{")):
        conformance.run(CASES, [sys.executable, "-c", body])


def test_a_program_that_is_missing() -> None:
    with pytest.raises(SubjectError, match="cannot run no-such-program: No such file"):
        conformance.run(CASES, ["no-such-program"])


def test_skipped_cases() -> None:
    cases = [
        next(case for case in SUITE.cases if case.level == "google"),
        next(case for case in SUITE.cases if case.id == "statuses/success"),
        CASES[0],
    ]
    report = conformance.run(cases, program("say({'id': id, 'skipped': 'not today'})"))
    assert [each.verdict for each in report.results] == [CaseVerdict.SKIPPED] * 3
    reasons = ["does not read the dialect google", "does not fetch", "not today"]
    assert [each.got for each in report.results] == reasons


def test_a_case_over_its_budget_fails() -> None:
    case = next(case for case in SUITE.cases if case.id == "limits/long-line")
    assert case.budget == 5.0
    slow = "time.sleep(0.6); say({'id': id, 'allowed': [u.endswith('y') for u in urls]})"
    (failure,) = conformance.run([replace(case, budget=0.5)], program(slow), timeout=8).failures
    assert re.fullmatch(r"took \d\.\d s; the budget is 0\.5 s", str(failure.got))


@pytest.mark.thorough
def test_koster_passes_all_cases() -> None:
    command = [sys.executable, "-m", "koster", "conformance", "subject"]
    report = conformance.run(SUITE.cases, command, timeout=60)
    assert [(each.case.id, each.got) for each in report.failures] == []
    assert report.count(CaseVerdict.PASSED) == len(SUITE.cases)


def test_the_example_works() -> None:
    example = Path(__file__).parents[2] / "examples" / "subject.py"
    # It reads large files slowly.
    cases = [case for case in SUITE.cases if EVERYTHING or "size" not in case.tags]
    report = conformance.run(cases, [sys.executable, str(example)])
    assert report.subject == "urllib.robotparser"
    assert report.count(CaseVerdict.PASSED) > 250
    assert json.dumps(report.dialects) == '["rfc9309"]'
