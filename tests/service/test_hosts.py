"""Websites cannot use a service on their visitor's computer: Host and Sec-Fetch-Site."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest
from click.testing import CliRunner

from koster._cli.root import koster as command_line
from koster.service import ServiceSettings, create_app
from koster.service._hosts import HostCheck
from koster.service._problems import Problem
from tests.helpers import serving
from tests.helpers.api import problem
from tests.helpers.server import Site


def check(
    host: str | None, server: str = "127.0.0.1", names: tuple[str, ...] = ()
) -> Problem | None:
    headers = [] if host is None else [(b"host", host.encode("latin-1"))]
    return HostCheck(names).rejection({"server": (server, 8000), "headers": headers})


ACCEPTED = [
    "localhost", "localhost:8000", "LocalHost:1", "localhost.", "localhost:", "127.0.0.1:8000",
    "[::1]", "[::1]:8000", "[0:0:0:0:0:0:0:1]:8000", "[0::0001]",
]  # fmt: skip
REFUSED = [
    "evil.example", "evil.example:8000", "localhost.evil.example", "evil-localhost", "\xe9",
    "", ":8000", ".", "localhost..", "localhost:8000:8000", "localhost:x", "localhost/",
    "a@localhost", "localhost@evil.example", "localhost, evil.example", "localhost evil.example",
    "localhost\0", "localhost:\uff18\uff10", "loc\u00adalhost", "foo.localhost", "[localhost]",
    "127.0.0.1.evil.example", "0.0.0.0", "127.1", "2130706433", "127.0.0.3", "192.0.2.1",
    "::1", "[::1", "[::1]x", "[::]", "[::1%lo]", "[::ffff:127.0.0.1]",
]  # fmt: skip


@pytest.mark.parametrize("host", ACCEPTED)
def test_names_of_this_computer_are_accepted(host: str) -> None:
    for server in ("127.0.0.1", "::1", "::ffff:127.0.0.1", "127.0.0.2"):
        assert check(host, server) is None


@pytest.mark.parametrize("host", REFUSED)
def test_other_names_are_refused(host: str) -> None:
    found = check(host.encode().decode("latin-1"))
    assert found is not None
    assert (found.status, found.code) == (421, "unknown-host")


def test_own_address_is_accepted() -> None:
    """The address that `koster serve` prints, for example with ``--host 127.0.0.2``."""
    assert check("127.0.0.2:8000", "127.0.0.2") is None
    assert check("127.0.0.2:8000", "127.0.0.1") is not None


def test_no_host_is_accepted() -> None:
    """Browsers send one; a check with HTTP/1.0 may not."""
    assert check(None) is None
    assert check(None, "192.0.2.1", ("a.example",)) is None


def test_other_listeners_accept_any_host() -> None:
    for server in ("192.0.2.1", "::", "2001:db8::1", "/run/koster.sock"):
        assert check("evil.example", server) is None
    scope = {"server": None, "headers": [(b"host", b"x")]}
    assert HostCheck(()).rejection(scope) is None


def test_host_names() -> None:
    names = "Robots.Example.org.", "b\u00fccher.example", "[2001:DB8::1]", "192.0.2.7"
    accepted = "robots.example.org:443", "xn--bcher-kva.example", "[2001:db8::1]:80", "192.0.2.7:80"
    for server in ("127.0.0.1", "192.0.2.1", "/run/koster.sock"):
        for host in (*accepted, "localhost:8000"):
            assert check(host, server, names) is None
        assert check("www.robots.example.org", server, names) is not None


@pytest.mark.parametrize(
    "name",
    [
        "",
        "https://a.example",
        "a.example:443",
        "a.example/",
        "*",
        "a b",
        "::1",
        "[::1]:80",
        "a..b",
        "%",
    ],
)
def test_invalid_host_names(name: str) -> None:
    with pytest.raises(ValueError, match="invalid host name"):
        create_app(ServiceSettings(host_names=(name,)))
    result = CliRunner().invoke(command_line, ["serve", "--cache", "memory", "--host-name", name])
    assert result.exit_code == 2
    assert "invalid host name" in result.output.replace("\n", " ")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving.in_thread() as url:
        yield url


@pytest.fixture(scope="module")
def api(url: str) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=url) as client:
        yield client


def exchange(url: str, request: str) -> bytes:
    with serving.connected(url) as connection:
        connection.sendall(request.encode("latin-1"))
        return serving.read_all(connection)


@pytest.mark.parametrize(
    "path",
    ["/", "/static/app.js", "/v1/agents", "/healthz", "/readyz", "/metrics", "/openapi.json"],
)
def test_every_path_has_the_check(api: httpx2.Client, path: str) -> None:
    answer = api.get(path, headers={"Host": "evil.example"})
    detail = problem(answer, 421, "unknown-host")["detail"]
    assert detail == 'host "evil.example" is not allowed: see koster serve --host-name'
    assert api.get(path).status_code == 200


def test_complete_urls_in_the_request_line(url: str) -> None:
    """Their host counts, not that of the header."""
    end = "Connection: close\r\n\r\n"
    for target, host, status in (
        ("http://evil.example/healthz", "localhost", 421),
        ("HTTP://a@evil.example/?x", "localhost", 421),
        ("http://localhost/healthz", "evil.example", 200),
        ("/healthz?http://evil.example", "localhost", 200),
        ("//evil.example/healthz", "localhost", 404),
        ("/healthz", "evil.example", 421),
    ):
        answer = exchange(url, f"GET {target} HTTP/1.1\r\nHost: {host}\r\n{end}")
        assert answer.startswith(b"HTTP/1.1 %d " % status), (target, answer)
    assert b" 400 " in exchange(url, f"GET / HTTP/1.1\r\nHost: localhost\r\nHost: x\r\n{end}")
    assert b" 400 " in exchange(url, f"GET / HTTP/1.1\r\n{end}")
    assert b" 200 " in exchange(url, f"GET /healthz HTTP/1.0\r\n{end}")


def test_other_sites_cannot_use_the_api(api: httpx2.Client, site: Site) -> None:
    question = {"url": f"{site.url}/x"}
    for value in ("cross-site", "same-site", "", "Same-Origin", "same-origin, cross-site", "x"):
        headers = {"Sec-Fetch-Site": value}
        problem(api.get("/v1/check", params=question, headers=headers), 403, "cross-site")
        answer = api.post("/v1/decide", json={"robots": "", "urls": ["/"]}, headers=headers)
        problem(answer, 403, "cross-site")
        problem(api.options("/v1/decide", headers=headers), 403, "cross-site")
        # Links to the page are harmless.
        assert api.get("/", headers=headers).status_code == 200
    twice = [("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Site", "cross-site")]
    problem(api.get("/v1/check", params=question, headers=twice), 403, "cross-site")
    assert site.requests == []
    for value in ("same-origin", "none"):
        headers = {"Sec-Fetch-Site": value}
        answer = api.get("/v1/check", params=question, headers=headers)
        assert answer.status_code == 200
    assert api.get("/v1/check", params=question).status_code == 200


def test_refused_requests_cost_no_rate() -> None:
    with serving.in_thread(ServiceSettings(rate=1)) as url, httpx2.Client(base_url=url) as api:
        for _ in range(10):
            problem(api.get("/v1/agents", headers={"Host": "x"}), 421, "unknown-host")
            headers = {"Sec-Fetch-Site": "cross-site"}
            problem(api.get("/v1/agents", headers=headers), 403, "cross-site")
        assert api.get("/v1/agents").status_code == 200


def test_proxy_before_a_loopback_listener() -> None:
    headers = {"Host": "robots.example.org", "X-Forwarded-For": "192.0.2.1"}
    with (
        serving.in_thread(ServiceSettings(rate=0), proxies=["127.0.0.1"]) as url,
        httpx2.Client(base_url=url) as api,
    ):
        problem(api.get("/v1/agents", headers=headers), 421, "unknown-host")
    settings = ServiceSettings(rate=0, host_names=("robots.example.org",))
    with (
        serving.in_thread(settings, proxies=["127.0.0.1"]) as url,
        httpx2.Client(base_url=url) as api,
    ):
        assert api.get("/v1/agents", headers=headers).status_code == 200
        assert api.get("/v1/agents").status_code == 200
