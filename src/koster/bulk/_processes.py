"""Answers many inputs in parallel worker processes.

Each process has a connection of its own and no lock: one that is killed at any moment stops nobody.
(The pool of the standard library has one lock for all its processes, and waits forever if one was
killed that held it.)
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
import traceback
from collections import deque
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from .._imports import leave_out_pandas
from ._shards import ShardReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnContext
    from typing import TypeAlias

    from ._batches import Input
    from ._shards import Task

    #: Called with how far each input is read, in bytes, and its rows so far.
    Progress: TypeAlias = Callable[[list[int], list[int]], None]

#: Seconds between two reports of the progress.
_INTERVAL = 0.1


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
        if time.monotonic() - self._last > _INTERVAL:
            self.report()

    def report(self) -> None:
        self._last = time.monotonic()
        if self._progress is not None:
            self._progress(self.positions, self.rows)


def run_in_processes(
    tasks: list[Task], jobs: int, reports: list[ShardReport | None], tracker: ProgressTracker
) -> None:
    """Run tasks in processes, and fill in their reports.

    The input of a process that is killed is read again, after the others and alone: they may have
    used the memory. If its process is killed again, it fails.
    """
    killed = _run(tasks, jobs, reports, tracker)
    for task in killed:
        if _run([task], jobs, reports, tracker):
            why = f"{task.input.path}: the process that read it was killed"
            reports[task.number] = ShardReport(task.input.path, None, why=why)


def _run(
    tasks: list[Task], jobs: int, reports: list[ShardReport | None], tracker: ProgressTracker
) -> list[Task]:
    """Run tasks, and fill in their reports; return those whose process was killed."""
    import multiprocessing.connection  # noqa: PLC0415

    context = multiprocessing.get_context("spawn")
    shared = [
        context.Array("q", values, lock=False) for values in (tracker.positions, tracker.rows)
    ]
    count = min(jobs, len(tasks))
    waiting = deque(tasks)
    killed: list[Task] = []
    started: list[_Worker] = []
    busy: dict[Any, _Worker] = {}
    try:
        while waiting or busy:
            while waiting and len(busy) < count:
                worker = _Worker(context, shared, jobs // count)
                started.append(worker)
                busy[worker.connection] = worker
                worker.begin(waiting.popleft())
            for connection in multiprocessing.connection.wait([*busy], _INTERVAL):
                worker = busy[connection]
                report = worker.finish()
                if report is None:
                    killed.append(worker.task)
                else:
                    reports[worker.task.number] = report
                if report is None or not waiting:
                    busy.pop(connection).connection.close()
                else:
                    worker.begin(waiting.popleft())
            tracker.positions[:], tracker.rows[:] = map(list, shared)
            tracker.report()
    finally:
        # After an error, a KeyboardInterrupt for example, they do not finish their tasks.
        for worker in busy.values():
            worker.process.kill()
        for worker in started:
            worker.connection.close()
            worker.process.join()
    return killed


class _Worker:
    """A worker process, which ends when its connection is closed."""

    task: Task

    def __init__(self, context: SpawnContext, shared: list[Any], threads: int) -> None:
        self.connection, other_end = context.Pipe()
        arguments = other_end, shared, threads
        self.process = context.Process(target=_work, args=arguments, daemon=True)
        with _interrupts_held_back():
            self.process.start()
        # The process has it, so that the connection ends with the process.
        other_end.close()

    def begin(self, task: Task) -> None:
        self.task = task
        # If the process is dead, `finish` finds out.
        with suppress(OSError):
            self.connection.send(task)

    def finish(self) -> ShardReport | None:
        """Return the report of the task; None if the process was killed.

        Raises:
            Exception: the task raised it.
        """
        try:
            report = self.connection.recv()
        except (EOFError, OSError):
            return None
        if isinstance(report, Exception):
            raise report
        return report  # type: ignore[no-any-return]


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Hold Ctrl-C back, for ever in processes that start meanwhile: their parent ends them."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(connection: Connection, shared: list[Any], threads: int) -> None:
    """Run tasks in a worker process, until the parent closes the connection or ends."""
    leave_out_pandas()
    # All reports are sent and all files closed by then; tearing down the interpreter takes 0.1 s.
    atexit.register(os._exit, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    from ._answering import write_shard  # noqa: PLC0415 - imports Arrow, which takes 0.2 s

    positions, rows = shared

    def update(number: int, position: int, count: int) -> None:
        positions[number] = position
        rows[number] = count

    with suppress(EOFError):
        while True:
            task = connection.recv()
            try:
                report: ShardReport | Exception = write_shard(task, threads, update)
            except Exception as error:  # noqa: BLE001 - the parent raises it
                error.add_note(traceback.format_exc())
                report = error
            connection.send(report)


def _exit_with_parent() -> None:
    import multiprocessing  # noqa: PLC0415

    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
