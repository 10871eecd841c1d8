"""``koster conformance``: what it prints, and its exit codes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result

from koster import conformance
from koster._cli.root import koster
from tests.helpers import doubles
from tests.helpers.support import ROOT, sampled

KOSTER = (sys.executable, "-m", "koster", "conformance", "subject")
MERGED = ("--case", "groups/merged-two", "--case", "groups/merged-three")
NOT_MERGED = (sys.executable, doubles.__file__, "groups not merged")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(koster, arguments)


def test_all_passed() -> None:
    done = run("conformance", "run", *MERGED, "--", *KOSTER)
    assert done.exit_code == 0
    assert "2 cases passed, none failed" in done.stdout


@pytest.mark.parametrize("form", ["text", "json", "junit"])
def test_a_parser_that_skips_all_cases_is_no_success(form: str) -> None:
    done = run("conformance", "run", "--case", "statuses/success", "-f", form, "--", *NOT_MERGED)
    assert done.exit_code == 3
    assert done.stderr == "koster: the parser skipped all cases: 1\n"
    assert "passed, none failed" not in done.stdout


def test_failures_as_text() -> None:
    done = run("conformance", "run", *MERGED, "--", *NOT_MERGED)
    assert done.exit_code == 1
    assert "must   0       2       0" in done.stdout
    assert "https://example.com/y: expected blocked, got allowed" in done.stdout
    assert "2 cases failed" in done.stdout
    assert "koster conformance show groups/merged-two shows a case" in done.stdout


def test_failures_as_json() -> None:
    done = run("conformance", "run", *MERGED, "-f", "json", "--", *NOT_MERGED)
    assert done.exit_code == 1
    report = json.loads(done.stdout)
    failures = report.pop("failures")
    assert report == {
        "subject": "groups not merged",
        "version": "1",
        "cases": 2,
        "passed": 0,
        "failed": 2,
        "skipped": 0,
    }
    assert failures[0] == {
        "id": "groups/merged-two",
        "level": "must",
        "title": "the rules of two groups are combined",
        "source": "RFC 9309 §2.2.1",
        "expected": [{"url": "https://example.com/y", "allowed": False}],
        "got": [{"url": "https://example.com/y", "allowed": True}],
    }


def test_failures_as_junit() -> None:
    cases = (*MERGED, "--case", "statuses/success")
    done = run("conformance", "run", *cases, "-f", "junit", "--", *NOT_MERGED)
    (suite,) = ET.fromstring(done.stdout)
    assert (suite.get("name"), suite.get("tests")) == ("must", "3")
    assert (suite.get("failures"), suite.get("skipped")) == ("2", "1")
    texts = [each.get("message") for case in suite for each in case]
    assert "does not fetch" in texts
    assert "https://example.com/y: expected blocked, got allowed" in texts


def test_level_and_tag_choose_cases() -> None:
    done = run(
        "conformance", "run", "--level", "may", "--tag", "lenient", "-f", "json", "--", *KOSTER
    )
    suite = conformance.load()
    chosen = [case for case in suite.cases if case.level == "may" and "lenient" in case.tags]
    assert json.loads(done.stdout)["cases"] == len(chosen) > 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--tag", "escape", "--", "x"), "no tag escape in the suite"),
        (("--case", "nothing", "--", "x"), "no case nothing in the suite"),
        (("--level", "extended2", "--tag", "statuses", "--", "x"), "no case has this level"),
        (("--level", "most", "--", "x"), "'most' is not one of"),
        ((), "Missing argument"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], message: str) -> None:
    done = run("conformance", "run", *arguments)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())


def test_a_subject_that_cannot_be_run() -> None:
    done = run("conformance", "run", "--", "no-such-program")
    assert done.exit_code == 3
    assert done.stderr == "koster: cannot run no-such-program: No such file or directory\n"


def test_a_folder_that_is_no_suite(tmp_path: Path) -> None:
    done = run("conformance", "run", "--suite", str(tmp_path), "--", *KOSTER)
    assert done.exit_code == 3
    assert "suite.json: No such file or directory" in done.stderr
    (tmp_path / "suite.json").write_text("[]")
    (tmp_path / "sentences.json").write_text("{}")
    done = run("conformance", "show", "a/b", "--suite", str(tmp_path))
    assert done.exit_code == 3
    assert "not a conformance suite" in done.stderr


def test_another_suite() -> None:
    folder = str(ROOT / "conformance")
    done = run("conformance", "run", "--suite", folder, *MERGED, "--", *KOSTER)
    assert done.exit_code == 0


def test_show() -> None:
    done = run("conformance", "show", "groups/stacked-first-of-two")
    assert done.exit_code == 0
    assert "Source: RFC 9309 §2.1" in done.stdout
    assert "   4 User-agent: FooBot" in done.stdout
    assert "blocked: https://example.com/x" in done.stdout
    done = run("conformance", "show", "redirects/other-authority")
    assert "{a}/robots.txt: status 301" in done.stdout
    assert "Location: {b}/robots.txt" in done.stdout
    done = run("conformance", "show", "limits/hundred-thousand-rules")
    assert len(done.stdout.splitlines()) < 300
    assert "Time: at most 10 s" in done.stdout


def test_every_case_can_be_shown() -> None:
    for case in sampled(conformance.load().cases[::7], 8):
        done = run("conformance", "show", case.id)
        assert done.exit_code == 0
        assert case.title in done.stdout


def test_show_an_unknown_case() -> None:
    done = run("conformance", "show", "a\x1bb")
    assert done.exit_code == 2
    assert "\x1b" not in done.stderr
