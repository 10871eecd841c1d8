"""The address guard: blocked addresses and ports, redirects, and DNS rebinding."""

from __future__ import annotations

import ipaddress
from typing import Any

import httpcore2
import pytest
from hypothesis import given
from hypothesis import strategies as st

import koster
from koster.fetch import PUBLIC_ONLY, Guard
from tests.helpers import wire
from tests.helpers.fetching import SPELLINGS, ask, outcome, reason_of
from tests.helpers.server import Site

BLOCKED = [
    "127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255",
    "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255", "169.254.0.1",
    # Cloud metadata services: AWS, Google and Azure; Alibaba; Oracle; Azure's wire server.
    "169.254.169.254", "100.100.100.200", "192.0.0.192", "168.63.129.16", "fd00:ec2::254",
    "100.64.0.1", "100.127.255.255", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1",
    "192.88.99.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::127.0.0.1", "::8.8.8.8", "fe80::1", "fe80::1%eth0", "fc00::1", "fdff::1",
    "ff02::1", "fec0::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "2002:808:808::1", "3fff::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:7f00:1",
    "64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::808:808", "100::1", "5f00::1",
    "2400:cb00::5efe:10.0.0.1", "2400:cb00::200:5efe:127.0.0.1",
    "nonsense", "", "1.2.3", "999.1.1.1", "127.0.0.1:80",
]  # fmt: skip


PUBLIC = [
    "8.8.8.8", "1.1.1.1", "93.184.216.34", "172.15.255.255", "172.32.0.1", "100.63.255.255",
    "100.128.0.1", "169.253.255.255", "192.167.1.1", "11.0.0.1", "126.255.255.255",
    "128.0.0.1", "223.255.255.255", "168.63.129.17", "2606:4700::1111", "2a00:1450:4001::200e",
    "::ffff:8.8.8.8", "64:ff9b::8.8.8.8",
]  # fmt: skip


