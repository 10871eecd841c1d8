"""The installed wheel has the public types that public_api.py asserts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from tests.helpers.support import ROOT

API = Path(__file__).with_name("public_api.py")


def run(*command: object, **environment: str) -> str:
    result = subprocess.run(
        [str(part) for part in command],
        capture_output=True, text=True, check=False, env=os.environ | environment,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def install(folder: Path) -> Path:
    """Install the wheel in a clean environment, and return the path of its Python."""
    copy = folder / "source"
    copy.mkdir()
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    (copy / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "koster.1", copy / "docs")
    shutil.copytree(ROOT / "conformance", copy / "conformance")
    ignored_files = shutil.ignore_patterns("*.so", "*.pyd", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT / "src", copy / "src", ignore=ignored_files)
    # The types do not depend on compilation.
    options = ("--wheel", "--no-isolation", "--outdir", folder)
    run(sys.executable, "-m", "build", *options, copy, KOSTER_PURE="1")
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "clean", with_pip=True)
    python = folder / "clean" / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", wheel)
    return python


def run_mypy(file: Path, python: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    options = ("--strict", "--config-file=", "--cache-dir", folder / "cache")
    command = (sys.executable, "-m", "mypy", *options, "--python-executable", python, file)
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, cwd=folder
    )


def test_types_of_the_wheel(tmp_path: Path) -> None:
    python = install(tmp_path)
    result = run_mypy(API, python, tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    # A type error is reported, so mypy found the package and its types.
    invalid_file = tmp_path / "wrong.py"
    invalid_file.write_text(
        "import koster\nkoster.parse('').allowed('/', 'x').bit_length(1)\n", "utf-8"
    )
    result = run_mypy(invalid_file, python, tmp_path)
    assert '"bit_length" of "int"' in result.stdout, result.stdout + result.stderr
