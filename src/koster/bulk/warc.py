"""Web archives: what WARC files say about fetches of robots.txt.

Reads response records as Common Crawl's robotstxt archives have them, plain or compressed, with
fastwarc. What is broken is skipped: a `BadRecord` says where, and reading goes on at the next
record that is whole.

>>> for each in records("robotstxt.warc.gz"):  # doctest: +SKIP
...     print(each.url, each.fetch_class, len(each.body))
"""

from __future__ import annotations

import enum
import re
import zlib
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, BinaryIO

from .._charsets import charset_of
from ..dialects import RFC9309
from ..errors import UnreadableError, UrlError
from ..lint import is_binary, is_page
from ..origins import origin_of, redirect_target
from ._warc_reader import MAX_BODY, BadRecord, without_brotli, without_chunks
from ._warc_recovery import whole_records

__all__ = ["MAX_BODY", "BadRecord", "FetchClass", "Record", "records"]

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from ._warc_reader import RawRecord


class FetchClass(enum.StrEnum):
    """What a fetch gave, by RFC 9309 §2.3."""

    OK = "ok"
    """A file (2xx)."""
    WRONG_TYPE = "wrong type"
    """2xx, but an HTML page or no text at all, or declared to be neither text nor bytes."""
    REDIRECT = "redirect"
    """3xx with a Location that can be followed."""
    UNAVAILABLE = "unavailable"
    """4xx but 429: there is no file, and all is allowed."""
    UNREACHABLE = "unreachable"
    """5xx, 429, or an answer that says nothing: nothing is allowed."""


@dataclass(frozen=True, slots=True)
class Record:
    """A fetch.

    Attributes:
        url: What was asked, in ASCII and without a fragment.
        origin: The site, as in ``https://example.com``.
        crawl: The name of the crawl, if the archive has one: ``CC-MAIN-2026-45``.
        fetched: When; None if the archive does not say.
        status: Of HTTP.
        fetch_class: What that means.
        location: Where a redirect leads; None if there is none.
        content_type: As declared, or None.
        charset: As declared, or None.
        body: As it was served, without codings; at most `MAX_BODY` bytes.
        is_whole: Whether that is all of it.
        offset: Where the record stands in the archive, in bytes; of several in one member of
            gzip nobody knows where.
    """

    url: str
    origin: str
    crawl: str | None
    fetched: datetime | None
    status: int
    fetch_class: FetchClass
    location: str | None
    content_type: str | None
    charset: str | None
    body: bytes
    is_whole: bool
    offset: int


def records(
    source: str | os.PathLike[str] | BinaryIO, name: str | None = None
) -> Iterator[Record | BadRecord]:
    """Go through the fetches in an archive: all responses of HTTP.

    Args:
        source: The path of a file, or a file that is open to be read, from its start, and can seek.
        name: What the archive is called, if that is not its path.

    Raises:
        UnreadableError: the file cannot be read, or is no archive.
    """
    if not isinstance(source, (str, bytes)) and not hasattr(source, "__fspath__"):
        file: Any = source
        called = str(name or getattr(source, "name", "the archive"))
        yield from _each_once(_fetches(file, called))
        return
    path: Any = source
    try:
        with open(path, "rb") as file:
            yield from _each_once(_fetches(file, name or str(path)))
    except OSError as error:
        if isinstance(error, UnreadableError):
            raise
        raise UnreadableError(f"{path}: {error.strerror or error}") from error


def _fetches(file: BinaryIO, path: str) -> Iterator[Record | BadRecord]:
    """Go through the fetches in an archive."""
    crawl = _crawl_in(path)
    for raw in whole_records(file, path):
        if isinstance(raw, BadRecord):
            yield raw
        elif raw.type == "warcinfo":
            crawl = _crawl_of(raw.body) or crawl
        elif raw.type == "response":
            found = _record(raw, crawl)
            if found is not None:
                yield found


