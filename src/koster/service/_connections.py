"""Connections: limits in total and per client, and which ones to close for new ones.

A server runs out of file descriptors first: then it can neither accept connections nor open files.
The limit therefore reserves the descriptors that the service itself needs.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from itertools import chain, islice

from ..errors import KosterError
from ._limits import client_key
from ._log import WARNING, log, log_rate_limited
from ._problems import too_many_connections

if sys.platform != "win32":
    import resource

import socket
from collections.abc import Callable

from ._metrics import Metrics
from ._problems import Problem
from ._protocol import Protocol
from ._settings import ServiceSettings

#: Connections beyond the limit, for monitoring endpoints only.
_SPARE_CONNECTIONS = 16

#: Connections accepted per turn of the event loop, so that others are served in between.
_MAX_ACCEPTS = 16

#: The fraction (1/x) of connections closed together: finding idle ones is linear in their number.
_CLOSE_FRACTION = 32

#: Descriptors needed besides connections: for modules, static files, DNS lookups, the log and a
#: margin; per fetch; and per worker process.
_BASE_DESCRIPTORS = 64
_DESCRIPTORS_PER_FETCH = 2
_DESCRIPTORS_PER_WORKER = 4

#: The service does not start with fewer connections.
_MIN_CONNECTIONS = 16

#: Seconds without accepting when all connections are in use.
_PAUSE_SECONDS = 0.1


class TooFewDescriptorsError(KosterError):
    """The limit of file descriptors is too low for the service."""


class Connections:
    """All open connections.

    Args:
        limit: Maximum number of connections.
        per_client: Maximum number per client; 0 for no limit.
        metrics: Counts the connections.
        is_shared: Returns whether many clients share an address, such as a proxy: the limit per
            client does not apply to it.
    """

    def __init__(
        self,
        limit: int,
        per_client: int,
        metrics: Metrics,
        is_shared: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self.limit = limit
        self._per_client = per_client
        self._metrics = metrics
        self._is_shared = is_shared
        #: By client, the least recently used first.
        self._open: dict[str, dict[Protocol, None]] = {}
        self._count = 0
        metrics.connections.set_function(lambda: self._count)

    @property
    def is_over_limit(self) -> bool:
        """Whether the last connection is one of the spare ones; see `make_room`."""
        return self._count > self.limit

    def add(self, connection: Protocol) -> None:
        """Add a new connection."""
        self._open.setdefault(client_key(connection.address), {})[connection] = None
        self._count += 1

    def mark_used(self, connection: Protocol) -> None:
        """Make a connection its client's most recently used one."""
        own = self._open.get(client_key(connection.address), {})
        if connection in own:
            del own[connection]
            own[connection] = None

    def remove(self, connection: Protocol) -> None:
        """Remove a closed connection, if present."""
        key = client_key(connection.address)
        own = self._open.get(key)
        if own is not None and connection in own:
            del own[connection]
            self._count -= 1
            if not own:
                del self._open[key]

    def has_room(self) -> bool:
        """Return whether another connection may be accepted; then call `make_room`."""
        if self._count >= self.limit + _SPARE_CONNECTIONS:
            self._close_some()
        return self._count < self.limit + _SPARE_CONNECTIONS

    def make_room(self) -> None:
        """Close idle connections for a new one, if the limit is reached.

        If none is idle, the new one is a spare connection, for monitoring endpoints only.
        """
        if self._count >= self.limit:
            self._close_some()

    def rejection(self, address: str) -> Problem | None:
        """Return the problem if a client has too many connections, else None.

        If the client has an idle connection, that one is closed for the new one instead.
        """
        if not (self._per_client and address) or self._is_shared(address):
            return None
        own = self._open.get(client_key(address), {})
        if len(own) < self._per_client:
            return None
        log_rate_limited(
            "too many connections from one client", client=address, limit=self._per_client
        )
        idle = next(filter(_is_idle, own), None)
        if idle is not None:
            self._close(idle, "client")
            return None
        self._metrics.refused_connections.inc()
        return too_many_connections(self._per_client)

    def _close_some(self) -> None:
        """Close idle connections, those of the clients with the most first; then slow senders."""
        clients = sorted(self._open.values(), key=_eviction_order)
        count = max(1, self.limit // _CLOSE_FRACTION)
        evicted = list(islice(filter(_is_idle, chain.from_iterable(clients)), count))
        if not evicted:
            evicted = list(islice(filter(_is_receiving, chain.from_iterable(clients)), count))
        for connection in evicted:
            self._close(connection, "all")
        log_rate_limited("connection limit reached", limit=self.limit, closed=len(evicted))

    def _close(self, connection: Protocol, reason: str) -> None:
        self.remove(connection)
        self._metrics.closed_connections.labels(reason).inc()
        connection.evict()


class Acceptor:
    """Accepts connections on a listener, within the limit.

    asyncio's own server accepts the whole backlog in one turn, ignoring limits, and logs an error
    for each connection without a file descriptor.
    """

    def __init__(
        self,
        listener: socket.socket,
        connections: Connections,
        new_protocol: Callable[[str], Protocol],
    ) -> None:
        self._listener = listener
        self._connections = connections
        self._new_protocol = new_protocol
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_stopped = False

    def start(self) -> None:
        """Start or resume accepting."""
        if not self._is_stopped:
            self._loop.add_reader(self._listener, self._accept)

    async def stop(self) -> None:
        """Accept the waiting connections within the limit, then stop: closing would reset them."""
        self._is_stopped = True
        self._loop.remove_reader(self._listener)
        # New connections now wait, and are reset when the listener is closed.
        self._listener.listen(0)
        self._accept(self._connections.limit)
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _accept(self, limit: int = _MAX_ACCEPTS) -> None:
        for _ in range(limit):
            if not self._connections.has_room():
                log_rate_limited("connection limit reached, no idle connections: accepting paused")
                self._pause()
                return
            try:
                connection, address = self._listener.accept()
            except (BlockingIOError, InterruptedError):
                return
            except ConnectionAbortedError:
                continue
            except OSError as error:
                log_rate_limited("cannot accept connections", error=error.strerror)
                self._pause()
                return
            connection.setblocking(False)
            self._assign(connection, address[0] if isinstance(address, tuple) else "")

    def _pause(self) -> None:
        self._loop.remove_reader(self._listener)
        self._loop.call_later(_PAUSE_SECONDS, self.start)

    def _assign(self, connection: socket.socket, address: str) -> None:
        """Create the protocol of a connection, or reject it."""
        rejection = self._connections.rejection(address)
        if rejection is not None:
            _reject(connection, rejection)
            return
        self._connections.make_room()
        protocol = self._new_protocol(address)
        self._connections.add(protocol)
        task = self._loop.create_task(self._connect(connection, protocol))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connect(self, connection: socket.socket, protocol: Protocol) -> None:
        try:
            await self._loop.connect_accepted_socket(lambda: protocol, connection)
        except OSError:
            self._connections.remove(protocol)
            connection.close()


def _eviction_order(own: dict[Protocol, None]) -> tuple[int, float]:
    """Sort key for clients: most connections first, then idle for longest."""
    return -len(own), next(iter(own)).last_used


def _is_idle(connection: Protocol) -> bool:
    return connection.is_idle


def _is_receiving(connection: Protocol) -> bool:
    return connection.is_receiving


def _reject(connection: socket.socket, problem: Problem) -> None:
    """Send a problem without creating a protocol, which is cheap under attack."""
    with contextlib.suppress(OSError):
        # Closing with unread data would reset the connection, and lose the response.
        connection.recv(65_536)
    with contextlib.suppress(OSError):
        connection.send(problem.to_http())
    connection.close()


def allowed_connections(requested: int, settings: ServiceSettings) -> int:
    """Return the maximum number of connections for the process's file descriptors.

    Raises the soft limit of descriptors if possible.

    Raises:
        TooFewDescriptorsError: there are too few.
    """
    reserved = (
        _BASE_DESCRIPTORS
        + _DESCRIPTORS_PER_FETCH * settings.fetches
        + _DESCRIPTORS_PER_WORKER * (settings.workers + 1)
        + _SPARE_CONNECTIONS
        # Evicted connections keep their descriptor until the next turn of the event loop.
        + _MAX_ACCEPTS
    )
    reserved += -(-requested // _CLOSE_FRACTION)
    available = _raise_descriptor_limit(requested + reserved)
    limit = min(requested, available - reserved)
    if limit < min(requested, _MIN_CONNECTIONS):
        needed = reserved + _MIN_CONNECTIONS
        raise TooFewDescriptorsError(
            f"too few file descriptors: {available} available, {needed} needed: "
            "raise the limit (ulimit -n, or LimitNOFILE= in a systemd unit)"
        )
    if limit < requested:
        log(
            "fewer connections than configured",
            WARNING,
            connections=limit,
            asked=requested,
            descriptors=available,
            hint="raise the limit: ulimit -n, or LimitNOFILE= in a systemd unit",
        )
    return limit


def _raise_descriptor_limit(number: int) -> int:
    """Raise the limit of file descriptors to a number if possible; return the new limit."""
    if sys.platform == "win32":
        return number
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    is_unlimited = soft == resource.RLIM_INFINITY
    if is_unlimited or soft >= number:
        return number if is_unlimited else soft
    raised = number if hard == resource.RLIM_INFINITY else min(number, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
    except (ValueError, OSError):
        return soft
    return raised
