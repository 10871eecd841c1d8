"""A real HTTP server on loopback with configurable responses."""

from __future__ import annotations

import atexit
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import BaseServer
from typing import Any


@dataclass
class Answer:
    """A response of the server.

    ``close`` closes the connection without a response; ``garbage`` sends invalid HTTP; ``delay``
    waits this many seconds before the response, ``trickle`` after each byte of the body;
    ``phrase`` is the reason phrase.
    """

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    close: bool = False
    garbage: bool = False
    delay: float = 0
    trickle: float = 0
    phrase: str | None = None


@dataclass
class Site:
    """A running server: ``pages`` by path; ``requests`` are the requested paths and their headers."""

    port: int
    pages: dict[str, Answer] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    connections: int = 0
    scheme: str = "http"

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def robots(self, *args: Any, **kwargs: Any) -> str:
        """Set the answer for /robots.txt; return its URL."""
        self.pages["/robots.txt"] = Answer(*args, **kwargs)
        return f"{self.url}/robots.txt"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Otherwise each body waits until the client has confirmed the headers.
    disable_nagle_algorithm = True
    site: Site

    def setup(self) -> None:
        super().setup()
        self.site.connections += 1

    def do_GET(self) -> None:
        self.site.requests.append((self.path, dict(self.headers)))
        answer = self.site.pages.get(self.path, Answer(404))
        time.sleep(answer.delay)
        if answer.garbage:
            self.wfile.write(b"this is not HTTP\r\n\r\n")
        if answer.close or answer.garbage:
            self.close_connection = True
            return
        try:
            self.send_response(answer.status, answer.phrase)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            for byte in answer.body if answer.trickle else ():
                self.wfile.write(bytes([byte]))
                time.sleep(answer.trickle)
            is_head = self.command == "HEAD"
            self.wfile.write(b"" if answer.trickle or is_head else answer.body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that hang up."""


@contextmanager
def served(server: BaseServer) -> Iterator[None]:
    """Run a server in a thread, and stop it at once: by default, `shutdown` takes half a second."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def running(tls: ssl.SSLContext | None = None) -> Iterator[Site]:
    """Run a server."""
    handler = type("Handler", (_Handler,), {})
    server = _Server(("127.0.0.1", 0), handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    site = Site(server.server_address[1], scheme="http" if tls is None else "https")
    handler.site = site  # type: ignore[attr-defined]
    with served(server):
        yield site


#: Sockets that reserve closed ports, so that no server of another test gets them.
_RESERVED: list[socket.socket] = []


def closed_port() -> int:
    """Return a closed port, which a server may take."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port: int = unused.getsockname()[1]
        return port


def refusing_port() -> int:
    """Return a port that refuses connections until the end of the tests."""
    unused = socket.socket()
    unused.bind(("127.0.0.1", 0))
    _RESERVED.append(unused)
    port: int = unused.getsockname()[1]
    return port


@atexit.register
def _release() -> None:
    for each in _RESERVED:
        each.close()
