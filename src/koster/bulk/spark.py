"""Answers about robots.txt files in Spark: a new column, computed in Arrow batches.

    from koster.bulk import spark as robots

    frame = robots.archives(paths)                            # WARC files, by a column "path"
    classified = robots.classify(frame, ["GPTBot", "CCBot"])  # column "robots"
    decided = robots.decide(frame, agent="GPTBot")            # column "decision"
    facts = robots.facts(frame)                               # column "facts"
    signals = robots.signals(frame)                           # column "signals"
    judged = robots.judge(requests, versions)                 # columns "verdict", "rule" …

The workers need koster with its extra ``bulk``, as the driver does; `PYSPARK_PYTHON` names their
Python. Types and answers are those of `koster.bulk`.
"""

from __future__ import annotations

import re
import tempfile
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any, BinaryIO

from ..dialects import RFC9309, dialect_named
from ..errors import KosterError, missing
from . import judging, kernel
from ._archived import FETCHED
from ._archives import batches_of
from ._arrow import pa
from ._batches import BadRecords
from ._downloads import DownloadError, copy, download, is_url, kind_of
from ._signal_columns import SIGNAL
from ._signal_columns import signals as signal_columns
from .kernel import CLASSIFIED, DECIDED, FACTS

try:
    from pyspark import TaskContext
    from pyspark.sql import functions as sql
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import BinaryType, StringType, StructField, StructType
except ImportError as error:
    raise missing("koster.bulk.spark", "spark") from error

from collections.abc import Callable, Iterable, Iterator

from ..dialects import Dialect

__all__ = [
    "CLASSIFIED",
    "DECIDED",
    "FACTS",
    "SIGNAL",
    "archives",
    "classify",
    "decide",
    "facts",
    "judge",
    "signals",
]


#: What ``error_kind`` is, besides the kinds of `DownloadError`.
_RECORD, _ARCHIVE = "record", "archive"


def classify(
    frame: Any,
    agents: Iterable[str],
    dialect: Dialect = RFC9309,
    *,
    body: str = "body",
    result: str = "robots",
) -> Any:
    """Return a data frame with how much of each site is disallowed for each agent.

    Args:
        frame: A Spark data frame.
        agents: Product tokens or User-Agent headers.
        dialect: One of `koster.DIALECTS`.
        body: The column of robots.txt files, string or binary.
        result: The name of the new column.

    Raises:
        TypeError: a column is missing, or has the wrong type.
    """
    answer = partial(_classify, kernel.check_agents(agents), dialect.name)
    return _with_column(frame, (body,), answer, result, pa.list_(CLASSIFIED))


def decide(
    frame: Any,
    dialect: Dialect = RFC9309,
    *,
    body: str = "body",
    url: str = "url",
    agent: str | None = None,
    agent_column: str = "agent",
    result: str = "decision",
) -> Any:
    """Return a data frame with whether an agent may fetch the URL of each row.

    ``agent`` applies to all rows. Default: the column ``agent_column``. For the other arguments see
    `classify`.
    """
    columns = (body, url) if agent is not None else (body, url, agent_column)
    return _with_column(frame, columns, partial(_decide, agent, dialect.name), result, DECIDED)


def facts(
    frame: Any, dialect: Dialect = RFC9309, *, body: str = "body", result: str = "facts"
) -> Any:
    """Return a data frame with facts about each file; see `classify`."""
    return _with_column(frame, (body,), partial(_facts, dialect.name), result, FACTS)


def signals(
    frame: Any,
    dialect: Dialect = RFC9309,
    *,
    body: str = "body",
    url: str = "url",
    headers: str | None = None,
    html: str | None = None,
    fetched: str | None = None,
    result: str = "signals",
) -> Any:
    """Return a data frame with what sites state about the use of pages.

    Args:
        frame: A Spark data frame.
        dialect: One of `koster.DIALECTS`.
        body: The column of robots.txt files, string or binary.
        url: The column of the URLs of pages.
        headers: The column of headers of the responses; see `koster.bulk.signals`.
        html: The column of pages, string or binary.
        fetched: The column of when pages were fetched.
        result: The name of the new column.

    Raises:
        TypeError: a column is missing, or has the wrong type.
    """
    given = {"headers": headers, "html": html, "fetched": fetched}
    others = {role: name for role, name in given.items() if name is not None}
    _check_columns(frame, others.values())
    if html is not None:
        _check_column(frame, html)
    answer = partial(_signals, tuple(others), dialect.name)
    return _with_column(
        frame, (body, url), answer, result, pa.list_(SIGNAL), tuple(others.values())
    )


