"""Lint: each check reports what it should and nothing else, and fixes and reports are valid."""

from __future__ import annotations

import difflib
import itertools
import json
import random
import re
import string
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import koster
from koster import crawlers
from koster._asking import rules_for_data
from koster._reports.github import as_commands
from koster._reports.json import to_json
from koster._reports.lint import FileFindings, Findings
from koster._reports.records import of_finding
from koster._reports.sarif import as_log
from koster.dialects import BUFFER_BYTES
from koster.lint import (
    CHECK_OF,
    CHECKS,
    Edit,
    Family,
    Finding,
    Severity,
    _directives,
    _groups,
    _names,
    chosen,
    fixed,
    lint,
    most_important,
    with_edits,
)
from koster.lint._model import CheckedFile
from koster.lint.settings import SettingsError, read
from koster.robots import MAX_PARSED_BYTES
from tests.helpers import strategies
from tests.helpers.lint_cases import CASES
from tests.helpers.support import bodies, sampled

_typos = st.builds(
    lambda name, at, letter: name[:at] + letter + name[at + 1 :],
    st.sampled_from(sorted(_directives.DIRECTIVES)),
    st.integers(0, 12),
    st.sampled_from(["", "x", "ll", "1"]),
)


def body_of(case: dict[str, Any]) -> bytes:
    text = case["raises"].replace("LONG", "a" * case.get("longer", 0))
    body = text.encode(case.get("encoding", "utf-8"))
    if "padded" in case:
        body += (b"#" + b" " * 998 + b"\n") * (case["padded"] // 1_000 + 1)
    return body  # type: ignore[no-any-return]


def test_checks_report_their_cases() -> None:
    for case in CASES:
        _check_case(case)


def _check_case(case: dict[str, Any]) -> None:
    code = case["code"]
    body = body_of(case)
    findings = [each for each in lint(body, checks=CHECKS) if each.code == code]
    assert [each.line for each in findings][:1] == case["at"][:1], lint(body)
    assert findings[0].column == case["at"][1]
    assert findings[0].end_column >= findings[0].column
    assert findings[0].severity is CHECK_OF[code].severity
    near_misses = lint(case["near"].encode())
    assert not [each for each in near_misses if each.code == code], near_misses
    if "fixed" in case:
        if case.get("asked"):
            findings = [each._replace(edits=each.proposal) for each in findings]
        assert with_edits(body, findings).decode() == case["fixed"]


def test_checks_find_their_examples() -> None:
    def codes(body: bytes) -> set[str]:
        return {each.code for each in lint(body, checks=CHECKS)}

    for check in CHECKS:
        if check.fix:
            assert check.code in codes(check.example.encode(check.encoding))
            assert check.code not in codes(check.fix.encode()), check.code


def test_fix_leaves_nothing_to_fix() -> None:
    # Without the version, the name is there twice.
    body = b"User-agent: Foo/1.0\nUser-agent: Foo\nDisallow: /a\n"
    once = b"User-agent: Foo\nUser-agent: Foo\nDisallow: /a\n"
    assert with_edits(body, lint(body)) == once
    assert fixed(body) == b"User-agent: Foo\nDisallow: /a\n"
    assert fixed(body, lambda text: lint(text, checks=chosen(["G012"]))) == once


def finding(*edits: Edit) -> Finding:
    return Finding("P001", Severity.NOTE, 1, 1, 1, "", edits=edits)


def test_of_overlapping_edits_the_first_is_applied() -> None:
    edits = [
        Edit(1, 3, b"X"),
        Edit(2, 4, b"Y"),
        Edit(3, 3, b"Z"),
        Edit(0, 0, b"A"),
        Edit(1, 2, b"B"),
    ]
    assert with_edits(b"abcdef", [finding(*edits), finding(edits[0])]) == b"AaXZdef"


def test_endless_fixes_end() -> None:
    """Other checks than those of koster may find something in every file."""
    body = fixed(b"", lambda text: [finding(Edit(len(text), len(text), b"x"))])
    assert body == b"x" * 20


def test_a_policy_token_for_a_use_that_koster_does_not_know() -> None:
    (found,) = lint(b"User-agent: __usage_robotics\nDisallow: /\n")
    assert (found.code, found.edits, found.proposal) == ("E012", (), ())
    assert found.suggestion == "Known: __usage_ai-training"


def test_every_check_has_cases() -> None:
    # S004 and Z004 have their own tests below, M005 and M009 in test_sitemaps.py, M008 in
    # tests/cli/test_named_sitemaps.py.
    tested = {case["code"] for case in CASES} | {"S004", "Z004", "M005", "M008", "M009"}
    assert {check.code for check in CHECKS} == tested


def test_pattern_that_matches_no_path_is_reported() -> None:
    """MK1994 compares raw bytes, and no URL contains these: a URL is text."""
    findings = lint(b"User-agent: *\nDisallow: /caf\xff\n", koster.MK1994, dialects=())
    assert "S004" in {each.code for each in findings}
    findings = lint("User-agent: *\nDisallow: /café\n".encode(), koster.MK1994, dialects=())
    assert "S004" not in {each.code for each in findings}


@pytest.mark.parametrize(("count", "codes"), [(2_000, ["S003"]), (2_001, ["Z004"])])
def test_file_with_too_many_groups_is_partly_checked(count: int, codes: list[str]) -> None:
    """With too many, a duplicate is not reported: the note says that some may be missing."""
    groups = (f"User-agent: bot{number}x\nDisallow: /a\n" for number in range(1, count))
    body = "User-agent: *\nDisallow: /b\nDisallow: /b\n" + "".join(groups)
    findings = lint(body.encode())
    assert [each.code for each in findings if each.code in ("S003", "Z004")] == codes
    assert {each.severity for each in findings if each.code == "Z004"} <= {Severity.NOTE}


def test_comments_start_where_the_dialect_says() -> None:
    body = b"User-agent: *\nRobot-version: 2.0\nDisallow: /a#b # c\nDisallow: ?a\nDisallow: [/]b\n"
    findings = lint(body, koster.EXTENDED2, dialects=())
    assert not {each.code for each in findings} & {"L007", "L008", "P001"}
    assert with_edits(body, findings) == body


def test_check_table_is_consistent() -> None:
    codes = [check.code for check in CHECKS]
    assert len(set(codes)) == len(codes)
    assert len({check.name for check in CHECKS}) == len(codes)
    for check in CHECKS:
        assert check.family in Family
        assert not check.title.endswith(".")
        assert check.why.endswith(".")
        assert check.source
    order = list(dict.fromkeys(check.family for check in CHECKS))
    assert order == list(Family)


def test_check_that_is_off_runs_where_its_code_is_selected() -> None:
    for select, runs in (([], False), (["P"], False), (["p012"], True), (["P", "P012"], True)):
        assert ("P012" in {check.code for check in chosen(select)}) is runs


def test_codes_are_selected_by_prefix() -> None:
    assert {check.code[0] for check in chosen(["s", "P001"])} == {"S", "P"}
    assert "S001" not in {check.code for check in chosen(["S"], ["s001"])}
    with pytest.raises(ValueError, match="X1"):
        chosen(["X1"])


def test_html_page_has_only_one_finding() -> None:
    findings = lint(b"<!doctype html>\n<p>not found</p>\nfoo: bar\n")
    assert {each.code for each in findings} == {"B001"}


def test_random_bytes_are_binary() -> None:
    body = random.Random(1).randbytes(20_000)
    assert [each.code for each in lint(body)] == ["B010"]


def test_clean_file_has_no_findings() -> None:
    body = b"# ours\nUser-agent: *\nDisallow: /cart/\nAllow: /cart/help$\n\nSitemap: https://e.com/s.xml\n"
    assert lint(body) == []


def test_rule_that_one_dialect_needs_is_not_dead() -> None:
    """RFC 9309 reads both as the same path; Google distinguishes them."""
    body = b"User-agent: *\nDisallow: /wiki/Special:\nDisallow: /wiki/Special%3A\n"
    assert not {each.code for each in lint(body)} & {"S001", "S003"}
    assert "S003" in {each.code for each in lint(body, dialects=())}


def test_rule_that_an_older_dialect_needs_is_not_dead() -> None:
    """MK1996 reads ``*`` literally: the plain line is the only one that it obeys."""
    body = b"User-agent: *\nDisallow: /trackback\nAllow: */trackback\n"
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
    with_edits(body, findings)
    assert len(json.loads(to_json(list(map(of_finding, findings))))) == len(findings)
    report = Findings([FileFindings("a.txt", "a.txt", body, findings)], [])
    assert json.loads(as_log(report))["version"] == "2.1.0"
    assert len(as_commands(report).splitlines()) == len(findings)


@given(strategies.files)
def test_urls_in_findings_prove_the_disagreement(body: bytes) -> None:
    for each in lint(body, checks=chosen(["D001"])):
        found = re.search(r" for ([\w-]+),", each.message)
        assert found, each
        crawler = crawlers.named(found[1])
        assert crawler is not None
        assert crawler.operator == "Google"
        verdicts = {
            koster.parse(body, dialect).allowed(each.url or "", crawler.tokens)
            for dialect in (koster.RFC9309, koster.GOOGLE)
        }
        assert len(verdicts) == 2, each


def test_no_real_file_raises(conformance_data: None) -> None:
    for site, body in bodies("verdicts.tsv.gz").items():
        for each in lint(body):
            assert each.code in CHECK_OF, site


def test_crawl_delay_that_blocks_a_search_engine_is_explained() -> None:
    body = b"User-agent: bingbot\nCrawl-delay: 10\n\nUser-agent: LCC\nDisallow: /\n"
    (finding,) = [each for each in lint(body) if each.severity is not Severity.NOTE]
    assert finding.code == "G015"
    assert finding.message == (
        "Crawl-delay in line 2 does not end the group: bingbot is blocked together with LCC"
    )
    assert finding.suggestion == (
        "Write an empty Disallow: below line 2, which allows the site for bingbot"
    )
    after = with_edits(body, [finding._replace(edits=finding.proposal)])
    assert after.startswith(b"User-agent: bingbot\nCrawl-delay: 10\nDisallow:\n\n")
    robots = koster.parse(after)
    assert robots.allowed("/", "bingbot")
    assert not robots.allowed("/", "LCC")


def test_google_is_compared_only_for_its_crawlers() -> None:
    body = b"User-agent: {}\nDisallow: /a%3Ab\n"
    google, other = (lint(body.replace(b"{}", name)) for name in (b"Googlebot-Image", b"bingbot"))
    (finding,) = [each for each in google if each.code == "D001"]
    assert "for Googlebot-Image" in finding.message
    assert "D001" not in {each.code for each in other}
    asked = lint(body.replace(b"{}", b"bingbot"), dialects=(koster.MK1994,))
    assert [each.code for each in asked] == ["D001"]


def test_ignored_directive_names_the_crawlers_of_its_group() -> None:
    body = b"User-agent: Googlebot-News\nUser-agent: FooBot\nDisallow: /a\nCrawl-delay: 5\n"
    (finding,) = lint(body)
    assert (finding.code, finding.message) == ("L006", "Googlebot-News ignores Crawl-delay")


@pytest.mark.parametrize(
    ("comment", "ignored"),
    [
        (b"Disallow: all # koster: ignore[P001]", True),
        (b"Disallow: all # koster: ignore[S, P]", True),
        (b"Disallow: all # why # koster: ignore", True),
        (b"# koster:ignore [p001]\n# why\nDisallow: all", True),
        (b"# koster: ignore[P001]\n\nDisallow: all", False),
        (b"Disallow: all # koster: ignore[P002]", False),
        (b"Disallow: all # koster ignore", False),
    ],
)
def test_comments_ignore_findings(comment: bytes, ignored: bool) -> None:
    codes = {each.code for each in lint(b"User-agent: *\n" + comment + b"\n")}
    assert ("P001" not in codes) is ignored


TEMPLATES = {
    "Jinja, Twig or Liquid": "{% if staging %}\nDisallow: /\n{% endif %}",
    "Go or Hugo": '{{ if eq .Env "x" }}\nDisallow: /\n{{ end }}',
    "ERB": "<% unless Rails.env.production? %>\nDisallow: /\n<% end %>",
    "PHP": "<?php if ($staging) { ?>\nDisallow: /\n<?php } ?>",
}


@pytest.mark.parametrize("language", TEMPLATES)
def test_template_is_linted_around_its_tags(language: str) -> None:
    body = f"User-agent: *\n{TEMPLATES[language]}\nDisallow: admin\nDisalow: /x\n"
    findings = lint(body.encode())
    assert [each.code for each in findings] == ["B011", "P001", "L003"]
    assert f"({language}): 2 lines with tags were not checked" in findings[0].message
    assert "rules were not compared" in findings[0].message
    # What a fix changes depends on the rendered file.
    assert not any(each.edits or each.proposal for each in findings)


def test_template_with_values_only_is_compared() -> None:
    body = b"User-agent: *\nDisallow: /a\nDisallow: /a/b\nSitemap: {{ url }}/sitemap.xml\n"
    findings = lint(body)
    assert [each.code for each in findings] == ["S009", "B011"]
    assert "1 line with tags was not checked" in findings[1].message
    assert "compared" not in findings[1].message


@pytest.mark.parametrize(
    "rule", ["/*{{", "/{{url}}", "/*{{ item.url }}*", "/{%", "/<%", "/a{{b}}", "/{{a}}/{{b}}"]
)
def test_paths_with_tags_are_no_template(rule: str) -> None:
    assert "B011" not in {each.code for each in lint(f"User-agent: *\nDisallow: {rule}\n".encode())}


def test_most_important_finding_affects_the_whole_site() -> None:
    body = b"User-agent: *\nDisallow: /\nCrawl-delay: x\n"
    first = most_important(lint(body))
    assert first is not None
    assert first.code == "S006"
    # More than an error in a single rule.
    first = most_important(lint(b"User-agent: *\nDisallow: a\nUser-agent: bingbot\nDisallow: /\n"))
    assert first is not None
    assert first.code == "S007"
    assert most_important([]) is None


def test_search_engines_are_those_of_the_settings() -> None:
    body = b"User-agent: SeznamBot\nDisallow: /\n"
    assert "S007" not in {each.code for each in lint(body)}
    assert "S007" in {each.code for each in lint(body, crawlers=("SeznamBot",))}


def test_settings_of_a_table() -> None:
    settings = read(
        {
            "select": ["S", "P"],
            "ignore": ["S009"],
            "per-file-ignores": {"staging/*": ["S006"]},
            "severity": {"s008": "note"},
            "dialects": ["RFC9309"],
            "crawlers": ["SeznamBot"],
        }
    )
    codes = {check.code for check in settings.checks_for("robots.txt")}
    assert {"S006", "P001"} <= codes
    assert not {"S009", "L001"} & codes
    assert "S006" not in {check.code for check in settings.checks_for("staging/robots.txt")}
    body = b"User-agent: *\nDisallow: /css/\n"
    (finding,) = lint(body, checks=chosen(["S008"]), severities=settings.severities)
    assert finding.severity is Severity.NOTE
    updated = settings.updated(["L"], ["L006"], (koster.GOOGLE,))
    assert {check.code[0] for check in updated.checks_for("robots.txt")} == {"L"}
    assert updated.dialects == (koster.GOOGLE,)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"selct": []}, "unknown key 'selct'. Did you mean select?"),
        ({"x": []}, "unknown key 'x'; valid are select, ignore"),
        ({"select": "S"}, "select must be a list of strings"),
        ({"ignore": ["X9"]}, "unknown code X9"),
        ({"per-file-ignores": []}, "per-file-ignores must be a table"),
        ({"per-file-ignores": {"a": "S"}}, "a must be a list"),
        ({"severity": {"S08": "note"}}, "unknown code 'S08' in severity. Did you mean S008?"),
        ({"severity": {"S008": "high"}}, "invalid severity 'high' of S008"),
        ({"dialects": ["RFC"]}, "RFC"),
    ],
)
def test_settings_errors_say_what_is_wrong(table: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(message)):
        read(table)


