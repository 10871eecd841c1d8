"""A cache in memory: bounded, the least recently used goes first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

from .forks import at_fork

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..freshness import Entry

K = TypeVar("K")
V = TypeVar("V")

#: What an entry takes besides its body, about.
_OVERHEAD = 1500


class Recent(Generic[K, V]):
    """A table that is bounded by number and weight: the least recently used goes first.

    May be shared between threads. ``weigh`` gives the weight of a value; one that alone is more
    than ``weight`` is not kept.
    """

    def __init__(self, number: int, weight: int, weigh: Callable[[V], int]) -> None:
        self._number = number
        self._weight = weight
        self._weigh = weigh
        self._total = 0
        self._kept: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()
        at_fork(in_child=self._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()
        # Another thread may have been about to count what it had put.
        self._total = sum(weight for _, weight in self._kept.values())

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def weight(self) -> int:
        """The weight of all that is kept."""
        return self._total

    def get(self, key: K) -> V | None:
        """Return what is kept under a key, or None."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def put(self, key: K, value: V) -> None:
        """Keep a value, and drop what is too much."""
        weight = self._weigh(value)
        with self._lock:
            before = self._kept.pop(key, None)
            if before is not None:
                self._total -= before[1]
            if weight > self._weight:
                return
            self._kept[key] = value, weight
            self._total += weight
            while len(self._kept) > self._number or self._total > self._weight:
                _, (_, dropped) = self._kept.popitem(last=False)
                self._total -= dropped

    def drop(self, key: K) -> None:
        """Keep nothing under a key."""
        with self._lock:
            found = self._kept.pop(key, None)
            if found is not None:
                self._total -= found[1]

    def clear(self) -> None:
        """Drop all."""
        with self._lock:
            self._kept.clear()
            self._total = 0


class MemoryCache:
    """Keeps entries in this process.

    Args:
        entries: How many at most.
        max_bytes: How many bytes they may take together, about.
    """

    def __init__(self, entries: int = 10_000, max_bytes: int = 64 << 20) -> None:
        if entries < 1 or max_bytes < 1:
            raise ValueError("a cache must be allowed at least one entry and one byte")
        self._kept: Recent[str, Entry] = Recent(entries, max_bytes, bytes_of)

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: str) -> Entry | None:
        """Return what is kept under a key, or None."""
        return self._kept.get(key)

    def put(self, key: str, entry: Entry) -> None:
        """Keep an entry."""
        self._kept.put(key, entry)

    def close(self) -> None:
        """Keep nothing any more."""
        self._kept.clear()


def bytes_of(entry: Entry) -> int:
    """Return the memory that an entry takes, about."""
    hops = sum(
        len(hop.url) + len(hop.why) + sum(len(value) for _, value in hop.headers)
        for hop in entry.hops
    )
    # Text may take four bytes for each character.
    return _OVERHEAD + len(entry.body) + 4 * (hops + len(entry.url) + len(entry.why))
