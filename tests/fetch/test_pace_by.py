"""pace_by: one pace for several sites."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import pytest

import koster
from koster.fetch import AsyncRobotsClient, FleetPacer, MockTransport, PaceBy, RobotsClient
from koster.fetch import _lookup as lookup_module
from tests.helpers.fetching import NAME, Clock, call_all

FAST = "User-agent: *\nCrawl-delay: 10"


def is_shared(kind: str, first: str, second: str, pace_by: Any, **options: Any) -> bool:
    """Return whether a turn for one URL holds back the turn for another one."""
    clock = Clock()
    sites = MockTransport({f"{'/'.join(url.split('/')[:3])}": FAST for url in (first, second)})
    options = {"transport": sites, "clock": clock, "pace_by": pace_by} | options
    _, due = call_all(kind, ("wait", (first,)), ("next_request", (second,)), **options)
    return bool(due > clock.now)


@pytest.mark.parametrize(
    ("first", "second", "shared"),
    [
        ("https://a.example.com/", "https://b.example.com/", True),
        ("https://example.com/", "http://www.example.com:8080/", True),
        ("https://a.example.co.uk/", "https://b.example.co.uk/", True),
        ("https://a.co.uk/", "https://b.co.uk/", False),
        ("https://a.github.io/", "https://b.github.io/", False),
        ("https://x.a.github.io/", "https://y.a.github.io/", True),
        ("https://a.example.com/", "https://a.example.org/", False),
        ("https://a.b.c.kawasaki.jp/", "https://x.b.c.kawasaki.jp/", True),
        ("https://city.kawasaki.jp/", "https://www.city.kawasaki.jp/", True),
        ("https://a.xn--bcher-kva.example/", "https://bücher.example/", True),
        ("https://192.0.2.1/", "https://192.0.2.1:8443/", True),
        ("https://192.0.2.1/", "https://198.51.2.1/", False),
        ("https://[2001:db8::1]/", "https://[2001:db8::2]/", False),
        ("https://intranet/", "http://intranet/", True),
        ("https://co.uk/", "https://com/", False),
    ],
)
def test_sites_of_a_domain_share_a_pace(first: str, second: str, shared: bool) -> None:
    assert is_shared("threads", first, second, PaceBy.DOMAIN) is shared


def test_each_origin_has_its_own_pace_by_default(kind: str) -> None:
    first, second = "https://a.example.com/", "https://b.example.com/"
    assert not is_shared(kind, first, second, PaceBy.ORIGIN)
    assert is_shared(kind, first, "https://a.example.com/x", PaceBy.ORIGIN)
    assert is_shared(kind, first, second, PaceBy.DOMAIN)


def test_function_names_the_group(kind: str) -> None:
    def by_folder(url: str) -> str:
        return urlsplit(url).path.split("/")[1]

    assert is_shared(kind, "https://a.example/x/1", "https://b.example/x/2", by_folder)
    assert not is_shared(kind, "https://a.example/x/1", "https://a.example/y/1", by_folder)


ADDRESSES = {
    "a.example": ["192.0.2.9", "192.0.2.10"],
    "b.example": ["192.0.2.10", "192.0.2.9", "2001:db8::1"],
    "c.example": ["192.0.2.10"],
    "v6.example": ["2001:db8::1"],
    "v6b.example": ["2001:db8::1"],
}


@pytest.fixture
def lookups(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The hosts that are looked up, with the addresses above."""
    asked: list[str] = []

    def resolve(host: str, *_: object) -> list[str]:
        asked.append(host)
        if host not in ADDRESSES:
            raise OSError("no such host")
        return ADDRESSES[host]

    async def resolve_async(host: str, _port: int) -> list[str]:
        return resolve(host)

    monkeypatch.setattr(lookup_module, "resolve", resolve)
    monkeypatch.setattr(lookup_module, "resolve_async", resolve_async)
    return asked


def test_sites_of_an_address_share_a_pace(kind: str, lookups: list[str]) -> None:
    for first, second, shared in (
        ("a", "b", True), ("a", "c", False), ("v6", "v6b", True), ("b", "v6", False)
    ):  # fmt: skip
        urls = f"https://{first}.example/", f"https://{second}.example/"
        assert is_shared(kind, *urls, PaceBy.ADDRESS) is shared
    # A host is looked up once.
    assert len(lookups) == 8
    # One that has no address has a pace of its own.
    assert not is_shared(kind, "https://x.example/", "https://y.example/", PaceBy.ADDRESS)
    assert is_shared(kind, "https://x.example/", "https://x.example/", PaceBy.ADDRESS)


def test_turns_of_a_group_obey_each_sites_own_delay() -> None:
    sites = MockTransport(
        {"https://a.example.com": "User-agent: *\nCrawl-delay: 0.3", "https://b.example.com": ""}
    )
    options: Any = {"transport": sites, "pace_by": PaceBy.DOMAIN, "default_interval": 0.05}
    with RobotsClient(NAME, **options) as client:
        with client.turn("https://a.example.com/"):
            began = time.monotonic()
        with client.turn("https://b.example.com/") as turn:
            assert 0.04 < turn.waited < 0.2
        with client.turn("https://a.example.com/") as turn:
            assert time.monotonic() - began >= 0.34
        # The back-off is for the group, too.
        turn.answered(429, retry_after=60)
        with pytest.raises(koster.TooSoonError, match=r"^example\.com FooBot.*answered 429"):
            client.wait("https://b.example.com/", at_most=1)


def test_fleet_shares_the_pace_of_a_group(redis_url: str) -> None:
    with closing(FleetPacer(redis_url, prefix="groups:")) as pacer:
        first, second = "https://a.example.com/", "https://b.example.com/"
        assert is_shared("threads", first, second, PaceBy.DOMAIN, pacer=pacer)


@pytest.mark.parametrize("make", [RobotsClient, AsyncRobotsClient])
@pytest.mark.parametrize("value", ["domain", None, 5, True])
def test_pace_by_is_checked(make: Any, value: Any) -> None:
    message = rf"pace_by must be PaceBy\.ORIGIN, .*, not {type(value).__name__}"
    with pytest.raises(TypeError, match=message):
        make(NAME, pace_by=value)


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [(None, TypeError, "pace_by must return a str, not NoneType"), ("", ValueError, "empty")],
)
def test_group_of_a_function_is_checked(value: Any, error: Any, message: str) -> None:
    with (
        RobotsClient(NAME, transport=MockTransport({}), pace_by=lambda _: value) as client,
        pytest.raises(error, match=message),
    ):
        client.wait("https://example.com/")


def test_missing_list_says_what_to_install() -> None:
    code = """
import sys
sys.modules["publicsuffixlist"] = None
from koster.fetch import MockTransport, PaceBy, RobotsClient
RobotsClient("FooBot/1.0", transport=MockTransport({}), pace_by=PaceBy.ADDRESS)
try:
    RobotsClient("FooBot/1.0", transport=MockTransport({}), pace_by=PaceBy.DOMAIN)
except ImportError as error:
    print(error)
"""
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert "PaceBy.DOMAIN needs the extra 'http': pip install 'koster[http]'" in process.stdout


def test_list_is_loaded_only_if_it_is_needed() -> None:
    code = "import sys, koster.fetch; print('publicsuffixlist' in sys.modules)"
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert process.stdout == "False\n"
