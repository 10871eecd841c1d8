"""Proxies, certificates and headers of koster's own network; proxies of the caller's client."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
import requests

import koster
from koster.fetch import AsyncRobotsClient, Guard, RobotsClient
from koster.fetch._proxies import Proxies, parse_proxy
from tests.helpers import proxy, server, wire
from tests.helpers.fetching import ASYNC_HTTP_CLIENTS, FILE, NAME, REFUSED, outcome, reason_of
from tests.helpers.server import Site

VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*VARIABLES, "REQUEST_METHOD"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return wire.certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def tls_site(certificate: tuple[Path, Path]) -> Iterator[Site]:
    with server.running(wire.server_context(*certificate)) as site:
        site.robots(body=FILE)
        yield site


def test_proxy_forwards_http(kind: str, site: Site) -> None:
    site.robots(body=FILE)
    with proxy.running() as running:
        assert reason_of(outcome(kind, site.url, proxy=running.url)) == "file"
    assert running.requests == [f"GET {site.url}/robots.txt HTTP/1.1"]
    assert len(site.requests) == 1


def test_proxy_tunnels_https(kind: str, tls_site: Site, certificate: tuple[Path, Path]) -> None:
    with proxy.running() as running:
        found = outcome(kind, tls_site.url, proxy=running.url, verify=certificate[0])
    assert reason_of(found) == "file", found.why
    assert running.requests == [f"CONNECT 127.0.0.1:{tls_site.port} HTTP/1.1"]


def test_certificates_are_verified_through_a_proxy(kind: str, tls_site: Site) -> None:
    with proxy.running() as running:
        found = outcome(kind, tls_site.url, proxy=running.url)
    assert found.why.startswith("TLS connection failed: ")
    assert found.why.endswith(f"(through {running.url})")


def test_redirects_go_through_the_proxy(kind: str, site: Site) -> None:
    site.robots(301, headers={"Location": "http://other.example/r"})
    site.pages["/r"] = server.Answer(body=FILE)
    with proxy.running(hosts={"other.example": site.port}) as running:
        assert reason_of(outcome(kind, site.url, proxy=running.url)) == "file"
    assert running.requests[-1] == "GET http://other.example/r HTTP/1.1"


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_password(
    kind: str, scheme: str, site: Site, tls_site: Site, certificate: tuple[Path, Path]
) -> None:
    site.robots(body=FILE)
    url = site.url if scheme == "http" else tls_site.url
    with proxy.running(password="me:s%ret") as running:
        right = running.url_with("me:s%25ret")
        assert reason_of(outcome(kind, url, proxy=right, verify=certificate[0])) == "file"
        for text in (running.url, running.url_with("me:wrong")):
            found = outcome(kind, url, proxy=text, verify=certificate[0])
            assert found.reason is koster.Reason.UNREACHABLE
            assert found.why == (
                f"proxy failed: 407 Proxy Authentication Required (through {running.url})"
            )


def test_status_407_of_a_site_without_a_proxy_is_a_4xx(kind: str, site: Site) -> None:
    site.robots(407)
    assert reason_of(outcome(kind, site.url)) == "unavailable"


@pytest.mark.parametrize("url", ["http://site.example/", "https://site.example/"])
def test_failures_name_the_proxy(kind: str, url: str, unused: int) -> None:
    name = f"http://127.0.0.1:{unused}"
    found = outcome(kind, url, proxy=f"http://me:secret@127.0.0.1:{unused}")
    assert found.reason is koster.Reason.UNREACHABLE
    assert found.why == f"proxy failed: {REFUSED} (through {name})"
    assert "secret" not in str(found)


def test_proxy_without_an_address(kind: str) -> None:
    found = outcome(kind, "http://site.example/", proxy="http://nowhere.invalid:1", timeout=20)
    assert found.why.startswith("proxy failed: ")
    assert found.why.endswith("(through http://nowhere.invalid:1)")


def test_proxy_that_refuses_to_connect(kind: str) -> None:
    answer = b"HTTP/1.1 403 Forbidden by policy\r\nContent-Length: 0\r\n\r\n"
    with proxy.running(refuses=answer) as running:
        found = outcome(kind, "https://site.example/", proxy=running.url)
    assert found.why == f"proxy failed: 403 Forbidden by policy (through {running.url})"


def test_proxy_that_does_not_respond_times_out(kind: str) -> None:
    with wire.running(lambda _: wire.threading.Event().wait(3) and None) as hanging:  # type: ignore[attr-defined]
        start = time.monotonic()
        address = hanging.url.rstrip("/")
        for url in ("http://site.example/", "https://site.example/"):
            found = outcome(kind, url, proxy=address, timeout=0.2)
            assert found.why == f"no complete response within 0.2 s (through {address})"
    assert time.monotonic() - start < 4


def test_socks_proxy(kind: str, site: Site, tls_site: Site, certificate: tuple[Path, Path]) -> None:
    site.robots(body=FILE)
    with proxy.socks(hosts={"site.example": site.port}) as running:
        for url in ("http://site.example/", tls_site.url):
            found = outcome(kind, url, proxy=running.url, verify=certificate[0])
            assert reason_of(found) == "file", found.why
    assert running.requests == ["site.example:80", f"127.0.0.1:{tls_site.port}"]


def test_socks_proxy_that_breaks_off(kind: str, unused: int) -> None:
    with proxy.socks() as running:
        found = outcome(kind, f"http://127.0.0.1:{unused}/", proxy=running.url)
    assert found.reason is koster.Reason.UNREACHABLE
    assert found.why == f"proxy failed: Malformed reply (through {running.url})"


def test_socks_proxy_needs_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("koster.fetch._network.find_spec", lambda _: None)
    with pytest.raises(koster.MissingExtraError, match="pip install socksio"):
        RobotsClient(NAME, proxy="socks5://127.0.0.1:1080")


# The environment.


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_proxy_of_the_environment(
    kind: str, name: str, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.robots(body=FILE)
    with proxy.running() as running:
        monkeypatch.setenv(name, running.url)
        assert reason_of(outcome(kind, site.url)) == "file"
        assert len(running.requests) == 1
        assert reason_of(outcome(kind, site.url, trust_env=False)) == "file"
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        assert reason_of(outcome(kind, site.url)) == "file"
        assert len(running.requests) == 1
        assert reason_of(outcome(kind, site.url, proxy=running.url)) == "file"
        assert len(running.requests) == 2


def test_https_proxy_of_the_environment(
    kind: str, tls_site: Site, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with proxy.running() as running:
        monkeypatch.setenv("HTTPS_PROXY", f"127.0.0.1:{running.port}")
        assert reason_of(outcome(kind, tls_site.url, verify=certificate[0])) == "file"
    assert len(running.requests) == 1


def test_http_proxy_is_ignored_in_cgi(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """There, a client can set it with a header ``Proxy``."""
    site.robots(body=FILE)
    with proxy.running() as running:
        monkeypatch.setenv("HTTP_PROXY", running.url)
        monkeypatch.setenv("REQUEST_METHOD", "GET")
        assert reason_of(outcome("threads", site.url)) == "file"
    assert running.requests == []


@pytest.mark.parametrize(
    ("no", "host", "port", "is_direct"),
    [
        ("example.com", "example.com", 80, True),
        ("example.com", "www.example.com", 80, True),
        (".example.com", "www.example.com", 80, True),
        ("example.com", "badexample.com", 80, False),
        ("example.com", "example.com.evil.example", 80, False),
        ("EXAMPLE.com , b.example", "b.example", 80, True),
        ("example.com:8080", "example.com", 8080, True),
        ("example.com:8080", "example.com", 80, False),
        ("*", "anything.example", 80, True),
        ("10.0.0.0/8", "10.2.3.4", 80, True),
        ("10.0.0.0/8", "11.2.3.4", 80, False),
        ("::1", "[::1]", 80, True),
        ("fd00::/8", "[fd12::3]", 443, True),
        ("", "example.com", 80, False),
        ("nonsense/99,,", "example.com", 80, False),
    ],
)
def test_no_proxy(no: str, host: str, port: int, is_direct: bool) -> None:
    proxies = Proxies(None, {"http": "http://proxy.example:3128", "no": no})
    assert (proxies.proxy_for("http", host, port) is None) == is_direct


@pytest.mark.parametrize(
    ("text", "shown", "auth"),
    [
        ("http://proxy.example:3128", "http://proxy.example:3128", None),
        ("proxy.example:3128", "http://proxy.example:3128", None),
        ("https://proxy.example/", "https://proxy.example:443", None),
        ("http://a%40b:c%3Ad@proxy.example", "http://proxy.example:80", (b"a@b", b"c:d")),
        ("http://token@[::1]:8080", "http://[::1]:8080", (b"token", b"")),
        ("socks5h://münchen.example", "socks5h://xn--mnchen-3ya.example:1080", None),
    ],
)
def test_url_of_a_proxy(text: str, shown: str, auth: Any) -> None:
    parsed = parse_proxy(text)
    assert (str(parsed), parsed.auth) == (shown, auth)
    assert "c:d" not in repr(parsed)


@pytest.mark.parametrize("make", [RobotsClient, AsyncRobotsClient])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "http://",
        "ftp://me:secret@proxy.example",
        "http://me:se/cret@proxy.example",
        "http://proxy.example:port",
        "http://proxy.example/path",
        "http://[::1",
        "foo bar",
        "http://a b:1",
    ],
)
def test_invalid_proxy_raises_without_its_password(make: Any, text: str) -> None:
    with pytest.raises(ValueError, match=r"^proxy must be a URL such as http://") as caught:
        make(NAME, proxy=text)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_invalid_proxy_of_the_environment_names_the_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "gopher://x")
    with pytest.raises(ValueError, match=r"^the environment variable HTTPS_PROXY must be a URL"):
        RobotsClient(NAME)
    RobotsClient(NAME, trust_env=False).close()
    RobotsClient(NAME, proxy="http://proxy.example").close()


# The guard.


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Resolve ``public.example`` to a public address, and ``private.example`` to a private one."""
    original = socket.getaddrinfo
    addresses = {"public.example": "93.184.215.14", "private.example": "10.1.2.3"}

    def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        if host in addresses and kwargs.get("flags"):
            raise socket.gaierror("not an address")
        return original(addresses.get(host, host), *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


@pytest.mark.usefixtures("names")
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_guard_checks_the_requested_address(kind: str, scheme: str, site: Site) -> None:
    hosts = {"public.example": site.port, "private.example": site.port}
    site.robots(body=FILE)
    with proxy.running(hosts=hosts) as running:
        for host in ("private.example", "127.0.0.1", "[::1]", "169.254.169.254"):
            found = outcome(
                kind, f"{scheme}://{host}/", proxy=running.url, guard=koster.PUBLIC_ONLY
            )
            assert "address blocked by the guard: " in found.why
        assert running.requests == []
        # The proxy itself may have a private address.
        url = f"{scheme}://public.example/"
        found = outcome(kind, url, proxy=running.url, guard=koster.PUBLIC_ONLY)
        assert len(running.requests) == 1
        assert (found.robots is not None) == (scheme == "http")


@pytest.mark.usefixtures("names")
def test_guard_checks_redirects_through_a_proxy(kind: str, site: Site) -> None:
    site.robots(301, headers={"Location": "http://private.example/robots.txt"})
    with proxy.running(hosts={"public.example": site.port}) as running:
        options = {"proxy": running.url, "guard": Guard()}
        found = outcome(kind, "http://public.example/", **options)
    assert "address blocked by the guard: 10.1.2.3 is private" in found.why
    assert len(running.requests) == 1


# Certificates and headers.


def test_verify(kind: str, tls_site: Site, certificate: tuple[Path, Path]) -> None:
    context = ssl.create_default_context(cafile=certificate[0])
    for verify in (certificate[0], str(certificate[0]), context, False):
        found = outcome(kind, tls_site.url, verify=verify)
        assert reason_of(found) == "file", found.why
    assert outcome(kind, tls_site.url).why.startswith("TLS connection failed: ")


def test_trust_env_covers_certificates(
    kind: str,
    tls_site: Site,
    certificate: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    assert reason_of(outcome(kind, tls_site.url)) == "file"
    assert outcome(kind, tls_site.url, trust_env=False).why.startswith("TLS connection failed: ")


def test_client_certificate(kind: str, certificate: tuple[Path, Path], tmp_path: Path) -> None:
    theirs = wire.certificate(tmp_path, "127.0.0.1", 3)
    context = wire.server_context(*certificate)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(theirs[0])
    both = tmp_path / "both.pem"
    both.write_bytes(theirs[0].read_bytes() + theirs[1].read_bytes())
    own = ssl.create_default_context(cafile=certificate[0])
    own.load_cert_chain(*theirs)
    with server.running(context) as site:
        site.robots(body=FILE)
        for options in (
            {"verify": certificate[0], "cert": theirs},
            {"verify": certificate[0], "cert": both},
            {"verify": own},
        ):
            found = outcome(kind, site.url, **options)
            assert reason_of(found) == "file", found.why
        assert reason_of(outcome(kind, site.url, verify=certificate[0])) == "unreachable"


@pytest.mark.parametrize("make", [RobotsClient, AsyncRobotsClient])
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"verify": "/nowhere/ca.pem"}, FileNotFoundError, "'/nowhere/ca.pem'"),
        ({"cert": "/nowhere/own.pem"}, FileNotFoundError, "'/nowhere/own.pem'"),
        ({"cert": ("/nowhere/own.pem", "b")}, FileNotFoundError, "'/nowhere/own.pem'"),
        ({"cert": 5}, TypeError, "cert must be a path, or a tuple"),
        ({"cert": ()}, TypeError, "cert must be a path, or a tuple"),
        ({"verify": 5}, TypeError, "verify must be True, False, a path or an ssl.SSLContext"),
        (
            {"verify": ssl.create_default_context(), "cert": "own.pem"},
            ValueError,
            "cert cannot be combined with an SSLContext: load it into the context",
        ),
        ({"proxy": 5}, TypeError, "proxy must be a str, not int"),
        ({"headers": {"User-Agent": "x"}}, ValueError, "User-Agent: use user_agent"),
        ({"headers": {"host": "x"}}, ValueError, "headers must not contain host"),
        ({"headers": {"a b": "x"}}, ValueError, "invalid header: 'a b'"),
        ({"headers": {"X": "a\r\nY: b"}}, ValueError, "invalid header: 'X'"),
        ({"headers": {"X": 5}}, TypeError, "mapping of str to str"),
        ({"headers": "X: y"}, TypeError, "headers must be a mapping"),
    ],
)
def test_invalid_settings(make: Any, options: Any, error: Any, message: str) -> None:
    with pytest.raises(error) as caught:
        make(NAME, **options)
    assert message in str(caught.value)


