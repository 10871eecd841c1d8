"""SQL functions for DuckDB: answers about robots.txt files.

>>> import duckdb
>>> con = duckdb.connect()
>>> register(con)
>>> con.execute("SELECT robots_allowed('User-agent: *\\nDisallow: /a', '/ab', 'FooBot')").fetchone()
(False,)
>>> con.close()

| in SQL | returns |
|---|---|
| ``robots_allowed(body, url, agent)`` | BOOLEAN |
| ``robots_decide(body, url, agent)`` | a struct: `DECIDED` |
| ``robots_classify(body, agents)`` | a list of structs, in the order of agents: `CLASSIFIED` |
| ``robots_facts(body)`` | a struct: `FACTS` |
| ``robots_signals(body, url)`` | a list of structs, one for each use: `SIGNAL` |
| ``robots_answer(body, url, crawler)`` | a struct: what a file says about a crawler's request |
| ``robots_followed(records)`` | a table: the targets of redirects; see ``redirects.sql`` |
| ``robots_sites(records)`` | a table: the record that counts for each site; see ``sites.sql`` |
| ``robots_judge(requests, versions)`` | a table: requests, and whether they obeyed the versions \
of a robots.txt that their crawlers may have held |

``requests`` and ``versions`` are the names of tables, with the columns that `koster.bulk.judging`
names. ``robots_judge`` adds its result to those of requests: ``verdict``, ``disallowed``,
``version``, ``line`` and ``rule``; ``grace := INTERVAL 2 DAYS`` is another caching period. Crawlers
have a longer one if their operators say so.

``robots_signals`` also takes ``headers :=`` (MAP, or a list of structs with name and value),
``html :=`` and ``fetched :=``: see `koster.bulk.signals`.

Bodies are BLOB or VARCHAR. The result for NULL is NULL.
"""

from __future__ import annotations

from contextlib import suppress
from importlib.resources import files
from typing import Any

from ..dialects import RFC9309
from ..errors import missing
from . import judging, kernel
from ._arrow import pa, pc
from ._signal_columns import SIGNAL, signals
from .judging import BEGINNING, with_queries
from .kernel import CLASSIFIED, DECIDED, FACTS

try:
    import duckdb
    import numpy as np  # noqa: F401 - DuckDB needs it to call functions
except ImportError as error:
    raise missing("koster.bulk.duckdb", "bulk") from error

from ..dialects import Dialect

__all__ = ["CLASSIFIED", "DECIDED", "FACTS", "REDIRECTS", "SIGNAL", "SITES", "register"]

#: The macros that follow redirects, and that choose the record of each site, as SQL: for DuckDB
#: without Python, too.
REDIRECTS = files(__package__).joinpath("redirects.sql").read_text("utf-8")
SITES = files(__package__).joinpath("sites.sql").read_text("utf-8")

#: The macro that judges requests, as SQL. It needs the function ``robots_answer``.
_JUDGE = """\
CREATE OR REPLACE MACRO robots_judge(requests, versions, grace := INTERVAL 24 HOURS) AS TABLE
WITH numbered_requests AS (
    SELECT *, row_number() OVER () AS row_id FROM query_table(requests)
),
limits AS (SELECT CAST(epoch_us(grace) AS BIGINT) AS grace_us),
given AS (
    SELECT
        row_id, epoch_us(time) AS t, crawler, CAST(url AS VARCHAR) AS url, status, client_or_null
            AS client, host_or_null AS host, method_or_null AS method
    -- The names of columns that requests lack are those of the defaults.
    FROM (SELECT NULL AS host, NULL AS client, NULL AS method) AS defaults, LATERAL (
        SELECT
            row_id, time, crawler, url, status, CAST(client AS VARCHAR) AS client_or_null,
            CAST(host AS VARCHAR) AS host_or_null, CAST(method AS VARCHAR) AS method_or_null
        FROM numbered_requests
    )
),
@ASKED@,
numbered AS (
    SELECT
        row_number() OVER moments AS number,
        coalesce(epoch_us(since), @BEGINNING@) AS since_us,
        lead(epoch_us(since)) OVER moments AS until_us,
        coalesce(CAST(body AS BLOB), CAST('' AS BLOB)) AS body,
        coalesce(label_or_null, CAST(row_number() OVER moments AS VARCHAR)) AS label
    FROM (SELECT CAST(NULL AS VARCHAR) AS label) AS defaults, LATERAL (
        SELECT since, body, label AS label_or_null FROM query_table(versions)
    )
    WINDOW moments AS (ORDER BY since NULLS FIRST)
),
@HELD@,
@PAIRS@,
answered AS (
    SELECT row_id, is_robots, is_open, is_unknown, number, is_held, is_current, answer.*
    FROM (
        SELECT
            paired.*, robots_answer(numbered.body, numbered_requests.url, paired.crawler) AS answer
        FROM paired
        JOIN numbered_requests USING (row_id)
        LEFT JOIN numbered USING (number)
    )
),
@VERDICTS@
SELECT
    numbered_requests.* EXCLUDE (row_id), verdict, disallowed, label AS version, line, rule
FROM numbered_requests JOIN verdicts USING (row_id) LEFT JOIN numbered USING (number);
"""

