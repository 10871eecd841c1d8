"""Limits per client and per request."""

from __future__ import annotations

import logging
import os
import resource

import httpx2
import pytest

from koster._cli.root import koster as command_line
from koster.service import ServiceSettings, _protocol
from koster.service._connections import allowed_connections
from koster.service._limits import RateLimit
from tests.helpers import serving
from tests.helpers.api import problem
from tests.helpers.server import Site


def test_default_limits() -> None:
    """They are those of the docs, also in the command."""
    settings = ServiceSettings()
    assert (settings.rate, settings.work_per_minute, settings.work_timeout) == (50, 30, 10)
    assert (settings.max_body, settings.max_questions) == (1 << 20, 1_000)
    assert (settings.fetch_timeout, settings.fetches, settings.cache_bytes) == (10, 20, 1 << 30)
    assert settings.workers == max(1, (os.cpu_count() or 1) - 1)
    assert _protocol.TIMEOUT == 30
    serve = command_line.get_command(None, "serve")  # type: ignore[arg-type]
    assert serve is not None
    options = {each.name: each.default for each in serve.params}
    assert (options["connections"], options["per_client"], options["grace"]) == (1_000, 100, 30)
    assert options["cache_size"] << 20 == settings.cache_bytes
    for name in ("rate", "work_per_minute", "work_timeout", "max_body", "max_questions"):
        assert options[name] == getattr(settings, name)
    assert (options["fetch_timeout"], options["fetches"]) == (10, 20)


@pytest.mark.parametrize(
    ("soft", "hard", "limit"),
    # Besides the connections, the service needs 176 descriptors.
    [(256, 4_096, 1_000), (256, 400, 224), (4_096, 4_096, 1_000)],
)
def test_descriptors_limit_connections(
    soft: int,
    hard: int,
    limit: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The service raises its own limit where it may, and warns if that is not enough."""
    raised: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: raised.append(limits))
    caplog.set_level(logging.WARNING, "koster.service")
    assert allowed_connections(1_000, ServiceSettings(workers=1)) == limit
    assert raised == ([] if soft == 4_096 else [(min(1_176, hard), hard)])
    messages = [each.getMessage() for each in caplog.records]
    assert messages == ([] if limit == 1_000 else ["fewer connections than configured"])


def test_rate_limit() -> None:
    now = 100.0
    limit = RateLimit(2, lambda: now)
    assert [limit.take("192.0.2.7") == 0 for _ in range(6)] == [True] * 4 + [False] * 2
    assert limit.take("192.0.2.7") == pytest.approx(0.5)
    assert limit.take("192.0.2.8") == 0
    now += 0.5
    assert [limit.take("192.0.2.7") == 0 for _ in range(2)] == [True, False]
    now += 100
    assert [limit.take("192.0.2.7") == 0 for _ in range(5)] == [True] * 4 + [False]
    # A request that costs more than the burst is allowed if the client is idle.
    slow = RateLimit(1, lambda: now)
    assert slow.take("192.0.2.7", 10) == 0
    assert slow.take("192.0.2.7") > 8
    # An IPv6 /64 network is one client; an IPv4-mapped address counts as its IPv4 address.
    assert [limit.take(f"2001:db8::{number}") == 0 for number in range(5)] == [True] * 4 + [False]
    assert limit.take("2001:db8:0:1::1") == 0
    # Names that are not addresses are all one client.
    assert [limit.take(f"x{number}") == 0 for number in range(5)] == [True] * 4 + [False]
    assert limit.take("::ffff:192.0.2.1") == 0
    assert limit.take("::ffff:192.0.2.2") == 0
    assert RateLimit(0, lambda: now).take("a", 1e9) == 0


def test_rate_limit_sends_retry_after(site: Site) -> None:
    site.robots(body=b"")
    settings = ServiceSettings(rate=2, let_through=("127.0.0.1/32",))
    with serving.in_thread(settings) as url, httpx2.Client(base_url=url) as api:
        statuses = [api.get("/v1/dialects").status_code for _ in range(5)]
        assert statuses == [200] * 4 + [429]
        answer = api.get("/v1/dialects")
        problem(answer, 429, "too-many-requests")
        assert int(answer.headers["retry-after"]) >= 1
        assert api.get("/healthz").status_code == 200
        assert api.get("/v1/check", params={"url": site.url}).status_code == 429
    with serving.in_thread(settings) as url, httpx2.Client(base_url=url) as api:
        # A request that fetches counts as ten.
        assert api.get("/v1/check", params={"url": site.url}).status_code == 200
        problem(api.get("/v1/check", params={"url": site.url}), 429, "too-many-requests")


def test_request_limits() -> None:
    settings = ServiceSettings(rate=0, max_body=1_000, max_questions=4)
    with serving.in_thread(settings) as url, httpx2.Client(base_url=url) as api:
        request = {"robots": "", "urls": ["/a", "/b"], "agents": ["x", "y"]}
        assert api.post("/v1/decide", json=request).status_code == 200
        answer = api.post("/v1/decide", json=request | {"urls": ["/a", "/b", "/c"]})
        problem(answer, 422, "too-many-questions")
        problem(api.post("/v1/decide", json={"robots": "x" * 1_000}), 413, "body-too-large")
        chunks = iter([b'{"robots": "', *[b"x" * 100] * 20, b'"}'])
        answer = api.post("/v1/lint", content=chunks, headers={"Content-Type": "application/json"})
        problem(answer, 413, "body-too-large")
        answer = api.post("/v1/lint", content=b"{}", headers={"Content-Length": "2"})
        assert answer.status_code == 415


def test_request_over_the_work_timeout_is_cancelled() -> None:
    settings = ServiceSettings(rate=0, work_timeout=0.5)
    with serving.in_thread(settings) as url, httpx2.Client(base_url=url, timeout=30) as api:
        problem(api.post("/v1/lint", json={"robots": serving.hard()}), 422, "too-much-work")
        # Its worker process was killed; the next request gets another.
        for _ in range(3):
            answer = api.post("/v1/lint", json={"robots": "User-agent: *\nDisallow: /"})
            if answer.status_code == 200:
                break
        assert answer.status_code == 200