def test_note_is_the_lowest_severity() -> None:
    assert list(Severity)[-1] is Severity.NOTE


def test_dialect_findings_need_a_dialect_that_differs() -> None:
    body = b"User-agent: *\nDisallow: /a$*\nDisallow: /c*\nDisallow: /*?d=\n"
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


def test_directives_of_other_dialects_are_no_typos() -> None:
    body = b"User-agent: *\nCrawl-delay: 3\nCrawl-dellay: 3\nDisallow: /a\n"
    findings = lint(body, koster.GOOGLE, dialects=())
    assert [(each.code, each.line, each.message) for each in findings] == [
        ("L005", 2, "GOOGLE does not support Crawl-delay: this line has no effect"),
        ("L004", 3, 'Unknown directive "Crawl-dellay": crawlers ignore this line'),
    ]


@pytest.mark.skipif(not koster.COMPILED, reason="takes a minute in plain Python")
@pytest.mark.parametrize("key", [b"a", pytest.param(b"allow", marks=pytest.mark.thorough)])
def test_name_of_a_directive_may_fill_the_file(key: bytes) -> None:
    """Google reads a part of the line, without a colon."""
    body = b"User-agent: *\n" + key.ljust(MAX_PARSED_BYTES - 20, b"x") + b":"
    codes = {each.code for each in lint(body)}
    assert {"L005", "Z001"} <= codes
    assert "L009" not in codes


