"""The installed wheel has the public types that public_api.py asserts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.conftest import Sources, install

# It shares what is built.
pytestmark = pytest.mark.xdist_group("packaging")

API = Path(__file__).with_name("public_api.py")


def run_mypy(file: Path, python: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    options = ("--strict", "--config-file=", "--cache-dir", folder / "cache")
    command = (sys.executable, "-m", "mypy", *options, "--python-executable", python, file)
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, cwd=folder
    )


def test_types_of_the_wheel(sources: Sources, tmp_path: Path) -> None:
    # The types do not depend on compilation.
    python = install(sources.wheel("pure"), tmp_path, "--no-deps") / "python"
    result = run_mypy(API, python, tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    # A type error is reported, so mypy found the package and its types.
    invalid_file = tmp_path / "wrong.py"
    invalid_file.write_text(
        "import koster\nkoster.parse('').allowed('/', 'x').bit_length(1)\n", "utf-8"
    )
    result = run_mypy(invalid_file, python, tmp_path)
    assert '"bit_length" of "int"' in result.stdout, result.stdout + result.stderr
