"""Columns of bytes that are parts of one buffer.

The values of Arrow's columns of bytes are adjacent, so that Arrow has to copy what is not. The
robots.txt files of an archive are read where they are.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._arrow import Numbers, np, pa
from ._loops import batches as _batches

if TYPE_CHECKING:
    # A type of C in compiled modules.
    from ._loops.buffers import Buffer


@dataclass(frozen=True, slots=True)
class Parts:
    """A column: number n is ``data[starts[n]:ends[n]]``, or null if that start is negative."""

    data: Buffer
    starts: Numbers
    ends: Numbers

    @classmethod
    def of(cls, column: pa.Array) -> Parts:
        """Return a large_binary array as parts of its buffer."""
        data, bounds = buffers(column)
        places = np.asarray(bounds)
        starts, ends = places[:-1], places[1:]
        if column.null_count:
            is_null = column.is_null().to_numpy(zero_copy_only=False)
            starts, ends = np.where(is_null, -1, starts), np.where(is_null, -1, ends)
        return cls(data, starts, ends)

    def __len__(self) -> int:
        return len(self.starts)

    def has_nulls(self) -> bool:
        """Tell whether a value is null."""
        return bool(len(self)) and int(self.starts.min()) < 0

    def slice(self, start: int, count: int | None = None) -> Parts:
        """Return the values from ``start`` on, or ``count`` of them."""
        some = slice(start, None if count is None else start + count)
        return Parts(self.data, self.starts[some], self.ends[some])

    def take(self, order: Numbers) -> Parts:
        """Return the values with these numbers."""
        return Parts(self.data, self.starts[order], self.ends[order])

    def to_arrow(self) -> pa.Array:
        """Return a copy as large_binary."""
        bounds = array("q", bytes(8 * (len(self) + 1)))
        raw = _batches.gather(self.data, self.starts, self.ends, bounds)
        valid = pa.array(self.starts >= 0).buffers()[1] if self.has_nulls() else None
        return pa.Array.from_buffers(
            pa.large_binary(), len(self), [valid, pa.py_buffer(bounds), pa.py_buffer(raw)]
        )

    def to_pylist(self) -> list[Any]:
        """Return the values: bytes, or None for null."""
        return [
            None if start < 0 else bytes(self.data[start:end])
            for start, end in zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        ]


def buffers(column: pa.Array) -> tuple[memoryview, memoryview]:
    """Return the bytes of a large_binary array, and the offsets of its values."""
    _, bounds, data = column.buffers()
    if not len(column):
        return memoryview(b""), memoryview(array("q", [0]))
    starts = memoryview(bounds).cast("B").cast("q")
    starts = starts[column.offset : column.offset + len(column) + 1]
    return memoryview(data).cast("B") if data else memoryview(b""), starts
