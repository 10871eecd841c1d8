"""Answers about robots.txt files in Polars: a namespace ``robots`` for expressions and series.

>>> import polars as pl
>>> import koster.bulk.polars
>>> frame = pl.DataFrame({"body": ["User-agent: GPTBot\\nDisallow: /"]})
>>> frame.select(pl.col("body").robots.allowed("/a", "GPTBot")).item()
False
>>> frame.lazy().select(pl.col("body").robots.classify(["GPTBot"])).collect().item().to_list()
[{'agent': 'GPTBot', 'written': True, 'effective': 'all', 'line': 2}]

``classify(agents)``, ``decide(url, agent)``, ``allowed(url, agent)``, ``facts()`` and
``signals(url)`` return the same types as those of `koster.bulk`, as columns ``robots``,
``decision``, ``allowed``, ``facts`` and ``signals``; ``url`` and ``agent`` are text, the same for
all rows, or expressions. Bodies are String, Binary, Categorical or Enum. The result for null is
null. Series have all but ``signals``.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from .._misuse import check_order, is_location
from ..dialects import RFC9309
from ..errors import missing
from . import kernel
from ._arrow import pa
from ._signal_columns import SIGNAL, signals
from .kernel import CLASSIFIED, DECIDED, FACTS

try:
    import polars as pl
except ImportError as error:
    raise missing("koster.bulk.polars", "bulk") from error

from collections.abc import Callable, Iterable

from ..dialects import Dialect

__all__ = ["CLASSIFIED", "DECIDED", "FACTS", "SIGNAL", "RobotsExpr", "RobotsSeries"]


def _dtype(type_: Any) -> Any:
    """Return the Polars type for an Arrow type."""
    return pl.Series(pl.from_arrow(pa.array([], type_))).dtype


def _series(answer: Any) -> pl.Series:
    return pl.Series(pl.from_arrow(answer))


def _map(expression: pl.Expr, answer: Callable[[pl.Series], pl.Series], type_: Any) -> pl.Expr:
    return expression.map_batches(answer, return_dtype=_dtype(type_), is_elementwise=True)


def _answer_bodies(answer: Callable[[Any], Any], bodies: pl.Series) -> pl.Series:
    return _series(answer(bodies.to_arrow())).alias(bodies.name)


def _answer_rows(answer: Callable[..., Any], dialect: Dialect, rows: pl.Series) -> pl.Series:
    columns = (rows.struct.field(name).to_arrow() for name in ("body", "url", "agent"))
    return _series(answer(*columns, dialect)).alias(rows.name)


def _answer_pages(roles: tuple[str, ...], dialect: Dialect, rows: pl.Series) -> pl.Series:
    body, url, *others = (rows.struct.field(name).to_arrow() for name in ("body", "url", *roles))
    found = signals(body, url, dialect=dialect, **dict(zip(roles, others, strict=True)))
    return _series(found).alias(rows.name)


def _expression(value: Any) -> pl.Expr:
    """Return text as a literal, and an expression as it is."""
    return value if isinstance(value, pl.Expr) else pl.lit(value, pl.String)


def _check_arguments(url: Any, agent: Any) -> None:
    """Check text that applies to all rows.

    Raises:
        ValueError: the arguments are swapped, or the URL is not a URL or path; it is probably the
            name of a column.
    """
    if isinstance(url, str) and isinstance(agent, str):
        check_order(url, agent)
    if isinstance(url, str) and not is_location(url):
        raise ValueError(f"url is {url!r}, not a URL or path; for a column use pl.col(...)")


@pl.api.register_expr_namespace("robots")
class RobotsExpr:
    """Answers about the robots.txt files of an expression."""

    def __init__(self, expression: pl.Expr) -> None:
        self._bodies = expression

    def classify(self, agents: Iterable[str], dialect: Dialect = RFC9309) -> pl.Expr:
        """Return how much of each site is disallowed for each agent, in their order."""
        answer = partial(kernel.classify, agents=kernel.check_agents(agents), dialect=dialect)
        found = _map(self._bodies, partial(_answer_bodies, answer), pa.list_(CLASSIFIED))
        return found.alias("robots")

    def facts(self, dialect: Dialect = RFC9309) -> pl.Expr:
        """Return facts about each file."""
        answer = partial(kernel.facts, dialect=dialect)
        return _map(self._bodies, partial(_answer_bodies, answer), FACTS).alias("facts")

    def decide(
        self, url: str | pl.Expr, agent: str | pl.Expr, dialect: Dialect = RFC9309
    ) -> pl.Expr:
        """Return whether an agent may fetch a URL, and which line says so."""
        return self._answer(kernel.decide, url, agent, dialect, DECIDED).alias("decision")

    def allowed(
        self, url: str | pl.Expr, agent: str | pl.Expr, dialect: Dialect = RFC9309
    ) -> pl.Expr:
        """Return whether an agent may fetch a URL."""
        return self._answer(kernel.allowed, url, agent, dialect, pa.bool_()).alias("allowed")

    def signals(
        self,
        url: str | pl.Expr,
        headers: pl.Expr | None = None,
        html: pl.Expr | None = None,
        fetched: pl.Expr | None = None,
        dialect: Dialect = RFC9309,
    ) -> pl.Expr:
        """Return what sites state about the use of pages; see `koster.bulk.signals`."""
        given = {"headers": headers, "html": html, "fetched": fetched}
        columns = {"body": self._bodies, "url": _expression(url)}
        columns |= {role: each for role, each in given.items() if each is not None}
        rows = pl.struct(each.alias(role) for role, each in columns.items())
        answer = partial(_answer_pages, tuple(columns)[2:], dialect)
        return _map(rows, answer, pa.list_(SIGNAL)).alias("signals")

    def _answer(
        self, answer: Callable[..., Any], url: Any, agent: Any, dialect: Dialect, type_: Any
    ) -> pl.Expr:
        _check_arguments(url, agent)
        rows = pl.struct(
            self._bodies.alias("body"),
            _expression(url).alias("url"),
            _expression(agent).alias("agent"),
        )
        return _map(rows, partial(_answer_rows, answer, dialect), type_)


@pl.api.register_series_namespace("robots")
class RobotsSeries:
    """Answers about the robots.txt files of a series; see `RobotsExpr`."""

    def __init__(self, series: pl.Series) -> None:
        self._bodies = series

    def classify(self, agents: Iterable[str], dialect: Dialect = RFC9309) -> pl.Series:
        """Return how much of each site is disallowed for each agent, in their order."""
        return _series(kernel.classify(self._bodies.to_arrow(), agents, dialect))

    def facts(self, dialect: Dialect = RFC9309) -> pl.Series:
        """Return facts about each file."""
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
        _check_arguments(url, agent)
        columns = (self._bodies, url, agent)
        body, url, agent = (
            each.to_arrow() if isinstance(each, pl.Series) else each for each in columns
        )
        return body, url, agent