#: Functions in Python have no default values.
_SIGNALS = """
CREATE OR REPLACE MACRO robots_signals(body, url, headers := NULL, html := NULL, fetched := NULL) AS
robots_page_signals(body, url, headers, html, fetched)
"""


def register(connection: Any, dialect: Dialect = RFC9309) -> None:
    """Register the functions with a DuckDB connection.

    Args:
        connection: A connection from `duckdb.connect`. Functions that are already registered, such
            as those with another dialect, are replaced.
        dialect: How the functions read the files.
    """
    # DuckDB takes the number of arguments from the function; without annotations it accepts any
    # types.
    functions = {
        "robots_allowed": (
            lambda body, url, agent: kernel.allowed(body, url, agent, dialect),
            pa.bool_(),
        ),
        "robots_decide": (
            lambda body, url, agent: kernel.decide(body, url, agent, dialect),
            DECIDED,
        ),
        "robots_answer": (
            lambda body, url, crawler: judging.answers(body, url, crawler, dialect),
            judging.ANSWERED,
        ),
        "robots_classify": (
            lambda body, agents: _classify(body, agents, dialect),
            pa.list_(CLASSIFIED),
        ),
        "robots_facts": (lambda body: kernel.facts(body, dialect), FACTS),
        "robots_page_signals": (
            lambda body, url, headers, html, fetched: signals(
                body, url, headers, html, fetched, dialect
            ),
            pa.list_(SIGNAL),
        ),
    }
    for name, (answer, type_) in functions.items():
        with suppress(duckdb.Error):
            connection.remove_function(name)
        connection.create_function(
            name,
            answer,
            None,
            duckdb.type(_sql_type(type_)),
            type="arrow",
            null_handling="special",
        )
    connection.execute(REDIRECTS)
    connection.execute(SITES)
    connection.execute(_SIGNALS)
    connection.execute(with_queries(_JUDGE).replace("@BEGINNING@", str(BEGINNING)))


def _classify(bodies: Any, lists: Any, dialect: Dialect) -> Any:
    """Classify with a list of agents for each row; nearly always it is the same for all."""
    column = lists.combine_chunks() if isinstance(lists, pa.ChunkedArray) else lists
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), pa.list_(CLASSIFIED))
    if pa.types.is_fixed_size_list(column.type):
        column = column.cast(pa.list_(column.type.value_type))
    if not pa.types.is_list(column.type):
        raise TypeError(f"agents must be a list of text, not {column.type}")
    common = _common_list(column)
    if common is not None:
        return kernel.classify(bodies, common, dialect)
    rows: dict[tuple[str, ...] | None, list[int]] = {}
    for row, agents in enumerate(column.to_pylist()):
        rows.setdefault(None if agents is None else tuple(agents), []).append(row)
    order = pa.array([row for some in rows.values() for row in some], pa.int64())
    pieces: list[Any] = []
    for agents, some in rows.items():
        if agents is None:
            pieces.append(pa.nulls(len(some), pa.list_(CLASSIFIED)))
        else:
            found = kernel.classify(bodies.take(pa.array(some, pa.int64())), agents, dialect)
            pieces += found.chunks if isinstance(found, pa.ChunkedArray) else [found]
    return pa.chunked_array(pieces).take(pc.sort_indices(order))


def _common_list(column: Any) -> list[str] | None:
    """Return the list that all rows have, or None."""
    if not len(column) or column.null_count:
        return None
    first: list[str] = column[0].as_py()
    values = column.flatten()
    if len(values) != len(column) * len(first):
        return None
    if pc.any(pc.not_equal(pc.list_value_length(column), len(first))).as_py():
        return None
    tiled = pa.array(first * len(column), values.type)
    return first if values.equals(tiled) else None


_SQL_TYPES = {
    pa.bool_(): "BOOLEAN",
    pa.string(): "VARCHAR",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
}


def _sql_type(type_: Any) -> str:
    """Return the SQL name of an Arrow type."""
    if pa.types.is_list(type_):
        return f"{_sql_type(type_.value_type)}[]"
    if pa.types.is_struct(type_):
        fields = (f'"{field.name}" {_sql_type(field.type)}' for field in type_)
        return f"STRUCT({', '.join(fields)})"
    return _SQL_TYPES[type_]
