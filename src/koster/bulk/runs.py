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

import hashlib
import json
import os
import re
import signal
import threading
import time
from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from .._version import VERSION
from ..dialects import dialect_named
from ..errors import KosterError, UnreadableError
from ..model import Reason
from . import _inputs, kernel
from ._arrow import pa, pc
from ._inputs import Batch, Columns, Input, Trouble, WrongColumnsError
from .kernel import CLASSIFIED, DECIDED, FACTS, told
from .warc import FetchClass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    #: How far each input is read, in bytes, and how many records it gave.
    Progress: TypeAlias = Callable[[list[int], list[int]], None]

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

#: Under which key a shard says what it is.
_KEY = b"koster.bulk"

#: Rows, and bytes of answers, that are written together.
_GROUP_ROWS = 16_384
_GROUP_BYTES = 16 * 1024 * 1024

#: Seconds between two looks at how far the others are.
_LOOK = 0.1


class ForeignFolderError(KosterError, ValueError):
    """The folder for the answers has something else in it."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked about every robots.txt.

    Attributes:
        kind: ``classify``, ``decide`` or ``facts``.
        agents: Who asks; of ``decide``, if there are any, in place of the column of agents.
        urls: Of ``decide``: URLs, or paths, that are asked of every site, in place of the column.
        dialect: The name of one of `koster.DIALECTS`.
        columns: What the columns of tables are called.
    """

    kind: str
    agents: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    dialect: str = "RFC9309"
    columns: Columns = field(default_factory=Columns)

    def told(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return json.loads(json.dumps(asdict(self)))  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class ShardReport:
    """What became of an input.

    ``why`` says why there is no shard of it; ``bad`` counts what could not be read of it, and
    ``listed`` has the first of that. ``is_new``: the shard was not there before.
    """

    input: str
    shard: str | None
    rows: int = 0
    bad: int = 0
    listed: tuple[str, ...] = ()
    why: str | None = None
    is_new: bool = True


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
        _check_folder(target, question)
    with _held(target):
        _tidy(target)
        shards = [target / _shard_name(each) for each in inputs]
        reports: list[ShardReport | None] = [
            _kept(each, shard) for each, shard in zip(inputs, shards, strict=True)
        ]
        tasks = [
            _Task(number, inputs[number], str(shards[number]), question)
            for number, report in enumerate(reports)
            if report is None
        ]
        watch = _Watch(inputs, reports, progress)
        if len(tasks) < 2 or jobs == 1:
            for task in tasks:
                reports[task.number] = _answered(task, jobs, watch.note)
        else:
            _side_by_side(tasks, jobs, reports, watch)
        _tidy(target)
        watch.look()
        others = len({*target.glob("*.parquet")} - {*shards})
    done = tuple(each for each in reports if each is not None)
    return Run(done, time.monotonic() - start, others)


@dataclass(frozen=True, slots=True)
class _Task:
    number: int
    input: Input
    shard: str
    question: Question


class _Watch:
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


# Shards.


def _shard_name(given: Input) -> str:
    """Return the name of an input's shard: that of the input, and what tells it from its likes."""
    path = os.path.realpath(given.path)
    stem = re.sub(r"[^A-Za-z0-9.-]+", "_", os.path.basename(path)).strip("._")[:80]
    return f"{stem or 'input'}-{hashlib.sha256(os.fsencode(path)).hexdigest()[:10]}.parquet"


def _told(path: Path) -> dict[str, Any] | None:
    """Return what a shard says of itself; None if it is none."""
    try:
        with path.open("rb") as file:
            said = pq.read_metadata(file).metadata or {}
        found = json.loads(said[_KEY])
    except (OSError, pa.ArrowException, KeyError, ValueError):
        return None
    keys = {"version", "question", "input", "rows", "bad", "listed"}
    return found if isinstance(found, dict) and keys <= found.keys() else None


#: What a shard is called until it is whole.
_PART = re.compile(r"\..+-[0-9a-f]{10}\.parquet\.\d+\.part")


def _tidy(folder: Path) -> None:
    """Remove what processes left that were killed."""
    for path in folder.glob(".*.part"):
        if _PART.fullmatch(path.name):
            path.unlink(missing_ok=True)


def _check_folder(folder: Path, question: Question) -> None:
    """Look whether a folder has nothing but shards of a question.

    Raises:
        ForeignFolderError: it has others.
    """
    wanted = question.told()
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        said = _told(path) if path.suffix == ".parquet" else None
        if said is None:
            raise ForeignFolderError(f"{folder}: has {path.name}, which is no shard; name another")
        if said["question"] != wanted:
            raise ForeignFolderError(
                f"{folder}: has answers to another question ({path.name}); name another folder, "
                "or remove this one"
            )


def _kept(given: Input, shard: Path) -> ShardReport | None:
    """Return the report of a shard that is there, None if there is none for the input as it is."""
    if not shard.exists():
        return None
    said = _told(shard)
    if said is None or said["input"] != _identity(given) or said["version"] != VERSION:
        return None
    return ShardReport(
        given.path, str(shard), said["rows"], said["bad"], tuple(said["listed"]), is_new=False
    )


def _identity(given: Input) -> dict[str, Any]:
    return {"path": os.path.realpath(given.path), "size": given.size, "modified": given.modified}


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Keep a folder from other runs.

    Raises:
        UnreadableError: it cannot be written to, or another run has it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / _inputs.MARKER, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise UnreadableError(f"{folder}: {error.strerror}") from error
    try:
        _lock(handle, folder)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, folder: Path) -> None:
    """Lock a file until it is closed, or the process ends.

    Raises:
        UnreadableError: another process has locked it.
    """
    try:
        import fcntl  # noqa: PLC0415 - there is none on Windows
    except ImportError:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise UnreadableError(f"{folder}: another run is writing there") from error


