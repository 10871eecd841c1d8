"""Answers of `koster.bulk` about archives and tables: one WARC and files of each other kind."""

from __future__ import annotations

import csv
import io
import json
import tempfile
import zlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

import koster
from koster.bulk import runs

from .entries import Entry, Part, Place, digest_of, entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_AGENTS = ("GPTBot", "Googlebot-Image", "FooBot/2.1")
_URLS = ("/", "/private/a?b=c", "/robots.txt")
#: The file itself, and where it is: that depends on the folder and the compression, not on koster.
_LEFT_OUT = ("body", "archive_offset", "archive", "input")
#: The names of columns in the recorded answers, which stay: another name is no other decision.
_RECORDED_AS = {"body_bytes": "bytes", "group_number": "group"}

_BODIES = (
    b"User-agent: *\nDisallow: /private/\n",
    b"User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nAllow: /private/a\nDisallow: /private\n",
    b"User-agent: Googlebot\nDisallow: /*?\nUser-agent: FooBot\nCrawl-delay: 3\nDisallow: /priv$\n",
    b"\xef\xbb\xbfuser-agent : *\r\ndisallow : /\r\nallow : /private/a\r\n",
    b"User-agent: GPTBot\rUser-agent: *\rDisallow:\r",
    b"<!DOCTYPE html><html><body>Not found</body></html>",
    b"User-agent: *\nDisallow: /priv\xe9\nDisallow: /private/%61\n",
    "\ufeffUser-agent: *\nDisallow: /private/".encode("utf-16-le"),
    b"",
    b"Disallow: /\nUser-agent: *\nRobot-version: 2.0\nDisallow: /p[a-s]ivate/*\n",
    b"User-agent: *\nAllow: /private/\nDisallow: /private/\nSitemap: https://site.example/s.xml\n",
    b"Dissalow: /\nUser agent: *\nDisalow: /private\nContent-Signal: ai-train=no\n",
)
_STATUSES = ("200 OK", "301 Moved Permanently", "404 Not Found", "403 Forbidden", "503 Unavailable")


def _responses() -> Iterator[tuple[str, str, dict[str, str], bytes]]:
    """Yield the URL, status, headers and body of each response."""
    text = {"Content-Type": "text/plain"}
    for number, body in enumerate(_BODIES):
        yield f"https://site-{number}.example/robots.txt", _STATUSES[0], text, body
    for number, status in enumerate(_STATUSES[1:], 20):
        more = {"Location": "https://site-1.example/robots.txt"} if status[0] == "3" else {}
        yield f"https://site-{number}.example/robots.txt", status, text | more, _BODIES[0]
    packed = {"Content-Encoding": "gzip"}
    yield (
        "http://site-30.example/robots.txt",
        _STATUSES[0],
        packed,
        _gzip(_BODIES[1]),
    )
    yield "http://site-31.example/robots.txt", _STATUSES[0], packed, _BODIES[1][:20]
    latin = {"Content-Type": "text/plain; charset=iso-8859-1"}
    yield "http://site-32.example:8080/robots.txt", _STATUSES[0], latin, _BODIES[6]
    # The same site again, and a page that is no robots.txt.
    yield "https://site-0.example/robots.txt", _STATUSES[0], text, _BODIES[1]
    yield "https://site-0.example/page", _STATUSES[0], text, _BODIES[1]
    for number, (coding, transfer, body) in enumerate(_coded(_BODIES[1]), 40):
        headers = {"Content-Encoding": coding, "Transfer-Encoding": transfer}
        some = {name: value for name, value in headers.items() if value}
        yield f"https://site-{number}.example/robots.txt", _STATUSES[0], some, body


def _coded(file: bytes) -> Iterator[tuple[str, str, bytes]]:
    """Yield a file in codings, whole and cut: Content-Encoding, Transfer-Encoding and body."""
    packed, zstd = _gzip(file), _zstd(file)
    chunk = b"%x\r\n%b\r\n" % (len(file), file)
    yield "gzip", "", packed[:-9]
    yield "gzip", "", packed[:40]
    yield "gzip", "", _gzip(packed)
    yield "gzip, gzip", "", _gzip(packed)
    yield "", "", packed
    yield "deflate", "", packed[10:-8]
    yield "deflate", "", packed[10:-20]
    yield "zstd", "", zstd
    yield "zstd", "", zstd[:-9]
    yield "zstd", "", file
    yield "br", "", file
    yield "x-unknown", "", b"\xff" + file
    yield "", "chunked", chunk + b"0\r\n\r\n"
    yield "", "chunked", chunk
    yield "", "chunked", chunk[:40]
    yield "", "chunked", file
    yield "gzip", "chunked", b"%x\r\n%b\r\n0\r\n\r\n" % (len(packed), packed)


