"""Parquet files as batches of bounded size, however large their row groups, pages and cells are.

Arrow decompresses whole pages, so pages beyond a limit are refused before they are read. If all
pages of a text column are dictionary-encoded, Arrow keeps the dictionary: a long text that repeats
takes memory once. In other columns Arrow would add each value to the dictionary, until it holds the
whole row group: these are decoded, in batches of so few rows that texts of the dictionary cannot
fill the memory either.
"""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING, Any

import pyarrow.parquet as pq

from ..errors import UnreadableError
from . import _pages
from ._arrow import pa, pc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._pages import Column

#: The maximum rows and bytes of a batch.
ROWS = 2_048
BYTES = 8 * 1024 * 1024

#: The names of types for text and bytes.
TEXT = re.compile(r"(large_)?(string|binary)(_view)?")

#: The maximum decompressed size of the largest pages of all columns, in bytes. Arrow takes up to
#: four times as much to read them. Writers make pages of a megabyte, DuckDB of at most a hundred,
#: and Arrow of up to 1,024 rows.
MAX_UNPACKED = 256 * 1024 * 1024

#: The maximum size of a batch in bytes if all its texts are the longest ones possible.
_MAX_BYTES = 8 * BYTES

#: Bytes to read ahead in a column.
_AHEAD = 1024 * 1024


def batches(source: IO[bytes], path: str, body: str) -> Iterator[tuple[Any, float]]:
    """Yield record batches, and the share of all rows read so far.

    The columns have the types of the file, except that ``body`` may be a dictionary. ``path`` is
    for error messages.

    Raises:
        UnreadableError: it needs too much memory.
        ValueError: it is broken.
    """
    file = _File(source, path)
    done = 0
    for number in range(file.metadata.num_row_groups):
        for batch in file.batches(number):
            for part in _split(batch):
                done += len(part)
                decoded = _decode(part, file.schema, body)
                yield decoded, done / max(file.metadata.num_rows, 1)


class _File:
    """A file whose row groups are read in order.

    Raises:
        UnreadableError: it needs too much memory.
        ValueError: it is broken.
    """

    def __init__(self, source: IO[bytes], path: str) -> None:
        self._source = source
        self._path = path
        self._readers: dict[tuple[str, ...], Any] = {}
        self._options: dict[str, Any] = {"pre_buffer": False, "buffer_size": _AHEAD}
        first = pq.ParquetFile(source, **self._options)
        self._readers[()] = first
        self.metadata = first.metadata
        self.schema = first.schema_arrow
        self._texts = {field.name for field in self.schema if TEXT.fullmatch(str(field.type))}
        groups = range(self.metadata.num_row_groups)
        self._columns = [_pages.columns(source, self.metadata.row_group(each)) for each in groups]
        largest = max((sum(each.largest for each in some) for some in self._columns), default=0)
        if largest > MAX_UNPACKED:
            raise UnreadableError(
                f"{path}: its largest pages unpack to {largest:,} bytes; the limit is "
                f"{MAX_UNPACKED:,}. Write it with smaller pages or shorter cells"
            )

    def batches(self, number: int) -> Iterator[Any]:
        """Yield the batches of a row group, with dictionaries kept.

        Raises:
            UnreadableError: a column has an unsupported encoding.
        """
        texts = [each for each in self._columns[number] if each.name in self._texts]
        for each in texts:
            if _pages.DELTA_BYTE_ARRAY in each.encodings:
                raise UnreadableError(
                    f"{self._path}: column {each.name!r} has the unsupported encoding "
                    "DELTA_BYTE_ARRAY; write it with another"
                )
        encoded = tuple(
            each.name for each in texts if _pages.DICTIONARY_ENCODINGS.issuperset(each.encodings)
        )
        size = self._max_rows(number, [each for each in texts if each.name not in encoded])
        yield from self._reader(encoded).iter_batches(batch_size=size, row_groups=[number])

    def _reader(self, encoded: tuple[str, ...]) -> Any:
        """Return a reader that keeps the dictionaries of some columns."""
        if encoded not in self._readers:
            self._readers[encoded] = pq.ParquetFile(
                self._source, metadata=self.metadata, read_dictionary=list(encoded), **self._options
            )
        return self._readers[encoded]

    def _max_rows(self, number: int, decoded: list[Column]) -> int:
        """Return the maximum rows of a batch; ``decoded`` are the columns without dictionaries."""
        group = self.metadata.row_group(number)
        average: int = BYTES * group.num_rows // max(group.total_byte_size, 1)
        longest = sum(max(each.density, self._longest(number, each)) for each in decoded)
        return max(1, min(ROWS, average, int(_MAX_BYTES / max(longest, 1))))

    def _longest(self, number: int, column: Column) -> int:
        """Return an upper bound of the longest text in a column's dictionary, in bytes."""
        if not _pages.DICTIONARY_ENCODINGS.intersection(column.encodings):
            return 0
        if column.encodings[0] not in _pages.DICTIONARY_ENCODINGS:
            # The dictionary comes later.
            return column.dictionary
        name = column.name
        reader = self._reader((name,))
        batch = next(reader.iter_batches(1, row_groups=[number], columns=[name]), None)
        if batch is None or batch.schema.names != [name]:
            return column.dictionary
        values = batch.column(0)
        if not pa.types.is_dictionary(values.type) or not len(values.dictionary):
            return column.dictionary
        return int(pc.max(pc.binary_length(values.dictionary)).as_py() or 0)


def _split(batch: Any) -> Iterator[Any]:
    """Yield slices of a batch of at most `BYTES` when decoded, or of one row."""
    total = None
    for column in batch.columns:
        if pa.types.is_dictionary(column.type):
            sizes = pc.binary_length(column.dictionary).cast(pa.int64()).take(column.indices)
            sizes = pc.fill_null(sizes, 0)
            total = sizes if total is None else pc.add(total, sizes)
    if total is None or (pc.sum(total).as_py() or 0) <= BYTES:
        yield batch
        return
    start = filled = 0
    for row, size in enumerate(total.to_pylist()):
        if filled and filled + size > BYTES:
            yield batch.slice(start, row - start)
            start, filled = row, 0
        filled += size
    yield batch.slice(start)


def _decode(batch: Any, schema: Any, body: str) -> Any:
    """Return a batch with the types of the file, except that the body may be a dictionary."""
    # Arrow does not cast dictionaries to views.
    columns = [
        column if _keeps_type(column, field, body) else column.dictionary_decode().cast(field.type)
        for column, field in zip(batch.columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _keeps_type(column: Any, field: Any, body: str) -> bool:
    if column.type == field.type:
        return True
    # All texts of a dictionary are parsed, so one with texts of other batches costs more.
    return field.name == body and len(column.dictionary) <= len(column)
