"""Web archives: what WARC files say about fetches of robots.txt.

Reads response records as Common Crawl's robotstxt archives have them, plain or compressed, with
fastwarc; with warcio where that is not installed. What is broken is passed over and told: a
`BadRecord` stands in its place, and reading goes on at the next record that is whole.

>>> for each in records("robotstxt.warc.gz"):  # doctest: +SKIP
...     print(each.url, each.fetch_class, len(each.body))
"""

from __future__ import annotations

import enum
import io
import re
import zlib
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from .._charsets import charset_of
from ..dialects import RFC9309
from ..errors import UnreadableError, UrlError, missing
from ..lint import is_binary, is_page
from ..origins import origin_of, redirect_target

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator
    from datetime import datetime
    from typing import TypeAlias

    #: Reads on in an archive; the flag says whether records of no interest are told, too.
    _Reader: TypeAlias = Callable[[BinaryIO, bool], Iterator["_Raw"]]

#: Octets of a body that are read: 32 times what crawlers are to read (RFC 9309 §2.5).
MAX_BODY = 16 * 1024 * 1024 - 1


class FetchClass(enum.StrEnum):
    """What a fetch gave, by RFC 9309 §2.3."""

    OK = "ok"
    """A file (2xx)."""
    WRONG_TYPE = "wrong type"
    """2xx, but an HTML page or no text at all, or declared to be neither text nor octets."""
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
        body: As it was served, without codings; at most `MAX_BODY` octets.
        is_whole: Whether that is all of it.
        offset: Where the record stands in the archive, in octets.
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


@dataclass(frozen=True, slots=True)
class BadRecord:
    """What could not be read: where it stands in the archive, in octets, and why."""

    offset: int
    why: str


class _Raw(NamedTuple):
    """A record as the libraries give it."""

    offset: int
    type: str
    url: str | None
    fetched: datetime | None
    status: int | None
    header: Callable[[str], str | None]
    body: bytes
    is_whole: bool


class _BrokenError(Exception):
    """An archive cannot be read on from here."""


def records(path: str | os.PathLike[str]) -> Iterator[Record | BadRecord]:
    """Go through the fetches in an archive: all responses of HTTP.

    Raises:
        UnreadableError: the file cannot be read, or is no archive.
        MissingExtraError: neither fastwarc nor warcio is installed.
    """
    try:
        with open(path, "rb") as file:
            crawl = _crawl_in(str(path))
            last_bad = -1
            for raw in _whole_ones(file, str(path), _reader()):
                if isinstance(raw, BadRecord):
                    # What breaks off may have been read as far as it goes, and told already.
                    if raw.offset != last_bad:
                        yield raw
                elif raw.type == "warcinfo":
                    crawl = _crawl_of(raw.body) or crawl
                elif raw.type == "response":
                    found = _record(raw, crawl)
                    if isinstance(found, BadRecord):
                        last_bad = found.offset
                    if found is not None:
                        yield found
    except OSError as error:
        if isinstance(error, UnreadableError):
            raise
        raise UnreadableError(f"{path}: {error.strerror or error}") from error


_CRAWL = re.compile(r"CC-MAIN-\d{4}-\d{2}")
_PART_OF = re.compile(rb"(?im)^isPartOf:[ \t]*([^\r\n]{1,200})")


def _crawl_in(path: str) -> str | None:
    match = _CRAWL.search(path)
    return match[0] if match else None


def _crawl_of(info: bytes) -> str | None:
    match = _PART_OF.search(info)
    return match[1].decode("utf-8", "replace").strip() if match else None


_PLAIN_URL = re.compile(r"(https?://[a-z0-9-]+(?:\.[a-z0-9-]+)+)/robots\.txt")


