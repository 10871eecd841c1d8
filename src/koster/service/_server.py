"""The server: runs the service with uvicorn, and shuts it down gracefully."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import stat
import sys
import time
from collections.abc import Callable, Sequence
from typing import cast

import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from ..errors import KosterError
from ._app import Service
from ._connections import Acceptor, Connections, allowed_connections
from ._log import WARNING, log, log_as_json
from ._problems import stopping
from ._protocol import Protocol

#: Maximum number of connections waiting to be accepted, if the system allows it.
_BACKLOG = 4096

#: Keep-alive seconds: more than those of a reverse proxy in front of the service (nginx: 60).
_IDLE_SECONDS = 75

#: Seconds during which responses announce the shutdown, before idle connections are closed.
_DRAIN_SECONDS = 0.5

#: Seconds for rejecting the requests that remain after the grace period.
_REJECT_SECONDS = 2.0


class CannotListenError(KosterError, OSError):
    """The address is in use, not permitted, or not local."""


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
    """Run the service until SIGINT or SIGTERM, then finish the requests in progress.

    Args:
        service: The application, see `create_app`.
        listener: The socket, see `open_listener`.
        proxies: Addresses and networks of proxies whose X-Forwarded-For is trusted.
        max_connections: Maximum number of open connections; fewer if there are too few file
            descriptors. Idle ones are closed to make room.
        per_client: Maximum number per client address (IPv6: per /64); 0 for no limit.
        grace: Seconds for requests to finish after the signal; then they are rejected.
        log_level: The minimum level of the log: JSON lines on standard error.

    Raises:
        TooFewDescriptorsError: the limit of file descriptors is too low.
    """
    log_as_json(log_level)
    limit = allowed_connections(max_connections, service.settings)
    create_server(service, proxies, grace, limit, per_client).run(sockets=[listener])


def create_server(
    service: Service,
    proxies: Sequence[str] = (),
    grace: float = 30,
    max_connections: int = 1_000,
    per_client: int = 0,
) -> uvicorn.Server:
    """Return a server; set its ``should_exit`` to stop it."""
    proxied = ProxyHeadersMiddleware(service, list(proxies))  # type: ignore[arg-type]
    app = proxied if proxies else service
    connections = Connections(
        max_connections, per_client, service.metrics, proxied.trusted_hosts.__contains__
    )
    config = uvicorn.Config(
        app,
        http=Protocol,
        ws="none",
        # `_Server` and `Acceptor` rely on asyncio's own event loop.
        loop="asyncio",
        lifespan="on",
        access_log=False,
        log_config=None,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=_IDLE_SECONDS,
    )
    return _Server(config, service, connections, grace)


class _Server(uvicorn.Server):
    """Accepts connections within limits, and responds to every request before it stops."""

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
        # uvicorn's own servers have no limit; see `Acceptor`.
        self.servers = []
        for each in sockets or ():
            each.setblocking(False)
            acceptor = Acceptor(each, self._connections, self._new_protocol)
            acceptor.start()
            self._acceptors.append(acceptor)
            log("listening", address=listener_address(each))
        self.started = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        log("stopping")
        self._service.state.is_stopping = True
        if not self.force_exit:
            await asyncio.sleep(_DRAIN_SECONDS)
        for acceptor in self._acceptors:
            await acceptor.stop()
        for each in sockets or ():
            each.close()
        for connection in self._open_connections():
            connection.shutdown()
        # A second Ctrl-C ends the grace period.
        await self._wait_until_closed(self._grace, lambda: self.force_exit)
        await self._reject_remaining()
        await self.lifespan.shutdown()
        log("stopped")

    async def _reject_remaining(self) -> None:
        """Reject the requests that remain after the grace period, and close all connections.

        uvicorn itself cancels them and exits at once, without a response.
        """
        tasks = self.server_state.tasks
        if tasks:
            log("grace period over: requests rejected", WARNING, requests=len(tasks))
        for connection in self._open_connections():
            connection.terminate(stopping())
        # Aborted connections notify their requests before their tasks are cancelled.
        await asyncio.sleep(0)
        for task in list(tasks):
            task.cancel()
        await self._wait_until_closed(_REJECT_SECONDS)
        for connection in self._open_connections():
            connection.transport.abort()

    def _open_connections(self) -> list[Protocol]:
        return list(cast("set[Protocol]", self.server_state.connections))

    async def _wait_until_closed(
        self, seconds: float, should_stop: Callable[[], bool] = lambda: False
    ) -> None:
        deadline = time.monotonic() + seconds
        state = self.server_state
        while (
            (state.connections or state.tasks) and time.monotonic() < deadline and not should_stop()
        ):
            await asyncio.sleep(0.05)

    def _new_protocol(self, address: str) -> Protocol:
        return Protocol(
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
            registry=self._connections,
            address=address,
        )


def open_listener(host: str, port: int, path: str | None = None) -> socket.socket:
    """Return a socket that listens on a host and port, or at a path.

    Raises:
        CannotListenError: it cannot be opened.
    """
    try:
        return _unix_socket(path) if path is not None else _tcp_socket(host, port)
    except (OSError, UnicodeError, OverflowError) as error:
        location = path if path is not None else f"{host}:{port}"
        reason = getattr(error, "strerror", None) or str(error)
        raise CannotListenError(f"cannot listen on {location}: {reason}") from error


def _tcp_socket(host: str, port: int) -> socket.socket:
    """Return a socket on the first address of a host.

    Raises:
        OSError: it cannot be opened.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, *_, address = found[0]
    listener = socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    # asyncio sets it only on sockets with an explicit protocol. Without it, Nagle's algorithm
    # delays the second part of a response by 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _unix_socket(path: str) -> socket.socket:
    """Return a socket at a path; replace a stale socket, but no other file.

    Raises:
        OSError: it cannot be opened.
    """
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with contextlib.suppress(FileNotFoundError):
            _remove_stale_socket(path)
        listener.bind(path)
        # The folder's permissions control access.
        os.chmod(path, 0o666)  # noqa: S103
        listener.listen(_BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener


def _remove_stale_socket(path: str) -> None:
    """Remove a socket on which nobody listens.

    Raises:
        OSError: the path is another file, or a server listens on it.
    """
    if not stat.S_ISSOCK(os.stat(path).st_mode):
        raise FileExistsError(errno.EEXIST, "a file exists there")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        if probe.connect_ex(path) == 0:
            raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
    os.unlink(path)


def listener_address(listener: socket.socket) -> str:
    """Return a listener's address: a URL, or a path."""
    name = listener.getsockname()
    if isinstance(name, str):
        return name
    host = f"[{name[0]}]" if ":" in name[0] else name[0]
    return f"http://{host}:{name[1]}"
