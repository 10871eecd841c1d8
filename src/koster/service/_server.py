"""The server: the service on a socket, with uvicorn; its log, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import stat
import sys
import time
from typing import TYPE_CHECKING, cast

import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from ..errors import KosterError
from ._connections import Acceptor, Connections, allowed_connections
from ._log import WARNING, log, log_as_json
from ._problems import stopping
from ._protocol import Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ._app import Service

#: Connections that wait to be accepted: as many as the system allows, up to this.
_BACKLOG = 4096

#: Seconds that a connection stays open with nothing on it: more than what is in front of a service
#: keeps its own for, which nginx does for 60.
_IDLE = 75

#: Seconds for which connections are told to close, before those on which nothing happens are.
_DRAINING = 0.5

#: Seconds in which requests that are not answered by the end of the grace period are refused.
_REFUSING = 2.0


class CannotListenError(KosterError, OSError):
    """The address is taken, not ours to take, or none of this machine's."""


def serve(
    service: Service,
    listener: socket.socket,
    *,
    proxies: Sequence[str] = (),
    max_connections: int = 1_000,
    per_client: int = 100,
    grace: float = 30,
    log_level: str = "info",
) -> None:
    """Run the service until it is told to stop (SIGINT, SIGTERM); then end what is begun.

    Args:
        service: What `create_app` gives.
        listener: Where it listens; see `listening`.
        proxies: Addresses and networks of proxies whose X-Forwarded-For is believed.
        max_connections: Open at a time; fewer where there are too few file descriptors. For more,
            idle ones are closed.
        per_client: Open at a time for each client's address (of IPv6: each /64); 0 for any number.
        grace: Seconds that requests have to end once it is told to stop; then they are refused.
        log_level: From which on it writes to its log: JSON, a line each, on standard error.

    Raises:
        TooFewDescriptorsError: the process may open too few files.
    """
    log_as_json(log_level)
    limit = allowed_connections(max_connections, service.settings)
    server_of(service, proxies, grace, limit, per_client).run(sockets=[listener])


def server_of(
    service: Service,
    proxies: Sequence[str] = (),
    grace: float = 30,
    max_connections: int = 1_000,
    per_client: int = 0,
) -> uvicorn.Server:
    """Return a server that can be run, and told to stop by ``should_exit``."""
    behind = ProxyHeadersMiddleware(service, list(proxies))  # type: ignore[arg-type]
    app = behind if proxies else service
    connections = Connections(
        max_connections, per_client, service.metrics, behind.trusted_hosts.__contains__
    )
    config = uvicorn.Config(
        app,
        http=Protocol,
        ws="none",
        # One event loop, whose ways are known: see `_Server`.
        loop="asyncio",
        lifespan="on",
        access_log=False,
        log_config=None,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=_IDLE,
    )
    return _Server(config, service, connections, grace)


class _Server(uvicorn.Server):
    """Accepts connections within limits, and answers every request before it stops."""

    def __init__(
        self, config: uvicorn.Config, service: Service, connections: Connections, grace: float
    ) -> None:
        super().__init__(config)
        self._service = service
        self._connections = connections
        self._grace = grace
        self._acceptors: list[Acceptor] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await self.lifespan.startup()
        if self.lifespan.should_exit:
            sys.exit(STARTUP_FAILURE)
        # uvicorn's own servers accept without a limit; see `Acceptor`.
        self.servers = []
        for each in sockets or ():
            each.setblocking(False)
            acceptor = Acceptor(each, self._connections, self._new_protocol)
            acceptor.start()
            self._acceptors.append(acceptor)
            log("listening", address=shown(each))
        self.started = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        log("stopping")
        self._service.state.is_stopping = True
        if not self.force_exit:
            await asyncio.sleep(_DRAINING)
        for acceptor in self._acceptors:
            await acceptor.stop()
        for each in sockets or ():
            each.close()
        for connection in self._open():
            connection.shutdown()
        # A second Ctrl-C ends the grace period.
        await self._until_closed(self._grace, lambda: self.force_exit)
        await self._refuse_the_rest()
        await self.lifespan.shutdown()
        log("stopped")

    async def _refuse_the_rest(self) -> None:
        """Refuse the requests for which the grace period was too short, and close all.

        uvicorn cancels them and ends at once: they would get no answer.
        """
        tasks = self.server_state.tasks
        if tasks:
            log("grace period over: requests refused", WARNING, requests=len(tasks))
        for connection in self._open():
            connection.end(stopping())
        # Those that were cut off are told so before their tasks are cancelled.
        await asyncio.sleep(0)
        for task in list(tasks):
            task.cancel()
        await self._until_closed(_REFUSING)
        for connection in self._open():
            connection.transport.abort()

    def _open(self) -> list[Protocol]:
        return list(cast("set[Protocol]", self.server_state.connections))

    async def _until_closed(
        self, seconds: float, is_enough: Callable[[], bool] = lambda: False
    ) -> None:
        """Wait until all connections are closed, for some seconds at most."""
        until = time.monotonic() + seconds
        state = self.server_state
        while (state.connections or state.tasks) and time.monotonic() < until and not is_enough():
            await asyncio.sleep(0.05)

    def _new_protocol(self, address: str) -> Protocol:
        """Return the protocol of a connection from an address."""
        return Protocol(
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
            registry=self._connections,
            address=address,
        )


def listening(host: str, port: int, path: str | None = None) -> socket.socket:
    """Return a socket that listens on a host's port, or at a path.

    Raises:
        CannotListenError: it cannot be had.
    """
    try:
        return _unix_socket(path) if path is not None else _tcp_socket(host, port)
    except (OSError, UnicodeError, OverflowError) as error:
        place = path if path is not None else f"{host}:{port}"
        why = getattr(error, "strerror", None) or str(error)
        raise CannotListenError(f"cannot listen on {place}: {why}") from error


def _tcp_socket(host: str, port: int) -> socket.socket:
    """Return a socket on the first address that a host has.

    Raises:
        OSError: it cannot be had.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, *_, address = found[0]
    listener = socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    # asyncio sets it only on sockets that name their protocol. Without it the two parts of an
    # answer wait for each other: 40 ms a request.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _unix_socket(path: str) -> socket.socket:
    """Return a socket at a path; one that a server left there is replaced, and nothing else.

    Raises:
        OSError: it cannot be had.
    """
    found = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with contextlib.suppress(FileNotFoundError):
            _make_room(path)
        found.bind(path)
        # Who may connect is for the folder's permissions to say.
        os.chmod(path, 0o666)  # noqa: S103
        found.listen(_BACKLOG)
    except BaseException:
        found.close()
        raise
    return found


def _make_room(path: str) -> None:
    """Remove a socket that a server left.

    Raises:
        OSError: there is something else, or somebody listens.
    """
    if not stat.S_ISSOCK(os.stat(path).st_mode):
        raise FileExistsError(errno.EEXIST, "there is a file")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asked:
        if asked.connect_ex(path) == 0:
            raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
    os.unlink(path)


def shown(listener: socket.socket) -> str:
    """Return where a socket listens: a URL, or a path."""
    name = listener.getsockname()
    if isinstance(name, str):
        return name
    host = f"[{name[0]}]" if ":" in name[0] else name[0]
    return f"http://{host}:{name[1]}"