def _record(raw: _Raw, crawl: str | None) -> Record | BadRecord | None:
    """Return what a record says; None if it is no fetch of HTTP."""
    if not raw.url:
        return BadRecord(raw.offset, "it has no WARC-Target-URI")
    plain = _PLAIN_URL.fullmatch(raw.url)
    if plain:
        url, origin = raw.url, plain[1]
    elif not raw.url.lower().startswith(("http:", "https:")):
        return None
    else:
        try:
            url = redirect_target("http://none.invalid/", raw.url)
            origin = str(origin_of(url))
        except UrlError as error:
            return BadRecord(raw.offset, f"its WARC-Target-URI is {error}")
    if raw.status is None:
        return BadRecord(raw.offset, "it has no status line of HTTP")
    content_type = raw.header("Content-Type")
    location = _location(url, raw) if 300 <= raw.status < 400 else None
    body = _decoded(raw)
    return Record(
        url=url,
        origin=origin,
        crawl=crawl,
        fetched=raw.fetched,
        status=raw.status,
        fetch_class=_class_of(raw.status, location, content_type or "", body),
        location=location,
        content_type=content_type,
        charset=charset_of(content_type) if content_type else None,
        body=body[:MAX_BODY],
        is_whole=raw.is_whole and len(body) <= MAX_BODY,
        offset=raw.offset,
    )


def _location(url: str, raw: _Raw) -> str | None:
    """Return where a redirect leads."""
    value = raw.header("Location")
    if raw.status == 304 or value is None:
        return None
    with suppress(UrlError):
        return redirect_target(url, value)
    return None


#: What a robots.txt may be declared to be, besides text.
_OCTETS = (
    "",
    "application/octet-stream",
    "binary/octet-stream",
    "application/x-www-form-urlencoded",
)


def _class_of(status: int, location: str | None, content_type: str, body: bytes) -> FetchClass:
    """Return what a status means."""
    if 200 <= status < 300:
        media = content_type.partition(";")[0].strip().lower()
        is_text = media.startswith("text/") or media in _OCTETS or "/" not in media
        is_right = is_text and not is_page(body) and not is_binary(body)
        return FetchClass.OK if is_right else FetchClass.WRONG_TYPE
    if location is not None:
        return FetchClass.REDIRECT
    if status in RFC9309.statuses.unavailable:
        return FetchClass.UNAVAILABLE
    return FetchClass.UNREACHABLE


def _decoded(raw: _Raw) -> bytes:
    """Return a body without its codings; as it stands, where it is not in those it should be."""
    body = raw.body
    with suppress(OSError, ValueError, EOFError, zlib.error):
        if (raw.header("Transfer-Encoding") or "").strip().lower() == "chunked":
            body = _without_chunks(body)
        coding = (raw.header("Content-Encoding") or "").strip().lower()
        if coding in ("gzip", "x-gzip", "deflate"):
            body = zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(body, MAX_BODY + 1)
        elif coding == "br":
            body = _without_brotli(body)
    return body


def _whole_ones(file: BinaryIO, path: str, read: _Reader) -> Iterator[_Raw | BadRecord]:
    """Go through the records of a file; where it is broken, on to the next that begins as one.

    Raises:
        UnreadableError: it has none.
    """
    last = -1
    try:
        _check_start(file, 0)
        for raw in read(file, False):
            last = raw.offset
            yield raw
    except _BrokenError:
        # Once more from there, and now every record counts: to tell which is broken.
        yield from _others(file, path, read, last)
        return
    if last < 0 and file.seek(0, io.SEEK_END) > 0:
        yield from _others(file, path, read, last)
    elif last >= 0:
        trouble = _breaking_off(file, last)
        if trouble is not None:
            yield trouble


def _others(file: BinaryIO, path: str, read: _Reader, last: int) -> Iterator[_Raw | BadRecord]:
    """Go through the records of a broken file behind the last one that was read, if any was.

    Raises:
        UnreadableError: it has none at all.
    """
    found = last >= 0
    troubles: list[BadRecord] = []
    is_gap = False
    start: int | None = max(last, 0)
    while start is not None:
        at = -1
        try:
            _check_start(file, start)
            found = True
            for raw in read(file, True):
                at = raw.offset
                if at > last:
                    yield from troubles
                    troubles.clear()
                    yield raw
            break
        except _BrokenError as error:
            if at >= 0:
                troubles.append(BadRecord(at, f"what follows it is broken: {error}"))
            else:
                if is_gap:
                    troubles.pop()
                troubles.append(BadRecord(start, str(error)))
            is_gap = at >= 0
            last = max(last, at)
            start = _next_start(file, max(start, at) + 1)
    if not found:
        raise UnreadableError(f"{path}: is no WARC file")
    yield from troubles
    trouble = _breaking_off(file, max(last, at, 0)) if not troubles else None
    if trouble is not None:
        yield trouble