def read_shards(folder: str | os.PathLike[str]) -> list[tuple[str, dict[str, Any]]]:
    """Return the shards of a folder, with what each says of itself.

    Raises:
        UnreadableError: there is no such folder, or it has none.
    """
    target = Path(folder)
    if target.is_file():
        paths = [target]
    elif target.is_dir():
        paths = sorted(path for path in target.glob("*.parquet") if path.name[0] != ".")
    else:
        raise UnreadableError(f"{folder}: No such file or directory")
    found = [(str(path), said) for path in paths if (said := _told(path)) is not None]
    if not found:
        raise UnreadableError(f"{folder}: has no shards of koster bulk")
    return found


# One input.

#: What may be wrong with an input or the disk; anything else is a mistake of ours, and ends a run.
_TROUBLES = (OSError, pa.ArrowException, KosterError, MemoryError, ValueError)


def _answered(task: _Task, threads: int, note: Callable[[int, int, int], None]) -> ShardReport:
    """Write the shard of an input, whole or not at all."""
    part = os.path.join(
        os.path.dirname(task.shard), f".{os.path.basename(task.shard)}.{os.getpid()}.part"
    )
    trouble = Trouble()
    try:
        rows = _write(task, part, trouble, threads, note)
        os.replace(part, task.shard)
        _make_durable(os.path.dirname(task.shard))
    except _TROUBLES as error:
        return ShardReport(task.input.path, None, why=_why(task, error))
    finally:
        with suppress(OSError):
            os.unlink(part)
    return ShardReport(task.input.path, task.shard, rows, trouble.count, tuple(trouble.listed))


def _why(task: _Task, error: BaseException) -> str:
    """Return in a sentence why an input has no shard."""
    if isinstance(error, KosterError):
        said = str(error)
        return said if said.startswith(task.input.path) else f"{task.input.path}: {said}"
    if isinstance(error, MemoryError):
        return f"{task.input.path}: there is not enough memory"
    why = (isinstance(error, OSError) and error.strerror) or " ".join(str(error).split())[:300]
    return f"{task.shard}: {why}"