def test_headers_are_sent(kind: str, site: Site) -> None:
    site.robots(body=FILE)
    headers = {"From": "bot@foo.example", "Accept": "text/plain", "X-Key": "k"}
    outcome(kind, site.url, headers=headers)
    sent = site.requests[0][1]
    assert {name: sent[name] for name in headers} == headers
    assert sent["User-Agent"] == NAME


def test_own_headers_are_not_sent_to_other_sites(kind: str, site: Site) -> None:
    site.robots(301, headers={"Location": "/r"})
    site.pages["/r"] = server.Answer(301, headers={"Location": f"http://localhost:{site.port}/s"})
    site.pages["/s"] = server.Answer(body=FILE)
    headers = {"Authorization": "Bearer x", "cookie": "a=b", "X-Key": "k"}
    assert reason_of(outcome(kind, site.url, headers=headers)) == "file"
    (_, first), (_, second), (_, third) = site.requests
    for sent in (first, second):
        assert (sent["Authorization"], sent["cookie"], sent["X-Key"]) == ("Bearer x", "a=b", "k")
    assert not {"authorization", "cookie", "x-key"} & {name.lower() for name in third}


# Proxies of the caller's client.


#: What libraries report if they cannot reach a proxy.
UNREACHED = {
    "requests": "proxy failed: ",
    "aiohttp": "proxy failed: ",
    # As if the site could not be reached.
    "httpx": "connection failed: ",
}


