"""The sites of a report: one record for each site of a crawl, from shards of archives and tables.

A first pass reads only what tells crawls and sites apart, a second one only the answers about the
sites, some shards at a time. DuckDB writes to a temporary folder what does not fit in memory.
"""

from __future__ import annotations

import csv
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow.parquet as pq

from ..errors import UnreadableError, missing
from ._answers import Shard
from ._archived import ARCHIVED
from ._arrow import pa, pc
from ._attribution import FIRST, LAST, crawls, moments, origins
from ._batches import INPUT, Columns
from ._tables import CRAWL_NAME, TIME_NAME, available
from .duckdb import REDIRECTS, SITES
from .kernel import CLASSIFIED

try:
    import duckdb
except ImportError as error:
    raise missing("koster.bulk.report", "bulk") from error

#: The label of files without a crawl or a date.
UNDATED = "undated"

#: What DuckDB may use before it writes to the disk, in MB; with more threads it needs more.
_MEMORY = 600
_MAX_THREADS = 4

#: The sites of some crawls at a time are found, with about so many records. A larger crawl needs
#: more memory: so many MB for a million records.
_CRAWL_ROWS = 2_000_000
_MEMORY_OF_MILLION = 30

#: Rows of shards whose answers are read at a time.
_ROWS = 1_000_000

# fetched is null where it is not plausible; origin is null where a table has neither URL nor host,
# and url in all tables.
_TABLES = """
CREATE TABLE records (
    shard INTEGER, row BIGINT, crawl TEXT, fetched TIMESTAMPTZ, origin TEXT, url TEXT, class TEXT,
    location TEXT
);
CREATE TABLE attributed_rows (
    shard INTEGER, row BIGINT, crawl TEXT, fetched TIMESTAMPTZ, origin TEXT, class TEXT
);
CREATE TABLE panel (site TEXT);
CREATE TABLE unread (count BIGINT);
CREATE TABLE sites (shard INTEGER, row BIGINT, crawl TEXT, outcome TEXT, has_host BOOLEAN);
"""

_FROM_ARCHIVES = """
INSERT INTO records
SELECT shard, file_row_number,
    coalesce(nullif(archive_rows.crawl, ''), shards.crawl,
        strftime(plausible AT TIME ZONE 'UTC', '%Y-%m')),
    plausible, origin, url, class, location
FROM (
    SELECT *, if(fetched >= $first AND fetched < $last, fetched, NULL) AS plausible
    FROM archive_rows
) AS archive_rows
JOIN shards ON name = filename
WHERE class IS NOT NULL
"""

# `koster.bulk.spark.archives` has a row for each part of an archive that could not be read.
_UNREAD = "INSERT INTO unread SELECT count(*) FROM archive_rows WHERE class IS NULL"

_FROM_TABLE = """
INSERT INTO attributed_rows
SELECT ?, row, coalesce(crawl, strftime(fetched AT TIME ZONE 'UTC', '%Y-%m')), fetched, origin,
    if(has_file, 'ok', 'no file')
FROM attributed
"""

# Of several rows of a table about a site, one counts: with a file, the last fetched, and the last
# in its table.
_FROM_TABLES = """
INSERT INTO records BY NAME
SELECT * FROM attributed_rows
WHERE origin IS NOT NULL
QUALIFY row_number() OVER (
    PARTITION BY crawl, origin
    ORDER BY class <> 'ok', fetched DESC NULLS LAST, shard DESC, row DESC
) = 1
UNION ALL
SELECT * FROM attributed_rows WHERE origin IS NULL
"""

# No redirect leads from one crawl to another.
_CRAWLS = """
CREATE TABLE crawls AS
SELECT crawl, count, sum(count) OVER (ORDER BY crawl ROWS UNBOUNDED PRECEDING) // $size AS part
FROM (SELECT crawl, count(*) AS count FROM records GROUP BY crawl)
"""
_PARTS = "SELECT part, sum(count) FROM crawls GROUP BY part ORDER BY part"
_PART = """
CREATE OR REPLACE VIEW part AS
SELECT records.*
FROM records
SEMI JOIN (SELECT crawl FROM crawls WHERE part = {}) AS chosen
    ON chosen.crawl IS NOT DISTINCT FROM records.crawl
"""
_SITES = """
INSERT INTO sites
SELECT shard, row, coalesce(crawl, $undated), outcome, site IS NOT NULL
FROM robots_sites('part')
WHERE NOT $has_panel OR site IN (SELECT site FROM panel)
ORDER BY shard, row
"""

