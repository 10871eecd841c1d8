"""What a cache does, and how entries are written down.

A record is one line that says which format it is in and its checksum, one line of JSON, and the
body. Whatever cannot be read, because it is broken or of another version, is no entry: the
origin is asked again.
"""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any, Protocol

from .._moments import EPOCH, later
from ..freshness import Answer, Entry, Hop

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from ..dialects import Statuses

#: The format of records; one of another version is not read.
_FORMAT = b"koster-entry-1"


#: What the fields of a record that is none of ours may raise.
_UNREADABLE = (
    *(ArithmeticError, AttributeError, LookupError, OSError),
    *(RecursionError, TypeError, ValueError),
)


class Cache(Protocol):
    """Keeps entries by key.

    It may be called from several threads. What it cannot do it says by an exception, of any
    kind: the client goes on without it.
    """

    def get(self, key: str) -> Entry | None:
        """Return what is kept under a key, or None."""

    def put(self, key: str, entry: Entry) -> None:
        """Keep an entry under a key, in the place of the one before."""

    def close(self) -> None:
        """Let go of files and connections. What is kept on a disk or server stays."""


def key_prefix(statuses: Statuses) -> str:
    """Return what keys begin with: dialects that read statuses alike share entries."""
    if statuses == type(statuses)():
        return ""
    read = (_ranges(statuses.forbidden), _ranges(statuses.unavailable))
    return f"{';'.join(read)};{statuses.lifetime};{statuses.longest} "


def _ranges(numbers: Iterable[int]) -> str:
    """Return numbers in order, as in ``400-428,430-499``.

    >>> _ranges({404, 401, 400})
    '400-401,404'
    """
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and ranges[-1][-1] == number - 1:
            ranges[-1] = [ranges[-1][0], number]
        else:
            ranges.append([number])
    return ",".join("-".join(map(str, each)) for each in ranges)


def encoded(entry: Entry) -> bytes:
    """Return the record of an entry."""
    fields: dict[str, Any] = {
        "origin": entry.origin,
        "answer": entry.answer.value,
        "url": entry.url,
        "hops": [[hop.url, hop.status, hop.headers, hop.why, hop.seconds] for hop in entry.hops],
        "status": entry.status,
        "why": entry.why,
        "fetched": entry.fetched.timestamp(),
        "expires": entry.expires.timestamp(),
        "unreachable_since": entry.unreachable_since and entry.unreachable_since.timestamp(),
        "etag": entry.etag,
        "last_modified": entry.last_modified,
        "is_cut": entry.is_cut,
        "charset": entry.charset,
    }
    content = json.dumps(fields).encode("ascii") + b"\n" + entry.body
    return b"%s %08x\n%s" % (_FORMAT, zlib.crc32(content), content)


def decoded(record: object) -> Entry | None:
    """Return the entry of a record, or None if it cannot be read."""
    if not isinstance(record, bytes):
        return None
    head, _, content = record.partition(b"\n")
    if head != b"%s %08x" % (_FORMAT, zlib.crc32(content)):
        return None
    line, _, body = content.partition(b"\n")
    try:
        return _entry(json.loads(line), body)
    except _UNREADABLE:
        # Somebody else wrote it, with a checksum that is right.
        return None


def _entry(fields: Mapping[str, Any], body: bytes) -> Entry:
    since = fields["unreachable_since"]
    return Entry(
        origin=_text(fields["origin"]),
        answer=Answer(fields["answer"]),
        url=_text(fields["url"]),
        hops=tuple(_hop(*hop) for hop in fields["hops"]),
        status=None if fields["status"] is None else int(fields["status"]),
        why=_text(fields["why"]),
        body=body,
        fetched=_moment(fields["fetched"]),
        expires=_moment(fields["expires"]),
        unreachable_since=None if since is None else _moment(since),
        etag=None if fields["etag"] is None else _text(fields["etag"]),
        last_modified=None if fields["last_modified"] is None else _text(fields["last_modified"]),
        is_cut=bool(fields["is_cut"]),
        # Records of before there was one have none.
        charset=_text(fields["charset"]) if fields.get("charset") else None,
    )


def _hop(url: Any, status: Any, headers: Any, why: Any, seconds: Any) -> Hop:
    return Hop(
        _text(url),
        None if status is None else int(status),
        tuple((_text(name), _text(value)) for name, value in headers),
        _text(why),
        float(seconds),
    )


def _text(value: Any) -> str:
    """Return what must be text.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(value, str):
        raise TypeError(f"not text: {value!r}")
    return value


def _moment(seconds: Any) -> datetime:
    # As a float the end of the year 9999 is the beginning of the next one.
    return later(EPOCH, seconds)