def archives(
    frame: Any, *, path: str = "path", opened: Callable[[str, str], BinaryIO] | None = None
) -> Any:
    """Return a data frame with the fetches in WARC files: the columns of ``koster bulk``, and more.

    ``body`` is as crawlers read it, null if there is no file. ``error`` and ``error_kind`` are set
    in rows for what could not be read, which have only ``archive`` besides. The kind is ``record``
    for a part of an archive, ``archive`` for a file that is no archive, and for one that cannot be
    opened ``missing``, ``refused``, ``busy``, ``timeout`` or ``network``. For the last three the
    task fails, so that Spark tries it again; in its last try it returns the row.

    Args:
        frame: A data frame with a row for each archive; best with about as many partitions as
            there are cores times three.
        path: The column of their paths, or of URLs that fsspec downloads.
        opened: The function that opens a path with the mode ``"rb"`` on the workers. Default: files
            and URLs, with several tries for a server that is busy.

    Raises:
        TypeError: the column is missing, or has the wrong type.
    """
    _check_column(frame, path)
    schema = StructType([
        StructField(field.name, from_arrow_type(field.type)) for field in FETCHED
    ])  # fmt: skip
    tries = _tries(frame.sparkSession)
    return frame.select(path).mapInArrow(partial(_read_archives, opened, tries), schema)


def _tries(session: Any) -> int:
    """Return how often Spark tries a task."""
    master = session.conf.get("spark.master", "")
    if found := re.fullmatch(r"local(?:\[[^,\]]*(?:,\s*([0-9]+))?\])?", master):
        return int(found[1] or 1)
    return int(session.conf.get("spark.task.maxFailures", "4"))


#: From the requests with their keys to the pairs of requests and versions.
_PAIRS = """
WITH given AS (SELECT * FROM {given}),
limits AS (SELECT CAST({grace} AS BIGINT) AS grace_us),
numbered AS (SELECT * FROM {numbered}),
@ASKED@,
@HELD@,
@PAIRS@
SELECT * FROM paired
"""

_VERDICTS = """
WITH answered AS (SELECT * FROM {answered}),
@VERDICTS@
SELECT verdicts.*, labels.label AS version
FROM verdicts LEFT JOIN {labels} AS labels ON labels.number = verdicts.number
"""

#: The columns that tell requests apart; equal ones are judged alike.
_KEY = ("t", "crawler", "url", "status", "client", "host", "method")


