"""What facades have in common: URLs and bodies, as hostile servers send them."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

#: Bytes that are read of a robots.txt by default: what koster parses of one.
MAX_BYTES = 1 << 24

#: What `urllib.parse.quote` is to leave as it is, so that only what is not ASCII is escaped.
ASCII = "".join(map(chr, range(128)))


def in_brackets(host: str) -> str:
    """Return a host as it stands in a URL: an address of IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host


def folded(user_agent: str) -> str:
    """Return a user agent in lower case, where that is more than the engine does itself."""
    return user_agent if user_agent.isascii() else user_agent.lower()


def text_of(value: str | bytes) -> str:
    """Return a value as text; bytes that are not UTF-8 become lone surrogates."""
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value


def decoders(characters: str) -> tuple[Callable[[bytes], bytes], Callable[[str], str]]:
    """Return two functions, for bytes and for text, that decode the escapes of these alone."""
    codes = "|".join(f"{ord(character):02X}" for character in characters)
    in_bytes = re.compile(f"%({codes})".encode(), re.IGNORECASE)
    in_text = re.compile(f"%({codes})", re.IGNORECASE | re.ASCII)

    def raw(value: bytes) -> bytes:
        if b"%" not in value:
            return value
        return in_bytes.sub(lambda match: bytes.fromhex(match[1].decode("ascii")), value)

    def text(value: str) -> str:
        if "%" not in value:
            return value
        return in_text.sub(lambda match: chr(int(match[1], 16)), value)

    return raw, text


def unpacked(content: bytes, encoding: str | None, limit: int) -> bytes:
    """Return the first ``limit`` bytes of a body without its Content-Encoding."""
    if (encoding or "").strip().lower() not in ("gzip", "x-gzip", "deflate"):
        return content
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(content, limit)
    except zlib.error:
        return content
