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
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from .._charsets import charset_of
from ..dialects import RFC9309
from ..errors import UnreadableError, UrlError, missing
from ..lint import is_binary, is_page
from ..origins import origin_of, redirect_target

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    #: Reads on in an archive; the flag says whether records of no interest are told, too.
    _Reader: TypeAlias = Callable[[BinaryIO, bool], Iterator["_Raw"]]

#: Bytes of a body that are read: 32 times what crawlers are to read (RFC 9309 §2.5).
MAX_BODY = 16 * 1024 * 1024 - 1


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


@dataclass(frozen=True, slots=True)
class BadRecord:
    """What could not be read: where it stands in the archive, in bytes, and why."""

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


def records(
    source: str | os.PathLike[str] | BinaryIO, name: str | None = None
) -> Iterator[Record | BadRecord]:
    """Go through the fetches in an archive: all responses of HTTP.

    Args:
        source: The path of a file, or a file that is open to be read, from its start, and can seek.
        name: What the archive is called, if that is not its path.

    Raises:
        UnreadableError: the file cannot be read, or is no archive.
        MissingExtraError: neither fastwarc nor warcio is installed.
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
    for raw in _whole_ones(file, path, _reader()):
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


def _record(raw: _Raw, crawl: str | None) -> Record | BadRecord | None:
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


def _location(url: str, raw: _Raw) -> str | None:
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


#: Places in an archive that may be broken before it is not read on.
_MOST_BROKEN = 1_000


def _whole_ones(file: BinaryIO, path: str, read: _Reader) -> Iterator[_Raw | BadRecord]:
    """Go through the records of a file; where it is broken, on to the next that begins as one.

    The first time through records of no interest are not looked at. From where it is broken, or
    from the last record on, they are: to tell what of them is whole.

    Raises:
        UnreadableError: it has none.
    """
    place = _Place(file)
    start: int | None = 0
    every = False
    while start is not None:
        at = -1
        # Records of one member have one offset, or one within it: only what was read before is not
        # told again.
        last = place.last
        try:
            _check_start(file, start)
            place.is_archive = True
            for raw in read(file, every):
                at = raw.offset
                if at > last:
                    yield from place.told()
                    place.last = at
                    yield raw
        except _BrokenError as error:
            if every or place.is_within(at):
                start = place.after_broken(start, at, str(error))
            else:
                start = max(at, 0)
        else:
            is_last = every or place.is_within(at)
            start = place.after_end(start, at) if is_last else max(at, 0)
        every = True
    if not place.is_archive and place.size:
        raise UnreadableError(f"{path}: is no WARC file")
    yield from place.told()


class _Place:
    """How far a file is read, and what of it could not be."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.size = file.seek(0, io.SEEK_END)
        self.last = -1
        self.is_archive = False
        self._troubles: list[BadRecord] = []
        self._count = 0
        self._is_gap = False

    def told(self) -> list[BadRecord]:
        """Return what could not be read since this was last asked."""
        found, self._troubles = self._troubles, []
        self._is_gap = False
        return found

    def is_within(self, at: int) -> bool:
        """Tell whether a record is within a member: reading cannot begin again at its offset."""
        return at >= self.size or (at > 0 and not _is_start(self.file, at))

    def _add(self, offset: int, why: str) -> None:
        self._count += 1
        self._troubles.append(BadRecord(offset, why))

    def _next(self, at: int) -> int | None:
        """Return where to read on behind a broken place."""
        if self._count > _MOST_BROKEN:
            self._add(at, "too much of the archive is broken; it is not read on")
            return None
        return _next_start(self.file, at)

    def after_broken(self, start: int, at: int, why: str) -> int | None:
        """Return where to read on after records from ``start`` on, the last one at ``at``."""
        if at >= 0:
            self._add(at, f"what follows it is broken: {why}")
        else:
            if self._is_gap:
                # What follows the last good one is this.
                self._troubles.pop()
            self._add(start, why)
        self._is_gap = at >= 0
        return self._next(max(start, at) + 1)

    def after_end(self, start: int, at: int) -> int | None:
        """Return where to read on where a library says that there is no more."""
        if at < 0:
            if start < self.size:
                self._add(start, "the archive breaks off in it")
                return self._next(start + 1)
            return None
        end, is_whole = _end_of(self.file, at, self.size)
        if end is None:
            # Several records are in one member: where they begin nobody knows.
            end, is_whole = _end_of(self.file, start, self.size)
        if not is_whole:
            self._add(at, "the archive breaks off in it")
            return self._next(at + 1)
        following = self.size if end is None else _past_nothing(self.file, end)
        if following >= self.size:
            return None
        return following if _is_start(self.file, following) else self._junk(following)

    def _junk(self, at: int) -> int | None:
        self.file.seek(at)
        is_cut = self.file.read(3) == _GZIP and not _member_end(self.file, at)[1]
        self._add(at, "the archive breaks off in it" if is_cut else "no record begins there")
        return self._next(at + 1)