@pytest.mark.parametrize(
    ("line", "is_read"),
    [
        (b"Allowx: /a", True),
        (b"Allow" + b"x" * (BUFFER_BYTES - 6) + b":", True),
        # Google reads no colon on these.
        (b"Allow" + b"x" * (BUFFER_BYTES - 5) + b":", False),
        (b"Allowx \0: /a", False),
        # Google skips a byte order mark, and parts of one, at the start of the file.
        (b"\xefAllowx: /a", False),
        (b"\xef\xbb\xbfAllowx: /a", False),
    ],
)
def test_unknown_names_that_google_reads(line: bytes, is_read: bool) -> None:
    findings = lint(b"User-agent: *\n" + line + b"\nDisallow: /\n")
    assert [each.line for each in findings if each.code == "L009"] == [2] * is_read


def test_google_reads_a_name_after_a_part_of_a_byte_order_mark() -> None:
    findings = lint(b"\xefAllowx: /a\nUser-agent: *\n\xefAllowx: /a\n")
    assert [each.line for each in findings if each.code == "L009"] == [1]


def test_google_reads_each_of_many_unknown_names() -> None:
    names = [f"{'Allow' if number % 3 else 'Word'}{number}" for number in range(250)]
    body = "".join(f"{name}: /{number}\n" for number, name in enumerate(names))
    found = {each.line for each in lint(body.encode()) if each.code == "L009"}
    assert found == {1 + number for number in range(250) if number % 3}