_GZIP = b"\x1f\x8b\x08"
_HEAD = b"WARC/"
_MARK = re.compile(rb"\x1f\x8b\x08|WARC/1\.")
_CHUNK = 1 << 20


def _next_start(file: BinaryIO, at: int) -> int | None:
    """Return where the next record of a file begins that looks like one, or None."""
    file.seek(at)
    base, window = at, b""
    while chunk := file.read(_CHUNK):
        window += chunk
        for match in _MARK.finditer(window):
            place = base + match.start()
            if match[0] != _GZIP or _begins_as_record(file, place):
                return place
        kept = min(len(_HEAD) + 1, len(window))
        base += len(window) - kept
        window = window[len(window) - kept :]
        file.seek(base + kept)
    return None


#: How archives begin that fastwarc unpacks besides: Zstandard, its skippable frames, and LZ4.
_OTHERS = (b"\x28\xb5\x2f\xfd", b"\x5d\x2a\x4d\x18", b"\x04\x22\x4d\x18")


def _check_start(file: BinaryIO, at: int) -> None:
    """Look whether a record may begin there, and stay there.

    Raises:
        _BrokenError: none does.
    """
    file.seek(at)
    begin = file.read(64)
    is_one = begin.startswith(_OTHERS) or begin.lstrip().startswith(_HEAD) or not begin
    if not is_one and not (begin.startswith(_GZIP) and _begins_as_record(file, at)):
        raise _BrokenError("no record begins there")
    file.seek(at)


def _begins_as_record(file: BinaryIO, at: int) -> bool:
    """Tell whether a member of gzip with a record begins there."""
    file.seek(at)
    with suppress(zlib.error):
        begin = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(file.read(4096), len(_HEAD))
        return begin == _HEAD
    return False


def _breaking_off(file: BinaryIO, last: int) -> BadRecord | None:
    """Return what a file breaks off in, behind its last whole record."""
    file.seek(last)
    if file.read(3) != _GZIP:
        return None
    file.seek(last)
    start, member = last, zlib.decompressobj(zlib.MAX_WBITS | 16)
    at = last
    data = file.read(_CHUNK)
    with suppress(zlib.error):
        while data:
            member.decompress(data, _CHUNK)
            while member.unconsumed_tail:
                member.decompress(member.unconsumed_tail, _CHUNK)
            if not member.eof:
                at += len(data)
                data = file.read(_CHUNK)
            else:
                at += len(data) - len(member.unused_data)
                data = member.unused_data or file.read(_CHUNK)
                start, member = at, zlib.decompressobj(zlib.MAX_WBITS | 16)
    return BadRecord(start, "the archive breaks off in it") if start < at or data else None


def _reader() -> _Reader:
    """Return how archives are read.

    Raises:
        MissingExtraError: neither library is there.
    """
    try:
        import fastwarc  # noqa: F401, PLC0415
    except ImportError:
        try:
            import warcio  # noqa: F401, PLC0415
        except ImportError as error:
            raise missing("koster.bulk.warc", "bulk") from error
        return with_warcio
    return with_fastwarc


def with_fastwarc(file: BinaryIO, every: bool) -> Iterator[_Raw]:
    """Read on with fastwarc: with ``every``, also records of no interest."""
    from fastwarc.warc import ArchiveIterator, WarcRecordType  # noqa: PLC0415

    wanted = WarcRecordType.response | WarcRecordType.warcinfo
    if every:
        wanted = WarcRecordType.any_type
    try:
        for record in ArchiveIterator(file, record_types=wanted, parse_http=True):
            size = record.content_length
            body = record.reader.read(min(size, MAX_BODY + 1)) if size else b""
            if len(body) < min(size, MAX_BODY + 1):
                raise _BrokenError(f"it has {len(body):,} octets, not {size:,}")
            http = record.http_headers
            yield _Raw(
                record.stream_pos,
                _type_of(record.record_type),
                record.headers.get("WARC-Target-URI"),
                record.record_date,
                http.status_code if http is not None else None,
                _fast_header(http),
                body,
                "WARC-Truncated" not in record.headers,
            )
    except OSError as error:
        raise _BrokenError(_told(error)) from error


