"""Who is next: worker processes are shared out between clients by the time that each has used."""

from __future__ import annotations

from collections import Counter, deque
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Generic, TypeVar

import anyio

from ..cache.memory import Recent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

#: Clients that are remembered; who is forgotten begins anew.
_CLIENTS = 100_000


class WorkTime:
    """How much worker time clients have used of late.

    What a client has used is forgiven at the rate at which it may use it, so that it can use a
    minute's worth at once, and that rate in the long run.

    Args:
        per_minute: Seconds of worker time that a client may use in a minute; 0 for any number.
        clock: Gives seconds, which only grow.
    """

    def __init__(self, per_minute: float, clock: Callable[[], float]) -> None:
        self._per_minute = per_minute
        self._clock = clock
        #: Seconds used, and when that was so.
        self._used: Recent[str, tuple[float, float]] = Recent(_CLIENTS, _CLIENTS, lambda _: 1)

    def used(self, client: str) -> float:
        """Return the seconds that a client has used and that are not forgiven yet."""
        seconds, since = self._used.get(client) or (0.0, 0.0)
        # Without a limit the order still is by what was used in the last minutes.
        rate = (self._per_minute or 60) / 60
        return max(0.0, seconds - (self._clock() - since) * rate)

    def charge(self, client: str, seconds: float) -> None:
        """Count worker time."""
        self._used.put(client, (self.used(client) + seconds, self._clock()))

    def wait(self, client: str) -> float:
        """Return in how many seconds a client may ask again; 0: now."""
        if not self._per_minute:
            return 0.0
        return max(0.0, self.used(client) - self._per_minute) * 60 / self._per_minute


S = TypeVar("S")


class _Turn(Generic[S]):
    """A question that waits for a slot, and then has one."""

    def __init__(self) -> None:
        self.begun = anyio.Event()
        self.slots: list[S] = []


class Lane(Generic[S]):
    """Slots for questions, given to the clients that wait.

    A free slot goes to the client that has used the least time; of those that have used the same,
    to the one that waits longest. While others wait, and as long as it would take the last slot, a
    client has one question running at most.
    """

    def __init__(self, slots: Iterable[S], time: WorkTime) -> None:
        self._free = list(slots)
        self._time = time
        self._running: Counter[str] = Counter()
        self._waiting: dict[str, deque[_Turn[S]]] = {}

    @asynccontextmanager
    async def slot(self, client: str, patience: float) -> AsyncIterator[S]:
        """Wait for a slot and have it.

        Raises:
            TimeoutError: there was none for so many seconds.
        """
        turn: _Turn[S] = _Turn()
        self._waiting.setdefault(client, deque()).append(turn)
        self._start_next()
        try:
            with anyio.fail_after(patience):
                await turn.begun.wait()
            yield turn.slots[0]
        finally:
            if turn.slots:
                self._free += turn.slots
                self._running[client] -= 1
                if not self._running[client]:
                    del self._running[client]
            else:
                self._waiting[client].remove(turn)
                if not self._waiting[client]:
                    del self._waiting[client]
            self._start_next()

    def _start_next(self) -> None:
        """Give free slots to clients that are allowed another one."""
        while self._free:
            may_start = [each for each in self._waiting if self._may_start(each)]
            if not may_start:
                return
            client = min(may_start, key=self._time.used)
            # Behind the others that have used the same.
            turns = self._waiting.pop(client)
            turn = turns.popleft()
            if turns:
                self._waiting[client] = turns
            self._running[client] += 1
            turn.slots.append(self._free.pop())
            turn.begun.set()

    def _may_start(self, client: str) -> bool:
        if not self._running[client]:
            return True
        return len(self._free) > 1 and len(self._waiting) == 1
