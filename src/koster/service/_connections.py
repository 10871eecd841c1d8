"""Connections: how many may be open, in all and for each client, and which are closed for others.

File descriptors are what a server runs out of first: then it can accept nobody, and open no file
either. So there are never more connections than descriptors, less what the service itself needs.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from itertools import chain, islice
from typing import TYPE_CHECKING

from ..errors import KosterError
from ._limits import client_key
from ._log import WARNING, log, log_sparsely
from ._problems import too_many_connections

if sys.platform != "win32":
    import resource

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from ._metrics import Metrics
    from ._problems import Problem
    from ._protocol import Protocol
    from ._settings import Settings

#: Connections beyond the limit, which only monitoring endpoints answer.
_SPARE = 16

#: Connections accepted in one turn of the event loop: others are served in between.
_AT_ONCE = 16

#: The part of all connections that is closed at once to make room: looking for them takes a look
#: at each.
_PART = 32

#: Descriptors that the process needs besides connections: modules, static files, DNS lookups, the
#: log, and a margin; for each fetch, and for each worker process.
_OWN = 64
_FOR_FETCH = 2
_FOR_WORKER = 4

#: With fewer connections the service is of no use.
_FEWEST = 16

#: Seconds without accepting where there is no room.
_PAUSE = 0.1


class TooFewDescriptorsError(KosterError):
    """The process may open too few files for the service to run."""


class Connections:
    """All open connections.

    Args:
        limit: How many may be open.
        per_client: How many of them one client may have; 0 for any number.
        metrics: Where they are counted.
        is_shared: Tells whether many clients share an address, as behind a proxy: the limit for a
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
        #: Of each client, those that were used longest ago first.
        self._open: dict[str, dict[Protocol, None]] = {}
        self._number = 0
        metrics.connections.set_function(lambda: self._number)

    @property
    def is_over_limit(self) -> bool:
        """Whether the last connection is one of the spare ones; see `make_room`."""
        return self._number > self.limit

    def opened(self, connection: Protocol) -> None:
        """Count a connection."""
        self._open.setdefault(client_key(connection.address), {})[connection] = None
        self._number += 1

    def used(self, connection: Protocol) -> None:
        """Note that a connection has just been used."""
        own = self._open.get(client_key(connection.address), {})
        if connection in own:
            del own[connection]
            own[connection] = None

    def closed(self, connection: Protocol) -> None:
        """Stop counting a connection, if it is counted."""
        key = client_key(connection.address)
        own = self._open.get(key)
        if own is not None and connection in own:
            del own[connection]
            self._number -= 1
            if not own:
                del self._open[key]

    def has_room(self) -> bool:
        """Tell whether another one may be accepted, then to be given room by `make_room`."""
        if self._number >= self.limit + _SPARE:
            self._close_some()
        return self._number < self.limit + _SPARE

    def make_room(self) -> None:
        """Close idle connections for a new one, if the limit is reached.

        If none is idle there are some spare ones, which only monitoring endpoints answer.
        """
        if self._number >= self.limit:
            self._close_some()

    def refusal(self, address: str) -> Problem | None:
        """Return why an address may have no further connection, if it may not.

        Its own idle connections are closed for a new one.
        """
        if not (self._per_client and address) or self._is_shared(address):
            return None
        own = self._open.get(client_key(address), {})
        if len(own) < self._per_client:
            return None
        log_sparsely("too many connections from one client", client=address, limit=self._per_client)
        idle = next(filter(_is_idle, own), None)
        if idle is not None:
            self._close(idle, "client")
            return None
        self._metrics.refused_connections.inc()
        return too_many_connections(self._per_client)

    def _close_some(self) -> None:
        """Close idle connections, those of the clients with the most first; then slow senders."""
        clients = sorted(self._open.values(), key=_by_number)
        most = max(1, self.limit // _PART)
        found = list(islice(filter(_is_idle, chain.from_iterable(clients)), most))
        if not found:
            found = list(islice(filter(_is_receiving, chain.from_iterable(clients)), most))
        for connection in found:
            self._close(connection, "all")
        log_sparsely("connection limit reached", limit=self.limit, closed=len(found))

    def _close(self, connection: Protocol, reason: str) -> None:
        self.closed(connection)
        self._metrics.closed_connections.labels(reason).inc()
        connection.give_way()


class Acceptor:
    """Accepts connections on a listener, as long as there is room.

    asyncio's own server accepts the whole backlog in one turn, past every limit, and logs an error
    for each connection for which there is no file descriptor.
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
        """Begin to accept, or begin again."""
        if not self._is_stopped:
            self._loop.add_reader(self._listener, self._accept)

    async def stop(self) -> None:
        """Accept those who wait, as far as there is room, then nobody: closing would reset them."""
        self._is_stopped = True
        self._loop.remove_reader(self._listener)
        # Those who come from now on wait, and are refused once the listener is closed.
        self._listener.listen(0)
        self._accept(self._connections.limit)
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _accept(self, at_once: int = _AT_ONCE) -> None:
        for _ in range(at_once):
            if not self._connections.has_room():
                log_sparsely("connection limit reached, no idle connections: accepting paused")
                self._pause()
                return
            try:
                connection, address = self._listener.accept()
            except (BlockingIOError, InterruptedError):
                return
            except ConnectionAbortedError:
                continue
            except OSError as error:
                log_sparsely("cannot accept connections", error=error.strerror)
                self._pause()
                return
            connection.setblocking(False)
            self._take(connection, address[0] if isinstance(address, tuple) else "")

    def _pause(self) -> None:
        self._loop.remove_reader(self._listener)
        self._loop.call_later(_PAUSE, self.start)

    def _take(self, connection: socket.socket, address: str) -> None:
        """Give a connection its protocol, or turn it away."""
        refusal = self._connections.refusal(address)
        if refusal is not None:
            _turn_away(connection, refusal)
            return
        self._connections.make_room()
        protocol = self._new_protocol(address)
        self._connections.opened(protocol)
        task = self._loop.create_task(self._connect(connection, protocol))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connect(self, connection: socket.socket, protocol: Protocol) -> None:
        try:
            await self._loop.connect_accepted_socket(lambda: protocol, connection)
        except OSError:
            self._connections.closed(protocol)
            connection.close()


def _by_number(own: dict[Protocol, None]) -> tuple[int, float]:
    """Order clients: the one with the most connections first, then the one idle longest."""
    return -len(own), next(iter(own)).since


def _is_idle(connection: Protocol) -> bool:
    return connection.is_idle


def _is_receiving(connection: Protocol) -> bool:
    return connection.is_receiving


def _turn_away(connection: socket.socket, problem: Problem) -> None:
    """Answer with a problem, without a protocol: that costs little, however many come."""
    with contextlib.suppress(OSError):
        # What is unread when a connection is closed takes the answer with it.
        connection.recv(65_536)
    with contextlib.suppress(OSError):
        connection.send(problem.as_http())
    connection.close()


def allowed_connections(wanted: int, settings: Settings) -> int:
    """Return how many connections there may be with the file descriptors that the process has.

    The soft limit of descriptors is raised where it may be.

    Raises:
        TooFewDescriptorsError: there are hardly any.
    """
    own = (
        _OWN
        + _FOR_FETCH * settings.fetches
        + _FOR_WORKER * (settings.workers + 1)
        + _SPARE
        # Those that are closed for others have a descriptor until the next turn of the loop.
        + _AT_ONCE
    )
    own += -(-wanted // _PART)
    available = _raised(wanted + own)
    limit = min(wanted, available - own)
    if limit < min(wanted, _FEWEST):
        needed = own + _FEWEST
        raise TooFewDescriptorsError(
            f"the service needs {needed} file descriptors and may have {available}: "
            "raise the limit (ulimit -n, or LimitNOFILE= in a systemd unit)"
        )
    if limit < wanted:
        log(
            "fewer connections than asked for",
            WARNING,
            connections=limit,
            asked=wanted,
            descriptors=available,
            hint="raise the limit: ulimit -n, or LimitNOFILE= in a systemd unit",
        )
    return limit


def _raised(number: int) -> int:
    """Return how many file descriptors the process may have, raised to a number if possible."""
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
