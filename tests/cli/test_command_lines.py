"""`koster lint --render`: the command runs without a shell, and no name of a file is code."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import pytest
import rich_click as click
from click.testing import CliRunner, Result

from koster._cli import command_lines
from koster._cli.command_lines import arguments
from koster._cli.root import koster
from koster.errors import UnreadableError

EVIL = [
    "$(touch X)",
    "`touch X`",
    "a;touch X;b",
    "a|touch X",
    "a&touch X&b",
    "a\ntouch X\n",
    "a' touch X '",
    'a" touch X "',
    "a'\"$(touch X)\"'",
    "-c touch X",
    "--help",
    "-",
    "+x",
    "@x",
    "a b  c",
    "{}",
    "a{}{}b",
    "$1",
    "$HOME",
    "%PATH%",
    "a\\",
    "é\u202e\U0001f916",
    os.fsdecode(b"\xff"),
    "~",
    "*",
    "#",
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def render(command: str, *files: str) -> Result:
    return CliRunner().invoke(koster, ["lint", "--render", command, "--", *files])


@pytest.mark.parametrize("name", EVIL)
def test_no_name_is_code(name: str, folder: Path) -> None:
    (folder / "d" / name).mkdir(parents=True)
    path = folder / "d" / name / "robots.txt"
    path.write_text("User-agent: *\nDisallow: a\n")
    for command in ("cat {}", "sh -c 'cat \"$1\"' sh {}"):
        result = render(command, str(path))
        assert "P001" in result.stdout, result.stderr
    assert not (folder / "X").exists()
    assert sorted(os.listdir(folder)) == ["d"]
    assert arguments("--render", "a --b={} -c{} @{}", str(path)) == [
        "a",
        f"--b={path}",
        f"-c{path}",
        f"@{path}",
    ]


@pytest.mark.parametrize("name", ["-n", "--version", "+x", "@x"])
def test_names_are_no_options(name: str, folder: Path) -> None:
    (folder / name).write_text("User-agent: *\nDisallow: a\n")
    assert "P001" in render("cat {}", name).stdout
    assert arguments("--render", "cat {}", name) == ["cat", os.path.join(".", name)]


def test_standard_input_keeps_its_name() -> None:
    assert arguments("--render", "cat {}", "-") == ["cat", "-"]
    result = CliRunner().invoke(koster, ["lint", "--render", "cat {}", "-"], input="Disallow: a")
    assert "P001" in result.stdout


@pytest.mark.parametrize(
    "command",
    [
        'CMD "a {}"',
        "sh -c 'cat {}'",
        'sh -c "cat \\"{}\\""',
        "sh -c cat<{}",
        "sh -c x={}",
        "sh -c {}",
        "/bin/bash -lc {}",
        "env bash -x -c {}",
        "cmd.exe /c {}",
        "pwsh -Command {}",
        "python -c 'open(\"{}\")'",
        "cat {}{}",
        "cat ../{}",
    ],
)
def test_a_path_within_code_is_refused(command: str) -> None:
    with pytest.raises(click.UsageError, match=r"\{\} must be an argument|without a shell"):
        arguments("--render", command, "robots.txt")


@pytest.mark.parametrize(
    ("command", "needs"),
    [
        ("a | b", "|"),
        ("a|b", "|"),
        ("a; b", ";"),
        ("a && b", "&"),
        ("a > b", ">"),
        ("a < {}", "<"),
        ("a $HOME", "$H"),
        ('a "$HOME"', "$H"),
        ("a $(b)", "$("),
        ('a "`b`"', "`"),
        ("a 'b' \"it's\" | c", "|"),
        ("a\nb", "\\n"),
    ],
)
def test_what_needs_a_shell_is_refused(command: str, needs: str, folder: Path) -> None:
    (folder / "robots.txt").write_text("")
    result = render(command, "robots.txt")
    assert result.exit_code == 2
    shown = " ".join(result.stderr.replace("│", "").split())
    assert f"without a shell, which {needs!r}".replace("\\\\", "\\") in shown


def test_quotes_are_read_as_a_shell_reads_them() -> None:
    command = """a 'b | c' "d; $ 'e'" f\\ g \\$H '$(x)' "\\$y" h#i # j"""
    assert arguments("--render", command, None) == shlex.split(command)


@pytest.mark.parametrize("command", ["", "  ", "a 'b", 'a "b', "a \\"])
def test_incomplete_commands_are_refused(command: str) -> None:
    with pytest.raises(click.UsageError, match=r"is empty|is not closed"):
        arguments("--render", command, None)


def test_a_missing_program_is_an_error(folder: Path) -> None:
    (folder / "robots.txt").write_text("")
    result = render("no-such-program {}", "robots.txt")
    assert result.exit_code == 3
    assert "robots.txt (rendered): cannot run no-such-program: No such file" in result.stderr


def test_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_lines.os, "name", "nt")  # type: ignore[attr-defined]
    command = 'C:\\bin\\j.exe "C:\\a b\\c" {}'
    assert arguments("x", command, "a.j2") == ["C:\\bin\\j.exe", "C:\\a b\\c", "a.j2"]
    assert arguments("x", "npx.cmd {}", "C:\\a b\\r.txt") == ["npx.cmd", "C:\\a b\\r.txt"]
    for name in ("a&calc", "%PATH%", 'a" & "', "a^", "(a)"):
        assert arguments("x", "j.exe {}", name) == ["j.exe", name]
        with pytest.raises(UnreadableError, match="cannot pass this name to a batch file"):
            arguments("x", "npx.CMD {}", name)


def test_the_program_is_this_python(folder: Path) -> None:
    (folder / "a b").write_text("User-agent: *\nDisallow: a\n")
    code = "import sys; print(open(sys.argv[1]).read())"
    assert "P001" in render(f'{sys.executable} -c "{code}" {{}}', "a b").stdout
