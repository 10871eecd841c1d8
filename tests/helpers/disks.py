"""A disk of one megabyte, which tests fill up or make read-only."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

#: The size of the disk, as `mount` takes it.
SIZE = "1m"


@dataclass
class Disk:
    """A mounted disk."""

    folder: Path

    @property
    def _filler(self) -> Path:
        return self.folder / "filler"

    def fill(self, leave: int = 0) -> None:
        """Write until the disk is full but for some bytes; `free` gives the space back."""
        with self._filler.open("ab", buffering=0) as file:
            for size in (65536, 1):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError:
                    continue
            file.truncate(file.tell() - leave)

    def free(self) -> None:
        self._filler.unlink()

    def make_read_only(self) -> None:
        _run("mount", "-o", "remount,ro", self.folder)


def contents_of(folder: Path, *ignored: Path) -> dict[str, bytes]:
    """Return the content of all files in a folder, by their names."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path not in ignored
    }


class NoDiskError(Exception):
    """No disk can be mounted; the message says why."""


@contextmanager
def mounted(folder: Path) -> Iterator[Disk]:
    """Mount a new disk in memory.

    Raises:
        NoDiskError: that is not possible.
    """
    try:
        _run("mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", folder)
    except (OSError, subprocess.CalledProcessError) as error:
        why = getattr(error, "stderr", "") or str(error)
        raise NoDiskError(f"no disk can be mounted here: {why.strip()}") from error
    try:
        yield Disk(folder)
    finally:
        # A killed child may not have ended yet.
        _run("umount", "--lazy", folder)


def _run(*command: object) -> None:
    subprocess.run([str(each) for each in command], check=True, capture_output=True, text=True)
