"""Values of a column that repeat are found by their hash."""

from __future__ import annotations

import itertools
from array import array

import pytest

import koster
from koster.bulk._loops import batches, buffers


def numbered(values: list[bytes]) -> tuple[int, list[int]]:
    """Return how many numbers values have, and them; check that equal numbers mean equal values."""
    bounds = array("q", itertools.accumulate(map(len, values), initial=0))
    numbers, firsts = array("i", [-1] * len(values)), array("q", [-1] * len(values))
    count = batches.distinct(b"".join(values), bounds[:-1], bounds[1:], numbers, firsts)
    assert [values[firsts[number]] for number in numbers] == values
    return count, numbers.tolist()


@pytest.mark.parametrize("size", range(40))
def test_values_that_differ_in_one_byte(size: int) -> None:
    values = [bytes(size)]
    for at in range(size):
        changed = bytearray(size)
        changed[at] = 1
        values.append(bytes(changed))
    count = len(values)
    assert numbered(values * 2) == (count, [*range(count)] * 2)


def test_long_values_that_differ_anywhere() -> None:
    values = [bytes(600)]
    for at in (0, 127, 128, 300, 471, 472, 599):
        changed = bytearray(600)
        changed[at] = 1
        values.append(bytes(changed))
    assert numbered(values * 2) == (8, [*range(8)] * 2)


def test_values_of_all_sizes() -> None:
    values = [bytes(size) for size in range(300)]
    assert numbered(values * 3) == (300, [*range(300)] * 3)


def test_values_with_one_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    if not koster.COMPILED:
        monkeypatch.setattr(buffers, "hashed", lambda *_: 0)
    # The highest bits of two words of the compiled hash cancel each other out.
    words = (1 << 63).to_bytes(8, "little"), (1 << 63 | 1 << 31).to_bytes(8, "little")
    halves = [bytes(32), words[0] + bytes(8) + words[1] + bytes(8)]
    values = [b"".join(each) for each in itertools.product(halves, repeat=8)]
    count, _ = numbered(values * 2)
    # The first 64 are found again; others are compared with these alone.
    assert count == 64 + 2 * 192
