"""The guide and the help: short, with examples first, which run."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from koster._cli.examples import EXAMPLES, GUIDE
from koster._cli.help import COMMANDS
from koster._cli.root import koster
from koster.fetch import MockTransport
from koster.fetch.senders import transport
from tests.helpers import archives
from tests.helpers.support import EVERYTHING, ROOT, sampled

#: Two screens of 80x25.
_MAX_LINES = 50

#: The commands that have commands.
_GROUPS = ("bulk", "conformance")

ALL = [example for examples in EXAMPLES.values() for example in examples]


def run(*arguments: str, columns: int = 80) -> Result:
    return CliRunner().invoke(koster, arguments, env={"COLUMNS": str(columns)})


def test_koster_alone_prints_a_short_guide() -> None:
    result = run()
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert len(lines) <= 20
    assert max(map(len, lines)) <= 80
    assert all(any(example in line for line in lines) for _, example in GUIDE)
    assert "koster --help" in result.stdout


def test_all_commands_have_examples_and_a_group() -> None:
    context = click.Context(koster)
    names = koster.list_commands(context)
    assert sorted(name for group in COMMANDS.values() for name in group) == names
    groups = {name: koster.get_command(context, name) for name in _GROUPS}
    inner = [f"{name} {each}" for name in groups for each in groups[name].list_commands(context)]
    assert set(EXAMPLES) == {"koster", *names, *inner}


@pytest.mark.parametrize("path", EXAMPLES)
def test_help_fits_two_screens_with_examples_first(path: str) -> None:
    names = path.removeprefix("koster").split()
    result = run(*names, "--help")
    assert result.exit_code == 0
    lines = [line.rstrip() for line in result.stdout.splitlines()]
    assert len(lines) <= _MAX_LINES, len(lines)
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith(f"Usage: koster {' '.join(names)}".rstrip())
    assert lines[3:8] == ["", "Examples:", *(f"  {each}" for each in EXAMPLES[path])]
    assert not re.search("[╭│╰]", result.stdout)
    codes = result.stdout.partition("Exit codes: ")[2]
    assert re.match("0 ", codes)
    assert codes.count("\n") <= 2
    assert "Options:" not in lines or not names or names[0] in _GROUPS
    assert run("help", *names).stdout.splitlines() == result.stdout.splitlines()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chek"], "No such command 'chek'. Did you mean check?"),
        (["help", "chek"], "No such command 'chek'. Did you mean check?"),
        (["help", "bulk", "xyz"], "No such command 'xyz'"),
        (["help", "check", "x"], "koster check has no commands"),
    ],
)
def test_unknown_commands(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that the examples are about, and sites without a network."""
    shutil.copytree(ROOT / "examples", tmp_path, dirs_exist_ok=True)
    (tmp_path / "crawl").mkdir()
    archives.write(tmp_path / "crawl" / "robotstxt.warc.gz", archives.sites(3))
    html = archives.Fetch("https://site-0.example/", b"<p>", headers={"Content-Type": "text/html"})
    archives.write(tmp_path / "crawl" / "warc.warc.gz", [html])
    (tmp_path / "pages.csv").write_text(
        "url,page,bot,robots\n/a,/a,GPTBot,User-agent: *\n", newline=""
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR", "BASH_COMPLETION_USER_DIR"):
        monkeypatch.delenv(name, raising=False)
    robots = (ROOT / "examples" / "robots.txt").read_text()
    sites = MockTransport({f"https://example.{top}": robots for top in ("com", "org")})
    monkeypatch.setattr(transport, "own_sender", lambda _: transport.TransportSender(sites))
    return tmp_path


@pytest.mark.parametrize("example", sampled([*dict.fromkeys(ALL)], 3))
def test_examples_run(example: str, folder: Path) -> None:
    program, *arguments = shlex.split(example.partition(" > ")[0])
    assert program == "koster"
    if arguments[0] == "serve":
        # It runs until it is stopped: the arguments are valid.
        serve = koster.get_command(click.Context(koster), "serve")
        assert serve.make_context("serve", arguments[1:])
        return
    chooses = {"--level", "--tag", "--case"} & {*arguments}
    if arguments[:2] == ["conformance", "run"] and not chooses and not EVERYTHING:
        arguments[2:2] = ["--tag", "groups"]
    if "report" in arguments:
        assert run(*shlex.split(EXAMPLES["bulk"][0])[1:]).exit_code == 0
    result = run(*arguments)
    # These sites have no pages.
    has_no_page = "Not read: page: 404 Not Found" in result.stdout
    assert result.exit_code in ((3,) if has_no_page else (0, 1)), result.output
    assert "Usage:" not in result.stderr
