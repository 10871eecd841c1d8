"""Requests of `http.client` that end before a deadline, however slowly a server sends.

A timeout of a socket limits each step; a server that sends one byte every second never exceeds
it. Here every step gets the time that is left.
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
    """A moment of the monotonic clock, a number of seconds from now."""

    def __init__(self, seconds: float) -> None:
        self._moment = time.monotonic() + seconds

    def seconds_left(self) -> float:
        """Return the seconds until then.

        Raises:
            TimeoutError: it is past.
        """
        seconds = self._moment - time.monotonic()
        if seconds <= 0:
            raise TimeoutError("the server took too long")
        return seconds


class _Connection(http.client.HTTPConnection):
    """A connection that looks its host up and connects before a deadline."""

    deadline: Deadline

    def connect(self) -> None:
        """Connect to the first address that accepts.

        Raises:
            OSError: no address accepts in time.
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
    """The same over TLS: the handshake gets the time that is left."""


#: What a request target keeps as it is.
_VISIBLE = "".join(map(chr, range(33, 127)))


def target_of(url: str) -> str:
    """Return the path and query of a URL as they are sent."""
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return quote(target, safe=_VISIBLE)


def fetch(
    url: str,
    headers: Mapping[str, str],
    context: ssl.SSLContext | None,
    deadline: Deadline,
    limit: int,
) -> tuple[int, Message, bytes, bool]:
    """Fetch a URL over a connection of its own; see `exchange`. With a context it uses TLS."""
    parts = urlsplit(url)
    connection = _connection_to(parts.hostname or "", parts.port, context, deadline)
    with closing(connection):
        return exchange(connection, target_of(url), headers, deadline, limit)


def _connection_to(
    host: str, port: int | None, context: ssl.SSLContext | None, deadline: Deadline
) -> http.client.HTTPConnection:
    """Return a connection that is not open yet; with a context it uses TLS."""
    # Without a port http.client would look for one in an address of IPv6.
    if context is None:
        connection = _Connection(host, port or 80)
    else:
        connection = _SecureConnection(host, port or 443, context=context)
    connection.deadline = deadline
    return connection


def _addresses(host: str, port: int, deadline: Deadline) -> list[Any]:
    """Look a host up, in a thread: the system's resolver takes no timeout.

    Raises:
        OSError: it has no address, or the resolver took too long.
    """
    found: queue.SimpleQueue[list[Any] | Exception] = queue.SimpleQueue()

    def look_up() -> None:
        try:
            found.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except Exception as error:  # noqa: BLE001 - it is raised where it is waited for
            found.put(error)

    try:
        threading.Thread(target=look_up, name=f"look up {host}", daemon=True).start()
    except RuntimeError as error:
        raise OSError(f"{host} was not looked up: {error}") from error
    try:
        addresses = found.get(timeout=deadline.seconds_left())
    except queue.Empty:
        raise TimeoutError(f"looking up {host} took too long") from None
    if isinstance(addresses, Exception):
        raise OSError(str(addresses)) from addresses
    return addresses


@contextmanager
def limited(connection: http.client.HTTPConnection, deadline: Deadline) -> Iterator[None]:
    """Make each step on a connection end before a deadline, or by its own timeout if that is less.

    Afterwards the connection has its own timeout again.
    """
    given: Any = connection.timeout
    if connection.sock is not None:
        own = connection.sock.gettimeout()
    elif given is None or isinstance(given, (int, float)):
        own = given
    else:
        own = socket.getdefaulttimeout()

    def seconds() -> float:
        left = deadline.seconds_left()
        return left if own is None else min(own, left)

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
        connection.timeout = given
        if connection.sock is not None:
            connection.sock.settimeout(own)


class _Response(http.client.HTTPResponse):
    """A response whose reads get a timeout one by one."""

    def __init__(
        self, seconds: Callable[[], float], sock: socket.socket, *args: Any, **kwargs: Any
    ) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp.close()
        self.fp = io.BufferedReader(_Reader(seconds, sock))


class _Reader(io.RawIOBase):
    """Reads from a socket, which stays open as long as this does."""

    def __init__(self, seconds: Callable[[], float], sock: socket.socket) -> None:
        self._seconds = seconds
        self._sock = sock
        self._file = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read what comes next.

        Raises:
            TimeoutError: nothing came in time.
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
    """Send a GET request; return status, headers, up to ``limit`` bytes of the body, and its end.

    The last value tells whether the body ended there. If it did not, the connection is closed:
    nothing else can be asked on it.

    Raises:
        OSError: there is no response before the deadline.
        http.client.HTTPException: what came is not HTTP.
    """
    with limited(connection, deadline):
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
        TimeoutError: the server took too long.
    """
    parts = []
    size = 0
    while size < limit:
        part = response.read1(min(_CHUNK, limit - size))
        if not part:
            # It has come to its end: that makes the connection free for the next request.
            response.read()
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)
