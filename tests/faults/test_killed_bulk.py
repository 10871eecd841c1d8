"""kill -9 of `koster bulk` and its workers."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.helpers import archives, processes
from tests.helpers.bulk_runs import contents
from tests.helpers.forked_commands import Command
from tests.helpers.support import NIGHTLY

KILLS = 100 if NIGHTLY else 40
#: Of them, kills of a worker, which the run survives.
WORKER_KILLS = 10


class Run:
    """Runs of one question over the same archives."""

    def __init__(self, folder: Path) -> None:
        self._inputs, self.out = folder / "in", folder / "out"
        for number in range(6):
            fetches = archives.sites(150, 150 * number)
            archives.write(self._inputs / f"part-{number}.warc.gz", fetches)
        self.finish(folder / "whole")
        self._expected = contents(folder / "whole")
        self._rng = random.Random(7)

    def arguments(self, out: Path, jobs: int) -> list[object]:
        question = ["bulk", "classify", "-a", "GPTBot"]
        return [*question, self._inputs, "-o", out, "-j", jobs]

    def start(self, jobs: int) -> Command:
        self._leave_work()
        return Command(
            *self.arguments(self.out, jobs),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def finish(self, out: Path) -> None:
        """Run without an interruption."""
        command = [sys.executable, "-m", "koster", *map(str, self.arguments(out, 1))]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")

    def _leave_work(self) -> None:
        """Remove some shards if there are none to write."""
        shards = sorted(self.out.glob("*.parquet"))
        if len(shards) == len(self._expected):
            for path in self._rng.sample(shards, 4):
                path.unlink()

    def watch(self, process: Command) -> None:
        """Check the folder again and again until a random moment, mostly after the first new file."""
        before = set(self._names())
        has_begun = self._rng.random() < 0.2
        until = time.monotonic() + (self._rng.uniform(0.2, 1) if has_begun else 20)
        while time.monotonic() < until and process.poll() is None:
            self.check()
            if not has_begun and set(self._names()) - before:
                has_begun = True
                until = time.monotonic() + self._rng.uniform(0, 0.4)
            time.sleep(0.005)

    def choose(self, pids: list[int]) -> int:
        return self._rng.choice(pids)

    def _names(self) -> list[str]:
        return os.listdir(self.out) if self.out.is_dir() else []

    def check(self) -> None:
        """Check that each Parquet file is as an uninterrupted run writes it."""
        assert contents(self.out).items() <= self._expected.items()

    def check_finished(self) -> None:
        assert contents(self.out) == self._expected
        assert set(self._names()) == {*self._expected, ".koster-bulk"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run(tmp_path_factory.mktemp("bulk"))


def test_many_kills(run: Run) -> None:
    """Every Parquet file in the folder is complete, and the next run resumes."""
    started = time.monotonic()
    for number in range(KILLS - WORKER_KILLS):
        process = run.start(jobs=2 if number % 4 == 0 else 1)
        run.watch(process)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        processes.wait_until_ended(process.pid)
        run.check()
    run.finish(run.out)
    run.check_finished()
    print(f"\n{KILLS - WORKER_KILLS} kills, {time.monotonic() - started:.0f} s")


def test_killed_workers(run: Run) -> None:
    """A worker that is killed costs no answer: its input is read again."""
    killed = 0
    while killed < WORKER_KILLS:
        process = run.start(jobs=2)
        run.watch(process)
        workers = [pid for pid in processes.members(process.pid) if _is_worker(pid)]
        if workers:
            # It may just have ended.
            with suppress(ProcessLookupError):
                os.kill(run.choose(workers), signal.SIGKILL)
                killed += 1
        output = "".join(process.communicate(timeout=60))
        assert process.returncode == 0, output
        assert "Traceback" not in output
        run.check_finished()
        processes.wait_until_ended(process.pid)


def _is_worker(pid: int) -> bool:
    """Return whether a process is a worker."""
    try:
        return b"koster.bulk._worker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
