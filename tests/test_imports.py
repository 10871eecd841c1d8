"""What processes of koster leave out."""

from __future__ import annotations

import importlib
import sys

import pytest

from koster._imports import leave_out_pandas


def test_pandas_cannot_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    for name in ("pandas", "json.tool"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    leave_out_pandas()
    with pytest.raises(ModuleNotFoundError, match="koster does not use pandas"):
        importlib.import_module("pandas")
    assert importlib.import_module("json.tool").__name__ == "json.tool"
