"""The hot modules as plain Python: how they are chosen, and without Cython."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import sys
from array import array
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import ModuleType

import pytest

import koster
from koster import _pure
from tests.helpers.support import ROOT


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


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package in a checkout, with the sources and extensions of the hot modules."""
    (tmp_path / "setup.py").touch()
    folder = tmp_path / "src/koster"
    for name in (*_pure.HOT, _pure.SHARED):
        path = folder / name.replace(".", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        for suffix in (".py", ".pxd", EXTENSION_SUFFIXES[0]):
            path.with_suffix(suffix).touch()
            os.utime(path.with_suffix(suffix), (1000, 1000))
    monkeypatch.setattr(_pure, "_HOME", str(folder))
    monkeypatch.setattr(sys, "meta_path", [])
    monkeypatch.delenv("KOSTER_PURE", raising=False)
    return folder


@pytest.mark.parametrize("name", ["_engine.lexer", "robots", "compat._kept", _pure.SHARED])
def test_all_extensions_are_used_or_none(package: Path, name: str) -> None:
    _pure.settle()
    assert sys.meta_path == []
    path = package / name.replace(".", "/")
    path.with_suffix(EXTENSION_SUFFIXES[0]).rename(path.with_suffix(".cpython-38-other.so"))
    with pytest.warns(RuntimeWarning, match=rf"plain Python.* missing \({name}\); install koster"):
        _pure.settle()
    assert sys.meta_path == [_pure._SourceFinder]


def test_without_extensions_nothing_is_said(package: Path) -> None:
    for path in package.rglob("*.so"):
        path.unlink()
    _pure.settle()
    assert sys.meta_path == []
    shutil.rmtree(package)
    _pure.settle()
    assert _pure.outdated() == ""


def test_extensions_older_than_their_sources_are_named(package: Path) -> None:
    assert _pure.outdated() == ""
    os.utime(package / "_engine/lexer.py", (2000, 2000))
    extension = (package / "_engine/lexer").with_suffix(EXTENSION_SUFFIXES[0])
    older = f"{extension} is older than {package / '_engine/lexer.py'}"
    assert _pure.outdated() == f"{older}: type make run"
    os.utime(package / "_engine/trie.py", (2000, 2000))
    assert ", and 1 more: type make run" in _pure.outdated()
    (package.parent.parent / "setup.py").unlink()
    assert _pure.outdated() == ""


def test_extensions_of_modules_that_are_gone_do_not_count(package: Path) -> None:
    gone = package / f"_engine/gone{EXTENSION_SUFFIXES[0]}"
    gone.touch()
    os.utime(gone, (500, 500))
    assert _pure.outdated() == ""
    _pure.settle()
    assert sys.meta_path == []


def test_all_extensions_read_what_modules_declare(package: Path) -> None:
    os.utime(package / "_engine/lexer.pxd", (2000, 2000))
    assert f", and {len(_pure.HOT) - 1} more" in _pure.outdated()
    sys.meta_path.insert(0, _pure._SourceFinder)
    assert _pure.outdated() == ""


def test_sources_of_hot_modules_are_found() -> None:
    find = _pure._SourceFinder.find_spec
    folder = ROOT / "src/koster/_engine"
    spec = find("koster._engine.lexer", [str(folder)])
    assert spec is not None
    assert spec.origin == str(folder / "lexer.py")
    for name in ("koster.model", "koster._engine.memory", "xkoster._engine.lexer", "lexer"):
        assert find(name, [str(folder)]) is None
    assert find("koster._engine.lexer") is None


def test_compiled_means_that_no_hot_module_is_a_source() -> None:
    files = [importlib.import_module(f"koster.{name}").__file__ or "" for name in _pure.HOT]
    assert koster.COMPILED is (not any(file.endswith(".py") for file in files))


@pytest.mark.parametrize("name", ["batches", "extents", "records"])
def test_loops_run_without_cython(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(sys.modules, "cython", None)
    module = without_cython(name)
    assert module.cython.__name__ == "koster._engine.no_cython"
    if name == "batches":
        numbers, firsts = array("i", bytes(16)), array("i", bytes(16))
        starts, ends = array("q", [0, 1, 2]), array("q", [1, 2, 3])
        assert module.distinct(b"aab", starts, ends, numbers, firsts) == 2
        assert (list(numbers[:3]), list(firsts[:2])) == ([0, 0, 1], [0, 2])


def without_cython(name: str) -> ModuleType:
    """Return a copy of a module with loops, imported anew."""
    path = ROOT / "src/koster/bulk/_loops" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"koster.bulk._loops.{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
