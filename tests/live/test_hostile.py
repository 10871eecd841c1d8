"""Hostile clients, on real connections."""

from __future__ import annotations

import json
import logging
import socket
import time
from typing import Any

import httpx2
import pytest

from koster.service import ServiceSettings, _gate, _protocol
from tests.helpers import serving
from tests.helpers.raw_http import is_responsive
from tests.helpers.server import Answer, Site

REQUEST_BODY = json.dumps({"robots": "", "urls": ["/"]}).encode()


HEAD = b"POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def request(body: bytes = REQUEST_BODY, head: bytes = HEAD) -> bytes:
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


def hard_request() -> bytes:
    body = json.dumps({"robots": serving.hard()}).encode()
    return request(body, HEAD.replace(b"decide", b"lint"))


def exchange(url: str, *parts: bytes, pause: float = 0) -> bytes:
    """Send bytes, and return the whole response."""
    with serving.connected(url) as connection:
        for part in parts:
            try:
                connection.sendall(part)
            except (BrokenPipeError, ConnectionResetError):
                break
            time.sleep(pause)
        return serving.read_all(connection)


def test_ten_megabyte_bodies_get_413(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients that read only after sending the whole body get the response too."""
    with serving.in_thread() as url:
        ten = b"x" * (10 << 20)
        for body in (ten, json.dumps({"robots": "x" * len(ten), "urls": ["/"]}).encode()):
            answer = httpx2.post(
                f"{url}/v1/decide", content=body, headers={"Content-Type": "application/json"}
            )
            assert (answer.status_code, answer.json()["code"]) == (413, "body-too-large")
            parts = (body[at : at + 65_536] for at in range(0, len(body), 65_536))
            answer = httpx2.post(
                f"{url}/v1/decide", content=parts, headers={"Content-Type": "application/json"}
            )
            assert (answer.status_code, answer.json()["code"]) == (413, "body-too-large")
        monkeypatch.setattr(_gate, "_DRAIN_SECONDS", 0.3)
        assert exchange(url, HEAD + b"Content-Length: 99999999999\r\n\r\n", b"x").startswith(
            b"HTTP/1.1 413"
        )
        expect_continue = HEAD + b"Expect: 100-continue\r\nContent-Length: 9999999\r\n\r\n"
        assert exchange(url, expect_continue).startswith(b"HTTP/1.1 413")
        assert is_responsive(url)


@pytest.mark.parametrize(
    "raw_bytes",
    [
        HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x",
        HEAD + b"Content-Length: -1\r\n\r\n",
        HEAD + b"Content-Length: +2\r\n\r\n{}",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        HEAD + b"X\x00: y\r\n\r\n",
        HEAD + b"X : y\r\n\r\n",
        b"GET / HTTP/1.1\nHost: localhost\r\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"BREW / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\x00" * 100,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        b"GET /healthz HTTP/1.0\r\nHost: localhost\r\nHost: y\r\n\r\n",
    ],
    ids=range(16),
)
def test_malformed_http_gets_400(service_url: str, raw_bytes: bytes) -> None:
    answer = exchange(service_url, raw_bytes)
    assert answer.startswith(b"HTTP/1.1 400 "), answer
    assert b'"code": "not-http"' in answer


@pytest.fixture(scope="module")
def service_url() -> Any:
    with serving.in_thread() as url:
        yield url
        assert is_responsive(url)


def test_endless_request_head(service_url: str) -> None:
    lines = [b"X-%d: %s\r\n" % (number, b"x" * 900) for number in range(200)]
    answer = exchange(service_url, HEAD, *lines)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 431 ")
    for size in (17_000, 60_000, 70_000, 200_000):
        answer = exchange(
            service_url, b"GET /" + b"x" * size + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
        )
        assert answer == b"" or answer.startswith((b"HTTP/1.1 414 ", b"HTTP/1.1 431 ")), answer
    answer = exchange(
        service_url, b"GET /" + b"x" * 17_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
    )
    assert answer.startswith(b"HTTP/1.1 414 ")
    assert b'"code": "uri-too-long"' in answer
    long = b"GET /" + b"x" * 15_000 + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    assert exchange(service_url, long).startswith(b"HTTP/1.1 404 ")


@pytest.mark.parametrize(("size", "status"), [(60_000, 200), (65_300, 200), (65_700, 431)])
def test_large_request_head(service_url: str, size: int, status: int) -> None:
    fields = b"".join(b"X-%03d: %s\r\n" % (number, b"x" * 991) for number in range(size // 1_000))
    fields += b"X: %s\r\n" % (b"x" * (size % 1_000))
    answer = exchange(
        service_url, b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n" + fields + b"\r\n"
    )
    assert answer.startswith(b"HTTP/1.1 %d " % status)


def test_unusual_but_valid_requests(service_url: str) -> None:
    pipelined = b"".join(
        request(json.dumps({"robots": "", "urls": [f"/{number}"]}).encode()) for number in range(20)
    )
    last = b"GET /healthz HTTP/1.0\r\n\r\n"
    answer = exchange(service_url, pipelined + last)
    assert answer.count(b"HTTP/1.1 200 OK") == 21
    places = [answer.index(b'"url":"/%d"' % number) for number in range(20)]
    assert places == sorted(places)
    upgrade = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n"
    assert exchange(service_url, upgrade).startswith(b"HTTP/1.1 200 OK")
    assert exchange(service_url, b"HEAD / HTTP/1.0\r\n\r\n").endswith(b"\r\n\r\n")
    absolute = b"GET http://localhost/healthz HTTP/1.0\r\n\r\n"
    assert exchange(service_url, absolute).startswith(b"HTTP/1.1 200 OK")


def test_rejections_are_sent_after_earlier_responses(service_url: str) -> None:
    """Otherwise the rejection would be taken for the response to an earlier request."""
    for bad in (
        b"GET /healthz HTTP/1.1\r\n\r\n",
        b"GET http://[ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ):
        answer = exchange(service_url, request() + request() + bad + request())
        statuses = [part[:3] for part in answer.split(b"HTTP/1.1 ")[1:]]
        assert statuses == [b"200", b"200", b"400"], answer
    cut_off = HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"
    answer = exchange(service_url, request() + request() + cut_off + request())
    statuses = [part[:3] for part in answer.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [b"200", b"200", b"400"]


def test_trailers_and_chunks_do_not_bypass_limits(service_url: str) -> None:
    chunked = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    trailers = [b"1\r\n{\r\n0\r\n", *[b"aaaaaaa:b\r\n" * 1_000] * 100]
    answer = exchange(service_url, chunked, *trailers)
    assert b" 431 " in answer or answer == b""
    endless = [b"1\r\n{\r\n0\r\ny:", *[b"x" * 10_000] * 100]
    answer = exchange(service_url, chunked, *endless)
    assert b" 431 " in answer or answer == b""
    extensions = [b"1;" + b"a" * 100_000 + b"\r\n{\r\n"] * 10
    answer = exchange(service_url, chunked, *extensions)
    assert b" 431 " in answer or b" 400 " in answer or answer == b""
    tiny = [b"1\r\nx\r\n" * 5_000] * 20
    answer = exchange(service_url, chunked, *tiny)
    assert answer == b"" or (b" 400 " in answer and b"small chunks" in answer)
    # Small chunks are equivalent to a large one; trailers are not header fields.
    body = b"".join(b"1\r\n%c\r\n" % byte for byte in REQUEST_BODY * 1)
    last = b"0\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n"
    answer = exchange(
        service_url, HEAD + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n" + body + last
    )
    assert answer.startswith(b"HTTP/1.1 200 OK"), answer


def test_pipelined_requests_are_limited(service_url: str) -> None:
    first = HEAD.replace(b"decide", b"audit")
    many = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20_000
    assert exchange(service_url, request(b'{"robots": ""}', first), many).count(b"HTTP/1.1 ") < 200


@pytest.mark.parametrize("protocol", [b"h2c", b"websocket", b"nonsense"])
def test_upgrades_cannot_smuggle_requests(service_url: str, protocol: bytes) -> None:
    head = HEAD + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: " + protocol + b"\r\n"
    hidden = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    whole = head + b"Content-Length: %d\r\n\r\n" % len(hidden)
    for parts in ((whole + hidden,), (whole, hidden)):
        answer = exchange(service_url, *parts, pause=0.1)
        assert answer.count(b"HTTP/1.1 ") == 1, answer
        assert answer.startswith(b"HTTP/1.1 400 ")
    bare = (
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: "
        + protocol
        + b"\r\n\r\n"
    )
    answer = exchange(service_url, bare, hidden, pause=0.1)
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert answer.count(b"HTTP/1.1 ") == 1


def test_disconnect_frees_the_worker() -> None:
    with serving.in_thread() as url:
        for _ in range(5):
            with serving.connected(url) as connection:
                connection.sendall(hard_request())
                time.sleep(0.1)
        start = time.monotonic()
        answer = httpx2.post(f"{url}/v1/lint", json={"robots": ""}, timeout=30)
        assert answer.status_code == 200
        # Without it, five times ten seconds.
        assert time.monotonic() - start < 20


def test_disconnect_is_detected_with_a_pipelined_request() -> None:
    busy = hard_request()
    with serving.in_thread() as url:
        with serving.connected(url) as connection:
            connection.sendall(busy + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            time.sleep(0.5)
            assert b"koster_work_in_progress 1.0" in httpx2.get(f"{url}/metrics").content
        until = time.monotonic() + 6
        while True:
            # The metrics are updated once per second.
            time.sleep(1.1)
            if b"koster_work_in_progress 0.0" in httpx2.get(f"{url}/metrics").content:
                break
            assert time.monotonic() < until


def test_one_client_cannot_use_all_workers() -> None:
    with serving.in_thread(ServiceSettings(rate=0, work_timeout=4)) as url:
        connections = [serving.connected(url) for _ in range(12)]
        for connection in connections:
            connection.sendall(hard_request())
        rejected: set[socket.socket] = set()
        until = time.monotonic() + 10
        while len(rejected) < 2 and time.monotonic() < until:
            rejected |= {each for each in connections if each not in rejected and _has_answer(each)}
        assert len(rejected) == 2
        assert is_responsive(url)
        for connection in connections:
            connection.close()


def _has_answer(connection: socket.socket) -> bool:
    connection.settimeout(0.05)
    try:
        return connection.recv(100).startswith(b"HTTP/1.1 429 ")
    except TimeoutError:
        return False


def test_disconnects_are_not_logged_as_errors(caplog: pytest.LogCaptureFixture) -> None:
    with serving.in_thread() as url:
        for part in (b"", HEAD, HEAD + b"Content-Length: 100\r\n\r\n{", request() * 5):
            for _ in range(5):
                connection = serving.connected(url)
                connection.sendall(part)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                connection.close()
        time.sleep(0.3)
        assert is_responsive(url)
    assert [each for each in caplog.records if each.levelno >= logging.ERROR] == []


def test_slow_clients_time_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_protocol, "TIMEOUT", 0.6)
    with serving.in_thread() as url:
        start = time.monotonic()
        assert exchange(url).startswith(b"HTTP/1.1 408 ")
        slow_head = (bytes([byte]) for byte in HEAD)
        assert exchange(url, *slow_head, pause=0.02).startswith(b"HTTP/1.1 408 ")
        slow_body = (bytes([byte]) for byte in b"x" * 100)
        answer = exchange(url, HEAD + b"Content-Length: 100\r\n\r\n", *slow_body, pause=0.02)
        assert answer.startswith(b"HTTP/1.1 408 ")
        # A second request has the same timeout as the first.
        answer = exchange(url, request(), b"POST /v1/")
        assert answer.startswith(b"HTTP/1.1 200 OK")
        assert b"HTTP/1.1 408 " in answer
        # Empty lines before and after a request do not count as requests.
        for first in (b"", request()):
            answer = exchange(url, first, *[b"\r\n"] * 100, pause=0.02)
            assert answer.count(b"HTTP/1.1 408 ") == 1
        assert time.monotonic() - start < 20
        assert is_responsive(url)


def test_clients_that_do_not_read_are_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_protocol, "TIMEOUT", 0.5)
    with serving.in_thread() as url:
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            parsed_url = httpx2.URL(url)
            connection.connect((parsed_url.host, parsed_url.port))
            agents_request = b"GET /v1/agents HTTP/1.1\r\nHost: localhost\r\n\r\n"
            until = time.monotonic() + 10
            try:
                while time.monotonic() < until:
                    connection.sendall(agents_request * 20)
                    time.sleep(0.05)
                pytest.fail("the connection was not closed")
            except (BrokenPipeError, ConnectionResetError):
                pass
        assert is_responsive(url)


def test_slow_clients_do_not_delay_others(service_url: str) -> None:
    waiting_connections = [serving.connected(service_url) for _ in range(200)]
    try:
        for connection in waiting_connections:
            connection.sendall(HEAD + b"Content-Length: 100\r\n\r\n{")
        start = time.monotonic()
        assert all(is_responsive(service_url) for _ in range(5))
        assert time.monotonic() - start < 5
    finally:
        for connection in waiting_connections:
            connection.close()


def open_connections(
    url: str, number: int, *parts: bytes, host: str = "127.0.0.1"
) -> list[socket.socket]:
    """Open connections from an address, and send the parts on each."""
    parsed_url = httpx2.URL(url)
    connections = []
    for _ in range(number):
        connection = socket.create_connection(
            (parsed_url.host, parsed_url.port or 80), timeout=5, source_address=(host, 0)
        )
        for part in parts:
            connection.sendall(part)
        connections.append(connection)
    OPEN_CONNECTIONS.extend(connections)
    time.sleep(0.2)
    return connections


OPEN_CONNECTIONS: list[socket.socket] = []


@pytest.fixture(autouse=True)
def _close_connections() -> Any:
    yield
    close_all(OPEN_CONNECTIONS)
    OPEN_CONNECTIONS.clear()


def is_open(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1, socket.MSG_PEEK) != b""
    except BlockingIOError:
        return True
    except ConnectionResetError:
        return False


def close_all(connections: list[socket.socket]) -> None:
    for connection in connections:
        connection.close()


def test_idle_connections_are_closed_for_new_ones() -> None:
    """The connection of the client with the most connections that is idle longest goes first."""
    with serving.in_thread(max_connections=40) as url:
        others = open_connections(url, 5, host="127.0.0.2")
        greedy = open_connections(url, 35)
        assert all(map(is_open, others + greedy))
        assert is_responsive(url)
        assert [is_open(each) for each in others] == [True] * 5
        assert [is_open(each) for each in greedy] == [False] + [True] * 34
        close_all(others + greedy)


def test_slow_senders_are_closed_when_no_connection_is_idle() -> None:
    with serving.in_thread(max_connections=20) as url:
        sending_connections = open_connections(url, 20, HEAD + b"Content-Length: 100\r\n\r\n{")
        assert is_responsive(url)
        assert exchange_on(sending_connections[0]).startswith(b"HTTP/1.1 503 ")
        assert is_open(sending_connections[1])
        close_all(sending_connections)


def exchange_on(connection: socket.socket) -> bytes:
    connection.settimeout(5)
    return serving.read_all(connection)


def test_monitoring_works_when_all_connections_are_busy() -> None:
    busy = hard_request()
    with serving.in_thread(max_connections=4) as url:
        busy_connections = open_connections(url, 4, busy)
        assert exchange(url, request()).startswith(b"HTTP/1.1 503 ")
        for path in ("healthz", "readyz", "metrics"):
            answer = exchange(url, f"GET /{path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            assert answer.startswith(b"HTTP/1.1 200 OK")
            assert b"\r\nconnection: close\r\n" in answer.lower()
        # Connections over the reserve wait until one is free.
        waiting_connections = open_connections(
            url, 30, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        )
        assert all(exchange_on(each).startswith(b"HTTP/1.1 200 OK") for each in waiting_connections)
        close_all(busy_connections + waiting_connections)


def test_connection_limit_per_client() -> None:
    """Over the limit, its idle connections are closed for new ones; other clients are unaffected."""
    with serving.in_thread(per_client=10) as url:
        idle = open_connections(url, 10)
        assert is_responsive(url)
        assert [is_open(each) for each in idle] == [False] + [True] * 9
        close_all(idle)
        time.sleep(0.2)
        sending_connections = open_connections(url, 10, HEAD)
        answer = exchange(url, request())
        assert answer.startswith(b"HTTP/1.1 429 ")
        assert b"too-many-connections" in answer
        assert b"Retry-After: 2" in answer
        other = open_connections(url, 1, request(), host="127.0.0.2")
        other[0].shutdown(socket.SHUT_WR)
        assert other[0].recv(100).startswith(b"HTTP/1.1 200 OK")
        close_all(sending_connections + other)


def test_connection_limit_does_not_apply_to_proxies() -> None:
    with serving.in_thread(per_client=2, proxies=["127.0.0.2"]) as url:
        proxy_connections = open_connections(url, 20, HEAD, host="127.0.0.2")
        assert all(map(is_open, proxy_connections))
        close_all(proxy_connections)


def test_forwarded_for_is_ignored_from_untrusted_clients() -> None:
    """X-Forwarded-For does not bypass the rate limit unless a trusted proxy sends it."""
    settings = ServiceSettings(rate=2)
    with serving.in_thread(settings, proxies=["127.0.0.2"]) as url:

        def statuses(host: str) -> list[bytes]:
            answers = []
            for number in range(8):
                head = f"GET /v1/dialects HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 192.0.2.{number}"
                (connection,) = open_connections(url, 1, head.encode() + b"\r\n\r\n", host=host)
                answers.append(connection.recv(4096)[9:12])
                connection.close()
            return answers

        assert b"429" in statuses("127.0.0.1")
        assert set(statuses("127.0.0.2")) == {b"200"}


def test_one_ipv6_network_is_one_client() -> None:
    from koster.service._connections import Connections
    from koster.service._metrics import Metrics

    connections: Any = Connections(100, 3, Metrics())
    for number in range(3):
        connections.add(BusyConnection(f"2001:db8:0:1:{number}::1"))
    assert connections.rejection("2001:db8:0:1:ffff::9").status == 429
    assert connections.rejection("2001:db8:0:2::9") is None
    assert connections.rejection("::ffff:192.0.2.1") is None


class BusyConnection:
    def __init__(self, address: str) -> None:
        self.address = address

    is_idle = is_receiving = False


INJECTIONS = [
    "x\r\nX-Evil: 1", "x\nX-Evil: 1", "x%0d%0aX-Evil: 1", "x\r\n\r\n<script>", "x\u2028y", "x\x00y",
    "\u560a\u560dX-Evil: 1",
]  # fmt: skip


@pytest.mark.parametrize("text", INJECTIONS, ids=range(len(INJECTIONS)))
def test_input_cannot_inject_headers(service_url: str, site: Site, text: str) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /")
    with httpx2.Client(base_url=service_url) as api:
        answers = [
            api.post("/v1/decide", json={"robots": text, "agents": [text], "urls": [text]}),
            api.get("/v1/check", params={"url": f"{site.url}/{text}", "agent": text}),
            api.get("/v1/fetch", params={"site": f"{site.url}{text}"}),
            api.get("/v1/fetch", params={"site": f"http://{text}@127.0.0.1:{site.port}/"}),
            api.post("/v1/lint", json={"site": f"{site.url}/{text}", "dialects": [text]}),
            api.get("/" + text.encode("utf-8").hex(), headers={"X-Forwarded-For": "127.0.0.1"}),
        ]
    for answer in answers:
        assert answer.status_code in (200, 404, 422)
        assert "x-evil" not in answer.headers
        assert answer.headers["content-type"] in ("application/json", "application/problem+json")
    for _, headers in site.requests:
        assert "X-Evil" not in headers


def test_site_responses_cannot_inject_headers_or_markup(service_url: str, site: Site) -> None:
    evil = b"<script>alert(1)</script>"
    site.pages["/robots.txt"] = Answer(
        302, headers={"Location": "/<script>?x=%0d%0aX-Evil:%201", "Server": "<b>evil</b>"}
    )
    site.pages["/%3Cscript%3E?x=%0d%0aX-Evil:%201"] = Answer(200, b"User-agent: *\n" + evil)
    site.pages["/<script>?x=%0d%0aX-Evil:%201"] = Answer(200, b"User-agent: *\n" + evil)
    answer = httpx2.get(f"{service_url}/v1/fetch", params={"site": site.url})
    assert answer.status_code == 200
    assert "x-evil" not in answer.headers
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert evil.decode() in answer.json()["body"]
