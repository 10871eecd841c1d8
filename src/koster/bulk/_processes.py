"""Works on many inputs side by side, in processes of their own."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor
from concurrent.futures import wait as wait_for
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, Any

from ._answering import write_shard
from ._shards import ShardReport

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from ._answering import Task
    from ._batches import Input

    #: How far each input is read, in bytes, and how many records it gave.
    Progress: TypeAlias = Callable[[list[int], list[int]], None]

#: Seconds between two looks at how far the others are.
_LOOK = 0.1


class Watch:
    """How far all inputs are."""

    def __init__(
        self,
        inputs: list[Input],
        reports: list[ShardReport | None],
        progress: Progress | None,
    ) -> None:
        both = zip(inputs, reports, strict=True)
        self.places = [0 if report is None else each.size for each, report in both]
        self.rows = [0 if report is None else report.rows for report in reports]
        self._progress = progress
        self._last = 0.0

    def note(self, number: int, place: int, rows: int) -> None:
        self.places[number] = place
        self.rows[number] = rows
        if time.monotonic() - self._last > _LOOK:
            self.look()

    def look(self) -> None:
        self._last = time.monotonic()
        if self._progress is not None:
            self._progress(self.places, self.rows)


_shared: Any = None


def _begin(shared: Any) -> None:
    """Begin a process that works: it ends when that does which began it."""
    global _shared  # noqa: PLW0603 - what a process is begun with
    import multiprocessing  # noqa: PLC0415

    _shared = shared
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:

        def watch() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=watch, daemon=True).start()


def _work(task: Task, threads: int) -> ShardReport:
    """Work on an input in a process of its own."""
    places, rows = _shared

    def note(number: int, place: int, count: int) -> None:
        places[number] = place
        rows[number] = count

    return write_shard(task, threads, note)


def run_in_processes(
    tasks: list[Task], jobs: int, reports: list[ShardReport | None], watch: Watch
) -> None:
    """Work on inputs in processes; one that dies costs the input that it was at."""
    import multiprocessing  # noqa: PLC0415

    context = multiprocessing.get_context("spawn")
    shared = [context.Array("q", values, lock=False) for values in (watch.places, watch.rows)]
    left = tasks
    workers = min(jobs, len(tasks))
    while left:
        try:
            with ProcessPoolExecutor(workers, context, _begin, (shared,)) as pool:
                threads = max(1, jobs // workers)
                futures = {pool.submit(_work, task, threads): task for task in left}
                try:
                    _collect(futures, reports, shared, watch)
                except KeyboardInterrupt:
                    # Else the pool would wait until all is done.
                    pool.shutdown(wait=False, cancel_futures=True)
                    for child in multiprocessing.active_children():
                        child.kill()
                    raise
        except BrokenProcessPool:
            left = [task for task in left if reports[task.number] is None]
            if workers == 1:
                dead = left.pop(0)
                why = f"{dead.input.path}: the process that read it was killed"
                reports[dead.number] = ShardReport(dead.input.path, None, why=why)
            # One after the other, to tell which of them it is.
            workers = 1
        else:
            return


def _collect(
    futures: dict[Future[ShardReport], Task],
    reports: list[ShardReport | None],
    shared: list[Any],
    watch: Watch,
) -> None:
    """Take in what is done, and tell how far the rest is."""
    waiting = set(futures)
    while waiting:
        done, waiting = wait_for(waiting, timeout=_LOOK, return_when=FIRST_COMPLETED)
        for future in done:
            reports[futures[future].number] = future.result()
        watch.places[:] = list(shared[0])
        watch.rows[:] = list(shared[1])
        watch.look()
