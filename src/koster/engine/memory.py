"""Low-level functions that C and Python do differently: memory, searches, views of bytes.

They are written twice: as Python in this file, and as C in ``memory.pxd``, which the compiled
modules use instead. Both give the same answers; nothing else in koster is written twice.
"""

from __future__ import annotations

from array import array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    #: What holds bytes: a ``const unsigned char *`` where compiled.
    Bytes: TypeAlias = bytes | bytearray
    #: What holds integers: an ``int *`` where compiled.
    Integers: TypeAlias = array[int]


def find(data: Bytes, byte: int, start: int, end: int) -> int:
    """Return where ``byte`` first stands in ``data[start:end]``, or ``end``."""
    position = data.find(byte, start, end)
    return end if position < 0 else position


def same(data: Bytes, start: int, other: Bytes, other_start: int, size: int) -> bool:
    """Tell whether ``size`` bytes from either start are the same."""
    return data[start : start + size] == other[other_start : other_start + size]


def copy(target: bytearray, at: int, source: Bytes, start: int, size: int) -> None:
    """Copy ``size`` bytes; target and source do not overlap."""
    target[at : at + size] = source[start : start + size]


def fill(target: bytearray, at: int, byte: int, size: int) -> None:
    """Set ``size`` bytes to one value."""
    target[at : at + size] = bytes([byte]) * size


def integers(count: int) -> Integers:
    """Return room for ``count`` integers of 32 bits, all 0."""
    return array("i", bytes(4 * count))


def resized(values: Integers, count: int) -> Integers:
    """Return the same integers with room for ``count``; ``values`` is no longer to be used."""
    room = array("i", bytes(4 * count))
    kept = min(count, len(values))
    room[:kept] = values[:kept]
    return room


def buffer(count: int) -> bytearray:
    """Return room for ``count`` bytes."""
    return bytearray(count)


def no_integers() -> Integers:
    """Return room for none."""
    return array("i")


def no_buffer() -> bytearray:
    """Return room for none."""
    return bytearray()


def release(values: Integers | bytearray) -> None:
    """Give back what `integers` or `buffer` gave: Python does that by itself."""


def part(data: Bytes, start: int, size: int) -> Bytes:
    """Return ``size`` bytes from ``start``: those that are there, not others like them."""
    return bytes(data[start : start + size])


def room(target: bytearray) -> bytearray:
    """Return the bytes of a bytearray, to be written."""
    return target


def utf8(text: str) -> bytes:
    """Return a string as UTF-8, lone surrogates as three bytes; see `view`."""
    return text.encode("utf-8", "surrogatepass")


def view(held: bytes) -> tuple[Bytes, int]:
    """Return the bytes of what `utf8` gave, and how many they are.

    They can be read for as long as ``held`` is kept.
    """
    return held, len(held)
