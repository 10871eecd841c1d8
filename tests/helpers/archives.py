"""Writes WARC archives for tests, with warcio and by hand."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

ROBOTS = b"User-agent: GPTBot\nDisallow: /\n"


@dataclass
class Fetch:
    """A response to write to an archive."""

    url: str
    body: bytes = ROBOTS
    status: str = "200 OK"
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "text/plain"})
    date: str = "2026-11-01T12:00:00Z"


def archive(
    fetches: Iterable[Fetch], crawl: str | None = "CC-MAIN-2026-45", *, gzip: bool = True
) -> tuple[bytes, list[int]]:
    """Return an archive and the offsets of its records; the first is the warcinfo record."""
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=gzip)
    offsets = [0]
    info: dict[str, Any] = {"software": "tests"} | ({"isPartOf": crawl} if crawl else {})
    writer.write_record(writer.create_warcinfo_record("robots.warc.gz", info))
    for fetch in fetches:
        offsets.append(out.tell())
        head = StatusAndHeaders(fetch.status, list(fetch.headers.items()), protocol="HTTP/1.1")
        record = writer.create_warc_record(
            fetch.url,
            "response",
            payload=io.BytesIO(fetch.body),
            http_headers=head,
            warc_headers_dict={"WARC-Date": fetch.date},
        )
        request = StatusAndHeaders("GET /robots.txt HTTP/1.1", [], is_http_request=True)
        writer.write_record(record)
        writer.write_record(writer.create_warc_record(fetch.url, "request", http_headers=request))
    return out.getvalue(), offsets


def by_hand(block: bytes, *headers: str, length: int | None = None) -> bytes:
    """Return an uncompressed record with any block, valid or not."""
    size = len(block) if length is None else length
    lines = ["WARC/1.0", "WARC-Type: response", "WARC-Record-ID: <urn:uuid:1>"]
    lines += [f"Content-Length: {size}", "Content-Type: application/http; msgtype=response"]
    return "\r\n".join([*lines, *headers]).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def sites(count: int, start: int = 0) -> list[Fetch]:
    """Return fetches of ``count`` sites, with files, redirects and errors."""
    fetches = []
    for number in range(start, start + count):
        url = f"https://site-{number}.example/robots.txt"
        body = b"# %d\nUser-agent: *\nDisallow: /private-%d\n" % (number, number)
        if number % 3 == 0:
            body += b"\nUser-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n"
        fetch = Fetch(url, body)
        if number % 10 == 7:
            fetch = Fetch(url, b"", "404 Not Found")
        elif number % 10 == 8:
            fetch = Fetch(url, b"", "503 Service Unavailable")
        elif number % 10 == 9:
            target = f"https://site-{number - 9}.example/robots.txt"
            fetch = Fetch(url, b"", "301 Moved Permanently", {"Location": target})
        fetches.append(fetch)
    return fetches


def write(path: Path, fetches: Iterable[Fetch], crawl: str | None = "CC-MAIN-2026-45") -> Path:
    """Write an archive."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(archive(fetches, crawl)[0])
    return path
