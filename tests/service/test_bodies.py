"""Bodies with a Content-Encoding, and HEAD."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from koster.service import ServiceSettings
from tests.helpers import serving
from tests.helpers.api import problem
from tests.helpers.server import Site

QUESTION = {"robots": "User-agent: *\nDisallow: /a\n", "urls": ["/a", "/b"]}
BODY = json.dumps(QUESTION).encode()
#: The maximum size of a body.
LIMIT = ServiceSettings().max_body


def raw_deflate(body: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-15)
    return compressor.compress(body) + compressor.flush()


def send(api: httpx2.Client, body: bytes, coding: str, **others: str) -> httpx2.Response:
    headers = {"Content-Type": "application/json", "Content-Encoding": coding, **others}
    return api.post("/v1/decide", content=body, headers=headers)


def in_chunks(body: bytes, size: int = 7) -> Iterator[bytes]:
    for at in range(0, len(body), size):
        yield body[at : at + size]


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(BODY)),
        ("x-gzip", gzip.compress(BODY)),
        ("GZIP", gzip.compress(BODY)),
        ("gzip", gzip.compress(BODY[:20]) + gzip.compress(BODY[20:])),
        ("deflate", zlib.compress(BODY)),
        ("deflate", raw_deflate(BODY)),
        ("identity", BODY),
        ("", BODY),
        ("gzip, identity", gzip.compress(BODY)),
    ],
)
def test_bodies_are_decoded(api: httpx2.Client, coding: str, body: bytes) -> None:
    expected = api.post("/v1/decide", json=QUESTION).json()
    assert send(api, body, coding).json() == expected
    # Without its length.
    assert send(api, in_chunks(body), coding).json() == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("coding", "body", "why"),
    [
        ("gzip", gzip.compress(BODY)[:-1], "ends too early"),
        ("gzip", gzip.compress(BODY)[:15], "ends too early"),
        ("gzip", b"\x1f", "ends too early"),
        ("deflate", zlib.compress(BODY)[:-1], "ends too early"),
        ("deflate", raw_deflate(BODY)[:-3], "ends too early"),
        ("gzip", BODY, "damaged"),
        ("gzip", zlib.compress(BODY), "damaged"),
        ("gzip", gzip.compress(BODY)[:-8] + bytes(8), "damaged"),
        ("deflate", gzip.compress(BODY), "damaged"),
        ("deflate", zlib.compress(BODY)[:-4] + b"nope", "damaged"),
        ("gzip", gzip.compress(b"") * 101, "damaged"),
    ],
)
def test_bodies_that_cannot_be_decoded(
    api: httpx2.Client, coding: str, body: bytes, why: str
) -> None:
    for content in (body, in_chunks(body)):
        details = problem(send(api, content, coding), 400, "not-decoded")  # type: ignore[arg-type]
        assert why in details["detail"]


@pytest.mark.parametrize("coding", ["br", "zstd", "compress", "nope", "gzip, gzip", "gzip, br"])
def test_unknown_codings(api: httpx2.Client, coding: str) -> None:
    answer = send(api, BODY, coding)
    problem(answer, 415, "unknown-coding")
    assert answer.headers["accept-encoding"] == "gzip, deflate"


def test_the_limit_counts_decoded_bytes(api: httpx2.Client) -> None:
    padded = BODY + b" " * (LIMIT - len(BODY))
    for coding, encode in (("gzip", gzip.compress), ("deflate", zlib.compress)):
        assert send(api, encode(padded), coding).status_code == 200
        for body in (encode(padded + b" "), encode(padded * 20)):
            assert len(body) < 30_000
            problem(send(api, body, coding), 413, "body-too-large")
            # More than a thousand smaller chunks are another problem.
            problem(send(api, in_chunks(body, 70), coding), 413, "body-too-large")  # type: ignore[arg-type]
    problem(send(api, b"\0" * (LIMIT + 1), "gzip"), 413, "body-too-large")


def test_an_empty_body_has_no_coding(api: httpx2.Client) -> None:
    problem(send(api, b"", "gzip"), 422, "invalid")
    assert api.get("/healthz", headers={"Content-Encoding": "gzip"}).status_code == 200


#: They differ with each answer, or are about the connection.
VARYING = ("date", "x-request-id")


def headers_of(answer: httpx2.Response) -> dict[str, Any]:
    return {name: text for name, text in answer.headers.items() if name not in VARYING}


@pytest.mark.parametrize(
    "path",
    [
        "/", "/static/api.js", "/openapi.json", "/healthz", "/readyz", "/v1/agents",
        "/v1/agents?purpose=training", "/v1/dialects", "/v1/presets",
        "/v1/check", "/v1/agents?x=1", "/v1/decide", "/v1/files", "/nowhere", "/static/nothing",
    ],
)  # fmt: skip
def test_head_has_the_headers_of_get_and_no_body(api: httpx2.Client, path: str) -> None:
    answer, expected = api.head(path), api.get(path)
    assert answer.status_code == expected.status_code
    assert headers_of(answer) == headers_of(expected)
    assert int(answer.headers["content-length"]) == len(expected.content) > 0
    assert answer.content == b""


def test_head_asks_like_get(api: httpx2.Client, site: Site) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /a\n")
    for path in (f"/v1/check?url={site.url}/a", f"/v1/fetch?site={site.url}"):
        answer, expected = api.head(path), api.get(path)
        assert answer.status_code == expected.status_code == 200
        assert headers_of(answer) == headers_of(expected)


def test_head_on_a_kept_connection() -> None:
    """Another request follows at once: a body would be read as its answer."""
    with serving.in_thread() as url, serving.connected(url) as connection:
        host = url.removeprefix("http://")
        for path in ("/metrics", "/v1/agents", "/nowhere"):
            for method in ("HEAD", "GET"):
                head = f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n"
                connection.sendall(f"{head}\r\n".encode())
        connection.sendall(f"HEAD /healthz HTTP/1.1\r\nHost: {host}\r\nA: {'b' * 100_000}".encode())
        received = serving.read_all(connection)
    assert received.count(b"HTTP/1.1 ") == 7
    # The protocol itself rejects the last one.
    start, _, rest = received[received.rindex(b"HTTP/1.1 ") :].partition(b"\r\n\r\n")
    assert (start.startswith(b"HTTP/1.1 431"), rest) == (True, b"")


def test_methods_that_are_not_allowed_list_those_that_are(api: httpx2.Client) -> None:
    for path, allowed in (("/v1/agents", "GET, HEAD"), ("/", "GET, HEAD"), ("/v1/lint", "POST")):
        answer = api.request("DELETE", path)
        problem(answer, 405, "method-not-allowed")
        assert answer.headers["allow"] == allowed
