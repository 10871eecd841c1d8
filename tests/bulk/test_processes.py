"""Bulk runs that are killed, interrupted, or lose a worker."""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import archives
import pytest
from bulk_runs import GPT, contents

from koster.bulk import (
    _answering,
    _processes,
    runs,
)

pytestmark = pytest.mark.any_mode


def test_killed_run_resumes(inputs: Path, tmp_path: Path) -> None:
    """After kill -9 every shard is complete, and the final result equals an uninterrupted run."""
    uninterrupted, killed = tmp_path / "whole", tmp_path / "broken"
    runs.run(GPT, runs.find_inputs([str(inputs)]), uninterrupted, 1)
    expected = contents(uninterrupted)
    arguments = [sys.executable, "-m", "koster", "bulk", "classify", str(inputs)]
    arguments += ["-a", "GPTBot", "-o", str(killed)]
    started = time.monotonic()
    subprocess.run(arguments, check=True, capture_output=True)
    duration = time.monotonic() - started
    assert contents(killed) == expected
    rng = random.Random(7)
    for path in killed.glob("*.parquet"):
        path.unlink()
    processes: list[subprocess.Popen[bytes]] = []
    for number in range(10):
        process = subprocess.Popen(
            [*arguments, "-j", str(1 + number % 2)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip
        processes.append(process)
        time.sleep(rng.uniform(0.2, 1) * duration)
        process.send_signal(signal.SIGKILL)
        process.wait()
        shards = contents(killed)
        assert shards.items() <= expected.items()
        if len(shards) == len(expected):
            for path in rng.sample(sorted(killed.glob("*.parquet")), 3):
                path.unlink()
    for process in processes:
        wait_for_workers(process)
    last = subprocess.run(arguments, check=False, capture_output=True, text=True)
    assert last.returncode == 0, last.stderr
    assert contents(killed) == expected
    assert not list(killed.glob(".*.part"))


def write_copies(folder: Path, numbers: range, sites: int) -> None:
    """Write archives with the same sites, which is faster than generating each."""
    archives.write(folder / f"part-{numbers[0]}.warc.gz", archives.sites(sites))
    for number in numbers[1:]:
        shutil.copy(folder / f"part-{numbers[0]}.warc.gz", folder / f"part-{number}.warc.gz")


def wait_for_workers(process: subprocess.Popen[bytes]) -> None:
    """Wait until no worker of a killed run is left: they have its standard error, a pipe, open."""
    process.communicate(timeout=30)


def test_workers_exit_when_the_parent_is_killed(inputs: Path, tmp_path: Path) -> None:
    write_copies(inputs, range(4, 12), 1_500)
    code = (
        "import sys; from koster.bulk import runs\n"
        "if __name__ == '__main__':\n"
        "    runs.run(runs.Question('facts'), runs.find_inputs(sys.argv[1:2]), sys.argv[2], 2)"
    )
    script = tmp_path / "job.py"
    script.write_text(code)
    process = subprocess.Popen([sys.executable, script, inputs, tmp_path / "out"])
    children: list[int] = []
    for _ in range(200):
        path = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        if not path.exists():
            process.kill()
            process.wait()
            pytest.skip("this system does not list child processes")
        children = [int(pid) for pid in path.read_text().split()]
        if len(children) >= 3 and list((tmp_path / "out").glob(".*.part")):
            break
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert children
    for _ in range(200):
        if not any(Path(f"/proc/{pid}").exists() and not has_ended(pid) for pid in children):
            break
        time.sleep(0.05)
    assert not any(Path(f"/proc/{pid}").exists() and not has_ended(pid) for pid in children)


def has_ended(pid: int) -> bool:
    """Return whether a process has ended; it may still be a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_interrupted_run_stops(inputs: Path, tmp_path: Path) -> None:
    """Workers stop too, without finishing the other inputs."""
    write_copies(inputs, range(4, 24), 1_500)
    out = tmp_path / "out"
    arguments = [
        sys.executable,
        "-m",
        "koster",
        "bulk",
        "facts",
        str(inputs),
        "-o",
        str(out),
        "-j2",
    ]
    process = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True)
    for _ in range(600):
        if list(out.glob("*.parquet")):
            break
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == "koster: stopped\n"
    assert 0 < len(list(out.glob("*.parquet"))) < 24
    resumed = subprocess.run(arguments, check=False, capture_output=True, text=True)
    assert (resumed.returncode, resumed.stderr) == (0, "")
    assert not list(out.glob(".*.part"))


def test_killed_worker_fails_one_input(
    inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    input_files = runs.find_inputs([str(inputs)])
    monkeypatch.setattr(_processes, "_work", work_and_die)
    result = runs.run(GPT, input_files, tmp_path / "out", 2)
    assert [each.why is None for each in result.shards] == [True, True, False, True]
    assert "part-2.warc.gz: the process that read it was killed" in (result.failed[0].why or "")


def work_and_die(*arguments: Any) -> None:
    """Work as a worker process that is killed whenever it reads one of the inputs."""
    write_shard = _answering.write_shard

    def write_shard_or_die(task: Any, *rest: Any) -> Any:
        if "part-2" in task.input.path:
            os.kill(os.getpid(), signal.SIGKILL)
        return write_shard(task, *rest)

    _answering.write_shard = write_shard_or_die
    _processes._work(*arguments)


def test_error_of_a_worker_is_raised(
    inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error that koster does not expect is not hidden, and no process is left."""
    monkeypatch.setattr(_processes, "_work", work_and_raise)
    with pytest.raises(LookupError, match="of a worker") as raised:
        runs.run(GPT, runs.find_inputs([str(inputs)]), tmp_path / "out", 2)
    assert "in write_shard_or_raise" in "".join(raised.value.__notes__)
    assert not multiprocessing.active_children()


def work_and_raise(*arguments: Any) -> None:
    def write_shard_or_raise(*_: Any) -> Any:
        raise LookupError("of a worker")

    _answering.write_shard = write_shard_or_raise
    _processes._work(*arguments)
