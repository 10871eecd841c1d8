"""``koster lint``: what it prints, which files it checks, and its settings."""

from __future__ import annotations

import itertools
import json
import string
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from koster._cli import lint_inputs
from koster._cli.root import koster as command
from tests.helpers.support import EVERYTHING, bodies

BAD = "User-agent: *\nDisallow: admin\n"
#: An error, a warning above it, and two notes.
MIXED = (
    "User-agent: *\nDisalow: /x\nDisallow: admin\nDisallow: /a\nDisallow: /a/b\nCrawl-delay: 5\n"
)


def run(*arguments: str | Path, stdin: str | bytes = "") -> Result:
    return CliRunner().invoke(command, ["lint", *map(str, arguments)], input=stdin)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: str, text: str) -> Path:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_errors_come_first_and_notes_are_counted() -> None:
    write("robots.txt", MIXED)
    lines = run().stdout.splitlines()
    assert [line.split()[1:3] for line in lines if line.startswith("robots.txt:")] == [
        ["error", "P001"],
        ["warning", "L003"],
    ]
    assert lines[-2:] == [
        "1 error, 1 warning; 2 notes (shown with --notes); --fix fixes 1",
        "Look first at robots.txt:3: A path must start with /: this matches nothing (P001)",
    ]
    shown = run("--notes").stdout
    assert "note S009 Redundant: line 4 (Disallow: /a) already covers this" in shown
    assert "1 error, 1 warning, 2 notes; --fix fixes 1" in shown
    assert "note S009" in run("--strict").stdout


def test_summary_says_that_a_file_was_not_checked_completely() -> None:
    names = itertools.product(string.ascii_lowercase, repeat=3)
    groups = (f"User-agent: bot{''.join(name)}\nDisallow: /a\n" for name in names)
    write("robots.txt", "".join(itertools.islice(groups, 2_100)))
    summary = "No errors or warnings; 1 note (shown with --notes); not checked completely (Z004)"
    result = run()
    assert (result.exit_code, result.stdout) == (0, f"{summary}\n")
    shown = run("--notes").stdout.splitlines()
    assert shown[0].startswith("robots.txt:1:1 note Z004 Not checked completely: ")
    assert shown[-1] == "1 note"


def test_findings_that_are_alike_are_grouped() -> None:
    write("robots.txt", "User-agent: a, b\n" * 72 + "Disallow: /\n")
    message = "Several names on one line: by RFC 9309 no crawler uses this group, by Google's parser only a"
    suggestion = "Write a User-agent line for each: the rules below then apply to a and b"
    assert run().stdout.splitlines() == [
        f"robots.txt:1:13 error G006 {message}",
        "    1 | User-agent: a, b",
        f"      |             ^^^^ {suggestion}",
        "      | 71 more: lines 2-72",
        "72 errors; 71 notes (shown with --notes); --fix fixes 71",
    ]
    concise = run("-f", "concise").stdout.splitlines()
    assert len(concise) == 73
    assert concise[1] == f"robots.txt:2:13 error G006 {message}. {suggestion}"


def test_findings_with_different_suggestions_are_all_shown() -> None:
    write("robots.txt", "User-agent: *\n" + "".join(f"Disallow: a{i}\n" for i in range(6)))
    lines = run().stdout.splitlines()
    assert sum("error P001" in line for line in lines) == 6
    assert "      |           ^^ Write /a5, which blocks it" in lines


def test_many_kinds_of_findings_stay_on_two_screens() -> None:
    """Each code has several messages; the last ones are shown briefly."""
    text = "Disallow: /z\nUser-agent: *\n"
    for i in range(4):
        text += f"Disallow: a{i}\nDisallow: https://e.com/{i}\nDisallow: /{i}$*\nDisallow: /x {i}\n"
        text += (
            f"Disallow: /({i}|b)\nDisallow: /{i}%\nDisalow: /{i}\nUser-agen: {i}\nNoindex: /{i}\n"
        )
        text += f"Sitemap: /{i}\nSitemap:\nSitemap: https://e.com/{i} {i}\nRobot-version: {i}.7\n"
        text += f"Disallow /{i}\nCrawl-delay: x{i}\nRequest-rate: x{i}\nVisit-time: x{i}\n{i}\n"
        text += f"Content-Signal: x{i}\nContent-Usage: x{i}\nLicense: x{i}\nClean-param: #{i}\n"
        text += f"User-agent: Mozilla/{i}.0 (compatible)\nUser-agent: a{i}, b\nDisallow: /css{i}/\n"
    write("robots.txt", text)
    shown = run().stdout
    assert 40 < len(shown.splitlines()) <= 60
    codes = {line.split()[2] for line in shown.splitlines() if line.startswith("robots.txt:")}
    assert len(codes) > 15


