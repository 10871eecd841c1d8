"""Damages bytes: an input is a list of edits, each of a few bytes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

#: No result is longer.
_MAX_BYTES = 1 << 20


def damaged(content: bytes, source: Iterator[int]) -> bytes:
    """Return bytes with the edits that a source describes: few, mostly one."""
    found = bytearray(content)
    for operation in itertools.islice(source, edits(next(source, 0))):
        at = _number(source) % (len(found) + 1)
        size = 1 + (operation >> 3)
        match operation & 7:
            case 0 | 1:
                found[at : at + 1] = bytes([next(source, 0)])
            case 2:
                found[at : at + 1] = bytes(
                    each ^ 1 << (operation >> 5) for each in found[at : at + 1]
                )
            case 3:
                del found[at : at + size]
            case 4:
                found[at:at] = bytes([next(source, 0) for _ in range(size & 7)])
            case 5:
                begin = _number(source) % (len(found) + 1)
                found[at:at] = found[begin : begin + size * 8]
            case 6:
                del found[at:]
            case 7:
                found[at : at + size] = bytes([next(source, 0)]) * len(found[at : at + size])
        if len(found) > _MAX_BYTES:
            break
    return bytes(found)


def edits(byte: int) -> int:
    """Return how many edits a byte stands for."""
    return (1, 1, 1, 1, 2, 2, 3, 8)[byte & 7]


def _number(source: Iterator[int]) -> int:
    return next(source, 0) << 8 | next(source, 0)
