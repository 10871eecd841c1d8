"""Files that commands write, while others read them and the commands are killed."""

from __future__ import annotations

import os
import random
import threading
import time
from pathlib import Path

import pytest

from tests.helpers import commands
from tests.helpers.forked_commands import Command

#: Long enough that writing it takes a while.
BEFORE = b"user-agent: *\n" + b"".join(b"disalow:/private/%d\n" % number for number in range(500))
KILLS = 8


class Reader(threading.Thread):
    """Reads a file again and again, and remembers each different content."""

    def __init__(self, path: Path) -> None:
        super().__init__(daemon=True)
        self._path = path
        self._is_over = threading.Event()
        self.found: set[bytes] = set()

    def run(self) -> None:
        while not self._is_over.is_set():
            self.found.add(self._path.read_bytes())
            time.sleep(0.0005)

    def stop(self) -> None:
        self._is_over.set()
        self.join()


def started(name: str, folder: Path) -> Command:
    return Command(*commands.WRITING[name].format(disk=folder, data=folder).split())


def restore(path: Path) -> None:
    """Write the old content, in one step, too."""
    new = path.with_name("new.txt")
    new.write_bytes(BEFORE)
    os.replace(new, path)


@pytest.mark.parametrize("name", commands.REPLACING)
def test_nobody_reads_half_a_file(name: str, tmp_path: Path) -> None:
    """A file is replaced in one step, also if the command is killed."""
    path = tmp_path / "robots.txt"
    restore(path)
    assert started(name, tmp_path).wait(60) == 0
    restore(path)
    began = time.monotonic()
    assert started(name, tmp_path).wait(60) == 0
    duration = time.monotonic() - began
    after = path.read_bytes()
    assert after != BEFORE
    rng = random.Random(3)
    reader = Reader(path)
    reader.start()
    for _ in range(KILLS):
        restore(path)
        process = started(name, tmp_path)
        time.sleep(rng.uniform(0.6, 1.05) * duration)
        process.kill()
        process.wait()
        assert path.read_bytes() in (BEFORE, after)
    restore(path)
    assert started(name, tmp_path).wait(60) == 0
    reader.stop()
    assert reader.found == {BEFORE, after}
    assert path.read_bytes() == after


def test_events_leave_other_files(tmp_path: Path) -> None:
    data = commands.write_data(tmp_path)
    other = tmp_path / "events.parquet.part"
    other.write_bytes(b"mine")
    assert commands.run(commands.WRITING["logs --events"], data, tmp_path).returncode == 1
    assert other.exists()
    assert other.read_bytes() == b"mine"
