"""Answers many inputs in parallel worker processes."""

from __future__ import annotations

import atexit
import os
import signal
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor
from concurrent.futures import wait as wait_for
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, Any

from .._imports import leave_out_pandas
from ._shards import ShardReport

if TYPE_CHECKING:
    from collections.abc import Callable
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


_shared: Any = None


def _initialize(shared: Any) -> None:
    """Initialize a worker process: it exits when its parent does."""
    global _shared  # noqa: PLW0603 - set once in each process
    import multiprocessing  # noqa: PLC0415

    _shared = shared
    leave_out_pandas()
    # All answers are sent and all files closed by then; tearing down the interpreter takes 0.1 s.
    atexit.register(os._exit, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:

        def watch() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=watch, daemon=True).start()


def _run_task(task: Task, threads: int) -> ShardReport:
    from ._answering import write_shard  # noqa: PLC0415 - imports Arrow, which takes 0.2 s

    positions, rows = _shared

    def update(number: int, position: int, count: int) -> None:
        positions[number] = position
        rows[number] = count

    return write_shard(task, threads, update)


def run_in_processes(
    tasks: list[Task], jobs: int, reports: list[ShardReport | None], tracker: ProgressTracker
) -> None:
    """Run tasks in processes, and fill in their reports; a killed process fails only its input."""
    import multiprocessing  # noqa: PLC0415

    context = multiprocessing.get_context("spawn")
    shared = [
        context.Array("q", values, lock=False) for values in (tracker.positions, tracker.rows)
    ]
    pending = tasks
    workers = min(jobs, len(tasks))
    while pending:
        try:
            with ProcessPoolExecutor(workers, context, _initialize, (shared,)) as pool:
                threads = max(1, jobs // workers)
                futures = {pool.submit(_run_task, task, threads): task for task in pending}
                try:
                    _collect(futures, reports, shared, tracker)
                except KeyboardInterrupt:
                    # Otherwise the pool waits for all tasks.
                    pool.shutdown(wait=False, cancel_futures=True)
                    for child in multiprocessing.active_children():
                        child.kill()
                    raise
        except BrokenProcessPool:
            pending = [task for task in pending if reports[task.number] is None]
            if workers == 1:
                dead = pending.pop(0)
                why = f"{dead.input.path}: the process that read it was killed"
                reports[dead.number] = ShardReport(dead.input.path, None, why=why)
            # One at a time, to find the input that kills its process.
            workers = 1
        else:
            return


def _collect(
    futures: dict[Future[ShardReport], Task],
    reports: list[ShardReport | None],
    shared: list[Any],
    tracker: ProgressTracker,
) -> None:
    """Fill in the reports of finished tasks, and report progress meanwhile."""
    waiting = set(futures)
    while waiting:
        done, waiting = wait_for(waiting, timeout=_INTERVAL, return_when=FIRST_COMPLETED)
        for future in done:
            reports[futures[future].number] = future.result()
        tracker.positions[:] = list(shared[0])
        tracker.rows[:] = list(shared[1])
        tracker.report()
