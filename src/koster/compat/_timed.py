"""Requests with a total timeout, and bodies that are whole.

A socket timeout limits only each step, so a server that sends one byte per second never exceeds
it. Here each step of `http.client` and `urllib.request` gets the remaining time. `http.client`
takes a response that was cut off for a whole one in most cases; here it is an `IncompleteRead`.
"""

from __future__ import annotations

import copy
import http.client
import io
import queue
import socket
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

if TYPE_CHECKING:
    import ssl
    from email.message import Message

_CHUNK = 1 << 16

#: The time limit of a request without a timeout of its own.
DEFAULT_SECONDS = 30.0


class RequestDeadline:
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


def deadline_for(timeout: float | None) -> RequestDeadline:
    """Return the deadline of a request that begins now.

    Without a timeout, it is that of `socket.setdefaulttimeout`, else `DEFAULT_SECONDS`.
    """
    return RequestDeadline(timeout or socket.getdefaulttimeout() or DEFAULT_SECONDS)


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
    deadline: RequestDeadline,
    limit: int,
) -> tuple[int, Message, bytes, bool]:
    """Fetch a URL over a new connection, with TLS if there is a context; see `exchange`."""
    chunks = urlsplit(url)
    connection = _connection_to(chunks.hostname or "", chunks.port, context)
    with closing(connection):
        return exchange(connection, request_target(url), headers, deadline, limit)


def _connection_to(
    host: str, port: int | None, context: ssl.SSLContext | None
) -> http.client.HTTPConnection:
    """Return an unopened connection, with TLS if there is a context."""
    # Without a port, http.client would search for one in an IPv6 address.
    if context is None:
        return http.client.HTTPConnection(host, port or 80, timeout=None)
    return http.client.HTTPSConnection(host, port or 443, timeout=None, context=context)


def _connected(
    seconds: Callable[[], float],
    deadline: RequestDeadline,
    address: tuple[str, int],
    _timeout: object = None,
    source: tuple[str, int] | None = None,
) -> socket.socket:
    """Return a socket that is connected to the first address of a host that accepts it.

    Replaces `socket.create_connection`, whose timeout is for each address, after the DNS lookup.

    Raises:
        OSError: no address accepts it in time.
    """
    error = OSError(f"{address[0]} has no address")
    for family, kind, protocol, _, place in _addresses(*address, deadline):
        sock = socket.socket(family, kind, protocol)
        try:
            sock.settimeout(seconds())
            if source:
                sock.bind(source)
            sock.connect(place)
            sock.settimeout(seconds())
        except OSError as failure:
            sock.close()
            error = failure
        else:
            return sock
    raise error


