"""The kernel in Spark: answers as a column more, worked out in Arrow batches.

    from koster.bulk import spark as robots

    frame = robots.archives(paths)                            # WARC files, by a column "path"
    classified = robots.classify(frame, ["GPTBot", "CCBot"])  # column "robots"
    decided = robots.decide(frame, agent="GPTBot")            # column "decision"
    facts = robots.facts(frame)                               # column "facts"

The workers need koster with its extra ``bulk``, as the driver does; `PYSPARK_PYTHON` names their
Python. Types and answers are those of `koster.bulk`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

from ..dialects import RFC9309, dialect_named
from ..errors import KosterError, missing
from . import kernel, warc
from ._archives import fetched
from ._arrow import pa
from ._batches import ARCHIVED, BadRecords
from .kernel import CLASSIFIED, DECIDED, FACTS

try:
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import BinaryType, StringType, StructField, StructType
except ImportError as error:
    raise missing("koster.bulk.spark", "spark") from error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ..dialects import Dialect

__all__ = ["CLASSIFIED", "DECIDED", "FACTS", "archives", "classify", "decide", "facts"]


#: What `archives` gives.
_FETCHED = ARCHIVED.append(pa.field("body", pa.binary())).append(pa.field("error", pa.string()))


def _opened(path: str, mode: str) -> BinaryIO:
    file: Any = open(path, mode)  # noqa: SIM115 - whoever asks for it closes it
    return file  # type: ignore[no-any-return]


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
        frame: A data frame of Spark.
        agents: Who asks.
        dialect: One of `koster.DIALECTS`.
        body: The column of robots.txt files, string or binary.
        result: What the new column is to be called.

    Raises:
        TypeError: a column is not there, or of another type.
    """
    answer = partial(_classified, kernel.checked(agents), dialect.name)
    return _with(frame, (body,), answer, result, pa.list_(CLASSIFIED))


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

    ``agent`` is who asks in all rows; without it, what stands in ``agent_column``. For the rest see
    `classify`.
    """
    columns = (body, url) if agent is not None else (body, url, agent_column)
    return _with(frame, columns, partial(_decided, agent, dialect.name), result, DECIDED)


def facts(
    frame: Any, dialect: Dialect = RFC9309, *, body: str = "body", result: str = "facts"
) -> Any:
    """Return a data frame with what stands in each file; see `classify`."""
    return _with(frame, (body,), partial(_facts_of, dialect.name), result, FACTS)


def archives(
    frame: Any, *, path: str = "path", opened: Callable[[str, str], BinaryIO] = _opened
) -> Any:
    """Return a data frame with the fetches in WARC files: the columns of ``koster bulk``, and more.

    ``body`` is as crawlers read it, null where there is no file. ``error`` is null but in rows
    that say what of an archive could not be read, and that have nothing else.

    Args:
        frame: A data frame with a row for each archive; best with about as many partitions as
            there are cores times three.
        path: The column of their paths.
        opened: How a path is opened to be read, with the mode ``"rb"``: `open`, unless it is said;
            of `fsspec`, for S3 and the like. What it gives must be able to seek.

    Raises:
        TypeError: the column is not there, or of another type.
    """
    _check_column(frame, path)
    schema = StructType([
        StructField(field.name, from_arrow_type(field.type)) for field in _FETCHED
    ])  # fmt: skip
    return frame.select(path).mapInArrow(partial(_fetched, opened), schema)


# What the workers do; dialects travel by name.


def _fetched(opened: Callable[[str, str], BinaryIO], batches: Iterator[Any]) -> Iterator[Any]:
    """Read the archives that batches name."""
    for batch in batches:
        for path in batch.column(0).to_pylist():
            if path is not None:
                yield from _fetches(opened, path)


def _fetches(opened: Callable[[str, str], BinaryIO], path: str) -> Iterator[Any]:
    """Read an archive; errors are in rows of their own."""
    name = path.rpartition("/")[2]
    bad = BadRecords()
    try:
        with opened(path, "rb") as file:
            for batch in fetched(warc.records(file, path), name, bad):
                columns = [*batch.kept.columns, batch.bodies.cast(pa.binary())]
                yield pa.RecordBatch.from_arrays(
                    [*columns, pa.nulls(len(batch.kept), pa.string())], schema=_FETCHED
                )
    except (OSError, KosterError) as error:
        bad.add(str(error))
    more = bad.count - len(bad.listed)
    errors = [*bad.listed, *([f"{more:,} more"] if more else [])]
    if errors:
        empty = {field.name: pa.nulls(len(errors), field.type) for field in _FETCHED}
        empty["archive"] = pa.array([name] * len(errors), pa.string())
        empty["error"] = pa.array(errors, pa.string())
        yield pa.RecordBatch.from_arrays(list(empty.values()), schema=_FETCHED)


def _classified(agents: tuple[str, ...], dialect: str, bodies: Any) -> Any:
    return kernel.classify(bodies, agents, dialect_named(dialect))


def _decided(agent: str | None, dialect: str, bodies: Any, urls: Any, *agents: Any) -> Any:
    asked = agents[0] if agent is None else agent
    return kernel.decide(bodies, urls, asked, dialect_named(dialect))


def _facts_of(dialect: str, bodies: Any) -> Any:
    return kernel.facts(bodies, dialect_named(dialect))


def _answers(
    columns: tuple[str, ...], answer: Callable[..., Any], result: str, batches: Iterator[Any]
) -> Iterator[Any]:
    """Add the answers to each batch."""
    for batch in batches:
        found = answer(*(batch.column(name) for name in columns))
        yield pa.RecordBatch.from_arrays(
            [*batch.columns, found], names=[*batch.schema.names, result]
        )


def _check_column(frame: Any, name: str) -> None:
    """Look whether a column is there, and has text or bytes.

    Raises:
        TypeError: it is not, or has not.
    """
    if name not in frame.columns:
        raise TypeError(f"there is no column {name!r}, only {', '.join(frame.columns)}")
    if not isinstance(frame.schema[name].dataType, (StringType, BinaryType)):
        kind = frame.schema[name].dataType.simpleString()
        raise TypeError(f"{name} must be a column of text or bytes, not of {kind}")


def _with(
    frame: Any, columns: tuple[str, ...], answer: Callable[..., Any], result: str, type_: Any
) -> Any:
    """Return a data frame with one column more.

    Raises:
        TypeError: a column is not there, or of another type.
    """
    for name in columns:
        _check_column(frame, name)
    if result in frame.columns:
        raise TypeError(f"there is a column {result!r} already; name another result")
    schema = StructType([*frame.schema.fields, StructField(result, from_arrow_type(type_))])
    return frame.mapInArrow(partial(_answers, columns, answer, result), schema)
