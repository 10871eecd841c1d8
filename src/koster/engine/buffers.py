"""Arrow buffers as bytes: what loops over batches need beyond `koster.engine.memory`.

In C it takes Cython's memory views, a third of a megabyte of code in each module that uses them;
the other modules do without.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from .memory import Bytes

    #: The bytes of many files, one after another.
    Buffer: TypeAlias = Any
    #: Integers of 64 bits.
    Longs: TypeAlias = Any


def address(data: Buffer) -> Bytes:
    """Return the bytes of a buffer; see `koster.engine.memory.part`."""
    found: Bytes = data
    return found