def _addresses(host: str, port: int, deadline: RequestDeadline) -> list[Any]:
    """Look up a host in a thread, because the system resolver has no timeout.

    Raises:
        OSError: the lookup failed or timed out.
        UnicodeError: the host is not a valid name.
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
        raise addresses
    return addresses


#: What `_limit` sets on a connection.
_LIMITED = ("response_class", "_create_connection")


@contextmanager
def apply_deadline(
    connection: http.client.HTTPConnection, deadline: RequestDeadline
) -> Iterator[None]:
    """Apply a deadline to all steps on a connection, and restore its settings afterwards."""
    own_timeout = _own_timeout(connection)
    configured: Any = connection.timeout
    settings = {name: vars(connection)[name] for name in _LIMITED if name in vars(connection)}
    try:
        _limit(connection, deadline)
        yield
    finally:
        for name in _LIMITED:
            vars(connection).pop(name, None)
        vars(connection).update(settings)
        connection.timeout = configured
        if connection.sock is not None:
            connection.sock.settimeout(own_timeout)


def _own_timeout(connection: http.client.HTTPConnection) -> float | None:
    """Return the timeout that a connection has for each step."""
    configured: Any = connection.timeout
    if connection.sock is not None:
        return connection.sock.gettimeout()
    if configured is None or isinstance(configured, (int, float)):
        return configured
    return socket.getdefaulttimeout()


def _limit(connection: http.client.HTTPConnection, deadline: RequestDeadline) -> None:
    """Apply a deadline to all steps on a connection; a shorter timeout of its own still applies.

    Raises:
        TimeoutError: the deadline has passed.
    """
    own_timeout = _own_timeout(connection)

    def seconds() -> float:
        seconds_left = deadline.seconds_left()
        return seconds_left if own_timeout is None else min(own_timeout, seconds_left)

    connection.timeout = seconds()
    if connection.sock is not None:
        connection.sock.settimeout(seconds())
    limited: Any = connection
    limited.response_class = partial(_Response, seconds)
    if vars(connection).get("_create_connection") is socket.create_connection:
        limited._create_connection = partial(_connected, seconds, deadline)


class _Response(http.client.HTTPResponse):
    """A response with a timeout for each read, which knows whether it was cut off."""

    def __init__(
        self, seconds: Callable[[], float], sock: socket.socket, *args: Any, **kwargs: Any
    ) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp.close()
        self._reader = _Reader(seconds, sock)
        self.fp = io.BufferedReader(self._reader)

    def begin(self) -> None:
        """Read the status line and the headers.

        Raises:
            http.client.IncompleteRead: the connection ended before the last header.
        """
        super().begin()
        # Nothing is read after the empty line that ends the headers.
        if self._reader.is_at_end:
            raise http.client.IncompleteRead(b"")

    @property
    def lacks_last_chunk(self) -> bool:
        """Whether the connection ended before the empty line that ends a chunked body."""
        return bool(self.chunked) and self._reader.is_at_end


class _Reader(io.RawIOBase):
    """Reads from a socket, and keeps it open; ``is_at_end`` if it has ended."""

    is_at_end = False

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
        size = self._file.readinto(buffer)
        self.is_at_end = size == 0
        return size

    def close(self) -> None:
        """Close the file; the socket closes with the last one."""
        self._file.close()
        super().close()


def exchange(
    connection: http.client.HTTPConnection,
    target: str,
    headers: Mapping[str, str],
    deadline: RequestDeadline,
    limit: int,
) -> tuple[int, Message, bytes, bool]:
    """Send a GET request; return status, headers, body, and whether the body is complete.

    The body has at most ``limit`` bytes. If it is incomplete, the connection is closed, because it
    cannot be reused. Only a body with status 2xx must be whole.

    Raises:
        OSError: there is no response before the deadline.
        http.client.IncompleteRead: the response was cut off.
        http.client.HTTPException: the response is not valid HTTP.
    """
    with apply_deadline(connection, deadline):
        content, is_whole = b"", False
        try:
            connection.request("GET", target, headers=headers)
            response = connection.getresponse()
            content = _content(response, deadline, limit)
            is_whole = response.isclosed()
        finally:
            if not is_whole:
                connection.close()
    return response.status, response.headers, content, is_whole


def _content(response: http.client.HTTPResponse, deadline: RequestDeadline, limit: int) -> bytes:
    """Return at most ``limit`` bytes of a body, as far as it matters.

    Raises:
        TimeoutError: the deadline has passed.
        http.client.IncompleteRead: the body of a file was cut off.
    """
    try:
        content = read_up_to(response, deadline, limit)
        if len(content) < limit:
            # End of the body: this makes the connection reusable.
            response.read()
    except TimeoutError:
        raise
    except (OSError, http.client.HTTPException) as error:
        response.close()
        if not 200 <= response.status < 300:
            return b""
        if isinstance(error, http.client.IncompleteRead):
            raise
        raise http.client.IncompleteRead(b"") from error
    return content


def read_up_to(response: Any, deadline: RequestDeadline, limit: int) -> bytes:
    """Return at most ``limit`` bytes of the body of a response of `http.client` or `urllib`.

    Raises:
        TimeoutError: the deadline has passed.
        http.client.IncompleteRead: the connection ended before the body.
        http.client.HTTPException: the Transfer-Encoding is unknown.
        OSError: the connection failed.
    """
    coding = response.headers.get("Transfer-Encoding", "identity").strip().lower()
    if coding != "identity" and not getattr(response, "chunked", coding == "chunked"):
        raise http.client.HTTPException(f"unsupported Transfer-Encoding {coding[:40]!r}")
    chunks: list[bytes] = []
    size = 0
    while size < limit:
        deadline.seconds_left()
        chunk = response.read1(min(_CHUNK, limit - size))
        if not chunk:
            if missing := _missing(response, size):
                raise http.client.IncompleteRead(b"".join(chunks), missing)
            break
        chunks.append(chunk)
        size += len(chunk)
    return b"".join(chunks)


def _missing(response: Any, size: int) -> int:
    """Return how many bytes are missing after the end of a body of ``size`` bytes, at least."""
    if getattr(response, "lacks_last_chunk", False):
        return 1
    length = getattr(response, "length", None)
    if length is not None:
        return int(length)
    if getattr(response, "chunked", False):
        return 0
    # A list, or of a scheme without a length, such as ftp.
    lengths = ",".join(response.headers.get_all("Content-Length", [])).split(",")
    numbers = [each.strip() for each in lengths if each.strip().isdecimal()]
    return max([0, *(int(each.lstrip("0")[:18] or 0) - size for each in numbers)])


def open_url(url: str | urllib.request.Request, deadline: RequestDeadline) -> Any:
    """Open a URL like `urllib.request.urlopen`, also with the opener that was installed.

    Raises:
        OSError: there is no response before the deadline.
        http.client.HTTPException: the response is not valid HTTP.
    """
    installed: Any = vars(urllib.request).get("_opener") or urllib.request.build_opener()
    opener = urllib.request.OpenerDirector()
    opener.addheaders = installed.addheaders
    for handler in installed.handlers:
        if type(handler) is urllib.request.ProxyHandler:
            # A copy would open URLs with the opener that was installed.
            opener.add_handler(urllib.request.ProxyHandler(vars(handler)["proxies"]))
        else:
            opener.add_handler(copy.copy(handler))
    return open_with(opener, url, deadline)


def open_with(
    opener: urllib.request.OpenerDirector,
    url: str | urllib.request.Request,
    deadline: RequestDeadline,
) -> Any:
    """Open a URL with an opener, whose HTTP handlers then obey a deadline.

    Raises:
        OSError: there is no response before the deadline.
        http.client.HTTPException: the response is not valid HTTP.
    """
    for handler in opener.handlers:  # type: ignore[attr-defined]
        if isinstance(handler, urllib.request.AbstractHTTPHandler):
            limited: Any = handler
            limited.do_open = partial(_open_limited, handler.do_open, deadline)
    return opener.open(url, timeout=deadline.seconds_left())


def _open_limited(
    do_open: Callable[..., Any], deadline: RequestDeadline, kind: Any, request: Any, **options: Any
) -> Any:
    """Call `AbstractHTTPHandler.do_open` with connections that obey a deadline."""

    def connect(host: str, **settings: Any) -> Any:
        connection = kind(host, **settings)
        _limit(connection, deadline)
        return connection

    return do_open(connect, request, **options)