def test_many_long_patterns_with_stars_do_not_end_the_search_for_others() -> None:
    lines = ["User-agent: *", "Disallow: /shop", "Disallow: /two words/"]
    lines += [f"Disallow: /shop/{number}/" for number in range(900)]
    lines += [f"Disallow: /*/documents/with-a-long-name-{number}.pdf" for number in range(900)]
    found = Counter(each.code for each in lint("\n".join(lines).encode()))
    assert (found["S009"], found["D001"]) == (900, 1)


@given(st.text(string.ascii_lowercase + "-1é", max_size=45) | _typos)
def test_typos_are_those_that_difflib_finds(name: str) -> None:
    """Names that cannot be similar are left out before, because difflib takes long."""
    lower = name.strip(" -_*")
    same = _directives._LETTERS.get(re.sub("[^a-z]", "", lower))
    is_known = name in _directives.DIRECTIVES or lower in _directives.UNREAD
    is_known = is_known or _directives._without_effect(lower) is not None
    if same or is_known or len(name) > 40 or not lower.isascii():
        return
    similar = [each for each in _directives.DIRECTIVES if abs(len(each) - len(lower)) <= 2]
    matches = difflib.get_close_matches(lower, similar, 1, 0.8)
    matches = [each for each in matches if each != "noindex"]
    expected = str(_directives.DIRECTIVES[matches[0]]) if matches else None
    assert _directives.intended_directive(name) == expected


