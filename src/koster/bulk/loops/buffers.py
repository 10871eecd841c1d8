"""Arrow buffers as bytes, for loops over batches.

In C they need Cython's memory views, a third of a megabyte of code in each module that uses them,
so this is not part of `koster.engine.memory`.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from ...engine.memory import Bytes

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


def decompress(
    function: int,
    decompressor: int,
    data: Bytes,
    start: int,
    stop: int,
    size: int,  # noqa: ARG001 - only C reads further
    target: bytearray,
    at: int,
    after: int,
    room: int,  # noqa: ARG001
) -> bool:
    """Decompress the gzip member ``data[start:stop]`` into ``target[at:after]``, both exactly.

    It may read up to ``size``, and overwrite up to ``room``: near the end of either, libdeflate is
    slower. ``function`` is the address of ``libdeflate_gzip_decompress_ex``, and ``decompressor``
    that of what ``libdeflate_alloc_decompressor`` returned (libdeflate.h).
    """
    import ctypes  # noqa: PLC0415 - compiled modules do not need it

    address, count = ctypes.c_void_p, ctypes.c_size_t
    counted = ctypes.POINTER(count)
    types = (ctypes.c_int, address, ctypes.c_char_p, count, address, count, counted, counted)
    member = bytes(data[start:stop])
    used, made = count(), count()
    into = ctypes.addressof((ctypes.c_char * len(target)).from_buffer(target)) + int(at)
    found: int = ctypes.CFUNCTYPE(*types)(function)(
        decompressor, member, len(member), into, int(after - at),
        ctypes.byref(used), ctypes.byref(made),
    )  # fmt: skip
    return found == 0 and used.value == stop - start and made.value == after - at
