"""The public API has the types that public_api.py says, where only the wheel is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from support import ROOT

API = Path(__file__).with_name("public_api.py")


def run(*command: object, **environment: str) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True, text=True, check=False, env=os.environ | environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def installed(folder: Path) -> Path:
    """Install a wheel into a clean environment, and return the Python there."""
    copy = folder / "source"
    copy.mkdir()
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    left_out = shutil.ignore_patterns("*.so", "*.pyd", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT / "src", copy / "src", ignore=left_out)
    # Types are the same whether modules are compiled or not.
    options = ("--wheel", "--no-isolation", "--outdir", folder)
    run(sys.executable, "-m", "build", *options, copy, KOSTER_PURE="1")
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "clean", with_pip=True)
    python = folder / "clean" / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", wheel)
    return python


def checked(file: Path, python: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    options = ("--strict", "--config-file=", "--cache-dir", folder / "cache")
    command = (sys.executable, "-m", "mypy", *options, "--python-executable", python, file)
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, cwd=folder
    )


def test_types_of_the_wheel(tmp_path: Path) -> None:
    python = installed(tmp_path)
    done = checked(API, python, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    # A wrong type is found: the package is there, and is typed.
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import koster\nkoster.parse('').allowed('/', 'x').bit_length(1)\n", "utf-8")
    done = checked(wrong, python, tmp_path)
    assert '"bit_length" of "int"' in done.stdout, done.stdout + done.stderr
