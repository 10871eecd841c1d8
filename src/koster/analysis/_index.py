"""Indexes of entries: which of them can match the same paths."""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from ._entries import SHELL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ._entries import Entry

#: The weight of the entries with one key from which on it counts.
_HEAVY = 16

#: Bytes of the parts of patterns by which they are found; longer ones first if there are many.
_PART = 3
_LONG_PART = 6
_MANY = 1_000


class Keys:
    """Entries by their keys, prefixes of all that they match."""

    def __init__(self, entries: Iterable[Entry], key_of: Callable[[Entry], bytes]) -> None:
        by_key: dict[bytes, list[Entry]] = {}
        for entry in entries:
            by_key.setdefault(key_of(entry), []).append(entry)
        self._keys = sorted(by_key)
        self._lists = [by_key[key] for key in self._keys]
        #: The place of the longest other key that is a prefix of each one, or -1.
        self._parents: list[int] = []
        for place, key in enumerate(self._keys):
            self._parents.append(self._at_or_above(place - 1, key))

    def _at_or_above(self, place: int, key: bytes) -> int:
        """Return the place of the longest key up to a place that is a prefix of ``key``, or -1.

        ``place`` is that of the last key that is not greater than ``key``.
        """
        while place >= 0 and not key.startswith(self._keys[place]):
            place = self._parents[place]
        return place

    @cached_property
    def _weights(self) -> list[int]:
        """The weight of the entries with each key and its prefixes."""
        found: list[int] = []
        for some, parent in zip(self._lists, self._parents, strict=True):
            weight = sum([entry.weight for entry in some]) if len(some) > 1 or some[0].rest else 0
            above = found[parent] if parent >= 0 else 0
            found.append(above + (weight if weight >= _HEAVY else 0))
        return found

    @cached_property
    def _counts(self) -> list[int]:
        """The number of the entries with each key and its prefixes."""
        found: list[int] = []
        for some, parent in zip(self._lists, self._parents, strict=True):
            found.append(len(some) + (found[parent] if parent >= 0 else 0))
        return found

    @cached_property
    def _in_order(self) -> tuple[list[Entry], list[int]]:
        """The entries in the order of their keys, and where the ones of each key begin."""
        starts = itertools.accumulate(map(len, self._lists), initial=0)
        return [*itertools.chain.from_iterable(self._lists)], [*starts]

    def weight(self, key: bytes) -> int:
        """Return the weight of the entries whose key is a prefix of ``key``.

        Without keys of little weight: a key has at most as many prefixes as it has bytes.
        """
        place = self._at_or_above(bisect_right(self._keys, key) - 1, key)
        return self._weights[place] if place >= 0 else 0

    def prefixing(self, key: bytes) -> list[Entry]:
        """Return the entries whose key is a prefix of ``key``, the shortest key first."""
        place = self._at_or_above(bisect_right(self._keys, key) - 1, key)
        places = []
        while place >= 0:
            places.append(place)
            place = self._parents[place]
        found: list[Entry] = []
        for each in reversed(places):
            found += self._lists[each]
        return found

    def both_ways(self, key: bytes) -> list[Entry]:
        """Return the entries whose key is a prefix of ``key`` or begins with it."""
        found = self.prefixing(key)
        begin, end = self._beginning_with(key)
        if begin < end:
            found += self._in_order[0][begin:end]
        return found

    def count_both_ways(self, key: bytes) -> int:
        """Return the number of entries that `both_ways` returns."""
        begin, end = self._beginning_with(key)
        place = self._at_or_above(bisect_right(self._keys, key) - 1, key)
        return end - begin + (self._counts[place] if place >= 0 else 0)

    def _beginning_with(self, key: bytes) -> tuple[int, int]:
        """Return where the entries are whose key is longer than ``key``, and begins with it."""
        keys = self._keys
        begin = bisect_right(keys, key)
        if begin == len(keys) or not keys[begin].startswith(key):
            return 0, 0
        starts = self._in_order[1]
        return starts[begin], starts[_end_of(keys, key, begin)]


def _end_of(keys: list[bytes], key: bytes, begin: int) -> int:
    """Return the place after all sorted keys from a place on that begin with ``key``."""
    shorter = key.rstrip(b"\xff")
    if not shorter:
        return len(keys)
    return bisect_left(keys, shorter[:-1] + bytes([shorter[-1] + 1]), begin)


class Parts:
    """Entries with stars by the rarest part that all matching texts have, the others by key.

    Nearly all entries with stars may begin with the same key, ``/``.
    """

    def __init__(self, entries: Sequence[Entry], key_of: Callable[[Entry], bytes]) -> None:
        sizes = (_LONG_PART, _PART) if len(entries) > _MANY else (_PART,)
        parts_of = [_parts_of(entry, sizes) for entry in entries]
        counts = Counter(itertools.chain.from_iterable(parts_of))
        others = []
        self._by_part: dict[bytes, list[Entry]] = {}
        for entry, parts in zip(entries, parts_of, strict=True):
            if parts:
                rarest = min(parts, key=counts.__getitem__)
                self._by_part.setdefault(rarest, []).append(entry)
            else:
                others.append(entry)
        self._sizes = {len(part) for part in self._by_part}
        self._others = Keys(others, key_of)
        self._weight = max(
            (sum(entry.weight for entry in some) for some in self._by_part.values()), default=0
        )

    def weight(self, key: bytes) -> int:
        """Return the maximum weight of the candidates for a text that has one of the parts."""
        return self._weight + self._others.weight(key)

    def candidates(self, key: bytes, text: bytes) -> list[Entry]:
        """Return the entries that may match a text with this key."""
        found = self._others.prefixing(key)
        by_part = self._by_part
        for size in self._sizes:
            for part in by_part.keys() & _parts_in(text, size):
                found += by_part[part]
        return found


def _parts_of(entry: Entry, sizes: Sequence[int]) -> list[bytes]:
    """Return the parts that all texts have that an entry matches, after its literal prefix.

    They are of the first size that its runs have.
    """
    if entry.kind == SHELL or not entry.rest:
        return []
    for size in sizes:
        parts = []
        for run in entry.runs:
            parts += _parts_in(run, size)
        if parts:
            return parts
    return []


def _parts_in(text: bytes, size: int) -> list[bytes]:
    return [text[at : at + size] for at in range(len(text) - size + 1)]
