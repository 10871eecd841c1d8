"""The parsers that koster is compared with: their table, and the programs that ask them."""

from __future__ import annotations

import json
import re
import shutil
import sys

import pytest

from koster import conformance
from koster.conformance import CaseVerdict, DecisionCase
from koster.conformance.subject import DIALECTS
from tools.matrix.install import SUBJECTS
from tools.matrix.parsers import PARSERS

CASES = [case for case in conformance.load().cases if isinstance(case, DecisionCase)]
GROUPS = [case for case in CASES if case.id.startswith("groups/star-")]


def test_the_table() -> None:
    assert len({parser.name for parser in PARSERS}) == len(PARSERS) >= 16
    languages = {parser.language for parser in PARSERS}
    assert languages >= {"Python", "Rust", "C++", "JavaScript", "Perl", "Ruby"}
    for parser in PARSERS:
        assert set(parser.dialects) <= set(DIALECTS)
        assert "rfc9309" in parser.dialects
        assert (SUBJECTS / parser.program).is_file()
        if parser.registry in ("PyPI", "npm"):
            assert all(re.search(r"(==|.@)[0-9]", each) for each in parser.packages), parser.name


def program(name: str, dialects: tuple[str, ...]) -> list[str]:
    about = json.dumps({"name": name, "language": "?", "dialects": dialects})
    (parser,) = (each for each in PARSERS if each.name == name)
    return [sys.executable, str(SUBJECTS / parser.program), parser.key, about]


@pytest.mark.parametrize("name", ["protego", "urllib.robotparser", "robotexclusionrulesparser"])
def test_python_parsers_are_asked(name: str) -> None:
    report = conformance.run(GROUPS, program(name, ("rfc9309",)))
    assert report.subject == name
    assert re.match(r"\d", report.version)
    assert report.count(CaseVerdict.PASSED) == len(GROUPS) > 5


@pytest.mark.parametrize("name", ["wget", "wget2", "httrack"])
def test_crawlers_are_judged_by_what_they_fetch(name: str) -> None:
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed")
    cases = [case for case in GROUPS if "star-group-" in case.id]
    report = conformance.run(cases, program(name, ("rfc9309",)), timeout=60)
    assert report.count(CaseVerdict.PASSED) == len(cases) == 3
