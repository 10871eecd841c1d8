"""`RobotsClient`: waits and fetches in threads."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from ..access import Unreachable
from ..cache.forks import at_fork
from ..dialects import RFC9309
from ._exchange import Reading, http_request
from ._keeper import AT_ONCE, Keeper, check_arguments, utc_now
from ._network import ERRORS, Deadline, Transport, failure_of, keeps_connections
from ._sync.client import Client
from .pace import Pacer

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime
    from typing import Self

    import httpx2

    from ..access import Failure, Request, Response
    from ..cache import Cache
    from ..dialects import Dialect
    from .events import OnEvent
    from .guard import Guard
    from .pace import PaceKeeper


class RobotsClient(Client):
    """Fetches each site's robots.txt once, keeps it, and decides. May be shared between threads.

    Args:
        user_agent: What is sent as the User-Agent header of each fetch.
        agent: Who asks where a question does not say: a product token, a header, or a sequence
            of tokens. Without it, ``user_agent``.
        dialect: How files and statuses are read.
        timeout: Seconds that a whole fetch may take, redirects included.
        cache: Where entries are kept: any `koster.cache.Cache`; the path of a file, for an
            `SqliteCache`; a URL ``redis://…``, for a `RedisCache`. Without it, in memory. What
            the client made itself it closes.
        guard: Which addresses are refused, as in `PUBLIC_ONLY`. Without it, none.
        at_once: How many fetches run at a time; others wait, and their time has not begun.
        pacer: Who keeps the pace for `wait`: a `FleetPacer` for several processes. Without it, a
            `Pacer` of the client's own.
        on_event: Called with each `Event`.
        transport: What sends requests in place of koster's own network, as `MockTransport` or an
            ``httpx2.HTTPTransport`` with a proxy. It cannot be guarded; the caller closes it.
        clock: Gives the time, with a time zone.
        unreachable: What a site that cannot be reached, and of whose file there is no copy, lets
            crawlers fetch: nothing, or everything with a warning in the log.

    Raises:
        ValueError: ``user_agent`` cannot be sent, ``timeout`` or ``at_once`` is not above 0, or
            there are both a guard and a transport.
    """

    def __init__(
        self,
        user_agent: str,
        *,
        agent: str | Sequence[str] | None = None,
        dialect: Dialect = RFC9309,
        timeout: float = 10.0,
        cache: Cache | str | os.PathLike[str] | None = None,
        guard: Guard | None = None,
        at_once: int = AT_ONCE,
        pacer: PaceKeeper | None = None,
        on_event: OnEvent | None = None,
        transport: httpx2.BaseTransport | None = None,
        clock: Callable[[], datetime] = utc_now,
        unreachable: Unreachable = Unreachable.DISALLOW,
    ) -> None:
        check_arguments(guard, transport, at_once)
        self._keeper = Keeper(
            user_agent, agent, dialect, timeout, cache, on_event, clock, unreachable
        )
        self._site_at = self._keeper.site_for
        self._transport_is_ours = transport is None
        self._transport = Transport(guard) if transport is None else transport
        self._pacer = Pacer() if pacer is None else pacer
        self._at_once_number = at_once
        self._at_once = threading.BoundedSemaphore(at_once)
        self._fetching = _Locks()
        self._waiting = _Locks()
        self._closing = threading.Event()
        self._has_fetched = False
        self._is_transport_inherited = False
        at_fork(in_child=self._renew)

    def _renew(self) -> None:
        """Forget what other threads of the parent process were doing, in a child process."""
        self._at_once = threading.BoundedSemaphore(self._at_once_number)
        self._closing = threading.Event()
        if self._keeper.is_closed:
            self._closing.set()
        if self._has_fetched and keeps_connections(self._transport):
            self._is_transport_inherited = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close connections, and the cache if the client made it."""
        self._keeper.is_closed = True
        self._closing.set()
        if self._transport_is_ours:
            self._transport.close()
        self._keeper.close()

    def _check_use(self) -> None:
        pass

    def _until_closed(self) -> AbstractContextManager[None]:
        # `_sleep` notices.
        return nullcontext()

    def _sleep(self, seconds: float) -> None:
        if self._closing.wait(seconds):
            raise RuntimeError("the client was closed")

    def _paced(self, name: str, *arguments: object) -> Any:
        return getattr(self._pacer, name)(*arguments)

    def _cached(self, method: Callable[..., Any], *arguments: object) -> Any:
        return method(*arguments)

    def _check_transport(self) -> None:
        if self._is_transport_inherited:
            raise RuntimeError(
                "the transport of this RobotsClient belongs to the parent process: "
                "make a new client with a new transport"
            )
        self._has_fetched = True

    def _slot(self) -> threading.BoundedSemaphore:
        return self._at_once

    def _answer(self, request: Request, until: float) -> Response | Failure:
        with Deadline(until) as deadline:
            try:
                sent = http_request(request, self._keeper.user_agent, deadline.check())
                response = self._transport.handle_request(sent)
                try:
                    reading = Reading(response)
                    for part in response.iter_raw() if reading.wants_body else ():
                        if reading.is_enough(part):
                            break
                        # Another transport than ours looks at each read alone.
                        deadline.check()
                finally:
                    response.close()
                return reading.result()
            except ERRORS as error:
                return failure_of(error, self._keeper.timeout)


class _Locks:
    """Locks by name, there as long as somebody holds or wants them; first come, first served."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queues: dict[str, deque[threading.Lock]] = {}
        at_fork(in_child=self._renew)

    def _renew(self) -> None:
        """Forget who holds and wants locks: threads that a child process does not have."""
        self._lock = threading.Lock()
        self._queues = {}

    @contextmanager
    def of(self, name: str, until: float = math.inf) -> Iterator[bool]:
        """Hold the lock of a name; False if it is not to be had until a monotonic moment."""
        own = threading.Lock()
        own.acquire()
        with self._lock:
            queue = self._queues.setdefault(name, deque())
            queue.append(own)
            is_first = len(queue) == 1
        try:
            # Who leaves lets the next one in.
            left = min(max(until - time.monotonic(), 0), threading.TIMEOUT_MAX)
            yield is_first or own.acquire(timeout=left)
        finally:
            with self._lock:
                was_first = queue[0] is own
                queue.remove(own)
                if queue and was_first:
                    queue[0].release()
                # In a child process it may be a queue of the parent's.
                if not queue and self._queues.get(name) is queue:
                    del self._queues[name]
