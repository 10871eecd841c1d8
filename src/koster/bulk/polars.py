"""The kernel in Polars: a namespace ``robots`` of expressions and series.

>>> import polars as pl
>>> import koster.bulk.polars
>>> frame = pl.DataFrame({"body": ["User-agent: GPTBot\\nDisallow: /"]})
>>> frame.select(pl.col("body").robots.allowed("/a", "GPTBot")).item()
False
>>> frame.lazy().select(pl.col("body").robots.classify(["GPTBot"])).collect().item().to_list()
[{'agent': 'GPTBot', 'written': True, 'effective': 'all', 'line': 2}]

``classify(agents)``, ``decide(url, agent)``, ``allowed(url, agent)`` and ``facts()`` answer as
those of `koster.bulk` do, in the same types, as columns ``robots``, ``decision``, ``allowed`` and
``facts``; ``url`` and ``agent`` are text, the same for all rows, or expressions.
Bodies are String, Binary, Categorical or Enum. Null gives null.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ..dialects import RFC9309
from ..errors import missing
from . import kernel
from ._arrow import pa
from .kernel import CLASSIFIED, DECIDED, FACTS

try:
    import polars as pl
except ImportError as error:
    raise missing("koster.bulk.polars", "bulk") from error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..dialects import Dialect

__all__ = ["CLASSIFIED", "DECIDED", "FACTS", "RobotsExpr", "RobotsSeries"]


def _dtype(type_: Any) -> Any:
    """Return a type of Arrow as Polars has it."""
    return pl.Series(pl.from_arrow(pa.array([], type_))).dtype


def _series(answer: Any) -> pl.Series:
    return pl.Series(pl.from_arrow(answer))


def _mapped(expression: pl.Expr, answer: Callable[[pl.Series], pl.Series], type_: Any) -> pl.Expr:
    return expression.map_batches(answer, return_dtype=_dtype(type_), is_elementwise=True)


def _of_bodies(answer: Callable[[Any], Any], bodies: pl.Series) -> pl.Series:
    return _series(answer(bodies.to_arrow())).alias(bodies.name)


def _of_rows(answer: Callable[..., Any], dialect: Dialect, rows: pl.Series) -> pl.Series:
    columns = (rows.struct.field(name).to_arrow() for name in ("body", "url", "agent"))
    return _series(answer(*columns, dialect)).alias(rows.name)


def _expression(value: Any) -> pl.Expr:
    """Return text as a literal, and an expression as it is."""
    return value if isinstance(value, pl.Expr) else pl.lit(value, pl.String)


def _url(value: Any) -> Any:
    """Return a URL; text that is none is probably meant to name a column.

    Raises:
        ValueError: it is such a text.
    """
    if isinstance(value, str) and not value.startswith("/") and "://" not in value:
        raise ValueError(f"url is {value!r}, no URL and no path; for a column write pl.col(...)")
    return value


@pl.api.register_expr_namespace("robots")
class RobotsExpr:
    """Answers about the robots.txt files of an expression."""

    def __init__(self, expression: pl.Expr) -> None:
        self._bodies = expression

    def classify(self, agents: Iterable[str], dialect: Dialect = RFC9309) -> pl.Expr:
        """Return how much of each site is disallowed for each agent, in their order."""
        answer = partial(kernel.classify, agents=kernel.checked(agents), dialect=dialect)
        found = _mapped(self._bodies, partial(_of_bodies, answer), pa.list_(CLASSIFIED))
        return found.alias("robots")

    def facts(self, dialect: Dialect = RFC9309) -> pl.Expr:
        """Return what stands in each file."""
        answer = partial(kernel.facts, dialect=dialect)
        return _mapped(self._bodies, partial(_of_bodies, answer), FACTS).alias("facts")

    def decide(
        self, url: str | pl.Expr, agent: str | pl.Expr, dialect: Dialect = RFC9309
    ) -> pl.Expr:
        """Return whether an agent may fetch a URL, and which line says so."""
        return self._asked(kernel.decide, url, agent, dialect, DECIDED).alias("decision")

    def allowed(
        self, url: str | pl.Expr, agent: str | pl.Expr, dialect: Dialect = RFC9309
    ) -> pl.Expr:
        """Return whether an agent may fetch a URL."""
        return self._asked(kernel.allowed, url, agent, dialect, pa.bool_()).alias("allowed")

    def _asked(
        self, answer: Callable[..., Any], url: Any, agent: Any, dialect: Dialect, type_: Any
    ) -> pl.Expr:
        rows = pl.struct(
            self._bodies.alias("body"),
            _expression(_url(url)).alias("url"),
            _expression(agent).alias("agent"),
        )
        return _mapped(rows, partial(_of_rows, answer, dialect), type_)


@pl.api.register_series_namespace("robots")
class RobotsSeries:
    """Answers about the robots.txt files of a series; see `RobotsExpr`."""

    def __init__(self, series: pl.Series) -> None:
        self._bodies = series

    def classify(self, agents: Iterable[str], dialect: Dialect = RFC9309) -> pl.Series:
        """Return how much of each site is disallowed for each agent, in their order."""
        return _series(kernel.classify(self._bodies.to_arrow(), agents, dialect))

    def facts(self, dialect: Dialect = RFC9309) -> pl.Series:
        """Return what stands in each file."""
        return _series(kernel.facts(self._bodies.to_arrow(), dialect))

    def decide(
        self, url: str | pl.Series, agent: str | pl.Series, dialect: Dialect = RFC9309
    ) -> pl.Series:
        """Return whether an agent may fetch a URL, and which line says so."""
        return _series(kernel.decide(*self._columns(url, agent), dialect))

    def allowed(
        self, url: str | pl.Series, agent: str | pl.Series, dialect: Dialect = RFC9309
    ) -> pl.Series:
        """Return whether an agent may fetch a URL."""
        return _series(kernel.allowed(*self._columns(url, agent), dialect))

    def _columns(self, url: Any, agent: Any) -> tuple[Any, Any, Any]:
        given = (self._bodies, _url(url), agent)
        body, url, agent = (
            each.to_arrow() if isinstance(each, pl.Series) else each for each in given
        )
        return body, url, agent
