"""Answers many inputs in parallel worker processes.

Each process (`_worker`) has pipes of its own and no lock: one that is killed at any moment stops
nobody. (The pool of the standard library has one lock for all its processes, and waits forever if
one was killed that held it.)
"""

from __future__ import annotations

import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from .._own_process import command_of
from ._shards import ShardReport
from ._worker import INTERVAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from ._batches import Input
    from ._shards import Task

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

    def update(self, number: int, position: int, rows: int) -> None:
        self.positions[number] = position
        self.rows[number] = rows
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
    for task in [*_Run(tasks, jobs, reports, tracker).run()]:
        for exit_code in _Run([task], jobs, reports, tracker).run().values():
            how = "was killed" if exit_code < 0 else f"ended with exit code {exit_code}"
            why = f"{task.input.path}: the process that read it {how}"
            reports[task.number] = ShardReport(task.input.path, None, why=why)


class _Run:
    """Tasks, and the worker processes that run them."""

    def __init__(
        self,
        tasks: list[Task],
        jobs: int,
        reports: list[ShardReport | None],
        tracker: ProgressTracker,
    ) -> None:
        self._waiting = deque(tasks)
        self._most = min(jobs, len(tasks))
        self._threads = jobs // self._most
        self._reports = reports
        self._tracker = tracker
        self._messages: queue.SimpleQueue[tuple[_Worker, Any]] = queue.SimpleQueue()
        self._busy: set[_Worker] = set()
        self._ending: list[_Worker] = []
        #: The tasks whose process has died, with its exit code.
        self._dead: dict[Task, int] = {}

    def run(self) -> dict[Task, int]:
        """Run all tasks; return those whose process has died, with its exit code.

        Raises:
            RuntimeError: processes do not start.
            Exception: what a task raised.
        """
        try:
            while self._waiting or self._busy:
                self._start_workers()
                worker, message = self._next_message()
                # One that seemed to be dead may still have sent something.
                if worker in self._busy:
                    self._take(worker, message)
        finally:
            # After an error, a KeyboardInterrupt for example, they do not finish their tasks.
            for worker in self._busy:
                worker.process.kill()
            for worker in (*self._busy, *self._ending):
                worker.wait()
        return self._dead

    def _start_workers(self) -> None:
        while self._waiting and len(self._busy) < self._most:
            try:
                with _interrupts_held_back():
                    worker = _Worker(self._messages)
                    self._busy.add(worker)
            except OSError:
                # Too many processes or open files.
                if not self._busy:
                    raise
                self._most = len(self._busy)
                return
            worker.send(self._threads)
            worker.begin(self._waiting.popleft())

    def _next_message(self) -> tuple[_Worker, Any]:
        """Return the next message, and from whom it is; None if the process has died."""
        while True:
            with suppress(queue.Empty):
                return self._messages.get(timeout=INTERVAL)
            self._tracker.report()
            for worker in self._busy:
                if worker.is_surely_dead():
                    return worker, None

    def _take(self, worker: _Worker, message: Any) -> None:
        if isinstance(message, tuple):
            worker.has_started = True
            self._tracker.update(worker.task.number, *message)
            return
        if isinstance(message, Exception):
            raise message
        if message is None:
            self._busy.remove(worker)
            exit_code = self._dead[worker.task] = worker.wait()
            if exit_code > 0 and not worker.has_started:
                raise RuntimeError("worker processes do not start: see their error output")
            return
        report: ShardReport = message
        self._reports[worker.task.number] = report
        if report.why is None:
            self._tracker.update(worker.task.number, worker.task.input.size, report.rows)
        if self._waiting:
            worker.begin(self._waiting.popleft())
        else:
            self._busy.remove(worker)
            self._ending.append(worker)
            worker.send(None)


class _Worker:
    """A worker process; its messages are put into a queue."""

    task: Task

    def __init__(self, messages: queue.SimpleQueue[tuple[_Worker, Any]]) -> None:
        self.process = subprocess.Popen(  # noqa: S603 - this interpreter
            command_of(f"{__package__}._worker"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._input: Any = self.process.stdin
        self._output: Any = self.process.stdout
        self.has_started = False
        self._checks = 0
        threading.Thread(target=self._receive, args=(messages,), daemon=True).start()

    def _receive(self, messages: queue.SimpleQueue[tuple[_Worker, Any]]) -> None:
        """Put the messages of the process into the queue, and None when it ends."""
        with self._output as stream:
            # Whatever half of a message raises.
            with suppress(Exception):
                while True:
                    messages.put((self, pickle.load(stream)))  # noqa: S301 - our own process
            messages.put((self, None))

    def send(self, message: object) -> None:
        """Send a message; if the process is dead, `_receive` finds out."""
        with suppress(OSError):
            pickle.dump(message, self._input)
            self._input.flush()

    def begin(self, task: Task) -> None:
        """Begin a task."""
        self.task = task
        self.send(task)

    def is_surely_dead(self) -> bool:
        """Return whether the process has ended, and `_receive` had the time to say so.

        It does not find out if the program was forked meanwhile: the other one has the pipe, too.
        """
        if self.process.poll() is not None:
            self._checks += 1
        return self._checks > 1

    def wait(self) -> int:
        """Wait until the process ends; return its exit code."""
        with suppress(OSError):
            self._input.close()
        return self.process.wait()


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Hold Ctrl-C back; processes that start meanwhile never get it: their parent ends them."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
