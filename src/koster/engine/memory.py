"""Low-level functions that differ between C and Python: memory, searches, views of bytes.

They are written twice: as Python in this file, and as C in ``memory.pxd``, which the compiled
modules use instead. Both return the same; nothing else except `koster.bulk.loops.buffers` is
written twice.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from typing import TypeAlias, TypeVar

    #: Bytes: a ``const unsigned char *`` in compiled modules.
    Bytes: TypeAlias = bytes | bytearray
    #: Integers: an ``int *`` in compiled modules.
    Integers: TypeAlias = array[int]
    T = TypeVar("T")


def find(data: Bytes, byte: int, start: int, end: int) -> int:
    """Return the first position of ``byte`` in ``data[start:end]``, or ``end``."""
    position = data.find(byte, start, end)
    return end if position < 0 else position


def same(data: Bytes, start: int, other: Bytes, other_start: int, size: int) -> bool:
    """Tell whether ``size`` bytes from both starts are equal."""
    return data[start : start + size] == other[other_start : other_start + size]


def search(
    data: Bytes, start: int, end: int, other: Bytes, other_start: int, size: int
) -> int:  # fmt: skip
    """Return the first position in ``data[start:end]`` of ``size`` bytes (at least 1), or -1."""
    return data.find(other[other_start : other_start + size], start, end)


def hashed(data: Bytes, start: int, size: int) -> int:
    """Return a hash of ``size`` bytes; at least 0."""
    return hash(bytes(data[start : start + size])) & sys.maxsize


def copy(target: bytearray, at: int, source: Bytes, start: int, size: int) -> None:
    """Copy ``size`` bytes; target and source must not overlap."""
    target[at : at + size] = source[start : start + size]


def fill(target: bytearray, at: int, byte: int, size: int) -> None:
    """Set ``size`` bytes to one value."""
    target[at : at + size] = bytes([byte]) * size


def _zeros(count: int) -> Integers:
    from array import array  # noqa: PLC0415 - compiled modules do not need it

    return array("i", bytes(4 * count))


def integers(count: int) -> Integers:
    """Allocate ``count`` integers of 32 bits, all 0."""
    return _zeros(count)


def resized(values: Integers, count: int) -> Integers:
    """Reallocate integers for ``count``; ``values`` must not be used any more."""
    room = _zeros(count)
    copied = min(count, len(values))
    room[:copied] = values[:copied]
    return room


def buffer(count: int) -> bytearray:
    """Allocate ``count`` bytes."""
    return bytearray(count)


def unfilled(size: int) -> bytearray:
    """Return bytes of any value, all of which the caller sets."""
    return bytearray(size)


def large_page(values: bytearray, size: int) -> int:  # noqa: ARG001 - C uses them
    """Return where the first part of a buffer starts whose address is a multiple of ``size``.

    On Linux, asks for one page of memory for its ``size`` bytes, a power of two; 0 in Python.
    """
    return 0


def integers_in(values: bytearray, at: int, count: int) -> Integers:
    """Return ``count`` integers of a buffer, from byte ``at``, which they share."""
    return memoryview(values)[at : at + 4 * count].cast("i")  # type: ignore[return-value]


def longs_in(values: bytearray, at: int, count: int) -> Integers:
    """Return ``count`` integers of 64 bits of a buffer, from byte ``at``, which they share."""
    return memoryview(values)[at : at + 8 * count].cast("q")  # type: ignore[return-value]


def bytes_in(values: bytearray, at: int, count: int) -> bytearray:
    """Return ``count`` bytes of a buffer, which is complete, from byte ``at``; C does not copy."""
    return values[at : at + count]


def no_longs() -> Integers:
    """Return no memory: NULL in C."""
    return _zeros(0)


def no_integers() -> Integers:
    """Return no memory: NULL in C."""
    return _zeros(0)


def no_buffer() -> bytearray:
    """Return no memory: NULL in C."""
    return bytearray()


def release(values: Integers | bytearray) -> None:
    """Free the memory of `integers` or `buffer`; Python does that itself."""


def released(values: Integers) -> Integers:  # noqa: ARG001 - C uses it
    """Free integers and return no memory."""
    return no_integers()


def part(data: Bytes, start: int, size: int) -> Bytes:
    """Return ``size`` bytes from ``start``; C does not copy them."""
    return bytes(data[start : start + size])


def room(target: bytearray) -> bytearray:
    """Return the bytes of a bytearray, for writing."""
    return target


def prefetch(data: Bytes, size: int) -> None:
    """Start to load ``size`` bytes into the caches of the processor; nothing in Python."""


def utf8(text: str) -> bytes:
    """Return a string as UTF-8, lone surrogates as three bytes; see `view`."""
    return text.encode("utf-8", "surrogatepass")


def view(text: bytes) -> tuple[Bytes, int]:
    """Return the bytes of a result of `utf8`, and their number.

    They are valid as long as ``text`` is referenced.
    """
    return text, len(text)


def text(raw: bytes) -> str:
    """Decode bytes of a file; invalid UTF-8 becomes lone surrogates."""
    return raw.decode("utf-8", "surrogateescape")


def new(cls: type[T]) -> T:
    """Make an object without its constructor: that of a frozen value takes ten times as long."""
    made: T = object.__new__(cls)
    return made


def assign(value: object, name: str, item: object) -> None:
    """Set a field of a frozen value that was just made."""
    object.__setattr__(value, name, item)