def test_names_with_one_wrong_letter_are_found() -> None:
    """A letter more, fewer or another one, or two transposed: all but the first."""
    for letters in _names._tokens_by_letters():
        for at in range(1, len(letters)):
            begin, end = letters[:at], letters[at:]
            for word in (
                f"{begin}q{end}",
                begin + end[1:],
                f"{begin}q{end[1:]}",
                begin + end[1::-1] + end[2:],
            ):
                if (
                    min(len(letters), len(word)) >= _names._MIN_LETTERS
                    and word not in _names._REAL_NAMES
                ):
                    assert _names.similar_token(word) is not None, word


@pytest.mark.parametrize(
    "name", ["Googlebot-Richsnippets", "Exabot", "Roverbot", "msnbot", "rssbot", "Claude-Code"]
)
def test_names_of_other_crawlers_are_not_misspelled(name: str) -> None:
    found = lint(f"User-agent: {name}\nDisallow: /a\n".encode())
    assert "G013" not in {each.code for each in found}


def test_groups_of_many_names_are_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each name takes time for each name in the file."""
    monkeypatch.setattr(_groups, "_MAX_AGENTS", 2)
    body = "User-agent: *\nDisallow: /\n"
    for names, expected in (("ab", True), ("abc", False)):
        group = "".join(f"User-agent: {name}\n" for name in names)
        found = {each.code for each in lint(f"{body}\n{group}Crawl-delay: 1\n".encode())}
        assert ("G002" in found) == expected


@pytest.mark.parametrize("max_rules", [100_000, 0])
def test_number_of_decisions_is_limited(monkeypatch: pytest.MonkeyPatch, max_rules: int) -> None:
    """Each rule with a star may be compared with each URL of the file: here two, for * and Google.

    A long URL counts as several, and most if patterns may begin in many places of it.
    """
    monkeypatch.setattr("koster.analysis.WholeFile._max_rules", max_rules)
    monkeypatch.setattr("koster.analysis._files._MAX_DECIDED_RULES", 20)
    rules = "User-agent: *\nDisallow: /*.xml\nDisallow: /*.gz\n"
    for name, count in (("a", 5), (string.ascii_lowercase * 10, 1), ("a" * 600, 0)):
        sitemaps = "".join(f"Sitemap: https://x.example/{name}{at}.xml\n" for at in range(9))
        codes = Counter(each.code for each in lint(f"{rules}{sitemaps}".encode()))
        assert codes["M002"] == count


def test_groups_are_not_looked_for_if_that_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither of names without rules nor of merged ones: each is compared with all names."""
    merged = "User-agent: a\nCrawl-delay: 1\nUser-agent: b\nAllow: /x\nDisallow: /\n"
    body = f"User-agent: *\nDisallow: /\n\n{merged}\nUser-agent: c\n".encode()
    assert {"G002", "G003"} <= {each.code for each in lint(body)}
    monkeypatch.setattr("koster.analysis._names._MAX_NAME_COMPARISONS", 0)
    found = {each.code: each.suggestion for each in lint(body)}
    assert "G002" not in found
    assert "G003" in found


