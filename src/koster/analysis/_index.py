"""Indexes of entries: which of them can match the same paths."""

from __future__ import annotations

import itertools
from array import array
from bisect import bisect_left, bisect_right
from functools import cached_property
from operator import attrgetter, gt
from typing import TYPE_CHECKING

from ._entries import BY_ORDER, USUAL_REST

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ._entries import Entry

#: The weight of the entries with one key from which on it counts.
_HEAVY = 16

#: Entries per key from which on those with a low order are found by bisection.
_FEW_PER_KEY = 8

#: For `map`, which is faster than a comprehension.
_REST = attrgetter("rest")


class _Prefixes:
    """Sorted keys, and for each of them the longest other one that is a prefix of it."""

    def __init__(self, keys: list[bytes]) -> None:
        self.keys = keys
        #: The place of that other key, or -1.
        self.parents: list[int] = []
        #: The places of the last key and of all its prefixes.
        above: list[int] = []
        for place, key in enumerate(keys):
            while above and not key.startswith(keys[above[-1]]):
                above.pop()
            self.parents.append(above[-1] if above else -1)
            above.append(place)

    def longest(self, key: bytes, end: int | None = None) -> int:
        """Return the place of the longest key that is a prefix of ``key``, or -1.

        ``end`` is that of the keys up to ``key``, if it is known.
        """
        keys = self.keys
        place = (bisect_right(keys, key) if end is None else end) - 1
        while place >= 0 and not key.startswith(keys[place]):
            place = self.parents[place]
        return place

    def all_of(self, key: bytes, end: int | None = None) -> list[int]:
        """Return the places of the keys that are prefixes of ``key``, the shortest first."""
        place = self.longest(key, end)
        found = []
        while place >= 0:
            found.append(place)
            place = self.parents[place]
        found.reverse()
        return found