def test_output_for_real_files_is_short(conformance_data: None) -> None:
    """At most 30 lines for nine files in ten, never more than 60."""
    files = sorted(bodies("verdicts.tsv.gz").items())
    lengths = []
    for number, (name, body) in enumerate(files):
        if EVERYTHING or number % 10 == 0 or name in ("www.sophos.com", "www.groupon.com"):
            Path("robots.txt").write_bytes(body)
            lengths.append(len(run().stdout.splitlines()))
    assert max(lengths) <= 60
    assert sorted(lengths)[len(lengths) * 9 // 10] <= 30


@pytest.mark.parametrize("path", ["robots.txt", "public/robots.txt", "static/robots.txt"])
def test_usual_file_is_the_default(path: str) -> None:
    write(path, BAD)
    assert f"{path}:2:11 error P001" in run().stdout


def test_missing_usual_file_is_a_usage_error() -> None:
    result = run()
    assert result.exit_code == 2
    assert "public/robots.txt" in result.stderr


def test_folders_are_searched(folder: Path) -> None:
    for path in ("a/robots.txt", "a/b/robots.staging.txt", "a/robots.txt.j2", "robots.txt.liquid"):
        write(path, BAD)
    for path in (".git/robots.txt", "node_modules/x/robots.txt", "env/robots.txt", "notes.txt"):
        write(path, BAD)
    # What a killed command leaves.
    write("a/robots.txt.koster-k3x9wq0a", BAD)
    write("env/pyvenv.cfg", "")
    found = {each["file"] for each in json.loads(run(".", "-f", "json").stdout)}
    assert found == {
        "./robots.txt.liquid",
        "./a/robots.txt",
        "./a/robots.txt.j2",
        "./a/b/robots.staging.txt",
    }
    (folder / "empty").mkdir()
    result = run("empty", "a")
    assert result.exit_code == 3
    assert "empty: no robots.txt in this folder" in result.stderr
    assert "P001" in result.stdout


def test_rendered_template_is_checked() -> None:
    template = write("robots.txt.j2", "User-agent: *\n{% if x %}Disallow: NAME{% endif %}\n")
    assert "B011 Template (Jinja, Twig or Liquid)" in run(template).stdout
    script = (
        "import sys; print(sys.stdin.read().replace('{% if x %}', '').replace('{% endif %}', ''))"
    )
    result = run("--render", f'{sys.executable} -c "{script}"', template)
    assert result.exit_code == 1
    assert "robots.txt.j2 (rendered):2:11 error P001" in result.stdout
    # Without a pipe, {} is its path.
    assert "robots.txt.j2 (rendered):2:1 warning B011" in run("--render", "cat {}", template).stdout
    assert (
        "<rendered>:2:11 error P001"
        in run("--render", "printf 'User-agent: *\\nDisallow: a'").stdout
    )


def test_failing_renderer_is_an_error() -> None:
    write("robots.txt", BAD)
    result = run("--render", "sh -c 'exit 7'", "robots.txt")
    assert result.exit_code == 3
    assert "robots.txt (rendered): --render failed with exit code 7" in result.stderr
    assert run("--render", "cat", "none.txt").exit_code == 3
    assert "--render printed nothing" in run("--render", "true", "robots.txt").stderr
    assert "printed more than" in run("--render", "yes", "robots.txt").stderr


def test_renderer_that_does_not_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lint_inputs, "_MAX_RENDER_SECONDS", 0.5)
    write("robots.txt", BAD)
    result = run("--render", "sh -c 'echo User-agent; sleep 100'", "robots.txt")
    assert result.exit_code == 3
    assert "--render took more than 0.5 s" in result.stderr


