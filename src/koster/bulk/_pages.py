"""Parquet's page headers: how much memory a file needs, before any of it is decompressed.

A reader decompresses a column page by page, and allocates the size in the page header, which may
be gigabytes; the footer of the file need not mention it. A header is a struct of Thrift's compact
protocol, right before its page (https://parquet.apache.org/docs/file-format/). It is read here as
Arrow reads it, so that no page is missed.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

# Types of Thrift's compact protocol.
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)

# Types of pages.
_DATA, _DICTIONARY, _DATA_V2 = 0, 2, 3

#: The header fields, as paths of field numbers, with the number and the encoding of values.
_VALUES = {_DATA: (5, 1), _DATA_V2: (8, 1)}
_ENCODINGS = {_DATA: (5, 2), _DATA_V2: (8, 4)}

#: PLAIN_DICTIONARY and RLE_DICTIONARY.
DICTIONARY_ENCODINGS = frozenset({2, 8})
#: Values share prefixes: a page of a megabyte may decode to gigabytes.
DELTA_BYTE_ARRAY = 7

#: The maximum depth of nested structs; a page header has three.
_MAX_DEPTH = 32

#: The maximum size of a header in bytes, without strings; typical ones have 30.
_MAX_HEADER_BYTES = 10_000

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
        file.seek(at)
        page = _Header(file).page()
        if min(page.packed, page.unpacked, page.values) < 0 or empty > _MAX_EMPTY:
            raise ValueError(f"the page at byte {at:,} cannot be read")
        yield page
        remaining -= page.values
        empty += not page.values
        at = file.tell() + page.packed


class _Header:
    """Reads the header of a page at the file's position.

    Raises:
        ValueError: it cannot be read.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._start = file.tell()
        self._remaining = _MAX_HEADER_BYTES
        self._numbers: dict[tuple[int, ...], int] = {}

    def page(self) -> Page:
        self._struct(())
        kind, unpacked, packed = (self._numbers.get((field,), -1) for field in (1, 2, 3))
        values = self._numbers.get(_VALUES[kind], -1) if kind in _VALUES else 0
        encoding = self._numbers.get(_ENCODINGS[kind], -1) if kind in _ENCODINGS else -1
        return Page(kind, packed, unpacked, values, encoding)

    def _byte(self) -> int:
        found = self._file.read(1)
        self._remaining -= 1
        if not found or self._remaining < 0:
            raise ValueError(f"the page header at byte {self._start:,} cannot be read")
        return found[0]

    def _unsigned(self) -> int:
        """Read a number, cut to 32 bits as Arrow does."""
        number = shift = 0
        while (byte := self._byte()) & 0x80:
            number |= (byte & 0x7F) << shift
            shift += 7
        return (number | byte << shift) & 0xFFFF_FFFF

    def _signed(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)

    def _struct(self, path: tuple[int, ...]) -> None:
        """Read a struct, and store its integers by the path of field numbers."""
        if len(path) > _MAX_DEPTH:
            raise ValueError(f"the page header at byte {self._start:,} is too deep")
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._signed()
            # 16 bits, as in Arrow.
            field = (field + 0x8000 & 0xFFFF) - 0x8000
            # Readers skip a field of an unexpected type.
            if head & 15 == _I32:
                self._numbers[*path, field] = self._signed()
            elif head & 15 not in (_TRUE, _FALSE):
                self._value(head & 15, (*path, field))

    def _value(self, kind: int, path: tuple[int, ...]) -> None:
        """Skip a value: no needed field is in a list or a map."""
        if kind == _STRUCT:
            self._struct(path)
        elif kind in (_I16, _I32, _I64):
            self._unsigned()
        elif kind == _BINARY:
            self._file.seek(self._unsigned(), 1)
        elif kind == _DOUBLE:
            self._file.seek(8, 1)
        elif kind in (_TRUE, _FALSE, _BYTE):
            self._byte()
        elif kind in (_LIST, _SET):
            head = self._byte()
            self._values([head & 15], head >> 4 if head >> 4 < 15 else self._unsigned(), path)
        elif kind == _MAP:
            size = self._unsigned()
            kinds = self._byte() if size else 0
            self._values([kinds >> 4, kinds & 15], size, path)
        else:
            raise ValueError(f"the page header at byte {self._start:,} has a field of type {kind}")

    def _values(self, kinds: list[int], size: int, path: tuple[int, ...]) -> None:
        for _ in range(size):
            for kind in kinds:
                self._value(kind, (*path, -1))
