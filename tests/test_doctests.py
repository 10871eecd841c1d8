"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import koster
from koster._pure import HOT
from tests.helpers.support import ROOT

_SOURCE = ROOT / "src"


def _name(path: Path) -> str:
    return ".".join(path.relative_to(_SOURCE).with_suffix("").parts).removesuffix(".__init__")


# Those need a session of Spark, and an archive.
_LEFT_OUT = {"koster.bulk.spark", "koster.bulk.warc"}
MODULES = sorted(
    {_name(path) for path in _SOURCE.rglob("*.py") if ">>> " in path.read_text("utf-8")} - _LEFT_OUT
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.testmod(importlib.import_module(name), optionflags=flags)
    assert not failed
    # Those of compiled modules are not found.
    assert tried or (koster.COMPILED and name.removeprefix("koster.") in HOT)
