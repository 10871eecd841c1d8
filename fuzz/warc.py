"""An archive with any damage is read, or unreadable: the records that are not damaged are found."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from koster.bulk import warc
from koster.bulk._archives import batches_of
from koster.bulk._batches import BadRecords
from koster.bulk.warc import BadRecord, Record
from koster.errors import UnreadableError
from koster.origins import origin_of

from ._damage import damaged
from ._tables import spread

_URLS = spread(
    (200, ["https://a.example/robots.txt", "http://b.example/robots.txt", "https://E.com:443/r"]),
    (56, ["<https://c.example/robots.txt>", "dns:e.com", "", "http://[", "https://bücher.de/\udcff",
          "http://e.com", "ftp://e.com/robots.txt", "https://e.com/robots.txt#x"]),
)  # fmt: skip
_TYPES = (*(["response"] * 12), "request", "warcinfo", "revisit", "metadata")
_STATUS_LINES = spread(
    (150, ["HTTP/1.1 200 OK", "HTTP/1.0 200", "HTTP/2 200 OK"]),
    (
        60,
        ["HTTP/1.1 404 Not Found", "HTTP/1.1 301 Moved", "HTTP/1.1 503 Oops", "HTTP/1.1 304 Same"],
    ),
    (
        46,
        [
            "HTTP/1.1 999 Denied",
            "HTTP/1.1 0 x",
            "HTTP/1.1 OK",
            "nonsense",
            "",
            "HTTP/1.1 2000 x",
            " ",
        ],
    ),
)
_HEADERS = (
    "Content-Type: text/plain", "Content-Type: text/html; charset=latin-1", "Location: /r.txt",
    "Content-Encoding: gzip", "Content-Encoding: deflate", "Content-Encoding: br", "X: é",
    "Transfer-Encoding: chunked", "Location: http://[", "Content-Length: 5", "no colon", " folded",
    "Content-Type: image/png", "Content-Type: text/plain; charset=utf-16", "Content-Length: -1", ":",
)  # fmt: skip
_WARC_HEADERS = (
    "WARC-Date: 2026-11-01T12:00:00Z", "WARC-Date: yesterday", "WARC-Truncated: length", "X: y",
    "WARC-Date: 9999-12-31T23:59:60Z", "WARC-Block-Digest: sha1:x", "Content-Length: 7", "WARC-Type: x",
)  # fmt: skip

_ROBOTS = b"User-agent: *\nDisallow: /private\n"
_BODIES = spread(
    (180, [_ROBOTS, b"", b"User-agent: GPTBot\nDisallow: /\n" * 20]),
    (76, [b"<html>", b"\x89PNG\r\n\x1a\n\0", b"\xff\xfeU\0", _ROBOTS[:-5] + b"\xe9", gzip.compress(_ROBOTS, mtime=0),
          zlib.compress(_ROBOTS), b"5\r\nAllow\r\n0\r\n\r\n", b"ffffffff\r\nx", b"WARC/1.0\r\n\r\n",
          b"\x1f\x8b\x08", b"\r\n\r\n" * 5]),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Piece:
    """A record to write. ``is_plain``: it must be read as a fetch with this body and URL."""

    content: bytes
    url: str
    body: bytes
    is_plain: bool


def check(data: bytes) -> None:
    """Check one input."""
    source = iter(data)
    kind, shape = next(source, 0), next(source, 0)
    if kind >= 240:
        _read(bytes(source))
        return
    pieces = [_piece(source, number) for number in range(1 + (shape & 3))]
    if kind < 60:
        _check_whole(pieces, shape)
    elif kind < 150:
        _check_one_damaged(pieces, shape >> 4, source)
    else:
        _read(damaged(_join(pieces, shape), source))


def _piece(source: Iterator[int], number: int) -> _Piece:
    """Return a record; half of them are ordinary."""
    if next(source, 0) < 128:
        url = f"https://site-{number}.example/robots.txt"
        return _ordinary(url, _BODIES[next(source, 0) % 180])
    url, kind = _URLS[next(source, 0)], _TYPES[next(source, 0) & 15]
    http = [_STATUS_LINES[next(source, 0)]]
    http += [_HEADERS[next(source, 0) & 15] for _ in range(next(source, 0) & 3)]
    block = "\r\n".join([*http, "", ""]).encode("utf-8", "surrogateescape")
    block += _BODIES[next(source, 0)]
    extra = [_WARC_HEADERS[next(source, 0) & 7] for _ in range(next(source, 0) & 3)]
    return _Piece(_record(url, kind, block, *extra), url, b"", is_plain=False)


@lru_cache(512)
def _ordinary(url: str, body: bytes) -> _Piece:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + body
    content = _record(url, "response", block, _WARC_HEADERS[0])
    return _Piece(content, url, body, is_plain=True)


def _record(url: str, kind: str, block: bytes, *extra: str) -> bytes:
    lines = [
        "WARC/1.0", f"WARC-Type: {kind}", "WARC-Record-ID: <urn:uuid:1>", f"WARC-Target-URI: {url}",
        "Content-Type: application/http; msgtype=response", *extra, f"Content-Length: {len(block)}",
    ]  # fmt: skip
    head = "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape")
    return head + block + b"\r\n\r\n"


@lru_cache(1024)
def _packed(content: bytes) -> bytes:
    return gzip.compress(content, 1, mtime=0)


def _join(pieces: list[_Piece], shape: int) -> bytes:
    """Return an archive: plain, of a member for each record, of one member, or mixed."""
    contents = [piece.content for piece in pieces]
    match shape >> 2 & 3:
        case 0:
            return b"".join(contents)
        case 1:
            return b"".join(map(_packed, contents))
        case 2:
            return _packed(b"".join(contents))
        case _:
            return b"".join(
                _packed(each) if number % 2 else each for number, each in enumerate(contents)
            )


def _read(content: bytes) -> list[Record]:
    """Return the records of an archive, which may be broken."""
    found: list[Record | BadRecord] = []
    try:
        found += warc.records(io.BytesIO(content), "CC-MAIN-2026-45.warc")
    except UnreadableError:
        return []
    records = [each for each in found if isinstance(each, Record)]
    for each in found:
        assert 0 <= each.offset <= len(content), each
        if isinstance(each, Record):
            _check_record(each)
    _check_columns(content, records, len(found) - len(records))
    return records


def _check_columns(content: bytes, records: list[Record], broken: int) -> None:
    """Check that an archive has the same records if it is read as columns."""
    bad = BadRecords()
    batches = list(batches_of(io.BytesIO(content), "CC-MAIN-2026-45.warc", "a.warc", bad))
    rows = [row for batch in batches for row in batch.passthrough.to_pylist()]
    expected = [
        (each.offset, each.url, each.crawl, each.fetched, each.status, each.fetch_class.value)
        for each in records
    ]
    names = ("archive_offset", "url", "crawl", "fetched", "status", "class")
    assert [tuple(row[name] for name in names) for row in rows] == expected
    served = [body for batch in batches for body in batch.served.to_pylist()]
    assert all(body in (None, each.body) for body, each in zip(served, records, strict=True))
    assert bad.count == broken


def _check_record(record: Record) -> None:
    assert record.url.isascii()
    assert record.url.isprintable()
    assert str(origin_of(record.url)) == record.origin
    assert 100 <= record.status <= 999
    assert len(record.body) <= warc.MAX_BODY
    assert record.location is None or record.location.isascii()
    assert (record.location is None) == (record.fetch_class is not warc.FetchClass.REDIRECT)


def _check_whole(pieces: list[_Piece], shape: int) -> None:
    """Check that an archive without damage is read as it was written, as far as it is ordinary."""
    found = _read(_join(pieces, shape))
    if all(piece.is_plain for piece in pieces):
        expected = [(piece.url, piece.body) for piece in pieces]
        assert [(each.url, each.body) for each in found] == expected


def _check_one_damaged(pieces: list[_Piece], which: int, source: Iterator[int]) -> None:
    """Check that damage within one gzip member does not hide the others."""
    members = [_packed(piece.content) for piece in pieces]
    which %= len(pieces)
    broken = damaged(members[which], source)
    if b"\x1f\x8b\x08" in broken[1:] or broken.startswith(b"WARC/"):
        # What looks like another record may swallow the next one.
        return
    found = _read(b"".join([*members[:which], broken, *members[which + 1 :]]))
    urls = [each.url for each in found]
    for number, piece in enumerate(pieces):
        if number != which and piece.is_plain:
            assert piece.url in urls, (number, which, urls, broken)


def describe(data: bytes) -> Any:
    """Return the archive of an input."""
    source = iter(data)
    kind, shape = next(source, 0), next(source, 0)
    if kind >= 240:
        return bytes(source)
    pieces = [_piece(source, number) for number in range(1 + (shape & 3))]
    return [piece.content for piece in pieces]
