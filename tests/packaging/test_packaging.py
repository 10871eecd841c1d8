"""What is shipped: the wheel and the source distribution, in clean environments."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from support import ROOT

import koster

#: Filled by make: what the extra ``cli`` needs, so that a clean environment needs no network.
WHEELHOUSE = ROOT / ".venv" / "wheelhouse"

pytestmark = [
    pytest.mark.skipif(not WHEELHOUSE.is_dir(), reason="no wheels to install: run make test"),
    # They use the same folder of the checkout.
    pytest.mark.xdist_group("packaging"),
]


def run(*command: object, **environment: str) -> str:
    env = {key: value for key, value in os.environ.items() if key != "KOSTER_PURE"} | environment
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, env=env
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def source(folder: Path) -> Path:
    """Copy what git would give, so that nothing of this checkout's builds is in it."""
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
    # What is compiled here is only looked at, not raced.
    environment |= {"CFLAGS": "-O0"}
    run(
        *(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist"),
        source(folder),
        **environment,
    )
    (sdist,) = (folder / "dist").glob("*.tar.gz")
    (wheel,) = (folder / "dist").glob("*.whl")
    return sdist, wheel


def installed(folder: Path, wheel: Path) -> Path:
    """Install the wheel with its extra into a clean environment; return its folder of programs."""
    venv.create(folder / "clean", with_pip=True)
    programs = folder / "clean" / ("Scripts" if os.name == "nt" else "bin")
    options = ("-q", "--no-index", "--find-links", WHEELHOUSE, "--disable-pip-version-check")
    run(programs / "python", "-m", "pip", "install", *options, f"{wheel}[cli]")
    return programs


def check_programs(programs: Path, folder: Path, compiled: bool) -> None:
    (folder / "r.txt").write_text("User-agent: *\nDisallow: /private")
    arguments = ("check", "--robots", folder / "r.txt", "-f", "csv")
    assert 'true,"*","/x","no rule"' in run(programs / "koster", *arguments, "/x")
    assert run(programs / "python", "-m", "koster", "--version").startswith("koster 0.1.0")
    code = "import koster; print(koster.COMPILED, koster.parse(b'').allowed('/', 'x'))"
    assert run(programs / "python", "-c", code).split() == [str(compiled), "True"]
    assert run(programs / "python", "-c", code, KOSTER_PURE="1").split() == ["False", "True"]


@pytest.mark.skipif(not koster.COMPILED, reason="not compiled here: the next test is the one")
def test_wheel_and_sdist(tmp_path: Path) -> None:
    sdist, wheel = build(tmp_path, compiler=True)
    names = zipfile.ZipFile(wheel).namelist()
    assert "koster/py.typed" in names
    assert sum(name.endswith((".so", ".pyd")) for name in names) == len(koster._pure.HOT)
    assert not [name for name in names if name.endswith((".c", ".pxd", "setup.py"))]
    assert not [name for name in names if name.startswith(("tests", "benchmarks"))]
    with tarfile.open(sdist) as archive:
        shipped = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "src/koster/engine/ruleset.pxd",
        "tests/cases/rfc9309.toml",
        "LICENSE",
        "Makefile",
    } <= shipped
    assert not [name for name in shipped if name.endswith((".c", ".so"))]
    check_programs(installed(tmp_path, wheel), tmp_path, compiled=True)


def test_without_a_compiler(tmp_path: Path) -> None:
    _, wheel = build(tmp_path, compiler=False)
    names = zipfile.ZipFile(wheel).namelist()
    assert not [name for name in names if name.endswith((".so", ".pyd"))]
    check_programs(installed(tmp_path, wheel), tmp_path, compiled=False)


def test_koster_pure_leaves_the_compiling_out(tmp_path: Path) -> None:
    _, wheel = build(tmp_path, compiler=True, KOSTER_PURE="1")
    assert not [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".so")]