def test_settings_of_koster_toml() -> None:
    write("site/robots.txt", MIXED)
    write("koster.toml", 'ignore = ["P001"]\nseverity = {L003 = "error"}\n')
    lines = run("site/robots.txt").stdout.splitlines()
    assert lines[0].startswith("site/robots.txt:2:1 error L003")
    assert "P001" not in "".join(lines)
    # The nearest file counts, and options override it.
    write("site/koster.toml", 'select = ["S"]\n')
    assert "S009" in run("site/robots.txt", "--notes").stdout
    assert "L003" not in run("site/robots.txt").stdout
    assert "L003" in run("site/robots.txt", "--select", "L").stdout
    assert "S009" not in run("site/robots.txt", "--notes", "--ignore", "S009").stdout
    assert "L003" in run("site/robots.txt", "--config", "koster.toml").stdout


def test_settings_of_pyproject_toml() -> None:
    write("robots.txt", BAD)
    write("pyproject.toml", '[tool.koster.per-file-ignores]\n"staging/*" = ["P"]\n')
    write("staging/robots.txt", BAD)
    # Without a table for koster, the search goes on.
    write("staging/pyproject.toml", "[project]\nname = 'x'\n")
    assert run("staging/robots.txt").stdout == "No problems found\n"
    assert run("staging/robots.txt", "--config", "pyproject.toml").exit_code == 0
    assert run("robots.txt").exit_code == 1


def test_settings_of_crawlers_and_dialects() -> None:
    write("robots.txt", "User-agent: SeznamBot\nDisallow: /\nUser-agent: *\nDisallow: /a%3Ab\n")
    assert "S007" not in run().stdout
    write("koster.toml", 'crawlers = ["SeznamBot"]\ndialects = ["RFC9309"]\n')
    shown = run("--notes").stdout
    assert "S007 SeznamBot is blocked from the whole site" in shown
    assert "D001" not in shown
    write("koster.toml", 'crawlers = ["Seznam"]\n')
    assert "koster.toml: unknown crawler 'Seznam'. Did you mean SeznamBot" in run().stderr


@pytest.mark.parametrize("text", ["tool = 1", "[tool]\nkoster = 3", "[tool]\n", ""])
def test_pyproject_of_any_kind_is_no_crash(text: str) -> None:
    write("robots.txt", "User-agent: *\nDisallow: /a\n")
    write("pyproject.toml", text)
    result = run()
    assert result.exit_code == (2 if "koster" in text else 0)
    assert run("--config", "pyproject.toml").exit_code == result.exit_code


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("selct = []", "unknown key 'selct'. Did you mean select?"),
        ("select = [", "koster.toml: "),
        ('ignore = ["X1"]', "unknown code X1"),
    ],
)
def test_invalid_settings_are_usage_errors(text: str, message: str) -> None:
    write("robots.txt", BAD)
    write("koster.toml", text)
    result = run()
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.replace("│", "").split())
    assert run("--config", "none.toml").exit_code == 2


def test_baseline_hides_known_findings() -> None:
    write("site/robots.txt", MIXED)
    baseline = ("--baseline", "site/known.json")
    result = run("site/robots.txt", *baseline)
    assert result.exit_code == 3
    assert "--write-baseline creates it" in result.stderr
    assert "4 findings written" in run("site/robots.txt", *baseline, "--write-baseline").stdout
    assert run("site/robots.txt", *baseline).stdout == "No problems found\n"
    # Lines may move; the same finding on a new line is new.
    write("site/robots.txt", f"# new\n{MIXED}Disallow: admin\nDisallow: new\n")
    shown = run("site/robots.txt", *baseline).stdout
    assert "site/robots.txt:9:11 error P001" in shown
    assert "1 more: line 8" in shown or "site/robots.txt:8:11" in shown
    assert "2 errors" in shown


@pytest.mark.parametrize("text", ["[]", "{", '{"findings": [{"file": 1}]}', "[" * 100_000])
def test_invalid_baseline_is_an_error(text: str) -> None:
    write("robots.txt", BAD)
    write("known.json", text)
    result = run("--baseline", "known.json")
    assert result.exit_code == 3
    assert "known.json: is not a baseline of koster lint" in result.stderr


