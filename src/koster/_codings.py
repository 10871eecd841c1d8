"""Content codings: streaming, bounded decoders that report truncated bodies.

HTTP libraries accept a truncated body as complete, which would silently drop rules of a robots.txt.
Only one coding per response is supported, which limits decompression bombs.
"""

from __future__ import annotations

import importlib
import sys
import zlib
from functools import lru_cache

from ._charsets import is_utf8

try:
    import brotli  # type: ignore[import-untyped]
except ModuleNotFoundError:  # only the extras http and bulk have it
    brotli = None

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    zstd: Any

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


try:
    _ZSTD = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    zstd = importlib.import_module(_ZSTD)
except ImportError:  # before Python 3.14, only these extras have it
    zstd = None


class CodingError(Exception):
    """A body has an unsupported Content-Encoding."""


_GZIP_MAGIC = b"\x1f\x8b"

#: The maximum bytes that are decoded to find out whether a body is a stream of Brotli.
_MAX_TRIED = 1 << 16


#: Gzip members and frames of Zstandard decoded per body: each one copies the rest of the input.
_MAX_MEMBERS = 100

#: The logarithm of the largest window of Zstandard over HTTP, 8 MiB (RFC 9659 §3).
_MAX_WINDOW_LOG = 23


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


_BROTLI_PART = 1 << 12


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
        decoded = bytearray()
        # In parts: an error discards what is decoded before it.
        for start in range(0, len(chunk), _BROTLI_PART):
            part = chunk[start : start + _BROTLI_PART]
            while not self.is_finished and len(decoded) < limit:
                more = self._stream.process(part, output_buffer_limit=limit - len(decoded))
                decoded += more
                # The rest of the output comes only when it is asked for.
                part = b""
                if not more:
                    break
        return bytes(decoded)


class _Zstd:
    """zstd (RFC 8878): consecutive frames, also skippable ones; bytes after them are ignored."""

    def __init__(self) -> None:
        self._frame: Any = None
        self._frame_count = 0
        self._start = b""
        self.is_finished = False

    @property
    def is_whole(self) -> bool:
        # A further frame counts only once its magic number has arrived.
        return self.is_finished or (self._frame is None and self._frame_count > 0)

    def feed(self, chunk: bytes, limit: int) -> bytes:
        decoded = b""
        while chunk and not self.is_finished and len(decoded) < limit:
            if self._frame is None:
                chunk = self._start + chunk
                if len(chunk) < _ZSTD_MAGIC_SIZE:
                    self._start = chunk
                    break
                if not self._begin(chunk):
                    break
            decoded += self._frame.decompress(chunk, limit - len(decoded))
            chunk = self._frame.unused_data if self._frame.eof else b""
            if self._frame.eof:
                self._frame = None
        return decoded

    def _begin(self, chunk: bytes) -> bool:
        """Begin a frame; return False if the bytes after another one are not one."""
        self._start = b""
        if self._frame_count and not _is_zstd_frame(chunk):
            self.is_finished = True
            return False
        self._frame_count += 1
        if self._frame_count > _MAX_MEMBERS:
            raise zstd.ZstdError(f"more than {_MAX_MEMBERS} frames")
        options = {zstd.DecompressionParameter.window_log_max: _MAX_WINDOW_LOG}
        self._frame = zstd.ZstdDecompressor(options=options)
        return True


_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_MAGIC_SIZE = len(_ZSTD_MAGIC)


def _is_zstd_frame(start: bytes) -> bool:
    """Return whether a frame starts with these bytes, or one that decoders skip."""
    is_skippable = 0x50 <= start[0] <= 0x5F and start[1:4] == b"\x2a\x4d\x18"
    return is_skippable or start.startswith(_ZSTD_MAGIC)


#: Decoders by coding (RFC 9110 §8.4.1.3: x-gzip is gzip).
DECODERS: dict[str, Callable[[], Decoder]] = {
    "gzip": _Gzip,
    "x-gzip": _Gzip,
    "deflate": _Deflate,
}
if brotli is not None:
    DECODERS["br"] = _Brotli
if zstd is not None:
    DECODERS["zstd"] = _Zstd

#: The Accept-Encoding header, and the codings supported.
ACCEPTED = ", ".join(each for each in DECODERS if each != "x-gzip")
CODINGS = frozenset({"identity", *DECODERS})

#: What decoders raise for invalid bodies.
ERRORS = (
    zlib.error,
    CodingError,
    *([] if brotli is None else [brotli.error]),
    *([] if zstd is None else [zstd.ZstdError]),
)

#: The codings that compress (RFC 9110 §8.4.1, RFC 7932, RFC 8878), supported or not.
COMPRESSING = frozenset({"gzip", "x-gzip", "deflate", "br", "zstd", "compress", "x-compress"})
#: How bodies begin in the codings that have a magic number.
MAGIC = {"gzip": _GZIP_MAGIC, "x-gzip": _GZIP_MAGIC, "zstd": _ZSTD_MAGIC}


@lru_cache(maxsize=32)
def codings_of(header: str) -> tuple[str, ...]:
    """Return the codings of a Content-Encoding or Transfer-Encoding, except identity."""
    codings = (each.strip().lower() for each in header.split(","))
    return tuple(each for each in codings if each not in ("", "identity"))


def decoder_for(content_encoding: str) -> Decoder:
    """Return the decoder for a Content-Encoding; unknown codings are passed through.

    Raises:
        CodingError: the header names several supported codings.
    """
    codings = codings_of(content_encoding)
    factories = [DECODERS[each] for each in codings if each in DECODERS]
    if len(factories) > 1:
        raise CodingError(f"{len(factories)} content codings, only one is supported")
    return factories[0]() if factories else _Plain()


def whole_gzip(body: bytes, limit: int) -> bytes | None:
    """Return what is in a body that is a single member of gzip, else None.

    Most bodies are, and a decoder takes half as much again.
    """
    member = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        decoded = member.decompress(body, limit + 1)
    except zlib.error:
        return None
    return decoded if member.eof and not member.unused_data else None


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
