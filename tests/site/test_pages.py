"""The pages of the site: complete, generated from the code, and checked."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import click
import pytest

import koster
from koster._cli.help import COMMANDS
from koster._cli.root import koster as koster_command
from koster.fetch import EventName
from koster.lint import CHECKS
from tests.helpers.support import ROOT
from tools.commands import described
from tools.site import api, benchmarks, nav, prose, tables
from tools.site.__main__ import _llms, write_versions
from tools.site.checks import problems
from tools.site.staging import Page

# They share the pages. Their prose and links `make docs` has checked.
pytestmark = pytest.mark.xdist_group("pages")


def test_every_page_is_in_the_menu_once(pages: dict[str, Page]) -> None:
    listed = list(nav.paths(nav.NAV))
    assert sorted(listed) == sorted(pages)


def test_every_page_has_a_title_and_a_description(pages: dict[str, Page]) -> None:
    for page in pages.values():
        assert re.match(r"# \S", page.plain), page.path
        assert page.description, page.path
        assert len(page.description) <= 160, page.path
    assert len({page.title for page in pages.values()}) > 0.9 * len(pages)


def test_glossary_and_proselint_find_words() -> None:
    text = "# A title\n\nEach octet is mended in `octet`,\nin the the mean time.\n\n```text\noctet\n```\n"
    found = list(prose.findings([Page("a.md", text, "a.md")]))
    assert [each for each in found if "'octet'" in each] == [
        "a.md:3: 'octet': say 'byte', not 'octet' (glossary)"
    ]
    assert any("'mended': say 'fixed'" in each for each in found)
    assert any("lexical_illusions" in each for each in found)


def test_every_code_has_a_page_with_an_example(pages: dict[str, Page]) -> None:
    for check in CHECKS:
        page = pages[f"reference/lint/{check.code}.md"].plain
        for heading in ("Why it matters", "Example", "Turn it off", "Source"):
            assert f"\n## {heading}\n" in page, check.code
        assert ("\n## Fix\n" in page) == bool(check.fix), check.code
        assert check.docs.endswith(f"/reference/lint/{check.code}.html")


def test_every_command_has_a_page_with_its_options(pages: dict[str, Page]) -> None:
    context = click.Context(koster_command, info_name="koster")
    found = [each for names in COMMANDS.values() for each in described(names, context)]
    assert {"check", "bulk decide", "conformance run"} <= {each.path for each in found}
    for each in found:
        if isinstance(each.command, click.Group):
            continue
        page = pages[f"reference/commands/{each.path.replace(' ', '-')}.md"].plain
        assert re.search(rf"^\$ koster .*\b{each.path}\b", page, re.MULTILINE)
        assert "## Exit codes\n\n- `0`: " in page, each.path
    lint_page = pages["reference/commands/lint.md"].plain
    assert "- `--baseline FILE`: " in lint_page
    # Examples show what they print.
    assert "No errors or warnings; 3 notes (shown with --notes)" in lint_page


def test_every_public_module_has_a_page() -> None:
    internal = {"cli", "compat", "reports", "worker", "engine", "bulk._loops", "__main__"}
    # Modules that only define what another page describes.
    described_by = {"model", "decisions", "robots", "errors", "dialects", "directives", "freshness", "fetch.sync", "fetch.aio", "fetch.downloads", "fetch.events", "fetch.guard", "fetch.pace", "fetch.fleet", "fetch.mock", "fetch.senders", "cache.memory", "cache.sqlite", "cache.redis", "cache.store", "cache.resilient", "cache.forks", "bulk.kernel", "lint.settings"}  # fmt: skip
    found = set()
    for package in ("koster", "koster.fetch", "koster.cache", "koster.bulk", "koster.lint"):
        for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
            name = f"{package}.{module.name}".removeprefix("koster.")
            if not module.name.startswith("_") and name not in internal | described_by:
                found.add(f"koster.{name}")
    assert found <= set(api.MODULES), found - set(api.MODULES)


@pytest.mark.parametrize("module", api.MODULES)
def test_every_public_name_is_described(pages: dict[str, Page], module: str) -> None:
    page = pages[f"reference/api/{module}.md"].plain
    assert "```python\n" in page
    for section in page.split("\n## ")[1:]:
        name, _, body = section.partition("\n")
        prose_of = re.sub(r"```.*?```", "", body, flags=re.DOTALL)
        assert re.search(r"\w", prose_of), f"{module}.{name} has no description"


def test_api_pages_have_signatures_links_and_members(pages: dict[str, Page]) -> None:
    page = pages["reference/api/koster.md"].plain
    assert "def parse(body: bytes | str, dialect: Dialect = RFC9309) -> RobotsTxt" in page
    assert "[`parse_file`](koster.md#parse_file)" in page
    assert "| `NO_GROUP` | `no group` |" in page
    assert "### Rules.interval" in page
    client = pages["reference/api/koster.fetch.md"].plain
    assert "### RobotsClient.turn" in client
    assert "- `on_event`: " in client


def test_every_event_dialect_crawler_and_error_is_listed(pages: dict[str, Page]) -> None:
    events = pages["reference/events.md"].plain
    assert all(f"### {name}\n" in events for name in EventName)
    assert "- `koster.wait.queued` (seconds that it waited for other callers before)" in events
    for name in koster.DIALECTS:
        file = name.lower().replace("_", "-")
        assert (
            f"| choice | {name} | RFC9309 |" in pages[f"reference/dialects/{file}.md"].plain
            or name == "RFC9309"
        )
    assert "| `GPTBot` | OpenAI |" in pages["reference/crawlers.md"].plain
    assert "| `MissingExtraError` | `ImportError` |" in pages["reference/errors.md"].plain
    inserts = "".join(path.read_text("utf-8") for path in (ROOT / "docs").rglob("*.md"))
    unused = [name for name in tables.INSERTS if f"<!-- insert: {name} -->" not in inserts]
    assert unused == []


def test_chart_shows_the_first_table_of_the_benchmark() -> None:
    chart = benchmarks.chart()
    first_table = benchmarks.TABLES.read_text("utf-8").partition("\n## Decisions")[0]
    for name in ("koster", "Protego", "urllib.robotparser"):
        time = re.search(rf"^\| {re.escape(name)} +\| (.+?) +\|", first_table, re.MULTILINE)
        assert time
        assert f">{name}</text>" in chart
        assert f">{time[1]}</text>" in chart


def test_list_for_language_models_has_all_pages(pages: dict[str, Page]) -> None:
    lines = _llms(nav.NAV, pages)
    assert lines[0] == "# koster"
    assert [
        re.search(r"\]\((.*?)\): \S", line)[1]  # type: ignore[index]
        for line in lines
        if line.startswith("- ")  # type: ignore[index]
    ] == list(nav.paths(nav.NAV))  # type: ignore[index]


def test_all_versions_in_the_folder_are_listed_the_newest_first(tmp_path: Path) -> None:
    for name in ("0.9", "0.10", "0.2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.html").write_text("<title>koster</title>")
    (tmp_path / "assets").mkdir()
    write_versions(tmp_path)
    versions = (tmp_path / "versions.js").read_text("utf-8")
    assert versions == 'window.kosterVersions = ["0.10", "0.9", "0.2"];\n'
    assert "url=0.10/index.html" in (tmp_path / "index.html").read_text("utf-8")


def test_checks_of_the_site_find_what_is_broken(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<p id="x"><a href="b.html#y">1</a><a href="b.html#z">2</a><a href="c.html">3</a><a href="#x">4</a>'
        '<img src="p.png"><script src="https://cdn.example/x.js"></script><a href="https://example.com/">5</a>',
        "utf-8",
    )
    (tmp_path / "b.html").write_text('<h1 id="y">B</h1><img src="a.html" alt="a picture">', "utf-8")
    assert list(problems(tmp_path)) == [
        "a.html: p.png has no alt text",
        "a.html: b.html#z has no such anchor",
        "a.html: c.html is missing",
        "a.html: p.png is missing",
        "a.html: loads https://cdn.example/x.js",
    ]
