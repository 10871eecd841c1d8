"""Servers on loopback that answer as a case says: the sites ``a`` and ``b``, and a closed one."""

from __future__ import annotations

import contextlib
import re
import socket
import socketserver
import struct
import threading
from http import HTTPStatus
from types import TracebackType
from typing import Self

from ._suite import ServerResponse, Step

_MISSING = ServerResponse(404)
#: How long a client may take to send its request, or to read the answer, in seconds.
_TIMEOUT = 30.0
_LONGEST_REQUEST = 64 * 1024
_HOST = "127.0.0.1"


class SuiteServers:
    """Running servers; leaving the context ends them."""

    def __init__(self) -> None:
        self._servers = {name: _Server() for name in ("a", "b")}
        # Bound and not listening, so that nobody else gets the port, and connections are refused.
        self._closed = socket.socket()
        self._closed.bind((_HOST, 0))
        self.hosts = {name: f"http://{_HOST}:{each.port}" for name, each in self._servers.items()}
        self.hosts["closed"] = f"http://{_HOST}:{self._closed.getsockname()[1]}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        for server in self._servers.values():
            server.close()
        self._closed.close()

    def change(self, step: Step) -> None:
        """Answer as a step says from now on."""
        for site, pages in step.answers.items():
            for path, answer in pages.items():
                headers = {name: self.filled(value) for name, value in answer.headers.items()}
                self._servers[site].pages[path] = _Page(answer, headers)

    def filled(self, text: str) -> str:
        """Return a text with the names of sites replaced: ``{a}/x``."""
        return re.sub(r"\{(\w+)\}", lambda found: self.hosts.get(found[1], found[0]), text)


class _Page:
    """An answer that is ready to be sent."""

    def __init__(self, answer: ServerResponse, headers: dict[str, str]) -> None:
        self.answer = answer
        self.body = answer.body
        self.headers = {"Content-Type": "text/plain; charset=utf-8", **headers}
        if answer.etag:
            self.headers["ETag"] = answer.etag

    def sent(self, status: int) -> bytes:
        """Return the bytes of the answer, without the body if the status has none."""
        lines = [f"HTTP/1.1 {status} {_phrase(status)}"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        has_body = status not in (204, 304)
        if has_body and self.answer.fault != "endless":
            lines.append(f"Content-Length: {len(self.body)}")
        head = "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1")
        return head + (self.body if has_body else b"")


class _Server:
    """A server with a thread for each connection."""

    def __init__(self) -> None:
        self.pages: dict[str, _Page] = {}
        pages = self.pages

        class Handler(_Handler):
            def page(self, path: str) -> _Page:
                return pages.get(path) or _Page(_MISSING, {})

        self._server = socketserver.ThreadingTCPServer((_HOST, 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self.port: int = self._server.server_address[1]
        self._is_closed = False
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while not self._is_closed:
            self._server.handle_request()

    def close(self) -> None:
        self._is_closed = True
        # It waits for a connection. A shutdown of `serve_forever` would wait for its next look.
        with contextlib.suppress(OSError):
            socket.create_connection((_HOST, self.port), _TIMEOUT).close()
        self._thread.join(_TIMEOUT)
        self._server.server_close()


class _Handler(socketserver.BaseRequestHandler):
    """One connection: one request, one answer."""

    request: socket.socket

    def page(self, path: str) -> _Page:
        raise NotImplementedError

    def handle(self) -> None:
        self.request.settimeout(_TIMEOUT)
        with contextlib.suppress(OSError):
            self._answer(self._head())

    def _head(self) -> str:
        head = b""
        while b"\r\n\r\n" not in head and len(head) < _LONGEST_REQUEST:
            more = self.request.recv(4096)
            if not more:
                raise ConnectionError
            head += more
        return head.decode("latin-1")

    def _answer(self, head: str) -> None:
        words = head.split(" ", 2)
        page = self.page(words[1] if len(words) > 1 else "")
        fault = page.answer.fault
        if fault == "reset":
            # Closing a socket that lingers for no time sends a reset.
            self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif fault == "not-http":
            self.request.sendall(b"\x16\x03\x01 this is not HTTP\r\n\r\n")
        elif fault == "cut-off":
            self.request.sendall(b"HTTP/1.1 200 OK\r\nContent-Ty")
        elif fault != "close":
            self._send(page, head)

    def _send(self, page: _Page, head: str) -> None:
        tag = page.answer.etag
        known = re.search(r"^if-none-match:(.*)", head, re.IGNORECASE | re.MULTILINE)
        is_known = bool(tag and known and tag in known[1])
        self.request.sendall(page.sent(304 if is_known else page.answer.status))
        while page.answer.fault == "endless":
            self.request.sendall(page.body)

    def finish(self) -> None:
        """Close the connection, so that nothing that was sent is lost."""
        with contextlib.suppress(OSError):
            self.request.shutdown(socket.SHUT_WR)


def _phrase(status: int) -> str:
    with contextlib.suppress(ValueError):
        return HTTPStatus(status).phrase
    return "Unknown"
