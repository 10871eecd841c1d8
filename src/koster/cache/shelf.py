"""A `Shelf`: a cache for one kind of robot, whose failures stop no decision."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .store import key_prefix

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..dialects import Statuses
    from ..freshness import Entry
    from .store import Cache

#: Seconds for which a cache that failed is left alone: no decision is to wait for it again soon.
PAUSE = 10.0


class Shelf:
    """Keeps entries by origin in a cache, for robots that read statuses alike.

    Args:
        cache: Where they are kept.
        statuses: How statuses are read.
        on_failure: Called with the origin and what the cache raised.
        monotonic: Gives seconds by a clock that nobody sets.
    """

    def __init__(
        self,
        cache: Cache,
        statuses: Statuses,
        on_failure: Callable[[str, Exception], object],
        monotonic: Callable[[], float],
    ) -> None:
        self._cache = cache
        self._prefix = key_prefix(statuses)
        self._on_failure = on_failure
        self._monotonic = monotonic
        self._paused_until = -math.inf

    def get(self, origin: str) -> Entry | None:
        """Return what is kept of an origin, fresh or not; None also where the cache fails."""
        if self._monotonic() < self._paused_until:
            return None
        try:
            entry = self._cache.get(self._prefix + origin)
        except Exception as error:  # noqa: BLE001 - whatever it is
            self._failed(origin, error)
            return None
        return entry if entry is not None and entry.origin == origin else None

    def put(self, entry: Entry) -> None:
        """Keep an entry, if the cache does not fail."""
        if self._monotonic() < self._paused_until:
            return
        try:
            self._cache.put(self._prefix + entry.origin, entry)
        except Exception as error:  # noqa: BLE001 - whatever it is
            self._failed(entry.origin, error)

    def _failed(self, origin: str, error: Exception) -> None:
        self._paused_until = self._monotonic() + PAUSE
        self._on_failure(origin, error)
