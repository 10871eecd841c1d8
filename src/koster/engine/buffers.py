"""Arrow buffers as bytes, for loops over batches.

In C they need Cython's memory views, a third of a megabyte of code in each module that uses them,
so this is not part of `koster.engine.memory`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from .memory import Bytes

    #: The concatenated bytes of many files.
    Buffer: TypeAlias = Any
    #: Integers of 64 bits.
    Longs: TypeAlias = Any


def address(data: Buffer) -> Bytes:
    """Return the bytes of a buffer; see `koster.engine.memory.part`."""
    found: Bytes = data
    return found
