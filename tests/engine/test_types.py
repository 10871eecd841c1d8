"""Integers in compiled functions are those of C: a type that Cython does not infer is found here.

In code without the interpreter lock, such a variable does not compile. Elsewhere it would only be
slow: this reads the C files of the last build.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import koster
from koster import _pure
from tests.helpers.support import ROOT

#: Functions that compute with objects of Python: once for a dialect or a set of crawlers, for a
#: User-Agent header, or for an index.
PYTHON = {
    "bulk._loops.batches: survey",
    "bulk._loops.extents: __init__",
    "_engine.groups: __init__",
    "_engine.groups: reading_of",
    "_engine.lexer: __init__",
    "_engine.names: __init__",
    "_engine.user_agents: _find_words",
    "_engine.user_agents: _from_first_name",
    "_engine.user_agents: _name_in_header",
    "_engine.user_agents: _shortest_names",
    "robots: matched_length",
}
_ARITHMETIC = re.compile(
    r"^ .*\b(PyNumber_(InPlace)?|__Pyx_PyLong_)(Add|Subtract|Multiply|And|Or|Xor|[LR]shift|Floor)"
)


@pytest.mark.skipif(not koster.COMPILED, reason="reads what Cython made")
def test_compiled_functions_compute_with_integers_of_c() -> None:
    found = set()
    for name in _pure.HOT:
        if not name.startswith("analysis"):
            source = ROOT / "src/koster" / f"{name.replace('.', '/')}.py"
            functions = list(_functions(source))
            for line in _lines(source):
                # The innermost function is the last one that starts before.
                inside = [each for first, last, each in functions if first <= line <= last]
                found |= {f"{name}: {each}" for each in inside[-1:]}
    assert found <= PYTHON


def _functions(source: Path) -> Iterator[tuple[int, int, str]]:
    for node in ast.walk(ast.parse(source.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef):
            yield node.body[0].lineno, node.end_lineno or 0, node.name


def _lines(source: Path) -> Iterator[int]:
    """Yield the lines of a module for which the C file has arithmetic of Python."""
    made = source.relative_to(ROOT).with_suffix(".c")
    paths = sorted((ROOT / "build/cython").glob(f"*/{made}"), key=lambda path: path.stat().st_mtime)
    if not paths:
        pytest.skip("the C files are not here: it was built elsewhere")
    line = 0
    code = paths[-1].read_text("utf-8").partition("Code section: module_code ")[2]
    for text in code.partition("Code section: ")[0].splitlines():
        place = re.match(r'\s*/\* "[^"]*\.py":(\d+)', text)
        if place:
            line = int(place[1])
        elif _ARITHMETIC.match(text):
            yield line
