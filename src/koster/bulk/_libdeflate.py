"""libdeflate, the fastest library for gzip members of a few kilobytes (``make bench``).

The package deflate contains it. Its own functions take one member, and make a decompressor and a
bytearray for each, which takes as long as libdeflate saves. So the members are decompressed one
after the other into one buffer, by the C functions in the package's extension. libdeflate declares
them visible: the extension exports them, except on Windows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deflate import _deflate

from .loops.records import decompress_members

if TYPE_CHECKING:
    from ._arrow import Numbers
    from .loops.buffers import Buffer


#: Room after the decompressed data, for texts that are decoded from it. Memory that is not used is
#: not taken.
SPARE = 1 << 20


class Libdeflate:
    """The C functions of libdeflate.

    Raises:
        ImportError: this Python has no ctypes.
        OSError: the extension is not a library.
        AttributeError: it does not export the functions.
    """

    def __init__(self) -> None:
        import ctypes  # noqa: PLC0415 - some Pythons have none

        library = ctypes.CDLL(_deflate.__file__)
        self._allocate = library.libdeflate_alloc_decompressor
        self._allocate.restype = ctypes.c_void_p
        self._free = library.libdeflate_free_decompressor
        self._free.argtypes = [ctypes.c_void_p]
        self._free.restype = None
        function = library.libdeflate_gzip_decompress_ex
        self._decompress = ctypes.cast(function, ctypes.c_void_p).value or 0

    def decompress(self, compressed: Buffer, bounds: Numbers, places: Numbers) -> bytearray | None:
        """Decompress gzip members; see `koster.bulk.loops.records.decompress_members`.

        `SPARE` bytes follow.
        """
        decompressor = self._allocate()
        if not decompressor:
            return None
        try:
            return decompress_members(
                self._decompress, decompressor, compressed, bounds, places, SPARE
            )
        finally:
            self._free(decompressor)


def find() -> Libdeflate | None:
    """Return libdeflate if its functions are there."""
    try:
        return Libdeflate()
    except (ImportError, OSError, AttributeError):
        return None
