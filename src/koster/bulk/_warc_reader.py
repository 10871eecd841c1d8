"""Reads the raw records of a WARC file with fastwarc."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

from .._moments import in_utc
from ..errors import missing

try:
    from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType
except ImportError as error:
    raise missing("koster.bulk.warc", "bulk") from error

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

#: The maximum bytes of a body: 32 times what crawlers must parse (RFC 9309 §2.5).
MAX_BODY = 16 * 1024 * 1024 - 1


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A part of an archive that could not be read: its offset in bytes, and why."""

    offset: int
    why: str


class RawRecord(NamedTuple):
    """A record as fastwarc returns it."""

    offset: int
    type: str
    url: str | None
    fetched: datetime | None
    status: int | None
    headers: dict[str, str]
    body: bytes
    is_whole: bool
    fields: list[tuple[bytes, bytes]]
    """All HTTP headers as they are; ``headers`` has those that matter for all bodies."""


class BrokenError(Exception):
    """The archive is broken; reading cannot continue from here."""


#: The types of records that matter here.
_NAMES = {
    int(WarcRecordType.response): "response",
    int(WarcRecordType.warcinfo): "warcinfo",
    int(WarcRecordType.revisit): "revisit",
    int(WarcRecordType.resource): "resource",
}
_WANTED: Any = sum(_NAMES)


def read_raw(file: BinaryIO, all_types: bool) -> Iterator[RawRecord]:
    """Yield records from the file's position on: those of `_NAMES`, or of all types.

    Raises:
        BrokenError: the archive is broken here.
    """
    wanted = WarcRecordType.any_type if all_types else _WANTED
    try:
        for record in ArchiveIterator(file, record_types=wanted, parse_http=True):
            size = record.content_length
            body = record.reader.read(min(size, MAX_BODY + 1)) if size else b""
            if len(body) < min(size, MAX_BODY + 1):
                raise BrokenError(f"the record has {len(body):,} bytes, not {size:,}")
            http = record.http_headers
            fields = [] if http is None else list(http.items_bytes())
            yield RawRecord(
                record.stream_pos,
                _NAMES.get(int(record.record_type), "other"),
                record.headers.get("WARC-Target-URI"),
                _moment_of(record),
                http.status_code if http is not None else None,
                _headers_in(fields),
                body,
                "WARC-Truncated" not in record.headers,
                fields,
            )
    except OSError as error:
        raise BrokenError(_message_of(error)) from error


#: A date of any precision (ISO 28500 §5.4): from the year alone to nanoseconds.
_MOMENT = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d)(?::(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?"
    r"(Z|[+-]\d\d:\d\d)?)?)?)?",
    re.ASCII,
)


def _moment_of(record: WarcRecord) -> datetime | None:
    # fastwarc is faster, but knows no other precision than seconds and their fractions.
    found: datetime | None = record.record_date
    if found is None:
        return moment_of(record.headers.get("WARC-Date"))
    return in_utc(found)


def moment_of(text: str | None) -> datetime | None:
    """Return the moment at which a date begins, in UTC; None if it is missing or invalid.

    >>> str(moment_of("2026-03")), str(moment_of("2026-03-01T12:30:00.123456789Z"))
    ('2026-03-01 00:00:00+00:00', '2026-03-01 12:30:00.123456+00:00')
    """
    match = _MOMENT.fullmatch(text.strip()) if text is not None else None
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    is_leap = second == "60"
    micro = 999_999 if is_leap else int((fraction or "")[:6].ljust(6, "0"))
    try:
        found = datetime(
            int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0),
            59 if is_leap else int(second or 0), micro, UTC,
        )  # fmt: skip
        if zone in (None, "Z"):
            return found
        return in_utc(found.replace(tzinfo=datetime.strptime(zone, "%z").tzinfo))
    except ValueError:
        return None


#: Why nothing in a file can be read without its dictionary.
NO_DICTIONARY = "it is compressed with a Zstandard dictionary that the file does not have"


def _message_of(error: Exception) -> str:
    if "Dictionary mismatch" in str(error):
        return NO_DICTIONARY
    text = " ".join("".join(each if each.isprintable() else " " for each in str(error)).split())
    return text[:100] or type(error).__name__


#: The HTTP headers that matter here, by their names in lower case.
_HEADERS = {
    each.encode(): each
    for each in (
        "content-type", "location", "content-encoding", "transfer-encoding", "content-length"
    )
}  # fmt: skip
#: Those whose repeated lines form one list.
_LISTS = frozenset({"content-encoding", "transfer-encoding", "content-length"})


def _headers_in(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the headers that matter: of repeated ones the first, or the joined list."""
    found: dict[str, str] = {}
    for raw, value in pairs:
        name = _HEADERS.get(raw.lower())
        if name is not None:
            text = value.decode("utf-8", "surrogateescape")
            if name not in found:
                found[name] = text
            elif name in _LISTS:
                found[name] += f", {text}"
    return found