def _clients(url: str) -> dict[str, Any]:
    session = requests.Session()
    session.proxies = {"http": url, "https": url}
    return {"requests": session, "httpx": httpx.Client(proxy=url)}


@pytest.mark.parametrize("library", ["requests", "httpx"])
def test_proxy_of_the_callers_client(library: str, site: Site, unused: int) -> None:
    site.robots(body=FILE)
    with proxy.running(password="me:secret") as running:
        for url, reason in ((running.url_with("me:secret"), "file"), (running.url, "unreachable")):
            with _clients(url)[library] as http, RobotsClient(NAME, http=http) as client:
                assert reason_of(client.robots(site.url)) == reason
    with (
        _clients(f"http://127.0.0.1:{unused}")[library] as http,
        RobotsClient(NAME, http=http) as client,
    ):
        for scheme in ("http", "https"):
            why = client.robots(f"{scheme}://site.example").why
            assert why.startswith(UNREACHED[library])


@pytest.mark.parametrize("library", ["httpx", "aiohttp"])
def test_proxy_of_the_callers_async_client(library: str, site: Site, unused: int) -> None:
    site.robots(body=FILE)

    async def found(proxy_url: str, url: str) -> koster.Outcome:
        http: Any = ASYNC_HTTP_CLIENTS[library](proxy=proxy_url)  # type: ignore[call-arg]
        async with http, AsyncRobotsClient(NAME, http=http) as client:
            return await client.robots(url)

    async def main() -> None:
        with proxy.running(password="me:secret") as running:
            assert reason_of(await found(running.url_with("me:secret"), site.url)) == "file"
            assert reason_of(await found(running.url, site.url)) == "unreachable"
        for scheme in ("http", "https"):
            failed = await found(f"http://127.0.0.1:{unused}", f"{scheme}://site.example")
            assert failed.why.startswith(UNREACHED[library])

    anyio.run(main)