@pytest.mark.parametrize(
    ("line", "code", "count"),
    [
        ("Content-Signal: " + "x=yes,x=yes," * 30, "E004", 2),
        ("Content-Signal: " + ",".join(f"x{at}=yes" for at in range(30)), "E004", 20),
        ("Content-Usage: " + ",".join(f"x{at}=y" for at in range(30)), "E005", 20),
        ("Content-Signal: search=yes" + ",search=no" * 30, "E006", 20),
        ("# koster: ignore[" + ",".join(f"x{at}" for at in range(30)) + "]", "L012", 20),
    ],
)
def test_first_parts_of_a_value_are_reported(line: str, code: str, count: int) -> None:
    body = f"User-agent: *\n{line}\nDisallow: /a\n".encode()
    assert len([each for each in lint(body) if each.code == code]) == count


def test_host_of_a_sitemap_has_a_length() -> None:
    """Marks above and below a letter would take minutes to sort."""
    found = lint(("Sitemap: https://a" + "\u0301\u0316" * 50_000).encode())
    assert "M003" in {each.code for each in found}


def test_first_rules_about_resources_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    body = b"User-agent: *\nDisallow: /a/css/\nDisallow: /b/css/\nDisallow: /c/css/\n"
    assert [each.line for each in lint(body) if each.code == "S008"] == [2, 3, 4]
    monkeypatch.setattr("koster.lint._resources._MAX_RULES", 2)
    assert [each.line for each in lint(body) if each.code == "S008"] == [2, 3]


