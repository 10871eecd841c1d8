"""Full disks and read-only folders: what commands and caches leave on them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.helpers import commands
from tests.helpers.disks import Disk, contents_of
from tests.helpers.server import Answer, Site

#: Maximum bytes of a file, where the size of files is limited: less than each output has.
MAX_BYTES = 16


@dataclass
class Fault:
    """A folder where nothing can be written.

    ``message`` is the system's; ``file_size`` limits the files of a command.
    """

    folder: Path
    message: str
    file_size: int | None = None


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return commands.write_data(tmp_path_factory.mktemp("data"))


def full_disk(disk: Disk) -> Fault:
    (disk.folder / "robots.txt").write_bytes(commands.TEXT)
    disk.fill()
    return Fault(disk.folder, "No space left on device")


def size_limit(folder: Path) -> Fault:
    """Files of more than a few bytes break off; that needs no disk of its own."""
    (folder / "robots.txt").write_bytes(commands.TEXT)
    return Fault(folder, "File too large", MAX_BYTES)


def read_only_disk(disk: Disk) -> Fault:
    (disk.folder / "robots.txt").write_bytes(commands.TEXT)
    disk.make_read_only()
    return Fault(disk.folder, "Read-only file system")


def read_only_folder(folder: Path) -> Fault:
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    (folder / "robots.txt").write_bytes(commands.TEXT)
    folder.chmod(0o500)
    return Fault(folder, "Permission denied")


FAULTS: dict[str, tuple[str, Callable[..., Fault]]] = {
    "full disk": ("disk", full_disk),
    "limited size": ("tmp_path", size_limit),
    "read-only disk": ("disk", read_only_disk),
    "read-only folder": ("tmp_path", read_only_folder),
}


#: Their own working files would exceed the limit.
NOT_LIMITED = ("bulk in processes", "bulk report")

CASES = [
    (fault, name)
    for fault in FAULTS
    for name in commands.WRITING
    if fault != "limited size" or name not in NOT_LIMITED
]


@pytest.fixture
def fault(request: pytest.FixtureRequest) -> Fault:
    name, make = FAULTS[request.param]
    return make(request.getfixturevalue(name))


@pytest.mark.parametrize(("fault", "name"), CASES, indirect=["fault"])
def test_command_that_cannot_write(fault: Fault, name: str, data: Path) -> None:
    """Files are written whole or not at all; the message says what happened."""
    before = _files(fault.folder)
    result = commands.run(commands.WRITING[name], data, fault.folder, file_size=fault.file_size)
    assert result.returncode == 3, result.stderr
    assert _files(fault.folder) == before
    assert "Traceback" not in result.stderr
    messages = [line for line in result.stderr.splitlines() if line.startswith("koster: ")]
    assert messages
    assert all(str(fault.folder) in each and fault.message in each for each in messages)


@pytest.mark.parametrize("name", commands.WRITING)
def test_command_writes_once_there_is_space(name: str, disk: Disk, data: Path) -> None:
    fault = full_disk(disk)
    before = _files(fault.folder)
    assert commands.run(commands.WRITING[name], data, fault.folder).returncode == 3
    disk.free()
    again = commands.run(commands.WRITING[name], data, fault.folder)
    assert again.returncode in (0, 1), again.stderr
    assert "koster: " not in again.stderr
    assert _files(fault.folder) != before


def _files(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder, without those that say what the folder is."""
    files = contents_of(folder, folder / "filler")
    assert files.pop("out/.koster-bulk", b"") == b""
    return files


def test_full_temporary_folder(
    disk: Disk, data: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sitemap that does not fit says so; the connection did not fail."""
    monkeypatch.setenv("TMPDIR", str(disk.folder))
    site.pages["/s.xml"] = Answer(body=b"https://example.com/x\n" * 5000)
    disk.fill(leave=40_000)
    line = f"check --robots {{data}}/robots.txt --sitemap {site.url}/s.xml"
    result = commands.run(line, data, disk.folder)
    assert result.returncode == 3
    assert result.stderr == (
        f"koster: {site.url}/s.xml: cannot write to the temporary folder {disk.folder}: "
        "No space left on device\nkoster: no URLs to check\n"
    )
    disk.free()
    assert commands.run(line, data, disk.folder).returncode == 0


@pytest.mark.parametrize("name", commands.PRINTING)
def test_command_whose_answers_cannot_be_written(name: str, disk: Disk, data: Path) -> None:
    """``koster … > FILE`` on a full disk says so, and does not exit as if all were well."""
    disk.fill()
    with open(disk.folder / "out", "wb") as file:
        result = commands.run(commands.PRINTING[name], data, disk.folder, stdout=file.fileno())
    assert result.returncode == 3
    assert result.stderr.endswith(
        "koster: the answers could not be written: No space left on device\n"
    )
