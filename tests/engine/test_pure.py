"""The hot modules as plain Python: how they are chosen, and without Cython."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from array import array
from types import ModuleType

import pytest
from support import ROOT

import koster
from koster import _pure


@pytest.mark.parametrize(
    ("value", "is_pure"), [(None, False), ("", False), ("0", False), ("1", True)]
)
def test_environment_chooses(
    monkeypatch: pytest.MonkeyPatch, value: str | None, is_pure: bool
) -> None:
    monkeypatch.delenv("KOSTER_PURE", raising=False)
    if value is not None:
        monkeypatch.setenv("KOSTER_PURE", value)
    finders = list(sys.meta_path)
    monkeypatch.setattr(sys, "meta_path", list(finders))
    _pure.settle()
    assert sys.meta_path == ([_pure._SourceFinder] if is_pure else []) + finders


def test_sources_of_hot_modules_are_found() -> None:
    find = _pure._SourceFinder.find_spec
    folder = ROOT / "src/koster/engine"
    spec = find("koster.engine.lexer", [str(folder)])
    assert spec is not None
    assert spec.origin == str(folder / "lexer.py")
    for name in ("koster.model", "koster.engine.memory", "xkoster.engine.lexer", "lexer"):
        assert find(name, [str(folder)]) is None
    assert find("koster.engine.lexer") is None


def test_compiled_means_that_no_hot_module_is_a_source() -> None:
    files = [importlib.import_module(f"koster.{name}").__file__ or "" for name in _pure.HOT]
    assert koster.COMPILED is (not any(file.endswith(".py") for file in files))


@pytest.mark.parametrize("name", ["batches", "extents", "records"])
def test_loops_run_without_cython(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(sys.modules, "cython", None)
    module = without_cython(name)
    assert module.cython.__name__ == "koster.engine.no_cython"
    if name == "batches":
        numbers, firsts = array("i", bytes(16)), array("i", bytes(16))
        starts, ends = array("q", [0, 1, 2]), array("q", [1, 2, 3])
        assert module.distinct(b"aab", starts, ends, numbers, firsts) == 2
        assert (list(numbers[:3]), list(firsts[:2])) == ([0, 0, 1], [0, 2])


def without_cython(name: str) -> ModuleType:
    """Return a copy of a module of the engine, imported anew."""
    path = ROOT / "src/koster/engine" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"koster.engine.{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
