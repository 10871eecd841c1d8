"""For processes that run nothing but koster."""

from __future__ import annotations

import ctypes
import importlib
import platform
import subprocess
import sys
from types import SimpleNamespace

import pytest

from koster._own_process import keep_freed_memory, leave_out_unused

#: Prints how often the system gave a page of memory to ten batches of three blocks.
BATCHES = """
import resource
from koster._own_process import keep_freed_memory
if {kept}:
    keep_freed_memory()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    batch = [bytearray(8 << 20) for _ in range(3)]
    del batch
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


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


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can keep it")
def test_freed_memory_is_kept() -> None:
    faults = []
    for kept in (False, True):
        command = [sys.executable, "-c", BATCHES.format(kept=kept)]
        process = subprocess.run(command, capture_output=True, text=True, check=True)
        faults.append(int(process.stdout))
    assert faults[1] < faults[0] / 3


def test_both_thresholds_are_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once one is set, glibc no longer adapts the other, and batches take longer than before."""
    limits = []
    library = SimpleNamespace(mallopt=lambda *limit: limits.append(limit))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(ctypes, "CDLL", lambda _: library)
    keep_freed_memory()
    assert sorted(limits) == [(-3, 32 << 20), (-1, 256 << 20)]


@pytest.mark.parametrize("system", ["linux", "win32"])
def test_other_libraries_have_no_thresholds(monkeypatch: pytest.MonkeyPatch, system: str) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace())
    keep_freed_memory()
