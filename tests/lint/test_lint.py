"""Lint: each check reports what it should and nothing else, and fixes and reports are valid."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
import strategies
from hypothesis import given
from support import ROOT, bodies

import koster
from koster.lint import CHECK_OF, CHECKS, Family, Severity, chosen, fixed, lint
from koster.reports._json import to_json
from koster.reports.github import as_commands
from koster.reports.lint import FileFindings, Findings
from koster.reports.records import of_finding
from koster.reports.sarif import as_log

CASES = tomllib.loads((ROOT / "tests/findings.toml").read_text("utf-8"))["case"]


def body_of(case: dict[str, Any]) -> bytes:
    text = case["raises"].replace("LONG", "a" * case.get("longer", 0))
    body = text.encode(case.get("encoding", "utf-8"))
    if "padded" in case:
        body += (b"#" + b" " * 998 + b"\n") * (case["padded"] // 1_000 + 1)
    return body


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["code"])
def test_check_reports_its_cases(case: dict[str, Any]) -> None:
    code = case["code"]
    body = body_of(case)
    findings = [each for each in lint(body) if each.code == code]
    assert [each.line for each in findings][:1] == case["at"][:1], lint(body)
    assert findings[0].column == case["at"][1]
    assert findings[0].end_column >= findings[0].column
    assert findings[0].severity is CHECK_OF[code].severity
    near_misses = lint(case["near"].encode())
    assert not [each for each in near_misses if each.code == code], near_misses
    if "fixed" in case:
        assert fixed(body, findings).decode() == case["fixed"]


def test_every_check_has_cases() -> None:
    # S004 has its own test below.
    assert {check.code for check in CHECKS} == {case["code"] for case in CASES} | {"S004"}


def test_pattern_that_matches_no_path_is_reported() -> None:
    """MK1994 compares raw bytes, and no URL contains these: a URL is text."""
    findings = lint(b"User-agent: *\nDisallow: /caf\xff\n", koster.MK1994, dialects=())
    assert "S004" in {each.code for each in findings}
    findings = lint("User-agent: *\nDisallow: /café\n".encode(), koster.MK1994, dialects=())
    assert "S004" not in {each.code for each in findings}


def test_comments_start_where_the_dialect_says() -> None:
    body = b"User-agent: *\nRobot-version: 2.0\nDisallow: /a#b # c\nDisallow: ?a\nDisallow: [/]b\n"
    findings = lint(body, koster.EXTENDED2, dialects=())
    assert not {each.code for each in findings} & {"L007", "L008", "P001"}
    assert fixed(body, findings) == body


def test_check_table_is_consistent() -> None:
    codes = [check.code for check in CHECKS]
    assert len(set(codes)) == len(codes)
    assert len({check.name for check in CHECKS}) == len(codes)
    for check in CHECKS:
        assert check.family in Family
        assert check.title.endswith(".")
        assert check.why.endswith(".")
        assert check.source
    order = list(dict.fromkeys(check.family for check in CHECKS))
    assert order == list(Family)


def test_codes_are_selected_by_prefix() -> None:
    assert {check.code[0] for check in chosen(["s", "P001"])} == {"S", "P"}
    assert "S001" not in {check.code for check in chosen(["S"], ["s001"])}
    with pytest.raises(ValueError, match="X1"):
        chosen(["X1"])


def test_html_page_has_only_one_finding() -> None:
    findings = lint(b"<!doctype html>\n<p>not found</p>\nfoo: bar\n")
    assert {each.code for each in findings} == {"B001"}


def test_clean_file_has_no_findings() -> None:
    body = b"# ours\nUser-agent: *\nDisallow: /cart/\nAllow: /cart/help$\n\nSitemap: https://e.com/s.xml\n"
    assert lint(body) == []


def test_rule_that_one_dialect_needs_is_not_dead() -> None:
    """RFC 9309 reads both as the same path; Google distinguishes them."""
    body = b"User-agent: *\nDisallow: /wiki/Special:\nDisallow: /wiki/Special%3A\n"
    assert not {each.code for each in lint(body)} & {"S001", "S003"}
    assert "S001" in {each.code for each in lint(body, dialects=())}


def test_rule_that_an_older_dialect_needs_is_not_dead() -> None:
    """MK1996 reads ``*`` literally: the plain line is the only one that it obeys."""
    body = b"User-agent: *\nDisallow: /trackback\nDisallow: */trackback\n"
    assert "S001" in {each.code for each in lint(body)}
    findings = lint(body, dialects=(koster.MK1996,))
    assert not {each.code for each in findings} & {"S001", "S003"}


def test_rule_that_one_crawler_needs_is_not_dead() -> None:
    """Foo, which is checked first, has only the first group; Bar has both."""
    body = b"User-agent: Foo\nUser-agent: Bar\nDisallow: /a\n\nUser-agent: Bar\nAllow: /a\n"
    assert not {each.code for each in lint(body)} & {"S001", "S002", "S003"}


@given(strategies.bodies)
def test_any_bytes_can_be_linted_and_fixed(body: bytes) -> None:
    """Nothing raises, and all positions and edits are inside the file."""
    findings = lint(body)
    lines = koster.parse(body).lines
    for each in findings:
        assert 1 <= each.line <= max(len(lines), 1)
        assert 1 <= each.column <= each.end_column
        for edit in each.edits:
            assert 0 <= edit.start <= edit.end <= len(body)
    fixed(body, findings)
    assert len(json.loads(to_json(list(map(of_finding, findings))))) == len(findings)
    report = Findings([FileFindings("a.txt", "a.txt", body, findings)], [])
    assert json.loads(as_log(report))["version"] == "2.1.0"
    assert len(as_commands(report).splitlines()) == len(findings)


def _allowed_agent(message: str) -> str:
    """Return the crawler that may fetch the URL, according to a message."""
    return message.partition(" may")[0].replace("a robot without a group", "*").strip('"')


@given(strategies.files)
def test_urls_in_findings_prove_the_disagreement(body: bytes) -> None:
    for each in lint(body, checks=chosen(["D001"])):
        verdicts = {
            koster.parse(body, dialect).allowed(each.url or "", name)
            for dialect in (koster.RFC9309, koster.GOOGLE)
            for name in [_allowed_agent(each.message)]
        }
        assert len(verdicts) == 2, each


def test_no_real_file_raises(conformance_data: None) -> None:
    for site, body in bodies("verdicts.tsv.gz").items():
        for each in lint(body):
            assert each.code in CHECK_OF, site


def test_note_is_the_lowest_severity() -> None:
    assert list(Severity)[-1] is Severity.NOTE


def test_dialect_findings_need_a_dialect_that_differs() -> None:
    body = b"User-agent: *\nDisallow: /a$b\nDisallow: /c*\nDisallow: /*?d=\n"
    assert {each.code for each in lint(body, dialects=())} >= {"P003", "P004", "P008"}
    assert not lint(body, koster.MK1994, dialects=())


@pytest.mark.parametrize(
    ("path", "escaped"),
    [
        ("robots.txt", "robots.txt"),
        ("a%b:c,d", "a%25b%3Ac%2Cd"),
        ("x\n::error::y\r", r"x\n%3A%3Aerror%3A%3Ay\r"),
        ("\x1b]0;x\x07\x9b\u202e\u2066\udcff", r"\x1b]0;x\x07\x9b\u202e\u2066\xff"),
    ],
)
def test_github_commands_escape_file_names(path: str, escaped: str) -> None:
    """See https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands."""
    findings = lint(b"User-agent: *\nDisallow: a%0A::error::\x1b\n", dialects=())
    output = as_commands(
        Findings([FileFindings(path, path, b"", findings)], [f"{path}: cannot be read"])
    )
    first, *finding_lines = output.split("\n")
    data = escaped.replace("%3A", ":").replace("%2C", ",")
    assert first == f"::error title=koster::{data}: cannot be read"
    assert len(finding_lines) == len(findings)
    assert all(f" file={escaped},line=" in line for line in finding_lines)
    assert output.replace("\n", "").isprintable()
