"""Named pipes, devices and symbolic links in place of input files."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import koster
from koster import _opening
from koster._cli.root import koster as command
from tests.helpers.forked_commands import Command

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes"),
]

ROBOTS = "User-agent: *\nDisallow: /a\n"
LINE = '1.2.3.4 - - [10/Mar/2026:12:00:00 +0000] "GET /b HTTP/1.1" 200 12 "-" "GPTBot"\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tree = tmp_path / "tree"
    tree.mkdir()
    monkeypatch.chdir(tree)
    Path("robots.txt").write_text(ROBOTS)
    Path("access.log").write_text(LINE)
    os.mkfifo("pipe")
    os.mkfifo("pipe.json")
    Path("ranges").mkdir()
    os.mkfifo("ranges/gptbot.json")
    Path("suite").mkdir()
    os.mkfifo("suite/suite.json")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
    return tree


def run(*arguments: str, stdin: str | None = None) -> Result:
    result = CliRunner().invoke(command, arguments, input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.mark.parametrize(
    "arguments",
    [
        "check --robots PATH /",
        "check --robots robots.txt --urls PATH",
        "lint PATH",
        "lint --baseline PATH robots.txt",
        "lint --sitemap PATH robots.txt",
        "lint --render cat PATH",
        "fmt PATH",
        "fmt --write PATH",
        "diff robots.txt PATH",
        "audit PATH",
        "test PATH",
        "compose --close /x/ --keep PATH",
        "logs --robots PATH access.log",
        "logs --robots robots.txt PATH",
        "logs --robots robots.txt --follow PATH",
        "bulk facts PATH -o out",
    ],
)
def test_named_pipes_and_devices_are_errors(arguments: str) -> None:
    for path in ("pipe", "/dev/zero", "socket"):
        result = run(*arguments.replace("PATH", path).split())
        assert result.exit_code == 3, result.output
        assert f"{path}: is a" in result.output or "not a regular file" in result.output


@pytest.mark.parametrize(
    "arguments",
    [
        "logs --robots robots.txt --ranges ranges access.log",
        "conformance run --suite suite -- true",
        "lint --baseline pipe.json robots.txt",
    ],
)
def test_named_pipes_in_folders_are_errors(arguments: str) -> None:
    result = run(*arguments.split())
    assert result.exit_code == 3
    assert "json: is a named pipe, not a file" in result.output


@pytest.mark.parametrize("path", ["pipe", "socket", "/dev/zero"])
def test_settings_are_files(path: str) -> None:
    result = run("lint", "--config", path, "robots.txt")
    assert result.exit_code == 2
    assert f"{path}: is a" in " ".join(result.output.split())


def test_settings_out_of_the_tree_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.toml").write_text("password = 1")
    Path("koster.toml").symlink_to(tmp_path / "secret.toml")
    result = run("lint", "robots.txt")
    assert result.exit_code == 3
    assert "koster.toml: is a symbolic link out of" in " ".join(result.output.split())
    assert "password" not in result.output


def test_folders_are_errors() -> None:
    assert "ranges: Is a directory" in run("fmt", "ranges").output


def test_library_refuses_named_pipes() -> None:
    for path in ("pipe", "/dev/zero"):
        with pytest.raises(OSError, match="is a"):
            koster.parse_file(path)


def test_files_that_become_pipes_do_not_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_opening, "check_file", lambda _path: None)
    with pytest.raises(OSError, match="is a named pipe"):
        _opening.open_file("pipe")


def test_the_empty_device_is_an_empty_file() -> None:
    assert run("check", "--robots", os.devnull, "/").exit_code == 0


@pytest.mark.parametrize("path", ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "-"])
def test_what_is_open_already_is_read(path: str) -> None:
    if not os.path.exists(path) and path != "-":
        pytest.skip(f"this system has no {path}")
    for arguments, text in (
        (["check", "--robots", path, "/a"], ROBOTS),
        (["logs", "--robots", "robots.txt", path], LINE.replace("/b", "/a")),
    ):
        # Ours comes late: the pipe is read to its end.
        read, write = os.pipe()
        process = Command(*arguments, stdin=read)
        os.close(read)
        time.sleep(0.1)
        with open(write, "w") as file:
            file.write(text)
        assert process.wait(30) == 1


def test_endless_standard_input_is_an_error() -> None:
    for arguments in (["fmt", "-"], ["logs", "--robots", "robots.txt", "-"]):
        with open("/dev/zero", "rb") as zero:
            process = Command(*arguments, stdin=zero.fileno(), stderr=subprocess.PIPE)
            _, err = process.communicate(timeout=30)
        assert process.returncode == 3
        assert "is a device, not a file" in err


@pytest.fixture
def secret(folder: Path) -> Path:
    path = folder.parent / "secret.txt"
    path.write_text("user-agent:*\nSecret-Token: abc\nDisallow:\n")
    return path


def links(secret: Path) -> list[str]:
    """Links out of the tree: to a file, by other links, and in folders."""
    Path("link.txt").symlink_to(secret)
    Path("relative.txt").symlink_to("../secret.txt")
    Path("chain.txt").symlink_to("link.txt")
    Path("folder").symlink_to("..")
    Path("public").mkdir()
    Path("public/robots.txt").symlink_to(secret)
    found = ["link.txt", "relative.txt", "chain.txt", "folder/secret.txt", "public/robots.txt"]
    return [*found, os.path.abspath("link.txt")]


COMMANDS = (
    "lint", "fmt", "fmt --write", "fmt --check", "lint --fix", "lint --fix --write", "audit",
    "check / --robots", "diff robots.txt", "lint --render cat", "compose --close /x/ --write",
    "logs access.log --robots",
)  # fmt: skip


@pytest.mark.parametrize("arguments", COMMANDS)
@pytest.mark.parametrize("git", [False, True])
def test_links_out_of_the_tree_are_not_followed(secret: Path, arguments: str, git: bool) -> None:
    before = secret.read_text()
    if git:
        Path(".git").mkdir()
    for path in links(secret):
        result = run(*arguments.split(), path)
        assert result.exit_code == 3, result.output
        assert f"{path}: is a symbolic link out of " in result.output
        assert "which is not followed; name its target" in result.output
        assert "abc" not in result.output
        assert secret.read_text() == before


def test_folders_are_searched_without_links_out_of_them(secret: Path, folder: Path) -> None:
    links(secret)
    os.chdir(folder.parent)
    result = run("lint", "tree")
    assert result.exit_code == 3
    assert "tree/public/robots.txt: is a symbolic link out of tree" in result.output.replace(
        str(folder), "tree"
    )
    assert "abc" not in result.output


def test_links_within_the_tree_are_followed(folder: Path) -> None:
    (folder / ".git").mkdir()
    Path("shared.txt").write_text("user-agent:*\nDisallow:\n")
    Path("site").mkdir()
    Path("site/robots.txt").symlink_to("../shared.txt")
    os.chdir("site")
    assert run("fmt", "--write", "robots.txt").exit_code == 0
    assert Path("robots.txt").is_symlink()
    assert Path("../shared.txt").read_text() == "User-agent: *\nDisallow:\n"


def test_links_elsewhere_are_followed(secret: Path, folder: Path) -> None:
    """Somebody named a link that is not in the current folder."""
    other = folder.parent / "other"
    other.mkdir()
    (other / "link.txt").symlink_to(secret)
    assert run("fmt", "--write", str(other / "link.txt")).exit_code == 0
    assert secret.read_text().startswith("User-agent: *\n")
    assert (other / "link.txt").is_symlink()


def test_loops_of_links_are_errors() -> None:
    Path("loop").symlink_to("loop")
    for arguments in (["lint"], ["fmt", "--write"]):
        result = run(*arguments, "loop")
        assert (result.exit_code, "loop: Too many levels of symbolic links" in result.output) == (
            3,
            True,
        )


def test_writing_replaces_a_link_that_appears_meanwhile(
    secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = secret.read_text()
    path = Path("robots.txt")
    path.write_text("user-agent:*\nDisallow:\n")
    replace = os.replace

    def swap(source: str, target: str) -> None:
        path.unlink()
        path.symlink_to(secret)
        replace(source, target)

    monkeypatch.setattr(os, "replace", swap)
    assert run("fmt", "--write", "robots.txt").exit_code == 0
    assert not path.is_symlink()
    assert path.read_text() == "User-agent: *\nDisallow:\n"
    assert secret.read_text() == before