def _type_of(kind: Any) -> str:
    from fastwarc.warc import WarcRecordType  # noqa: PLC0415

    if kind == WarcRecordType.response:
        return "response"
    return "warcinfo" if kind == WarcRecordType.warcinfo else "other"


def _told(error: Exception) -> str:
    """Return what a library says in a few words that can be shown."""
    text = " ".join("".join(each if each.isprintable() else " " for each in str(error)).split())
    return text[:100] or type(error).__name__


def _fast_header(http: Any) -> Callable[[str], str | None]:
    """Return how a header is looked up."""

    def header(name: str) -> str | None:
        value: str | None = http.get(name) if http is not None else None
        # It comes decoded octet by octet.
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


def with_warcio(file: BinaryIO, _every: bool) -> Iterator[_Raw]:
    """Read on with warcio, which reads every record."""
    from warcio.archiveiterator import ArchiveIterator  # noqa: PLC0415
    from warcio.exceptions import ArchiveLoadFailed  # noqa: PLC0415

    try:
        archive = ArchiveIterator(file)
        for record in archive:
            head = record.rec_headers
            if head.get_header("Content-Length") is None:
                raise _BrokenError("it has no Content-Length")
            http = record.http_headers
            body = record.raw_stream.read(MAX_BODY + 1)
            left = getattr(record.raw_stream, "limit", 0)
            if left > 0 and len(body) <= MAX_BODY:
                raise _BrokenError(f"it has {left:,} octets less than it says")
            # To tell the offset it reads the rest of the record.
            yield _Raw(
                archive.get_record_offset(),
                record.rec_type or "",
                head.get_header("WARC-Target-URI"),
                _moment(head.get_header("WARC-Date")),
                _status(http),
                _slow_header(http),
                body,
                head.get_header("WARC-Truncated") is None,
            )
    except ArchiveLoadFailed as error:
        raise _BrokenError("no record begins there") from error
    except AttributeError as error:
        raise _BrokenError("a header of it is missing") from error
    except (EOFError, OSError, ValueError, zlib.error) as error:
        raise _BrokenError(_told(error)) from error


def _slow_header(http: Any) -> Callable[[str], str | None]:
    def header(name: str) -> str | None:
        value: str | None = http.get_header(name) if http is not None else None
        return None if value is None else _as_text(value)

    return header


def _status(http: Any) -> int | None:
    code = http.get_statuscode() if http is not None else ""
    is_http = http is not None and str(http.protocol).upper().startswith("HTTP/")
    return int(code) if is_http and re.fullmatch(r"\d{3}", code or "") else None


def _moment(date: str | None) -> datetime | None:
    from datetime import UTC, datetime  # noqa: PLC0415

    with suppress(ValueError):
        moment = datetime.fromisoformat(date or "")
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None


def _without_chunks(body: bytes) -> bytes:
    """Return a body that was sent in chunks (RFC 9112 §7.1)."""
    try:
        from fastwarc.stream_io import ChunkedReader  # noqa: PLC0415
    except ImportError:
        from warcio.bufferedreaders import ChunkedDataReader  # noqa: PLC0415

        reader = ChunkedDataReader(io.BytesIO(body))
        return b"".join(iter(lambda: reader.read(_CHUNK), b""))[: MAX_BODY + 1]
    found: bytes = ChunkedReader(io.BytesIO(body)).read(MAX_BODY + 1)
    return found


def _without_brotli(body: bytes) -> bytes:
    """Return a body that was sent in Brotli, where it can be read."""
    try:
        from fastwarc.stream_io import BrotliReader  # noqa: PLC0415
    except ImportError:
        return body
    found: bytes = BrotliReader(io.BytesIO(body)).read(MAX_BODY + 1)
    return found
