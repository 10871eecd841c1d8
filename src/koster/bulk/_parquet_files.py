"""Parquet files as batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

import pyarrow.parquet as pq

from . import _parquet
from ._batches import BadRecords, Batch, Columns, Input, WrongColumnsError
from ._tables import check_type, find_columns, to_batch


def read_parquet(source: Input, columns: Columns, bad: BadRecords) -> Iterator[Batch]:
    """Yield the batches of a Parquet file."""
    # By its handle: Arrow rejects paths that are not UTF-8.
    with open(source.file, "rb") as file:
        yield from _batches_in(source, file, columns, bad)


def _batches_in(
    source: Input, file: IO[bytes], columns: Columns, bad: BadRecords
) -> Iterator[Batch]:
    schema = pq.read_schema(file)
    if len(set(schema.names)) < len(schema.names):
        raise WrongColumnsError(f"{source.path}: two columns have the same name")
    roles = find_columns(source, schema.names, columns)
    for role, name in roles.items():
        check_type(source, role, schema.field(name))
    for batch, share in _parquet.batches(file, source.path):
        yield to_batch(batch, roles, int(source.size * share), bad)
