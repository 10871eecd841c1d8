"""Connections: closing a client, waiting callers, and TLS."""

from __future__ import annotations

import contextlib
import gc
import os
import threading
import time
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

import koster
from koster.cache import MemoryCache
from koster.fetch import (
    AsyncRobotsClient,
    MockTransport,
    Reply,
    RobotsClient,
)
from tests.helpers import wire
from tests.helpers.fetching import FILE, KINDS, NAME, PLAIN, ask, outcome, reason_of
from tests.helpers.server import Site


def test_closing_a_client_caches_no_failures(kind: str, site: Site) -> None:
    site.robots(body=FILE, delay=0.5)
    cache = MemoryCache()
    if kind == "threads":
        client = RobotsClient(NAME, cache=cache)
        errors = []

        def work() -> None:
            try:
                client.robots(site.url)
            except RuntimeError as error:
                errors.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        while not site.requests:
            time.sleep(0.01)
        client.close()
        thread.join()
        assert len(errors) == 1
    else:

        async def main() -> None:
            async_client = AsyncRobotsClient(NAME, cache=cache)

            async def work() -> None:
                with pytest.raises(RuntimeError, match="closed"):
                    await async_client.robots(site.url)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(work)
                while not site.requests:
                    await anyio.sleep(0.01)
                await async_client.aclose()

        anyio.run(main, backend=kind)
    assert len(cache) == 0


def test_closing_a_client_raises_in_waiting_callers(kind: str) -> None:
    with wire.running(lambda _: threading.Event().wait(3) and None) as running:
        errors: list[BaseException] = []
        start = time.monotonic()
        if kind == "threads":
            client = RobotsClient(NAME, timeout=1)

            def work() -> None:
                try:
                    client.allowed(running.url)
                except RuntimeError as error:
                    errors.append(error)

            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            time.sleep(0.2)
            client.close()
            for thread in threads:
                thread.join()
        else:

            async def main() -> None:
                async_client = AsyncRobotsClient(NAME, timeout=1)

                async def work() -> None:
                    try:
                        await async_client.allowed(running.url)
                    except RuntimeError as error:
                        errors.append(error)

                async with anyio.create_task_group() as tasks:
                    for _ in range(4):
                        tasks.start_soon(work)
                    await anyio.sleep(0.2)
                    await async_client.aclose()

            anyio.run(main, backend=kind)
        assert time.monotonic() - start < 2.5
        assert len(errors) == 4
        assert running.connections == 1


def test_url_over_the_limit_is_rejected_after_a_cached_lookup(kind: str) -> None:
    url = "https://e.example/" + "a" * 70_000
    with pytest.raises(koster.UrlError):
        ask(kind, ("allowed", "https://e.example/"), ("allowed", url), transport=MockTransport({}))


def test_resolver_thread_start_failure_makes_the_site_unreachable(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    original_start = threading.Thread.start

    def failing_start(self: threading.Thread) -> None:
        if self.name.startswith("resolve "):
            raise RuntimeError("can't start new thread")
        original_start(self)

    monkeypatch.setattr(threading.Thread, "start", failing_start)
    assert "can't start new thread" in outcome(kind, "http://nowhere.invalid/").why


def test_lifetime_limits_shorter_than_retry_after_cause_no_refetch() -> None:
    statuses = replace(koster.RFC9309.statuses, lifetime=600, longest=600)
    sites = MockTransport({"https://e.example": Reply(503, headers={"Retry-After": "7200"})})
    dialect = replace(koster.RFC9309, name="SHORT", statuses=statuses)
    with RobotsClient(NAME, transport=sites, dialect=dialect) as client:
        for _ in range(5):
            client.allowed("https://e.example/")
    assert len(sites.requests) == 1


def test_unusual_url_prefixes_do_not_mix_up_sites(kind: str) -> None:
    sites = MockTransport(
        {"https://a.example": "", "https://b.example": "User-agent: *\nDisallow: /"}
    )
    for form in (
        " https://{}/x",
        "https:///{}/x",
        "\n\nhttps://{}/x",
        "https:/\n/{}/x",
        "https:\\\\{}\\x",
    ):
        first, second = (form.format(host) for host in ("a.example", "b.example"))
        results = ask(
            kind,
            ("allowed", first),
            ("allowed", second),
            ("robots", second),
            ("allowed", first),
            transport=sites,
        )
        assert (results[0], results[1], results[3]) == (True, False, True), form
        assert results[2].origin == "https://b.example"


@pytest.mark.parametrize("backend", KINDS[1:])
def test_tls_handshake_timeout_closes_the_connection(backend: str) -> None:
    over = threading.Event()
    with wire.running(lambda _: over.wait(5) and None) as running:
        # The server does not speak TLS, and sends nothing.
        async def main() -> int:
            async with AsyncRobotsClient(NAME, timeout=0.3) as client:
                await client.robots(running.url.replace("http:", "https:"))
                return _open_connections(running.port)

        gc.disable()
        try:
            assert anyio.run(main, backend=backend) == 0
        finally:
            gc.enable()
            over.set()


def _open_connections(port: int) -> int:
    """Count the open connections of this process to a port."""
    table = Path("/proc/self/net/tcp").read_text().splitlines()[1:]
    rows = [line.split() for line in table]
    return sum(
        each[2].endswith(f":{port:04X}") and each[3] == "01" and each[9] in _own_sockets()
        for each in rows
    )


def _own_sockets() -> set[str]:
    links = []
    for path in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            links.append(os.readlink(path))
    return {link[8:-1] for link in links if link.startswith("socket:")}


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return wire.certificate(tmp_path_factory.mktemp("tls"))


def test_tls_uses_ssl_cert_file(
    kind: str, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    pem, secret = certificate
    with wire.running(
        wire.sends(PLAIN + b"\r\n" + FILE), wire.server_context(pem, secret)
    ) as running:
        url = f"https://127.0.0.1:{running.port}/"
        assert "TLS connection failed" in outcome(kind, url).why
        monkeypatch.setenv("SSL_CERT_FILE", str(pem))
        result = outcome(kind, url)
        assert result.robots is not None, result.why


@pytest.mark.parametrize(("host", "days"), [("other.example", 2), ("127.0.0.1", -1)])
def test_invalid_certificates(
    kind: str, host: str, days: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pem, secret = wire.certificate(tmp_path, host, days)
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    with wire.running(
        wire.sends(PLAIN + b"\r\n" + FILE), wire.server_context(pem, secret)
    ) as running:
        assert "TLS connection failed" in outcome(kind, f"https://127.0.0.1:{running.port}/").why


def test_https_url_to_a_plain_http_server(kind: str, site: Site) -> None:
    assert "TLS connection failed" in outcome(kind, site.url.replace("http:", "https:")).why


def test_http_url_to_a_tls_server(kind: str, certificate: tuple[Path, Path]) -> None:
    with wire.running(wire.sends(), wire.server_context(*certificate)) as running:
        assert reason_of(outcome(kind, running.url, timeout=2)) == "unreachable"
