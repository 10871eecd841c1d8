"""``koster completion``, and what a shell gets from it."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from koster import DIALECTS
from koster._cli.root import koster

PLACES = {
    "bash": ".local/share/bash-completion/completions/koster",
    "zsh": ".zfunc/_koster",
    "fish": ".config/fish/completions/koster.fish",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR", "BASH_COMPLETION_USER_DIR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(koster, ["completion", *arguments])


def completions(line: str) -> list[str]:
    """Return what click answers a shell about the end of a line: types and values."""
    words = line.split(" ")
    result = CliRunner().invoke(
        koster,
        prog_name="koster",
        env={
            "_KOSTER_COMPLETE": "bash_complete",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(words) - 1),
        },
    )
    return result.stdout.splitlines()


@pytest.mark.parametrize("shell", PLACES)
def test_script_is_written_once(shell: str, home: Path) -> None:
    path = home / PLACES[shell]
    result = run(shell)
    assert result.exit_code == 0
    assert str(path) in result.stdout
    script = path.read_text()
    assert script == run(shell, "--print").stdout
    before = path.stat().st_ino
    assert run(shell).exit_code == 0
    assert path.stat().st_ino == before
    # One of an earlier version is replaced.
    path.write_text(f"# other\n{script}")
    assert run(shell).exit_code == 0
    assert path.read_text() == script


def test_folders_of_the_environment_are_used(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("ZDOTDIR", str(home / "zsh"))
    assert [run(shell).exit_code for shell in PLACES] == [0, 0, 0]
    assert (home / "data/bash-completion/completions/koster").is_file()
    assert (home / "config/fish/completions/koster.fish").is_file()
    assert (home / "zsh/.zfunc/_koster").is_file()
    assert str(home / "zsh" / ".zshrc") in run("zsh").stdout
    monkeypatch.setenv("BASH_COMPLETION_USER_DIR", str(home / "own"))
    assert run("bash").exit_code == 0
    assert (home / "own/completions/koster").is_file()


def test_other_files_are_not_overwritten(home: Path) -> None:
    path = home / PLACES["fish"]
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    result = run("fish")
    assert result.exit_code == 3
    assert "exists and is not from koster; not overwritten" in result.stderr
    assert path.read_text() == "mine"


def test_folder_that_cannot_be_made(home: Path) -> None:
    (home / ".zfunc").write_text("")
    result = run("zsh")
    assert result.exit_code == 3
    assert "File exists" in result.stderr


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("koster ch", ["plain,check"]),
        ("koster bulk rep", ["plain,report"]),
        ("koster help bulk rep", ["plain,report"]),
        ("koster check --agent Googlebot-I", ["plain,Googlebot-Image"]),
        ("koster check -a googlebot-i", ["plain,Googlebot-Image"]),
        ("koster bulk classify --agent Googlebot-I", ["plain,Googlebot-Image"]),
        ("koster compose --allow Googlebot-I", ["plain,Googlebot-Image"]),
        ("koster compose --disallow Googlebot-I", ["plain,Googlebot-Image"]),
        ("koster agents Googlebot-I", ["plain,Googlebot-Image"]),
        ("koster lint --select P00", [f"plain,P00{number}" for number in range(1, 10)]),
        ("koster lint --ignore S001,P008", ["plain,S001,P008"]),
        ("koster lint --explain overridden", ["plain,overridden-rule"]),
        ("koster lint --select al", [""]),
        ("koster lint --dialect ", [f"plain,{name}" for name in (*DIALECTS, "all")]),
        ("koster fetch --dialect g", ["plain,GOOGLE", "plain,GYM2008"]),
        ("koster compose --preset no", ["plain,no-ai-training"]),
        ("koster compose --training a", ["plain,allow"]),
        ("koster audit --format h", ["plain,html"]),
        ("koster lint --sel", ["plain,--select"]),
        ("koster lint rob", ["file,rob"]),
        ("koster check --robots rob", ["file,rob"]),
        ("koster diff robots.txt rob", ["file,rob"]),
        ("koster compose --keep rob", ["file,rob"]),
        ("koster bulk report cl", ["dir,cl"]),
        ("koster completion z", ["plain,zsh"]),
    ],
)
def test_values_are_completed(line: str, expected: list[str]) -> None:
    assert completions(line) == expected


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash")
def test_bash_completes_with_the_script(home: Path) -> None:
    assert run("bash").exit_code == 0
    program = home / "bin" / "koster"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m koster "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    lines = f"""
        source {home / PLACES["bash"]}
        complete -p koster
        COMP_WORDS=(koster check --agent Googlebot-I) COMP_CWORD=3
        _koster_completion koster
        COMP_WORDS=(koster lint --select S001,P008) COMP_CWORD=3
        _koster_completion koster
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        ["bash", "--norc", "-c", lines],
        capture_output=True,
        text=True,
        env=os.environ | {"PATH": f"{program.parent}:{os.environ['PATH']}"},
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "complete -o nosort -F _koster_completion koster",
        "Googlebot-Image",
        "S001,P008",
    ]


@pytest.mark.skipif(not shutil.which("zsh"), reason="no zsh")
def test_zsh_reads_the_script(home: Path) -> None:
    assert run("zsh").exit_code == 0
    assert subprocess.run(["zsh", "-n", home / PLACES["zsh"]], check=False).returncode == 0


@pytest.mark.skipif(not shutil.which("fish"), reason="no fish")
def test_fish_reads_the_script(home: Path) -> None:
    assert run("fish").exit_code == 0
    assert (
        subprocess.run(["fish", "--no-execute", home / PLACES["fish"]], check=False).returncode == 0
    )
