"""A raw server on loopback, for invalid HTTP responses and for TLS."""

from __future__ import annotations

import contextlib
import datetime as dt
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

#: Handles a connection after its request was read.
Script: TypeAlias = Callable[[socket.socket], None]


@dataclass
class Wire:
    """A running server: ``connections`` counts connections, ``is_closed`` stops the server."""

    port: int
    connections: int = 0
    is_closed: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"


@contextmanager
def serving(
    listener: socket.socket,
    serve: Callable[[socket.socket], None],
    is_closed: threading.Event,
    accepted: Callable[[], None] = lambda: None,
) -> Iterator[None]:
    """Serve each connection in its own thread; at the end, set ``is_closed`` and close the listener.

    ``accepted`` is called once for each connection, never concurrently.
    """

    def accept() -> None:
        while not is_closed.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            accepted()
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_closed.set()
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


@contextmanager
def running(script: Script, tls: ssl.SSLContext | None = None) -> Iterator[Wire]:
    """Run a server."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=50)
    wire = Wire(listener.getsockname()[1])

    def serve(connection: socket.socket) -> None:
        # Clients that hang up or reject the certificate are expected.
        with contextlib.suppress(OSError):
            connection.settimeout(10)
            if tls is not None:
                connection = tls.wrap_socket(connection, server_side=True)
            with connection:
                request = b""
                while b"\r\n\r\n" not in request:
                    part = connection.recv(65536)
                    if not part:
                        return
                    request += part
                script(connection)

    def count() -> None:
        wire.connections += 1

    with serving(listener, serve, wire.is_closed, count):
        yield wire


def sends(*parts: bytes) -> Script:
    """Send bytes and close the connection."""

    def script(connection: socket.socket) -> None:
        for part in parts:
            connection.sendall(part)

    return script


def sends_slowly(raw_bytes: bytes, seconds: float, before: bytes = b"") -> Script:
    """Send bytes one by one, with a pause after each."""
    pause = threading.Event()

    def script(connection: socket.socket) -> None:
        connection.sendall(before)
        for byte in raw_bytes:
            connection.sendall(bytes([byte]))
            pause.wait(seconds)

    return script


def resets(before: bytes = b"") -> Script:
    """Send bytes and reset the connection."""

    def script(connection: socket.socket) -> None:
        connection.sendall(before)
        threading.Event().wait(0.05)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return script


def endless(head: bytes, part: bytes) -> Script:
    """Send a part repeatedly until the client hangs up."""

    def script(connection: socket.socket) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(part)

    return script


def certificate(
    folder: Path, host: str = "127.0.0.1", days: int = 2, others: Sequence[str] = ()
) -> tuple[Path, Path]:
    """Write a self-signed certificate that expires in ``days`` days, and its key.

    It is for a host, and for ``others``, which are names.
    """
    import ipaddress

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    try:
        alternative: x509.GeneralName = x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        alternative = x509.DNSName(host)
    alternatives = [alternative, *map(x509.DNSName, others)]
    now = dt.datetime.now(dt.UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=10))
        .not_valid_after(now + dt.timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, secret = folder / f"{host}{days}.pem", folder / f"{host}{days}.key"
    pem.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return pem, secret


def server_context(pem: Path, secret: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, secret)
    return context
