"""Requests with `http.client` and a total timeout.

A socket timeout limits only each step, so a server that sends one byte per second never exceeds
it. Here each step gets the remaining time.
"""

from __future__ import annotations

import http.client
import io
import queue
import socket
import threading
import time
from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator, Mapping
    from email.message import Message

_CHUNK = 1 << 16


class Deadline:
    """A deadline on the monotonic clock, in seconds from now."""

    def __init__(self, seconds: float) -> None:
        self._moment = time.monotonic() + seconds

    def seconds_left(self) -> float:
        """Return the remaining seconds.

        Raises:
            TimeoutError: the deadline has passed.
        """
        seconds = self._moment - time.monotonic()
        if seconds <= 0:
            raise TimeoutError("the request timed out")
        return seconds


class _Connection(http.client.HTTPConnection):
    """A connection whose DNS lookup and connect obey a deadline."""

    deadline: Deadline

    def connect(self) -> None:
        """Connect to the first address that accepts the connection.

        Raises:
            OSError: no address accepts it in time.
        """
        error = OSError(f"{self.host} has no address")
        for family, kind, protocol, _, address in _addresses(self.host, self.port, self.deadline):
            sock = socket.socket(family, kind, protocol)
            try:
                sock.settimeout(self.deadline.seconds_left())
                sock.connect(address)
                sock.settimeout(self.deadline.seconds_left())
            except OSError as failure:
                sock.close()
                error = failure
            else:
                self.sock = sock
                return
        raise error


class _SecureConnection(http.client.HTTPSConnection, _Connection):
    """The same with TLS: the handshake obeys the deadline."""


#: Unescaped characters of a request target.
_VISIBLE = "".join(map(chr, range(33, 127)))


def request_target(url: str) -> str:
    """Return the request target of a URL: path and query, escaped."""
    chunks = urlsplit(url)
    target = (chunks.path or "/") + (f"?{chunks.query}" if chunks.query else "")
    return quote(target, safe=_VISIBLE)


def fetch(
    url: str,
    headers: Mapping[str, str],
    context: ssl.SSLContext | None,
    deadline: Deadline,
    limit: int,
) -> tuple[int, Message, bytes, bool]:
    """Fetch a URL over a new connection, with TLS if there is a context; see `exchange`."""
    chunks = urlsplit(url)
    connection = _connection_to(chunks.hostname or "", chunks.port, context, deadline)
    with closing(connection):
        return exchange(connection, request_target(url), headers, deadline, limit)


def _connection_to(
    host: str, port: int | None, context: ssl.SSLContext | None, deadline: Deadline
) -> http.client.HTTPConnection:
    """Return an unopened connection, with TLS if there is a context."""
    # Without a port, http.client would search for one in an IPv6 address.
    if context is None:
        connection = _Connection(host, port or 80)
    else:
        connection = _SecureConnection(host, port or 443, context=context)
    connection.deadline = deadline
    return connection


def _addresses(host: str, port: int, deadline: Deadline) -> list[Any]:
    """Look up a host in a thread, because the system resolver has no timeout.

    Raises:
        OSError: the lookup failed or timed out.
    """
    found: queue.SimpleQueue[list[Any] | Exception] = queue.SimpleQueue()

    def resolve() -> None:
        try:
            found.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except Exception as error:  # noqa: BLE001 - raised in the calling thread
            found.put(error)

    try:
        threading.Thread(target=resolve, name=f"look up {host}", daemon=True).start()
    except RuntimeError as error:
        raise OSError(f"cannot look up {host}: {error}") from error
    try:
        addresses = found.get(timeout=deadline.seconds_left())
    except queue.Empty:
        raise TimeoutError(f"DNS lookup of {host} timed out") from None
    if isinstance(addresses, Exception):
        raise OSError(str(addresses)) from addresses
    return addresses


@contextmanager
def apply_deadline(connection: http.client.HTTPConnection, deadline: Deadline) -> Iterator[None]:
    """Apply a deadline to all steps on a connection; a shorter timeout of its own still applies.

    Restores the connection's timeout afterwards.
    """
    configured: Any = connection.timeout
    if connection.sock is not None:
        own_timeout = connection.sock.gettimeout()
    elif configured is None or isinstance(configured, (int, float)):
        own_timeout = configured
    else:
        own_timeout = socket.getdefaulttimeout()

    def seconds() -> float:
        seconds_left = deadline.seconds_left()
        return seconds_left if own_timeout is None else min(own_timeout, seconds_left)

    response_class = vars(connection).get("response_class")
    try:
        connection.timeout = seconds()
        if connection.sock is not None:
            connection.sock.settimeout(seconds())
        connection.response_class = partial(_Response, seconds)  # type: ignore[assignment]
        yield
    finally:
        vars(connection).pop("response_class", None)
        if response_class is not None:
            connection.response_class = response_class
        connection.timeout = configured
        if connection.sock is not None:
            connection.sock.settimeout(own_timeout)


class _Response(http.client.HTTPResponse):
    """A response with a timeout for each read."""

    def __init__(
        self, seconds: Callable[[], float], sock: socket.socket, *args: Any, **kwargs: Any
    ) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp.close()
        self.fp = io.BufferedReader(_Reader(seconds, sock))


class _Reader(io.RawIOBase):
    """Reads from a socket, and keeps it open."""

    def __init__(self, seconds: Callable[[], float], sock: socket.socket) -> None:
        self._seconds = seconds
        self._sock = sock
        self._file = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read the next bytes.

        Raises:
            TimeoutError: nothing arrived in time.
        """
        self._sock.settimeout(self._seconds())
        return self._file.readinto(buffer)

    def close(self) -> None:
        """Close the file; the socket closes with the last one."""
        self._file.close()
        super().close()


def exchange(
    connection: http.client.HTTPConnection,
    target: str,
    headers: Mapping[str, str],
    deadline: Deadline,
    limit: int,
) -> tuple[int, Message, bytes, bool]:
    """Send a GET request; return status, headers, body, and whether the body is complete.

    The body has at most ``limit`` bytes. If it is incomplete, the connection is closed, because it
    cannot be reused.

    Raises:
        OSError: there is no response before the deadline.
        http.client.HTTPException: the response is not valid HTTP.
    """
    with apply_deadline(connection, deadline):
        is_whole = False
        try:
            connection.request("GET", target, headers=headers)
            response = connection.getresponse()
            content = _read_up_to(response, limit)
            is_whole = response.isclosed()
        finally:
            if not is_whole:
                connection.close()
    return response.status, response.headers, content, is_whole


def _read_up_to(response: http.client.HTTPResponse, limit: int) -> bytes:
    """Return at most ``limit`` bytes of a body.

    Raises:
        TimeoutError: the deadline has passed.
    """
    chunks = []
    size = 0
    while size < limit:
        chunk = response.read1(min(_CHUNK, limit - size))
        if not chunk:
            # End of the body: this makes the connection reusable.
            response.read()
            break
        chunks.append(chunk)
        size += len(chunk)
    return b"".join(chunks)
