"""Leases: of the processes that share a cache, one fetches a site's robots.txt.

The others wait for its entry. A lease ends by itself if the process that holds it is killed.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from .forks import at_fork
from .store import LeasingCache

#: Seconds after which a lease ends that nobody renews. Shorter than the timeout of a fetch by
#: default, so that those who wait for a killed process do not all give up at once.
_LEASE_SECONDS = 6.0

#: Renewals per length of a lease.
_RENEWALS = 3


class Lease:
    """The right to fetch what belongs to a key, for one fetch. Must be ended."""

    def __init__(self, cache: LeasingCache, key: str, keeper: Leases) -> None:
        self._cache = cache
        self._key = key
        self._keeper = keeper
        #: After this many seconds, the lease ends unless it is renewed.
        self.seconds = _LEASE_SECONDS
        self._owner = secrets.token_hex(8)
        self._may_be_taken = False
        self._is_over = False
        # Held during calls of the cache, which return within seconds.
        self._lock = threading.RLock()

    def take(self) -> bool:
        """Take the lease unless somebody else holds it; return whether this one is taken."""
        is_taken = self.renew()
        if is_taken:
            self._keeper.keep(self)
        return is_taken

    def renew(self) -> bool:
        """Take the lease, or lengthen it; False if somebody else holds it."""
        with self._lock:
            # The caller may have given up while this call waited for its thread.
            if self._is_over:
                return False
            self._may_be_taken = True
            return bool(self._cache.lease(self._key, self._owner, self.seconds))

    def end(self) -> None:
        """End the lease, so that others need not wait until it ends by itself."""
        self._is_over = True
        with self._lock, suppress(Exception):
            self._keeper.drop(self)
            if self._may_be_taken:
                self._cache.release(self._key, self._owner)

    def end_soon(self) -> None:
        """End the lease in another thread: neither an event loop nor a cancelled task waits."""
        self._is_over = True
        _start_thread(self.end)


class Leases:
    """The leases of a cache that this process holds; a thread renews them."""

    def __init__(self, cache: LeasingCache) -> None:
        self._cache = cache
        self._kept: set[Lease] = set()
        self._has_thread = False
        # Held for single steps only.
        self._lock = threading.RLock()
        at_fork(in_child=self._reset_after_fork)

    def _reset_after_fork(self) -> None:
        """Leave the leases to the parent process, in a child process."""
        self._kept = set()
        self._has_thread = False
        self._lock = threading.RLock()

    def request(self, key: str) -> Lease:
        """Return a lease that is not taken yet."""
        return Lease(self._cache, key, self)

    def keep(self, lease: Lease) -> None:
        """Renew a lease until `drop`."""
        with self._lock:
            self._kept.add(lease)
            if not self._has_thread:
                self._has_thread = _start_thread(self._renew)

    def drop(self, lease: Lease) -> None:
        """Renew a lease no longer."""
        with self._lock:
            self._kept.discard(lease)

    def _renew(self) -> None:
        """Renew the leases as long as there are some."""
        while True:
            time.sleep(_LEASE_SECONDS / _RENEWALS)
            with self._lock:
                leases = list(self._kept)
                if not leases:
                    self._has_thread = False
                    return
            # If the cache fails, it would fail for all of them.
            with suppress(Exception):
                for lease in leases:
                    lease.renew()


def _start_thread(work: Callable[[], object]) -> bool:
    """Start a daemon thread; return whether there can be another one."""
    try:
        threading.Thread(target=work, name="koster lease", daemon=True).start()
    except RuntimeError:
        return False
    return True
