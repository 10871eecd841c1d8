"""The memory of a report: on answers about ten times more fetches, and again."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import koster
from koster.bulk import kernel
from koster.bulk._archived import ARCHIVED
from koster.bulk._shards import KEY
from koster.bulk.runs import Question

from .measure import Cost, child, cost, table

#: Fetches of a crawl, and of a shard.
_CRAWL, _SHARD = 1_000_000, 100_000

_AGENTS = ("GPTBot", "CCBot", "Googlebot", "ClaudeBot")
_BODIES = (
    b"User-agent: *\nDisallow: /a\n",
    b"User-agent: GPTBot\nDisallow: /\n",
    b"",
    b"User-agent: *\nDisallow: /\n",
    None,
)


def run(rounds: int) -> dict[str, float]:
    """Report on a tenth of a crawl, on one, and on ten."""
    rows = []
    for count in (100_000, 1_000_000, 10_000_000)[: 3 if rounds > 1 else 2]:
        with tempfile.TemporaryDirectory() as folder:
            answers = Path(folder, "answers")
            answers.mkdir()
            _write(answers, count)
            command = ["bulk", "report", str(answers), "-o", str(Path(folder, "r.html"))]
            taken = Cost(*child(cost, [sys.executable, "-m", "koster", *command], folder))
        each = f"{taken.seconds / count * 1e6:.1f} µs"
        rows.append([f"{count:,}", f"{taken.seconds:.1f} s", each, f"{taken.megabytes:,.0f} MB"])
    print("## koster bulk report\n")
    table(["fetches", "time", "a fetch", "peak memory"], rows)
    return {}


def _write(folder: Path, count: int) -> None:
    """Write shards of fetches: six of ten have a file, two redirect to the host with www."""
    few = kernel.classify(pa.array(_BODIES, pa.binary()), _AGENTS)
    schema = ARCHIVED.append(pa.field("robots", few.type))
    source = np.random.default_rng(20261130)
    metadata = {
        "version": koster.__version__, "question": Question("classify", _AGENTS).record(),
        "input": {}, "rows": _SHARD, "bad": 0, "listed": [],
    }  # fmt: skip
    for start in range(0, min(count, _CRAWL), _SHARD):
        fetches = _fetches(source, start, few)
        # The crawls have the same sites.
        for crawl in range(max(count // _CRAWL, 1)):
            columns = {**fetches, "crawl": pa.repeat(f"CC-MAIN-2026-{crawl:02}", _SHARD)}
            arrays = [
                columns[field.name].cast(field.type)
                if field.name in columns
                else pa.nulls(_SHARD, field.type)
                for field in schema
            ]
            found = pa.Table.from_arrays(arrays, schema=schema)
            found = found.replace_schema_metadata({KEY: json.dumps(metadata)})
            path = folder / f"{crawl}-{start // _SHARD:010x}.parquet"
            pq.write_table(found, path, compression="zstd", row_group_size=16_384)


def _fetches(source: np.random.Generator, start: int, few: Any) -> dict[str, Any]:
    kinds = source.integers(0, 10, _SHARD)
    hosts = np.char.add((np.arange(_SHARD) + start).astype(str), ".example")
    # The targets of redirects: nine of ten were fetched.
    www = (np.arange(_SHARD) % 10 == 5) | (kinds == 5)
    is_redirect = (kinds > 5) & (kinds < 8) & ~www
    origins = np.char.add("https://", np.where(www, np.char.add("www.", hosts), hosts))
    targets = np.char.add(np.char.add("https://www.", np.roll(hosts, 1)), "/robots.txt")
    classes = np.select(
        [kinds < 6, is_redirect, kinds == 8], ["ok", "redirect", "unavailable"], "unreachable"
    )
    moments = 1_772_000_000_000_000 + source.integers(0, 10**12, _SHARD)
    answers = np.where(kinds < 6, source.integers(0, 4, _SHARD), 4)
    return {
        "url": pa.array(np.char.add(origins, "/robots.txt")),
        "origin": pa.array(origins),
        "fetched": pa.array(moments, pa.timestamp("us", "UTC")),
        "class": pa.array(classes),
        "location": pa.array(targets, mask=~is_redirect),
        "robots": few.take(pa.array(answers)),
    }
