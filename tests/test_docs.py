"""What the docs say by hand agrees with the code; `tests/site` checks the pages made from the code."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import koster
from koster._cli.root import koster as command
from koster._version import DOCS as DOCS_URL
from koster.bulk import CLASSIFIED, DECIDED, FACTS, _inputs, warc
from koster.bulk._archived import ARCHIVED
from koster.lint.settings import _KEYS
from tests.helpers.docs_pages import DOCS, pages
from tests.helpers.facades import COLUMNS
from tests.helpers.support import ROOT


def page(path: str) -> str:
    return (DOCS / path).read_text("utf-8")


def test_readme_fits_one_screen() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert len(readme.split()) < 700
    for needed in ("pip install", "make run", "make test", "docs/start.md"):
        assert needed in readme


def test_every_facade_has_a_page() -> None:
    folder = Path(koster.__file__).parent / "compat"
    index = page("guides/migrate/index.md")
    for path in folder.iterdir():
        name = path.name.removesuffix(".py")
        if not name.startswith("_"):
            text = page(f"guides/migrate/{name}.md")
            assert f"koster.compat.{name}" in text or f"import {name}" in text
            assert f"({name}.md)" in index


def test_agreement_of_each_facade_is_documented() -> None:
    for column in COLUMNS:
        row = rf"^\| `{column.name}` \| {column.facade} \| .* \| {100 * column.share:g} % \|$"
        assert re.search(row, page("about/conformance.md"), re.MULTILINE), column.name


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
def test_help_names_all_options_and_exit_codes(name: str, each: click.Command) -> None:
    arguments = [*name.split(), "--help"]
    output = CliRunner().invoke(command, arguments, env={"COLUMNS": "200"}).output
    codes = re.findall(r"\b(\d) \w", output.rpartition("Exit codes: ")[2])
    # Not every command has exit code 1.
    assert codes in (list("0123"), list("023"), list("012"), list("02"))
    for parameter in each.params:
        if isinstance(parameter, click.Option):
            assert parameter.help
            assert parameter.opts[0] in output


def test_every_setting_is_documented() -> None:
    text = page("reference/configuration.md")
    for key in _KEYS:
        assert f"### {key}\n" in text, key


def test_every_column_of_koster_bulk_is_documented() -> None:
    text = page("reference/columns.md")
    for type_ in (CLASSIFIED, DECIDED, FACTS):
        for field in type_:
            assert f"`{field.name}`" in text, field.name
    for name in (*warc.FetchClass, *ARCHIVED.names):
        assert f"`{name}`" in text, name
    guides = "".join(path.read_text("utf-8") for path in (DOCS / "guides/data").glob("*.md"))
    for function in ("robots_classify", "robots_followed", "robots_decide", "robots_facts"):
        assert function in guides + text
    for suffix in (*_inputs._KINDS, *_inputs._COMPRESSED):
        assert f"`{suffix}`" in text + guides, suffix


def test_pages_can_be_read_in_the_repository() -> None:
    """`make docs` checks anchors, links to the site, and that tables are current."""
    files = [*pages(), ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", ROOT / "CHANGELOG.md"]
    for path in files:
        text = path.read_text("utf-8")
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            if not re.match(r"[a-z]+:", link):
                assert (path.parent / link).exists(), f"{path.relative_to(ROOT)}: {link}"
        for name, rest in re.findall(r"^<!-- insert: (\S+) -->\n(.*\n)", text, re.MULTILINE):
            assert f"<!-- end: {name} -->" in text, f"{path.relative_to(ROOT)}: {name}"
            assert not rest.strip(), f"{path.relative_to(ROOT)}: {name}"


def test_version_is_in_the_changelog() -> None:
    newest = re.search(r"^## \[(.*?)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert newest
    assert newest[1] in ("Unreleased", koster.__version__)


def test_addresses_of_the_docs_agree() -> None:
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    base = DOCS_URL.rpartition("/0.")[0]
    assert f'Documentation = "{base}/"' in project
    assert f'Changelog = "{DOCS_URL}about/changelog.html"' in project
    tester = (ROOT / "src/koster/service/page/index.html").read_text("utf-8")
    assert f'href="{DOCS_URL}"' in tester
    assert DOCS_URL.endswith("/" + ".".join(koster.__version__.split(".")[:2]) + "/")


#: Paths that no committed file may contain.
_FORBIDDEN = re.compile(rb"/work/|\.library|/root/|pypi-more|/opt/pypi")


def test_no_machine_paths() -> None:
    folders = ("src", "tests", "docs", "benchmarks", "examples", "tools", ".ci")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    files += [path for pattern in ("*.md", "*.toml", "*.py", "*.in") for path in ROOT.glob(pattern)]
    files += [ROOT / "Makefile", ROOT / "LICENSE"]
    for path in files:
        is_source = path.suffix not in (".so", ".pyc", ".c") and path != Path(__file__)
        if is_source and "egg-info" not in str(path):
            assert not _FORBIDDEN.search(path.read_bytes()), path
