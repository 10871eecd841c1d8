"""A command imports only what it uses: its start is most of its time."""

from __future__ import annotations

import gc
import io
import os
import re
import subprocess
import sys
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.table import Table

from koster._cli.collecting import collects_rarely
from koster._reports.registry import RENDERERS
from koster._reports.text import Text, table_lines
from tests.helpers.support import ROOT

#: What a command on a file needs neither for its answers nor to print them into a pipe.
HEAVY = (
    "asyncio", "ssl", "socket", "http", "email", "xml.etree", "sqlite3", "multiprocessing",
    "httpx2", "httpcore2", "anyio", "idna", "redis", "jinja2", "markdown_it", "pygments",
    "rich.console", "rich.markdown", "rich.progress", "rich.table", "rich.text",
    "pyarrow", "duckdb", "numpy", "polars", "fastapi", "pydantic", "uvicorn", "cryptography",
    "koster.access", "koster.fetch", "koster.bulk", "koster.cache", "koster.compat",
    "koster.conformance", "koster.logs", "koster.service", "koster._worker",
    "koster._reports.sarif", "koster._reports.junit",
)  # fmt: skip
#: Proofs and checks, which `check` does not need.
PROOFS = ("koster.analysis", "koster.lint", "koster.diff", "koster.audit", "koster.formatting")


def imported(*command: str) -> set[str]:
    """Return the modules that a command imports, with their packages."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "koster", *command],
        cwd=ROOT / "examples", capture_output=True, check=False, text=True, encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    names = re.findall(r"^import time:[ \d|]+\| *(\S+)$", done.stderr, re.MULTILINE)
    assert "koster" in names
    return set(names)


def loaded(names: set[str], unwanted: tuple[str, ...]) -> list[str]:
    return sorted(each for each in names if f"{each}.".startswith(tuple(f"{x}." for x in unwanted)))


def test_check_of_a_file_imports_only_what_it_uses() -> None:
    names = imported("check", "--robots", "robots.txt", "--agent", "Googlebot", "/x")
    assert loaded(names, HEAVY + PROOFS) == []


@pytest.mark.parametrize(
    "command",
    [
        ("fmt", "robots.txt"),
        ("diff", "robots.txt", "robots2.txt"),
        ("audit", "robots.txt"),
        ("test", "robots.expect.toml"),
        ("agents", "google"),
    ],
    ids=lambda command: command[0],
)
def test_commands_on_files_import_no_clients_and_no_screens(command: tuple[str, ...]) -> None:
    assert loaded(imported(*command), HEAVY) == []


def test_lint_imports_no_clients_and_no_screens() -> None:
    # The titles of SARIF and of its own text are made by the same function.
    unwanted = tuple(each for each in HEAVY if each != "koster._reports.sarif")
    assert loaded(imported("lint", "robots.txt"), unwanted) == []


def test_all_formats_exist() -> None:
    for formats in RENDERERS.values():
        for place in formats.values():
            module, _, function = place.partition(".")
            assert callable(getattr(import_module(f"koster._reports.{module}"), function))


# Of a column with nothing but line breaks, which no command has, rich shows one line.
cells = st.text("ab 日本é.,:\n", max_size=6).filter(lambda x: not x or x.strip("\n"))


@given(st.lists(cells.map(lambda x: x.replace("\n", "")), min_size=1, max_size=4), st.data())
def test_tables_in_files_are_those_of_rich(headings: list[str], data: st.DataObject) -> None:
    size = len(headings)
    rows = data.draw(st.lists(st.lists(cells, min_size=1, max_size=size), max_size=3))
    table = Table(
        box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=any(headings)
    )  # fmt: skip
    for heading in headings:
        table.add_column(heading, overflow="fold", no_wrap=True, min_width=len(heading))
    for row in rows:
        table.add_row(*(Text(cell).for_terminal() for cell in row))
    out = io.StringIO()
    Console(file=out, width=10_000, highlight=False, emoji=False, markup=False).print(table)
    expected = [line.rstrip() for line in out.getvalue().split("\n")[:-1]]
    if any(headings) or rows:
        assert list(table_lines(headings, rows)) == expected


def test_text_has_parts_in_styles() -> None:
    text = Text("blocked", "bold red").append(" :3", "dim")
    whole = Text.assemble(text, "\n", ("why", "dim"))
    assert whole.plain == "blocked :3\nwhy"
    assert Text("日本").cell_len == 4
    shown = whole.for_terminal()
    assert shown.plain == whole.plain
    assert [(span.start, span.end, span.style) for span in shown.spans] == [
        (0, 10, "bold red"), (7, 10, "dim"), (11, 14, "dim"),
    ]  # fmt: skip


def test_a_command_restores_how_often_garbage_is_collected() -> None:
    before = gc.get_threshold()

    @collects_rarely
    def fails() -> None:
        assert gc.get_threshold()[0] > before[0]
        raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert gc.get_threshold() == before