def _each_once(found: Iterator[Record | BadRecord]) -> Iterator[Record | BadRecord]:
    """Go through them; what breaks off may have been read as far as it goes, and is told once."""
    held: BadRecord | None = None
    for each in found:
        if held is not None and not (isinstance(each, BadRecord) and each.offset == held.offset):
            yield held
        held = each if isinstance(each, BadRecord) else None
        if held is None:
            yield each
    if held is not None:
        yield held


_CRAWL = re.compile(r"CC-MAIN-\d{4}-\d{2}")
_PART_OF = re.compile(rb"(?im)^isPartOf:[ \t]*([^\r\n]{1,200})")


def _crawl_in(path: str) -> str | None:
    match = _CRAWL.search(path)
    return match[0] if match else None


def _crawl_of(info: bytes) -> str | None:
    match = _PART_OF.search(info)
    return match[1].decode("utf-8", "replace").strip() if match else None


_HTTP_URL = re.compile(r"(?i)https?://")
_PLAIN_URL = re.compile(r"(https?://[a-z0-9-]+(?:\.[a-z0-9-]+)+)/robots\.txt")


def _record(raw: RawRecord, crawl: str | None) -> Record | BadRecord | None:
    """Return what a record says; None if it is no fetch of HTTP."""
    if not raw.url:
        return BadRecord(raw.offset, "it has no WARC-Target-URI")
    # Some programs write what the grammar of WARC 1.0 shows.
    given = raw.url.removeprefix("<").removesuffix(">")
    plain = _PLAIN_URL.fullmatch(given)
    if plain:
        url, origin = given, plain[1]
    elif not _HTTP_URL.match(given):
        return None
    else:
        try:
            url = redirect_target(given, given)
            origin = str(origin_of(url))
        except UrlError as error:
            return BadRecord(raw.offset, f"its WARC-Target-URI is {error}")
    if raw.status is None or not 100 <= raw.status <= 999:
        return BadRecord(raw.offset, "it has no status line of HTTP")
    content_type = raw.header("Content-Type")
    location = _location(url, raw) if 300 <= raw.status < 400 else None
    body = _decoded(raw)
    return Record(
        url=url,
        origin=origin,
        crawl=crawl,
        fetched=_in_utc(raw.fetched),
        status=raw.status,
        fetch_class=_class_of(raw.status, location, content_type or "", body),
        location=location,
        content_type=content_type,
        charset=charset_of(content_type) if content_type else None,
        body=body[:MAX_BODY],
        is_whole=raw.is_whole and len(body) <= MAX_BODY,
        offset=raw.offset,
    )


def _in_utc(moment: datetime | None) -> datetime | None:
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment


def _location(url: str, raw: RawRecord) -> str | None:
    """Return where a redirect leads."""
    value = raw.header("Location")
    if raw.status == 304 or value is None:
        return None
    with suppress(UrlError):
        return redirect_target(url, value)
    return None


#: What a robots.txt may be declared to be, besides text.
_BYTES = (
    "",
    "application/octet-stream",
    "binary/octet-stream",
    "application/x-www-form-urlencoded",
)


def _class_of(status: int, location: str | None, content_type: str, body: bytes) -> FetchClass:
    """Return what a status means."""
    if 200 <= status < 300:
        media = content_type.partition(";")[0].strip().lower()
        is_text = media.startswith("text/") or media in _BYTES or "/" not in media
        is_right = is_text and not is_page(body) and not is_binary(body)
        return FetchClass.OK if is_right else FetchClass.WRONG_TYPE
    if location is not None:
        return FetchClass.REDIRECT
    if status in RFC9309.statuses.unavailable:
        return FetchClass.UNAVAILABLE
    return FetchClass.UNREACHABLE


def _decoded(raw: RawRecord) -> bytes:
    """Return a body without its codings; as it stands, where it is not in those it should be."""
    body = raw.body
    with suppress(OSError, ValueError, EOFError, zlib.error):
        if (raw.header("Transfer-Encoding") or "").strip().lower() == "chunked":
            body = without_chunks(body)
        coding = (raw.header("Content-Encoding") or "").strip().lower()
        if coding in ("gzip", "x-gzip", "deflate"):
            body = zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(body, MAX_BODY + 1)
        elif coding == "br":
            body = without_brotli(body)
    return body
