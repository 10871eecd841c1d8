"""The Parquet files with answers of a folder: shards of ``koster bulk``, or of another engine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from ..errors import UnreadableError
from ._arrow import pa
from ._inputs import partitions_of
from ._shards import read_shards
from .kernel import CLASSIFIED


@dataclass(frozen=True, slots=True)
class Shard:
    """A Parquet file with answers.

    Attributes:
        path: Its path.
        rows: How many rows it has.
        partitions: The columns that its path names, such as ``crawl=2026-01/``, with their value.
        question: The question that it answers; None if another engine wrote it.
        bad: How many records of its input could not be read.
    """

    path: str
    rows: int
    partitions: dict[str, str | None]
    question: dict[str, Any] | None = None
    bad: int = 0


def find_answers(folder: str | os.PathLike[str]) -> list[Shard]:
    """Return the answers of ``koster bulk``, or those that `koster.bulk.spark` wrote.

    Raises:
        UnreadableError: the folder has no answers about how much is blocked, or other files.
    """
    try:
        return [
            Shard(path, metadata["rows"], {}, metadata["question"], metadata["bad"])
            for path, metadata in read_shards(folder)
        ]
    except UnreadableError:
        others = list(_parquet_files(Path(folder)))
        if not others:
            raise
    return [_foreign(path, folder) for path in others]


def _parquet_files(folder: Path) -> Iterator[Path]:
    """Yield the Parquet files below a folder, without hidden ones."""
    for base, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name[0] not in "._")
        for name in sorted(files):
            if name.endswith(".parquet") and name[0] not in "._":
                yield Path(base, name)


def _foreign(path: Path, folder: str | os.PathLike[str]) -> Shard:
    """Return a file that another engine wrote.

    Raises:
        UnreadableError: it has no answers about how much of sites is blocked.
    """
    try:
        with path.open("rb") as file:
            parquet = pq.ParquetFile(file)
            schema, rows = parquet.schema_arrow, parquet.metadata.num_rows
    except (OSError, pa.ArrowException) as error:
        raise UnreadableError(f"{path}: {str(error).splitlines()[0]}") from error
    if not _has_answers(schema):
        raise UnreadableError(
            f"{path}: has no column robots with the answers of koster bulk classify, or of "
            "koster.bulk.spark.classify"
        )
    return Shard(str(path), rows, partitions_of(os.path.relpath(path, folder)))


def _has_answers(schema: Any) -> bool:
    if "robots" not in schema.names or not pa.types.is_list(schema.field("robots").type):
        return False
    value = schema.field("robots").type.value_type
    if not pa.types.is_struct(value):
        return False
    return set(CLASSIFIED.names) <= {field.name for field in value}
