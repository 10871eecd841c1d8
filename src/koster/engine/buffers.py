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


def decompress(
    function: int,
    decompressor: int,
    data: Bytes,
    start: int,
    size: int,
    target: bytearray,
    at: int,
    room: int,
) -> bool:
    """Decompress a gzip member of exactly ``size`` bytes into exactly ``room`` bytes.

    ``function`` is the address of ``libdeflate_gzip_decompress_ex``, and ``decompressor`` that of
    what ``libdeflate_alloc_decompressor`` returned (libdeflate.h).
    """
    import ctypes  # noqa: PLC0415 - compiled modules do not need it

    address, count = ctypes.c_void_p, ctypes.c_size_t
    counted = ctypes.POINTER(count)
    types = (ctypes.c_int, address, ctypes.c_char_p, count, address, count, counted, counted)
    member = bytes(data[start : start + size])
    used = count()
    into = ctypes.addressof((ctypes.c_char * len(target)).from_buffer(target)) + int(at)
    found: int = ctypes.CFUNCTYPE(*types)(function)(
        decompressor, member, size, into, room, ctypes.byref(used), None
    )
    return found == 0 and used.value == size
