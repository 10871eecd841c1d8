"""Parquet files as batches."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

import pyarrow.parquet as pq

from . import _parquet
from ._batches import Batch, WrongColumnsError
from ._tables import batch_of, check_type, columns_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._batches import BadRecords, Columns, Input


def read_parquet(given: Input, columns: Columns, _bad: BadRecords) -> Iterator[Batch]:
    """Go through a Parquet file."""
    # By its handle: Arrow takes no path that is not UTF-8.
    with open(given.path, "rb") as source:
        yield from _batches_in(given, source, columns)


def _batches_in(given: Input, source: IO[bytes], columns: Columns) -> Iterator[Batch]:
    schema = pq.read_schema(source)
    if len(set(schema.names)) < len(schema.names):
        raise WrongColumnsError(f"{given.path}: two columns have the same name")
    named = columns_of(given, schema.names, columns)
    for what, name in named.items():
        check_type(given, what, schema.field(name))
    for batch, share in _parquet.batches(source, given.path, named["body"]):
        yield batch_of(batch, named, int(given.size * share))
