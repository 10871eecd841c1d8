"""Parquet's page headers: how much memory a file takes, before anything of it is unpacked.

A reader unpacks a column page by page, and allocates what the header of a page says that it
unpacks to, which may be gigabytes. The footer of the file need not say so. A header is a struct of
Thrift's compact protocol, right before its page (https://parquet.apache.org/docs/file-format/); it
is read here as Arrow reads it, so that no page is overlooked.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

# Types of Thrift's compact protocol.
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)

# Types of pages.
_DATA, _DICTIONARY, _DATA_V2 = 0, 2, 3

#: Where in a header a page says how many values it has, and in which encoding: the numbers of
#: fields in fields.
_VALUES = {_DATA: (5, 1), _DATA_V2: (8, 1)}
_ENCODINGS = {_DATA: (5, 2), _DATA_V2: (8, 4)}

#: The encodings in which values are numbers of entries in a dictionary: PLAIN_DICTIONARY and
#: RLE_DICTIONARY.
CODED = frozenset({2, 8})
#: The encoding in which a value begins as the one before it, DELTA_BYTE_ARRAY: a page of a
#: megabyte may have thousands of them.
DELTA = 7

#: Structs in structs; those of a page header are three deep.
_DEEPEST = 32

#: Bytes of a header, without text that stands in it: usual ones have some 30.
_LONGEST = 10_000

#: Pages of a column without a value, before it is no longer read.
_MAX_EMPTY = 1_000


class Page(NamedTuple):
    """What the header of a page says; sizes are in bytes."""

    kind: int
    packed: int
    unpacked: int
    values: int
    encoding: int

    @property
    def size(self) -> int:
        """What it takes, packed or not."""
        return max(self.packed, self.unpacked)


class Column(NamedTuple):
    """What the pages of a column in a row group say together.

    Attributes:
        name: Where it stands in the schema.
        largest: Bytes of its largest page, and of its dictionary.
        dictionary: Bytes of the dictionary; no value that it codes is longer.
        density: Bytes of a value in the page that has the most of them.
        encodings: Of its pages, in their order.
    """

    name: str
    largest: int
    dictionary: int
    density: float
    encodings: tuple[int, ...]


def columns(file: IO[bytes], group: Any) -> list[Column]:
    """Return what the pages of a row group say, by its metadata.

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
    """Go through the pages of a column, as readers do: until it has all its values.

    Raises:
        ValueError: a header cannot be read.
    """
    at = column.data_page_offset
    # Where there is no dictionary, some writers say that it is at 0.
    if column.has_dictionary_page and 0 < (column.dictionary_page_offset or 0) < at:
        at = column.dictionary_page_offset
    left = column.num_values
    empty = 0
    while left > 0:
        file.seek(at)
        page = _Header(file).page()
        if min(page.packed, page.unpacked, page.values) < 0 or empty > _MAX_EMPTY:
            raise ValueError(f"the page at byte {at:,} cannot be read")
        yield page
        left -= page.values
        empty += not page.values
        at = file.tell() + page.packed


class _Header:
    """The header of a page, read where a file stands.

    Raises:
        ValueError: it cannot be read.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._start = file.tell()
        self._left = _LONGEST
        self._numbers: dict[tuple[int, ...], int] = {}

    def page(self) -> Page:
        """Return what it says."""
        self._struct(())
        kind, unpacked, packed = (self._numbers.get((field,), -1) for field in (1, 2, 3))
        values = self._numbers.get(_VALUES[kind], -1) if kind in _VALUES else 0
        encoding = self._numbers.get(_ENCODINGS[kind], -1) if kind in _ENCODINGS else -1
        return Page(kind, packed, unpacked, values, encoding)

    def _byte(self) -> int:
        found = self._file.read(1)
        self._left -= 1
        if not found or self._left < 0:
            raise ValueError(f"the page header at byte {self._start:,} cannot be read")
        return found[0]

    def _unsigned(self) -> int:
        """Read a number of 32 bits at most: longer ones are cut, as Arrow cuts them."""
        number = shift = 0
        while (byte := self._byte()) & 0x80:
            number |= (byte & 0x7F) << shift
            shift += 7
        return (number | byte << shift) & 0xFFFF_FFFF

    def _signed(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)

    def _struct(self, path: tuple[int, ...]) -> None:
        """Read a struct, and keep its integers by the numbers of their fields."""
        if len(path) > _DEEPEST:
            raise ValueError(f"the page header at byte {self._start:,} is too deep")
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._signed()
            # Of 16 bits, as Arrow has them.
            field = (field + 0x8000 & 0xFFFF) - 0x8000
            # A type that is not the field's is skipped by readers.
            if head & 15 == _I32:
                self._numbers[*path, field] = self._signed()
            elif head & 15 not in (_TRUE, _FALSE):
                self._value(head & 15, (*path, field))

    def _value(self, kind: int, path: tuple[int, ...]) -> None:
        """Read past a value: no field that is wanted is in a list or a map."""
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
