"""The cache in memory: a bounded LRU cache."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import timedelta
from typing import Generic, TypeVar

from ..errors import CacheError
from ..freshness import Entry
from ._selection import is_of, moment_before, origins_of
from .forks import at_fork

K = TypeVar("K")
V = TypeVar("V")

#: Approximate bytes that an entry takes besides its body.
_OVERHEAD = 1500


class LRUCache(Generic[K, V]):
    """A thread-safe LRU cache, bounded by the number of entries and their total weight.

    ``weigh`` returns the weight of a value. A value heavier than ``max_weight`` is not cached.

    Nobody waits for a lock: a signal handler or a finalizer that asks in the middle of a step would
    wait for its own thread. Each step on the entries is a single call. The weights that it changes
    are noted, and added up by one thread at a time, which also evicts.
    """

    def __init__(self, max_entries: int, max_weight: int, weigh: Callable[[V], int]) -> None:
        self._max_entries = max_entries
        self._max_weight = max_weight
        self._weigh = weigh
        self._total = 0
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        #: Changes of the total weight that are not added up yet.
        self._changes: deque[int] = deque()
        #: The key of the last entry, or one that was removed.
        self._newest: K | None = None
        #: Of the thread that adds up and evicts; never waited for.
        self._lock = threading.Lock()
        at_fork(in_child=self._reset_after_fork)

    def _reset_after_fork(self) -> None:
        self._lock = threading.Lock()
        # The fork may have interrupted a thread between adding an entry and its weight.
        self._changes.clear()
        self._total = sum(weight for _, weight in self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def weight(self) -> int:
        """The total weight of the entries."""
        return self._total + sum(self._changes)

    def get(self, key: K) -> V | None:
        """Return the value of a key, or None."""
        found = self._entries.get(key)
        if found is None:
            return None
        # Many questions in a row are about one site.
        if key != self._newest:
            with suppress(KeyError):
                self._entries.move_to_end(key)
                self._newest = key
        return found[0]

    def put(self, key: K, value: V) -> None:
        """Set the value of a key, and evict the least recently used ones."""
        weight = self._weigh(value)
        added = value, weight
        self.drop(key)
        # Another thread may put a value at the same time: one of them is as good as the other.
        if weight <= self._max_weight and self._entries.setdefault(key, added) is added:
            self._newest = key
            self._changes.append(weight)
            self._evict()

    def drop(self, key: K) -> None:
        """Remove a key, if present."""
        found = self._entries.pop(key, None)
        if found is not None:
            self._changes.append(-found[1])

    def items(self) -> list[tuple[K, V]]:
        """Return all keys with their values."""
        # Not a list of items: finalizers, which may ask this cache, run while it is made.
        return [(key, value) for key, (value, _) in self._entries.copy().items()]

    def clear(self) -> None:
        """Remove all keys."""
        for key in list(self._entries):
            self.drop(key)
        self._evict()

    def _evict(self) -> None:
        """Add up the weights, and evict the least recently used entries if they are too many.

        If another thread is at it, it or the next call does that.
        """
        if not self._lock.acquire(blocking=False):
            return
        try:
            while self._changes:
                self._total += self._changes.popleft()
            while self._entries and (
                len(self._entries) > self._max_entries or self._total > self._max_weight
            ):
                _, (_, dropped) = self._entries.popitem(last=False)
                self._total -= dropped
        finally:
            self._lock.release()


class MemoryCache:
    """Caches entries in this process.

    Args:
        entries: Maximum number of entries.
        max_bytes: Approximate maximum of their total size.
    """

    def __init__(self, entries: int = 10_000, max_bytes: int = 64 << 20) -> None:
        if entries < 1 or max_bytes < 1:
            raise ValueError("entries and max_bytes must be at least 1")
        self._cache: LRUCache[str, Entry] = LRUCache(entries, max_bytes, memory_bytes)
        self._is_closed = False

    def check(self) -> None:
        """Check that the cache is open.

        Raises:
            CacheError: it is closed.
        """
        if self._is_closed:
            raise CacheError("the cache in memory is closed: create a new MemoryCache")

    def __len__(self) -> int:
        return len(self._cache)

    def get(self, key: str) -> Entry | None:
        """Return the entry of a key, or None."""
        return self._cache.get(key)

    def put(self, key: str, entry: Entry) -> None:
        """Store an entry."""
        self._cache.put(key, entry)

    def delete(self, url: str) -> int:
        """Delete the entries of a URL's site, for all dialects; return how many there were.

        Raises:
            UrlError: the URL is invalid, or not HTTP or HTTPS.
        """
        origins = origins_of(url)
        return self._drop(key for key, _ in self._cache.items() if is_of(key, origins))

    def purge(self, *, older_than: timedelta) -> int:
        """Delete the entries that were fetched longer ago; return how many there were.

        Raises:
            TypeError: ``older_than`` is not a timedelta.
            ValueError: it is negative.
        """
        moment = moment_before(older_than)
        return self._drop(key for key, entry in self._cache.items() if entry.fetched < moment)

    def _drop(self, keys: Iterable[str]) -> int:
        dropped = list(keys)
        for key in dropped:
            self._cache.drop(key)
        return len(dropped)

    def close(self) -> None:
        """Remove all entries; no new client accepts the cache."""
        self._is_closed = True
        self._cache.clear()


def memory_bytes(entry: Entry) -> int:
    """Return approximately the bytes of memory that an entry takes."""
    hops = sum(
        len(hop.url) + len(hop.why) + sum(len(value) for _, value in hop.headers)
        for hop in entry.hops
    )
    # A str may take four bytes per character.
    bodies = len(entry.body) + len(entry.served or b"")
    return _OVERHEAD + bodies + 4 * (hops + len(entry.url) + len(entry.why))
