"""The source distribution, and the wheels that are built from it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.helpers.support import ROOT

#: Not what was built in this checkout.
IGNORED = shutil.ignore_patterns(
    ".git", ".venv", "build", "dist", "site", "*.egg-info", "*.so", "*.pyd", "__pycache__", ".*_cache", "*.c"
)  # fmt: skip


def run(*command: object, folder: Path | None = None, **environment: str) -> str:
    """Return the output of a command that must succeed."""
    env = {key: value for key, value in os.environ.items() if key != "KOSTER_PURE"} | environment
    process = subprocess.run(
        [str(part) for part in command],
        capture_output=True, text=True, check=False, env=env, cwd=folder,
    )  # fmt: skip
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


def build(kind: str, source: Path, folder: Path, **environment: str) -> Path:
    """Build an sdist or a wheel from a folder; return its path."""
    # Speed does not matter here.
    environment |= {"CFLAGS": "-O0"}
    options = (f"--{kind}", "--no-isolation", "--outdir", folder)
    run(sys.executable, "-m", "build", *options, source, **environment)
    (built,) = folder.iterdir()
    return built


def copy_c_files(folder: Path) -> None:
    """Copy what Cython writes for the same sources; it writes anew what is older than they are."""
    if (ROOT / "build/cython").is_dir():
        shutil.copytree(ROOT / "build/cython", folder / "build/cython")


@dataclass
class Sources:
    """A source distribution, and the wheels that are built from it."""

    sdist: Path
    folder: Path
    wheels: dict[str, Path]

    def wheel(self, name: str) -> Path:
        """Return the wheel with compiled modules, the one of KOSTER_PURE, or of no compiler."""
        if name not in self.wheels:
            self.wheels[name] = self._built(name)
        return self.wheels[name]

    def _built(self, name: str) -> Path:
        with tarfile.open(self.sdist) as archive:
            archive.extractall(self.folder / name, filter="data")
        (unpacked,) = (self.folder / name).iterdir()
        environment = {}
        if name == "compiled":
            copy_c_files(unpacked)
        if name == "pure":
            environment = {"KOSTER_PURE": "1"}
        if name == "no compiler":
            nothing = self.folder / "nothing"
            nothing.mkdir()
            environment = {"PATH": str(nothing), "CC": "", "CXX": ""}
        return build("wheel", unpacked, self.folder / f"{name} wheel", **environment)


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    folder = tmp_path_factory.mktemp("packages")
    shutil.copytree(ROOT, folder / "checkout", ignore=IGNORED)
    copy_c_files(folder / "checkout")
    sdist = build("sdist", folder / "checkout", folder / "sdist")
    shutil.rmtree(folder / "checkout")
    return Sources(sdist, folder, {})


def install(wheel: object, folder: Path, *options: object) -> Path:
    """Install a wheel in a clean environment; return the folder of its programs."""
    venv.create(folder / "clean")
    programs = folder / "clean" / ("Scripts" if os.name == "nt" else "bin")
    pip = (sys.executable, "-m", "pip", "--python", programs / "python")
    always = ("-q", "--no-index", "--no-compile", "--disable-pip-version-check")
    run(*pip, "install", *always, *options, wheel)
    return programs
