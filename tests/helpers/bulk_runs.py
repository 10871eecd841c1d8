"""Helpers that run koster bulk and read its results."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
from click.testing import CliRunner, Result

from koster._cli.root import koster as command
from koster.bulk import (
    runs,
)
from koster.bulk.runs import Question

GPT = Question("classify", ("GPTBot",))


def bulk(*arguments: object) -> Result:
    return CliRunner().invoke(command, ["bulk", *map(str, arguments)])


def rows(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of all shards in a folder."""
    table = pyarrow.dataset.dataset(folder, format="parquet").to_table()
    records: list[dict[str, Any]] = table.to_pylist()
    return records


def run_answers(question: Question, *paths: Path, jobs: int = 1) -> list[dict[str, Any]]:
    """Run a question on files and return the rows."""
    folder = paths[0].parent / f"out-{random.random()}"
    result = runs.run(question, runs.find_inputs(map(str, paths)), folder, jobs)
    assert not result.failed
    return rows(folder)


def as_jsonl(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(each) + "\n" for each in records))


def as_csv(path: Path, records: list[dict[str, Any]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, records[0], delimiter="\t" if path.suffix == ".tsv" else ",")
        writer.writeheader()
        writer.writerows(records)


def as_parquet(path: Path, records: list[dict[str, Any]]) -> None:
    with path.open("wb") as file:
        pq.write_table(pa.Table.from_pylist(records), file)


WRITERS: dict[str, Callable[[Path, list[dict[str, Any]]], None]] = {
    "robots.jsonl": as_jsonl, "robots.ndjson": as_jsonl, "robots.json": as_jsonl,
    "robots.csv": as_csv, "robots.tsv": as_csv, "robots.parquet": as_parquet,
}  # fmt: skip


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.parquet")}