def test_baseline_never_replaces_another_file() -> None:
    write("robots.txt", BAD)
    result = run("--baseline", "robots.txt", "--write-baseline")
    assert result.exit_code == 3
    assert "robots.txt: is not a baseline of koster lint" in result.stderr
    assert Path("robots.txt").read_text() == BAD


def test_baseline_knows_lines_that_are_not_utf8() -> None:
    Path("robots.txt").write_bytes(b"User-agent: *\nDisallow: \xff\n")
    run("--baseline", "known.json", "--write-baseline")
    assert run("--baseline", "known.json").stdout == "No problems found\n"


def test_statistics_count_findings_by_code() -> None:
    write("robots.txt", MIXED)
    write("b/robots.txt", BAD)
    result = run("--statistics", ".")
    assert result.exit_code == 1
    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows[0] == ["Findings", "Files", "Code", "Severity", "What", "it", "finds"]
    assert rows[1][:4] == ["2", "2", "P001", "error"]
    assert ["1", "1", "S009", "note"] in [row[:4] for row in rows]


def test_comments_ignore_findings() -> None:
    write("robots.txt", "User-agent: *\nDisallow: admin # koster: ignore[P001]\n")
    assert run().stdout == "No problems found\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a." * 20_000 + "a = 1", "a key has more than 32 parts"),
        ("ignore = " + "[" * 9_999, "nested more than 50 deep"),
        ("#" * (1 << 20) + "\n", "is larger than 1 MiB"),
        ("ignore = [" + '"S", ' * 1_001 + "]", "'ignore' has more than 1,000 entries"),
        (f'ignore = "{"x" * 9_999}"', "must be a list of strings, not 'xxx"),
        ("x" * 9_999 + " = 1", "unknown key 'xxx"),
    ],
)
def test_hostile_settings_are_refused_with_a_short_message(text: str, message: str) -> None:
    write("robots.txt", BAD)
    for name, content in (("koster.toml", text), ("pyproject.toml", f"[tool.koster]\n{text}")):
        write(name, content)
        result = run("--config", name)
        assert result.exit_code == 2
        assert message in " ".join(result.stderr.replace("│", "").split())
        assert len(result.stderr) < 1_500


def test_only_some_unknown_crawlers_get_a_warning() -> None:
    write("robots.txt", "User-agent: *\nDisallow: /a\n")
    write("koster.toml", f"crawlers = {[f'none{number}' for number in range(9)]}")
    warnings = run().stderr.splitlines()
    assert len(warnings) == 6
    assert warnings[-1] == "koster: koster.toml: 4 more unknown crawlers"


def test_settings_of_a_parent_folder_are_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write("a/b/robots.txt", BAD)
    write("a/b/robots.old.txt", BAD)
    write("a/koster.toml", 'ignore = ["P"]\n')
    told = "koster: settings of a/koster.toml\n"
    assert run("a/b").stderr == told
    assert run("a/b/robots.txt", "a/b/robots.old.txt", "-f", "json").stderr == told
    monkeypatch.chdir(tmp_path / "a" / "b")
    assert run().stderr == "koster: settings of ../koster.toml\n"
    assert run("-", stdin=BAD).stderr == "koster: settings of ../koster.toml\n"
    # The settings of the current folder, of the file's own, and those that --config names are known.
    write("koster.toml", "")
    assert run().stderr == run("--config", "../koster.toml").stderr == ""
    monkeypatch.chdir(tmp_path / "a")
    (tmp_path / "a" / "b" / "koster.toml").unlink()
    assert run("b").stderr == ""


def test_without_a_check_nothing_is_a_success() -> None:
    write("robots.txt", BAD)
    for options in (["--select", "S", "--ignore", "S"], ["--ignore", "B,L,G,P,S,M,E,D,Z"]):
        result = run(*options)
        assert result.exit_code == 2
        assert "no check is left" in result.stderr
    # A file may be left out on purpose.
    write(
        "koster.toml",
        '[per-file-ignores]\n"robots.txt" = ["B", "L", "G", "P", "S", "M", "E", "D", "Z"]',
    )
    assert run().exit_code == 0
