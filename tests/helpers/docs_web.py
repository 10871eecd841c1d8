"""The sites that the examples of the docs fetch from: real HTTP and TLS, on loopback."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import aiohttp.connector
import pytest

from tests.helpers import wire
from tests.helpers.server import served
from tests.helpers.support import ROOT

HTML = "<title>A page</title>"
#: What each host answers at /robots.txt: a body or a status. Other paths are HTML pages.
SITES: dict[str, str | int] = {
    "example.com": "User-agent: *\nDisallow: /private\nCrawl-delay: 0.01\n",
    "example.org": "User-agent: *\nCrawl-delay: 0.01\n",
    "shop.example": (ROOT / "examples" / "robots.txt").read_text("utf-8"),
    "news.example": "User-agent: *\nContent-Signal: ai-train=yes\nDisallow: /archive/\nCrawl-delay: 0.01\n",
    "down.example": 503,
    "none.example": 404,
}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        host = self.headers.get("Host", "").partition(":")[0]
        site = SITES.get(host, 404)
        status, body = 200, HTML
        if self.path == "/robots.txt":
            status, body = (site, "") if isinstance(site, int) else (200, site)
        encoded = body.encode()
        self.send_response(status)
        kind = "plain" if self.path == "/robots.txt" else "html"
        self.send_header("Content-Type", f"text/{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(encoded)))
        self.end_headers()
        self.wfile.write(encoded)

    def log_message(self, *_: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """Ignore clients that leave without a TLS shutdown."""


@contextmanager
def _serving(pem: tuple[Path, Path] | None) -> Iterator[int]:
    running = _Server(("127.0.0.1", 0), _Handler)
    if pem:
        running.socket = wire.server_context(*pem).wrap_socket(
            running.socket, server_side=True, do_handshake_on_connect=False
        )
    with served(running):
        yield running.server_address[1]


@dataclass(frozen=True)
class Servers:
    """The running servers: their ports, and the certificate of the sites."""

    plain: int
    secure: int
    certificate: Path


@contextmanager
def running(folder: Path) -> Iterator[Servers]:
    """Run the sites."""
    pem = wire.certificate(folder, others=tuple(SITES))
    with _serving(None) as plain, _serving(pem) as secure:
        yield Servers(plain, secure, pem[0])


def reach(servers: Servers, monkeypatch: pytest.MonkeyPatch, redis_port: int | None = None) -> None:
    """Make the sites reachable by their names, over http and https; other names do not exist.

    ``redis_port`` is the port of the server at ``localhost:6379``.
    """
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"):
        monkeypatch.setenv(name, str(servers.certificate))
    # aiohttp reads the environment only when it is imported.
    context = ssl.create_default_context(cafile=servers.certificate)
    monkeypatch.setattr(aiohttp.connector, "_SSL_CONTEXT_VERIFIED", context)
    ports = {80: servers.plain, 443: servers.secure} | ({6379: redis_port} if redis_port else {})
    real_lookup, real_connect = socket.getaddrinfo, socket.socket.connect

    def lookup(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name in SITES:
            host = "127.0.0.1"
        elif name and not name.replace(".", "").isdigit() and name != "localhost":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return real_lookup(host, port, *args, **kwargs)

    def connect(self: socket.socket, address: Any) -> None:
        if isinstance(address, tuple):
            address = (address[0], ports.get(address[1], address[1]), *address[2:])
        real_connect(self, address)

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    monkeypatch.setattr(socket.socket, "connect", connect, raising=False)
