"""Reads the records of a WARC file with fastwarc, as they stand there."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from ..errors import missing

try:
    from fastwarc.stream_io import BrotliReader, ChunkedReader
    from fastwarc.warc import ArchiveIterator, WarcRecordType
except ImportError as error:
    raise missing("koster.bulk.warc", "bulk") from error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

#: Bytes of a body that are read: 32 times what crawlers have to read (RFC 9309 §2.5).
MAX_BODY = 16 * 1024 * 1024 - 1


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A part of an archive that could not be read: its offset in bytes, and why."""

    offset: int
    why: str


class RawRecord(NamedTuple):
    """A record as fastwarc gives it."""

    offset: int
    type: str
    url: str | None
    fetched: datetime | None
    status: int | None
    header: Callable[[str], str | None]
    body: bytes
    is_whole: bool


class BrokenError(Exception):
    """An archive cannot be read on from here."""


def read_raw(file: BinaryIO, every: bool) -> Iterator[RawRecord]:
    """Read on from where a file is: responses and warcinfo, or with ``every`` all records.

    Raises:
        BrokenError: the archive is broken here.
    """
    response, info = WarcRecordType.response, WarcRecordType.warcinfo
    wanted = WarcRecordType.any_type if every else response | info
    try:
        for record in ArchiveIterator(file, record_types=wanted, parse_http=True):
            size = record.content_length
            body = record.reader.read(min(size, MAX_BODY + 1)) if size else b""
            if len(body) < min(size, MAX_BODY + 1):
                raise BrokenError(f"it has {len(body):,} bytes, not {size:,}")
            http = record.http_headers
            kind = record.record_type
            yield RawRecord(
                record.stream_pos,
                "response" if kind == response else "warcinfo" if kind == info else "other",
                record.headers.get("WARC-Target-URI"),
                record.record_date,
                http.status_code if http is not None else None,
                _header(None if http is None else http.get),
                body,
                "WARC-Truncated" not in record.headers,
            )
    except OSError as error:
        raise BrokenError(_message_of(error)) from error


def _message_of(error: Exception) -> str:
    text = " ".join("".join(each if each.isprintable() else " " for each in str(error)).split())
    return text[:100] or type(error).__name__


def _header(look_up: Callable[[str], str | None] | None) -> Callable[[str], str | None]:
    """Return how a header is looked up in what a library gives: nowhere, if that is nothing."""

    def header(name: str) -> str | None:
        value = look_up(name) if look_up is not None else None
        # It comes decoded byte by byte.
        return None if value is None else _as_text(value)

    return header


def _as_text(value: str) -> str:
    """Return a header's value that was decoded as Latin-1 as UTF-8, as far as it is."""
    if value.isascii():
        return value
    try:
        return value.encode("latin-1").decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return value


def without_chunks(body: bytes) -> bytes:
    """Return a body that was sent in chunks (RFC 9112 §7.1)."""
    found: bytes = ChunkedReader(io.BytesIO(body)).read(MAX_BODY + 1)
    return found


def without_brotli(body: bytes) -> bytes:
    """Return a body that was compressed with Brotli."""
    found: bytes = BrotliReader(io.BytesIO(body)).read(MAX_BODY + 1)
    return found
