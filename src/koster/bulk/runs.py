"""Runs over many inputs: a shard of answers for each, on all cores; interrupted runs resume.

A run is what ``koster bulk classify``, ``decide`` and ``facts`` do. Its answers are a folder of
Parquet files, a shard for each input, which query engines read as one table. A shard is written
under a temporary name and renamed when it is complete: a run that is killed leaves only complete
shards, and the next one resumes with the inputs that have none. The metadata of a shard has its
question, its input and the errors, so there is no other state.

Inputs are read in parallel processes, because reading archives holds the interpreter lock. If there
are fewer inputs than cores, the batches of each are answered in threads, because the kernel
releases it.
"""

from __future__ import annotations

import importlib.util
import os
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from .._version import VERSION
from .._wording import count_noun
from ..errors import UnreadableError, missing
from . import _inputs
from ._batches import NOTES, Columns, Input, WrongColumnsError
from ._downloads import HTTP_RATE
from ._processes import Progress, ProgressTracker, run_in_processes
from ._shards import (
    ForeignFolderError,
    Question,
    ShardReport,
    Task,
    check_folder,
    existing_shard,
    locked,
    question_of,
    read_shards,
    remove_parts,
    shard_name,
)

__all__ = [
    "Columns",
    "ForeignFolderError",
    "Input",
    "Question",
    "Run",
    "ShardReport",
    "WrongColumnsError",
    "find_inputs",
    "question_of",
    "read_list",
    "read_shards",
    "run",
]

for _name in ("pyarrow", "numpy", "fastwarc"):
    # They are imported later: in the worker processes, if there are any.
    if importlib.util.find_spec(_name) is None:
        raise missing("koster.bulk", "bulk")

find_inputs = _inputs.find
read_list = _inputs.read_list


@dataclass(frozen=True, slots=True)
class Run:
    """The result of a run: a report for each input, in order, and the duration in seconds.

    ``others`` is the number of shards in the folder that belong to other inputs.
    """

    shards: tuple[ShardReport, ...]
    seconds: float
    others: int = 0

    @property
    def rows(self) -> int:
        """The number of rows in all shards."""
        return sum(each.rows for each in self.shards)

    @property
    def bad(self) -> int:
        """The number of records that could not be read."""
        return sum(each.bad for each in self.shards)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the archives have besides readable files and errors: how many, and what it means."""
        counts: Counter[str] = Counter()
        for each in self.shards:
            counts.update(each.noted)
        return tuple(
            f"{count_noun(counts[kind], noun)}{meaning}"
            for kind, (noun, meaning) in NOTES.items()
            if counts[kind]
        )

    @property
    def failed(self) -> tuple[ShardReport, ...]:
        """The reports of inputs without a shard."""
        return tuple(each for each in self.shards if each.why is not None)


def run(
    question: Question,
    inputs: Iterable[Input],
    folder: str | os.PathLike[str],
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Run:
    """Answer a question about all inputs that do not have a shard yet.

    Args:
        question: The question.
        inputs: The inputs, from `find_inputs`.
        folder: The folder for the shards; it is created.
        jobs: How many cores to use. Default: all.
        progress: Called repeatedly with the position in bytes and the rows of each input.

    Raises:
        ForeignFolderError: the folder has answers to another question, or other files.
        UnreadableError: the folder cannot be created or written to, or another run uses it.
    """
    start = time.monotonic()
    inputs = list(inputs)
    jobs = jobs or os.cpu_count() or 1
    target = Path(folder)
    if target.is_dir():
        # Before the lock file is created in it.
        check_folder(target, question)
    with locked(target):
        if question.kind == "signals":
            done, others = _run_in_two_passes(question, inputs, target, jobs, progress)
        else:
            done = _run(question, inputs, target, jobs, progress)
            named = {target / shard_name(each) for each in inputs}
            others = len({*target.glob("*.parquet")} - named)
    return Run(done, time.monotonic() - start, others)


def _run(
    question: Question,
    inputs: list[Input],
    target: Path,
    jobs: int,
    progress: Progress | None,
) -> tuple[ShardReport, ...]:
    """Write the shards of inputs that have none yet, in a locked folder."""
    remove_parts(target)
    shards = [target / shard_name(each) for each in inputs]
    reports: list[ShardReport | None] = [
        existing_shard(each, shard) for each, shard in zip(inputs, shards, strict=True)
    ]
    tasks = [
        Task(number, inputs[number], str(shards[number]), question, jobs / HTTP_RATE)
        for number, report in enumerate(reports)
        if report is None
    ]
    tracker = ProgressTracker(inputs, reports, progress)
    _run_tasks(tasks, jobs, reports, tracker)
    remove_parts(target)
    tracker.report()
    return tuple(each for each in reports if each is not None)


#: The folder of what was read of archives, within that of the answers.
_READ = ".read"


def _run_in_two_passes(
    question: Question,
    inputs: list[Input],
    target: Path,
    jobs: int,
    progress: Progress | None,
) -> tuple[tuple[ShardReport, ...], int]:
    """Read pages and the files of sites, and answer by site.

    Return the reports about inputs, then those about the answers, and how many inputs only earlier
    runs have named: what these have read counts, too, as the folder has one set of answers.
    """
    from ._site_order import part_inputs, sort_rows  # noqa: PLC0415 - imports Arrow and DuckDB

    folder = target / _READ
    pages = Question("pages", question.agents)
    archives = [replace(each, kind="pages") for each in inputs]
    read = run(pages, archives, folder, jobs, progress)
    try:
        shards = [each for each in read_shards(folder) if each[1]["version"] == VERSION]
    except UnreadableError:
        return read.shards, 0
    parts = part_inputs(folder, shards)
    names = {shard_name(each) for each in parts}
    for path in target.glob("*.parquet"):
        # Answers without the archives that were read since.
        if path.name not in names:
            path.unlink()
    if not all((target / name).exists() for name in names):
        sort_rows([path for path, _ in shards], parts)
    answered = _run(question, parts, target, jobs, None)
    if all(each.why is None for each in answered):
        Path(parts[0].file).unlink(missing_ok=True)
    return read.shards + answered, read.others


def _run_tasks(
    tasks: list[Task], jobs: int, reports: list[ShardReport | None], tracker: ProgressTracker
) -> None:
    """Write the shards, in processes if there are several, and add their reports."""
    if len(tasks) < 2 or jobs == 1:
        from ._answering import write_shard  # noqa: PLC0415 - not needed in this process otherwise

        for task in tasks:
            reports[task.number] = write_shard(task, jobs, tracker.update)
    else:
        run_in_processes(tasks, jobs, reports, tracker)
