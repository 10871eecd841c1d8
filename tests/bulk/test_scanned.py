"""Archives read as columns: the same as read record by record, whatever is odd or broken."""

from __future__ import annotations

import gzip
import io
import random
from typing import Any

import pytest

from koster.bulk import _archives, _members, _scanned
from koster.bulk._batches import BadRecords, Batch
from koster.errors import UnreadableError
from tests.helpers import archives
from tests.helpers.archives import ROBOTS, Fetch, by_hand
from tests.helpers.support import sampled

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
URI = "WARC-Target-URI: https://e.com/robots.txt"
DATE = "WARC-Date: 2026-11-01T00:00:00Z"


def content(data: bytes) -> tuple[list[Any], BadRecords]:
    """Return the fetches in an archive as Python values, and its broken records."""
    bad = BadRecords()
    found: list[Any] = []
    try:
        for batch in _archives.batches_of(io.BytesIO(data), "CC-MAIN-2026-01.warc", "name", bad):
            found += rows(batch)
    except UnreadableError as error:
        found.append(str(error))
    return found, bad


def rows(batch: Batch) -> list[Any]:
    bodies = [column.to_pylist() for column in (batch.bodies, batch.served)]
    return list(zip(batch.passthrough.to_pylist(), *bodies, strict=True))


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that compares both ways to read, and returns how many were scanned."""
    scan = _scanned.scan

    def compare(data: bytes) -> int:
        scanned = 0

        def counted(*arguments: Any) -> Any:
            nonlocal scanned
            for part in scan(*arguments):
                scanned += len(part.piece.bodies)
                yield part

        monkeypatch.setattr(_archives, "scan", counted)
        found = content(data)
        monkeypatch.setattr(_archives, "scan", lambda *_: iter(()))
        assert found == content(data)
        return scanned

    return compare


def members(*blocks: bytes) -> bytes:
    return b"".join(gzip.compress(block, mtime=0) for block in blocks)


def fetch(head: bytes, body: bytes = ROBOTS, *headers: str) -> bytes:
    return by_hand(head + b"\r\n" + body, *(headers or (URI, DATE)))


def test_usual_archives_are_scanned(check: Any) -> None:
    data, _ = archives.archive(archives.sites(300))
    assert check(data) == 300


BODIES = [
    b"", b"\n", ROBOTS, b"<html>", b" \t\r\n<!doctype html>", b"%PDF-1.7", b"GIF89a", b"Google: x",
    b"\xef\xbb\xbf" + ROBOTS, ROBOTS.decode().encode("utf-16"), b"# \xe4\n", "# ä\n".encode(),
    b"\0" * 300, ROBOTS + b"\0", bytes(range(32)) * 3, b"# \x1b[1m\x7f\n", b"\x1f\x8b\x08", b"#\x0c",
    b"# " + b"x" * 600_000, b"a\n" * 300_000, b"PK\x03\x04", b"\x89PNG", b"\x7fELF",
]  # fmt: skip
TYPES = [
    b"text/plain; charset=ISO-8859-1", b"text/plain;charset=utf-16", b"text/html", b"x", b"/",
    b"application/json", b"Application/Octet-Stream", b"\xe4", b"text/plain\t; charset=\"\"", b"",
]  # fmt: skip


@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
def test_bodies(check: Any, body: bytes) -> None:
    heads = [b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\n" % each for each in TYPES]
    heads += [b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 404 Not Found\r\n"]
    # Large bodies say nothing about the heads.
    heads = heads if len(body) < 500_000 else heads[::5]
    cut = (URI, DATE, "WARC-Truncated: length")
    records = [fetch(head, body, *more) for head in heads for more in ((URI, DATE), cut)]
    assert check(members(*records)) == len(records)


HEADS = [
    b"HTTP/1.1 200 OK\r\n", b"HTTP/1.0 200\r\n", b"HTTP/1.2 200 OK\r\n", b"HTTP/2 200\r\n",
    b"HTTP/1.1 099 Odd\r\n", b"HTTP/1.1 2000 OK\r\n", b"HTTP/1.1 2x0 OK\r\n", b"HTTP/1.1 999 X\r\n",
    b"http/1.1 200 OK\r\n", b"HTTP/1.1  200 OK\r\n", b"HTTP/1.1 200 OK\n", b"ICY 200 OK\r\n", b"\r\n",
    OK + b"content-TYPE: text/html\r\n", OK + b"Content-Type : x/y\r\n", OK + b"X:\r\n", OK + b":x\r\n",
    OK + b" folded: x\r\n", OK + b"X: y\r\n\tz\r\n", OK + b"no colon\r\n", OK + b"X: y\nZ: z\r\n",
    OK + b"X: " + b"y" * 9_000 + b"\r\n", OK + b"Server: \xe4\0\r\n", OK + b"\xe4: x\r\n",
    OK + b"Content-Encoding: gzip\r\n", OK + b"Transfer-Encoding: chunked\r\n",
    OK + b"Content-Encoding: \r\n", b"HTTP/1.1 200 OK\r\nContent-Type:x/y  \t\r\n",
    b"HTTP/1.1 301 Moved\r\nLocation: /x\r\n", b"HTTP/1.1 302 Found\r\nLocation: http://[\r\n",
    b"HTTP/1.1 304 Same\r\nLocation: /x\r\n", b"HTTP/1.1 307 There\r\nLocation: \xc3\xa4\r\n",
    b"HTTP/1.1 308 There\r\nlocation: http://x.org/\r\n", b"HTTP/1.1 302 Found\r\n",
    b"HTTP/1.1 301 Moved\r\nLocation: /x\r\nLocation: /y\r\n", b"HTTP/1.1 200 OK\r\nLocation: /x\r\n",
    b"HTTP/1.1 401 Who\r\n", b"HTTP/1.1 429 Slow\r\n", b"HTTP/1.1 503 Busy\r\n",
]  # fmt: skip


@pytest.mark.parametrize("head", HEADS, ids=range(len(HEADS)))
def test_http_headers(check: Any, head: bytes) -> None:
    usual = fetch(OK)
    found = members(usual, fetch(head), usual, by_hand(head, URI, DATE), usual)
    assert check(found) >= 3


HEADERS = [
    (URI,), (DATE,), (URI, DATE, URI), (URI, DATE, DATE), (URI, DATE, "X: y"), (URI, DATE, "X"),
    (URI, DATE, " folded"), (URI, DATE, "Content-Length: 1"), (URI, DATE, "WARC-Type: metadata"),
    (URI, DATE, "warc-truncated: time"), (URI, DATE, "WARC-Truncated: "), (URI, DATE, "X: ä"),
    *((URI, f"WARC-Date: {each}") for each in (
        "2026-11-01T00:00:00.5Z", "2026-11-01T00:00:00.123456Z", "2026-11-01T00:00:00.123456+",
        "2026-11-01T00:00:00.x23456Z", "2026-11-01T00:00:00,123456Z", "2026-11-01T00:00:00X",
        "2026-11-01", "2026-11-01T00:00:00+01:00", "2026-13-41T00:00:00Z",
        "2026-02-29T00:00:00Z", "2028-02-29T23:59:59Z", "0026-11-01T00:00:00Z", "2026-11-01t00:00:00z",
        "2026", "2026-03", "2026-03-01T12", "2026-03-01T12:34", "2026-03-01T12:34Z", "2026Z",
        *(f"2026-03-01T12:34:56.{'123456789'[:digits]}Z" for digits in range(11)),
        "2026-11-01T00:00:60Z", "x026-11-01T00:00:00Z", "20x6-11-01T00:00:00Z", "1969-12-31T00:00:00Z",
    )),
    *((DATE, f"WARC-Target-URI: {each}") for each in (
        "http://e.com/robots.txt", "<https://e.com/robots.txt>", "https://E.com/robots.txt", "",
        "https://e.com:8080/robots.txt", "https://e.com/Robots.txt", "https://e..com/robots.txt",
        "https://localhost/robots.txt", "https://.com/robots.txt", "https://e.com./robots.txt",
        "https://bücher.de/robots.txt", "dns:e.com", "ftp://e.com/robots.txt", "HTTPS://e.com/robots.txt",
        "https://e_f.com/robots.txt", "https:/e.com//robots.txt", "http://1.2.3.4/robots.txt",
        "https://xn--bcher-kva.de/robots.txt", "https://e.com/robots.txt ", "/robots.txt",
        "https://u@e.com/robots.txt", "https://-/robots.txt", "httpx://e.com/robots.txt",
    )),
]  # fmt: skip


@pytest.mark.parametrize("headers", HEADERS, ids=range(len(HEADERS)))
def test_record_headers(check: Any, headers: tuple[str, ...]) -> None:
    usual = fetch(OK)
    check(members(usual, fetch(OK, ROBOTS, *headers), usual))


def record(kind: str, *headers: str, block: bytes = ROBOTS) -> bytes:
    lines = ["WARC/1.1", f"WARC-Type: {kind}", *headers, f"Content-Length: {len(block)}"]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


HTTP = "Content-Type: application/http; msgtype=response"
RECORDS = [
    *(record(kind, URI, DATE) for kind in ("request", "metadata", "response", "Response", "odd", "")),
    *(record("response", URI, DATE, each, block=OK + b"\r\nx") for each in (
        HTTP, "Content-Type: application/http", "Content-Type: application/http;msgtype=response",
        "Content-Type: text/plain", "Content-Type: application/http; msgtype=request",
        "Content-Type: application/httpx", "Content-Type: application/http ;msgtype=response",
    )),
    record("revisit", URI, DATE, HTTP, block=OK + b"\r\n"), record("resource", URI, DATE),
    record("warcinfo", block=b"isPartOf: second\r\n"), record("warcinfo", block=b"x: y\r\n"),
    record("response", URI, DATE, HTTP, block=b""), record("request", block=b""),
    b"", b"\r\n", b"x", b"WARC/1.0\r\n\r\n", b"WARC/1.0\n" + fetch(OK)[10:],
    fetch(OK)[:-1], fetch(OK) + b"\r\n", fetch(OK) + fetch(OK), fetch(OK)[:-4] + b"\n\n\n\n",
    *(by_hand(ROBOTS, URI, DATE, length=size) for size in (0, 31, 33, 10**6, 10**12, -1)),
    fetch(OK).replace(b"Content-Length: ", b"Content-Length: x"),
    fetch(OK).replace(b"WARC/1.0", b"WARC/2.0"),
    fetch(OK).replace(b"\r\nWARC-Type", b"\nWARC-Type"),
    fetch(OK).replace(b"WARC-Type: response\r\n", b""),
]  # fmt: skip


@pytest.mark.parametrize("odd", RECORDS, ids=range(len(RECORDS)))
def test_records(check: Any, odd: bytes) -> None:
    usual = fetch(OK)
    info = record("warcinfo", block=b"isPartOf: first\r\n")
    check(members(info, usual, odd, usual, record("request", URI), usual))
    check(members(usual, odd))


@pytest.mark.parametrize("size", [9, 200, 1 << 20])
def test_chunks(check: Any, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(_members, "_CHUNK", size)
    monkeypatch.setattr(_members, "_MAX_DECOMPRESSED", 2_000)
    data, _ = archives.archive(archives.sites(40))
    assert check(data) == 40
    assert check(data[:-3]) >= 39
    check(data + b"\0" * 20)
    check(b"junk" + data)
    check(data + gzip.compress(b"") + data)


def test_decoded_texts(check: Any) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-16\r\n"
    odd = fetch(head, ROBOTS.decode().encode("utf-16"))
    for number in (1, 2, 9):
        assert check(members(fetch(OK), *[odd] * number, fetch(OK), odd)) == number + 3


@pytest.mark.parametrize("limit", ["_MAX_COMPRESSED", "_MAX_DECOMPRESSED"])
def test_large_records_are_not_scanned(
    check: Any, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(_members, "_CHUNK", 1_000)
    monkeypatch.setattr(_members, limit, 5_000)
    noise = b"# " + random.Random(1).randbytes(9_000)
    data, _ = archives.archive([*archives.sites(9), Fetch("https://x.org/robots.txt", noise)])
    assert 5 <= check(data + archives.archive(archives.sites(3))[0]) <= 9


def test_fractions_of_a_second_are_regular(check: Any) -> None:
    date = "WARC-Date: 2026-03-01T12:34:56.123Z"
    assert check(members(*[fetch(OK, ROBOTS, URI, date)] * 30)) == 30


def test_lengths(check: Any) -> None:
    heads = (b"Content-Length: %b\r\n" % each for each in (b"31", b"30", b"32", b"0", b"31, 31",
             b"1234567890", b"x", b"-1", b""))  # fmt: skip
    assert check(members(*(fetch(OK + each) for each in heads))) == 9
    assert check(members(fetch(OK + b"Content-Length: 31\r\nContent-Length: 32\r\n"))) == 1


def test_revisits_and_resources_are_counted(check: Any) -> None:
    urls = (URI, "WARC-Target-URI: <https://e.com/robots.txt>", "WARC-Target-URI: dns:e.com",
            "WARC-Target-URI: metadata://gnu.org/software/wget/warc/MANIFEST.txt")  # fmt: skip
    kinds = ("revisit", "revisit", "resource", "conversion", "continuation")
    others = [record(kind, url, DATE, HTTP, block=OK + b"\r\n") for kind in kinds for url in urls]
    usual = members(fetch(OK))
    for data, rounds in (
        (usual + members(*others) + usual, 1), (members(*others), 1), (members(*others * 20), 20),
        (members(*others) + b"junk" + members(*others), 2), (b"".join(others), 1),
    ):  # fmt: skip
        check(data)
        noted = content(data)[1].noted
        assert (noted["revisit"], noted["resource"]) == (4 * rounds, 2 * rounds)


def test_many_irregular_records_are_not_scanned(check: Any) -> None:
    odd = [fetch(OK + b"Content-Encoding: gzip\r\n")] * 30
    assert check(members(*odd)) == 0
    assert check(members(*odd, *[fetch(OK)] * 31)) == 61


def test_start_of_a_member_within_another(check: Any) -> None:
    usual = members(fetch(OK))
    for before in (b"# ", b"#\0\0\0\0", b"#\1\0\0\0", b"#" + b"\xff" * 4):
        body = before + gzip.compress(b"", mtime=0)
        stored = gzip.compress(fetch(OK, body), 0, mtime=0)
        assert check(usual + stored + usual) <= 1


def test_broken_data_after_a_broken_record(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_members, "_CHUNK", 100)
    monkeypatch.setattr(_members, "_MAX_DECOMPRESSED", 400)
    broken = bytearray(members(fetch(OK)))
    broken[40:42] = b"xx"
    usual = members(fetch(OK))
    assert check(usual + members(fetch(b"")) + bytes(broken) + usual) == 1
    assert check(usual + members(fetch(b""))) == 1


@pytest.mark.parametrize("seed", sampled(range(60), 3))
def test_changed_archives(check: Any, seed: int) -> None:
    choices = random.Random(seed)
    data = bytearray(archives.archive(archives.sites(30))[0])
    for _ in range(choices.randrange(1, 4)):
        at = choices.randrange(len(data))
        size = choices.choice([0, 1, 8])
        data[at : at + size] = choices.randbytes(choices.choice([0, 1, 8]))
    check(bytes(data[: choices.choice([len(data), choices.randrange(len(data))])]))


@pytest.mark.parametrize("seed", range(60))
def test_changed_records(check: Any, seed: int) -> None:
    choices = random.Random(seed)
    records = []
    for _ in range(8):
        changed = bytearray(fetch(choices.choice(HEADS), choices.choice(BODIES)[:200]))
        at = choices.randrange(len(changed))
        changed[at : at + choices.randrange(2)] = choices.choice(
            [b"", b"\r", b"\n", b":", b" ", b"\xe4"]
        )
        records += [bytes(changed), fetch(OK)]
    check(members(*records))
