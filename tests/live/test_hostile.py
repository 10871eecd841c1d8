"""Clients that mean harm, on real connections."""

from __future__ import annotations

import json
import logging
import socket
import time
from typing import Any

import httpx2
import pytest
import serving
from raw_http import is_well
from server import Answer, Site

from koster.service import Settings, _gate, _protocol

QUESTION = json.dumps({"robots": "", "urls": ["/"]}).encode()


HEAD = b"POST /v1/decide HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


def request(body: bytes = QUESTION, head: bytes = HEAD) -> bytes:
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


def exchange(url: str, *parts: bytes, pause: float = 0) -> bytes:
    """Send bytes, and return all that comes."""
    with serving.connected(url) as connection:
        for part in parts:
            try:
                connection.sendall(part)
            except (BrokenPipeError, ConnectionResetError):
                break
            time.sleep(pause)
        return serving.read_all(connection)


def test_bodies_of_ten_megabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer comes, also to those who read it only when they have sent all."""
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
        expecting = HEAD + b"Expect: 100-continue\r\nContent-Length: 9999999\r\n\r\n"
        assert exchange(url, expecting).startswith(b"HTTP/1.1 413")
        assert is_well(url)


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
        b"GET / HTTP/1.1\nHost: x\r\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"BREW / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\x00" * 100,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
        b"GET /healthz HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n",
    ],
    ids=range(16),
)
def test_what_is_no_proper_http(hostile: str, raw_bytes: bytes) -> None:
    answer = exchange(hostile, raw_bytes)
    assert answer.startswith(b"HTTP/1.1 400 "), answer
    assert b'"code": "not-http"' in answer


@pytest.fixture(scope="module")
def hostile() -> Any:
    with serving.in_thread() as url:
        yield url
        assert is_well(url)


def test_a_head_without_end(hostile: str) -> None:
    lines = [b"X-%d: %s\r\n" % (number, b"x" * 900) for number in range(200)]
    answer = exchange(hostile, HEAD, *lines)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 431 ")
    for size in (33_000, 60_000, 70_000, 200_000):
        answer = exchange(hostile, b"GET /" + b"x" * size + b" HTTP/1.1\r\nHost: x\r\n\r\n")
        assert answer == b"" or answer.startswith((b"HTTP/1.1 414 ", b"HTTP/1.1 431 ")), answer
    answer = exchange(hostile, b"GET /" + b"x" * 33_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 414 ")
    assert b'"code": "uri-too-long"' in answer
    long = b"GET /" + b"x" * 30_000 + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    assert exchange(hostile, long).startswith(b"HTTP/1.1 404 ")


@pytest.mark.parametrize(("size", "status"), [(60_000, 200), (65_300, 200), (65_700, 431)])
def test_a_large_head(hostile: str, size: int, status: int) -> None:
    fields = b"".join(b"X-%03d: %s\r\n" % (number, b"x" * 991) for number in range(size // 1_000))
    fields += b"X: %s\r\n" % (b"x" * (size % 1_000))
    answer = exchange(hostile, b"GET /healthz HTTP/1.0\r\nHost: x\r\n" + fields + b"\r\n")
    assert answer.startswith(b"HTTP/1.1 %d " % status)


def test_odd_but_proper_requests(hostile: str) -> None:
    pipelined = b"".join(
        request(json.dumps({"robots": "", "urls": [f"/{number}"]}).encode()) for number in range(20)
    )
    last = b"GET /healthz HTTP/1.0\r\n\r\n"
    answer = exchange(hostile, pipelined + last)
    assert answer.count(b"HTTP/1.1 200 OK") == 21
    places = [answer.index(b'"url":"/%d"' % number) for number in range(20)]
    assert places == sorted(places)
    upgrade = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n"
    assert exchange(hostile, upgrade).startswith(b"HTTP/1.1 200 OK")
    assert exchange(hostile, b"HEAD / HTTP/1.0\r\n\r\n").endswith(b"\r\n\r\n")
    absolute = b"GET http://other.example/healthz HTTP/1.0\r\n\r\n"
    assert exchange(hostile, absolute).startswith(b"HTTP/1.1 200 OK")


def test_a_refusal_waits_for_the_answers_before_it(hostile: str) -> None:
    """Else the first answer would belong to the last request."""
    for bad in (
        b"GET /healthz HTTP/1.1\r\n\r\n",
        b"GET http://[ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"BREW / HTTP/1.1\r\nHost: x\r\n\r\n",
    ):
        answer = exchange(hostile, request() + request() + bad + request())
        statuses = [part[:3] for part in answer.split(b"HTTP/1.1 ")[1:]]
        assert statuses == [b"200", b"200", b"400"], answer
    cut_off = HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"
    answer = exchange(hostile, request() + request() + cut_off + request())
    statuses = [part[:3] for part in answer.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [b"200", b"200", b"400"]


def test_trailers_and_chunks_are_no_way_around(hostile: str) -> None:
    chunked = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    trailers = [b"1\r\n{\r\n0\r\n", *[b"aaaaaaa:b\r\n" * 1_000] * 100]
    answer = exchange(hostile, chunked, *trailers)
    assert b" 431 " in answer or answer == b""
    endless = [b"1\r\n{\r\n0\r\ny:", *[b"x" * 10_000] * 100]
    answer = exchange(hostile, chunked, *endless)
    assert b" 431 " in answer or answer == b""
    extensions = [b"1;" + b"a" * 100_000 + b"\r\n{\r\n"] * 10
    answer = exchange(hostile, chunked, *extensions)
    assert b" 431 " in answer or b" 400 " in answer or answer == b""
    tiny = [b"1\r\nx\r\n" * 5_000] * 20
    answer = exchange(hostile, chunked, *tiny)
    assert answer == b"" or (b" 400 " in answer and b"small chunks" in answer)
    # Many small chunks are as good as a large one; trailers are no fields.
    body = b"".join(b"1\r\n%c\r\n" % byte for byte in QUESTION * 1)
    last = b"0\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n"
    answer = exchange(
        hostile, HEAD + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n" + body + last
    )
    assert answer.startswith(b"HTTP/1.1 200 OK"), answer


def test_requests_that_wait_behind_another_are_few(hostile: str) -> None:
    first = HEAD.replace(b"decide", b"audit")
    many = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * 20_000
    assert exchange(hostile, request(b'{"robots": ""}', first), many).count(b"HTTP/1.1 ") < 200


@pytest.mark.parametrize("protocol", [b"h2c", b"websocket", b"nonsense"])
def test_upgrades_smuggle_nothing(hostile: str, protocol: bytes) -> None:
    head = HEAD + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: " + protocol + b"\r\n"
    hidden = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    whole = head + b"Content-Length: %d\r\n\r\n" % len(hidden)
    for parts in ((whole + hidden,), (whole, hidden)):
        answer = exchange(hostile, *parts, pause=0.1)
        assert answer.count(b"HTTP/1.1 ") == 1, answer
        assert answer.startswith(b"HTTP/1.1 400 ")
    bare = (
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: "
        + protocol
        + b"\r\n\r\n"
    )
    answer = exchange(hostile, bare, hidden, pause=0.1)
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert answer.count(b"HTTP/1.1 ") == 1


def test_who_hangs_up_frees_the_worker() -> None:
    hard = json.dumps({"robots": "User-agent: *\n" + "Disallow: *9*x\n" * 60_000}).encode()
    with serving.in_thread() as url:
        for _ in range(5):
            with serving.connected(url) as connection:
                connection.sendall(request(hard, HEAD.replace(b"decide", b"audit")))
                time.sleep(0.1)
        began = time.monotonic()
        answer = httpx2.post(f"{url}/v1/lint", json={"robots": ""}, timeout=30)
        assert answer.status_code == 200
        # Else five times ten seconds.
        assert time.monotonic() - began < 20


def test_who_hangs_up_is_noticed_behind_another_request() -> None:
    hard = json.dumps({"robots": "User-agent: *\n" + "Disallow: *9*x\n" * 60_000}).encode()
    busy = request(hard, HEAD.replace(b"decide", b"audit"))
    with serving.in_thread() as url:
        with serving.connected(url) as connection:
            connection.sendall(busy + b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            time.sleep(0.5)
            assert b"koster_work_in_progress 1.0" in httpx2.get(f"{url}/metrics").content
        until = time.monotonic() + 6
        while True:
            # The page of metrics is made once a second.
            time.sleep(1.1)
            if b"koster_work_in_progress 0.0" in httpx2.get(f"{url}/metrics").content:
                break
            assert time.monotonic() < until


def test_one_client_has_its_share_of_the_workers() -> None:
    hard = json.dumps({"robots": "User-agent: *\n" + "Disallow: *9*x\n" * 60_000}).encode()
    with serving.in_thread(Settings(rate=0, work_timeout=4)) as url:
        asking = [serving.connected(url) for _ in range(12)]
        for connection in asking:
            connection.sendall(request(hard, HEAD.replace(b"decide", b"audit")))
        refused: set[socket.socket] = set()
        until = time.monotonic() + 10
        while len(refused) < 2 and time.monotonic() < until:
            refused |= {each for each in asking if each not in refused and _has_answer(each)}
        assert len(refused) == 2
        assert is_well(url)
        for connection in asking:
            connection.close()


def _has_answer(connection: socket.socket) -> bool:
    connection.settimeout(0.05)
    try:
        return connection.recv(100).startswith(b"HTTP/1.1 429 ")
    except TimeoutError:
        return False


def test_who_goes_away_is_no_fault(caplog: pytest.LogCaptureFixture) -> None:
    with serving.in_thread() as url:
        for part in (b"", HEAD, HEAD + b"Content-Length: 100\r\n\r\n{", request() * 5):
            for _ in range(5):
                connection = serving.connected(url)
                connection.sendall(part)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                connection.close()
        time.sleep(0.3)
        assert is_well(url)
    assert [each for each in caplog.records if each.levelno >= logging.ERROR] == []


def test_slow_clients_are_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_protocol, "TIMEOUT", 0.6)
    with serving.in_thread() as url:
        began = time.monotonic()
        assert exchange(url).startswith(b"HTTP/1.1 408 ")
        slow_head = (bytes([byte]) for byte in HEAD)
        assert exchange(url, *slow_head, pause=0.02).startswith(b"HTTP/1.1 408 ")
        slow_body = (bytes([byte]) for byte in b"x" * 100)
        answer = exchange(url, HEAD + b"Content-Length: 100\r\n\r\n", *slow_body, pause=0.02)
        assert answer.startswith(b"HTTP/1.1 408 ")
        # A second request is given as long as the first.
        answer = exchange(url, request(), b"POST /v1/")
        assert answer.startswith(b"HTTP/1.1 200 OK")
        assert b"HTTP/1.1 408 " in answer
        # Empty lines are no request, before the first one and after it.
        for first in (b"", request()):
            answer = exchange(url, first, *[b"\r\n"] * 100, pause=0.02)
            assert answer.count(b"HTTP/1.1 408 ") == 1
        assert time.monotonic() - began < 20
        assert is_well(url)


def test_who_does_not_read_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_protocol, "TIMEOUT", 0.5)
    with serving.in_thread() as url:
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            place = httpx2.URL(url)
            connection.connect((place.host, place.port))
            asking = b"GET /v1/agents HTTP/1.1\r\nHost: x\r\n\r\n"
            until = time.monotonic() + 10
            try:
                while time.monotonic() < until:
                    connection.sendall(asking * 20)
                    time.sleep(0.05)
                pytest.fail("it went on without end")
            except (BrokenPipeError, ConnectionResetError):
                pass
        assert is_well(url)


def test_slow_ones_hold_up_nobody(hostile: str) -> None:
    waiting = [serving.connected(hostile) for _ in range(200)]
    try:
        for connection in waiting:
            connection.sendall(HEAD + b"Content-Length: 100\r\n\r\n{")
        began = time.monotonic()
        assert all(is_well(hostile) for _ in range(5))
        assert time.monotonic() - began < 5
    finally:
        for connection in waiting:
            connection.close()


def held(url: str, number: int, *said: bytes, host: str = "127.0.0.1") -> list[socket.socket]:
    """Open connections one after the other, from an address, and say something on each."""
    place = httpx2.URL(url)
    found = []
    for _ in range(number):
        connection = socket.create_connection(
            (place.host, place.port or 80), timeout=5, source_address=(host, 0)
        )
        for part in said:
            connection.sendall(part)
        found.append(connection)
    HELD.extend(found)
    time.sleep(0.2)
    return found


HELD: list[socket.socket] = []


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Any:
    yield
    closed(HELD)
    HELD.clear()


def is_open(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1, socket.MSG_PEEK) != b""
    except BlockingIOError:
        return True
    except ConnectionResetError:
        return False


def closed(connections: list[socket.socket]) -> None:
    for connection in connections:
        connection.close()


def test_idle_connections_give_way() -> None:
    """First those of the client that has the most, the one that is idle longest first."""
    with serving.in_thread(max_connections=40) as url:
        others = held(url, 5, host="127.0.0.2")
        greedy = held(url, 35)
        assert all(map(is_open, others + greedy))
        assert is_well(url)
        assert [is_open(each) for each in others] == [True] * 5
        assert [is_open(each) for each in greedy] == [False] + [True] * 34
        closed(others + greedy)


def test_slow_senders_give_way_when_nobody_is_idle() -> None:
    with serving.in_thread(max_connections=20) as url:
        sending = held(url, 20, HEAD + b"Content-Length: 100\r\n\r\n{")
        assert is_well(url)
        assert exchange_on(sending[0]).startswith(b"HTTP/1.1 503 ")
        assert is_open(sending[1])
        closed(sending)


def exchange_on(connection: socket.socket) -> bytes:
    connection.settimeout(5)
    return serving.read_all(connection)


def test_monitoring_is_answered_when_all_connections_are_busy() -> None:
    hard = json.dumps({"robots": "User-agent: *\n" + "Disallow: *9*x\n" * 60_000}).encode()
    busy = request(hard, HEAD.replace(b"decide", b"audit"))
    with serving.in_thread(max_connections=4) as url:
        working = held(url, 4, busy)
        assert exchange(url, request()).startswith(b"HTTP/1.1 503 ")
        for path in ("healthz", "readyz", "metrics"):
            answer = exchange(url, f"GET /{path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            assert answer.startswith(b"HTTP/1.1 200 OK")
            assert b"\r\nconnection: close\r\n" in answer.lower()
        # More than the spare ones wait, and are answered when there is room.
        waiting = held(url, 30, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert all(exchange_on(each).startswith(b"HTTP/1.1 200 OK") for each in waiting)
        closed(working + waiting)


def test_a_client_may_have_some_connections() -> None:
    """Its idle ones give way to its new ones; others are not concerned."""
    with serving.in_thread(per_client=10) as url:
        idle = held(url, 10)
        assert is_well(url)
        assert [is_open(each) for each in idle] == [False] + [True] * 9
        closed(idle)
        time.sleep(0.2)
        sending = held(url, 10, HEAD)
        answer = exchange(url, request())
        assert answer.startswith(b"HTTP/1.1 429 ")
        assert b"too-many-connections" in answer
        assert b"Retry-After: 2" in answer
        other = held(url, 1, request(), host="127.0.0.2")
        other[0].shutdown(socket.SHUT_WR)
        assert other[0].recv(100).startswith(b"HTTP/1.1 200 OK")
        closed(sending + other)


def test_proxies_are_no_clients() -> None:
    with serving.in_thread(per_client=2, proxies=["127.0.0.2"]) as url:
        through = held(url, 20, HEAD, host="127.0.0.2")
        assert all(map(is_open, through))
        closed(through)


def test_who_is_no_proxy_is_not_believed() -> None:
    """X-Forwarded-For of others does not get around the rate limit."""
    settings = Settings(rate=2)
    with serving.in_thread(settings, proxies=["127.0.0.2"]) as url:

        def statuses(host: str) -> list[bytes]:
            answers = []
            for number in range(8):
                head = f"GET /v1/dialects HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.{number}"
                (connection,) = held(url, 1, head.encode() + b"\r\n\r\n", host=host)
                answers.append(connection.recv(4096)[9:12])
                connection.close()
            return answers

        assert b"429" in statuses("127.0.0.1")
        assert set(statuses("127.0.0.2")) == {b"200"}


def test_one_ipv6_network_is_one_client() -> None:
    from koster.service._connections import Connections
    from koster.service._metrics import Metrics

    all_of_them: Any = Connections(100, 3, Metrics())
    for number in range(3):
        all_of_them.add(BusyConnection(f"2001:db8:0:1:{number}::1"))
    assert all_of_them.rejection("2001:db8:0:1:ffff::9").status == 429
    assert all_of_them.rejection("2001:db8:0:2::9") is None
    assert all_of_them.rejection("::ffff:192.0.2.1") is None


class BusyConnection:
    def __init__(self, address: str) -> None:
        self.address = address

    is_idle = is_receiving = False


INJECTIONS = [
    "x\r\nX-Evil: 1", "x\nX-Evil: 1", "x%0d%0aX-Evil: 1", "x\r\n\r\n<script>", "x\u2028y", "x\x00y",
    "\u560a\u560dX-Evil: 1",
]  # fmt: skip


@pytest.mark.parametrize("text", INJECTIONS, ids=range(len(INJECTIONS)))
def test_nothing_gets_into_a_header(hostile: str, site: Site, text: str) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /")
    with httpx2.Client(base_url=hostile) as api:
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


def test_what_a_site_says_gets_into_no_header_and_no_markup(hostile: str, site: Site) -> None:
    evil = b"<script>alert(1)</script>"
    site.pages["/robots.txt"] = Answer(
        302, headers={"Location": "/<script>?x=%0d%0aX-Evil:%201", "Server": "<b>evil</b>"}
    )
    site.pages["/%3Cscript%3E?x=%0d%0aX-Evil:%201"] = Answer(200, b"User-agent: *\n" + evil)
    site.pages["/<script>?x=%0d%0aX-Evil:%201"] = Answer(200, b"User-agent: *\n" + evil)
    answer = httpx2.get(f"{hostile}/v1/fetch", params={"site": site.url})
    assert answer.status_code == 200
    assert "x-evil" not in answer.headers
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert evil.decode() in answer.json()["body"]
