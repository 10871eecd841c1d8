"""The commands of a site's owner, as they are typed."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import click
import pytest
import server
from click.testing import CliRunner, Result
from support import EVERYTHING, ROOT

import koster
from koster.cli._root import koster as command
from koster.lint import CHECKS

pytestmark = pytest.mark.any_mode

BAD = "User-agent: *\nDisallow: admin\n"
TYPO = "User-agent: *\nDisallows: /admin\n"
GOOD = "User-agent: *\nDisallow: /admin\n"


def run(*arguments: str | Path, given: str | bytes = "") -> Result:
    return CliRunner().invoke(command, [str(each) for each in arguments], input=given)


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


def test_lint_shows_place_line_and_suggestion(bad: Path) -> None:
    result = run("lint", bad)
    assert result.exit_code == 1
    assert f"{bad}:2:11 error P001 " in result.stdout
    assert "    2 | Disallow: admin\n      |           ^^^^^ write /admin\n" in result.stdout


def test_lint_of_a_clean_file_is_silent(good: Path) -> None:
    result = run("lint", good)
    assert (result.exit_code, result.stdout) == (0, "")


def test_notes_alone_are_clean(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_text(GOOD + "Crawl-delay: 5\n")
    result = run("lint", path)
    assert result.exit_code == 0
    assert "note L006" in result.stdout


def test_lint_reads_standard_input() -> None:
    result = run("lint", "-", given=BAD)
    assert result.exit_code == 1
    assert result.stdout.startswith("<stdin>:2:11 error P001")


def test_lint_fetches_a_site(site: server.Site) -> None:
    site.robots(body=BAD.encode())
    result = run("lint", site.url)
    assert result.exit_code == 1
    assert f"{site.url}/robots.txt:2:11 error P001" in result.stdout


@pytest.mark.parametrize(
    ("raw_bytes", "declared", "said"),
    [
        (GOOD.encode("utf-16"), "text/plain", "error B002 the file is in UTF-16-LE"),
        (GOOD.encode("utf-32-be"), "text/plain; charset=UTF-32BE", "B002 the file is in UTF-32BE"),
        (GOOD.encode() + b"# \xe9\n", "text/plain; charset=ISO-8859-1", "B004 the file is served in iso"),
        # A charset that lies is none.
        (GOOD.encode() + b"# \xe9\n", "text/plain; charset=ascii", "byte 0xe9 is not UTF-8"),
    ],
)  # fmt: skip
def test_lint_tells_in_what_a_site_serves_its_file(
    site: server.Site, raw_bytes: bytes, declared: str, said: str
) -> None:
    site.robots(body=raw_bytes, headers={"Content-Type": declared})
    assert said in run("lint", site.url).stdout


def test_what_cannot_be_read_is_told_and_the_rest_done(bad: Path, tmp_path: Path) -> None:
    result = run("lint", tmp_path / "none.txt", bad)
    assert result.exit_code == 3
    assert "none.txt: No such file" in result.stderr
    assert "P001" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["lint"], "no files given"),
        (["lint", "--write", "x"], "--write needs --fix"),
        (["lint", "--fix", "--format", "json", "x"], "--format text"),
        (["lint", "--fix", "--write", "-"], "cannot change"),
        (["lint", "--fix", "--write", "https://127.0.0.1"], "cannot change"),
        (["lint", "--select", "X9", "x"], "unknown code X9"),
        (["lint", "-", "-"], "only once"),
        (["lint", "--explain", "X9"], "unknown code X9"),
        (["diff", "-", "-"], "only once"),
        (["test"], "no files given"),
        (["fmt"], "no files given"),
        (["fmt", "a", "b"], "--write"),
        (["fmt", "--write", "-"], "cannot change"),
        (["compose"], "no options given"),
        (["compose", "--close", "cart"], "must start with /"),
        (["compose", "--close", "/a#b"], "must not contain"),
        (["compose", "--sitemap", "/s.xml"], "no whole URL"),
        (["compose", "--signal", "ai-train"], "ai-train=no"),
        (["compose", "--signal", "ai-train=perhaps"], "no value"),
    ],
)
def test_wrong_usage_is_told(arguments: list[str], why: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert why in " ".join(result.stderr.replace("│", " ").split())


def test_codes_are_selected_and_ignored(bad: Path) -> None:
    assert run("lint", "--select", "L,B", bad).exit_code == 0
    assert run("lint", "--ignore", "p001", bad).exit_code == 0
    assert run("lint", "--select", "P", "--select", "L", bad).exit_code == 1


def test_every_code_is_explained() -> None:
    for check in CHECKS:
        result = run("lint", "--explain", check.code.lower())
        assert result.exit_code == 0
        assert check.title in result.stdout
        assert check.why in result.stdout
    said = run("lint", "--explain", "all").stdout
    assert all(check.code in said for check in CHECKS)


def test_mending_is_shown_and_written(bad: Path) -> None:
    bad.write_text(TYPO)
    os.chmod(bad, 0o640)
    result = run("lint", "--fix", bad)
    assert result.exit_code == 1
    assert "-Disallows: /admin\n+Disallow: /admin\n" in result.stdout
    assert "1 closed): * may no longer fetch /admin" in result.stdout
    assert bad.read_text() == TYPO
    run("lint", "--fix", "--write", bad)
    assert bad.read_text() == GOOD
    assert stat.S_IMODE(bad.stat().st_mode) == 0o640
    assert [path.name for path in bad.parent.iterdir()] == [bad.name]


def test_mending_that_changes_nothing_for_robots_says_so(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_text("User-agent: *\nDissallow: /a\n")
    assert "every robot may fetch what it might before: proved" in run("lint", "--fix", path).stdout


def test_formats_for_machines(bad: Path) -> None:
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
    printed = run("lint", "--format", "github", bad).stdout
    assert printed.startswith(f"::error file={bad},line=2,col=11,endColumn=15,title=P001::")


def test_what_a_file_says_cannot_command_a_terminal_or_github(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_bytes(b"User-agent: *\n\x1b[31mDisallow: \x1b]0;x\x07a\nDisallow: %0A::error::x\n")
    for form in ("text", "github"):
        printed = run("lint", "--format", form, path).stdout
        assert "\x1b" not in printed or form == "github"
        assert "\n::error::x" not in printed


def test_diff_says_who_what_and_which_lines(tmp_path: Path) -> None:
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    old.write_text("User-agent: *\nDisallow: /a\n")
    new.write_text("User-agent: *\nDisallow: /a/\nCrawl-delay: 5\n")
    result = run("diff", old, new)
    assert result.exit_code == 1
    assert "Robots without a group of their own" in result.stdout
    assert "opened  /a   2: Disallow: /a  no rule" in result.stdout
    assert "+ Crawl-delay: 5 s" in result.stdout
    assert run("diff", old, old).exit_code == 0
    record = json.loads(run("diff", "--format", "json", old, new).stdout)
    assert record["changes"][0]["differences"][0]["url"] == "/a"
    assert record["decides_alike"] is False
    marked = run("diff", "--format", "markdown", old, new).stdout
    assert "| opened | `/a` | `2: Disallow: /a` | `no rule` |" in marked
    assert run("diff", old, tmp_path / "none").exit_code == 3


def test_diff_reads_a_site_and_standard_input(site: server.Site) -> None:
    site.robots(body=GOOD.encode())
    assert run("diff", site.url, "-", given=GOOD).exit_code == 0
    assert run("diff", site.url, "-", given=BAD).exit_code == 1


def test_a_site_without_a_file_allows_everything(site: server.Site) -> None:
    result = run("diff", site.url, "-", given=GOOD)
    assert result.exit_code == 1
    assert "has no robots.txt" in result.stderr
    assert "closed  /admin" in result.stdout
    site.robots(503)
    assert run("diff", site.url, "-", given=GOOD).exit_code == 3


def test_audit_in_every_form(good: Path) -> None:
    said = run("audit", good).stdout
    assert "Search (" in said
    assert "Search: partly blocked" in said
    record = json.loads(run("audit", "--site", "Us", "--format", "json", good).stdout)
    assert record["site"] == "Us"
    assert {each["disallowed"] for each in record["crawlers"]} == {"some", "none"}
    assert "# Us: who may" in run("audit", "--site", "Us", "--format", "markdown", good).stdout
    page = run("audit", "--site", "<Us>", "--format", "html", good).stdout
    assert page.startswith("<!doctype html>")
    assert "&lt;Us&gt;: who may" in page
    assert run("audit", "none.txt").exit_code == 3


def test_expectations_in_every_form(tmp_path: Path, good: Path) -> None:
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
    assert run("test", "--robots", "-", path, given="User-agent: *\nDisallow: /b\n").exit_code == 1
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


def test_compose_writes_over_what_it_keeps(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_text("User-agent: *\nDisallow: /a\n")
    path.chmod(0o640)
    said = run("compose", "--close", "/cart/", "--keep", path, "--write", path, "--quiet")
    assert said.exit_code == 0
    assert not said.stdout
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
        run("fmt", "--minify", "-", given=path.read_text()).stdout
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


def test_fmt_checks_the_layout(tmp_path: Path) -> None:
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
    ("body", "why"),
    [
        (b"<!doctype html><p>Not found", "is an HTML page, not a robots.txt"),
        (GOOD.encode("utf-16-le"), "seems to be in UTF-16 or UTF-32, without a byte order mark"),
        (b"\x1f\x8b\x08\0", "is binary, not text"),
        (b"all robots are welcome\n", "has no line that can be read as robots.txt"),
    ],
)
@pytest.mark.parametrize("command", ["check", "diff", "audit", "fmt", "test", "compose"])
def test_what_is_no_robots_txt_is_told(tmp_path: Path, command: str, body: bytes, why: str) -> None:
    """It says nothing to robots; but whoever asks about it should know."""
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
    assert why in result.stderr
    # Those that write refuse, the others go on as crawlers do.
    assert result.exit_code == (3 if command in ("fmt", "compose") else 0)


def test_a_remark_is_mended_only_where_that_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_text("User-agent: *\nDisallow: /a*\nAllow: /a\n")
    assert "nothing can be fixed" in run("lint", "--fix", "--write", path).stdout
    path.write_text("User-agent: *\nDisallow: /a*\n")
    result = run("lint", "--fix", "--write", path)
    assert (
        "by RFC9309 and GOOGLE every robot may fetch what it might before: proved" in result.stdout
    )
    assert result.exit_code == 0
    assert path.read_text() == "User-agent: *\nDisallow: /a\n"


def test_names_are_no_workflow_commands_and_move_no_terminal(tmp_path: Path) -> None:
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


def test_json_has_no_halves_of_characters(tmp_path: Path) -> None:
    path, empty = tmp_path / "robots.txt", tmp_path / "empty.txt"
    empty.write_text("")
    path.write_bytes(b"User-agent: F\xff\nDisalow: /\xff\nCrawl-delay: \xff\n")
    for arguments in (["lint", path], ["diff", empty, path], ["audit", path]):
        json.dumps(json.loads(run(*arguments, "-f", "json").stdout)).encode("utf-8")
        assert "\\udcff" not in run(*arguments, "-f", "json").stdout


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such modes")
def test_all_of_a_file_s_mode_stays(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_text("user-agent: *\n")
    path.chmod(0o6751)
    mode = path.stat().st_mode
    assert run("fmt", "--write", path).exit_code == 0
    assert path.stat().st_mode == mode


#: Uncompiled the engine takes up to a hundred times as long for a rule and a name.
_MANY = (1 if EVERYTHING else 25) if koster.COMPILED else 50


def _each(line: bytes, count: int) -> bytes:
    """A line so many times, with its number in it."""
    return b"".join(line % number + b"\n" for number in range(count // _MANY))


@pytest.mark.parametrize(
    "body",
    [
        b"User-agent: *\nallow" + b" " * 100_000 + b"#x",
        b"User-agent: *\nDisallow: /" + (b"[" * 480 + b"-" * 500 + b"\nDisallow: /") * 300,
        _each(b"User-agent: foo %d", 20_000 if EVERYTHING else 8_000) + b"Disallow: /\n",
        _each(b"User-agent: f%d\nDisallow: /", 5_000),
        b"User-agent: *\nDisallow: /\n" + _each(b"Sitemap: https://e.com/%d", 50_000),
        b"User-agent: *\nDisallow: /\n" + _each(b"Request-rate: 1/%ds", 20_000),
        b"User-agent: *\n" + _each(b"Disallow: /x%d.js", 10_000),
        b"User-agent: *\n" + _each(b"Disallow: /*x%d.js", 10_000),
        b"User-agent: *\nDisallow: /" + "\u200b".encode() * 100_000,
        b"User-agent: *\n" + _each(b"Disallow: /%d" + b"*a*ab" * 150, 100),
    ],
    ids=range(10),
)
def test_hostile_files_are_answered(tmp_path: Path, body: bytes) -> None:
    """In seconds, most of them in one; a quadratic step would take minutes."""
    path, empty = tmp_path / "robots.txt", tmp_path / "empty.txt"
    path.write_bytes(body)
    empty.write_text("")
    for arguments in (["lint", path], ["fmt", path], ["audit", path], ["diff", empty, path]):
        assert run(*arguments).exit_code in (0, 1)


def test_notes_count_if_that_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_text("User-agent: *\nDisallow: /a\nCrawl-delay: 5\n")
    assert run("lint", path).exit_code == 0
    assert run("lint", "--strict", path).exit_code == 1


def test_what_could_not_be_read_stands_in_what_machines_read(tmp_path: Path) -> None:
    (run_,) = json.loads(run("lint", "-f", "sarif", "none.txt").stdout)["runs"]
    (invocation,) = run_["invocations"]
    assert not invocation["executionSuccessful"]
    assert "none.txt" in invocation["toolExecutionNotifications"][0]["message"]["text"]
    assert run("lint", "-f", "github", "none.txt").stdout.startswith(
        "::error title=koster::none.txt"
    )
    assert "use https://example.com" in run("lint", "example.com").stderr
    path = tmp_path / "robots.txt"
    path.write_bytes(b"User-agent: *\nDisalow: /\xff\n")
    (run_,) = json.loads(run("lint", "-f", "sarif", path).stdout)["runs"]
    fixes = [each["fixes"] for each in run_["results"] if "fixes" in each]
    (replacement,) = fixes[0][0]["artifactChanges"][0]["replacements"]
    assert replacement == {
        "deletedRegion": {"byteOffset": 14, "byteLength": 7},
        "insertedContent": {"text": "Disallow"},
    }
    assert json.loads(run("lint", "-f", "json", path).stdout)[0]["edits"] == [
        {"start": 14, "end": 21, "text": "Disallow"}
    ]


def test_fmt_leaves_what_it_cannot_prove(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    text = "User-agent: *\nRobot-version: 2.0\nDisallow: /a#b\n"
    path.write_text(text)
    result = run("fmt", "--write", "--dialect", "EXTENDED2", path)
    assert result.exit_code == 1
    assert "not proved to be equivalent in EXTENDED2; it stays as it is" in result.stderr
    assert path.read_text() == text


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write anywhere")
def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_text("user-agent:*\n")
    os.chmod(tmp_path, 0o500)
    assert run("fmt", "--write", path).exit_code == 3


def test_a_file_of_which_a_part_was_read_is_not_written_again(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    body = b"user-agent: *\nDisallows: /a\n" + (b"#" + b" " * 998 + b"\n") * 17_000
    path.write_bytes(body)
    for arguments in (["fmt", "--write"], ["lint", "--select", "L004", "--fix", "--write"]):
        result = run(*arguments, path)
        assert result.exit_code == 3
        assert "too large" in result.stderr
        assert path.read_bytes() == body


def test_only_regular_files_that_may_be_written_are(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    import threading

    threading.Thread(target=lambda: path.write_bytes(b"user-agent:*\n"), daemon=True).start()
    result = run("fmt", "--write", path)
    assert result.exit_code == 3
    assert "not a regular file" in result.stderr
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_one_wrong_file_of_expectations_does_not_hide_the_others(
    tmp_path: Path, good: Path
) -> None:
    right, wrong = tmp_path / "a.toml", tmp_path / "b.toml"
    right.write_text(f'robots = "{good.name}"\n[[expect]]\nallow = "/"\n')
    wrong.write_text("x = 1\n")
    result = run("test", right, wrong)
    assert result.exit_code == 2
    assert "1 as expected, 0 not" in result.stdout
    assert "b.toml: unknown key 'x' in the file" in result.stderr


def test_markdown_mentions_nobody(tmp_path: Path, good: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("User-agent: @torvalds\nDisallow: /\n")
    assert "`@torvalds`" in run("diff", "--format", "markdown", path, good).stdout


def test_compose_prints_a_file_and_its_audit(good: Path) -> None:
    result = run("compose", "--training", "disallow", "--close", "/x/", "--keep", good)
    assert result.exit_code == 0
    assert "User-agent: GPTBot" in result.stdout
    assert "Disallow: /admin\nDisallow: /x/" in result.stdout
    assert "training: blocked" in result.stderr
    assert "Against what was kept" in result.stderr
    assert "closed  /x/" in result.stderr
    assert run("compose", "--training", "disallow", "--quiet").stderr == ""


def test_the_hooks_for_pre_commit_name_commands() -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
    for name in ("lint", "fmt", "test"):
        assert f"- id: koster-{name}\n" in text
        assert command.get_command(click.Context(command), name)
