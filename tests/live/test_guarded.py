"""The guard of a running service: it connects only to public addresses."""

from __future__ import annotations

import time
from typing import Any

import httpcore2
import httpx2
import pytest

from koster.fetch import Guard
from koster.service import ServiceSettings, _sites
from tests.helpers import serving, wire
from tests.helpers.fetching import SPELLINGS
from tests.helpers.raw_http import is_responsive
from tests.helpers.server import Answer, Site

#: The defaults of the command, without a rate limit.
GUARDED = ServiceSettings(rate=0)


@pytest.fixture(scope="module")
def guarded_url() -> Any:
    with serving.in_thread(GUARDED) as url:
        yield url


@pytest.mark.parametrize("host", [*SPELLINGS, "017700000001", "[::ffff:7f00:1]", "[::127.0.0.1]",
                                  "0x7f.0x0.0x0.0x1", "①②⑦.⓪.⓪.①"])  # fmt: skip
def test_loopback_is_blocked_in_any_spelling(guarded_url: str, site: Site, host: str) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /secret")
    private_url = f"http://{host}:{site.port}/"
    with httpx2.Client(base_url=guarded_url, timeout=60) as api:
        for answer in (
            api.get("/v1/check", params={"url": private_url}),
            api.get("/v1/fetch", params={"site": private_url}),
            api.post("/v1/decide", json={"site": private_url, "urls": ["/"]}),
            api.post("/v1/lint", json={"site": private_url}),
            api.post("/v1/diff", json={"before": {"site": private_url}, "after": {"robots": ""}}),
        ):
            assert answer.status_code in (200, 422)
            assert "secret" not in answer.text
            if answer.status_code == 200:
                response = answer.json()
                assert (response.get("fetch") or response)["outcome"] == "unreachable"
    assert site.connections == 0


def test_redirects_to_private_addresses_are_blocked(
    site: Site, names: dict[str, list[list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /secret")
    names |= {"outside.test": [["127.0.0.1"]], "inside.test": [["127.0.0.2"]]}
    settings = ServiceSettings(rate=0, let_through=("127.0.0.1/32",))
    for host in ("inside.test", "127.0.0.2", "[::ffff:127.0.0.2]", "2130706434", "0177.0.0.2"):
        location = f"http://{host}:{site.port}/robots.txt"
        head = f"HTTP/1.1 301 Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()
        with wire.running(wire.sends(head)) as running, serving.in_thread(settings) as url:
            params = {"url": f"http://outside.test:{running.port}/x"}
            response = httpx2.get(f"{url}/v1/check", params=params).json()
        assert len(response["fetch"]["hops"]) == 2
        why = response["fetch"]["why"]
        assert "address blocked by the guard" in why or "DNS lookup failed" in why
        assert response["decision"]["allowed"] is False
    assert site.connections == 0


def test_dns_rebinding_is_blocked(
    names: dict[str, list[list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service connects to the address it has checked: it resolves a name once per connection."""
    connected_hosts: list[str] = []

    async def failing_connect(_self: Any, host: str, *_args: Any, **_options: Any) -> Any:
        connected_hosts.append(host)
        raise httpcore2.ConnectError("as planned")

    monkeypatch.setattr(httpcore2.AnyIOBackend, "connect_tcp", failing_connect)
    names["rebinds.test"] = [["93.184.216.34"], ["127.0.0.1"]]
    with serving.in_thread(GUARDED) as url, httpx2.Client(base_url=url) as api:
        for path in ("/a", "/b"):
            response = api.get("/v1/check", params={"url": f"http://rebinds.test{path}"}).json()
            assert response["fetch"]["outcome"] == "unreachable"
        response = api.get("/v1/check", params={"url": "http://rebinds.test:81/"}).json()
        assert "address blocked by the guard: 127.0.0.1 is loopback" in response["fetch"]["why"]
    assert connected_hosts == ["93.184.216.34"]


def test_the_guard_is_always_on() -> None:
    from koster.service._limits import RateLimit
    from koster.service._metrics import Metrics

    sites = _sites.Sites(ServiceSettings(), RateLimit(0, time.monotonic), Metrics())
    assert sites._guard == Guard()
    assert sites._guard.why_not("127.0.0.1")


def test_slow_sites_do_not_delay_other_requests(site: Site) -> None:
    site.pages["/robots.txt"] = Answer(200, b"User-agent: *", delay=30)
    settings = ServiceSettings(rate=0, fetch_timeout=1, fetches=2, let_through=("127.0.0.1/32",))
    with serving.in_thread(settings) as url, httpx2.Client(base_url=url, timeout=30) as api:
        start = time.monotonic()
        response = api.get("/v1/check", params={"url": site.url}).json()
        assert "no complete response within 1 s" in response["fetch"]["why"]
        assert time.monotonic() - start < 5
        assert is_responsive(url)
