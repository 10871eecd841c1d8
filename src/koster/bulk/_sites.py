"""The sites of a report: one record for each site of a crawl, from shards of archives and tables.

A first pass reads only what tells crawls and sites apart, a second one only the answers about the
sites, row group by row group: memory does not hold the answers of all.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow.parquet as pq

from ..errors import UnreadableError
from ._archived import ARCHIVED
from ._arrow import pa, pc
from ._attribution import FIRST, LAST, crawls, moments, origins
from ._batches import Columns
from ._tables import CRAWL_NAME, TIME_NAME, available
from .duckdb import REDIRECTS
from .kernel import CLASSIFIED

#: The label of files without a crawl or a date.
UNDATED = "undated"

# fetched is null where it is not plausible; origin is null where a table has neither URL nor host.
_TABLES = """
CREATE TEMP TABLE records (
    shard INTEGER, row BIGINT, crawl TEXT, fetched TIMESTAMPTZ, origin TEXT, has_file BOOLEAN,
    url TEXT, class TEXT, location TEXT
);
CREATE TEMP VIEW archived AS SELECT * FROM records WHERE class IS NOT NULL;
"""

_FROM_ARCHIVES = """
INSERT INTO records
SELECT shard, file_row_number,
    coalesce(nullif(crawl, ''), strftime(plausible AT TIME ZONE 'UTC', '%Y-%m')), plausible,
    origin, class IN ('ok', 'wrong type'), url, class, location
FROM (
    SELECT *, if(fetched >= $first AND fetched < $last, fetched, NULL) AS plausible
    FROM archive_rows
)
JOIN shards ON name = parse_filename(filename, false, 'both_slash')
"""

_FROM_TABLE = """
INSERT INTO records
SELECT ?, row, coalesce(crawl, strftime(fetched AT TIME ZONE 'UTC', '%Y-%m')), fetched, origin,
    has_file, NULL, NULL, NULL
FROM attributed
"""

# Of several records of a site, one counts: one with a file, by https, after the fewest redirects,
# without www., the last fetched, and the last in its table.
_SITES = """
CREATE TEMP TABLE sites AS
SELECT shard, row, coalesce(crawl, $undated) AS crawl, outcome, asked IS NOT NULL AS has_host
FROM (
    SELECT shard, row, crawl, asked, hops, fetched, has_file,
        if(ended = 'answered', class, ended) AS outcome
    FROM robots_followed('archived')
    UNION ALL
    SELECT shard, row, crawl, origin, 0, fetched, has_file, if(has_file, 'ok', 'no file')
    FROM records
    WHERE class IS NULL
)
QUALIFY asked IS NULL OR row_number() OVER (
    PARTITION BY crawl, regexp_replace(asked, '^https?://(www\\.)?', '')
    ORDER BY NOT has_file, asked NOT LIKE 'https:%', hops, asked LIKE '%://www.%', asked,
        fetched DESC NULLS LAST, shard DESC, row DESC
) = 1
"""

_ANSWERS = """
CREATE TEMP VIEW answers AS
SELECT sites.crawl, sites.has_host, shard_rows.robots
FROM shard_rows
JOIN shards ON shards.name = parse_filename(shard_rows.filename, false, 'both_slash')
JOIN sites ON sites.shard = shards.shard AND sites.row = shard_rows.file_row_number
"""


def create_sites(con: Any, shards: Sequence[str], columns: Columns) -> None:
    """Create the tables ``records`` and ``sites`` from the shards at these paths.

    Raises:
        UnreadableError: a table lacks a column that ``columns`` names.
    """
    con.execute(REDIRECTS)
    con.execute(_TABLES)
    names = {"shard": range(len(shards)), "name": [os.path.basename(path) for path in shards]}
    con.register("shards", pa.table(names))
    archives = []
    for number, path in enumerate(shards):
        with open(path, "rb") as file:
            shard = pq.ParquetFile(file)
            if set(ARCHIVED.names) <= set(shard.schema_arrow.names):
                archives.append(path)
                continue
            for attributed in _attributed(shard, columns):
                con.register("attributed", attributed)
                con.execute(_FROM_TABLE, [number])
    if archives:
        _read_parquet(con, archives).create_view("archive_rows")
        con.execute(_FROM_ARCHIVES, {"first": FIRST, "last": LAST})
    con.execute(_SITES, {"undated": UNDATED})


def _attributed(shard: Any, columns: Columns) -> Iterator[Any]:
    """Yield, for each row group of a table's shard, where its rows belong.

    Raises:
        UnreadableError: a named column is missing.
    """
    names = shard.schema_arrow.names
    if not shard.metadata.num_rows:
        return
    for name in (columns.crawl, columns.time):
        if name is not None and name not in names:
            others = [each for each in names if each != "robots"]
            raise UnreadableError(f"no column {name!r} ({available(others)})")
    by_role = {
        "crawl": columns.crawl or CRAWL_NAME, "time": columns.time or TIME_NAME,
        "host": "host", "url": "url",
    }  # fmt: skip
    present = {role: name for role, name in by_role.items() if name in names}
    # The smallest field of the lists tells which rows have one.
    leaves = (shard.schema.column(number).path for number in range(len(shard.schema)))
    answers = next(leaf for leaf in leaves if re.fullmatch(r"robots\..*\.written", leaf))
    start = 0
    for number in range(shard.num_row_groups):
        group = shard.read_row_group(number, [answers, *dict.fromkeys(present.values())])
        some = {role: group[name].combine_chunks() for role, name in present.items()}
        yield _attribution(group["robots"].is_valid(), some, start)
        start += len(group)


def _attribution(has_file: Any, columns: dict[str, Any], start: int) -> Any:
    """Return a table with crawl, fetched and origin of rows, given their columns by role."""
    missing = pa.nulls(len(has_file), pa.string())
    found = {role: columns.get(role, missing) for role in ("crawl", "time", "host", "url")}
    return pa.table({
        "row": pa.array(range(start, start + len(has_file)), pa.int64()),
        "crawl": crawls(found["crawl"]),
        "fetched": moments(found["time"]),
        "origin": pc.coalesce(origins(found["host"]), origins(found["url"])),
        "has_file": has_file,
    })  # fmt: skip


@contextmanager
def answers_of_sites(con: Any, shards: Sequence[str]) -> Iterator[None]:
    """Provide a view ``answers`` in a ``with`` block: crawl, has_host and robots of each site."""
    with tempfile.TemporaryDirectory(prefix="koster-") as folder:
        # The first file decides which columns are read: without one of our own, a user's column
        # named file_row_number would be an error.
        first = os.path.join(folder, "first.parquet")
        pq.write_table(pa.schema([("robots", pa.list_(CLASSIFIED))]).empty_table(), first)
        _read_parquet(con, [first, *shards]).create_view("shard_rows")
        con.execute(_ANSWERS)
        # DuckDB takes the shards for as empty as the first file, and would hold all their answers
        # in memory to join them with the sites.
        con.execute("SET disabled_optimizers = 'join_order,build_side_probe_side'")
        yield


def _read_parquet(con: Any, paths: list[str]) -> Any:
    """Return the rows of shards, with filename and file_row_number."""
    return con.read_parquet(paths, filename=True, file_row_number=True, hive_partitioning=False)