def _gzip(data: bytes) -> bytes:
    """Return a gzip member with stored bytes: what compressors write differs between versions."""
    size = len(data).to_bytes(2, "little") + (0xFFFF - len(data)).to_bytes(2, "little")
    end = zlib.crc32(data).to_bytes(4, "little") + len(data).to_bytes(4, "little")
    return b"\x1f\x8b\x08" + bytes(6) + b"\xff\x01" + size + data + end


def _zstd(data: bytes) -> bytes:
    """Return a frame of Zstandard with one stored block (RFC 8878 §3.1.1)."""
    header = b"\x28\xb5\x2f\xfd\x20" + len(data).to_bytes(1)
    return header + (len(data) << 3 | 1).to_bytes(3, "little") + data


def _record(url: str, status: str, headers: dict[str, str], body: bytes) -> bytes:
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in headers.items())]
    block = "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body
    head = [
        "WARC/1.0", "WARC-Type: response", "WARC-Date: 2026-11-01T12:00:00Z",
        f"WARC-Target-URI: {url}",
        f"WARC-Record-ID: <urn:uuid:{digest_of(url, block)}>", f"Content-Length: {len(block)}",
        "Content-Type: application/http; msgtype=response", "", "",
    ]  # fmt: skip
    return "\r\n".join(head).encode() + block + b"\r\n\r\n"


def _warc() -> bytes:
    return b"".join(_record(*each) for each in _responses())


def _compressed_warc() -> bytes:
    return b"".join(_gzip(_record(*each)) for each in _responses())


def _broken_warc() -> bytes:
    """Return an archive with junk between records, wrong lengths, and a missing end."""
    first, second, third, *others = (_record(*each) for each in _responses())
    wrong = second.replace(b"Content-Length: ", b"Content-Length: 9", 1)
    return first + b"junk\r\n\r\n" + wrong + third + b"".join(others)[:-200]


def _rows() -> list[dict[str, str]]:
    """Return tables' rows: files as text, with the questions."""
    return [
        {
            "url": f"https://site-{number}.example{_URLS[number % len(_URLS)]}",
            "agent": _AGENTS[number % len(_AGENTS)],
            "body": body.decode("utf-8", "replace").replace("\0", ""),
        }
        for number, body in enumerate(_BODIES)
    ]


def _json_lines() -> bytes:
    return "".join(json.dumps(each) + "\n" for each in _rows()).encode()


def _csv() -> bytes:
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, ("url", "agent", "body"))
    writer.writeheader()
    writer.writerows(_rows())
    return file.getvalue().encode()


def _parquet() -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(_rows()), sink)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


_FILES: dict[str, Callable[[], bytes]] = {
    "robots.warc": _warc,
    "robots.warc.gz": _compressed_warc,
    "broken.warc": _broken_warc,
    "robots.jsonl": _json_lines,
    "robots.csv": _csv,
    "robots.parquet": _parquet,
}


@cache
def _asked() -> str:
    return digest_of(*map(str, _responses()), *map(str, _rows()), *_AGENTS, *_URLS)


def _entries(name: str) -> Iterator[Entry]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / Path(name).name
        path.write_bytes(_FILES[path.name]())
        for kind in ("classify", "decide", "facts"):
            for dialect in koster.DIALECTS:
                answers = _answers(path, kind, dialect)
                place = Place(f"bulk {kind}", name, dialect)
                yield entry(place, [_asked()], answers)


def _answers(path: Path, kind: str, dialect: str) -> list[str]:
    is_archive = ".warc" in path.name
    asks = kind == "decide" and is_archive
    agents = _AGENTS if kind == "classify" or asks else ()
    has_columns = kind == "decide" and not is_archive
    columns = runs.Columns("body", "url", "agent") if has_columns else runs.Columns("body")
    question = runs.Question(kind, agents, _URLS if asks else (), dialect, columns)
    with tempfile.TemporaryDirectory() as out:
        run = runs.run(question, runs.find_inputs([str(path)]), out, jobs=1)
        shard = run.shards[0]
        if shard.shard is None:
            return [f"failed: {shard.why}".replace(str(path), path.name)]
        rows = pq.read_table(Path(out) / Path(shard.shard).name).to_pylist()
    listed = [each.replace(str(path), path.name) for each in shard.listed]
    return [*map(_row_text, rows), f"{shard.rows} rows, {shard.bad} unreadable", *listed]


def _row_text(row: dict[str, Any]) -> str:
    """Return a row without the file itself: what is asked, then the answers."""
    shown = {name: value for name, value in row.items() if name not in _LEFT_OUT}
    return json.dumps(_recorded(shown), default=str)


def _recorded(value: Any) -> Any:
    """Return a value with the names that its columns and fields were recorded with."""
    if isinstance(value, dict):
        return {_RECORDED_AS.get(name, name): _recorded(each) for name, each in value.items()}
    return list(map(_recorded, value)) if isinstance(value, list) else value


def _files() -> list[str]:
    return [f"archive/{name}" for name in _FILES]


PART = Part("archives", True, _files, _entries, at_once=1)