def _make_durable(folder: str) -> None:
    """See to it that a new name in a folder is there after a power cut, where that can be done."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _write(
    task: _Task,
    part: str,
    trouble: Trouble,
    threads: int,
    note: Callable[[int, int, int], None],
) -> int:
    """Write the answers about an input; return how many rows they are."""
    batches = _inputs.batches(task.input, task.question.columns, trouble)
    with open(part, "wb") as file:
        writer = _Writer(file)
        try:
            for tables, place in _in_threads(task.question, batches, threads):
                for table in tables:
                    writer.add(table)
                note(task.number, place, writer.rows)
            if not writer.has_begun:
                writer.add(_no_answers(task))
            said = {
                "version": VERSION,
                "question": task.question.told(),
                "input": _identity(task.input),
                "rows": writer.rows,
                "bad": trouble.count,
                "listed": trouble.listed,
            }
            writer.close({_KEY: json.dumps(said)})
        finally:
            writer.abandon()
        file.flush()
        os.fsync(file.fileno())
    note(task.number, task.input.size, writer.rows)
    return writer.rows


def _no_answers(task: _Task) -> Any:
    """Return a table without rows: what is known of its columns."""
    kept = _inputs.ARCHIVED if task.input.kind == "warc" else pa.schema([])
    return kept.append(pa.field(*_ANSWERS[task.question.kind])).empty_table()


class _Writer:
    """Writes tables into a Parquet file, many rows at a time: the same rows, the same file."""

    def __init__(self, file: Any) -> None:
        self.rows = 0
        self._file = file
        self._held: list[Any] = []
        self._held_rows = 0
        self._held_bytes = 0
        self._writer: Any = None

    @property
    def has_begun(self) -> bool:
        """Whether it knows the columns."""
        return self._writer is not None

    def add(self, table: Any) -> None:
        self.rows += table.num_rows
        self._held.append(table)
        self._held_rows += table.num_rows
        self._held_bytes += table.nbytes
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._file, table.schema, compression="zstd")
        if self._held_rows >= _GROUP_ROWS or self._held_bytes >= _GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._held:
            self._writer.write_table(pa.concat_tables(self._held), row_group_size=_GROUP_ROWS)
        self._held, self._held_rows, self._held_bytes = [], 0, 0

    def close(self, said: dict[bytes, str]) -> None:
        self._flush()
        self._writer.add_key_value_metadata(said)
        self._writer.close()

    def abandon(self) -> None:
        """Let go of a file that is no longer wanted; nothing happens after `close`."""
        if self._writer is not None and self._writer.is_open:
            with suppress(OSError, ValueError, pa.ArrowException):
                self._writer.close()


def _in_threads(
    question: Question, batches: Iterator[Batch], threads: int
) -> Iterator[tuple[Iterable[Any], int]]:
    """Answer batches, in their order."""
    if threads < 2:
        for batch in batches:
            yield _answers(question, batch), batch.place
        return
    waiting: deque[tuple[Future[Any], int]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for batch in batches:
            waiting.append((pool.submit(_all_answers, question, batch), batch.place))
            if len(waiting) > threads:
                answers, place = waiting.popleft()
                yield answers.result(), place
        while waiting:
            answers, place = waiting.popleft()
            yield answers.result(), place


# Answers.

_ANSWERS = {
    "classify": ("robots", pa.list_(CLASSIFIED)),
    "decide": ("decision", DECIDED),
    "facts": ("facts", FACTS),
}


def _all_answers(question: Question, batch: Batch) -> list[Any]:
    return list(_answers(question, batch))


def _answers(question: Question, batch: Batch) -> Iterator[Any]:
    """Go through tables of what stays of the records of a batch, and the answers about them."""
    dialect = dialect_named(question.dialect)
    if question.kind == "classify":
        found = kernel.classify(batch.bodies, question.agents, dialect)
    elif question.kind == "facts":
        found = _facts(batch, dialect)
    else:
        yield from _decided(question, batch, dialect)
        return
    yield _table(batch.kept, {_ANSWERS[question.kind][0]: found})


def _facts(batch: Batch, dialect: Any) -> Any:
    """Return what stands in files as crawlers read them, and what is odd about how they came."""
    found = kernel.facts(batch.bodies, dialect)
    if batch.sizes is not None:
        return _with_fields(found, {"bytes": batch.sizes})
    if batch.served is batch.bodies or batch.served.equals(batch.bodies):
        return found
    served = kernel.facts(batch.served, dialect)
    return _with_fields(found, {name: served.field(name) for name in ("bytes", "findings")})


def _with_fields(found: Any, others: dict[str, Any]) -> Any:
    """Return facts with other values of some fields."""
    return pa.StructArray.from_arrays(
        [others.get(field.name, found.field(field.name)) for field in FACTS],
        fields=list(FACTS),
        mask=found.is_null(),
    )


def _table(kept: Any, more: dict[str, Any]) -> Any:
    """Return a table with columns more.

    Raises:
        WrongColumnsError: there is one of that name.
    """
    taken = [name for name in more if name in kept.schema.names]
    if taken:
        raise WrongColumnsError(f"there is a column {taken[0]!r} already; rename it")
    return pa.table({
        **{name: kept.column(name) for name in kept.schema.names}, **more
    })  # fmt: skip


def _decided(question: Question, batch: Batch, dialect: Any) -> Iterator[Any]:
    """Decide about every URL and agent that is asked of a record; a row for each."""
    for url in question.urls or (None,):
        for agent in question.agents or (None,):
            urls = batch.urls if url is None else url
            agents = batch.agents if agent is None else agent
            found = kernel.decide(batch.bodies, urls, agents, dialect)
            if batch.classes is not None:
                found = _by_class(found, batch.classes)
            more: dict[str, Any] = {}
            if url is not None:
                more["asked_url"] = pa.repeat(told(url), len(batch.kept))
            if agent is not None:
                more["asked_agent"] = pa.repeat(told(agent), len(batch.kept))
            yield _table(batch.kept, more | {"decision": found})


#: What holds where there is no file to go by (RFC 9309 §2.3.1.3 and §2.3.1.4).
_WITHOUT_FILE = {
    FetchClass.UNAVAILABLE: (True, Reason.UNAVAILABLE),
    FetchClass.UNREACHABLE: (False, Reason.UNREACHABLE),
}


def _by_class(decided: Any, classes: Any) -> Any:
    """Return decisions with those that follow from what a fetch gave; redirects have none."""
    for fetch_class, (allowed, reason) in _WITHOUT_FILE.items():
        is_so = pc.equal(classes, fetch_class.value)
        answer = {"allowed": allowed, "reason": reason.value, "line": None, "pattern": None}
        decided = pc.if_else(is_so, pa.scalar(answer, DECIDED), decided)
    return decided


# Many inputs side by side.

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


def _work(task: _Task, threads: int) -> ShardReport:
    """Work on an input in a process of its own."""
    places, rows = _shared

    def note(number: int, place: int, count: int) -> None:
        places[number] = place
        rows[number] = count

    return _answered(task, threads, note)


def _side_by_side(
    tasks: list[_Task], jobs: int, reports: list[ShardReport | None], watch: _Watch
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
    futures: dict[Future[ShardReport], _Task],
    reports: list[ShardReport | None],
    shared: list[Any],
    watch: _Watch,
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
