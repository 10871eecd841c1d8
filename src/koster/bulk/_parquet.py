"""Parquet files as batches of bounded size, however large their row groups, pages and cells are.

Arrow decompresses whole pages, so pages beyond a limit are refused before they are read. A batch
has so few rows that its texts cannot fill the memory, even if each is the longest of the
dictionary, where a text that repeats takes a few bits a row.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import IO, Any

import pyarrow.parquet as pq

from ..errors import UnreadableError
from . import _pages
from ._arrow import pa, pc
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

#: Bytes to read ahead in a column. Without its buffer, Arrow would read whole columns.
_OPTIONS: dict[str, Any] = {"pre_buffer": False, "buffer_size": 1024 * 1024}


def batches(
    source: IO[bytes], path: str, numbers: Iterable[int] | None = None
) -> Iterator[tuple[Any, float]]:
    """Yield record batches, and the share of all rows read so far.

    ``path`` is for error messages; ``numbers`` are the row groups to read. Default: all.

    Raises:
        UnreadableError: it needs too much memory, or has an unsupported encoding.
        ValueError: it is broken.
    """
    file = pq.ParquetFile(source, **_OPTIONS)
    wanted = range(file.num_row_groups) if numbers is None else numbers
    groups = {number: file.metadata.row_group(number) for number in wanted}
    columns = {number: _pages.columns(source, group) for number, group in groups.items()}
    _check_pages(columns.values(), path)
    total = sum(group.num_rows for group in groups.values())
    names = {field.name for field in file.schema_arrow if _is_text(field.type)}
    done = 0
    for number, group in groups.items():
        texts = [each for each in columns[number] if each.name in names]
        _check_encodings(texts, path)
        rows = min(ROWS, BYTES * group.num_rows // max(group.total_byte_size, 1))
        if rows > 1:
            longest = sum(max(each.density, _longest(source, number, each)) for each in texts)
            rows = min(rows, int(_MAX_BYTES / max(longest, 1)))
        for batch in file.iter_batches(max(rows, 1), row_groups=[number]):
            # Repeated texts may have made it larger than the row group says.
            size = max(1, len(batch) * BYTES // max(batch.nbytes, BYTES))
            for start in range(0, len(batch), size):
                part = batch.slice(start, size)
                done += len(part)
                yield part, done / max(total, 1)


def _check_pages(columns: Iterable[list[Column]], path: str) -> None:
    largest = max((sum(each.largest for each in some) for some in columns), default=0)
    if largest > MAX_UNPACKED:
        raise UnreadableError(
            f"{path}: its largest pages unpack to {largest:,} bytes; the limit is "
            f"{MAX_UNPACKED:,}. Write it with smaller pages or shorter cells"
        )


def _check_encodings(columns: list[Column], path: str) -> None:
    for each in columns:
        if _pages.DELTA_BYTE_ARRAY in each.encodings:
            raise UnreadableError(
                f"{path}: column {each.name!r} has the unsupported encoding DELTA_BYTE_ARRAY; "
                "write it with another"
            )


def _is_text(type_: Any) -> bool:
    value_type = type_.value_type if pa.types.is_dictionary(type_) else type_
    return bool(TEXT.fullmatch(str(value_type)))


def _longest(source: IO[bytes], number: int, column: Column) -> int:
    """Return an upper bound of the longest text in a column's dictionary, in bytes."""
    if ROWS * column.dictionary <= BYTES or column.encodings[0] not in _pages.DICTIONARY_ENCODINGS:
        # The dictionary is small, or comes later.
        return column.dictionary
    name = column.name
    reader = pq.ParquetFile(source, read_dictionary=[name], **_OPTIONS)
    batch = next(reader.iter_batches(1, row_groups=[number], columns=[name]), None)
    if batch is None or batch.schema.names != [name]:
        return column.dictionary
    values = batch.column(0)
    if not pa.types.is_dictionary(values.type) or not len(values.dictionary):
        return column.dictionary
    return int(pc.max(pc.binary_length(values.dictionary)).as_py() or 0)
