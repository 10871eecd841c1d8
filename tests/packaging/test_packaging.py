"""The wheel and the source distribution, in clean environments."""

from __future__ import annotations

import re
import tarfile
import zipfile
from pathlib import Path

import pytest

import koster
from tests.helpers.support import ROOT
from tests.packaging.conftest import Sources, install, run

#: Wheels for the extra ``cli``, which make downloads so that a clean environment needs no network.
WHEELHOUSE = ROOT / ".venv" / "wheelhouse"

pytestmark = [
    pytest.mark.skipif(not WHEELHOUSE.is_dir(), reason="no wheels to install: run make test"),
    # They share what is built.
    pytest.mark.xdist_group("packaging"),
]


def install_command(folder: Path, wheel: Path) -> Path:
    """Install the wheel with its command; return the folder of its programs."""
    return install(f"{wheel}[cli]", folder, "--find-links", WHEELHOUSE)


def files_of(pattern: str) -> set[str]:
    """Return the files of the package with a name, and its suite's: paths as in a wheel."""
    package = ROOT / "src"
    files = {str(path.relative_to(package)) for path in package.glob(f"koster/**/{pattern}")}
    return {name for name in files if not name.endswith(".pyc")}


def check_scripts(scripts: Path, folder: Path, compiled: bool) -> None:
    (folder / "r.txt").write_text("User-agent: *\nDisallow: /private")
    arguments = ("check", "--robots", folder / "r.txt", "-f", "csv")
    assert 'true,"*","/x","no rule"' in run(scripts / "koster", *arguments, "/x")
    assert run(scripts / "python", "-m", "koster", "--version").startswith("koster 0.1.0")
    code = "import koster; print(koster.COMPILED, koster.parse(b'').allowed('/', 'x'))"
    assert run(scripts / "python", "-c", code).split() == [str(compiled), "True"]
    assert run(scripts / "python", "-c", code, KOSTER_PURE="1").split() == ["False", "True"]


@pytest.mark.skipif(not koster.COMPILED, reason="koster is not compiled; the next test covers this")
def test_wheel_and_sdist(sources: Sources, tmp_path: Path) -> None:
    wheel = sources.wheel("compiled")
    names = zipfile.ZipFile(wheel).namelist()
    assert "koster/py.typed" in names
    assert {name for name in names if name.endswith(".py")} == files_of("*.py")
    assert [name for name in names if name.endswith(".data/data/share/man/man1/koster.1")]
    assert sum(name.endswith((".so", ".pyd")) for name in names) == len(koster._pure.HOT) + 1
    assert not [name for name in names if name.endswith((".c", ".pxd", "setup.py"))]
    assert not [name for name in names if name.startswith(("tests", "benchmarks"))]
    (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
    needed = re.findall(r"(?m)^Requires-Dist: .*$", zipfile.ZipFile(wheel).read(metadata).decode())
    assert needed
    assert [each for each in needed if "extra ==" not in each] == []
    with tarfile.open(sources.sdist) as archive:
        sdist_files = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "src/koster/_engine/ruleset.pxd",
        "tests/cases/rfc9309.toml",
        "LICENSE",
        "Makefile",
    } <= sdist_files
    assert {f"src/{name}" for name in files_of("*.p*")} <= sdist_files
    assert not [name for name in sdist_files if name.endswith((".c", ".so"))]
    check_scripts(install_command(tmp_path, wheel), tmp_path, compiled=True)


def test_build_without_a_compiler(sources: Sources, tmp_path: Path) -> None:
    wheel = sources.wheel("no compiler")
    names = zipfile.ZipFile(wheel).namelist()
    assert not [name for name in names if name.endswith((".so", ".pyd"))]
    check_scripts(install_command(tmp_path, wheel), tmp_path, compiled=False)


def test_koster_pure_skips_compilation(sources: Sources) -> None:
    names = zipfile.ZipFile(sources.wheel("pure")).namelist()
    assert not [name for name in names if name.endswith(".so")]
