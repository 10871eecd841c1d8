"""The `Cache` protocol, and the serialization of entries.

A record has one line with the format and a checksum, one line of JSON, the body, and the body as it
was served, if it was decoded. Invalid
records and other versions count as missing: the origin is fetched again.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Protocol

from .._json import parse_json
from .._moments import EPOCH, later
from ..dialects import Statuses
from ..freshness import Answer, Entry, Hop

#: The format of records, with its version.
_FORMAT = b"koster-entry-1"


#: What fields of an invalid record may raise.
_PARSE_ERRORS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
)


class Cache(Protocol):
    """Stores entries by key.

    Must be thread-safe. Methods may raise any exception: the client then continues without the
    cache. If it has a method ``check``, a new client calls it, and does not catch its exceptions.
    If it has the methods of `LeasingCache`, too, one process fetches what several need.
    """

    def get(self, key: str) -> Entry | None:
        """Return the entry of a key, or None."""

    def put(self, key: str, entry: Entry) -> None:
        """Store an entry under a key, replacing the previous one."""

    def close(self) -> None:
        """Close files and connections. Persistent entries stay."""


class LeasingCache(Protocol):
    """What a cache that several processes share may have, besides the methods of `Cache`."""

    def lease(self, key: str, owner: str, seconds: float) -> bool:
        """Take a key's lease, or lengthen the owner's; False if another owner holds it.

        The lease ends after ``seconds``, at most 15. ``owner`` is unique.
        """

    def release(self, key: str, owner: str) -> None:
        """End a key's lease if the owner holds it."""


def key_prefix(statuses: Statuses) -> str:
    """Return the prefix of keys: dialects with the same `Statuses` share entries."""
    if statuses == type(statuses)():
        return ""
    ranges = (_format_ranges(statuses.forbidden), _format_ranges(statuses.unavailable))
    return f"{';'.join(ranges)};{statuses.lifetime};{statuses.longest} "


def _format_ranges(numbers: Iterable[int]) -> str:
    """Return sorted numbers as ranges, such as ``400-428,430-499``.

    >>> _format_ranges({404, 401, 400})
    '400-401,404'
    """
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and ranges[-1][-1] == number - 1:
            ranges[-1] = [ranges[-1][0], number]
        else:
            ranges.append([number])
    return ",".join("-".join(map(str, each)) for each in ranges)


def encode_entry(entry: Entry) -> bytes:
    """Serialize an entry as a record."""
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
        "decoded": None if entry.served is None else len(entry.body),
    }
    content = b"".join((
        json.dumps(fields).encode("ascii"), b"\n", entry.body, entry.served or b"",
    ))  # fmt: skip
    return b"%s %08x\n%s" % (_FORMAT, zlib.crc32(content), content)


def decode_entry(record: object) -> Entry | None:
    """Return the entry of a record, or None if it is invalid."""
    if not isinstance(record, bytes):
        return None
    head, _, content = record.partition(b"\n")
    if head != b"%s %08x" % (_FORMAT, zlib.crc32(content)):
        return None
    line, _, body = content.partition(b"\n")
    try:
        return _entry_from_fields(parse_json(line), body)
    except _PARSE_ERRORS:
        # Written by another program, with a correct checksum.
        return None


def _entry_from_fields(fields: Mapping[str, Any], body: bytes) -> Entry:
    since = fields["unreachable_since"]
    # Older records have no such field.
    size = None if fields.get("decoded") is None else int(fields["decoded"])
    return Entry(
        origin=_require_text(fields["origin"]),
        answer=Answer(fields["answer"]),
        url=_require_text(fields["url"]),
        hops=tuple(_hop_from_fields(*hop) for hop in fields["hops"]),
        status=None if fields["status"] is None else int(fields["status"]),
        why=_require_text(fields["why"]),
        body=body[:size],
        fetched=_moment_from_timestamp(fields["fetched"]),
        expires=_moment_from_timestamp(fields["expires"]),
        unreachable_since=None if since is None else _moment_from_timestamp(since),
        etag=None if fields["etag"] is None else _require_text(fields["etag"]),
        last_modified=None
        if fields["last_modified"] is None
        else _require_text(fields["last_modified"]),
        is_cut=bool(fields["is_cut"]),
        # Older records have no charset.
        charset=_require_text(fields["charset"]) if fields.get("charset") else None,
        served=None if size is None else body[size:],
    )


def _hop_from_fields(url: Any, status: Any, headers: Any, why: Any, seconds: Any) -> Hop:
    return Hop(
        _require_text(url),
        None if status is None else int(status),
        tuple((_require_text(name), _require_text(value)) for name, value in headers),
        _require_text(why),
        float(seconds),
    )


def _require_text(value: Any) -> str:
    """Return a value that must be a str.

    Raises:
        TypeError: it is not.
    """
    if not isinstance(value, str):
        raise TypeError(f"not a str: {value!r}")
    return value


def _moment_from_timestamp(seconds: Any) -> datetime:
    # As a float, the end of the year 9999 rounds up to the year 10000.
    return later(EPOCH, seconds)
