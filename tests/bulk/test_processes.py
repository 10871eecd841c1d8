"""Bulk runs that are killed, interrupted, or lose a worker."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from koster.bulk import _processes, runs
from tests.helpers import archives
from tests.helpers.bulk_runs import GPT, contents


@pytest.mark.thorough
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


@cache
def large_archive() -> bytes:
    return archives.archive(archives.sites(1_000))[0]


def write_copies(folder: Path, numbers: range) -> None:
    """Write archives with the same sites, which is faster than generating each."""
    for number in numbers:
        (folder / f"part-{number}.warc.gz").write_bytes(large_archive())


def wait_for_workers(process: subprocess.Popen[bytes]) -> None:
    """Wait until no worker of a killed run is left: they have its standard error, a pipe, open."""
    process.communicate(timeout=30)


@pytest.mark.thorough
def test_workers_exit_when_the_parent_is_killed(inputs: Path, tmp_path: Path) -> None:
    write_copies(inputs, range(4, 12))
    code = (
        "import sys; from koster.bulk import runs\n"
        "runs.run(runs.Question('facts'), runs.find_inputs(sys.argv[1:2]), sys.argv[2], 2)"
    )
    script = tmp_path / "job.py"
    script.write_text(code)
    process = subprocess.Popen([sys.executable, script, inputs, tmp_path / "out"])
    children: list[int] = []
    for _ in range(200):
        threads = [*Path(f"/proc/{process.pid}/task").glob("*/children")]
        if not threads:
            process.kill()
            process.wait()
            pytest.skip("this system does not list child processes")
        children = [int(pid) for path in threads for pid in path.read_text().split()]
        if len(children) >= 2 and list((tmp_path / "out").glob(".*.part")):
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


@pytest.mark.thorough
def test_interrupted_run_stops(inputs: Path, tmp_path: Path) -> None:
    """Workers stop too, without finishing the other inputs."""
    write_copies(inputs, range(4, 14))
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
    for _ in range(2_400):
        if list(out.glob("*.parquet")):
            break
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == "koster: stopped\n"
    assert 0 < len(list(out.glob("*.parquet"))) < 14
    resumed = subprocess.run(arguments, check=False, capture_output=True, text=True)
    assert (resumed.returncode, resumed.stderr) == (0, "")
    assert not list(out.glob(".*.part"))


#: A worker process that does something else before some shards.
PATCHED = """
import os, signal, sys
sys.path[:] = {path}
from koster.bulk import _answering, _worker
write_shard = _answering.write_shard
def write_or_not(task, *others):
    if "part-2" in task.input.path:
        {action}
    return write_shard(task, *others)
_answering.write_shard = write_or_not
_worker.main()
"""


def patch_workers(monkeypatch: pytest.MonkeyPatch, action: str) -> None:
    replace_workers(monkeypatch, PATCHED.format(path=sys.path, action=action))


def replace_workers(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    start = subprocess.Popen

    def start_patched(command: Any, **options: Any) -> Any:
        return start([*command[:-1], code], **options)

    monkeypatch.setattr(_processes.subprocess, "Popen", start_patched)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("action", "how"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", "was killed"),
        ("os._exit(3)", "ended with exit code 3"),
    ],
)
@pytest.mark.thorough
def test_killed_worker_fails_one_input(
    inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, action: str, how: str
) -> None:
    patch_workers(monkeypatch, action)
    result = runs.run(GPT, runs.find_inputs([str(inputs)]), tmp_path / "out", 2)
    assert [each.why is None for each in result.shards] == [True, True, False, True]
    assert f"part-2.warc.gz: the process that read it {how}" in (result.failed[0].why or "")


@pytest.mark.thorough
def test_input_of_a_killed_worker_is_read_again(
    inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = str(tmp_path / "killed")
    action = f"os.path.exists({mark!r}) or (open({mark!r}, 'w'), os.kill(os.getpid(), 9))"
    patch_workers(monkeypatch, action)
    result = runs.run(GPT, runs.find_inputs([str(inputs)]), tmp_path / "out", 2)
    assert Path(mark).exists()
    assert not result.failed


@pytest.mark.parametrize(
    ("action", "error", "text"),
    [
        ("raise LookupError('not here')", LookupError, "not here"),
        pytest.param(
            "raise type('Own', (Exception,), {})('of no module')",
            RuntimeError,
            "Own: of no module",
            marks=pytest.mark.thorough,
        ),
    ],
    ids=["LookupError", "one that cannot be pickled"],
)
def test_error_of_a_worker_is_raised(
    inputs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    action: str,
    error: type[Exception],
    text: str,
) -> None:
    """An error that koster does not expect is not hidden."""
    patch_workers(monkeypatch, action)
    with pytest.raises(error, match=text) as raised:
        runs.run(GPT, runs.find_inputs([str(inputs)]), tmp_path / "out", 2)
    assert "in write_or_not" in str(raised.value) + "".join(getattr(raised.value, "__notes__", ()))


def test_workers_that_do_not_start(
    inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_workers(monkeypatch, "raise SystemExit(1)")
    with pytest.raises(RuntimeError, match="worker processes do not start"):
        runs.run(GPT, runs.find_inputs([str(inputs)]), tmp_path / "out", 2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.thorough
def test_forked_program_holds_up_no_run(inputs: Path, tmp_path: Path) -> None:
    """A copy of the program has its pipes, too, so that no end of file tells that one has ended."""
    # Popen waits for a copy that is made while it starts a process: not even Python avoids that.
    code = (
        "import os, subprocess, sys, threading, time; from koster.bulk import runs\n"
        "lock = threading.Lock()\n"
        "start = subprocess.Popen._execute_child\n"
        "def start_alone(*arguments):\n"
        "    with lock:\n"
        "        start(*arguments)\n"
        "subprocess.Popen._execute_child = start_alone\n"
        "def fork():\n"
        "    while threading.main_thread().is_alive():\n"
        "        with lock:\n"
        "            is_copy = not os.fork()\n"
        "        if is_copy:\n"
        "            time.sleep(30)\n"
        "            os._exit(0)\n"
        "        time.sleep(0.02)\n"
        "threading.Thread(target=fork, daemon=True).start()\n"
        "done = runs.run(runs.Question('facts'), runs.find_inputs(sys.argv[1:2]), sys.argv[2], 2)\n"
        "print(len(done.failed), flush=True)\n"
        "os.killpg(0, 9)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, inputs, tmp_path / "out"],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    output, _ = process.communicate(timeout=25)
    assert output == b"0\n"
