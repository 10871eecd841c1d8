"""Arrow buffers as bytes, for loops over batches.

In C they need Cython's memory views, a third of a megabyte of code in each module that uses them,
so this is not part of `koster._engine.memory`.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from ..._engine.memory import Bytes

    #: The concatenated bytes of many files.
    Buffer: TypeAlias = Any
    #: Integers of 64 bits.
    Longs: TypeAlias = Any


def address(data: Buffer) -> Bytes:
    """Return the bytes of a buffer; see `part`."""
    found: Bytes = data
    return found


def part(data: Bytes, start: int, size: int) -> Bytes:
    """Return ``size`` bytes from ``start``; C does not copy them."""
    return bytes(data[start : start + size])


def hashed(data: Bytes, start: int, size: int) -> int:
    """Return a hash of ``size`` bytes; at least 0."""
    return hash(bytes(data[start : start + size])) & sys.maxsize


def unfilled(size: int) -> bytearray:
    """Return bytes of any value, all of which the caller sets."""
    return bytearray(size)


def room(target: bytearray) -> bytearray:
    """Return the bytes of a bytearray, for writing."""
    return target
