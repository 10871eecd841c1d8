"""``koster check`` on files: output formats, exit codes, arguments and errors."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import select
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from koster import DIALECTS, GOOGLE, MK1994, parse
from koster._cli.root import koster
from koster._reports import screen
from koster._reports.answers import FileQuestions, FileReading, answers
from koster._reports.csv import csv_line
from tests.helpers.support import ROOT, Case, all_cases, sampled

FILE = b"""\
User-agent: *
Disallow: /private   # keep out
Allow: /private/press

User-agent: GPTBot
Disallow: /
Visit-time: 0600-0845
Request-rate: 1/10m
"""


@pytest.fixture
def robots(tmp_path: Path) -> str:
    path = tmp_path / "robots.txt"
    path.write_bytes(FILE)
    return str(path)


def run(*arguments: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(koster, ["check", *arguments], input=stdin)


def test_text_shows_verdict_crawler_url_and_line(robots: str) -> None:
    result = run("--robots", robots, "-a", "FooBot", "-a", "GPTBot", "/private/x", "/private/press")
    assert result.exit_code == 1
    assert [re.split("  +", line) for line in result.stdout.splitlines()] == [
        ["Verdict", "Crawler", "URL", "Decided by"],
        ["blocked", "FooBot", "/private/x", f"{robots}:2: Disallow: /private", "# keep out"],
        ["allowed", "FooBot", "/private/press", f"{robots}:3: Allow: /private/press"],
        ["blocked", "GPTBot", "/private/x", f"{robots}:6: Disallow: /"],
        ["blocked", "GPTBot", "/private/press", f"{robots}:6: Disallow: /"],
    ]
    assert "\x1b" not in result.stdout


@pytest.mark.parametrize("case", sampled(all_cases(), 5), ids=str)
def test_cases(case: Case, tmp_path: Path) -> None:
    """The command line gives the same verdicts as the library."""
    urls = [url for url in case.expected if "\x00" not in url]
    if case.dialect is GOOGLE:
        # The command decides about the URL that a client sends, the library about the one given.
        urls = [url for url in urls if url.isascii()]
    if not isinstance(case.agent, str) or not urls:
        pytest.skip("the command line takes one name for each robot, and no NUL")
    path = tmp_path / "robots.txt"
    path.write_bytes(case.body)
    result = run(
        "--robots", str(path), "--agent", case.agent, "--dialect", case.dialect.name,
        "--format", "json", "--", *urls,
    )  # fmt: skip
    records = json.loads(result.stdout)
    assert {record["url"]: record["allowed"] for record in records} == {
        url: case.expected[url] for url in urls
    }
    for record in records:
        if record["url"] in case.lines:
            assert record["line"] == case.lines[record["url"]]
    assert result.exit_code == (0 if all(record["allowed"] for record in records) else 1)


def test_default_agent_is_the_star_group(robots: str) -> None:
    (record,) = json.loads(run("--robots", robots, "-f", "json", "/private").stdout)
    assert (record["agent"], record["allowed"]) == ("*", False)


@pytest.mark.parametrize(
    ("arguments", "is_shown"),
    [
        (["/private"], True),
        (["/private", "/private/x", "-a", "Googlebot", "-a", "bingbot"], True),
        (["/private", "-a", "Googlebot-Image/1.0"], True),
        (["/private", "-a", "GPTBot"], False),
        (["/private", "-a", "FooBot"], False),
        (["/x"], False),
        (["/private", "-f", "json"], False),
        (["/private", "-f", "csv"], False),
    ],
)
def test_disallow_does_not_remove_pages_from_an_index(
    robots: str, arguments: list[str], is_shown: bool
) -> None:
    """Said once, where a rule blocks a search engine, to people."""
    result = run("--robots", robots, *arguments)
    assert result.stdout.count("does not remove it from an index: https://") == is_shown
    assert result.stderr == ""


def test_json(robots: str) -> None:
    result = run("--robots", robots, "--format", "json", "--agent", "FooBot", "/private/x", "/")
    assert json.loads(result.stdout) == [
        {
            "allowed": False, "agent": "FooBot", "url": "/private/x", "reason": "rule",
            "file": robots, "line": 2, "rule": "Disallow: /private",
            "text": "Disallow: /private   # keep out", "dialect": "RFC9309",
            "falls_back_to": None, "comments": [], "why": None,
        },
        {
            "allowed": True, "agent": "FooBot", "url": "/", "reason": "no rule",
            "file": robots, "line": None, "rule": None, "text": None, "dialect": "RFC9309",
            "falls_back_to": None, "comments": [], "why": None,
        },
    ]  # fmt: skip


def test_csv(robots: str) -> None:
    result = run("--robots", robots, "--format", "csv", "--agent", "FooBot", "/private/x", "/a,b")
    first, second = csv.DictReader(io.StringIO(result.stdout))
    assert (first["allowed"], first["line"], first["rule"]) == ("false", "2", "Disallow: /private")
    assert (second["allowed"], second["url"], second["line"]) == ("true", "/a,b", "")


def test_no_urls_give_empty_output(robots: str, tmp_path: Path) -> None:
    (tmp_path / "urls").write_text("\n")
    result = run("--robots", robots, "--format", "json", "--urls", str(tmp_path / "urls"))
    assert (result.exit_code, json.loads(result.stdout)) == (3, [])
    assert result.stderr == "koster: no URLs to check\n"
    result = run("--robots", robots, "--format", "csv", "--urls", str(tmp_path / "urls"))
    assert result.stdout.startswith('"allowed","agent","url","reason","file","line",')
    assert result.stdout.count("\n") == 1


@pytest.mark.parametrize("start", [*"=+-@\t\r\n", *"\uff1d\uff0b\uff0d\uff20"])
def test_csv_escapes_formulas(tmp_path: Path, start: str) -> None:
    """Text from files and arguments cannot be a spreadsheet formula."""
    hostile = f'{start}cmd|"/c calc"!A1'
    path = tmp_path / "robots.txt"
    path.write_text(f"User-agent: *\nComment: {hostile}\nAllow: /x\n")
    result = run("--robots", str(path), "-a", hostile, "-f", "csv", "--", hostile)
    (row,) = csv.DictReader(io.StringIO(result.stdout, newline=""))
    assert (row["agent"], row["url"]) == (f"'{hostile}", f"'{hostile}")
    assert not [cell for cell in row.values() if cell.startswith(start)]
    assert "\"'" in result.stdout


def test_csv_quotes_text_but_not_numbers() -> None:
    assert csv_line(["-1", -1, -0.5, Decimal("1.50"), None, True, 'a"b']) == (
        '"\'-1",-1,-0.5,1.50,,true,"a""b"\n'
    )


def test_dialects_side_by_side(robots: str) -> None:
    result = run("--robots", robots, "--agent", "FooBot", "--dialect", "all", "/private/press")
    headings, row = result.stdout.splitlines()
    assert headings.split() == ["Crawler", "URL", *DIALECTS]
    assert row.split("  ")[0] == "FooBot"
    assert re.findall(r"(allowed|blocked) :(\d+)", row) == [
        *[("allowed", "3")] * 2, *[("blocked", "2")] * 5
    ]  # fmt: skip
    assert result.exit_code == 1


def test_repeated_dialects_are_listed_once(robots: str) -> None:
    result = run(
        "--robots", robots, "-d", "google", "-d", "MK1994", "-d", "GOOGLE", "-f", "json", "/"
    )
    assert [record["dialect"] for record in json.loads(result.stdout)] == ["GOOGLE", "MK1994"]


def test_at_a_time(robots: str) -> None:
    arguments = ("--robots", robots, "--agent", "GPTBot", "/x", "--at", "2026-11-21T09:00")
    (record,) = json.loads(run(*arguments, "-f", "json").stdout)
    assert record["open"] is False
    assert record["next_open"] == "2026-11-22T06:00:00+00:00"
    assert record["interval"] == 600.0
    assert record["at"] == "2026-11-21T09:00:00+00:00"
    output = run(*arguments).stdout
    assert "not before 2026-11-22 06:00" in output
    assert "one request every 600 s" in output
    (row,) = csv.DictReader(io.StringIO(run(*arguments, "-f", "csv").stdout))
    assert (row["allowed"], row["open"], row["interval"]) == ("false", "false", "600.0")


@pytest.mark.parametrize("time", ["07:00", "2026-11-21T07:00+00:00", "2026-11-21 09:00+02:00"])
def test_time_formats(robots: str, time: str) -> None:
    result = run("--robots", robots, "--agent", "GPTBot", "/x", "--at", time, "-f", "json")
    assert json.loads(result.stdout)[0]["open"] is True


def test_now_is_accepted_as_a_time(robots: str) -> None:
    assert run("--robots", robots, "/x", "--at", "now").exit_code == 0


def test_visit_time_does_not_change_the_exit_code(tmp_path: Path) -> None:
    path = tmp_path / "r.txt"
    path.write_text("User-agent: *\nVisit-time: 0600-0845\nDisallow: /x")
    assert run("--robots", str(path), "/y", "--at", "12:00").exit_code == 0


def test_standard_input() -> None:
    result = run("--robots", "-", "/private", stdin=FILE)
    assert "<stdin>:2: Disallow: /private" in result.stdout
    assert result.exit_code == 1


def test_urls_from_a_file_and_from_standard_input(robots: str, tmp_path: Path) -> None:
    (tmp_path / "urls").write_bytes(b"\xef\xbb\xbf/a\r\n\r\n  /private/b  \n/caf\xe9")
    result = run("--robots", robots, "--urls", str(tmp_path / "urls"), "-f", "json", "/c")
    urls = [record["url"] for record in json.loads(result.stdout)]
    assert urls == ["/c", "/a", "/private/b", "/caf%E9"]
    result = run("--robots", robots, "--urls", "-", "-f", "json", stdin=b"/x\n/y")
    assert [record["url"] for record in json.loads(result.stdout)] == ["/x", "/y"]


def test_unreadable_files_are_errors_and_others_are_checked(robots: str, tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.txt")
    result = run(
        "--robots", missing, "--robots", str(tmp_path), "--robots", robots, "--urls", missing,
        "/private",
    )  # fmt: skip
    assert result.exit_code == 3
    assert result.stderr.splitlines() == [
        f"koster: {missing}: No such file or directory",
        f"koster: {missing}: No such file or directory",
        f"koster: {tmp_path}: Is a directory",
    ]
    assert f"{robots}:2: Disallow: /private" in result.stdout


def test_no_readable_file(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.txt")
    result = run("--robots", missing, "/x", "-f", "json")
    assert (result.exit_code, result.stdout) == (3, "[]\n")
    assert run("--robots", missing, "/x").stdout == ""
    assert run("--robots", missing, "/x", "-f", "csv").stdout.count("\n") == 1


@pytest.mark.parametrize(
    ("redirection", "code", "message"),
    [
        ("--robots - /x <&-", 3, "koster: <stdin>: is closed\n"),
        ("--robots FILE /private >&-", 1, ""),
        ("--robots FILE /x >&-", 0, ""),
        (
            "--robots FILE /x >/dev/full",
            3,
            "koster: the answers could not be written: No space left",
        ),
        ("--robots FILE /x -f json >/dev/full", 3, "koster: the answers could not be written"),
        ("--robots FILE --urls /dev/zero", 3, "koster: /dev/zero: is a device, not a file\n"),
        pytest.param(
            "--robots FILE --urls - < <(cat /dev/zero)",
            3,
            "koster: <stdin>: is larger than 256 MiB",
            marks=pytest.mark.thorough,
        ),
        ("--robots FILE /x >/dev/full 2>/dev/full", 3, ""),
    ],
)
def test_failing_streams(robots: str, redirection: str, code: int, message: str) -> None:
    command = f"{sys.executable} -m koster check {redirection.replace('FILE', robots)}"
    process = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert process.returncode == code
    assert process.stderr.startswith(message)
    assert "Traceback" not in process.stderr


@pytest.mark.parametrize("errors", ["/dev/full", "&-"])
def test_failing_standard_error_costs_no_answers(robots: str, errors: str) -> None:
    """Nor does a warning go between the answers."""
    check = f"{sys.executable} -m koster check --robots {robots} --robots missing /private -f json"
    process = subprocess.run(
        ["bash", "-c", f"{check} 2>{errors}"], stdout=subprocess.PIPE, check=False
    )
    assert process.returncode == 3
    assert [answer["allowed"] for answer in json.loads(process.stdout)] == [False]


def test_warnings_are_not_delayed_with_pythonunbuffered() -> None:
    """The first one is there while the command waits for its standard input."""
    command = [sys.executable, "-m", "koster", "check", "--urls", "missing", "--urls", "-"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    ) as process:
        assert process.stderr is not None
        assert select.select([process.stderr], [], [], 20)[0]
        assert process.stderr.readline() == b"koster: missing: No such file or directory\n"
        process.communicate()
    assert process.returncode == 3


def test_one_of_several_fetches_failed() -> None:
    """Each dialect may have a fetch of its own."""
    readings = (FileReading(parse(b"")), FileReading(parse(FILE, MK1994)))
    found = answers([FileQuestions("robots.txt", readings, ("*",), ("/private",))])
    assert [each.deciding_line for each in found] == [
        "no group for this crawler", "robots.txt:2: Disallow: /private   # keep out",
    ]  # fmt: skip


def test_csv_with_a_carriage_return(robots: str) -> None:
    output = run("--robots", robots, "-f", "csv", "/x\ry", "/z").stdout
    first, second = csv.DictReader(io.StringIO(output, newline=""))
    assert (first["url"], second["url"]) == ("/x\ry", "/z")


@pytest.mark.parametrize("time", ["9999-12-31T23:00", "0001-01-01T00:00+05:00", "10000-01-01"])
def test_times_out_of_range(robots: str, time: str) -> None:
    assert run("--robots", robots, "/x", "--at", time).exit_code == 2


def test_control_characters_in_file_names_are_escaped(tmp_path: Path) -> None:
    path = tmp_path / "x\x1b[31m\n.txt"
    path.write_bytes(FILE)
    result = run("--robots", str(path), "/private", "--dialect", "all", "--dialect", "google")
    assert "\x1b" not in result.stdout
    assert r"x\x1b[31m\n.txt:2:" in run("--robots", str(path), "/private").stdout


def test_file_of_many_lines(tmp_path: Path) -> None:
    (tmp_path / "r.txt").write_bytes(b"\n" * 1_000_000 + b"User-agent: *\nDisallow: /")
    assert "r.txt:1000002: Disallow: /" in run("--robots", str(tmp_path / "r.txt"), "/x").stdout


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_file_without_read_permission(robots: str) -> None:
    Path(robots).chmod(0)
    result = run("--robots", robots, "/x")
    assert (result.exit_code, result.stderr) == (3, f"koster: {robots}: Permission denied\n")


def test_output_names_each_of_several_files(robots: str, tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("User-agent: x\nDisallow: /")
    arguments = ("--robots", robots, "--robots", str(tmp_path / "other.txt"), "/")
    result = run(*arguments, "--at", "09:00")
    assert f"{robots}: no rule matches" in result.stdout
    assert f"{tmp_path / 'other.txt'}: no group for this crawler" in result.stdout
    assert result.stdout.count("other.txt") == 2
    assert run(*arguments, "--dialect", "all").stdout.count("other.txt") == 1


def test_host_without_a_scheme_warns(robots: str) -> None:
    result = run("--robots", robots, "example.com/private", "/x", "https://example.com/")
    assert result.stderr == (
        "koster: example.com/private: has no scheme; read as the path /example.com/private\n"
    )


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "r.txt").write_bytes(b"User-agent: *\nDisallow: /\xe9")
    (tmp_path / "urls").write_bytes(b"/\xe9")
    path = str(tmp_path / "r.txt")
    assert run("--robots", path, "--urls", str(tmp_path / "urls")).exit_code == 1
    assert subprocess_run("check", "--robots", path, b"/\xe9").returncode == 1  # type: ignore[arg-type]


def test_path_with_a_null_byte() -> None:
    result = run("--robots", "a\0b", "/x")
    assert result.exit_code == 3
    assert result.stderr == "koster: a\\x00b: embedded null byte\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["/x"], "not an absolute http:// or https:// URL: '/x'; to check paths against a file"),
        (["--timeout", "0", "https://example.com/"], "0.0 is not in the range"),
        (["--robots", "r.txt"], "no URLs given"),
        (["--robots", "-", "--urls", "-"], "standard input (-) can be read only once"),
        (["--robots", "r.txt", "/x", "--dialect", "bing"], "unknown dialect 'bing'"),
        (["--robots", "r.txt", "/x", "--at", "noon"], "'noon' is not a time; use"),
        (["--robots", "r.txt", "/x", "--format", "xml"], "'xml' is not one of"),
        (["--robots", "r.txt", "/x", "--nonsense"], "No such option"),
    ],
)
def test_usage_errors(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    error = " ".join(re.sub(r"[│╭╮╰╯─]", " ", result.stderr).split())
    assert message in error
    assert result.stdout == ""


def test_control_characters_are_escaped(tmp_path: Path) -> None:
    path = tmp_path / "r.txt"
    path.write_bytes(b"User-agent: *\nDisallow: /\x1b[31m\xe2\x80\xae\xff\n")
    result = run("--robots", str(path), "-a", "x\x1by", "/%1B[31m%E2%80%AE%FF", "/\x1b]0;x\x07")
    assert "\x1b" not in result.stdout
    assert r"Disallow: /\x1b[31m\u202e\xff" in result.stdout
    assert r"x\x1by" in result.stdout
    assert r"/\x1b]0;x\x07" in result.stdout


def test_long_text_is_truncated(tmp_path: Path) -> None:
    path = tmp_path / "r.txt"
    path.write_text("User-agent: *\nDisallow: /" + "a" * 5000)
    result = run("--robots", str(path), "/" + "a" * 6000)
    assert max(map(len, result.stdout.splitlines())) < 1000
    assert "a…" in result.stdout


def subprocess_run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "koster", *arguments]
    return subprocess.run(command, capture_output=True, check=False, **options)


def test_python_m_koster(robots: str) -> None:
    process = subprocess_run("check", "--robots", robots, "/private")
    assert process.returncode == 1
    assert b"Disallow: /private" in process.stdout
    version = subprocess_run("--version")
    assert version.stdout.startswith(b"koster 0.1.0 (")


def test_undecodable_arguments(robots: str) -> None:
    process = subprocess_run("check", "--robots", robots, b"/caf\xe9")  # type: ignore[arg-type]
    assert process.returncode == 0
    assert rb"/caf%E9" in process.stdout


def test_closed_pipe_is_not_an_error(robots: str, tmp_path: Path) -> None:
    (tmp_path / "urls").write_text("/x\n" * 20_000)
    command = f"{sys.executable} -m koster check --robots {robots} --urls {tmp_path / 'urls'}"
    for form in ("text", "json", "csv"):
        process = subprocess.run(
            ["bash", "-c", f"set -o pipefail; {command} --format {form} | head -1"],
            capture_output=True,
            check=False,
        )
        assert process.returncode in (141, -13)
        assert process.stderr == b""


def test_other_broken_pipes_do_not_end_the_command() -> None:
    """Only a closed standard output ends the command, not a server or worker that hangs up."""
    program = """
