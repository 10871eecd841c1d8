"""Content codings: a body unpacked as it comes, as much of it as is used, and whether it is whole.

httpx2 would do it, but takes a body that breaks off for a whole one: of a robots.txt that would be
rules lost. Only one coding at a time is read, so that no small body makes much work.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Protocol

import brotli  # type: ignore[import-untyped]
import httpx2

if TYPE_CHECKING:
    from collections.abc import Callable

_GZIP_MARK = b"\x1f\x8b"

#: Members of a gzip body that are read; each costs a copy of what follows.
_MEMBERS = 100


class Unpacker(Protocol):
    """Takes the parts of a body, gives what is in them, and tells at the end if that was all."""

    @property
    def is_whole(self) -> bool:
        """Whether the body has come to its end, as far as its coding tells."""

    @property
    def is_over(self) -> bool:
        """Whether nothing that follows belongs to it."""

    def feed(self, part: bytes, limit: int) -> bytes:
        """Return what is in a part, at most so many bytes of it."""


class _Plain:
    """No coding: it is whole when the connection says so."""

    is_whole = True
    is_over = False

    def feed(self, part: bytes, limit: int) -> bytes:
        return part[:limit]


class _Gzip:
    """gzip (RFC 1952): members one after the other; what follows them is no part of it.

    One that breaks off exactly between two members looks whole.
    """

    def __init__(self) -> None:
        self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self._members = 1
        self._fed = 0
        self.is_over = False

    @property
    def is_whole(self) -> bool:
        # Of another member its mark must have come, at least.
        has_begun = self._members == 1 or self._fed >= len(_GZIP_MARK)
        return self.is_over or self._member.eof or not has_begun

    def feed(self, part: bytes, limit: int) -> bytes:
        found = b""
        while part and not self.is_over and len(found) < limit:
            if self._member.eof:
                part = part.lstrip(b"\0")
                if not part:
                    break
                self._members += 1
                self._fed = 0
                self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
                if self._members > _MEMBERS:
                    raise zlib.error(f"more than {_MEMBERS} members")
            if self._members > 1 and self._fed < len(_GZIP_MARK):
                expected = _GZIP_MARK[self._fed :]
                self.is_over = part[: len(expected)] != expected[: len(part)]
                if self.is_over:
                    break
            self._fed += len(part)
            found += self._member.decompress(part, limit - len(found))
            part = self._member.unused_data
        return found


class _Deflate:
    """deflate: as zlib wraps it (RFC 1950), or bare, as some servers send it."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj()
        self._start: bytes | None = b""

    @property
    def is_whole(self) -> bool:
        return self._stream.eof

    @property
    def is_over(self) -> bool:
        return self._stream.eof

    def feed(self, part: bytes, limit: int) -> bytes:
        if self._start is None:
            return self._stream.decompress(part, limit)
        self._start += part
        # The header that tells the two apart has two bytes.
        if len(self._start) < 2:
            return b""
        start, self._start = self._start, None
        try:
            return self._stream.decompress(start, limit)
        except zlib.error:
            self._stream = zlib.decompressobj(-zlib.MAX_WBITS)
            return self._stream.decompress(start, limit)


class _Brotli:
    """br (RFC 7932)."""

    def __init__(self) -> None:
        self._stream = brotli.Decompressor()

    @property
    def is_whole(self) -> bool:
        return bool(self._stream.is_finished())

    @property
    def is_over(self) -> bool:
        return self.is_whole

    def feed(self, part: bytes, limit: int) -> bytes:
        if self.is_over:
            return b""
        found = self._stream.process(part, output_buffer_limit=limit)
        while len(found) < limit and not self._stream.can_accept_more_data():
            more = self._stream.process(b"", output_buffer_limit=limit)
            if not more:
                break
            found += more
        return bytes(found)


_UNPACKERS: dict[str, Callable[[], Unpacker]] = {
    "gzip": _Gzip,
    "x-gzip": _Gzip,
    "deflate": _Deflate,
    "br": _Brotli,
}

#: What is asked for, and what is read (RFC 9110 §8.4.1.3: x-gzip is gzip).
ACCEPTED = "gzip, deflate, br"
CODINGS = frozenset({"identity", *_UNPACKERS})

#: What broken bodies raise.
ERRORS = (zlib.error, brotli.error)


def unpacker(content_encoding: str) -> Unpacker:
    """Return what reads a body in a Content-Encoding; unknown codings are left as they are.

    Raises:
        httpx2.DecodingError: there are several.
    """
    said = (each.strip().lower() for each in content_encoding.split(","))
    known = [_UNPACKERS[each] for each in said if each in _UNPACKERS]
    if len(known) > 1:
        raise httpx2.DecodingError(f"it is packed {len(known)} times")
    made: Unpacker = known[0]() if known else _Plain()
    return made
