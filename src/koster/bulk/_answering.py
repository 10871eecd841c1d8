"""Answers the questions of a run about batches, and writes the shard of an input."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any

from .._charsets import complete_lines
from .._version import VERSION
from ..decisions import Reason
from ..dialects import Decoding, dialect_named
from ..errors import KosterError
from . import _reading, kernel
from ._archived import ARCHIVED, DISTINCT
from ._arrow import pa, pc
from ._batches import BadRecords, Batch, WrongColumnsError
from ._downloads import download, is_url
from ._page_archives import READ, to_table
from ._page_signals import SIGNALS, answer_pages
from ._shards import KEY, Question, ShardReport, Task, identity_of
from ._site_files import ANSWERED_PAGES
from ._writer import Writer
from .kernel import CLASSIFIED, DECIDED, FACTS, storable_text
from .warc import FetchClass

#: The kinds of inputs whose columns are not known.
_TABLES = ("parquet", "json", "csv")

#: Errors of the input or the disk; any other is a bug, and ends the run.
_ERRORS = (OSError, pa.ArrowException, KosterError, MemoryError, ValueError)


def write_shard(task: Task, threads: int, update: Callable[[int, int, int], None]) -> ShardReport:
    """Write the shard of an input, whole or not at all; ``update`` is told the progress."""
    part = os.path.join(
        os.path.dirname(task.shard), f".{os.path.basename(task.shard)}.{os.getpid()}.part"
    )
    downloaded = f"{part.removesuffix('.part')}.download.part"
    bad = BadRecords()
    try:
        if is_url(task.input.path):
            download(task.input.path, downloaded, task.pause)
            local = replace(task.input, local=downloaded, size=os.path.getsize(downloaded))
            task = replace(task, input=local)
        rows = _write(task, part, bad, threads, update)
        os.replace(part, task.shard)
        _make_durable(os.path.dirname(task.shard))
    except _ERRORS as error:
        return ShardReport(task.input.path, None, why=_error_message(task, error))
    finally:
        for path in (part, downloaded):
            with suppress(OSError):
                os.unlink(path)
    listed, noted = tuple(bad.listed), dict(+bad.noted)
    return ShardReport(task.input.path, task.shard, rows, bad.count, listed, noted=noted)


def _error_message(task: Task, error: BaseException) -> str:
    if isinstance(error, KosterError):
        why = str(error)
        return why if why.startswith(task.input.path) else f"{task.input.path}: {why}"
    if isinstance(error, MemoryError):
        return f"{task.input.path}: out of memory"
    why = (isinstance(error, OSError) and error.strerror) or " ".join(str(error).split())[:300]
    return f"{task.shard}: {why}"


def _make_durable(folder: str) -> None:
    """Sync a folder, so that a new name in it survives a power cut, if the system supports it."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _write(
    task: Task,
    part: str,
    bad: BadRecords,
    threads: int,
    update: Callable[[int, int, int], None],
) -> int:
    """Write the answers about an input; return the number of rows."""
    batches = _reading.batches(task.input, task.question.columns, bad)
    source = task.input
    if source.local:
        # As it was before it was downloaded.
        source = replace(source, size=0)
    with open(part, "wb") as file:
        distinct = () if task.input.kind in _TABLES else DISTINCT
        writer = Writer(file, pa.field(*_ANSWERS[task.question.kind]), distinct)
        try:
            for tables, position in _answer_batches(task.question, batches, threads):
                for table in tables:
                    writer.add(table)
                update(task.number, position, writer.rows)
            if not writer.has_begun:
                writer.add(_empty_table(task))
            metadata = {
                "version": VERSION,
                "question": task.question.record(),
                "input": identity_of(source),
                "rows": writer.rows,
                "bad": bad.count,
                "listed": bad.listed,
                "noted": dict(+bad.noted),
            }
            writer.close({KEY: json.dumps(metadata)})
        finally:
            writer.abandon()
        file.flush()
        os.fsync(file.fileno())
    update(task.number, task.input.size, writer.rows)
    return writer.rows


def _empty_table(task: Task) -> Any:
    """Return a table without rows, with the columns that are known without reading."""
    if task.question.kind in _OF_PAGES:
        return pa.schema([*_OF_PAGES[task.question.kind]]).empty_table()
    schema = ARCHIVED if task.input.kind == "warc" else pa.schema([])
    known = _reading.with_origin(schema.empty_table(), task.input)
    return known.schema.append(pa.field(*_ANSWERS[task.question.kind])).empty_table()


