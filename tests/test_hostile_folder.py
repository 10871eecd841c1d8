"""No process that koster starts runs code of the current folder."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from koster._own_process import command_of
from koster.bulk import _processes
from koster.service._process import Worker
from tests.helpers.support import ROOT

#: Names beside those of the standard library that koster, or Python itself, imports if they exist.
OTHERS = (
    "koster", "sitecustomize", "usercustomize", "click", "rich", "rich_click", "pyarrow",
    "numpy", "pandas", "fastwarc", "anyio", "idna", "ai_crawler_index", "httpx2",
)  # fmt: skip

#: Reports its import, and ends the process.
HOSTILE = """
import os
with open({report!r}, "a") as file:
    file.write(__name__ + chr(10))
os._exit(99)
"""


class Folder:
    """A folder whose modules have the names of others; `imported` has those that ran."""

    def __init__(self, folder: Path, names: set[str]) -> None:
        self.path = folder / "current"
        self.path.mkdir()
        self._report = folder / "imported"
        code = HOSTILE.format(report=str(self._report))
        for name in names:
            (self.path / f"{name}.py").write_text(code)
        if "koster" in names:
            (self.path / "koster.py").unlink()
            package = self.path / "koster"
            for each in (package, package / "worker", package / "bulk", package / "conformance"):
                each.mkdir()
                (each / "__init__.py").write_text(code)

    @property
    def imported(self) -> list[str]:
        return self._report.read_text().split() if self._report.exists() else []


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    folder = Folder(tmp_path, {*sys.stdlib_module_names, *OTHERS})
    monkeypatch.chdir(folder.path)
    return folder


@contextmanager
def searched(*entries: str) -> Iterator[None]:
    """Put entries at the start of the search path, where ``python`` and ``python -m`` put them."""
    sys.path[:0] = entries
    try:
        yield
    finally:
        del sys.path[: len(entries)]


def test_files_are_hostile(hostile: Folder) -> None:
    """The check of this check: an unprotected process runs one of them."""
    command = [sys.executable, "-m", "koster._worker.loop"]
    assert subprocess.run(command, input=b"", check=False).returncode == 99
    assert hostile.imported


def test_workers_of_the_service(hostile: Folder) -> None:
    async def ask() -> object:
        worker = Worker()
        with searched("", str(hostile.path)):
            await worker.start()
        try:
            arguments = (10_000, b"User-agent: *\nDisallow: /a\n", "RFC9309", ["x"], ["/a"])
            return await worker.call("decide", arguments, 1.0, 5.0)
        finally:
            await worker.kill()

    kind, answer, _ = anyio.run(ask)  # type: ignore[misc]
    assert kind == "answered"  # type: ignore[has-type]
    assert b'"allowed":false' in answer  # type: ignore[has-type]
    assert hostile.imported == []


def test_workers_of_bulk(hostile: Folder) -> None:
    with searched("", str(hostile.path)):
        worker = _processes._Worker(1)
    worker.send(None)
    assert worker.receive() == (0, 0)
    worker.wait()
    assert hostile.imported == []


def test_python_m_koster(tmp_path: Path) -> None:
    """What ``koster`` alone imports comes first, and cannot be protected; all else is."""
    code = "import koster, runpy, sys; print(*{name.partition('.')[0] for name in sys.modules})"
    command = [sys.executable, "-c", code]
    before = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    hostile = Folder(tmp_path, {*sys.stdlib_module_names, *OTHERS} - {*before})
    (hostile.path / "robots.txt").write_text("User-agent: *\nDisallow: /a\n")
    command = [sys.executable, "-m", "koster", "check", "--robots", "robots.txt", "/a"]
    found = subprocess.run(command, cwd=hostile.path, capture_output=True, text=True, check=False)
    assert (found.returncode, hostile.imported) == (1, []), found.stderr


def test_koster_in_the_current_folder_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes last; other entries keep their order, also those that do not exist."""
    source = ROOT / "src"
    monkeypatch.chdir(source)
    others = ["other", *(each for each in sys.path if "python3" in each)]
    for entry in ("", str(source), str(source / ".." / "src")):
        monkeypatch.setattr(sys, "path", [entry, "missing", *others])
        code = command_of("koster._worker.loop")[-1]
        assert f"sys.path[:] = {['missing', *others, str(source)]}\n" in code


@pytest.mark.parametrize("options", [[], ["-I"], ["-E"], ["-s"]])
def test_options_of_the_parent_are_kept(options: list[str]) -> None:
    code = "from koster._own_process import command_of; print(*command_of('a')[1:-2])"
    command = [sys.executable, *options, "-c", code]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert found == ["-P", *(["-E", "-s"] if options == ["-I"] else options)]
