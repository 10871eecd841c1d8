"""Parquet files as batches of bounded size, however large their row groups, pages and cells are.

Arrow unpacks a page as a whole, so that pages beyond a limit are refused, before they are read.
Text is read in one of two ways. Where all pages of a column have numbers of a dictionary, that is
kept: a long text that repeats takes no more than one. In other columns Arrow would add each value
to the dictionary, until it has the row group as a whole: they are decoded out, in batches of so few
rows that texts of the dictionary cannot fill the memory either.
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

#: Rows and bytes of a batch.
ROWS = 2_048
BYTES = 8 * 1024 * 1024

#: The types of columns that have text or bytes.
TEXT = re.compile(r"(large_)?(string|binary)(_view)?")

#: Bytes that pages may unpack to, those of all columns together. Arrow takes up to four times as
#: much to read them. Writers make pages of a megabyte, DuckDB of at most a hundred, and Arrow of up
#: to 1,024 rows.
MAX_UNPACKED = 256 * 1024 * 1024

#: Bytes that a batch may have at the most, where texts are as long as they can be.
_MAX_BYTES = 8 * BYTES

#: Bytes of a column that are read ahead.
_AHEAD = 1024 * 1024


def batches(source: IO[bytes], path: str, body: str) -> Iterator[tuple[Any, float]]:
    """Go through a file, which is called ``path`` in messages.

    Gives record batches with the types of the file, but for the column ``body``, which may be a
    dictionary; and which share of all rows has been read.

    Raises:
        UnreadableError: it takes too much memory.
        ValueError: it is broken.
    """
    file = _File(source, path)
    done = 0
    for number in range(file.metadata.num_row_groups):
        for batch in file.batches(number):
            for part in _parts(batch):
                done += len(part)
                decoded = _decoded(part, file.schema, body)
                yield decoded, done / max(file.metadata.num_rows, 1)


class _File:
    """A file whose row groups are read one after the other.

    Raises:
        UnreadableError: it takes too much memory.
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
        most = max((sum(each.largest for each in some) for some in self._columns), default=0)
        if most > MAX_UNPACKED:
            raise UnreadableError(
                f"{path}: its largest pages unpack to {most:,} bytes, and at most "
                f"{MAX_UNPACKED:,} are read; write it with smaller pages or shorter cells"
            )

    def batches(self, number: int) -> Iterator[Any]:
        """Go through a row group; columns that are dictionaries stay so.

        Raises:
            UnreadableError: a column is in an encoding that is not read.
        """
        texts = [each for each in self._columns[number] if each.name in self._texts]
        for each in texts:
            if _pages.DELTA in each.encodings:
                raise UnreadableError(
                    f"{self._path}: the column {each.name!r} is in the encoding DELTA_BYTE_ARRAY, "
                    "which is not read; write it in another"
                )
        coded = tuple(each.name for each in texts if _pages.CODED.issuperset(each.encodings))
        size = self._rows_at_once(number, [each for each in texts if each.name not in coded])
        yield from self._reader(coded).iter_batches(batch_size=size, row_groups=[number])

    def _reader(self, coded: tuple[str, ...]) -> Any:
        """Return a reader that keeps the dictionaries of some columns."""
        if coded not in self._readers:
            self._readers[coded] = pq.ParquetFile(
                self._source, metadata=self.metadata, read_dictionary=list(coded), **self._options
            )
        return self._readers[coded]

    def _rows_at_once(self, number: int, decoded: list[Column]) -> int:
        """Return how many rows a batch of a row group may have; ``decoded`` are decoded out."""
        group = self.metadata.row_group(number)
        usual: int = BYTES * group.num_rows // max(group.total_byte_size, 1)
        longest = sum(max(each.density, self._longest(number, each)) for each in decoded)
        return max(1, min(ROWS, usual, int(_MAX_BYTES / max(longest, 1))))

    def _longest(self, number: int, column: Column) -> int:
        """Return the bytes of the longest text in the dictionary of a column, or more."""
        if not _pages.CODED.intersection(column.encodings):
            return 0
        if column.encodings[0] not in _pages.CODED:
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


def _parts(batch: Any) -> Iterator[Any]:
    """Go through parts of a batch that have no more bytes than a batch may have, decoded out."""
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


def _decoded(batch: Any, schema: Any, body: str) -> Any:
    """Return a batch with the types that its columns have in the file, but for bodies."""
    columns = [
        column if _is_kept(column, field, body) else column.cast(field.type)
        for column, field in zip(batch.columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _is_kept(column: Any, field: Any, body: str) -> bool:
    if column.type == field.type:
        return True
    # Each text of a dictionary is read, also of one that has the texts of other batches.
    return field.name == body and len(column.dictionary) <= len(column)
