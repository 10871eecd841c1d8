"""The docs list everything public, and their examples run."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from pathlib import Path

import archives
import click
import httpx2
import pytest
import tables
from click.testing import CliRunner
from facades import COLUMNS
from support import ROOT

import koster
import koster.analysis
import koster.audit
import koster.bulk
import koster.cache
import koster.crawlers
import koster.fetch
import koster.lint
from koster.access import FailureKind
from koster.bulk import CLASSIFIED, DECIDED, FACTS, _inputs, warc
from koster.bulk._batches import ARCHIVED
from koster.cli._root import koster as command
from koster.fetch import EventName
from koster.fetch.senders import transport

pytestmark = pytest.mark.any_mode

DOCS = {path.name: path.read_text("utf-8") for path in (ROOT / "docs").glob("*.md")}
README = (ROOT / "README.md").read_text("utf-8")


def test_every_public_name_is_documented() -> None:
    missing = [name for name in koster.__all__ if not re.search(rf"\b{name}\b", DOCS["library.md"])]
    assert missing == []


@pytest.mark.parametrize("type_", [koster.RobotsTxt, koster.Rules])
def test_every_method_is_documented(type_: type) -> None:
    names = [name for name in dir(type_) if not name.startswith("_")]
    assert [
        name for name in names if f"`{name}" not in DOCS["library.md"].replace(", `", "`")
    ] == []


def test_every_dialect_is_documented() -> None:
    for name in koster.DIALECTS:
        assert re.search(rf"^##+ {name}$", DOCS["dialects.md"], re.MULTILINE)
        assert name in DOCS["cli.md"]
        assert name in DOCS["library.md"]


def test_tables_of_dialects_are_up_to_date() -> None:
    for table in (tables.sources(), tables.choices(), tables.pairs()):
        assert table in DOCS["dialects.md"], "python tests/tables.py prints the tables"


def test_every_directive_and_spelling_is_documented() -> None:
    for directive in koster.Directive:
        others = ", ".join(directive.spellings[1:])
        row = f"| {directive.value} | {others + ' ' if others else ''}| {directive.scope.value}"
        assert row in DOCS["dialects.md"], row


def test_every_reason_and_kind_is_documented() -> None:
    for member in (*koster.Reason, *koster.LineKind):
        assert f"`{member.name}`" in DOCS["library.md"]


def test_every_facade_is_documented() -> None:
    folder = Path(koster.__file__).parent / "compat"
    for path in folder.iterdir():
        name = path.name.removesuffix(".py")
        if not name.startswith("_"):
            assert f"\n## {name}\n" in DOCS["migrating.md"]
            assert (
                f"koster.compat.{name}" in DOCS["migrating.md"]
                or f"import {name}" in DOCS["migrating.md"]
            )


def test_agreement_of_each_facade_is_documented() -> None:
    for column in COLUMNS:
        row = rf"^\| `{column.name}` \| {column.facade} \| .* \| {100 * column.share:g} % \|$"
        assert re.search(row, DOCS["conformance.md"], re.MULTILINE), column.name


def _commands() -> list[tuple[str, click.Command]]:
    commands: list[tuple[str, click.Command]] = []
    context = click.Context(command)
    for name in command.list_commands(context):
        each = command.get_command(context, name)
        if isinstance(each, click.Group):
            commands += [(f"{name} {inner}", one) for inner, one in each.commands.items()]
        else:
            commands.append((name, each))
    return commands


@pytest.mark.parametrize(("name", "each"), _commands())
def test_every_command_and_option_is_documented(name: str, each: click.Command) -> None:
    assert f"## koster {name}" in DOCS["cli.md"]
    for parameter in each.params:
        if isinstance(parameter, click.Option):
            for option in parameter.opts:
                assert f"`{option}" in DOCS["cli.md"], option
            assert parameter.help


@pytest.mark.parametrize("name", [name for name, _ in _commands()])
def test_help_names_the_exit_codes(name: str) -> None:
    arguments = [*name.split(), "--help"]
    output = CliRunner().invoke(command, arguments, env={"COLUMNS": "200"}).output
    section = DOCS["cli.md"].partition(f"## koster {name}")[2].partition("\n## ")[0]
    codes = re.findall(r"^\| (\d) \|", section, re.MULTILINE)
    # Not every command has exit code 1.
    assert codes in (list("0123"), list("023"), list("012"), list("02"))
    for code in codes:
        assert re.search(rf"\b{code} ", output)


@pytest.mark.parametrize("client", [koster.RobotsClient, koster.AsyncRobotsClient])
def test_every_argument_and_method_of_the_clients_is_documented(client: type) -> None:
    arguments = [name for name in inspect.signature(client).parameters if name != "self"]
    methods = [name for name in dir(client) if not name.startswith("_")]
    assert [name for name in arguments if f"| `{name}` |" not in DOCS["fetching.md"]] == []
    assert [name for name in methods if f"`{name}(" not in DOCS["fetching.md"]] == []


def test_events_failures_caches_and_outcome_fields_are_documented() -> None:
    page = DOCS["fetching.md"]
    for event in EventName:
        assert f"| `{event}` |" in page
        row = next(line for line in page.splitlines() if line.startswith(f"| `{event}` |"))
        event_fields = re.findall(
            r"``([a-z._]+)``", inspect.getsource(EventName).split(f'"{event}"')[1].split('"""')[1]
        )
        assert event_fields
        assert all(f"`{name}`" in row for name in event_fields), row
    for kind in FailureKind:
        assert f"(`{kind.value}`)" in page
    names = [*koster.fetch.__all__, *koster.cache.__all__]
    assert [name for name in names if name not in page + DOCS["pacing.md"]] == [
        "RefusedAddressError"
    ]
    fields = [name for name in dir(koster.Outcome) if not name.startswith("_")]
    assert [name for name in fields if f"`{name}" not in page] == []


