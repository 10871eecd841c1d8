"""For processes that run nothing but koster."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from koster._own_process import leave_out_unused


def test_pandas_cannot_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    for name in ("pandas", "json.tool"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    leave_out_unused()
    with pytest.raises(ModuleNotFoundError, match="koster does not use pandas"):
        importlib.import_module("pandas")
    assert importlib.import_module("json.tool").__name__ == "json.tool"


#: Prints the number of threads after an import of NumPy.
THREADS = """
import os
from koster._own_process import leave_out_unused
leave_out_unused()
import numpy
print(len(os.listdir("/proc/self/task")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_numpy_starts_no_threads() -> None:
    pytest.importorskip("numpy")
    command = [sys.executable, "-c", THREADS]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"1\n"