def _end_of(file: BinaryIO, at: int, size: int) -> tuple[int | None, bool]:
    """Return where a record ends, and whether it is whole; None: none begins there."""
    file.seek(at)
    begin = file.read(1 << 16)
    if begin.startswith(_GZIP):
        return _member_end(file, at) if _begins_as_record(file, at) else (None, True)
    if not begin.lstrip().startswith(_HEAD):
        return None, True
    head, _, _ = begin.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)\r\ncontent-length:[ \t]*(\d{1,18})", head)
    end = at + len(head) + 4 + (int(length[1]) if length else 0)
    return min(end, size), end <= size


def _member_end(file: BinaryIO, at: int) -> tuple[int, bool]:
    """Return where a member of gzip ends, and whether it is whole."""
    file.seek(at)
    member = zlib.decompressobj(zlib.MAX_WBITS | 16)
    with suppress(zlib.error):
        while data := file.read(1 << 16):
            while data:
                member.decompress(data, _CHUNK)
                data = member.unconsumed_tail
            if member.eof:
                return file.tell() - len(member.unused_data), True
    return file.tell(), False


def _past_nothing(file: BinaryIO, at: int) -> int:
    """Return where something stands behind ends of lines, and members of gzip without content."""
    while True:
        file.seek(at)
        begin = file.read(1 << 12)
        stripped = begin.lstrip(b"\r\n")
        if begin and not stripped:
            at += len(begin)
            continue
        at += len(begin) - len(stripped)
        if not stripped.startswith(_GZIP):
            return at
        member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            if member.decompress(stripped, 1) or not member.eof:
                return at
        except zlib.error:
            return at
        at += len(stripped) - len(member.unused_data)


_GZIP = b"\x1f\x8b\x08"
_HEAD = b"WARC/"
_MARK = re.compile(rb"\x1f\x8b\x08|WARC/1\.")
_CHUNK = 1 << 18


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
    if not _is_start(file, at):
        raise _BrokenError("no record begins there")
    file.seek(at)


def _is_start(file: BinaryIO, at: int) -> bool:
    """Tell whether a record may begin there, or the file ends."""
    file.seek(at)
    begin = file.read(64)
    if begin.startswith(_GZIP):
        return _begins_as_record(file, at)
    return begin.startswith(_OTHERS) or begin.lstrip().startswith(_HEAD) or not begin


def _begins_as_record(file: BinaryIO, at: int) -> bool:
    """Tell whether a member of gzip with a record begins there."""
    file.seek(at)
    with suppress(zlib.error):
        begin = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(file.read(4096), len(_HEAD))
        return begin == _HEAD
    return False


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

    response, info = WarcRecordType.response, WarcRecordType.warcinfo
    wanted = WarcRecordType.any_type if every else response | info
    try:
        for record in ArchiveIterator(file, record_types=wanted, parse_http=True):
            size = record.content_length
            body = record.reader.read(min(size, MAX_BODY + 1)) if size else b""
            if len(body) < min(size, MAX_BODY + 1):
                raise _BrokenError(f"it has {len(body):,} bytes, not {size:,}")
            http = record.http_headers
            kind = record.record_type
            yield _Raw(
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
        raise _BrokenError(_told(error)) from error


def _told(error: Exception) -> str:
    """Return what a library says in a few words that can be shown."""
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
                raise _BrokenError(f"it has {left:,} bytes less than it says")
            # To tell the offset it reads the rest of the record.
            yield _Raw(
                archive.get_record_offset(),
                record.rec_type or "",
                head.get_header("WARC-Target-URI"),
                _moment(head.get_header("WARC-Date")),
                _status(http),
                _header(None if http is None else http.get_header),
                body,
                head.get_header("WARC-Truncated") is None,
            )
    except ArchiveLoadFailed as error:
        raise _BrokenError("no record begins there") from error
    except AttributeError as error:
        raise _BrokenError("a header of it is missing") from error
    except (EOFError, OSError, ValueError, zlib.error) as error:
        raise _BrokenError(_told(error)) from error


def _status(http: Any) -> int | None:
    code = http.get_statuscode() if http is not None else ""
    is_http = http is not None and str(http.protocol).upper().startswith("HTTP/")
    return int(code) if is_http and re.fullmatch(r"\d{3}", code or "") else None


def _moment(date: str | None) -> datetime | None:
    with suppress(ValueError):
        return datetime.fromisoformat(date or "")
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
