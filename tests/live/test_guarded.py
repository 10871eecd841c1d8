"""The guard of a running service: nothing leads to an address that is not public."""

from __future__ import annotations

import time
from typing import Any

import httpcore2
import httpx2
import pytest
import serving
import wire
from fetching import SPELLINGS
from raw_http import is_well
from server import Answer, Site

from koster.fetch import Guard
from koster.service import Settings, _sites

#: What the command has by default, but for the rate.
GUARDED = Settings(rate=0)


@pytest.fixture(scope="module")
def guarded() -> Any:
    with serving.in_thread(GUARDED) as url:
        yield url


@pytest.mark.parametrize("host", [*SPELLINGS, "017700000001", "[::ffff:7f00:1]", "[::127.0.0.1]",
                                  "0x7f.0x0.0x0.0x1", "①②⑦.⓪.⓪.①"])  # fmt: skip
def test_no_spelling_gets_into_the_house(guarded: str, site: Site, host: str) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /secret")
    inside = f"http://{host}:{site.port}/"
    with httpx2.Client(base_url=guarded, timeout=60) as api:
        for answer in (
            api.get("/v1/check", params={"url": inside}),
            api.get("/v1/fetch", params={"site": inside}),
            api.post("/v1/decide", json={"site": inside, "urls": ["/"]}),
            api.post("/v1/lint", json={"site": inside}),
            api.post("/v1/diff", json={"before": {"site": inside}, "after": {"robots": ""}}),
        ):
            assert answer.status_code in (200, 422)
            assert "secret" not in answer.text
            if answer.status_code == 200:
                told = answer.json()
                assert (told.get("fetch") or told)["outcome"] == "unreachable"
    assert site.connections == 0


def test_no_redirect_leads_into_the_house(
    site: Site, names: dict[str, list[list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /secret")
    names |= {"outside.test": [["127.0.0.1"]], "inside.test": [["127.0.0.2"]]}
    settings = Settings(rate=0, let_through=("127.0.0.1/32",))
    for place in ("inside.test", "127.0.0.2", "[::ffff:127.0.0.2]", "2130706434", "0177.0.0.2"):
        location = f"http://{place}:{site.port}/robots.txt"
        head = f"HTTP/1.1 301 Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()
        with wire.running(wire.says(head)) as running, serving.in_thread(settings) as url:
            where = {"url": f"http://outside.test:{running.port}/x"}
            told = httpx2.get(f"{url}/v1/check", params=where).json()
        assert len(told["fetch"]["hops"]) == 2
        why = told["fetch"]["why"]
        assert "address blocked by the guard" in why or "DNS lookup failed" in why
        assert told["decision"]["allowed"] is False
    assert site.connections == 0


def test_no_change_of_a_name_leads_into_the_house(
    names: dict[str, list[list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is connected to is what was looked at; a name is resolved once for each connection."""
    connected: list[str] = []

    async def refuses(_self: Any, host: str, *_args: Any, **_options: Any) -> Any:
        connected.append(host)
        raise httpcore2.ConnectError("as planned")

    monkeypatch.setattr(httpcore2.AnyIOBackend, "connect_tcp", refuses)
    names["rebinds.test"] = [["93.184.216.34"], ["127.0.0.1"]]
    with serving.in_thread(GUARDED) as url, httpx2.Client(base_url=url) as api:
        for path in ("/a", "/b"):
            told = api.get("/v1/check", params={"url": f"http://rebinds.test{path}"}).json()
            assert told["fetch"]["outcome"] == "unreachable"
        told = api.get("/v1/check", params={"url": "http://rebinds.test:81/"}).json()
        assert "address blocked by the guard: 127.0.0.1 is loopback" in told["fetch"]["why"]
    assert connected == ["93.184.216.34"]


def test_the_guard_is_always_on() -> None:
    from koster.service._limits import RateLimit
    from koster.service._metrics import Metrics

    sites = _sites.Sites(Settings(), RateLimit(0, time.monotonic), Metrics())
    assert sites._guard == Guard()
    assert sites._guard.why_not("127.0.0.1")


def test_slow_sites_hold_up_only_those_who_ask_for_them(site: Site) -> None:
    site.pages["/robots.txt"] = Answer(200, b"User-agent: *", delay=30)
    settings = Settings(rate=0, fetch_timeout=1, fetches=2, let_through=("127.0.0.1/32",))
    with serving.in_thread(settings) as url, httpx2.Client(base_url=url, timeout=30) as api:
        began = time.monotonic()
        told = api.get("/v1/check", params={"url": site.url}).json()
        assert "no complete response within 1 s" in told["fetch"]["why"]
        assert time.monotonic() - began < 5
        assert is_well(url)
