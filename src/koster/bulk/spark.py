"""The kernel in Spark: answers as a column more, worked out in Arrow batches.

    from koster.bulk import spark as robots

    classified = robots.classify(frame, ["GPTBot", "CCBot"])  # column "robots"
    decided = robots.decide(frame, agent="GPTBot")            # column "decision"
    told = robots.facts(frame)                                # column "facts"

The workers need koster with its extra ``bulk``, as the driver does; `PYSPARK_PYTHON` names their
Python. Types and answers are those of `koster.bulk`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ..dialects import RFC9309, dialect_named
from ..errors import missing
from . import kernel
from ._arrow import pa
from .kernel import CLASSIFIED, DECIDED, FACTS

try:
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import BinaryType, StringType, StructField, StructType
except ImportError as error:
    raise missing("koster.bulk.spark", "spark") from error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ..dialects import Dialect

__all__ = ["CLASSIFIED", "DECIDED", "FACTS", "classify", "decide", "facts"]


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
    return _with(frame, (body,), partial(_told, dialect.name), result, FACTS)


# What the workers do; dialects travel by name.


def _classified(agents: tuple[str, ...], dialect: str, bodies: Any) -> Any:
    return kernel.classify(bodies, agents, dialect_named(dialect))


def _decided(agent: str | None, dialect: str, bodies: Any, urls: Any, *agents: Any) -> Any:
    asked = agents[0] if agent is None else agent
    return kernel.decide(bodies, urls, asked, dialect_named(dialect))


def _told(dialect: str, bodies: Any) -> Any:
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


def _with(
    frame: Any, columns: tuple[str, ...], answer: Callable[..., Any], result: str, type_: Any
) -> Any:
    """Return a data frame with one column more.

    Raises:
        TypeError: a column is not there, or of another type.
    """
    for name in columns:
        if name not in frame.columns:
            raise TypeError(f"there is no column {name!r}, only {', '.join(frame.columns)}")
        if not isinstance(frame.schema[name].dataType, (StringType, BinaryType)):
            kind = frame.schema[name].dataType.simpleString()
            raise TypeError(f"{name} must be a column of text or octets, not of {kind}")
    if result in frame.columns:
        raise TypeError(f"there is a column {result!r} already; name another result")
    schema = StructType([*frame.schema.fields, StructField(result, from_arrow_type(type_))])
    return frame.mapInArrow(partial(_answers, columns, answer, result), schema)
