"""Commands for site owners: lint, diff, audit, test, compose and fmt."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import click
import pytest
from click.testing import CliRunner, Result
from hypothesis import given

import koster
from koster import expectations
from koster._cli.root import koster as command
from koster._reports import screen
from koster.lint import CHECKS
from tests.helpers import server, strategies
from tests.helpers.support import EVERYTHING, ROOT, sampled

BAD = "User-agent: *\nDisallow: admin\n"
TYPO = "User-agent: *\nDisallows: /admin\n"
MISSPELT = "User-agent: *\nDissallow: /admin\n"
GOOD = "User-agent: *\nDisallow: /admin\n"


def run(*arguments: str | Path, stdin: str | bytes = "") -> Result:
    return CliRunner().invoke(command, [str(each) for each in arguments], input=stdin)


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "robots.txt"
    path.write_text(BAD)
    return path


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.txt"
    path.write_text(GOOD)
    return path


def test_lint_shows_position_line_and_suggestion(bad: Path) -> None:
    result = run("lint", bad)
    assert result.exit_code == 1
    assert f"{bad}:2:11 error P001 " in result.stdout
    assert (
        "    2 | Disallow: admin\n      |           ^^^^^ Write /admin, which blocks it\n"
        in result.stdout
    )


def test_lint_of_a_clean_file_says_so(good: Path) -> None:
    result = run("lint", good)
    assert (result.exit_code, result.stdout) == (0, "No problems found\n")


def test_lint_notes_do_not_fail(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_text(GOOD + "Crawl-delay: 5\n")
    result = run("lint", path)
    assert result.exit_code == 0
    assert result.stdout == "No errors or warnings; 1 note (shown with --notes)\n"
    assert "note L006" in run("lint", "--notes", path).stdout


def test_lint_reads_standard_input() -> None:
    result = run("lint", "-", stdin=BAD)
    assert result.exit_code == 1
    assert result.stdout.startswith("<stdin>:2:11 error P001")


def test_lint_fetches_a_site(site: server.Site) -> None:
    site.robots(body=BAD.encode())
    result = run("lint", site.url)
    assert result.exit_code == 1
    assert f"{site.url}/robots.txt:2:11 error P001" in result.stdout


@pytest.mark.parametrize(
    ("raw_bytes", "content_type", "message"),
    [
        (GOOD.encode("utf-16"), "text/plain", "error B002 The file is in UTF-16-LE"),
        (GOOD.encode("utf-32-be"), "text/plain; charset=UTF-32BE", "B002 The file is in UTF-32BE"),
        (GOOD.encode() + b"Disallow: /\xe9\n", "text/plain; charset=ISO-8859-1", "B004 Served as iso"),
        # A false charset is ignored.
        (GOOD.encode() + b"Disallow: /\xe9\n", "text/plain; charset=ascii", "Byte 0xe9 is not UTF-8"),
    ],
)  # fmt: skip
def test_lint_reports_the_charset_of_a_site(
    site: server.Site, raw_bytes: bytes, content_type: str, message: str
) -> None:
    site.robots(body=raw_bytes, headers={"Content-Type": content_type})
    assert message in run("lint", site.url).stdout


def test_lint_reports_unreadable_files_and_checks_the_others(bad: Path, tmp_path: Path) -> None:
    result = run("lint", tmp_path / "none.txt", bad)
    assert result.exit_code == 3
    assert "none.txt: No such file" in result.stderr
    assert "P001" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lint", "--write-baseline"], "needs --baseline"),
        (["lint", "--fix", "--render", "cat", "x"], "cannot change a rendered file"),
        (["lint", "--write", "x"], "--write needs --fix"),
        (["lint", "--fix", "--format", "json", "x"], "--format text"),
        (["lint", "--fix", "--write", "-"], "cannot change"),
        (["lint", "--fix", "--write", "https://127.0.0.1"], "cannot change"),
        (["lint", "--select", "X9", "x"], "unknown code X9"),
        (["lint", "-", "-"], "only once"),
        (["lint", "--explain", "X9"], "unknown code X9"),
        (["diff", "-", "-"], "only once"),
        (["test"], "no robots.expect.toml here"),
        (["fmt"], "no files given"),
        (["fmt", "a", "b"], "--write"),
        (["fmt", "--write", "-"], "cannot change"),
        (["compose"], "no options given"),
        (["compose", "--close", "cart"], "must start with /"),
        (["compose", "--close", "/a#b"], "must not contain"),
        (["compose", "--sitemap", "/s.xml"], "must be an absolute URL"),
        (["compose", "--signal", "ai-train"], "ai-train=no"),
        (["compose", "--signal", "ai-train=perhaps"], "Invalid value"),
    ],
)
def test_usage_errors(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert message in " ".join(result.stderr.replace("│", " ").split())


def test_lint_selects_and_ignores_codes(bad: Path) -> None:
    assert run("lint", "--select", "L,B", bad).exit_code == 0
    assert run("lint", "--ignore", "p001", bad).exit_code == 0
    assert run("lint", "--select", "P", "--select", "L", bad).exit_code == 1


def test_lint_explains_every_code() -> None:
    for check in CHECKS:
        result = run("lint", "--explain", check.code.lower())
        assert result.exit_code == 0
        assert check.title in result.stdout
        assert check.why in result.stdout
    message = run("lint", "--explain", "all").stdout
    assert all(check.code in message for check in CHECKS)


def test_lint_fix_shows_and_writes_a_diff(bad: Path) -> None:
    bad.write_text(MISSPELT)
    os.chmod(bad, 0o640)
    result = run("lint", "--fix", bad)
    assert result.exit_code == 1
    assert "-Dissallow: /admin\n+Disallow: /admin\n" in result.stdout
    assert "no access changes (proved by RFC9309 and GOOGLE)" in result.stdout
    assert bad.read_text() == MISSPELT
    run("lint", "--fix", "--write", bad)
    assert bad.read_text() == GOOD
    assert stat.S_IMODE(bad.stat().st_mode) == 0o640
    assert [path.name for path in bad.parent.iterdir()] == [bad.name]


@pytest.mark.parametrize("text", [TYPO, BAD])
def test_lint_fix_changes_no_access(bad: Path, text: str) -> None:
    bad.write_text(text)
    output = run("lint", "--fix", "--write", bad).stdout
    assert "what koster suggests changes what crawlers may fetch, so decide yourself" in output
    assert bad.read_text() == text


def test_lint_fix_leaves_what_another_dialect_reads_differently(bad: Path) -> None:
    """MK1994 reads the star literally: without it, the rule matches more."""
    body = "User-agent: *\nDisallow: /a*\n"
    for options, fixed in (
        ((), "Disallow: /a\n"),
        (("--dialect", "GYM2008,MK1994"), "Disallow: /a*\n"),
    ):
        bad.write_text(body)
        run("lint", "--fix", "--write", *options, bad)
        assert bad.read_text() == f"User-agent: *\n{fixed}"


def test_lint_json_sarif_and_github(bad: Path) -> None:
    (record,) = json.loads(run("lint", "--format", "json", bad).stdout)
    assert (record["code"], record["line"], record["column"], record["fixable"]) == (
        "P001",
        2,
        11,
        False,
    )
    log = json.loads(run("lint", "--format", "sarif", bad).stdout)
    (result,) = log["runs"][0]["results"]
    assert result["ruleId"] == "P001"
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert rules[result["ruleIndex"]]["id"] == "P001"
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 2, "startColumn": 11, "endColumn": 16}
    output = run("lint", "--format", "github", bad).stdout
    assert output.startswith(f"::error file={bad},line=2,col=11,endColumn=15,title=P001::")


def test_lint_output_has_no_control_sequences_or_workflow_commands(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_bytes(b"User-agent: *\n\x1b[31mDisallow: \x1b]0;x\x07a\nDisallow: %0A::error::x\n")
    for output_format in ("text", "github"):
        output = run("lint", "--format", output_format, path).stdout
        assert "\x1b" not in output or output_format == "github"
        assert "\n::error::x" not in output


def test_diff_shows_crawlers_urls_and_lines(tmp_path: Path) -> None:
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    old.write_text("User-agent: *\nDisallow: /a\n")
    new.write_text("User-agent: *\nDisallow: /a/\nCrawl-delay: 5\n")
    result = run("diff", old, new)
    assert result.exit_code == 1
    assert "Crawlers without a group of their own" in result.stdout
    assert "now allowed  /a   2: Disallow: /a  no rule" in result.stdout
    assert "+ Crawl-delay: 5 s" in result.stdout
    assert run("diff", old, old).exit_code == 0
    record = json.loads(run("diff", "--format", "json", old, new).stdout)
    assert record["changes"][0]["differences"][0]["url"] == "/a"
    assert record["decides_alike"] is False
    markdown = run("diff", "--format", "markdown", old, new).stdout
    assert "| now allowed | `/a` | `2: Disallow: /a` | `no rule` |" in markdown
    assert run("diff", old, tmp_path / "none").exit_code == 3


def test_diff_reads_a_site_and_standard_input(site: server.Site) -> None:
    site.robots(body=GOOD.encode())
    assert run("diff", site.url, "-", stdin=GOOD).exit_code == 0
    assert run("diff", site.url, "-", stdin=BAD).exit_code == 1


def test_diff_of_a_site_without_a_file(site: server.Site) -> None:
    result = run("diff", site.url, "-", stdin=GOOD)
    assert result.exit_code == 1
    assert "has no robots.txt" in result.stderr
    assert "now blocked  /admin" in result.stdout
    site.robots(503)
    assert run("diff", site.url, "-", stdin=GOOD).exit_code == 3


def test_audit_formats(good: Path) -> None:
    message = run("audit", good).stdout
    assert message.splitlines()[0] == "Search engines              allowed except /admin"
    assert len(message.splitlines()) <= 12
    assert "Search (" in run("audit", "--all", good).stdout
    assert "Checked on" in run("audit", "--all", good).stdout
    record = json.loads(run("audit", "--site", "Us", "--format", "json", good).stdout)
    assert record["site"] == "Us"
    assert {each["disallowed"] for each in record["crawlers"]} == {"some", "none"}
    assert (
        "# Crawlers allowed by Us"
        in run("audit", "--site", "Us", "--format", "markdown", good).stdout
    )
    page = run("audit", "--site", "<Us>", "--format", "html", good).stdout
    assert page.startswith("<!doctype html>")
    assert "&lt;Us&gt;: crawlers" in page
    assert run("audit", "none.txt").exit_code == 3


def test_expectations_formats(tmp_path: Path, good: Path) -> None:
    path = tmp_path / "robots.expect.toml"
    path.write_text('robots = "good.txt"\n[[expect]]\nallow = "/"\ndisallow = ["/admin", "/b"]\n')
    result = run("test", path)
    assert result.exit_code == 1
    assert (
        "failed: * should not be allowed to fetch /b, but it is allowed (no rule)" in result.stdout
    )
    assert "2 as expected, 1 not" in result.stdout
    records = json.loads(run("test", "--format", "json", path).stdout)
    assert [each["passed"] for each in records] == [True, True, False]
    suites = ET.fromstring(run("test", "--format", "junit", path).stdout)
    assert suites[0].attrib["failures"] == "1"
    assert len(suites.findall(".//failure")) == 1
    assert run("test", "--robots", "-", path, stdin="User-agent: *\nDisallow: /b\n").exit_code == 1
    assert run("test", tmp_path / "none").exit_code == 3
    path.write_text('robots = "none.txt"\n[[expect]]\nallow = "/"\n')
    result = run("test", path)
    assert result.exit_code == 3
    assert not result.stdout
    (record,) = json.loads(run("test", "--format", "json", path).stdout)
    assert not record["passed"]
    assert "none.txt: No such file" in record["why"]
    suites = ET.fromstring(run("test", "--format", "junit", path).stdout)
    assert suites[0].attrib["errors"] == "1"
    assert "none.txt: No such file" in suites.findall(".//error")[0].attrib["message"]
    path.write_text("x = 1\n")
    assert run("test", path).exit_code == 2


def test_compose_overwrites_the_kept_file(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_text("User-agent: *\nDisallow: /a\n")
    path.chmod(0o640)
    message = run("compose", "--close", "/cart/", "--keep", path, "--write", path, "--quiet")
    assert message.exit_code == 0
    assert not message.stdout
    assert path.read_text().startswith("User-agent: *\nDisallow: /a\nDisallow: /cart/\n")
    assert path.stat().st_mode & 0o777 == 0o640
    new = tmp_path / "new.txt"
    assert run("compose", "--others", "disallow", "--write", new, "--quiet").exit_code == 0
    assert new.read_text().startswith("# All other crawlers")
    assert run("compose", "--others", "allow", "--write", tmp_path, "--quiet").exit_code == 3
    assert run("compose", "--disallow", "a:b").exit_code == 2


def test_fmt_prints_and_writes(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_text("user-agent:*\nDISALLOW: /a\nDisallow: /a/b\n")
    assert run("fmt", path).stdout == "User-agent: *\nDisallow: /a\nDisallow: /a/b\n"
    assert (
        run("fmt", "--minify", "-", stdin=path.read_text()).stdout
        == "User-agent: *\nDisallow: /a\n"
    )
    assert run("fmt", "--minify", "--write", path).exit_code == 0
    assert path.read_text() == "User-agent: *\nDisallow: /a\n"
    link = tmp_path / "link.txt"
    link.symlink_to(path)
    path.write_text("user-agent:*\nDisallow:\n")
    assert run("fmt", "--write", link).exit_code == 0
    assert link.is_symlink()
    assert path.read_text() == "User-agent: *\nDisallow:\n"


def test_fmt_check(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_text("User-agent: *\nDisallow: /a\n")
    bad.write_text("user-agent: *\nDisallow: /a\n")
    assert run("fmt", "--check", good).exit_code == 0
    result = run("fmt", "--check", good, bad)
    assert result.exit_code == 1
    assert result.stdout == f"{bad}: would be reformatted\n"
    assert bad.read_text().startswith("user-agent")
    assert run("fmt", "--check", "--write", bad).exit_code == 2


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<!doctype html><p>Not found", "is an HTML page, not a robots.txt"),
        (GOOD.encode("utf-16-le"), "seems to be in UTF-16 or UTF-32, without a byte order mark"),
        (b"\x1f\x8b\x08\0", "is binary, not text"),
        (b"all robots are welcome\n", "has no line that can be read as robots.txt"),
    ],
)
@pytest.mark.parametrize("command", ["check", "diff", "audit", "fmt", "test", "compose"])
def test_commands_warn_about_files_that_are_not_robots_txt(
    tmp_path: Path, command: str, body: bytes, message: str
) -> None:
    """Crawlers find no rules in such files, which the user should know."""
    (tmp_path / "page.txt").write_bytes(body)
    expectations = tmp_path / "e.toml"
    expectations.write_text('robots = "page.txt"\n[[expect]]\nallow = "/"\n')
    page = str(tmp_path / "page.txt")
    arguments = {
        "check": ["--robots", page, "/"],
        "diff": [page, page],
        "audit": [page],
        "fmt": ["--check", page],
        "test": [str(expectations)],
        "compose": ["--training", "disallow", "--keep", page],
    }
    result = run(command, *arguments[command])
    assert message in result.stderr
    # Commands that write refuse; the others read the file as crawlers do.
    assert result.exit_code == (3 if command in ("fmt", "compose") else 0)


def test_lint_fixes_notes_only_if_access_is_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_text("User-agent: *\nDisallow: /a*\nAllow: /a\n")
    assert "nothing to fix" in run("lint", "--fix", "--write", path).stdout
    path.write_text("User-agent: *\nDisallow: /a*\n")
    result = run("lint", "--fix", "--write", path)
    assert "no access changes (proved by RFC9309 and GOOGLE)" in result.stdout
    assert result.exit_code == 0
    assert path.read_text() == "User-agent: *\nDisallow: /a\n"


def test_names_are_not_workflow_commands_or_control_sequences(tmp_path: Path) -> None:
    path, empty = tmp_path / "robots.txt", tmp_path / "empty.txt"
    empty.write_text("")
    path.write_text("User-agent: ::stop-commands::x\nDisallow: /\n::error::x\nDisalow: /b\n")
    for arguments in (
        ["diff", empty, path],
        ["lint", "--fix", path],
        ["lint", path],
        ["audit", path],
    ):
        lines = run(*arguments).stdout.splitlines()
        assert not [line for line in lines if line.lstrip().startswith("::")], arguments
    path.write_text("User-agent: Foo \x1b]0;x\x07 y\nDisalow: /\nDisallow: /a*\nAllow: /a\n")
    assert "\x1b" not in run("lint", "--fix", path).stdout


def test_json_has_no_surrogates(tmp_path: Path) -> None:
    path, empty = tmp_path / "robots.txt", tmp_path / "empty.txt"
    empty.write_text("")
    path.write_bytes(b"User-agent: *\nUser-agent: F\xff\nDisalow: /\xff\nCrawl-delay: \xff\n")
    check = ["check", "--robots", path, "/%ff"]
    for arguments in (["lint", path], ["diff", empty, path], ["audit", path], check):
        json.dumps(json.loads(run(*arguments, "-f", "json").stdout)).encode("utf-8")
        assert "\\udcff" not in run(*arguments, "-f", "json").stdout


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_fmt_preserves_the_whole_file_mode(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_text("user-agent: *\n")
    path.chmod(0o6751)
    mode = path.stat().st_mode
    assert run("fmt", "--write", path).exit_code == 0
    assert path.stat().st_mode == mode


#: Without compilation, the engine is up to a hundred times slower per rule and name.
_DIVISOR = (1 if EVERYTHING else 10) if koster.COMPILED else 50


def _numbered_lines(line: bytes, count: int) -> bytes:
    """Return many copies of a line, each with its number."""
    return b"".join(line % number + b"\n" for number in range(count // _DIVISOR))


@pytest.mark.parametrize(
    "body",
    sampled(
        [
            b"User-agent: *\nallow" + b" " * 100_000 + b"#x",
            b"User-agent: *\nDisallow: /" + (b"[" * 480 + b"-" * 500 + b"\nDisallow: /") * 300,
            _numbered_lines(b"User-agent: foo %d", 20_000 if EVERYTHING else 8_000)
            + b"Disallow: /\n",
            _numbered_lines(b"User-agent: f%d\nDisallow: /", 5_000),
            b"User-agent: *\nDisallow: /\n" + _numbered_lines(b"Sitemap: https://e.com/%d", 50_000),
            b"User-agent: *\nDisallow: /\n" + _numbered_lines(b"Request-rate: 1/%ds", 20_000),
            b"User-agent: *\n" + _numbered_lines(b"Disallow: /x%d.js", 10_000),
            b"User-agent: *\n" + _numbered_lines(b"Disallow: /*x%d.js", 10_000),
            b"User-agent: *\nDisallow: /" + "\u200b".encode() * 100_000,
            b"User-agent: *\n" + _numbered_lines(b"Disallow: /%d" + b"*a*ab" * 150, 100),
        ],
        2,
    ),
    ids=lambda body: f"{body[:30]!r}",
)
def test_hostile_files_are_fast(tmp_path: Path, body: bytes) -> None:
    """Each takes seconds, most take one. A quadratic step would take minutes."""
    path, empty = tmp_path / "robots.txt", tmp_path / "empty.txt"
    path.write_bytes(body)
    empty.write_text("")
    for arguments in (["lint", path], ["fmt", path], ["audit", path], ["diff", empty, path]):
        assert run(*arguments).exit_code in (0, 1)


def test_lint_strict_fails_on_notes(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_text("User-agent: *\nDisallow: /a\nCrawl-delay: 5\n")
    assert run("lint", path).exit_code == 0
    assert run("lint", "--strict", path).exit_code == 1


def test_lint_machine_formats_include_read_errors(tmp_path: Path) -> None:
    (sarif_run,) = json.loads(run("lint", "-f", "sarif", "none.txt").stdout)["runs"]
    (invocation,) = sarif_run["invocations"]
    assert not invocation["executionSuccessful"]
    assert "none.txt" in invocation["toolExecutionNotifications"][0]["message"]["text"]
    assert run("lint", "-f", "github", "none.txt").stdout.startswith(
        "::error title=koster::none.txt"
    )
    assert "use https://example.com" in run("lint", "example.com").stderr
    path = tmp_path / "robots.txt"
    path.write_bytes(b"User-agent: *\nDisalow: /\xff\n")
    (sarif_run,) = json.loads(run("lint", "-f", "sarif", path).stdout)["runs"]
    fixes = [each["fixes"] for each in sarif_run["results"] if "fixes" in each]
    (replacement,) = fixes[0][0]["artifactChanges"][0]["replacements"]
    assert replacement == {
        "deletedRegion": {"byteOffset": 14, "byteLength": 7},
        "insertedContent": {"text": "Disallow"},
    }
    assert json.loads(run("lint", "-f", "json", path).stdout)[0]["edits"] == [
        {"start": 14, "end": 21, "text": "Disallow"}
    ]


def test_fmt_does_not_write_what_it_cannot_prove(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    text = "User-agent: *\nRobot-version: 2.0\nDisallow: /a#b\n"
    path.write_text(text)
    result = run("fmt", "--write", "--dialect", "EXTENDED2", path)
    assert result.exit_code == 1
    assert "not proved to be equivalent in EXTENDED2; it stays as it is" in result.stderr
    assert path.read_text() == text


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write anywhere")
def test_fmt_without_write_permission(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_text("user-agent:*\n")
    os.chmod(tmp_path, 0o500)
    assert run("fmt", "--write", path).exit_code == 3


def test_truncated_files_are_not_rewritten(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    body = b"user-agent: *\nDisallows: /a\n" + (b"#" + b" " * 998 + b"\n") * 17_000
    path.write_bytes(body)
    for arguments in (["fmt", "--write"], ["lint", "--select", "L004", "--fix", "--write"]):
        result = run(*arguments, path)
        assert result.exit_code == 3
        assert "too large" in result.stderr
        assert path.read_bytes() == body


def test_only_regular_files_are_written(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    result = run("fmt", "--write", path)
    assert result.exit_code == 3
    assert "is a named pipe, not a file" in result.stderr
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_invalid_expectations_file_does_not_hide_the_others(tmp_path: Path, good: Path) -> None:
    valid, invalid = tmp_path / "a.toml", tmp_path / "b.toml"
    valid.write_text(f'robots = "{good.name}"\n[[expect]]\nallow = "/"\n')
    invalid.write_text("x = 1\n")
    result = run("test", valid, invalid)
    assert result.exit_code == 2
    assert "1 as expected, 0 not" in result.stdout
    assert "b.toml: unknown key 'x' in the file" in result.stderr


def test_markdown_does_not_mention_github_users(tmp_path: Path, good: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("User-agent: @torvalds\nDisallow: /\n")
    assert "`@torvalds`" in run("diff", "--format", "markdown", path, good).stdout


def test_compose_prints_the_file_and_its_audit(good: Path) -> None:
    result = run("compose", "--training", "disallow", "--close", "/x/", "--keep", good)
    assert result.exit_code == 0
    assert "User-agent: GPTBot" in result.stdout
    assert "Disallow: /admin\nDisallow: /x/" in result.stdout
    assert "AI training                 blocked (" in result.stderr
    assert "Changes:" in result.stderr
    assert "now blocked  /x/" in result.stderr
    assert run("compose", "--training", "disallow", "--quiet").stderr == ""


def test_pre_commit_hooks_name_existing_commands() -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
    for name in ("lint", "fmt", "test"):
        assert f"- id: koster-{name}\n" in text
        assert command.get_command(click.Context(command), name)


def test_compose_presets_say_who_stays_allowed() -> None:
    result = run("compose", "--preset", "wordpress", "--preset", "no-ai-training")
    assert result.exit_code == 0
    assert "User-agent: CCBot" in result.stdout
    assert "Disallow: /wp-admin/" in result.stdout
    assert "no-ai-training: Block AI training" in result.stderr
    assert "AI search (OAI-SearchBot" in result.stderr
    assert "Source: https://developer.wordpress.org/" in result.stderr
    assert run("compose", "--preset", "wordpres").exit_code == 2
    # Options add to a preset, and override it.
    result = run("compose", "--preset", "no-ai-training", "--allow", "GPTBot", "--quiet")
    assert koster.parse(result.stdout).allowed("/", "GPTBot")
    assert not koster.parse(result.stdout).allowed("/", "ClaudeBot")


def test_compose_names_rules_that_keep_a_closed_path_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "robots.txt"
    path.write_text("".join(f"User-agent: a{each}\nAllow: /*{each}.html\n" for each in range(23)))
    options = ("compose", "--close", "/cart/", "--keep", path, "--quiet")
    stderr = run(*options).stderr
    message = "/cart/5.html stays open to a5: Allow: /*5.html allows more than that path"
    assert message in stderr
    assert stderr.endswith("3 more rules keep such URLs open\n")
    monkeypatch.setattr("koster.compose._closed._MAX_SEARCHED", 3)
    assert "the file has too many rules to check all" in run(*options).stderr


@pytest.mark.parametrize("option", ["--allow", "--disallow"])
def test_compose_rejects_unknown_crawlers(option: str) -> None:
    for name, hint in (("GTPBot", "Did you mean GPTBot?"), ("Claude", "ClaudeBot"), ("MyBot", "")):
        result = run("compose", option, name)
        assert result.exit_code == 2
        message = " ".join(result.stderr.replace("│", "").split())
        assert name in message
        assert hint in message
        assert "--force accepts it" in message
        assert run("compose", option, name, "--force").exit_code == 0


def test_expectations_reject_unknown_crawlers(tmp_path: Path, good: Path) -> None:
    path = tmp_path / "robots.expect.toml"
    path.write_text('robots = "good.txt"\n[[expect]]\nagent = "GTPBot"\nallow = "/"\n')
    result = run("test", path)
    assert result.exit_code == 2
    assert "GTPBot is not a known crawler. Did you mean GPTBot? --force" in result.stderr
    assert run("test", path, "--force").exit_code == 0
    path.write_text('robots = "good.txt"\n[[expect]]\nagent = "GPTBot/1.0"\nallow = "/"\n')
    assert run("test", path).exit_code == 0


def test_init_writes_expectations_that_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("test", "--init").exit_code == 3
    Path("robots.txt").write_text(
        "User-agent: *\nDisallow: /a\nAllow: /a/b\n\nUser-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n"
    )
    assert "koster test robots.expect.toml checks it" in run("test", "--init").stdout
    text = Path("robots.expect.toml").read_text()
    assert 'agent = ["GPTBot", "CCBot"]\ndisallow = ["/"]\n' in text
    assert "no-dead-rules = true" in text
    assert run("test").exit_code == 0
    result = run("test", "--init")
    assert result.exit_code == 3
    assert "exists; --init does not overwrite it" in result.stderr
    assert Path("robots.expect.toml").read_text() == text
    (tmp_path / "deep").mkdir()
    assert run("test", "--init", "deep/expect.toml").exit_code == 0
    assert 'robots = "../robots.txt"' in Path("deep/expect.toml").read_text()
    assert run("test", "deep/expect.toml").exit_code == 0
    Path("robots.txt").write_text("User-agent: *\nDisallow: /a\n")
    assert run("test").exit_code == 1


@given(strategies.files)
def test_written_expectations_hold_for_any_file(body: bytes) -> None:
    robots = koster.parse(body)
    expected = expectations.read(expectations.written(robots, "robots.txt"))
    assert all(each.passed for each in expectations.check(expected, robots))


def test_expectations_annotate_lines_on_github(tmp_path: Path, good: Path) -> None:
    path = tmp_path / "robots.expect.toml"
    path.write_text('robots = "good.txt"\n[[expect]]\nallow = "/admin"\ndisallow = "/b"\n')
    first, second, counts = run("test", "-f", "github", path).stdout.splitlines()
    assert first.startswith(f"::error file={good},line=2,title=koster test::* should be allowed")
    assert second.startswith(f"::error file={good},line=1,title=koster test::* should not be")
    assert counts == "0 as expected, 2 not"
    missing = run("test", "-f", "github", tmp_path / "none.toml").stdout
    assert missing.startswith("::error title=koster::")


def test_audit_of_each_crawler_fits_narrow_terminals(
    good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen, "width", lambda: 80)
    output = run("audit", "--all", good).stdout
    assert "Checked on" not in output
    assert re.search(
        r"^Googlebot +allowed except /admin\n +2: Disallow: /admin, the \* group$",
        output,
        re.MULTILINE,
    )
    assert "koster agents NAME shows the source" in output


def test_commands_warn_of_templates_and_emptied_files(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_text("User-agent: *\n{% if x %}\nDisallow: /\n{% endif %}\n")
    for arguments in (["audit", path], ["compose", "--preset", "wordpress", "--keep", path]):
        assert "is a template (Jinja, Twig or Liquid)" in run(*arguments).stderr
    path.write_text("")
    result = run("compose", "--preset", "wordpress", "--keep", path)
    assert "is empty. If > emptied it, use --write" in result.stderr
