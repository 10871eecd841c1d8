"""Arrow columns as `koster.engine.batches` wants them: bytes in one buffer, repeats found.

Takes whatever Arrow has for text and bytes: string, large_string, binary, large_binary, views,
dictionaries, in one piece or in chunks; and what gives itself as such (``__arrow_c_array__``).
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from ..engine import batches as _batches
from ._arrow import pa, pc

if TYPE_CHECKING:
    from typing import TypeAlias

    #: What is taken as a column: pyarrow's arrays, what gives itself as such, and sequences.
    Column: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Coded:
    """A column of which every value stands once.

    ``codes`` (int32, null where the column is) are numbers of ``values`` (large_binary, no nulls);
    ``chunks`` are the lengths of the pieces that the column came in, None if in one.
    """

    codes: pa.Array
    values: pa.Array
    chunks: tuple[int, ...] | None

    def spread(self, results: pa.Array) -> pa.Array | pa.ChunkedArray:
        """Return the results for the values as those for the column."""
        is_plain = self.codes.null_count == 0 and len(self.codes) == len(results)
        if is_plain and _batches.count_up(integers(self.codes)):
            whole = results
        else:
            whole = results.take(self.codes)
        return in_chunks(whole, self.chunks)


def in_chunks(whole: pa.Array, chunks: tuple[int, ...] | None) -> pa.Array | pa.ChunkedArray:
    """Return an array in pieces of those lengths."""
    if chunks is None:
        return whole
    starts = accumulate(chunks, initial=0)
    pieces = [whole.slice(start, size) for start, size in zip(starts, chunks, strict=False)]
    return pa.chunked_array(pieces, type=whole.type)


def coded(column: Column, what: str) -> Coded:
    """Return a column with every value once.

    Raises:
        TypeError: it is no column of text or bytes; ``what`` it was given as.
    """
    found = arrow_of(column, what)
    chunks = tuple(map(len, found.chunks)) if isinstance(found, pa.ChunkedArray) else None
    pieces = found.chunks if isinstance(found, pa.ChunkedArray) else [found]
    if pa.types.is_dictionary(found.type):
        codes, values = _of_dictionaries(pieces)
    else:
        codes, values = _of_plain([bytes_in(piece) for piece in pieces])
    return Coded(codes, values, chunks)


def _of_dictionaries(pieces: list[Any]) -> tuple[pa.Array, pa.Array]:
    """Return codes and values of arrays that have them already, each its own."""
    again, values = _of_plain([bytes_in(piece.dictionary) for piece in pieces])
    start = 0
    codes = []
    for piece in pieces:
        size = len(piece.dictionary)
        codes.append(again.slice(start, size).take(piece.indices.cast(pa.int32())))
        start += size
    return pa.chunked_array(codes, type=pa.int32()).combine_chunks(), values


def _of_plain(pieces: list[Any]) -> tuple[pa.Array, pa.Array]:
    """Return codes and values of arrays of large_binary."""
    numbered = []
    firsts = []
    count = 0
    for given in pieces:
        # What stands where nulls are is a value like others until the end.
        piece = _without_nulls(given)
        data, starts = buffers(piece)
        numbers = array("i", bytes(4 * len(piece)))
        places = array("q", bytes(8 * len(piece)))
        found = _batches.runs(data, starts, numbers, places)
        numbers_of = filled("i", numbers)
        if found == len(piece):
            firsts.append(piece)
        else:
            firsts.append(piece.take(filled("q", places).slice(0, found)))
        numbered.append((numbers_of, count))
        count += found
    encoded = pa.chunked_array(firsts, type=pa.large_binary()).combine_chunks().dictionary_encode()
    codes = [
        encoded.indices.slice(start).take(numbers) if len(numbers) else numbers
        for numbers, start in numbered
    ]
    if any(piece.null_count for piece in pieces):
        nothing = pa.scalar(None, pa.int32())
        codes = [
            pc.if_else(piece.is_valid(), each, nothing)
            for piece, each in zip(pieces, codes, strict=True)
        ]
    whole = pa.chunked_array(codes, type=pa.int32()).combine_chunks()
    return whole, encoded.dictionary


def _without_nulls(column: pa.Array) -> pa.Array:
    """Return a large_binary array with its nulls as values, whatever they are."""
    if not column.null_count:
        return column
    _, bounds, data = column.buffers()
    return pa.Array.from_buffers(
        column.type, len(column), [None, bounds, data], null_count=0, offset=column.offset
    )


def arrow_of(column: Column, what: str) -> pa.Array | pa.ChunkedArray:
    """Return a column as Arrow's own.

    Raises:
        TypeError: it is no column of text or bytes.
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
    if not any(of_kind(type_) for of_kind in _KINDS):
        raise TypeError(f"{what} must be a column of text or bytes, not of {column.type}")
    return column


_KINDS = (
    *(pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view),
    *(pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view),
)


def bytes_in(column: Any) -> pa.Array:
    """Return an array of text or bytes as large_binary, dictionaries and pieces put together."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column.cast(pa.large_binary())


def buffers(column: pa.Array) -> tuple[memoryview, memoryview]:
    """Return the bytes of a large_binary array, and the bounds of its values in them."""
    _, bounds, data = column.buffers()
    if not len(column):
        return memoryview(b""), memoryview(array("q", [0]))
    starts = memoryview(bounds).cast("B").cast("q")
    starts = starts[column.offset : column.offset + len(column) + 1]
    return memoryview(data).cast("B") if data else memoryview(b""), starts


def integers(column: pa.Array) -> memoryview:
    """Return the values of an int32 array; where it is null, anything."""
    if not len(column):
        return memoryview(array("i"))
    values = memoryview(column.buffers()[1]).cast("B").cast("i")
    return values[column.offset : column.offset + len(column)]


_TYPES = {"i": pa.int32(), "q": pa.int64(), "B": pa.uint8()}


def filled(kind: str, values: Any) -> pa.Array:
    """Return integers that were filled in as an array, without a copy."""
    return pa.Array.from_buffers(_TYPES[kind], len(values), [None, pa.py_buffer(values)])
