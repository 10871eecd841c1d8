"""A `ResilientCache`: decisions continue while the cache fails."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .store import key_prefix

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..dialects import Statuses
    from ..freshness import Entry
    from .store import Cache

#: Seconds until a failed cache is tried again, so that decisions do not wait for each timeout.
RETRY_SECONDS = 10.0


class ResilientCache:
    """Caches entries by origin, for dialects with the same `Statuses`; handles errors of the cache.

    Args:
        cache: The cache for the entries.
        statuses: How statuses are read.
        on_failure: Called with the origin and the cache's exception.
        monotonic: Returns seconds of a monotonic clock.
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
        """Return the entry of an origin, fresh or not; None if it is missing or the cache fails."""
        if self._monotonic() < self._paused_until:
            return None
        try:
            entry = self._cache.get(self._prefix + origin)
        except Exception as error:  # noqa: BLE001 - user code
            self._report_failure(origin, error)
            return None
        return entry if entry is not None and entry.origin == origin else None

    def put(self, entry: Entry) -> None:
        """Store an entry, unless the cache fails."""
        if self._monotonic() < self._paused_until:
            return
        try:
            self._cache.put(self._prefix + entry.origin, entry)
        except Exception as error:  # noqa: BLE001 - user code
            self._report_failure(entry.origin, error)

    def _report_failure(self, origin: str, error: Exception) -> None:
        self._paused_until = self._monotonic() + RETRY_SECONDS
        self._on_failure(origin, error)
