"""Runs that are killed, stopped, or lose a process."""

from __future__ import annotations

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
from support import EVERYTHING

from koster.bulk import (
    _answering,
    _processes,
    runs,
)

pytestmark = pytest.mark.any_mode


def test_a_killed_run_goes_on_where_it_was(inputs: Path, tmp_path: Path) -> None:
    """kill -9 at some moments; what is there between is whole, and the end is as if unbroken."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    runs.run(GPT, runs.find_inputs([str(inputs)]), whole, 1)
    expected = contents(whole)
    arguments = [sys.executable, "-m", "koster", "bulk", "classify", str(inputs)]
    arguments += ["-a", "GPTBot", "-o", str(broken)]
    began = time.monotonic()
    subprocess.run(arguments, check=True, capture_output=True)
    usual = time.monotonic() - began
    assert contents(broken) == expected
    rng = random.Random(7)
    for path in broken.glob("*.parquet"):
        path.unlink()
    for number in range(10 if EVERYTHING else 4):
        process = subprocess.Popen(
            [*arguments, "-j", str(1 + number % 2)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        time.sleep(rng.uniform(0.2, 1) * usual)
        process.send_signal(signal.SIGKILL)
        process.wait()
        there = contents(broken)
        assert there.items() <= expected.items()
        if len(there) == len(expected):
            for path in rng.sample(sorted(broken.glob("*.parquet")), 3):
                path.unlink()
    wait_for_workers(broken)
    last = subprocess.run(arguments, check=False, capture_output=True, text=True)
    assert last.returncode == 0, last.stderr
    assert contents(broken) == expected
    assert not list(broken.glob(".*.part"))


def copies_of_one(folder: Path, numbers: range, sites: int) -> None:
    """Write archives with the same sites, which takes less time than writing others."""
    archives.write(folder / f"part-{numbers[0]}.warc.gz", archives.sites(sites))
    for number in numbers[1:]:
        shutil.copy(folder / f"part-{numbers[0]}.warc.gz", folder / f"part-{number}.warc.gz")


def wait_for_workers(folder: Path) -> None:
    """Wait until no process of a killed run writes there."""
    for _ in range(100):
        if not any(str(folder).encode() in line for line in commands()):
            return
        time.sleep(0.05)


def commands() -> list[bytes]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes())
        except OSError:
            continue
    return found


def test_processes_end_with_the_one_that_began_them(inputs: Path, tmp_path: Path) -> None:
    copies_of_one(inputs, range(4, 12), 1_500)
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
            pytest.skip("this system does not tell the children of a process")
        children = [int(pid) for pid in path.read_text().split()]
        if len(children) >= 3 and list((tmp_path / "out").glob(".*.part")):
            break
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert children
    for _ in range(200):
        if not any(Path(f"/proc/{pid}").exists() and not is_gone(pid) for pid in children):
            break
        time.sleep(0.05)
    assert not any(Path(f"/proc/{pid}").exists() and not is_gone(pid) for pid in children)


def is_gone(pid: int) -> bool:
    """Tell whether a process has ended, and only nobody has asked how."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_a_run_that_is_told_to_stop_stops(inputs: Path, tmp_path: Path) -> None:
    """With workers too: not when all inputs are done, but now."""
    copies_of_one(inputs, range(4, 24), 1_500)
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
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said == "koster: stopped\n"
    assert 0 < len(list(out.glob("*.parquet"))) < 24
    wait_for_workers(out)
    again = subprocess.run(arguments, check=False, capture_output=True, text=True)
    assert (again.returncode, again.stderr) == (0, "")
    assert not list(out.glob(".*.part"))


def test_a_process_that_dies_costs_one_input(
    inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = runs.find_inputs([str(inputs)])
    monkeypatch.setenv("KOSTER_TEST_DIE_AT", "part-2")
    monkeypatch.setattr(_processes, "_run_task", dying)
    done = runs.run(GPT, found, tmp_path / "out", 2)
    assert [each.why is None for each in done.shards] == [True, True, False, True]
    assert "part-2.warc.gz: the process that read it was killed" in (done.failed[0].why or "")


def dying(task: Any, threads: int) -> Any:
    if "part-2" in task.input.path:
        os.kill(os.getpid(), signal.SIGKILL)
    return _answering.write_shard(task, threads, lambda *_: None)
