"""Prepares Arrow columns for `koster.bulk._loops.batches`: bytes in one buffer, without repeats.

Takes all of Arrow's types for text and bytes: string, large_string, binary, large_binary, views,
dictionaries, whole or in chunks; and objects with ``__arrow_c_array__``.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, TypeAlias

from ._arrow import Numbers, np, pa, pc
from ._loops import batches as _batches
from ._parts import Parts

#: pyarrow's arrays, objects that export themselves as such, and sequences.
Column: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class EncodedColumn:
    """A column as distinct values and their codes.

    ``codes`` (int32, null where the column is) are indices into ``values``, which have no nulls;
    ``chunks`` are the lengths of the column's chunks, None if it has none.
    """

    codes: pa.Array
    values: Parts
    chunks: tuple[int, ...] | None

    def decode(self, results: pa.Array) -> pa.Array | pa.ChunkedArray:
        """Expand results for the values to results for the column."""
        whole = results if self._is_plain(len(results)) else results.take(self.codes)
        return in_chunks(whole, self.chunks)

    def repeat(self, width: int, *cells: bytearray | array[int]) -> list[Any]:
        """Expand buffers with ``width`` cells for each value to such for each row of the column.

        Those for null are arbitrary.
        """
        if self._is_plain(len(self.values)):
            return [*cells]
        codes = self.codes.fill_null(0).to_numpy()
        found = []
        for each in cells:
            kind = np.uint8 if isinstance(each, bytearray) else np.int32
            found.append(
                np.frombuffer(each, kind).reshape(-1, width).take(codes, axis=0).reshape(-1)
                if each
                else np.zeros(width * len(codes), kind)
            )
        return found

    def _is_plain(self, values: int) -> bool:
        """Return whether each row has a value of its own, in order."""
        return (
            self.codes.null_count == 0
            and len(self.codes) == values
            and _batches.count_up(integers(self.codes))
        )


def in_chunks(whole: pa.Array, chunks: tuple[int, ...] | None) -> pa.Array | pa.ChunkedArray:
    """Return an array in chunks of these lengths."""
    if chunks is None:
        return whole
    starts = accumulate(chunks, initial=0)
    pieces = [whole.slice(start, size) for start, size in zip(starts, chunks, strict=False)]
    return pa.chunked_array(pieces, type=whole.type)


def encode_column(column: Column | Parts, what: str) -> EncodedColumn:
    """Return a column as distinct values and their codes; ``what`` names it in errors.

    Raises:
        TypeError: it is not a column of text or bytes.
    """
    if isinstance(column, Parts):
        return EncodedColumn(*_encode_plain([column]), None)
    found = to_arrow(column, what)
    chunks = tuple(map(len, found.chunks)) if isinstance(found, pa.ChunkedArray) else None
    pieces = found.chunks if isinstance(found, pa.ChunkedArray) else [found]
    if pa.types.is_dictionary(found.type):
        codes, values = _encode_dictionaries(pieces)
    else:
        codes, values = _encode_plain([Parts.of(to_large_binary(piece)) for piece in pieces])
    return EncodedColumn(codes, values, chunks)


def _encode_dictionaries(pieces: list[Any]) -> tuple[pa.Array, Parts]:
    """Merge the codes and values of arrays that each have their own dictionary."""
    dictionaries = [Parts.of(to_large_binary(piece.dictionary)) for piece in pieces]
    recoded, values = _encode_plain(dictionaries)
    start = 0
    codes = []
    for piece in pieces:
        size = len(piece.dictionary)
        codes.append(recoded.slice(start, size).take(piece.indices.cast(pa.int32())))
        start += size
    return pa.chunked_array(codes, type=pa.int32()).combine_chunks(), values


def _encode_plain(pieces: list[Parts]) -> tuple[pa.Array, Parts]:
    """Return codes and distinct values of columns."""
    numbered = []
    firsts = []
    count = 0
    for nullable in pieces:
        # Nulls are empty values until the end.
        piece = nullable
        if piece.has_nulls():
            piece = Parts(piece.data, np.maximum(piece.starts, 0), np.maximum(piece.ends, 0))
        numbers = array("i", bytes(4 * len(piece)))
        places = array("q", bytes(8 * len(piece)))
        found = _batches.distinct(piece.data, piece.starts, piece.ends, numbers, places)
        numbered.append((integer_array("i", numbers), count))
        firsts.append(piece if found == len(piece) else piece.take(np.asarray(places)[:found]))
        count += found
    if len(pieces) == 1:
        values = firsts[0]
        codes = [numbers for numbers, _ in numbered]
    else:
        copies = [each.to_arrow() for each in firsts]
        together = pa.chunked_array(copies, type=pa.large_binary()).combine_chunks()
        encoded, values = _encode_plain([Parts.of(together)])
        codes = [
            encoded.slice(start).take(numbers) if len(numbers) else numbers
            for numbers, start in numbered
        ]
    if any(piece.has_nulls() for piece in pieces):
        nothing = pa.scalar(None, pa.int32())
        codes = [
            pc.if_else(pa.array(piece.starts >= 0), each, nothing)
            for piece, each in zip(pieces, codes, strict=True)
        ]
    return pa.chunked_array(codes, type=pa.int32()).combine_chunks(), values


def to_arrow(column: Column, what: str) -> pa.Array | pa.ChunkedArray:
    """Return a column as a pyarrow array; ``what`` names it in errors.

    Raises:
        TypeError: it is not a column of text or bytes.
    """
    if isinstance(column, (str, bytes)):
        raise TypeError(f"{what} must be a column of text or bytes, not {type(column).__name__}")
    if hasattr(column, "__arrow_c_stream__") and not isinstance(column, pa.ChunkedArray):
        column = pa.chunked_array(column)
    elif not isinstance(column, (pa.Array, pa.ChunkedArray)):
        try:
            column = pa.array(column)
        except UnicodeEncodeError:
            # Lone surrogates, as `koster.parse` takes them.
            column = pa.array(
                [each.encode("utf-8", "surrogatepass") if isinstance(each, str) else each
                 for each in column]
            )  # fmt: skip
        except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError) as error:
            raise TypeError(f"{what} must be a column of text or bytes: {error}") from error
    type_ = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_null(type_):
        return column.cast(pa.large_binary())
    if not any(is_type(type_) for is_type in _TEXT_OR_BYTES):
        raise TypeError(f"{what} must be a column of text or bytes, not of {column.type}")
    return column


_TEXT_OR_BYTES = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_binary_view,
)


def to_large_binary(column: Any) -> pa.Array:
    """Return text or bytes as one large_binary array, without chunks and dictionaries."""
    column = unchunked(column)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column.cast(pa.large_binary())


def unchunked(column: Any) -> Any:
    """Return a column without chunks."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def to_numpy(column: Any) -> Numbers:
    """Return a column as an array of NumPy."""
    return column.to_numpy(zero_copy_only=False)


def to_text(column: Any) -> pa.Array:
    """Return a column of bytes as text, with U+FFFD for invalid UTF-8."""
    try:
        return column.cast(pa.string())
    except pa.ArrowInvalid:
        values = column.to_pylist()
        texts = [None if each is None else each.decode("utf-8", "replace") for each in values]
        return pa.array(texts, pa.string())


def integers(column: pa.Array) -> memoryview:
    """Return the values of an int32 array; those of nulls are arbitrary."""
    if not len(column):
        return memoryview(array("i"))
    values = memoryview(column.buffers()[1]).cast("B").cast("i")
    return values[column.offset : column.offset + len(column)]


_TYPES = {"i": pa.int32(), "q": pa.int64(), "B": pa.uint8()}


def integer_array(kind: str, values: Any) -> pa.Array:
    """Return a buffer of integers as an array, without a copy."""
    return pa.Array.from_buffers(_TYPES[kind], len(values), [None, pa.py_buffer(values)])
