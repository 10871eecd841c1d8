"""Parquet's page headers: how much memory a file needs, before any of it is decompressed.

A reader allocates the size in the header of each page, up to 2 GiB, and writes as much into it as
the page decompresses to. Nothing that pyarrow offers says or limits this: the footer has the sizes
of whole columns, which may have many small pages, and a hostile footer has any size; the limits for
Thrift are those of the footer.

A header is a struct of Thrift's compact protocol, right before its page
(https://parquet.apache.org/docs/file-format/). Only what writers use is read: numbered fields in
order, and no lists. All else is an error, so that Arrow never sees a page which is missed here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any, NamedTuple

# Types of Thrift's compact protocol.
_TRUE, _FALSE, _I32, _I64, _BINARY, _STRUCT = 1, 2, 5, 6, 8, 12

# Types of pages.
_DATA, _DICTIONARY, _DATA_V2 = 0, 2, 3

#: The header fields, as paths of field numbers, with the number and the encoding of values.
_VALUES = {_DATA: (5, 1), _DATA_V2: (8, 1)}
_ENCODINGS = {_DATA: (5, 2), _DATA_V2: (8, 4)}

#: PLAIN_DICTIONARY and RLE_DICTIONARY.
DICTIONARY_ENCODINGS = frozenset({2, 8})
#: Values share prefixes: a page of a megabyte may decode to gigabytes.
DELTA_BYTE_ARRAY = 7

#: Statistics are in the header of a data, which is in that of the page. Eight fields are the most.
_MAX_DEPTH = 3
_MAX_FIELD = 32

#: The maximum number of pages without values in a column.
_MAX_EMPTY = 1_000


class Page(NamedTuple):
    """The header of a page; sizes are in bytes."""

    kind: int
    packed: int
    unpacked: int
    values: int
    encoding: int

    @property
    def size(self) -> int:
        """The larger of both sizes."""
        return max(self.packed, self.unpacked)


class Column(NamedTuple):
    """A summary of a column's pages in a row group.

    Attributes:
        name: The path in the schema.
        largest: The size of the largest page plus that of the dictionary, in bytes.
        dictionary: The size of the dictionary in bytes, which no encoded value exceeds.
        density: The highest average size of a page's values, in bytes.
        encodings: The encodings of the pages, in order of first use.
    """

    name: str
    largest: int
    dictionary: int
    density: float
    encodings: tuple[int, ...]


def columns(file: IO[bytes], group: Any) -> list[Column]:
    """Return the columns of a row group, given its metadata.

    Raises:
        ValueError: a header cannot be read.
    """
    return [_column(file, group.column(number)) for number in range(group.num_columns)]


def _column(file: IO[bytes], column: Any) -> Column:
    largest = dictionary = 0
    density = 0.0
    encodings: dict[int, None] = {}
    for page in pages(file, column):
        if page.kind == _DICTIONARY:
            dictionary = max(dictionary, page.size)
            continue
        largest = max(largest, page.size)
        if page.values:
            density = max(density, page.unpacked / page.values)
            encodings[page.encoding] = None
    return Column(
        column.path_in_schema, largest + dictionary, dictionary, density, tuple(encodings)
    )


def pages(file: IO[bytes], column: Any) -> Iterator[Page]:
    """Yield the pages of a column until it has all its values, as readers do.

    Raises:
        ValueError: a header cannot be read.
    """
    at = column.data_page_offset
    # Some writers put 0 if there is no dictionary.
    if column.has_dictionary_page and 0 < (column.dictionary_page_offset or 0) < at:
        at = column.dictionary_page_offset
    remaining = column.num_values
    empty = 0
    while remaining > 0:
        page = read_page(file, at)
        if min(page.packed, page.unpacked, page.values) < 0 or empty > _MAX_EMPTY:
            raise ValueError(f"the page at byte {at:,} cannot be read")
        yield page
        remaining -= page.values
        empty += not page.values
        at = file.tell() + page.packed


def read_page(file: IO[bytes], at: int) -> Page:
    """Read the header of a page at an offset; the page itself follows.

    Raises:
        ValueError: it cannot be read.
    """
    file.seek(at)
    try:
        numbers = _read_struct(file, ())
    except ValueError as error:
        raise ValueError(f"the page header at byte {at:,} cannot be read: {error}") from None
    kind, unpacked, packed = (numbers.get((field,), -1) for field in (1, 2, 3))
    values = numbers.get(_VALUES[kind], -1) if kind in _VALUES else 0
    encoding = numbers.get(_ENCODINGS[kind], -1) if kind in _ENCODINGS else -1
    return Page(kind, packed, unpacked, values, encoding)


def _read_struct(file: IO[bytes], path: tuple[int, ...]) -> dict[tuple[int, ...], int]:
    """Return the 32-bit integers of a struct by their paths of field numbers."""
    numbers: dict[tuple[int, ...], int] = {}
    field = 0
    while head := _byte(file):
        step, kind = head >> 4, head & 15
        field += step
        if not step or field > _MAX_FIELD or len(path) >= _MAX_DEPTH:
            raise ValueError("too many fields, or not in order")
        if kind == _I32:
            number = _varint(file)
            numbers[*path, field] = (number >> 1) ^ -(number & 1)
        elif kind == _STRUCT:
            numbers |= _read_struct(file, (*path, field))
        elif kind == _BINARY:
            file.seek(_varint(file), 1)
        elif kind == _I64:
            _varint(file, 64)
        elif kind not in (_TRUE, _FALSE):
            raise ValueError(f"a field of type {kind}")
    return numbers


def _varint(file: IO[bytes], bits: int = 32) -> int:
    number = shift = 0
    while (byte := _byte(file)) & 0x80:
        number |= (byte & 0x7F) << shift
        shift += 7
        if shift >= bits:
            raise ValueError("a number is too large")
    number |= byte << shift
    # Arrow would cut it.
    if number >> bits:
        raise ValueError("a number is too large")
    return number


def _byte(file: IO[bytes]) -> int:
    found = file.read(1)
    if not found:
        raise ValueError("the file ends")
    return found[0]
