"""The wheel and the source distribution, in clean environments."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import koster
from tests.helpers.support import ROOT

#: Wheels for the extra ``cli``, which make downloads so that a clean environment needs no network.
WHEELHOUSE = ROOT / ".venv" / "wheelhouse"

pytestmark = [
    pytest.mark.skipif(not WHEELHOUSE.is_dir(), reason="no wheels to install: run make test"),
    # The tests use the same folder of the checkout.
    pytest.mark.xdist_group("packaging"),
]


def run(*command: object, **environment: str) -> str:
    env = {key: value for key, value in os.environ.items() if key != "KOSTER_PURE"} | environment
    process = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, env=env
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


def copy_source(folder: Path) -> Path:
    """Copy the source files without the build output of this checkout."""
    copy = folder / "source"
    shutil.copytree(
        ROOT, copy,
        ignore=shutil.ignore_patterns(
            ".git", ".venv", "build", "dist", "*.egg-info", "*.so", "__pycache__", ".*_cache", "*.c"
        ),
    )  # fmt: skip
    return copy


def build(folder: Path, *, compiler: bool, **environment: str) -> tuple[Path, Path]:
    """Build an sdist, and a wheel from it; return both."""
    if not compiler:
        (folder / "bin").mkdir()
        environment |= {"PATH": str(folder / "bin"), "CC": "", "CXX": ""}
    # Speed does not matter here.
    environment |= {"CFLAGS": "-O0"}
    run(
        sys.executable,
        "-m",
        "build",
        "--no-isolation",
        "--outdir",
        folder / "dist",
        copy_source(folder),
        **environment,
    )
    (sdist,) = (folder / "dist").glob("*.tar.gz")
    (wheel,) = (folder / "dist").glob("*.whl")
    return sdist, wheel


def install(folder: Path, wheel: Path) -> Path:
    """Install the wheel with its extra in a clean environment; return the scripts folder."""
    venv.create(folder / "clean", with_pip=True)
    scripts = folder / "clean" / ("Scripts" if os.name == "nt" else "bin")
    options = ("-q", "--no-index", "--find-links", WHEELHOUSE, "--disable-pip-version-check")
    run(scripts / "python", "-m", "pip", "install", *options, f"{wheel}[cli]")
    return scripts


def check_scripts(scripts: Path, folder: Path, compiled: bool) -> None:
    (folder / "r.txt").write_text("User-agent: *\nDisallow: /private")
    arguments = ("check", "--robots", folder / "r.txt", "-f", "csv")
    assert 'true,"*","/x","no rule"' in run(scripts / "koster", *arguments, "/x")
    assert run(scripts / "python", "-m", "koster", "--version").startswith("koster 0.1.0")
    code = "import koster; print(koster.COMPILED, koster.parse(b'').allowed('/', 'x'))"
    assert run(scripts / "python", "-c", code).split() == [str(compiled), "True"]
    assert run(scripts / "python", "-c", code, KOSTER_PURE="1").split() == ["False", "True"]


@pytest.mark.skipif(not koster.COMPILED, reason="koster is not compiled; the next test covers this")
def test_wheel_and_sdist(tmp_path: Path) -> None:
    sdist, wheel = build(tmp_path, compiler=True)
    names = zipfile.ZipFile(wheel).namelist()
    assert "koster/py.typed" in names
    assert [name for name in names if name.endswith(".data/data/share/man/man1/koster.1")]
    assert sum(name.endswith((".so", ".pyd")) for name in names) == len(koster._pure.HOT) + 1
    assert not [name for name in names if name.endswith((".c", ".pxd", "setup.py"))]
    assert not [name for name in names if name.startswith(("tests", "benchmarks"))]
    (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
    needed = re.findall(r"(?m)^Requires-Dist: .*$", zipfile.ZipFile(wheel).read(metadata).decode())
    assert needed
    assert [each for each in needed if "extra ==" not in each] == []
    with tarfile.open(sdist) as archive:
        sdist_files = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "src/koster/_engine/ruleset.pxd",
        "tests/cases/rfc9309.toml",
        "LICENSE",
        "Makefile",
    } <= sdist_files
    assert not [name for name in sdist_files if name.endswith((".c", ".so"))]
    check_scripts(install(tmp_path, wheel), tmp_path, compiled=True)


def test_build_without_a_compiler(tmp_path: Path) -> None:
    _, wheel = build(tmp_path, compiler=False)
    names = zipfile.ZipFile(wheel).namelist()
    assert not [name for name in names if name.endswith((".so", ".pyd"))]
    check_scripts(install(tmp_path, wheel), tmp_path, compiled=False)


def test_koster_pure_skips_compilation(tmp_path: Path) -> None:
    _, wheel = build(tmp_path, compiler=True, KOSTER_PURE="1")
    assert not [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".so")]
