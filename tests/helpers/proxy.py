"""A real proxy on loopback: absolute-form requests, CONNECT, passwords, and SOCKS 5."""

from __future__ import annotations

import base64
import contextlib
import socket
import struct
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.helpers import wire

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass
class Proxy:
    """A running proxy: ``requests`` are the first lines of its requests.

    ``credentials`` are the values of their Proxy-Authorization headers, empty without one.
    """

    port: int
    scheme: str = "http"
    requests: list[str] = field(default_factory=list)
    credentials: list[bytes] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def url_with(self, password: str) -> str:
        return f"{self.scheme}://{password}@127.0.0.1:{self.port}"


@contextmanager
def running(
    password: str = "", hosts: Mapping[str, int] | None = None, refuses: bytes = b""
) -> Iterator[Proxy]:
    """Run a proxy for HTTP.

    Args:
        password: ``user:password`` that it requires, if any.
        hosts: Ports on loopback by host name; other hosts are taken as they are.
        refuses: Its response to CONNECT, if it refuses it.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    proxy = Proxy(listener.getsockname()[1])
    stop = threading.Event()
    expected = b"Basic " + base64.b64encode(password.encode())

    def serve(connection: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError), connection:
            connection.settimeout(10)
            head = _read_head(connection)
            first, *lines = head.split(b"\r\n")
            proxy.requests.append(first.decode("latin-1"))
            headers = {
                name.strip().lower(): value.strip()
                for name, _, value in (line.partition(b":") for line in lines)
            }
            proxy.credentials.append(headers.get(b"proxy-authorization", b""))
            if password and headers.get(b"proxy-authorization") != expected:
                connection.sendall(
                    b"HTTP/1.1 407 Proxy Authentication Required\r\n"
                    b'Proxy-Authenticate: Basic realm="x"\r\nContent-Length: 0\r\n\r\n'
                )
                return
            method, target, _ = first.split()
            if method == b"CONNECT":
                if refuses:
                    connection.sendall(refuses)
                    return
                host, _, port = target.decode().rpartition(":")
                with _connected(host, int(port), hosts) as onward:
                    connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                    _relay(connection, onward)
                return
            _, _, rest = target.partition(b"://")
            authority, slash, path = rest.partition(b"/")
            host, _, port = authority.decode().partition(":")
            kept = [
                line
                for line in lines
                if line and not line.lower().startswith((b"proxy-", b"connection"))
            ]
            with _connected(host, int(port or 80), hosts) as onward:
                onward.sendall(
                    b"\r\n".join(
                        [
                            b"GET %s%s HTTP/1.1" % (slash, path),
                            *kept,
                            b"Connection: close",
                            b"",
                            b"",
                        ]
                    )
                )
                _relay(connection, onward)

    with wire.serving(listener, serve, stop):
        yield proxy


@contextmanager
def socks(hosts: Mapping[str, int] | None = None) -> Iterator[Proxy]:
    """Run a SOCKS 5 proxy (RFC 1928) without authentication."""
    listener = socket.create_server(("127.0.0.1", 0))
    proxy = Proxy(listener.getsockname()[1], scheme="socks5")
    stop = threading.Event()

    def serve(connection: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError), connection:
            connection.settimeout(10)
            stream = connection.makefile("rb")
            stream.read(stream.read(2)[1])
            connection.sendall(b"\x05\x00")
            kind = stream.read(4)[3]
            host = (
                socket.inet_ntoa(stream.read(4))
                if kind == 1
                else stream.read(stream.read(1)[0]).decode()
            )
            (port,) = struct.unpack(">H", stream.read(2))
            proxy.requests.append(f"{host}:{port}")
            with _connected(host, port, hosts) as onward:
                connection.sendall(b"\x05\x00\x00\x01" + bytes(6))
                _relay(connection, onward)

    with wire.serving(listener, serve, stop):
        yield proxy


def _read_head(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65_536)
        if not part:
            raise ValueError("closed")
        data += part
    return data.partition(b"\r\n\r\n")[0]


def _connected(host: str, port: int, hosts: Mapping[str, int] | None) -> socket.socket:
    address = ("127.0.0.1", hosts[host]) if hosts and host in hosts else (host, port)
    return socket.create_connection(address, timeout=10)


def _relay(one: socket.socket, other: socket.socket) -> None:
    """Copy bytes in both directions until both ends are closed."""

    def copy(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while part := source.recv(65_536):
                target.sendall(part)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    thread = threading.Thread(target=copy, args=(one, other), daemon=True)
    thread.start()
    copy(other, one)
    thread.join(10)