import os, sys
import koster._cli, koster._cli.root
def command(prog_name):
    read, write = os.pipe()
    os.close(read)
    try:
        os.write(write, b"x")
    except BrokenPipeError:
        print("hung up")
koster._cli.root.koster = command
koster._cli.main()
"""
    process = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)
    assert (process.returncode, process.stdout) == (0, b"hung up\n")


def test_colors_only_on_a_terminal(robots: str) -> None:
    import pty

    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "koster", "check", "--robots", robots, "/private"],
        stdout=child,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"},
    )
    os.close(child)
    terminal_output = b""
    try:
        while block := os.read(parent, 4096):
            terminal_output += block
    except OSError:
        pass
    assert process.wait() == 1
    assert b"\x1b[1;31mblocked" in terminal_output
    assert b"0 allowed, 1 blocked" in terminal_output


def test_missing_extra_names_what_to_install() -> None:
    code = (
        "import sys\n"
        "class Block:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in ('click', 'rich', 'rich_click'):\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Block())\n"
        "from koster._cli import main; main()\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    assert process.returncode == 2
    assert (
        process.stderr
        == b"koster: the extra cli is not installed: pip install 'koster[cli]' (in a checkout '.[cli]')\n"
    )


EXTENDED2_FILE = """\
User-agent: FooBot
Robot-version: 2.0
Visit-time: 0600-0845
Visit-time: 2300-0100
Comment: slowly, \x1b[31mplease
Comment: thank you
Disallow: *.gif
"""


def run_extended2(tmp_path: Path, *options: str) -> Result:
    path = tmp_path / "robots.txt"
    path.write_text(EXTENDED2_FILE)
    return run("--robots", str(path), "-a", "FooBot", "-d", "extended2", *options, "/a", "/b.gif")


def test_text_shows_comments_and_visit_times(tmp_path: Path) -> None:
    output = run_extended2(tmp_path, "--at", "2026-11-21T12:00").stdout
    assert "not before 2026-11-21 23:00 (visit time 06:00-08:45, 23:00-01:00)" in output
    assert "no limit; rule of thumb: 2 × the fetch time, at least 10 s" in output
    assert "Comment from the site" in output
    assert "slowly, \\x1b[31mplease" in output
    assert "thank you" in output
    assert "allowed (visit time" in run_extended2(tmp_path, "--at", "2026-11-21T08:45:30").stdout


def test_json_and_csv_have_comments_and_visit_times(tmp_path: Path) -> None:
    options = ("--at", "2026-11-21T12:00")
    first, _ = json.loads(run_extended2(tmp_path, *options, "-f", "json").stdout)
    assert first["comments"] == ["slowly, \x1b[31mplease", "thank you"]
    assert first["visit_times"] == ["06:00-08:45", "23:00-01:00"]
    assert (first["open"], first["interval"]) == (False, None)
    rows = list(csv.DictReader(io.StringIO(run_extended2(tmp_path, *options, "-f", "csv").stdout)))
    assert rows[0]["comments"] == "slowly, \x1b[31mplease\nthank you"
    assert rows[0]["visit_times"] == "06:00-08:45\n23:00-01:00"


def test_narrow_terminal_shows_a_row_for_each_dialect(
    robots: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seven columns of verdicts would be folded within words."""
    monkeypatch.setattr(screen, "width", lambda: 100)
    monkeypatch.chdir(Path(robots).parent)
    result = run("--robots", "robots.txt", "--agent", "FooBot", "-d", "all", "/private/press")
    rows = [line.split()[:4] for line in result.stdout.splitlines()]
    assert rows[0] == ["Verdict", "Dialect", "Crawler", "URL"]
    assert [row[1] for row in rows[1:]] == list(DIALECTS)
    assert rows[1] == ["allowed", "RFC9309", "FooBot", "/private/press"]


@pytest.mark.parametrize(
    ("agent", "warning"),
    [
        ("Googelbot", "Googelbot is not a known crawler. Did you mean Googlebot?"),
        ("Claude", "Claude is a company or product, not a crawler. Did you mean ClaudeBot, "),
        ("MyOwnCrawler", ""),
        ("GPTBot/1.0", ""),
    ],
)
def test_warning_of_probable_typos_and_brands(robots: str, agent: str, warning: str) -> None:
    result = run("--robots", robots, "--agent", agent, "/open")
    assert result.stderr.startswith(f"koster: {warning}" if warning else "")
    assert bool(result.stderr) == bool(warning)


def test_line_that_decides_is_below_a_long_url(
    robots: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("--robots", robots, "--agent", "FooBot", "/private/x")
    line = f"{robots}:2: Disallow: /private   # keep out"
    monkeypatch.setattr(screen, "width", lambda: 30 + len(line))
    assert run(*arguments).stdout.splitlines()[1] == f"blocked  FooBot   /private/x  {line}"
    monkeypatch.setattr(screen, "width", lambda: 10 + len(line))
    assert run(*arguments).stdout.splitlines() == [
        "Verdict  Crawler  URL and what decides",
        "blocked  FooBot   /private/x",
        f"                  {line}",
    ]
