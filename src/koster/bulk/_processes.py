"""Answers many inputs in parallel worker processes.

Each process (`_worker`) has pipes of its own and a thread that waits for it: one that is killed at
any moment stops nobody. The pool of the standard library ends all its processes if one is killed,
and its processes stay forever if their parent is killed; each runs the user's script again, which
fails if it starts the run without ``if __name__ == "__main__"``.
"""

from __future__ import annotations

import pickle
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any, TypeAlias

from .._own_process import command_of
from ._batches import Input
from ._shards import ShardReport, Task
from ._worker import INTERVAL

#: Called with how far each input is read, in bytes, and its rows so far.
Progress: TypeAlias = Callable[[list[int], list[int]], None]


class ProgressTracker:
    """The progress of all inputs."""

    def __init__(
        self,
        inputs: list[Input],
        reports: list[ShardReport | None],
        progress: Progress | None,
    ) -> None:
        both = zip(inputs, reports, strict=True)
        self.positions = [0 if report is None else each.size for each, report in both]
        self.rows = [0 if report is None else report.rows for report in reports]
        self._progress = progress
        self._last = 0.0

    def store(self, number: int, position: int, rows: int) -> None:
        self.positions[number] = position
        self.rows[number] = rows

    def update(self, number: int, position: int, rows: int) -> None:
        self.store(number, position, rows)
        if time.monotonic() - self._last > INTERVAL:
            self.report()

    def report(self) -> None:
        self._last = time.monotonic()
        if self._progress is not None:
            self._progress(self.positions, self.rows)


def run_in_processes(
    tasks: list[Task], jobs: int, reports: list[ShardReport | None], tracker: ProgressTracker
) -> None:
    """Run tasks in processes, and fill in their reports.

    If a process is killed, its input is read again, after the others and alone: they may have used
    the memory. If that process is killed, too, the input fails.
    """
    for task in [*_Pool(tasks, jobs, reports, tracker).run()]:
        for exit_code in _Pool([task], jobs, reports, tracker).run().values():
            how = "was killed" if exit_code < 0 else f"ended with exit code {exit_code}"
            why = f"{task.input.path}: the process that read it {how}"
            reports[task.number] = ShardReport(task.input.path, None, why=why)


class _Pool:
    """Tasks, and a thread for each process that runs them."""

    def __init__(
        self,
        tasks: list[Task],
        jobs: int,
        reports: list[ShardReport | None],
        tracker: ProgressTracker,
    ) -> None:
        self._waiting = deque(tasks)
        self._size = min(jobs, len(tasks))
        self._threads = jobs // self._size
        self._reports = reports
        self._tracker = tracker
        self._workers: set[_Worker] = set()
        #: Held to change the tasks that wait, and the workers.
        self._lock = threading.Lock()
        #: The tasks whose process has died, with its exit code.
        self._dead: dict[Task, int] = {}

    def run(self) -> dict[Task, int]:
        """Run all tasks; return those whose process has died, with its exit code.

        Raises:
            RuntimeError: processes do not start.
            Exception: what a task raised.
        """
        with ThreadPoolExecutor(self._size, initializer=_hold_interrupts_back) as pool:
            try:
                pending = {pool.submit(self._work) for _ in range(self._size)}
                while pending:
                    done, pending = wait(pending, INTERVAL, FIRST_COMPLETED)
                    for each in done:
                        each.result()
                    self._tracker.report()
            finally:
                # After an error, a KeyboardInterrupt for example, they do not finish their tasks.
                self._stop()
        return self._dead

    def _stop(self) -> None:
        with self._lock:
            self._waiting.clear()
            workers = [*self._workers]
        for worker in workers:
            worker.process.kill()
        for worker in workers:
            worker.wait()

    def _work(self) -> None:
        worker = None
        while (found := self._next(worker)) is not None:
            task, worker = found
            report = worker.run(task, self._tracker)
            if report is not None:
                self._reports[task.number] = report
                continue
            exit_code = self._dead[task] = worker.wait()
            if exit_code > 0 and not worker.has_started:
                raise RuntimeError("worker processes do not start: see their error output")
            with self._lock:
                self._workers.discard(worker)
            worker = None
        if worker is not None:
            worker.send(None)
            worker.wait()

    def _next(self, worker: _Worker | None) -> tuple[Task, _Worker] | None:
        """Return the next task and this worker, or a new one; None if the thread ends."""
        with self._lock:
            if self._waiting:
                try:
                    worker = worker or _Worker(self._threads)
                except OSError:
                    # Too many processes or open files: the others go on.
                    if not self._workers:
                        raise
                else:
                    self._workers.add(worker)
                    return self._waiting.popleft(), worker
            if worker is not None:
                self._workers.discard(worker)
            return None


class _Worker:
    """A worker process."""

    def __init__(self, threads: int) -> None:
        self.process = subprocess.Popen(  # noqa: S603 - this interpreter
            command_of(f"{__package__}._worker"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._input: Any = self.process.stdin
        self._output: Any = self.process.stdout
        self.has_started = False
        self.send(threads)

    def run(self, task: Task, tracker: ProgressTracker) -> ShardReport | None:
        """Run a task; return None if the process has died.

        Raises:
            Exception: what the task raised.
        """
        self.send(task)
        while isinstance(message := self.receive(), tuple):
            self.has_started = True
            tracker.store(task.number, *message)
        if isinstance(message, Exception):
            raise message
        report: ShardReport | None = message
        if report is not None and report.why is None:
            tracker.store(task.number, task.input.size, report.rows)
        return report

    def send(self, message: object) -> None:
        """Send a message; if the process is dead, `receive` finds out."""
        with suppress(OSError):
            pickle.dump(message, self._input)
            self._input.flush()

    def receive(self) -> Any:
        """Return the next message; None if the process has died."""
        try:
            return pickle.load(self._output)  # noqa: S301 - our own process
        except Exception:  # noqa: BLE001 - whatever half of a message raises
            return None

    def wait(self) -> int:
        """Wait until the process ends; return its exit code."""
        with suppress(OSError):
            self._input.close()
        exit_code = self.process.wait()
        self._output.close()
        return exit_code


def _hold_interrupts_back() -> None:
    """Hold Ctrl-C back in a thread and its processes: their parent ends them."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
