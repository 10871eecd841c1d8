"""Fair scheduling of worker processes, by the time that each client has used."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

import anyio

from ..cache.memory import LRUCache

#: Clients remembered; a discarded one starts again at zero.
_MAX_CLIENTS = 100_000


class WorkTime:
    """The worker time of clients: a leaky bucket per client.

    A client's used time decreases at the allowed rate, so that a client can use the time of one
    minute at once, and the allowed rate on average.

    Args:
        per_minute: Seconds of worker time per client and minute; 0 for no limit.
        clock: Returns seconds of a monotonic clock.
    """

    def __init__(self, per_minute: float, clock: Callable[[], float]) -> None:
        self._per_minute = per_minute
        self._clock = clock
        #: By client: seconds used, and when they were recorded.
        self._used: LRUCache[str, tuple[float, float]] = LRUCache(
            _MAX_CLIENTS, _MAX_CLIENTS, lambda _: 1
        )

    def used(self, client: str) -> float:
        """Return the seconds in a client's bucket."""
        seconds, since = self._used.get(client) or (0.0, 0.0)
        # Without a limit, the used time still determines the order.
        rate = (self._per_minute or 60) / 60
        return max(0.0, seconds - (self._clock() - since) * rate)

    def charge(self, client: str, seconds: float) -> None:
        """Add worker time to a client's bucket."""
        self._used.put(client, (self.used(client) + seconds, self._clock()))

    def wait(self, client: str) -> float:
        """Return the seconds until a client may use worker time again; 0 means now."""
        if not self._per_minute:
            return 0.0
        return max(0.0, self.used(client) - self._per_minute) * 60 / self._per_minute


S = TypeVar("S")


class _Waiter(Generic[S]):
    def __init__(self) -> None:
        self.has_slot = anyio.Event()
        self.slots: list[S] = []


class Lane(Generic[S]):
    """Slots for requests, assigned fairly to waiting clients.

    A free slot goes to the client that has used the least time; in a tie, to the one that has
    waited longest. A client gets a second slot only if no other client waits and it is not the
    last one.
    """

    def __init__(self, slots: Iterable[S], time: WorkTime) -> None:
        self._free = list(slots)
        self._time = time
        self._running: Counter[str] = Counter()
        self._waiting: dict[str, deque[_Waiter[S]]] = {}

    @asynccontextmanager
    async def slot(self, client: str, timeout: float) -> AsyncIterator[S]:
        """Wait for a slot, and hold it.

        Raises:
            TimeoutError: no slot became free in time.
        """
        waiter: _Waiter[S] = _Waiter()
        self._waiting.setdefault(client, deque()).append(waiter)
        self._start_next()
        try:
            with anyio.fail_after(timeout):
                await waiter.has_slot.wait()
            yield waiter.slots[0]
        finally:
            if waiter.slots:
                self._free += waiter.slots
                self._running[client] -= 1
                if not self._running[client]:
                    del self._running[client]
            else:
                self._waiting[client].remove(waiter)
                if not self._waiting[client]:
                    del self._waiting[client]
            self._start_next()

    def _start_next(self) -> None:
        while self._free:
            eligible = [each for each in self._waiting if self._may_start(each)]
            if not eligible:
                return
            client = min(eligible, key=self._time.used)
            # Reinserting moves the client behind others with the same time.
            waiters = self._waiting.pop(client)
            waiter = waiters.popleft()
            if waiters:
                self._waiting[client] = waiters
            self._running[client] += 1
            waiter.slots.append(self._free.pop())
            waiter.has_slot.set()

    def _may_start(self, client: str) -> bool:
        if not self._running[client]:
            return True
        return len(self._free) > 1 and len(self._waiting) == 1
