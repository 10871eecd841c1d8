"""What facades that fetch have in common: bodies and charsets, as hostile servers send them."""

from __future__ import annotations

import codecs
import time
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import http.client

#: Octets that are read of a robots.txt by default: what koster parses of one.
MAX_OCTETS = 1 << 24

#: Codecs of Python that are no charsets of documents; some take time that grows with the square.
_NO_CHARSETS = frozenset({"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape"})

_CHUNK = 1 << 16


def decoded(content: bytes, charset: str) -> str:
    """Return octets as text.

    Raises:
        LookupError: there is no such charset.
        UnicodeError: the octets are not in it.
    """
    try:
        name = codecs.lookup(charset).name.replace("-", "_")
    except ValueError as error:
        raise LookupError(f"unknown encoding: {charset!r}") from error
    if name in _NO_CHARSETS:
        raise LookupError(f"unknown encoding: {charset!r}")
    return content.decode(charset)


def unpacked(content: bytes, encoding: str | None, limit: int) -> bytes:
    """Return the first ``limit`` octets of a body without its Content-Encoding."""
    if (encoding or "").strip().lower() not in ("gzip", "x-gzip", "deflate"):
        return content
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(content, limit)
    except zlib.error:
        return content


def read_within(response: http.client.HTTPResponse, limit: int, deadline: float) -> bytes:
    """Return at most ``limit`` octets of a body, read before a moment of the monotonic clock.

    Raises:
        TimeoutError: it is over, and there is more to come.
    """
    parts = []
    size = 0
    while size < limit:
        part = response.read1(min(_CHUNK, limit - size))
        if not part:
            # It has come to its end: that makes the connection free for the next request.
            response.read()
            break
        parts.append(part)
        size += len(part)
        if time.monotonic() > deadline:
            raise TimeoutError("the server took too long")
    return b"".join(parts)
