"""Runs over many inputs: a shard of answers for each, on all cores, to be gone on with.

A run is what ``koster bulk classify``, ``decide`` and ``facts`` do. Its answers are a folder of
Parquet files, a shard for each input, which engines read as one table. A shard is written under
another name and gets its own when it is whole: a run that is killed leaves whole shards, and the
next one goes on with the inputs that have none. What a shard answers, of which input, and what
could not be read, stands in the shard itself, so that nothing else has to be kept.

Inputs are worked on side by side in processes of their own, because reading archives holds the
interpreter lock; where there are fewer inputs than cores, the batches of each besides in threads,
because the kernel does not.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from . import _inputs
from ._answering import Task, write_shard
from ._batches import Columns, Input, WrongColumnsError
from ._processes import Watch, run_in_processes
from ._shards import (
    ForeignFolderError,
    Question,
    ShardReport,
    check_folder,
    existing_shard,
    locked,
    read_shards,
    remove_parts,
    shard_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._processes import Progress

__all__ = [
    "Columns",
    "ForeignFolderError",
    "Input",
    "Question",
    "Run",
    "ShardReport",
    "WrongColumnsError",
    "find_inputs",
    "read_shards",
    "run",
]

find_inputs = _inputs.find


@dataclass(frozen=True, slots=True)
class Run:
    """What a run did: a report for each input, in their order, and how long it took, in seconds.

    ``others`` are shards in the folder that are of inputs which were not named this time.
    """

    shards: tuple[ShardReport, ...]
    seconds: float
    others: int = 0

    @property
    def rows(self) -> int:
        """Rows of all shards."""
        return sum(each.rows for each in self.shards)

    @property
    def bad(self) -> int:
        """Records that could not be read."""
        return sum(each.bad for each in self.shards)

    @property
    def failed(self) -> tuple[ShardReport, ...]:
        """The inputs that have no shard."""
        return tuple(each for each in self.shards if each.why is not None)


def run(
    question: Question,
    inputs: Iterable[Input],
    folder: str | os.PathLike[str],
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Run:
    """Ask a question about all inputs, but for those that have a shard already.

    Args:
        question: What is asked.
        inputs: What `find_inputs` gave.
        folder: Where the shards go; it is made.
        jobs: How many cores to use; all, if None.
        progress: Is called now and then.

    Raises:
        ForeignFolderError: the folder has answers to another question, or something else.
        UnreadableError: the folder cannot be made or written to, or another run does so.
    """
    start = time.monotonic()
    inputs = list(inputs)
    jobs = jobs or os.cpu_count() or 1
    target = Path(folder)
    if target.is_dir():
        # Before anything of ours is in it.
        check_folder(target, question)
    with locked(target):
        remove_parts(target)
        shards = [target / shard_name(each) for each in inputs]
        reports: list[ShardReport | None] = [
            existing_shard(each, shard) for each, shard in zip(inputs, shards, strict=True)
        ]
        tasks = [
            Task(number, inputs[number], str(shards[number]), question)
            for number, report in enumerate(reports)
            if report is None
        ]
        watch = Watch(inputs, reports, progress)
        if len(tasks) < 2 or jobs == 1:
            for task in tasks:
                reports[task.number] = write_shard(task, jobs, watch.note)
        else:
            run_in_processes(tasks, jobs, reports, watch)
        remove_parts(target)
        watch.look()
        others = len({*target.glob("*.parquet")} - {*shards})
    done = tuple(each for each in reports if each is not None)
    return Run(done, time.monotonic() - start, others)
