"""Starts real web servers on loopback, which write access logs: nginx, Apache and Caddy."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.helpers import server

#: The directories of programs for administrators, which PATH may lack.
_PATH = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"))

_APACHE_MODULES = Path("/usr/lib/apache2/modules")

#: The time zone of the servers: times in logs that are read as UTC are wrong by hours.
ZONE = "Asia/Kolkata"

_SECONDS = 10


def program(name: str) -> str | None:
    return shutil.which(name, path=_PATH)


def missing(name: str) -> str:
    """Return the reason for skipping tests, with the package to install."""
    return f"no {name} on this machine: install Debian's package {name}"


def has_ipv6() -> bool:
    """Return whether the machine has an IPv6 loopback."""
    try:
        with socket.socket(socket.AF_INET6) as unused:
            unused.bind(("::1", 0))
    except OSError:
        return False
    return True


@dataclass
class LogServer:
    """A running server, whose logs are in a folder."""

    name: str
    port: int
    logs: Path
    process: subprocess.Popen[bytes]

    def log(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    def send(self, request: bytes, host: str = "127.0.0.1") -> bytes:
        """Send bytes on a connection of their own, and return the answer."""
        with socket.create_connection((host, self.port), timeout=_SECONDS) as connection:
            connection.sendall(request)
            # The end of what is sent, for servers that wait for the rest of a request.
            connection.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: _received(connection), b""))

    def wait_for(self, name: str, lines: int) -> None:
        """Wait until a log has a number of lines."""
        wait_until(lambda: count_lines(self.log(name)) >= lines)


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(65_536)
    except ConnectionResetError:
        return b""


def count_lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_until(condition: Callable[[], object]) -> None:
    """Wait until a condition is true."""
    end = time.monotonic() + _SECONDS
    while not condition():
        assert time.monotonic() < end, "the server did not write what it should"
        time.sleep(0.002)


@contextmanager
def running(
    name: str, folder: Path, formats: Mapping[str, str], options: Sequence[str] = ()
) -> Iterator[LogServer]:
    """Run a server that writes a log of each format, with its text from the configuration.

    Args:
        name: ``nginx``, ``apache2`` or ``caddy``.
        folder: Its files; the logs are in its folder ``logs``.
        formats: The formats by name. ``""`` is the format that the server uses without any.
        options: More lines for its configuration.
    """
    logs = folder / "logs"
    logs.mkdir(parents=True)
    path = program(name)
    assert path is not None, missing(name)
    port = server.closed_port()
    config = folder / "config"
    config.write_text(_CONFIGS[name](folder, port, formats, options), "utf-8")
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            [path, *_arguments(name, folder, config)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={"PATH": _PATH, "TZ": ZONE, "HOME": str(folder)},
        )
    try:
        _wait_for_start(process, port, folder)
        yield LogServer(name, port, logs, process)
    finally:
        _stop(process)


def _arguments(name: str, folder: Path, config: Path) -> list[str]:
    if name == "nginx":
        return ["-p", str(folder), "-e", str(folder / "error.log"), "-c", str(config)]
    if name == "apache2":
        return ["-DFOREGROUND", "-f", str(config)]
    return ["run", "--config", str(config), "--adapter", "caddyfile"]


def _wait_for_start(process: subprocess.Popen[bytes], port: int, folder: Path) -> None:
    """Wait until a port is open on all addresses, without a request that would be in the log."""
    hosts = ["127.0.0.1", *(["::1"] if has_ipv6() else [])]
    end = time.monotonic() + _SECONDS
    while process.poll() is None and time.monotonic() < end:
        try:
            for host in hosts:
                socket.create_connection((host, port), timeout=1).close()
        except OSError:
            time.sleep(0.005)
        else:
            return
    raise AssertionError((folder / "output").read_text("utf-8", "replace"))


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _nginx(folder: Path, port: int, formats: Mapping[str, str], options: Sequence[str]) -> str:
    kept = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    listen = [f"listen 127.0.0.1:{port};"]
    if has_ipv6():
        listen.append(f"listen [::1]:{port};")
    return "\n".join([
        "daemon off;",
        "user root;" if os.geteuid() == 0 else "",
        "worker_processes 1;",
        f"pid {folder}/pid;",
        f"error_log {folder}/logs/error.log notice;",
        "events { worker_connections 64; }",
        "http {",
        *(f"{each}_temp_path {folder}/{each};" for each in kept),
        *(f"log_format {name} {text};" for name, text in formats.items() if text),
        "server {",
        *listen,
        *(
            f"access_log {folder}/logs/{name}.log {name if text else ''};"
            for name, text in formats.items()
        ),
        *options,
        "location / { return 404; }",
        "location /private/ { return 200 private; }",
        "location = /robots.txt { return 200 'User-agent: *\\nDisallow: /private/'; }",
        "}",
        "}",
    ])  # fmt: skip


def _apache(folder: Path, port: int, formats: Mapping[str, str], options: Sequence[str]) -> str:
    modules = ("mpm_event", "authz_core", "alias")
    return "\n".join([
        f"ServerRoot {folder}",
        f"DefaultRuntimeDir {folder}",
        f"PidFile {folder}/pid",
        "ServerName localhost",
        f"Listen 127.0.0.1:{port}",
        f"Listen [::1]:{port}" if has_ipv6() else "",
        *(f"LoadModule {name}_module {_APACHE_MODULES}/mod_{name}.so" for name in modules),
        # The workers of root are nobody, who reads no files here: the answers are made up.
        *(["User nobody", "Group nogroup"] if os.geteuid() == 0 else []),
        "StartServers 1",
        f"ErrorLog {folder}/error.log",
        "Redirect 200 /private/",
        "Redirect 200 /robots.txt",
        *options,
        *(f'LogFormat "{text}" {name}' for name, text in formats.items()),
        *(f"CustomLog {folder}/logs/{name}.log {name}" for name in formats),
        "",
    ])  # fmt: skip


def _caddy(folder: Path, port: int, formats: Mapping[str, str], options: Sequence[str]) -> str:
    return "\n".join([
        "{",
        "admin off",
        "auto_https off",
        *(
            f"log {name} {{\n output file {folder}/logs/{name}.log\n {text}\n"
            " include http.log.access\n}"
            for name, text in formats.items()
        ),
        "}",
        f"http://:{port} {{",
        f"bind 127.0.0.1 {'::1' if has_ipv6() else ''}",
        "log",
        *options,
        "respond /private/* 200",
        "respond /robots.txt 200",
        "respond 404",
        "}",
        "",
    ])  # fmt: skip


_CONFIGS = {"nginx": _nginx, "apache2": _apache, "caddy": _caddy}
