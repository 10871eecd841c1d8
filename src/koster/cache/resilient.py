"""A `ResilientCache`: decisions continue while the cache fails."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

from ..dialects import Statuses
from ..freshness import Entry
from ._leases import Lease, Leases
from .store import Cache, LeasingCache, key_prefix

#: Seconds until a failed cache is tried again, so that decisions do not wait for each timeout.
RETRY_SECONDS = 10.0


class ResilientCache:
    """Caches entries by origin, for dialects with the same `Statuses`; handles errors of the cache.

    Args:
        cache: The cache for the entries.
        statuses: How statuses are read.
        on_failure: Called with the origin and the cache's exception, once until it works again.
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
        self._leases: Leases | None = None
        if callable(getattr(cache, "lease", None)) and callable(getattr(cache, "release", None)):
            self._leases = Leases(cast("LeasingCache", cache))
        #: The methods that failed when they were last called.
        self._failing: set[str] = set()

    def get(self, origin: str) -> Entry | None:
        """Return the entry of an origin, fresh or not; None if it is missing or the cache fails."""
        if self._monotonic() < self._paused_until:
            return None
        try:
            entry = _entry(self._cache.get(self._prefix + origin))
        except Exception as error:  # noqa: BLE001 - user code
            self._report_failure("get", origin, error)
            return None
        self._failing.discard("get")
        return entry if entry is not None and entry.origin == origin else None

    def put(self, entry: Entry) -> None:
        """Store an entry, unless the cache fails."""
        if self._monotonic() < self._paused_until:
            return
        try:
            self._cache.put(self._prefix + entry.origin, entry)
        except Exception as error:  # noqa: BLE001 - user code
            self._report_failure("put", entry.origin, error)
        else:
            self._failing.discard("put")

    def lease(self, origin: str) -> Lease | None:
        """Return a lease for the fetch of an origin; None if the cache has no leases."""
        return None if self._leases is None else self._leases.request(self._prefix + origin)

    def take_and_get(self, origin: str, lease: Lease) -> tuple[bool, Entry | None]:
        """Try to take a lease, then return whether it was, and the entry of the origin."""
        return self._take(origin, lease), self.get(origin)

    def _take(self, origin: str, lease: Lease) -> bool:
        """Take a lease; False while another process holds it, True if the cache fails."""
        if self._monotonic() < self._paused_until:
            return True
        try:
            is_taken = lease.take()
        except Exception as error:  # noqa: BLE001 - user code
            self._report_failure("lease", origin, error)
            return True
        self._failing.discard("lease")
        return is_taken

    def _report_failure(self, method: str, origin: str, error: Exception) -> None:
        self._paused_until = self._monotonic() + RETRY_SECONDS
        is_new = not self._failing
        self._failing.add(method)
        if is_new:
            self._on_failure(origin, error)


def _entry(found: object) -> Entry | None:
    """Return what a cache returned.

    Raises:
        TypeError: it is not an entry.
    """
    if found is not None and not isinstance(found, Entry):
        raise TypeError(f"the cache returned a {type(found).__name__}, not an Entry")
    return found
