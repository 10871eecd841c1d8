"""Low-level functions that differ between C and Python: memory, searches, views of bytes.

They are written twice: as Python in this file, and as C in ``memory.pxd``, which the compiled
modules use instead. Both return the same; nothing else except `koster.bulk._loops.buffers` is
written twice.
"""

from __future__ import annotations

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


def copy(target: bytearray, at: int, source: Bytes, start: int, size: int) -> None:
    """Copy ``size`` bytes; target and source must not overlap."""
    target[at : at + size] = source[start : start + size]


def fill(target: bytearray, at: int, byte: int, size: int) -> None:
    """Set ``size`` bytes to one value."""
    target[at : at + size] = bytes([byte]) * size


def _zeros(code: str, size: int) -> Integers:
    from array import array  # noqa: PLC0415 - compiled modules do not need it

    return array(code, bytes(size))


def integers(count: int) -> Integers:
    """Allocate ``count`` integers of 32 bits, all 0."""
    return _zeros("i", 4 * count)


def resized(values: Integers, count: int) -> Integers:
    """Reallocate integers for ``count``; ``values`` must not be used any more."""
    return values[:count] + type(values)("i", bytes(4 * max(count - len(values), 0)))


def buffer(count: int) -> bytearray:
    """Allocate ``count`` bytes."""
    return bytearray(count)


def shrunk(values: bytearray, count: int) -> bytearray:  # noqa: ARG001 - C uses it
    """Free what is after ``count`` bytes; ``values`` must not be used any more."""
    return values


def longs_in(block: bytearray, at: int, count: int) -> Integers:  # noqa: ARG001
    """Return ``count`` unsigned integers of 64 bits in a block of memory, from byte ``at`` on.

    Python has memory of their own for them, as for those of the next two functions.
    """
    return _zeros("Q", 8 * count)


def integers_in(block: bytearray, at: int, count: int) -> Integers:  # noqa: ARG001
    """Return ``count`` integers of 32 bits in a block of memory, from byte ``at`` on."""
    return _zeros("i", 4 * count)


def bytes_in(block: bytearray, at: int, count: int) -> bytearray:  # noqa: ARG001
    """Return ``count`` bytes in a block of memory, from byte ``at`` on."""
    return bytearray(count)


def no_buffer() -> bytearray:
    """Return no memory: NULL in C."""
    return bytearray()


def release(values: Integers | bytearray) -> None:
    """Free the memory of `integers` or `buffer`; Python does that itself."""


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
