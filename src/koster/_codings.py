"""Content codings: streaming, bounded decoders that report truncated bodies.

HTTP libraries accept a truncated body as complete, which would silently drop rules of a robots.txt.
Only one coding per response is supported, which limits decompression bombs.
"""

from __future__ import annotations

import zlib

from ._charsets import is_utf8

try:
    import brotli  # type: ignore[import-untyped]
except ModuleNotFoundError:  # only the extra http has it
    brotli = None

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    class Decoder(Protocol):
        """Decodes a body chunk by chunk."""

        @property
        def is_whole(self) -> bool:
            """Whether the body is complete, as far as its coding can tell."""

        @property
        def is_finished(self) -> bool:
            """Whether the encoded stream has ended: bytes after it are ignored."""

        def feed(self, chunk: bytes, limit: int) -> bytes:
            """Decode a chunk, to at most ``limit`` bytes."""


class CodingError(Exception):
    """A body has an unsupported Content-Encoding."""


_GZIP_MAGIC = b"\x1f\x8b"

#: The maximum bytes that are decoded to find out whether a body is a stream of Brotli.
_MAX_TRIED = 1 << 16


#: Gzip members decoded per body: each one copies the rest of the input.
_MAX_MEMBERS = 100


class _Plain:
    """No coding: whoever reads the connection detects truncation."""

    is_whole = True
    is_finished = False

    def feed(self, chunk: bytes, limit: int) -> bytes:
        return chunk[:limit]


class _Gzip:
    """gzip (RFC 1952): consecutive members; bytes after them are ignored.

    A body truncated exactly between two members looks complete.
    """

    def __init__(self) -> None:
        self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self._member_count = 1
        self._member_bytes = 0
        self.is_finished = False

    @property
    def is_whole(self) -> bool:
        # A further member counts only once its magic number has arrived.
        has_begun = self._member_count == 1 or self._member_bytes >= len(_GZIP_MAGIC)
        return self.is_finished or self._member.eof or not has_begun

    def feed(self, chunk: bytes, limit: int) -> bytes:
        decoded = b""
        while chunk and not self.is_finished and len(decoded) < limit:
            if self._member.eof:
                chunk = chunk.lstrip(b"\0")
                if not chunk:
                    break
                self._member_count += 1
                self._member_bytes = 0
                self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
                if self._member_count > _MAX_MEMBERS:
                    raise zlib.error(f"more than {_MAX_MEMBERS} members")
            if self._member_count > 1 and self._member_bytes < len(_GZIP_MAGIC):
                expected = _GZIP_MAGIC[self._member_bytes :]
                self.is_finished = chunk[: len(expected)] != expected[: len(chunk)]
                if self.is_finished:
                    break
            self._member_bytes += len(chunk)
            decoded += self._member.decompress(chunk, limit - len(decoded))
            chunk = self._member.unused_data
        return decoded


class _Deflate:
    """deflate: with the zlib header (RFC 1950), or raw, as some servers send it."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj()
        self._start: bytes | None = b""

    @property
    def is_whole(self) -> bool:
        return self._stream.eof

    @property
    def is_finished(self) -> bool:
        return self._stream.eof

    def feed(self, chunk: bytes, limit: int) -> bytes:
        if self._start is None:
            return self._stream.decompress(chunk, limit)
        self._start += chunk
        # The zlib header has two bytes.
        if len(self._start) < 2:
            return b""
        start, self._start = self._start, None
        try:
            return self._stream.decompress(start, limit)
        except zlib.error:
            self._stream = zlib.decompressobj(-zlib.MAX_WBITS)
            return self._stream.decompress(start, limit)


class _Brotli:
    """br (RFC 7932), with the package brotli."""

    def __init__(self) -> None:
        self._stream: Any = brotli.Decompressor()

    @property
    def is_whole(self) -> bool:
        return bool(self._stream.is_finished())

    @property
    def is_finished(self) -> bool:
        return self.is_whole

    def feed(self, chunk: bytes, limit: int) -> bytes:
        if self.is_finished:
            return b""
        decoded = self._stream.process(chunk, output_buffer_limit=limit)
        while len(decoded) < limit and not self._stream.can_accept_more_data():
            more = self._stream.process(b"", output_buffer_limit=limit)
            if not more:
                break
            decoded += more
        return bytes(decoded)


#: Decoders by coding (RFC 9110 §8.4.1.3: x-gzip is gzip).
DECODERS: dict[str, Callable[[], Decoder]] = {
    "gzip": _Gzip,
    "x-gzip": _Gzip,
    "deflate": _Deflate,
}
if brotli is not None:
    DECODERS["br"] = _Brotli

#: The Accept-Encoding header, and the codings supported.
ACCEPTED = ", ".join(each for each in DECODERS if each != "x-gzip")
CODINGS = frozenset({"identity", *DECODERS})

#: What decoders raise for invalid bodies.
ERRORS = (zlib.error, CodingError, *([] if brotli is None else [brotli.error]))


def decoder_for(content_encoding: str) -> Decoder:
    """Return the decoder for a Content-Encoding; unknown codings are passed through.

    Raises:
        CodingError: the header names several supported codings.
    """
    codings = (each.strip().lower() for each in content_encoding.split(","))
    factories = [DECODERS[each] for each in codings if each in DECODERS]
    if len(factories) > 1:
        raise CodingError(f"{len(factories)} content codings, only one is supported")
    return factories[0]() if factories else _Plain()


def is_brotli(body: bytes) -> bool:
    """Return whether bytes are a whole stream of Brotli with text; it has no magic number."""
    if brotli is None:
        return False
    decoder = _Brotli()
    try:
        text = decoder.feed(body, _MAX_TRIED)
    except brotli.error:
        return False
    if decoder.is_finished:
        return bool(text) and is_utf8(text)
    # The last character may be cut.
    return len(text) >= _MAX_TRIED and is_utf8(text[:-4])