def _blocks(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", DOCS[page], re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", ["fetching.md", "pacing.md"])
def test_examples_about_fetching_run(
    page: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sites = koster.fetch.MockTransport({"https://example.com": "User-agent: *\nCrawl-delay: 0.01"})
    monkeypatch.setattr(transport, "own_sender", lambda _: transport.TransportSender(sites))
    monkeypatch.setattr(
        transport, "own_async_sender", lambda _: transport.AsyncTransportSender(sites)
    )
    monkeypatch.setattr(koster.cache.RedisCache, "check", lambda _: None)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        httpx2.Client, "send", lambda self, request, **_: httpx2.Response(200, request=request)
    )
    names: dict[str, object] = {}
    blocks = _blocks(page)
    assert len(blocks) >= 4
    for block in blocks:
        code = compile(block, page, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        coroutine = eval(code, names)
        if coroutine is not None:
            asyncio.run(coroutine)


def test_examples_about_archives_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """``make test-spark`` covers the Spark example; Ray is smoke-tested if installed."""
    archives.write(tmp_path / "robotstxt.warc.gz", archives.sites(10))
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = _blocks("archives.md")
    assert len(blocks) >= 4
    for block in blocks:
        exec(compile(block, "archives.md", "exec"), names)


def test_every_name_of_koster_bulk_is_documented() -> None:
    page = DOCS["archives.md"]
    for name in koster.bulk.__all__:
        assert f"`{name}" in page, name
    for type_ in (CLASSIFIED, DECIDED, FACTS):
        for field in type_:
            assert f"`{field.name}`" in page, field.name
    for name in (*warc.FetchClass, *ARCHIVED.names):
        assert f"`{name}`" in page, name
    for function in ("robots_classify", "robots_followed", "robots_decide", "robots_facts"):
        assert function in page
    for suffix in (*_inputs._KINDS, *_inputs._COMPRESSED):
        assert f"`{suffix}`" in DOCS["cli.md"]


def test_consoles_in_the_docs_show_the_real_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "examples")
    count = 0
    for text in (README, *DOCS.values()):
        for arguments, expected in re.findall(r"^\$ koster (.*)\n([^`]*)^```", text, re.MULTILINE):
            result = CliRunner().invoke(command, arguments.split())
            today = re.compile(r"\d{4}-\d\d-\d\d")
            assert today.sub("DATE", result.stdout) == today.sub("DATE", expected)
            count += 1
    assert count >= 3


def test_links_in_the_docs_exist() -> None:
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
        for link in re.findall(r"\]\(([^)#]+)\)", path.read_text("utf-8")):
            assert (path.parent / link).exists(), (path.name, link)


def test_version_is_in_the_changelog() -> None:
    newest = re.search(r"^## \[(.*?)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert newest
    assert newest[1] in ("Unreleased", koster.__version__)


#: Paths that no committed file may contain.
_FORBIDDEN = re.compile(rb"/work/|\.library|/root/|pypi-more|/opt/pypi")


def test_no_machine_paths() -> None:
    folders = ("src", "tests", "docs", "benchmarks", "examples", ".ci")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    files += [path for pattern in ("*.md", "*.toml", "*.py", "*.in") for path in ROOT.glob(pattern)]
    files += [ROOT / "Makefile", ROOT / "LICENSE"]
    for path in files:
        is_source = path.suffix not in (".so", ".pyc", ".c") and path != Path(__file__)
        if is_source and "egg-info" not in str(path):
            assert not _FORBIDDEN.search(path.read_bytes()), path


def test_every_lint_code_is_documented() -> None:
    assert tables.codes() in DOCS["linting.md"], "python tests/tables.py prints the tables"
    for check in koster.lint.CHECKS:
        assert f"| {check.code} |" in DOCS["corpus-findings.md"]


def test_every_preset_is_documented() -> None:
    assert tables.presets() in DOCS["cli.md"], "python tests/tables.py prints the rows"


def test_every_name_of_the_site_owner_modules_is_documented() -> None:
    for module in (koster.analysis, koster.crawlers, koster.audit):
        for name in module.__all__:
            assert (
                f"`{name}" in DOCS["linting.md"]
                or f"`{module.__name__}.{name}" in DOCS["linting.md"]
            ), name
    for name in ("lint", "fixed", "chosen", "most_important", "settings.read"):
        assert f"`koster.lint.{name}(" in DOCS["linting.md"]