_COUNTED = """
INSERT INTO counted
SELECT crawl, agent,
    count(*),
    count(*) FILTER (NOT has_host),
    count(*) FILTER (written),
    count(*) FILTER (effective = 'all'),
    count(*) FILTER (effective = 'all' AND written),
    count(*) FILTER (effective = 'some'),
    count(*) FILTER (effective = 'some' AND written),
    count(*) FILTER (effective IS NULL)
FROM (
    SELECT sites.crawl, has_host, unnest(robots, recursive := true)
    FROM shard_rows
    JOIN shards ON shards.name = shard_rows.filename
    JOIN (SELECT * FROM sites WHERE shard BETWEEN $first AND $last) AS sites
        ON sites.shard = shards.shard AND sites.row = shard_rows.file_row_number
)
GROUP BY ALL
"""

#: The numbers of an agent in a crawl: see `_COUNTED`.
_COUNTED_TABLE = """
CREATE TABLE counted (
    crawl TEXT, agent TEXT, sites BIGINT, without_host BIGINT, named BIGINT, blocked BIGINT,
    blocked_by_name BIGINT, partly BIGINT, partly_by_name BIGINT, unknown BIGINT
)
"""
_TOTALS = "SELECT crawl, agent, sum(COLUMNS(* EXCLUDE (crawl, agent))) FROM counted GROUP BY ALL"


