"""Findings: each check raises what it should, and not what it should not."""

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
def test_a_check_raises_what_it_should(case: dict[str, Any]) -> None:
    code = case["code"]
    body = body_of(case)
    found = [each for each in lint(body) if each.code == code]
    assert [each.line for each in found][:1] == case["at"][:1], lint(body)
    assert found[0].column == case["at"][1]
    assert found[0].end_column >= found[0].column
    assert found[0].severity is CHECK_OF[code].severity
    near = lint(case["near"].encode())
    assert not [each for each in near if each.code == code], near
    if "fixed" in case:
        assert fixed(body, found).decode() == case["fixed"]


def test_every_check_has_cases() -> None:
    # S004 has its own test below.
    assert {check.code for check in CHECKS} == {case["code"] for case in CASES} | {"S004"}


def test_a_pattern_that_no_path_is_like_is_found() -> None:
    """MK1994 compares bytes as they stand, and no URL has these: it is text."""
    found = lint(b"User-agent: *\nDisallow: /caf\xff\n", koster.MK1994, dialects=())
    assert "S004" in {each.code for each in found}
    found = lint("User-agent: *\nDisallow: /café\n".encode(), koster.MK1994, dialects=())
    assert "S004" not in {each.code for each in found}


def test_a_comment_begins_where_the_dialect_says() -> None:
    body = b"User-agent: *\nRobot-version: 2.0\nDisallow: /a#b # c\nDisallow: ?a\nDisallow: [/]b\n"
    found = lint(body, koster.EXTENDED2, dialects=())
    assert not {each.code for each in found} & {"L007", "L008", "P001"}
    assert fixed(body, found) == body


def test_the_table_is_sound() -> None:
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


def test_codes_are_chosen_by_how_they_begin() -> None:
    assert {check.code[0] for check in chosen(["s", "P001"])} == {"S", "P"}
    assert "S001" not in {check.code for check in chosen(["S"], ["s001"])}
    with pytest.raises(ValueError, match="X1"):
        chosen(["X1"])


def test_a_page_is_told_to_be_one_and_nothing_else() -> None:
    found = lint(b"<!doctype html>\n<p>not found</p>\nfoo: bar\n")
    assert {each.code for each in found} == {"B001"}


def test_a_clean_file_is_clean() -> None:
    body = b"# ours\nUser-agent: *\nDisallow: /cart/\nAllow: /cart/help$\n\nSitemap: https://e.com/s.xml\n"
    assert lint(body) == []


def test_lines_that_only_one_dialect_needs_are_not_dead() -> None:
    """To RFC 9309 both are one path; Google tells them apart."""
    body = b"User-agent: *\nDisallow: /wiki/Special:\nDisallow: /wiki/Special%3A\n"
    assert not {each.code for each in lint(body)} & {"S001", "S003"}
    assert "S001" in {each.code for each in lint(body, dialects=())}


def test_lines_that_only_an_older_dialect_obeys_are_not_dead_beside_it() -> None:
    """To MK1996 a star is one: the plain line is the only one that it obeys."""
    body = b"User-agent: *\nDisallow: /trackback\nDisallow: */trackback\n"
    assert "S001" in {each.code for each in lint(body)}
    beside = lint(body, dialects=(koster.MK1996,))
    assert not {each.code for each in beside} & {"S001", "S003"}


def test_a_rule_that_lives_for_one_robot_is_not_dead() -> None:
    """Foo, which is asked about first, has the first group alone; Bar has both."""
    body = b"User-agent: Foo\nUser-agent: Bar\nDisallow: /a\n\nUser-agent: Bar\nAllow: /a\n"
    assert not {each.code for each in lint(body)} & {"S001", "S002", "S003"}


@given(strategies.bodies)
def test_any_bytes_can_be_linted_and_mended(body: bytes) -> None:
    """Nothing raises; places are in the file; a mended file has no more of what was mended."""
    found = lint(body)
    lines = koster.parse(body).lines
    for each in found:
        assert 1 <= each.line <= max(len(lines), 1)
        assert 1 <= each.column <= each.end_column
        for edit in each.edits:
            assert 0 <= edit.start <= edit.end <= len(body)
    fixed(body, found)
    assert len(json.loads(to_json(list(map(of_finding, found))))) == len(found)
    shown = Findings([FileFindings("a.txt", "a.txt", body, found)], [])
    assert json.loads(as_log(shown))["version"] == "2.1.0"
    assert len(as_commands(shown).splitlines()) == len(found)


def _robot(message: str) -> str:
    """Return who a message says may fetch a URL."""
    return message.partition(" may")[0].replace("a robot without a group", "*").strip('"')


@given(strategies.files)
def test_every_url_that_is_named_proves_what_is_said(body: bytes) -> None:
    for each in lint(body, checks=chosen(["D001"])):
        verdicts = {
            koster.parse(body, dialect).allowed(each.url or "", name)
            for dialect in (koster.RFC9309, koster.GOOGLE)
            for name in [_robot(each.message)]
        }
        assert len(verdicts) == 2, each


def test_no_real_file_raises(conformance_data: None) -> None:
    for site, body in bodies("verdicts.tsv.gz").items():
        for each in lint(body):
            assert each.code in CHECK_OF, site


def test_the_severity_of_a_note_is_the_least() -> None:
    assert list(Severity)[-1] is Severity.NOTE


def test_what_is_special_to_no_dialect_is_not_found_there() -> None:
    body = b"User-agent: *\nDisallow: /a$b\nDisallow: /c*\nDisallow: /*?d=\n"
    assert {each.code for each in lint(body, dialects=())} >= {"P003", "P004", "P008"}
    assert not lint(body, koster.MK1994, dialects=())


@pytest.mark.parametrize(
    ("path", "written"),
    [
        ("robots.txt", "robots.txt"),
        ("a%b:c,d", "a%25b%3Ac%2Cd"),
        ("x\n::error::y\r", r"x\n%3A%3Aerror%3A%3Ay\r"),
        ("\x1b]0;x\x07\x9b\u202e\u2066\udcff", r"\x1b]0;x\x07\x9b\u202e\u2066\xff"),
    ],
)
def test_github_gets_names_escaped(path: str, written: str) -> None:
    """As https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands has it."""
    found = lint(b"User-agent: *\nDisallow: a%0A::error::\x1b\n", dialects=())
    printed = as_commands(
        Findings([FileFindings(path, path, b"", found)], [f"{path}: cannot be read"])
    )
    first, *others = printed.split("\n")
    data = written.replace("%3A", ":").replace("%2C", ",")
    assert first == f"::error title=koster::{data}: cannot be read"
    assert len(others) == len(found)
    assert all(f" file={written},line=" in line for line in others)
    assert printed.replace("\n", "").isprintable()
