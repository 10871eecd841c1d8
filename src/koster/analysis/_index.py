"""Indexes of entries: which of them can match the same paths.

Compiled, because `koster.lint` asks this several times for each rule of a file.
"""

from __future__ import annotations

import itertools
from array import array
from bisect import bisect_left, bisect_right
from operator import attrgetter, gt

from ._entries import BY_ORDER, USUAL_REST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ._entries import Entry

#: The weight of the entries with one key from which on it counts.
HEAVY = 16

#: Entries per key from which on those with a low order are found by bisection.
_FEW_PER_KEY = 8

#: For `map`, which is faster than a comprehension.
_REST = attrgetter("rest")


class Prefixes:
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

    def longest(self, key: bytes, end: int) -> int:
        """Return the place of the longest key that is a prefix of ``key``, or -1.

        ``end`` is that of the keys up to ``key``.
        """
        keys, parents = self.keys, self.parents
        place = end - 1
        while place >= 0:
            other = keys[place]
            if key.startswith(other):
                break
            place = parents[place]
        return place

    def all_of(self, key: bytes, end: int) -> list[int]:
        """Return the places of the keys that are prefixes of ``key``, the shortest first.

        ``end`` is that of the keys up to ``key``.
        """
        parents = self.parents
        place = self.longest(key, end)
        found = []
        while place >= 0:
            found.append(place)
            place = parents[place]
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
        #: The other members are made when they are needed.
        self._prefixes: Prefixes | None = None
        #: The keys of much weight, and the weight of the entries with each and its prefixes.
        self._heavy: Prefixes | None = None
        self._weights: list[int] = []
        #: The last key of `weight`, and what it returned: the next one is often equal.
        self._last_weighed: bytes | None = None
        self._last_weight = 0
        #: The orders of the entries: side by side, they are faster to compare.
        self._orders: array[int] | None = None

    def _all_prefixes(self) -> Prefixes:
        if self._prefixes is None:
            self._prefixes = Prefixes(self._keys)
        return self._prefixes

    def _weigh(self) -> Prefixes:
        """Fill in the weights of the keys of much weight; return these."""
        if self._heavy is not None:
            return self._heavy
        own = {}
        are_usual = max(map(len, map(_REST, self._entries)), default=0) <= USUAL_REST
        for key, (begin, end) in zip(self._keys, itertools.pairwise(self._starts), strict=True):
            # Usual ones have weight 1.
            weight = end - begin
            if not are_usual:
                weight = sum([entry.weight for entry in self._entries[begin:end]])
            if weight >= HEAVY:
                own[key] = weight
        prefixes = Prefixes([*own])
        found: list[int] = []
        for key, parent in zip(prefixes.keys, prefixes.parents, strict=True):
            found.append(own[key] + (found[parent] if parent >= 0 else 0))
        self._heavy, self._weights = prefixes, found
        return prefixes

    def first_of_overlapping(self) -> Iterator[int]:
        """Yield the orders of the entries that come before all others of `both_ways` of their key.

        The entries were passed in their order.
        """
        own = [self._entries[begin].order for begin in self._starts[:-1]]
        parents = self._all_prefixes().parents
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
        after = bisect_right(self._keys, key)
        first, end = self._places_beginning_with(key, after)
        entries, starts = self._entries, self._starts
        for place in itertools.chain(self._all_prefixes().all_of(key, after), range(first, end)):
            entry = entries[starts[place]]
            if entry.order < order:
                return False
        return True

    def has_weight(self) -> bool:
        """Return whether `weight` is more than 0 for some key."""
        self._weigh()
        return bool(self._weights)

    def max_weight(self) -> int:
        """Return the maximum of `weight` for all keys."""
        self._weigh()
        return max(self._weights, default=0)

    def weight(self, key: bytes) -> int:
        """Return the weight of the entries whose key is a prefix of ``key``.

        Without keys of little weight: a key has at most as many prefixes as it has bytes.
        """
        prefixes = self._weigh()
        if not self._weights:
            return 0
        if key != self._last_weighed:
            place = prefixes.longest(key, bisect_right(prefixes.keys, key))
            self._last_weighed = key
            self._last_weight = self._weights[place] if place >= 0 else 0
        return self._last_weight

    def prefixing(self, key: bytes) -> list[Entry]:
        """Return the entries whose key is a prefix of ``key``, the shortest key first."""
        return self._joined(self._all_prefixes().all_of(key, bisect_right(self._keys, key)))

    def _joined(self, places: list[int]) -> list[Entry]:
        entries, starts = self._entries, self._starts
        found: list[Entry] = []
        for place in places:
            found += entries[starts[place] : starts[place + 1]]
        return found

    def both_ways(self, key: bytes) -> list[Entry]:
        """Return the entries whose key is a prefix of ``key`` or begins with it."""
        end = bisect_right(self._keys, key)
        found = self._joined(self._all_prefixes().all_of(key, end))
        first, last = self._beginning_with(key, end)
        if first < last:
            found += self._entries[first:last]
        return found

    def count_both_ways(self, key: bytes) -> int:
        """Return the number of entries that `both_ways` returns."""
        end = bisect_right(self._keys, key)
        first, last = self._beginning_with(key, end)
        count = last - first
        for place in self._all_prefixes().all_of(key, end):
            count += self._starts[place + 1] - self._starts[place]
        return count

    def both_ways_before(self, key: bytes, order: int) -> list[Entry]:
        """Return the entries of `both_ways` with a lower order.

        The entries were passed in their order, so those of each key are sorted by it.
        """
        entries = self._entries
        after = bisect_right(self._keys, key)
        found: list[Entry] = []
        for place in self._all_prefixes().all_of(key, after):
            found += self._before(place, order)
        first, last = self._beginning_with(key, after)
        if first == last:
            return found
        end = bisect_left(self._starts, last)
        if last - first <= _FEW_PER_KEY * (end - after):
            orders = self._all_orders()[first:last]
            found += itertools.compress(
                entries[first:last], map(gt, itertools.repeat(order), orders)
            )
        else:
            for place in range(after, end):
                found += self._before(place, order)
        return found

    def _all_orders(self) -> array[int]:
        if self._orders is None:
            self._orders = array("q", map(BY_ORDER, self._entries))
        return self._orders

    def _before(self, place: int, order: int) -> list[Entry]:
        """Return the entries with one key and a lower order."""
        entries = self._entries
        begin, end = self._starts[place], self._starts[place + 1]
        low = begin
        while low < end:
            middle = (low + end) // 2
            entry = entries[middle]
            if entry.order < order:
                low = middle + 1
            else:
                end = middle
        return entries[begin:low]

    def _beginning_with(self, key: bytes, end: int) -> tuple[int, int]:
        """Return where the entries are whose key is longer than ``key``, and begins with it.

        ``end`` is that of the keys up to ``key``.
        """
        first, last = self._places_beginning_with(key, end)
        return self._starts[first], self._starts[last]

    def _places_beginning_with(self, key: bytes, end: int) -> tuple[int, int]:
        """Return the first and the last place, excluded, of the longer keys that begin with one."""
        keys = self._keys
        if end == len(keys):
            return 0, 0
        following = keys[end]
        if not following.startswith(key):
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
