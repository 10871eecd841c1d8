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
        self._by_key: dict[bytes, list[Entry]] = {}
        for entry in entries:
            self._by_key.setdefault(key_of(entry), []).append(entry)
        self._sizes = sorted(set(map(len, self._by_key)))
        self._heavy = {}
        for key, some in self._by_key.items():
            if len(some) > 1 or some[0].rest:
                weight = sum([entry.weight for entry in some])
                if weight >= _HEAVY:
                    self._heavy[key] = weight
        self._heavy_sizes = sorted(set(map(len, self._heavy)))

    @cached_property
    def _in_order(self) -> tuple[list[bytes], list[Entry], list[int]]:
        """The keys in order, their entries, and where in those the ones of each key begin."""
        keys = sorted(self._by_key)
        lists = [self._by_key[key] for key in keys]
        starts = itertools.accumulate(map(len, lists), initial=0)
        return keys, [*itertools.chain.from_iterable(lists)], [*starts]

    def weight(self, key: bytes) -> int:
        """Return the weight of the entries whose key is a prefix of ``key``.

        Without keys of little weight: a key has at most as many prefixes as it has bytes.
        """
        heavy = self._heavy
        return sum([heavy.get(key[:size], 0) for size in self._heavy_sizes if size <= len(key)])

    def prefixing(self, key: bytes) -> list[Entry]:
        """Return the entries whose key is a prefix of ``key``."""
        by_key = self._by_key
        most = len(key)
        found: list[Entry] = []
        for size in self._sizes:
            if size > most:
                break
            prefix = key[:size]
            if prefix in by_key:
                found += by_key[prefix]
        return found

    def both_ways(self, key: bytes) -> list[Entry]:
        """Return the entries whose key is a prefix of ``key`` or begins with it."""
        found = self.prefixing(key)
        keys, entries, starts = self._in_order
        begin = bisect_right(keys, key)
        if begin < len(keys) and keys[begin].startswith(key):
            found += entries[starts[begin] : starts[_end_of(keys, key, begin)]]
        return found


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
                _, rarest = min([(counts[part], part) for part in parts])
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