class Keys:
    """Entries by their keys, prefixes of all that they match."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        # No lists by key: the garbage collector would look at all of them each time that it runs.
        some = [*entries]
        keys = [entry.key for entry in some]
        order = sorted(range(len(keys)), key=keys.__getitem__)
        self._entries = [some[number] for number in order]
        self._keys: list[bytes] = []
        #: Where the entries of each key begin, and the end.
        self._starts: list[int] = []
        last = None
        for place, number in enumerate(order):
            key = keys[number]
            if key != last:
                self._keys.append(key)
                self._starts.append(place)
                last = key
        self._starts.append(len(self._entries))
        #: The last key of `weight`, and what it returned: the next one is often equal.
        self._last_weighed: tuple[bytes | None, int] = None, 0

    @cached_property
    def _prefixes(self) -> _Prefixes:
        return _Prefixes(self._keys)

    @cached_property
    def _weights(self) -> tuple[_Prefixes, list[int]]:
        """The keys of much weight, and the weight of the entries with each and its prefixes."""
        own = {}
        are_usual = max(map(len, map(_REST, self._entries)), default=0) <= USUAL_REST
        for key, (begin, end) in zip(self._keys, itertools.pairwise(self._starts), strict=True):
            # Usual ones have weight 1.
            weight = end - begin
            if not are_usual:
                weight = sum([entry.weight for entry in self._entries[begin:end]])
            if weight >= _HEAVY:
                own[key] = weight
        prefixes = _Prefixes([*own])
        found: list[int] = []
        for key, parent in zip(prefixes.keys, prefixes.parents, strict=True):
            found.append(own[key] + (found[parent] if parent >= 0 else 0))
        return prefixes, found

    def first_of_overlapping(self) -> Iterator[int]:
        """Yield the orders of the entries that come before all others of `both_ways` of their key.

        The entries were passed in their order.
        """
        own = [self._entries[begin].order for begin in self._starts[:-1]]
        parents = self._prefixes.parents
        above: list[int] = []
        for order, parent in zip(own, parents, strict=True):
            above.append(order if parent < 0 else min(order, above[parent]))
        below = own.copy()
        for place in reversed(range(len(own))):
            parent = parents[place]
            if parent >= 0 and below[place] < below[parent]:
                below[parent] = below[place]
        for order, before, after in zip(own, above, below, strict=True):
            if order == before == after:
                yield order

    def count_keys(self, key: bytes) -> int:
        """Return how many keys `is_first` looks at."""
        first, end = self._places_beginning_with(key, bisect_right(self._keys, key))
        return 1 + end - first

    def is_first(self, key: bytes, order: int) -> bool:
        """Return whether no entry of `both_ways` has a lower order.

        The entries were passed in their order.
        """
        entries, starts = self._entries, self._starts
        after = bisect_right(self._keys, key)
        below = range(*self._places_beginning_with(key, after))
        places = itertools.chain(self._prefixes.all_of(key, after), below)
        return all(entries[starts[place]].order >= order for place in places)

    def has_weight(self) -> bool:
        """Return whether `weight` is more than 0 for some key."""
        return bool(self._weights[1])

    def max_weight(self) -> int:
        """Return the maximum of `weight` for all keys."""
        return max(self._weights[1], default=0)

    def weight(self, key: bytes) -> int:
        """Return the weight of the entries whose key is a prefix of ``key``.

        Without keys of little weight: a key has at most as many prefixes as it has bytes.
        """
        prefixes, weights = self._weights
        if not weights:
            return 0
        last, weight = self._last_weighed
        if key == last:
            return weight
        place = prefixes.longest(key)
        weight = weights[place] if place >= 0 else 0
        self._last_weighed = key, weight
        return weight

    def prefixing(self, key: bytes) -> list[Entry]:
        """Return the entries whose key is a prefix of ``key``, the shortest key first."""
        return self._joined(self._prefixes.all_of(key))

    def _joined(self, places: list[int]) -> list[Entry]:
        entries, starts = self._entries, self._starts
        found: list[Entry] = []
        for place in places:
            found += entries[starts[place] : starts[place + 1]]
        return found

    def both_ways(self, key: bytes) -> list[Entry]:
        """Return the entries whose key is a prefix of ``key`` or begins with it."""
        end = bisect_right(self._keys, key)
        found = self._joined(self._prefixes.all_of(key, end))
        first, last = self._beginning_with(key, end)
        if first < last:
            found += self._entries[first:last]
        return found

    def count_both_ways(self, key: bytes) -> int:
        """Return the number of entries that `both_ways` returns."""
        end = bisect_right(self._keys, key)
        first, last = self._beginning_with(key, end)
        starts = self._starts
        return (last - first) + sum(
            starts[place + 1] - starts[place] for place in self._prefixes.all_of(key, end)
        )

    def both_ways_before(self, key: bytes, order: int) -> list[Entry]:
        """Return the entries of `both_ways` with a lower order.

        The entries were passed in their order, so those of each key are sorted by it.
        """
        entries = self._entries
        after = bisect_right(self._keys, key)
        found: list[Entry] = []
        for place in self._prefixes.all_of(key, after):
            found += self._before(place, order)
        first, last = self._beginning_with(key, after)
        if first == last:
            return found
        end = bisect_left(self._starts, last)
        if last - first <= _FEW_PER_KEY * (end - after):
            orders = self._orders[first:last]
            found += itertools.compress(
                entries[first:last], map(gt, itertools.repeat(order), orders)
            )
        else:
            for place in range(after, end):
                found += self._before(place, order)
        return found

    @cached_property
    def _orders(self) -> array[int]:
        """The orders of the entries: side by side, they are faster to compare."""
        return array("q", map(BY_ORDER, self._entries))

    def _before(self, place: int, order: int) -> list[Entry]:
        """Return the entries with one key and a lower order."""
        begin, end = self._starts[place], self._starts[place + 1]
        return self._entries[begin : bisect_left(self._entries, order, begin, end, key=BY_ORDER)]

    def _beginning_with(self, key: bytes, end: int) -> tuple[int, int]:
        """Return where the entries are whose key is longer than ``key``, and begins with it.

        ``end`` is that of the keys up to ``key``.
        """
        first, last = self._places_beginning_with(key, end)
        return self._starts[first], self._starts[last]

    def _places_beginning_with(self, key: bytes, end: int) -> tuple[int, int]:
        """Return the first and the last place, excluded, of the longer keys that begin with one."""
        keys = self._keys
        if end == len(keys) or not keys[end].startswith(key):
            return 0, 0
        return end, _end_of(keys, key, end)


class Indexes:
    """The indexes of the entries of some rules, each made when it is needed.

    For all of them, for those that are the first with their paths, and for some of these: so their
    number tells which. Knows none who asks, for memory to be freed at once.
    """

    def __init__(self) -> None:
        self._of_count: dict[int, Keys] = {}

    def of(self, entries: list[Entry]) -> Keys:
        """Return the index of entries."""
        count = len(entries)
        if count not in self._of_count:
            self._of_count[count] = Keys(entries)
        return self._of_count[count]


def _end_of(keys: list[bytes], key: bytes, begin: int) -> int:
    """Return the place after all sorted keys from a place on that begin with ``key``."""
    shorter = key.rstrip(b"\xff")
    if not shorter:
        return len(keys)
    return bisect_left(keys, shorter[:-1] + bytes([shorter[-1] + 1]), begin)