def judge(
    requests: Any,
    versions: Any,
    grace: timedelta = judging.GRACE,
    dialect: Dialect = RFC9309,
) -> Any:
    """Return requests with whether they obeyed the versions that their crawlers may have held.

    Five columns are added: ``verdict``, ``disallowed``, ``version``, ``line`` and ``rule``.

    Args:
        requests: A data frame with the columns ``time``, ``crawler``, ``url`` and ``status``, and
            perhaps ``client``, ``host`` and ``method``: see `koster.bulk.judging`.
        versions: A data frame with the columns ``since`` and ``body``, and perhaps ``label``.
        grace: How long a copy of robots.txt may be used; longer by crawlers whose operators say so.
        dialect: One of `koster.DIALECTS`.

    Raises:
        TypeError: a column is missing.
        ValueError: there is no version.
    """
    _check_columns(requests, ("time", "crawler", "url", "status"))
    _check_columns(versions, ("since", "body"))
    session = requests.sparkSession
    rows = _ordered(versions)
    numbered = session.createDataFrame(
        [(number, since, until, label) for number, since, until, _, label in rows],
        "number BIGINT, since_us BIGINT, until_us BIGINT, label STRING",
    )
    paired = session.sql(_in_spark(_PAIRS), given=_with_keys(requests).distinct(),
                         numbered=sql.broadcast(numbered.drop("label")),
                         grace=grace // timedelta(microseconds=1))  # fmt: skip
    answer = partial(_answer, dialect.name, [each[3] for each in rows])
    schema = StructType([
        *(field for field in paired.schema.fields if field.name != "url"),
        *(StructField(field.name, from_arrow_type(field.type)) for field in judging.ANSWERED),
    ])  # fmt: skip
    answered = paired.mapInArrow(answer, schema)
    verdicts = session.sql(_in_spark(_VERDICTS), answered=answered, labels=sql.broadcast(numbered))
    keyed = requests.withColumn("row_id", _row_id(requests))
    found = keyed.join(verdicts.select("row_id", *_ADDED), "row_id")
    return found.select(*requests.columns, *_ADDED)


_ADDED = ("verdict", "disallowed", "version", "line", "rule")


def _in_spark(text: str) -> str:
    """Return a query with the parts of ``judge.sql``, as Spark writes them."""
    return judging.with_queries(text).replace(" IGNORE NULLS)", ") IGNORE NULLS")


def _check_columns(frame: Any, names: Iterable[str]) -> None:
    for name in names:
        if name not in frame.columns:
            raise TypeError(f"no column {name!r} (columns: {', '.join(frame.columns)})")


def _ordered(versions: Any) -> list[tuple[int, int, int | None, bytes, str]]:
    """Return the versions in order: number, since, until, body and label.

    Raises:
        ValueError: no version of the robots.txt is given.
    """
    moment = sql.coalesce(sql.unix_micros("since"), sql.lit(judging.BEGINNING))
    label = sql.col("label") if "label" in versions.columns else sql.lit(None).cast("string")
    body = sql.coalesce(sql.col("body").cast("binary"), sql.lit(b""))
    found = versions.select(moment, body, label).collect()
    if not found:
        raise ValueError("judge needs at least one version of the robots.txt")
    found.sort(key=lambda row: row[0])
    until = [row[0] for row in found[1:]] + [None]
    return [
        (number, row[0], end, bytes(row[1]), str(number) if row[2] is None else row[2])
        for number, (row, end) in enumerate(zip(found, until, strict=True), 1)
    ]


def _keys(requests: Any) -> dict[str, Any]:
    """Return what requests are judged by: expressions by the names in `_KEY`."""
    has = {name: sql.col(name).cast("string") for name in requests.columns}
    nothing = sql.lit(None).cast("string")
    found = {name: has.get(name, nothing) for name in _KEY}
    return found | {
        "t": sql.unix_micros(sql.col("time").cast("timestamp")),
        "status": sql.col("status").cast("int"),
    }


def _row_id(requests: Any) -> Any:
    """Return an expression for the number of a request; equal ones have the same."""
    keys = sql.struct(*(key.alias(name) for name, key in _keys(requests).items()))
    return sql.md5(sql.to_json(keys).cast("binary"))


def _with_keys(requests: Any) -> Any:
    """Return what requests are judged by, with their numbers."""
    keys = [key.alias(name) for name, key in _keys(requests).items()]
    return requests.select(_row_id(requests).alias("row_id"), *keys)


# These run on the workers; dialects are passed by name.


def _read_archives(
    opened: Callable[[str, str], BinaryIO] | None, tries: int, batches: Iterator[Any]
) -> Iterator[Any]:
    """Read the archives in the path column of batches."""
    context = TaskContext.get()
    is_last = context is None or context.attemptNumber() + 1 >= tries
    for batch in batches:
        for path in batch.column(0).to_pylist():
            if path is not None:
                yield from _read_archive(opened, path, is_last=is_last)


def _read_archive(
    opened: Callable[[str, str], BinaryIO] | None, path: str, *, is_last: bool
) -> Iterator[Any]:
    """Read an archive; errors have their own rows.

    Raises:
        DownloadError: it may succeed in another try.
    """
    name = path.rpartition("/")[2]
    bad = BadRecords()
    failure: tuple[str, str] | None = None
    try:
        with _whole(opened, path) as file:
            for batch in batches_of(file, path, name, bad):
                columns = [*batch.passthrough.columns, batch.bodies.to_arrow().cast(pa.binary())]
                nothing = pa.nulls(len(batch.passthrough), pa.string())
                yield pa.RecordBatch.from_arrays([*columns, nothing, nothing], schema=FETCHED)
    except DownloadError as error:
        if error.is_temporary and not is_last:
            raise
        failure = str(error), error.kind
    except KosterError as error:
        failure = str(error), _ARCHIVE
    except OSError as error:
        failure = str(error), kind_of(error)
    more = bad.count - len(bad.listed)
    errors = [(each, _RECORD) for each in (*bad.listed, *([f"{more:,} more"] if more else []))]
    if failure is not None:
        errors.append(failure)
    if errors:
        yield _error_rows(name, errors)


@contextmanager
def _whole(opened: Callable[[str, str], BinaryIO] | None, path: str) -> Iterator[Any]:
    """Open an archive; what is not a file is downloaded before.

    Raises:
        DownloadError: the download failed.
    """
    if opened is None and not is_url(path):
        with open(path, "rb") as file:
            yield file
        return
    with tempfile.NamedTemporaryFile(prefix="koster-") as local:
        if opened is None:
            download(path, local.name)
        else:
            copy(opened, path, local)
        with open(local.name, "rb") as file:
            yield file


def _error_rows(name: str, errors: list[tuple[str, str]]) -> Any:
    """Return rows for what could not be read of an archive: each error, and its kind."""
    columns = {field.name: pa.nulls(len(errors), field.type) for field in FETCHED}
    columns["archive"] = pa.array([name] * len(errors), pa.string())
    columns["error"] = pa.array([text for text, _ in errors], pa.string())
    columns["error_kind"] = pa.array([kind for _, kind in errors], pa.string())
    return pa.RecordBatch.from_arrays(list(columns.values()), schema=FETCHED)


def _classify(agents: tuple[str, ...], dialect: str, bodies: Any) -> Any:
    return kernel.classify(bodies, agents, dialect_named(dialect))


def _decide(agent: str | None, dialect: str, bodies: Any, urls: Any, *agents: Any) -> Any:
    agent_or_column = agents[0] if agent is None else agent
    return kernel.decide(bodies, urls, agent_or_column, dialect_named(dialect))


def _facts(dialect: str, bodies: Any) -> Any:
    return kernel.facts(bodies, dialect_named(dialect))


def _signals(roles: tuple[str, ...], dialect: str, bodies: Any, urls: Any, *columns: Any) -> Any:
    others = dict(zip(roles, columns, strict=True))
    return signal_columns(bodies, urls, dialect=dialect_named(dialect), **others)


def _answer(dialect: str, bodies: list[bytes], batches: Iterator[Any]) -> Iterator[Any]:
    """Answer pairs of requests and versions."""
    files = pa.array(bodies, pa.large_binary())
    for batch in batches:
        numbers = batch.column("number")
        places = pa.array(
            [None if each is None else each - 1 for each in numbers.to_pylist()], pa.int32()
        )
        # Nulls are of requests that no version is asked about.
        encoded = pa.DictionaryArray.from_arrays(places, files)
        found = judging.answers(
            encoded, batch.column("url"), batch.column("crawler"), dialect_named(dialect)
        )
        kept = [name for name in batch.schema.names if name != "url"]
        yield pa.RecordBatch.from_arrays(
            [*(batch.column(name) for name in kept), *found.flatten()],
            names=[*kept, *(field.name for field in judging.ANSWERED)],
        )


def _add_answers(
    columns: tuple[str, ...], answer: Callable[..., Any], result: str, batches: Iterator[Any]
) -> Iterator[Any]:
    """Add the answers to each batch."""
    for batch in batches:
        found = answer(*(batch.column(name) for name in columns))
        yield pa.RecordBatch.from_arrays(
            [*batch.columns, found], names=[*batch.schema.names, result]
        )


def _check_column(frame: Any, name: str) -> None:
    """Check that a column exists and has text or bytes.

    Raises:
        TypeError: it is missing, or has another type.
    """
    if name not in frame.columns:
        raise TypeError(f"no column {name!r} (columns: {', '.join(frame.columns)})")
    if not isinstance(frame.schema[name].dataType, (StringType, BinaryType)):
        kind = frame.schema[name].dataType.simpleString()
        raise TypeError(f"{name} must be a column of text or bytes, not of {kind}")


def _with_column(
    frame: Any,
    columns: tuple[str, ...],
    answer: Callable[..., Any],
    result: str,
    type_: Any,
    others: tuple[str, ...] = (),
) -> Any:
    """Return a data frame with one more column; ``others`` are columns of any types.

    Raises:
        TypeError: a column is missing or has the wrong type, or the name of the result is taken.
    """
    for name in columns:
        _check_column(frame, name)
    if result in frame.columns:
        raise TypeError(f"the data frame already has a column {result!r}; choose another result")
    schema = StructType([*frame.schema.fields, StructField(result, from_arrow_type(type_))])
    return frame.mapInArrow(partial(_add_answers, columns + others, answer, result), schema)