def _answer_batches(
    question: Question, batches: Iterator[Batch], threads: int
) -> Iterator[tuple[Iterable[Any], int]]:
    """Yield the tables of each batch in order, and how far the input is read."""
    if threads < 2:
        for batch in batches:
            yield _answer_tables(question, batch), batch.position
        return
    waiting: deque[tuple[Future[Any], int]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for batch in batches:
            waiting.append((pool.submit(_list_answers, question, batch), batch.position))
            if len(waiting) > threads:
                answers, position = waiting.popleft()
                yield answers.result(), position
        while waiting:
            answers, position = waiting.popleft()
            yield answers.result(), position


_ANSWERS = {
    "classify": ("robots", pa.list_(CLASSIFIED)),
    "decide": ("decision", DECIDED),
    "facts": ("facts", FACTS),
    "pages": ("body", pa.binary()),
    "signals": ("signals", SIGNALS["signals"]),
}

#: The columns of answers about pages, in both passes.
_OF_PAGES = {
    "pages": READ,
    "signals": [*ANSWERED_PAGES, *(pa.field(*each) for each in SIGNALS.items())],
}


def _list_answers(question: Question, batch: Batch) -> list[Any]:
    return list(_answer_tables(question, batch))


def _answer_tables(question: Question, batch: Batch) -> Iterator[Any]:
    """Yield tables of the copied columns of a batch and the answers."""
    dialect = dialect_named(question.dialect)
    if question.kind == "pages":
        yield to_table(batch, question.agents)
        return
    if question.kind == "signals":
        yield _signals_table(question, batch, dialect)
        return
    if dialect.decoding is Decoding.NONE:
        batch = replace(batch, bodies=_as_served(batch))
    if question.kind == "classify":
        found = kernel.classify_coded(batch.bodies, question.agents, dialect)
    elif question.kind == "facts":
        found = _facts(batch, dialect)
    else:
        yield from _decision_tables(question, batch, dialect)
        return
    yield _table(batch.passthrough, {_ANSWERS[question.kind][0]: found})


def _signals_table(question: Question, batch: Batch, dialect: Any) -> Any:
    """Return a table with what sites state about the pages of a batch."""
    urls = batch.passthrough.column("url").to_pylist()
    rows = ((url, *each) for url, each in zip(urls, batch.pages or (), strict=True))
    return _table(batch.passthrough, answer_pages(rows, question.agents, dialect))


def _as_served(batch: Batch) -> Any:
    """Return the bodies with those that were decoded as they were served, up to the size limit."""
    if batch.served is batch.bodies:
        return batch.bodies
    found = [
        read if read is None or served.startswith(read) else complete_lines(served)
        for read, served in zip(batch.bodies.to_pylist(), batch.served.to_pylist(), strict=True)
    ]
    return pa.array(found, pa.large_binary())


def _facts(batch: Batch, dialect: Any) -> Any:
    """Return facts about bodies as crawlers read them; size and findings are of those served."""
    found = kernel.facts(batch.bodies, dialect)
    if batch.sizes is not None:
        return _with_fields(found, {"bytes": batch.sizes})
    if batch.served is batch.bodies:
        return found
    served = kernel.facts(batch.served, dialect)
    return _with_fields(found, {name: served.field(name) for name in ("bytes", "findings")})


def _with_fields(found: Any, others: dict[str, Any]) -> Any:
    """Return facts with some fields replaced."""
    return pa.StructArray.from_arrays(
        [others.get(field.name, found.field(field.name)) for field in FACTS],
        fields=list(FACTS),
        mask=found.is_null(),
    )


def _table(passthrough: Any, more: dict[str, Any]) -> Any:
    """Return a table with more columns.

    Raises:
        WrongColumnsError: the name of one is taken.
    """
    # SQL ignores case.
    taken = [name for name in passthrough.schema.names if name.lower() in more]
    if taken:
        raise WrongColumnsError(f"the input already has a column {taken[0]!r}; rename it")
    return pa.table({
        **{name: passthrough.column(name) for name in passthrough.schema.names}, **more
    })  # fmt: skip


def _decision_tables(question: Question, batch: Batch, dialect: Any) -> Iterator[Any]:
    """Yield a table with a row for each record, for every URL and agent of the question."""
    for url in question.urls or (None,):
        for agent in question.agents or (None,):
            urls = batch.urls if url is None else url
            agents = batch.agents if agent is None else agent
            found = kernel.decide(batch.bodies, urls, agents, dialect)
            if batch.classes is not None:
                found = _with_classes(found, batch.classes)
            more: dict[str, Any] = {}
            if url is not None:
                more["asked_url"] = pa.repeat(storable_text(url), len(batch.passthrough))
            if agent is not None:
                more["asked_agent"] = pa.repeat(storable_text(agent), len(batch.passthrough))
            yield _table(batch.passthrough, more | {"decision": found})


#: Decisions without a file (RFC 9309 §2.3.1.3 and §2.3.1.4).
_WITHOUT_FILE = {
    FetchClass.UNAVAILABLE: (True, Reason.UNAVAILABLE),
    FetchClass.UNREACHABLE: (False, Reason.UNREACHABLE),
}


def _with_classes(decided: Any, classes: Any) -> Any:
    """Return decisions with those that follow from the fetch class; redirects have none."""
    for fetch_class, (allowed, reason) in _WITHOUT_FILE.items():
        matches = pc.equal(classes, fetch_class.value)
        answer = {"allowed": allowed, "reason": reason.value, "line": None, "pattern": None}
        decided = pc.if_else(matches, pa.scalar(answer, DECIDED), decided)
    return decided