@pytest.mark.parametrize("address", BLOCKED)
def test_non_public_addresses_are_blocked(address: str) -> None:
    assert PUBLIC_ONLY.why_not(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_allowed(address: str) -> None:
    assert PUBLIC_ONLY.why_not(address) is None


@given(st.ip_addresses())
def test_allowed_addresses_are_global_in_ipaddress(address: Any) -> None:
    if PUBLIC_ONLY.why_not(str(address)) is None and address not in ipaddress.ip_network(
        "64:ff9b::/96"
    ):
        inner = getattr(address, "ipv4_mapped", None) or address
        assert inner.is_global or str(inner).startswith("192.0.0.")
        assert not inner.is_multicast


def test_also_allows_listed_networks() -> None:
    guard = Guard(also=("127.0.0.0/8", "fd00::/8"))
    for address in ("127.0.0.1", "::ffff:127.0.0.1", "fd12::1", "8.8.8.8"):
        assert guard.why_not(address) is None
    assert guard.why_not("10.0.0.1")
    assert guard.why_not("fe80::1")
    with pytest.raises(ValueError, match="nonsense"):
        Guard(also=("nonsense",))


def test_non_web_ports_are_blocked() -> None:
    """The bad ports of the Fetch standard, as in Chromium and Firefox."""
    assert all(PUBLIC_ONLY.why_not_at(port) for port in (0, 22, 25, 53, 465, 587, 3659, 6000, 6667))
    assert not any(PUBLIC_ONLY.why_not_at(port) for port in (80, 443, 8000, 8080, 8443, 3000, 9000))


@pytest.mark.parametrize("host", SPELLINGS)
def test_loopback_is_blocked_in_any_spelling(kind: str, site: Site, host: str) -> None:
    result = outcome(kind, f"http://{host}:{site.port}/", guard=PUBLIC_ONLY, timeout=20)
    assert reason_of(result) == "unreachable"
    assert site.connections == 0
    assert "address blocked by the guard" in result.why or "DNS lookup failed" in result.why


def test_redirects_are_checked(kind: str, site: Site, names: dict[str, list[list[str]]]) -> None:
    """The first hop is allowed, the second is blocked."""
    site.robots(body=b"User-agent: *\nDisallow: /secret")
    location = f"http://inside.test:{site.port}/robots.txt"
    head = f"HTTP/1.1 301 Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()
    names |= {"outside.test": [["127.0.0.1"]], "inside.test": [["127.0.0.2"]]}
    with wire.running(wire.sends(head)) as running:
        guard = Guard(also=("127.0.0.1/32",))
        result = outcome(kind, f"http://outside.test:{running.port}/", guard=guard)
    assert len(result.hops) == 2
    assert "address blocked by the guard: 127.0.0.2 is loopback" in result.why
    assert site.connections == 0


def test_client_connects_to_the_checked_address(
    kind: str, names: dict[str, list[list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client resolves a name once, so a second, different answer is not used."""
    connected_hosts: list[Any] = []

    def failing_connect(self: Any, host: str, *args: Any, **kwargs: Any) -> Any:
        connected_hosts.append(host)
        raise httpcore2.ConnectError("as planned")

    async def failing_connect_async(self: Any, host: str, *args: Any, **kwargs: Any) -> Any:
        failing_connect(self, host)

    monkeypatch.setattr(httpcore2.SyncBackend, "connect_tcp", failing_connect)
    monkeypatch.setattr(httpcore2.AnyIOBackend, "connect_tcp", failing_connect_async)
    names["rebinds.test"] = [["93.184.216.34"], ["127.0.0.1"]]
    outcome(kind, "http://rebinds.test/", guard=PUBLIC_ONLY)
    assert connected_hosts == ["93.184.216.34"]
    assert names["rebinds.test"] == [["127.0.0.1"]]


def test_client_does_not_connect_to_blocked_ports(kind: str) -> None:
    result = outcome(kind, "http://8.8.8.8:25/", guard=PUBLIC_ONLY)
    assert result.why == (
        "address blocked by the guard: port 25 is not a web port: browsers block it too"
    )
    head = b"HTTP/1.1 301 Moved\r\nLocation: http://8.8.8.8:22/x\r\nContent-Length: 0\r\n\r\n"
    with wire.running(wire.sends(head)) as running:
        guard = Guard(also=("127.0.0.0/8",))
        result = outcome(kind, f"http://127.0.0.1:{running.port}/", guard=guard)
    assert "port 22 is not a web port" in result.why


def test_only_public_addresses_of_a_name_are_tried(
    kind: str, names: dict[str, list[list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried_hosts: list[Any] = []

    def recording_connect(self: Any, host: str, *args: Any, **kwargs: Any) -> Any:
        tried_hosts.append(host)
        raise httpcore2.ConnectError("as planned")

    async def recording_connect_async(self: Any, host: str, *args: Any, **kwargs: Any) -> Any:
        recording_connect(self, host)

    monkeypatch.setattr(httpcore2.SyncBackend, "connect_tcp", recording_connect)
    monkeypatch.setattr(httpcore2.AnyIOBackend, "connect_tcp", recording_connect_async)
    names["mixed.test"] = [["127.0.0.1", "93.184.216.34", "10.0.0.1", "8.8.8.8"]]
    result = outcome(kind, "http://mixed.test/", guard=PUBLIC_ONLY)
    assert tried_hosts == ["93.184.216.34", "8.8.8.8"]
    assert result.why == "connection failed: as planned"


def test_second_address_is_tried_when_the_first_fails(
    kind: str, site: Site, names: dict[str, list[list[str]]]
) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /x")
    names["two.test"] = [["127.0.0.9", "127.0.0.1"]]
    url = f"http://two.test:{site.port}/"
    for guard in (None, Guard(also=("127.0.0.0/8",))):
        assert reason_of(outcome(kind, url, guard=guard)) == "file"


def test_guarded_client_fetches_allowed_addresses(kind: str, site: Site) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /x")
    guard = Guard(also=("127.0.0.1/32",))
    assert ask(kind, ("allowed", f"{site.url}/x"), guard=guard) == [False]
    assert isinstance(ask(kind, ("decide", f"{site.url}/x"), guard=guard)[0], koster.Decision)
