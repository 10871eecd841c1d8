"""Sorts what the first pass of ``koster bulk signals`` has read by site and time.

DuckDB writes one file, and to a temporary folder what does not fit in memory. A part of the file
has all rows of some sites.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import UnreadableError, missing
from ._arrow import pa
from ._batches import Input
from ._page_archives import READ
from ._site_files import MAX_HOPS
from ._sites import workspace

try:
    import duckdb
except ImportError as error:
    raise missing("koster.bulk.runs", "bulk") from error

#: Rows of a part: all cores have work, and a whole crawl is not too many files.
_PART_ROWS = 10_000
_MAX_PARTS = 1_000

_TABLES = """
CREATE TABLE shards AS SELECT * FROM shard_names;
CREATE VIEW read_rows AS
SELECT shard, r.* EXCLUDE (filename)
FROM every_row AS r JOIN shards ON name = filename;
CREATE TABLE files AS
SELECT shard, record, kind, crawl, origin, url, fetched, class, location,
    kind <> 'robots' OR url = origin || '/robots.txt' AS is_asked,
    row_number() OVER (
        PARTITION BY crawl, origin, kind, is_asked ORDER BY fetched NULLS FIRST, shard, record
    ) = 1 AS is_first
FROM read_rows
WHERE kind <> 'page' AND piece = 0;
CREATE TABLE hops AS
SELECT shard AS asked_shard, record AS asked_record, shard, record, fetched, crawl, class, location,
    0 AS hop
FROM files
WHERE kind = 'robots' AND is_asked AND class = 'redirect';
"""

# Of several fetches of a target, the first one after the redirect counts, else the last before.
_HOP = """
INSERT INTO hops
SELECT asked_shard, asked_record, files.shard, files.record, hops.fetched, hops.crawl, files.class,
    files.location, hop + 1
FROM hops
JOIN files ON files.crawl IS NOT DISTINCT FROM hops.crawl AND files.url = hops.location
WHERE hop = $hop AND hops.class = 'redirect' AND files.kind = 'robots'
QUALIFY row_number() OVER (
    PARTITION BY asked_shard, asked_record
    ORDER BY files.fetched < hops.fetched, abs(epoch(files.fetched - hops.fetched)), files.shard,
        files.record
) = 1
"""

# The first file of a site counts for the pages before it, too.
_SORTED = r"""
COPY (
    SELECT
        md5_number_lower(regexp_replace(origin, '^https?://(www\.)?', '')) % {parts} AS part,
        * EXCLUDE (moment)
    FROM (
        SELECT {columns}, 0 AS hops,
            CASE WHEN kind = 'page' THEN coalesce(epoch_us(fetched), {last})
                WHEN kind = 'license' OR is_first THEN {first}
                ELSE coalesce(epoch_us(fetched), {first}) END AS moment
        FROM read_rows
        LEFT JOIN (
            SELECT shard, record, is_first
            FROM files
            ANTI JOIN (SELECT asked_shard AS shard, asked_record AS record FROM hops WHERE hop > 0)
                USING (shard, record)
            WHERE is_asked
        ) USING (shard, record)
        WHERE kind = 'page' OR is_first IS NOT NULL
        UNION ALL BY NAME
        SELECT {targets}, hops,
            if(is_first, {first}, coalesce(epoch_us(asked.fetched), {first})) AS moment
        FROM (
            SELECT asked_shard, asked_record, max_by(shard, hop) AS shard,
                max_by(record, hop) AS record, max(hop) AS hops
            FROM hops GROUP BY ALL HAVING max(hop) > 0
        ) AS ends
        JOIN files AS asked ON asked.shard = asked_shard AND asked.record = asked_record
        JOIN read_rows AS target ON target.shard = ends.shard AND target.record = ends.record
    )
    ORDER BY part, origin, crawl, moment, kind = 'page', fetched NULLS FIRST, input,
        record, piece
) TO '{path}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 16384)
"""
#: What a redirect has of its own; all else is that of its target.
_OF_ASKED = ("url", "origin", "crawl", "fetched", "kind")


def part_inputs(folder: Path, shards: Sequence[tuple[str, dict[str, Any]]]) -> list[Input]:
    """Return the parts of all rows in shards, in the order of sites; they need not exist yet."""
    rows = sum(metadata["rows"] for _, metadata in shards)
    count = min(max(rows // _PART_ROWS, 1), _MAX_PARTS)
    given = repr(
        [(os.path.basename(path), each["input"], each["version"]) for path, each in shards]
    )
    digest = hashlib.sha256(given.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    whole = folder / f".{digest}.sorted"
    # The names have the digest: with other inputs, all parts are others.
    return [
        Input(str(folder / digest / f"part-{number:04}"), "part", 0, 0, str(whole))
        for number in range(count)
    ]


def sort_rows(shards: Sequence[str], parts: Sequence[Input]) -> None:
    """Write the file that parts are read from, unless it exists.

    Raises:
        UnreadableError: it cannot be written, or a shard not be read.
    """
    path = parts[0].file
    if os.path.exists(path):
        return
    for other in Path(path).parent.glob(".*.sorted*"):
        other.unlink()
    try:
        with workspace() as con:
            _sort_rows(con, shards, len(parts), f"{path}.part")
    except (duckdb.Error, OSError) as error:
        raise UnreadableError(f"{path}: {str(error).splitlines()[0]}") from error
    os.replace(f"{path}.part", path)


def _sort_rows(con: Any, shards: Sequence[str], parts: int, path: str) -> None:
    con.execute("SET preserve_insertion_order = true")
    # Each thread has some 100,000 rows in memory to sort them.
    con.execute("SET threads = 1")
    con.register("shard_names", pa.table({
        "shard": pa.array(range(len(shards)), pa.int32()), "name": [*shards],
    }))  # fmt: skip
    rows = con.read_parquet([*shards], filename=True, hive_partitioning=False)
    rows.create_view("every_row")
    con.execute(_TABLES)
    for hop in range(MAX_HOPS):
        con.execute(_HOP, {"hop": hop})
    con.execute(
        _SORTED.format(
            parts=parts,
            columns=", ".join(READ.names),
            targets=", ".join(
                f"{'asked' if each in _OF_ASKED else 'target'}.{each}" for each in READ.names
            ),
            first=-(2**63),
            last=2**63 - 1,
            path=path.replace("'", "''"),
        )
    )
