"""Each promise of the docs has a test: `promises.toml` lists them, and is checked here."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from typing import Any

from tests.helpers.support import HERE, ROOT

PROMISES: list[dict[str, Any]] = tomllib.loads((HERE / "promises.toml").read_text("utf-8"))[
    "promise"
]

#: Sections of the page about reliability that promise nothing.
OTHER_SECTIONS = {"what-koster-does-not-promise", "next"}


@cache
def text_of(page: str) -> str:
    """Return the text of a page on one line."""
    return " ".join((ROOT / page).read_text("utf-8").split())


@cache
@cache
def sections_of(page: str) -> set[str]:
    """Return the names of a page's sections, as in the links to them."""
    text = re.sub(
        r"^```.*?^```", "", (ROOT / page).read_text("utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    headings = re.findall(r"^##+ (.+)", text, re.MULTILINE)
    # Of a link, its text.
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", each).lower() for each in headings]
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", each)) for each in plain}


@cache
def functions_in(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    return {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}


def test_promises_have_a_section_and_tests() -> None:
    for entry in PROMISES:
        _check_promise(entry)


def _check_promise(entry: dict[str, Any]) -> None:
    page, _, section = entry["page"].partition("#")
    assert (section or None) in {None, *sections_of(page)}, entry
    tests, measured = entry.get("tests", []), entry.get("measured", [])
    assert tests or measured, entry
    for each in (*tests, *measured):
        path, _, name = each.partition("::")
        assert name in functions_in(path), each
    assert [each for each in tests if "::test_" not in each] == []


def test_speed_in_the_readme_is_the_lowest_measured() -> None:
    said = re.search(r"\(docs/about/performance\.md\): (\d+) times Protego", text_of("README.md"))
    row = r"\| parse and decide once, all files \| 20 × Protego[^|]*\| (\d+) to \d+ ×"
    measured = re.search(row, text_of("docs/about/performance.md"))
    assert said
    assert measured
    assert said[1] == measured[1]


def test_promises_are_listed_once() -> None:
    listed = [(entry["page"], entry["promise"]) for entry in PROMISES]
    assert len(set(listed)) == len(listed)


def test_each_section_about_reliability_has_promises() -> None:
    page = "docs/about/reliability.md"
    promised = {
        entry["page"].partition("#")[2] for entry in PROMISES if entry["page"].startswith(page)
    }
    assert sections_of(page) - promised == OTHER_SECTIONS