def test_group_in_the_rule_sets_of_several_names_ignores_the_star_rules_once() -> None:
    body = b"User-agent: *\nDisallow: /a\n\nUser-agent: b\nUser-agent: c\nAllow: /x\n\n"
    body += b"User-agent: b\nAllow: /y\n\nUser-agent: c\nDisallow: /z\n"
    assert [each.line for each in lint(body) if each.code == "S011"] == [4]


@pytest.mark.parametrize("url", ["http://[a/x", "http://a]/x", "http://a:b/x"])
def test_invalid_sitemap_that_a_rule_matches_is_only_invalid(url: str) -> None:
    found = lint(f"User-agent: *\nDisallow: *x\nSitemap: {url}\n".encode())
    assert [each.code for each in found] == ["M003"]


def test_number_of_findings_with_one_code_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last one says that there are more."""
    monkeypatch.setattr("koster.lint._MAX_FINDINGS", 2)
    for count, more in ((2, ""), (3, " (2 are listed, and there are more)")):
        found = [
            each for each in lint(b"User-agent: *\n" + b"words\n" * count) if each.code == "L002"
        ]
        message = "Not a directive: crawlers ignore this line"
        assert [each.message for each in found] == [message, message + more]


def test_very_many_lone_returns_are_replaced_at_once() -> None:
    many = b"User-agent: *\rDisallow: /\n" + b"# a\r" * 2_000
    for body in (
        many + b"\nAllow: /b\r",
        many + b"\r\r\nAllow: /b\r\nAllow: /c\r\n",
        b"\r" * 2_000,
    ):
        found = next(each for each in lint(body) if each.code == "B008")
        assert len(found.edits) == 1
        assert with_edits(body, [found]) == re.sub(rb"\r(?!\n)", b"\n", body)


def test_edits_of_a_line_beyond_ascii_are_in_any_order() -> None:
    line = "Disallow: /\u00e9\u00e9\u00e9#x"
    subject = CheckedFile(line.encode())
    at = [subject.edit(subject.lines[0], column, 1, "-") for column in (14, 11, 13)]
    assert [(each.start, each.end) for each in at] == [(17, 18), (11, 13), (15, 17)]


def test_star_rules_are_repeated_in_other_groups_if_they_are_few() -> None:
    def inserted(star: int, own: int) -> list[str]:
        first, second = (
            "".join(f"Disallow: /{at}\n" for at in range(start, star)) for start in (0, star - own)
        )
        body = f"User-agent: *\n{first}{first}\nUser-agent: a\n{second}Disallow: /b\n"
        found = next(each for each in lint(body.encode()) if each.code == "S011")
        return [line for each in found.proposal for line in each.replacement.decode().splitlines()]

    assert inserted(20, 0) == [f"Disallow: /{at}" for at in range(20)]
    assert inserted(30, 10) == [f"Disallow: /{at}" for at in range(20)]
    assert not inserted(31, 10)
    assert not inserted(32, 10)


@pytest.mark.parametrize("dialect", [koster.RFC9309, koster.EXTENDED2])
def test_checks_of_patterns_find_nothing_in_usual_ones(
    monkeypatch: pytest.MonkeyPatch, dialect: koster.Dialect
) -> None:
    """They do not look at them: with all short patterns, the findings are the same if they do."""
    parts = [*"/*?=$a\u00e9\u2003.&:()^%", " a"]
    short = ["".join(each) for size in (1, 2) for each in itertools.product(parts, repeat=size)]
    short += sampled(["".join(each) for each in itertools.product(parts, repeat=3)], 40)
    short += [
        "/*?b=",
        "/a*?a=",
        "/*&a=*",
        "/a: disallow:",
        "//a://a",
        "/a.com/",
        "http://a",
        "*a.com",
    ]
    rules = "".join(f"Disallow: {each}\nDisallow: /a{each}\n" for each in short)
    found = _in_patterns(f"User-agent: *\n{rules}", dialect)
    monkeypatch.setattr("koster.lint._model._USUAL_PATTERN", re.compile("(?!)"))
    codes = {each.code for each in found}
    assert codes >= {"P001", "P002", "P005", "P006", "P007"}
    assert (codes >= {"P003", "P004", "P008"}) == (dialect == koster.RFC9309)
    assert found == _in_patterns(f"User-agent: *\n{rules}", dialect)


def _in_patterns(body: str, dialect: koster.Dialect) -> list[Finding]:
    return [each for each in lint(body.encode(), dialect) if each.code.startswith("P")]


OTHER_DIALECTS = tuple(each for each in koster.DIALECTS.values() if each != koster.RFC9309)


def codes_of_groups(count: int) -> set[str]:
    names = "".join(f"User-agent: b{number}\nDisallow: /a$b{number}\n" for number in range(count))
    return {each.code for each in lint(names.encode(), dialects=OTHER_DIALECTS)}


def test_all_other_dialects_share_one_limit_of_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some look at each line for each name: with 4,000 groups, that takes a minute."""
    selected = []
    rules_for = rules_for_data

    def counted(robots: koster.RobotsTxt, agent: str) -> koster.Rules:
        if robots.dialect != koster.RFC9309:
            selected.append(robots.dialect)
        return rules_for(robots, agent)

    monkeypatch.setattr("koster.analysis._files.rules_for_data", counted)
    assert "Z004" not in codes_of_groups(20)
    assert len(selected) > 100
    monkeypatch.setattr("koster.analysis._names._MAX_NAME_COMPARISONS", 20_000)
    selected.clear()
    assert "Z004" in codes_of_groups(20)
    # The other dialects find Google's crawlers by an index, and these are still compared.
    assert koster.GOOGLE in selected
    assert 40 < len(selected) < 80


def test_all_other_dialects_share_one_limit_of_comparisons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each may need a search of its own: 10 ms, and so minutes for a thousand groups."""
    assert "Z004" not in codes_of_groups(10)
    monkeypatch.setattr("koster.lint._model._STEPS", 1_000)
    assert "Z004" in codes_of_groups(10)
