"""Bodies of responses in all codings, whole and cut: what each says, through every entrance."""

from __future__ import annotations

import gzip
import sys
import zlib
from dataclasses import dataclass
from functools import partial
from typing import Any

import brotli

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

FILE = b"# a robots.txt\nUser-agent: *\nDisallow: /private\n"
#: What crawlers must read of it, and more (RFC 9309 §2.5).
LONG_FILE = FILE + b"".join(b"# %x\n" % (number * number) for number in range(60_000))


def raw_deflate(body: bytes) -> bytes:
    """Compress without the header of zlib."""
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(body) + compressor.flush()


def stored_zstd(body: bytes, dictionary: Any = None) -> bytes:
    """Compress with Zstandard."""
    return zstd.compress(body, zstd_dict=dictionary)  # type: ignore[no-any-return, unused-ignore]


def zstd_with_window(body: bytes, log: int) -> bytes:
    """Compress with Zstandard, and a window of two to this power."""
    compressor = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: log})
    return compressor.compress(body) + compressor.flush()


def zstd_dictionary(samples: list[bytes]) -> Any:
    """Train a dictionary."""
    return zstd.train_dict(samples, 4_000)


#: A way to compress by each Content-Encoding; the last word is the coding.
COMPRESSORS: dict[str, Any] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "raw deflate": raw_deflate,
    "br": partial(brotli.compress, quality=5),
    "zstd": stored_zstd,
}


def chunk(body: bytes) -> bytes:
    """Return a chunk (RFC 9112 §7.1)."""
    return b"%x\r\n%b\r\n" % (len(body), body)


@dataclass(frozen=True)
class Sent:
    """A response: the lines of its headers, and its body as it was sent."""

    body: bytes
    headers: tuple[str, ...] = ()

    @property
    def raw(self) -> bytes:
        """The response as bytes."""
        lines = ["HTTP/1.1 200 OK", "Content-Type: text/plain", *self.headers, "", ""]
        return "\r\n".join(lines).encode() + self.body


def _coded(coding: str, body: bytes, *more: str) -> Sent:
    return Sent(body, (f"Content-Encoding: {coding.rsplit(maxsplit=1)[-1]}", *more))


CHUNKED = "Transfer-Encoding: chunked"
_GZIP = gzip.compress(FILE)
_SKIPPABLE = b"\x50\x2a\x4d\x18\3\0\0\0abc"

#: Every reader gets `FILE` of these.
READABLE = {
    "plain": Sent(FILE),
    "length": Sent(FILE, (f"Content-Length: {len(FILE)}",)),
    "unknown coding": _coded("utf-8", FILE),
    **{coding: _coded(coding, compress(FILE)) for coding, compress in COMPRESSORS.items()},
    "two members of gzip": _coded("gzip", gzip.compress(FILE[:20]) + gzip.compress(FILE[20:])),
    "two frames of zstd": _coded("zstd", stored_zstd(FILE[:20]) + stored_zstd(FILE[20:])),
    "skippable frames": _coded("zstd", _SKIPPABLE + stored_zstd(FILE) + _SKIPPABLE),
    "window of 8 MiB": _coded("zstd", zstd_with_window(FILE, 23)),
    "bytes after zstd": _coded("zstd", stored_zstd(FILE) + b"junk"),
    "gzip, with bytes after it": _coded("gzip", _GZIP + b"Disallow: /"),
    "identity": _coded("identity", FILE),
    "chunks": Sent(chunk(FILE[:9]) + chunk(FILE[9:]) + b"0\r\n\r\n", (CHUNKED,)),
    "trailer": Sent(b"30;x=y\r\n" + FILE + b"\r\n0\r\nX: y\r\n\r\n", (CHUNKED,)),
    "gzip in chunks": _coded("gzip", chunk(_GZIP[:9]) + chunk(_GZIP[9:]) + b"0\r\n\r\n", CHUNKED),
}

#: No reader gets an answer of these: the site is unreachable.
UNREADABLE = {
    **{
        f"{coding}, {size} bytes": _coded(coding, compress(FILE)[:size])
        for coding, compress in COMPRESSORS.items()
        for size in (1, 2, 3, 5, 12, 25, len(compress(FILE)) - 1)
    },
    **{
        f"{coding} {times}": _coded(coding, compress(compress(FILE)))
        for coding, compress in COMPRESSORS.items()
        for times in ("twice",)
    },
    **{f"{coding} without label": Sent(compress(FILE)) for coding, compress in COMPRESSORS.items()
       if coding != "zstd"},
    "zstd without label": Sent(stored_zstd(FILE)),
    "two codings": _coded("gzip, gzip", gzip.compress(_GZIP)),
    "two codings in two lines": _coded("gzip", gzip.compress(_GZIP), "Content-Encoding: gzip"),
    "second member of gzip": _coded("gzip", _GZIP + gzip.compress(FILE)[:20]),
    "second frame of zstd": _coded("zstd", stored_zstd(FILE) + stored_zstd(FILE)[:9]),
    "many members": _coded("gzip", gzip.compress(b"#\n") * 200),
    "many frames": _coded("zstd", stored_zstd(b"#\n") * 200),
    "no gzip": _coded("gzip", b"\x8b" + FILE),
    # RFC 9659: it would need 16 MiB of memory.
    "window of 16 MiB": _coded("zstd", zstd_with_window(FILE, 24)),
    "no zstd": _coded("zstd", b"\xff" + FILE),
    "unknown coding, no text": _coded("aes128gcm", b"\x80" + FILE),
    "compress": _coded("compress", b"\x1f\x9d\x90" + FILE),
    "ZIP": Sent(b"PK\x03\x04\x14\0\0\0\x08\0" + FILE),
    "less than its length": Sent(FILE, ("Content-Length: 500",)),
    "a list of lengths": Sent(FILE, ("Content-Length: 500, 500",)),
    "in a chunk": Sent(b"30\r\n" + FILE[:20], (CHUNKED,)),
    "between chunks": Sent(chunk(FILE), (CHUNKED,)),
    "in the size of a chunk": Sent(chunk(FILE) + b"0", (CHUNKED,)),
    "in the first size": Sent(b"3", (CHUNKED,)),
    "before the trailer": Sent(chunk(FILE) + b"0\r\n", (CHUNKED,)),
    "in the trailer": Sent(chunk(FILE) + b"0\r\nX: y\r\n", (CHUNKED,)),
    "a wrong size": Sent(b"20\r\n" + FILE + b"\r\n0\r\n\r\n", (CHUNKED,)),
    "cut gzip in chunks": _coded("gzip", chunk(_GZIP[:20]) + b"0\r\n\r\n", CHUNKED),
    "gzip in cut chunks": _coded("gzip", chunk(_GZIP), CHUNKED),
    "unknown transfer coding": Sent(_GZIP, ("Transfer-Encoding: gzip, chunked",)),
}  # fmt: skip

#: Archives have these without the coding that is declared.
DECODED = {
    **{f"text under {coding}": _coded(coding, FILE) for coding in COMPRESSORS},
    "text under compress": _coded("compress", FILE),
    "text under two codings": _coded("gzip, br", FILE),
    "text under chunked": Sent(FILE, (CHUNKED,)),
    "text under gzip, chunked": Sent(FILE, ("Transfer-Encoding: gzip, chunked",)),
    "text and a longer length": _coded("gzip", FILE, "Content-Length: 500"),
    "UTF-8": _coded("gzip", FILE + "# é\x0c\n".encode()),
    "no text": Sent(b"", (CHUNKED,)),
}