@contextmanager
def workspace() -> Iterator[Any]:
    """Provide a connection to a database in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="koster-") as folder:
        threads = min(os.cpu_count() or 1, _MAX_THREADS)
        path = os.path.join(folder, "report.duckdb")
        with duckdb.connect(path, config={"threads": threads}) as con:
            _limit_memory(con, _MEMORY)
            con.execute("SET preserve_insertion_order = false")
            # In an interactive Python it would be printed on standard output.
            con.execute("SET enable_progress_bar = false")
            yield con


def _limit_memory(con: Any, megabytes: int) -> None:
    con.execute(f"SET memory_limit = '{megabytes}MB'")


def create_sites(
    con: Any, shards: Sequence[Shard], columns: Columns, panel: Sequence[str] | None
) -> None:
    """Create the tables ``records``, of all shards, and ``sites``, of those in the panel, if any.

    Raises:
        UnreadableError: a table lacks a column that ``columns`` names.
    """
    con.execute(REDIRECTS)
    con.execute(SITES)
    con.execute(_TABLES)
    con.register("shard_names", pa.table({
        "shard": pa.array(range(len(shards)), pa.int32()),
        "name": [each.path for each in shards],
        "crawl": pa.array([each.partitions.get(CRAWL_NAME) for each in shards], pa.string()),
    }))  # fmt: skip
    con.execute("CREATE TABLE shards AS SELECT * FROM shard_names")
    archives: dict[bool, list[str]] = {}
    for number, each in enumerate(shards):
        with open(each.path, "rb") as file:
            shard = pq.ParquetFile(file)
            names = {*shard.schema_arrow.names}
            if {*ARCHIVED.names} <= names | {*each.partitions}:
                archives.setdefault(CRAWL_NAME in names, []).append(each.path)
                continue
            for attributed in _attributed(shard, columns, each.partitions):
                con.register("attributed", attributed)
                con.execute(_FROM_TABLE, [number])
    for has_crawl, paths in archives.items():
        rows = _read_parquet(con, paths)
        if not has_crawl:
            rows = rows.project("*, CAST(NULL AS VARCHAR) AS crawl")
        rows.create_view("archive_rows", replace=True)
        con.execute(_FROM_ARCHIVES, {"first": FIRST, "last": LAST})
        con.execute(_UNREAD)
    con.execute(_FROM_TABLES)
    if panel:
        con.register("panel_sites", pa.table({"site": pa.array(panel, pa.string())}))
        con.execute("INSERT INTO panel SELECT DISTINCT site FROM panel_sites")
    con.execute(_CRAWLS, {"size": _CRAWL_ROWS})
    for part, count in con.execute(_PARTS).fetchall():
        _limit_memory(con, max(_MEMORY, int(count) * _MEMORY_OF_MILLION // 1_000_000))
        con.execute(_PART.format(part))
        con.execute(_SITES, {"undated": UNDATED, "has_panel": panel is not None})
    _limit_memory(con, _MEMORY)


def _attributed(shard: Any, columns: Columns, partitions: dict[str, str | None]) -> Iterator[Any]:
    """Yield, for each row group of a table's shard, where its rows belong.

    Raises:
        UnreadableError: a named column is missing.
    """
    names = shard.schema_arrow.names
    if not shard.metadata.num_rows:
        return
    for name in (columns.crawl, columns.time):
        if name is not None and name not in names and name not in partitions:
            others = [each for each in (*names, *partitions) if each not in (INPUT, "robots")]
            raise UnreadableError(f"no column {name!r} ({available(others)})")
    by_role = {
        "crawl": columns.crawl or CRAWL_NAME, "time": columns.time or TIME_NAME,
        "host": "host", "url": "url",
    }  # fmt: skip
    present = {role: name for role, name in by_role.items() if name in names}
    fixed = {role: partitions[name] for role, name in by_role.items() if name in partitions}
    # The smallest field of the lists tells which rows have one.
    leaves = (shard.schema.column(number).path for number in range(len(shard.schema)))
    answers = next(leaf for leaf in leaves if re.fullmatch(r"robots\..*\.written", leaf))
    start = 0
    for number in range(shard.num_row_groups):
        group = shard.read_row_group(number, [answers, *dict.fromkeys(present.values())])
        some = {role: group[name].combine_chunks() for role, name in present.items()}
        some |= {role: pa.array([value] * len(group), pa.string()) for role, value in fixed.items()}
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


def count_answers(con: Any, shards: Sequence[Shard]) -> list[tuple[Any, ...]]:
    """Return the numbers of each crawl and agent: see `_COUNTED_TABLE`."""
    con.execute(_COUNTED_TABLE)
    with tempfile.TemporaryDirectory(prefix="koster-") as folder:
        # The first file decides which columns are read: without one of our own, a user's column
        # named file_row_number would be an error.
        first = os.path.join(folder, "first.parquet")
        pq.write_table(pa.schema([("robots", pa.list_(CLASSIFIED))]).empty_table(), first)
        # DuckDB takes the shards for as empty as the first file, and would hold all their answers
        # in memory to join them with the sites.
        con.execute("SET disabled_optimizers = 'join_order,build_side_probe_side'")
        for start, end in _groups([each.rows for each in shards]):
            paths = [first, *(each.path for each in shards[start:end])]
            _read_parquet(con, paths).create_view("shard_rows", replace=True)
            con.execute(_COUNTED, {"first": start, "last": end - 1})
    found: list[tuple[Any, ...]] = con.execute(_TOTALS).fetchall()
    return [(crawl, agent, *map(int, counts)) for crawl, agent, *counts in found]


def unread_rows(con: Any) -> int:
    """Return how many rows stand for parts of archives that could not be read."""
    (count,) = con.execute("SELECT coalesce(sum(count), 0) FROM unread").fetchone()
    return int(count)


def _groups(rows: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield where groups of shards with about `_ROWS` start and end."""
    start = total = 0
    for number, count in enumerate(rows, 1):
        total += count
        if total >= _ROWS or number == len(rows):
            yield start, number
            start, total = number, 0


def _read_parquet(con: Any, paths: list[str]) -> Any:
    """Return the rows of shards, with filename and file_row_number."""
    return con.read_parquet(paths, filename=True, file_row_number=True, hive_partitioning=False)


def read_panel(path: str) -> list[str]:
    """Return the sites in a list: a name a line, or CSV whose last column has them, as Tranco's.

    Raises:
        UnreadableError: it cannot be read, or a line names no site.
    """
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            lines = enumerate(csv.reader(file), 1)
            rows = [(number, row[-1].strip()) for number, row in lines if row]
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}") from error
    except (UnicodeError, csv.Error) as error:
        raise UnreadableError(f"{path}: is not a list of sites") from error
    found = origins(pa.array([name for _, name in rows], pa.string()))
    sites = pc.replace_substring_regex(found, r"^https?://(www\.)?", "").to_pylist()
    for (number, name), site in zip(rows, sites, strict=True):
        # The first line may be a heading.
        if site is None and number > 1:
            raise UnreadableError(f"{path}: line {number} names no site: {name[:100]!r}")
    usable = [site for site in sites if site is not None]
    if not usable:
        raise UnreadableError(f"{path}: names no site")
    return usable
