"""A build has all extensions or none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from koster import _pure
from tests.helpers.support import ROOT

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="the compiler is a script for a shell"),
    pytest.mark.xdist_group("packaging"),
]

#: Takes a few milliseconds for a file, and fails for one, as when memory is short.
COMPILER = """#!/bin/sh
case "$*" in *-c*/{fails}.c*) echo "cc: fatal error: Killed signal terminated program cc1" >&2; exit 1;; esac
while [ $# -gt 0 ]; do [ "$1" = -o ] && : > "$2"; shift; done
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the build reads, with the C files that it would make, to save the time."""
    folder = tmp_path_factory.mktemp("build")
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy2(ROOT / name, folder)
    ignored = shutil.ignore_patterns("*.so", "__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "src", folder / "src", ignore=ignored)
    # Of a module that was compiled once: Python would import it in place of the source.
    (folder / f"src/koster/analysis/_index{EXTENSION_SUFFIXES[0]}").touch()
    if (ROOT / "build/cython").is_dir():
        shutil.copytree(ROOT / "build/cython", folder / "build/cython")
    return folder


def build(source: Path, fails: str) -> tuple[str, int, int]:
    """Build twice, the second time with a compiler that fails; return what it says and leaves."""
    compiler = source / "cc"
    counts = []
    for each in ("nothing", fails):
        compiler.write_text(COMPILER.format(fails=each))
        compiler.chmod(0o755)
        process = subprocess.run(
            [sys.executable, "setup.py", "-q", "build_ext", "--inplace", "--force"],
            cwd=source,
            env=os.environ | {"CC": str(compiler), "LDSHARED": str(compiler), "KOSTER_PURE": ""},
            capture_output=True,
            text=True,
            check=True,
        )
        counts.append(len(list(source.rglob(f"*{EXTENSION_SUFFIXES[0]}"))))
    return process.stderr, counts[0], counts[1]


@pytest.mark.parametrize("fails", ["_engine/lexer", "robots", _pure.SHARED.replace(".", "/")])
def test_compiler_that_fails_for_one_file(source: Path, fails: str) -> None:
    said, before, after = build(source, fails)
    assert before == 2 * (len(_pure.HOT) + 1)
    assert after == 0
    assert said.endswith("\nkoster: the compiler failed: built as plain Python\n")
    code = "import koster; print(koster.COMPILED, koster.parse('').allowed('/', 'x'))"
    command = [
        sys.executable,
        "-I",
        "-W",
        "error",
        "-c",
        f"import sys; sys.path[:0] = ['src']; {code}",
    ]
    assert subprocess.check_output(command, cwd=source, text=True).split() == ["False", "True"]
