"""Writes a shard of answers."""

from __future__ import annotations

import base64
import io
from collections.abc import Collection
from contextlib import suppress
from typing import Any

import pyarrow.parquet as pq

from ._arrow import pa

#: The maximum rows and bytes of a row group.
_GROUP_ROWS = 16_384
_GROUP_BYTES = 16 * 1024 * 1024


#: Where Arrow looks for the schema that its columns had.
_SCHEMA_KEY = b"ARROW:schema"


class Writer:
    """Writes tables to a Parquet file in large row groups; same rows, same bytes.

    Readers see the column ``answers`` as that field; its text may have dictionaries, which are
    faster to write. The values of the columns ``distinct`` rarely repeat.
    """

    def __init__(self, file: Any, answers: pa.Field, distinct: Collection[str] = ()) -> None:
        self.rows = 0
        self._file = file
        self._answers = answers
        self._schema: Any = None
        self._distinct = distinct
        self._pending: list[Any] = []
        self._pending_rows = 0
        self._pending_bytes = 0
        self._writer: Any = None

    @property
    def has_begun(self) -> bool:
        """Whether a table was added, so that the columns are known."""
        return self._writer is not None

    def add(self, table: Any) -> None:
        self.rows += table.num_rows
        self._pending.append(table)
        self._pending_rows += table.num_rows
        self._pending_bytes += table.nbytes
        if self._writer is None:
            self._writer = _open(self._file, table.schema, self._distinct)
            place = table.schema.get_field_index(self._answers.name)
            self._schema = table.schema.set(place, self._answers)
        if self._pending_rows >= _GROUP_ROWS or self._pending_bytes >= _GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._pending:
            self._writer.write_table(pa.concat_tables(self._pending), row_group_size=_GROUP_ROWS)
        self._pending, self._pending_rows, self._pending_bytes = [], 0, 0

    def close(self, metadata: dict[bytes, str]) -> None:
        self._flush()
        schema = base64.b64encode(self._schema.serialize())
        self._writer.add_key_value_metadata({**metadata, _SCHEMA_KEY: schema})
        self._writer.close()

    def abandon(self) -> None:
        """Close an incomplete file; does nothing after `close`."""
        if self._writer is not None and self._writer.is_open:
            with suppress(OSError, ValueError, pa.ArrowException):
                self._writer.close()


def _open(file: Any, schema: Any, distinct: Collection[str]) -> Any:
    """Return a writer that does only what pays.

    A dictionary of distinct values makes a file larger, and no reader skips row groups because of
    the least and the greatest value in lists.
    """
    columns = _columns_of(schema)
    repeating = [each.path for each in columns if each.path not in distinct]
    single = [each.path for each in columns if not each.max_repetition_level]
    return pq.ParquetWriter(
        file, schema, compression="zstd", use_dictionary=repeating, write_statistics=single,
        store_schema=False,
    )  # fmt: skip


def _columns_of(schema: Any) -> list[Any]:
    """Return the columns of Parquet for a schema; those of lists and structs have several."""
    empty = io.BytesIO()
    pq.write_table(schema.empty_table(), empty)
    found = pq.ParquetFile(empty).schema
    return [found.column(number) for number in range(len(found))]
