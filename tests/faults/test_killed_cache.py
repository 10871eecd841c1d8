"""kill -9 of processes that write to one SQLite cache."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from koster.cache import SqliteCache
from tests.helpers import children
from tests.helpers.entries import ENTRY
from tests.helpers.support import NIGHTLY

KILLS = 100 if NIGHTLY else 40
WRITERS = [f"writer-{number}" for number in range(8)]


class Writers:
    """Eight processes that write to one file; each killed one is checked and started again."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "cache.sqlite"
        self._folder = folder
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        #: The next number of each writer.
        self._first = dict.fromkeys(WRITERS, 0)
        self.kills = self.writes = 0
        for name in WRITERS:
            self._start(name)

    def _start(self, name: str) -> None:
        """Start a writer; it acknowledges its writes in a file, which outlives it."""
        with self._acknowledgements(name).open("wb") as file:
            task = children.command("write", self.path, name, self._first[name])
            self._processes[name] = subprocess.Popen(task, stdout=file)

    def _acknowledgements(self, name: str) -> Path:
        return self._folder / f"{name}.txt"

    def wait_until_writing(self, names: list[str]) -> None:
        until = time.monotonic() + 60
        while not all(map(self._has_written, names)):
            assert time.monotonic() < until, "a writer does not write"
            assert all(each.poll() is None for each in self._processes.values())
            time.sleep(0.01)

    def _has_written(self, name: str) -> bool:
        """Return whether a writer has acknowledged a write, with the end of its line."""
        with self._acknowledgements(name).open("rb") as file:
            return file.readline().endswith(b"\n")

    def kill(self, names: list[str]) -> None:
        """Kill writers at once, check what they wrote, and start them again."""
        for name in names:
            self._processes[name].kill()
        for name in names:
            self._processes[name].wait()
            self.kills += 1
        with closing(SqliteCache(self.path)) as cache:
            for name in names:
                self._check(cache, name)
        with closing(sqlite3.connect(self.path)) as raw:
            assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        for name in names:
            self._start(name)

    def _check(self, cache: SqliteCache, name: str) -> None:
        """Check that the last writes of a writer are in the file, and no half ones."""
        acknowledged = self._acknowledgements(name).read_bytes().split(b"\n")[:-1]
        last = int(acknowledged[-1])
        self.writes += len(acknowledged)
        self._first[name] = last + 1
        for number in range(max(last - children.SLOTS + 1, 0), last + 1):
            entry = cache.get(children.key_of(name, number))
            assert entry is not None, f"lost: {name} {number}"
            # One more may have been written and not acknowledged.
            assert entry.status in (number, last + 1), f"lost: {name} {number}, not {entry.status}"
            assert entry == children.entry_of(entry.status)
            self._first[name] = max(self._first[name], entry.status + 1)

    def stop(self) -> None:
        for process in self._processes.values():
            process.kill()
            process.wait()


@pytest.fixture
def writers(tmp_path: Path) -> Iterator[Writers]:
    writers = Writers(tmp_path)
    yield writers
    writers.stop()


def test_many_kills_under_eight_writers(writers: Writers) -> None:
    """`SqliteCache` loses nothing that it has written, and the file stays intact."""
    rng = random.Random(9)
    started = time.monotonic()
    while writers.kills < KILLS:
        # Now and then all at once: then nobody has the file open.
        names = WRITERS if writers.kills % 20 == 12 else [rng.choice(WRITERS)]
        writers.wait_until_writing(names)
        time.sleep(rng.uniform(0, 0.4))
        writers.kill(names)
    assert writers.writes > KILLS
    print(
        f"\n{writers.kills} kills, {writers.writes:,} acknowledged writes, "
        f"{time.monotonic() - started:.0f} s"
    )


@pytest.mark.parametrize("number", range(20))
def test_killed_while_creating_the_file(number: int, tmp_path: Path) -> None:
    """What a killed process left of a new file is a cache."""
    path = tmp_path / "cache.sqlite"
    task = children.command("create", path)
    with subprocess.Popen(task, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        process.stdin.write(b"\n")
        process.stdin.flush()
        # Creating it takes about ten milliseconds.
        time.sleep(number / 1000)
        process.kill()
        is_created = b"created" in process.stdout.read()
    with closing(SqliteCache(path)) as cache:
        assert cache.get("a") in ([ENTRY] if is_created else [ENTRY, None])
        cache.put("b", ENTRY)
        assert cache.get("b") == ENTRY
