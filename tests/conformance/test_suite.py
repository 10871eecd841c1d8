"""The folder ``conformance``: it is what the cases give, complete, and readable without koster."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import tarfile
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import koster
from koster import conformance
from koster.signals import Use, signals
from tests.helpers.support import ROOT
from tools.suite import export
from tools.suite.source import entries

FOLDER = ROOT / "conformance"
CASES = {case["id"]: case for case in export.cases()}
SERVER_CASES = {case["id"]: case for case in export.server_cases()}


SIGNALS_CASES = {case["id"]: case for case in export.signals_cases()}


@pytest.mark.parametrize(
    ("name", "schema"),
    [("cases", "case"), ("servers", "server-case"), ("signals", "signals-case")],
)
def test_every_case_is_valid(name: str, schema: str) -> None:
    validator = jsonschema.Draft202012Validator(
        json.loads((FOLDER / "schema" / f"{schema}.json").read_text("utf-8"))
    )
    paths = sorted((FOLDER / name).glob("*.json"))
    assert paths
    for path in paths:
        validator.validate(json.loads(path.read_text("utf-8")))


def test_there_are_as_many_cases_as_promised() -> None:
    assert len(CASES) >= 600
    assert len(SERVER_CASES) >= 60
    assert len({*CASES, *SERVER_CASES}) == len(CASES) + len(SERVER_CASES)
    for name in ("conformance/README.md", "docs/guides/parsers/test-a-parser.md", "CHANGELOG.md"):
        text = " ".join((ROOT / name).read_text("utf-8").split())
        assert f"{len(CASES)} questions about files" in text, name
        assert f"{len(SERVER_CASES)} cases with servers" in text, name
    readme = (FOLDER / "README.md").read_text("utf-8")
    levels = Counter(case["level"] for case in (*CASES.values(), *SERVER_CASES.values()))
    for level, count in levels.items():
        assert re.search(rf"^\| `{level}` \|.*\| {count} \|$", readme, re.MULTILINE), (level, count)


def test_cases_about_use_have_sources_and_answers() -> None:
    paths = sorted((FOLDER / "signals").glob("*.json"))
    some = [case for path in paths for case in json.loads(path.read_text("utf-8"))["cases"]]
    assert {case["id"]: case for case in some} == SIGNALS_CASES
    readme = (FOLDER / "README.md").read_text("utf-8")
    assert f"| {len(some)} pages: what" in readme
    assert re.search(rf"^\| `draft` \|.*\| {len(some)} \|$", readme, re.MULTILINE)
    assert f"{len(some)} cases" in (FOLDER / "CHANGELOG.md").read_text("utf-8")
    for case in some:
        found = signals(
            case["url"],
            robots=case.get("robots", {}).get("text"),
            headers=[(name, value) for name, value in case.get("headers", ())],
            html=case["html"]["text"].encode() if "html" in case else None,
            tdmrep=case["tdmrep"]["text"].encode() if "tdmrep" in case else None,
            licenses={url: each["text"].encode() for url, each in case.get("licenses", {}).items()},
            crawlers=[each["agent"] for each in case["questions"] if each["agent"]],
            now=datetime.fromisoformat(case["now"]),
        )
        for each in case["questions"]:
            answers = {use: found.of(Use(use), each["agent"] or "").stated for use in each["uses"]}
            assert answers == each["uses"], case["id"]


def test_cases_of_the_rfc_name_their_sentences() -> None:
    for case in (*CASES.values(), *SERVER_CASES.values()):
        named = case["level"] in ("must", "should", "may")
        assert bool(case.get("sentences")) == named, case["id"]
        assert not named or case.get("dialect", "rfc9309") == "rfc9309", case["id"]


def test_most_parsers_agree_with_widespread_cases() -> None:
    results = json.loads((ROOT / "docs" / "_details" / "parsers.json").read_text("utf-8"))
    # The parser of CPython counts once.
    libraries = {
        each["name"].partition(" (CPython")[0]: each
        for each in results["parsers"]
        if each["name"] != "koster"
    }.values()
    assert len(libraries) >= 16
    for name, case in CASES.items():
        if case["level"] == "widespread":
            asked = [
                each for each in libraries
                if not any(name in names for names in each["skipped"].values())
            ]  # fmt: skip
            passed = [each["name"] for each in asked if name not in each["failures"]]
            assert 2 * len(passed) > len(asked), (name, passed)


def test_what_stays_out_is_a_choice_of_koster() -> None:
    left_out = [entry for entry in entries() if entry.id not in CASES]
    for entry in left_out:
        is_asked_with_several_names = not isinstance(entry.agent, str)
        assert is_asked_with_several_names or entry.level == "koster", entry.id
    assert len(left_out) < 60


def test_the_loaded_suite_is_the_one_of_the_tests() -> None:
    loaded = {case.id: case for case in conformance.load().cases}
    bodies = {entry.id: entry.body for entry in entries()}
    for name in CASES:
        case = loaded[name]
        assert isinstance(case, conformance.DecisionCase)
        if name in bodies:
            assert case.robots == bodies[name], name


def test_google_decides_as_its_own_parser_does() -> None:
    googlebot = pytest.importorskip("jwm.robotstxt.googlebot")
    ask = googlebot.RobotsMatcher().OneAgentAllowedByRobots
    asked = 0
    for case in conformance.load().cases:
        if isinstance(case, conformance.DecisionCase) and case.dialect == "google":
            for each in case.questions:
                got = ask(case.robots, case.agent.encode(), each.url.encode())
                assert (got, each.url) == (each.allowed, each.url), case.id
                asked += 1
    assert asked > 300


def test_the_readme_reads_the_cases_without_koster(tmp_path: Path) -> None:
    """The program of the README prints every file with its questions."""
    readme = (FOLDER / "README.md").read_text("utf-8")
    code = re.search(r"```python\n(# read\.py.*?)```", readme, re.DOTALL)
    assert code
    program = tmp_path / "read.py"
    program.write_text(code[1])
    run = subprocess.run(
        [sys.executable, "-I", str(program), str(FOLDER)], capture_output=True, check=True
    )
    counts = dict(line.split() for line in run.stdout.decode().splitlines())
    for case in conformance.load().cases:
        if isinstance(case, conformance.DecisionCase):
            assert int(counts[case.id]) == len(case.robots), case.id


def test_the_archive(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tools.suite"]
    for folder in ("one", "two"):
        subprocess.run([*command, str(tmp_path / folder)], cwd=ROOT, check=True)
    (path,) = (tmp_path / "one").iterdir()
    assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()
    with tarfile.open(path) as archive:
        archive.extractall(tmp_path / "out", filter="data")
    (top,) = (tmp_path / "out").iterdir()
    assert top.name == path.name.removesuffix(".tar.gz")
    assert conformance.load(top) == conformance.load()
    for name in ("README.md", "LICENSE", "CHANGELOG.md", "COVERAGE.md", "schema/case.json"):
        assert (top / name).is_file()


def test_the_example_of_the_protocol_in_the_readme_is_right() -> None:
    readme = (FOLDER / "README.md").read_text("utf-8")
    found = re.search(r'"robots": "([A-Za-z0-9+/=]+)"', readme)
    assert found
    robots = koster.parse(base64.b64decode(found[1]))
    line: dict[str, Any] = json.loads(
        next(each for each in readme.splitlines() if '"cmd": "decide"' in each)
    )
    answer = next(each for each in readme.splitlines() if '"lines"' in each)
    decisions = [robots.decide(url, line["agent"]) for url in line["urls"]]
    assert json.loads(answer) == {
        "id": line["id"],
        "allowed": [each.allowed for each in decisions],
        "lines": [each.rule.line if each.rule else None for each in decisions],
    }
