"""Helpers for facades: URLs and text, which may be hostile."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote

#: Default maximum bytes of a robots.txt: the maximum that koster parses.
MAX_BYTES = 1 << 24

#: The ``safe`` argument of `urllib.parse.quote` for escaping only non-ASCII characters.
ASCII = "".join(map(chr, range(128)))


def bracket_ipv6(host: str) -> str:
    """Return a host for a URL: IPv6 addresses in brackets."""
    return f"[{host}]" if ":" in host else host


def lower_non_ascii(user_agent: str) -> str:
    """Return a user agent in lower case, if it is not ASCII: the engine folds only ASCII."""
    return user_agent if user_agent.isascii() else user_agent.lower()


def encoded(text: str) -> bytes:
    """Return the text of a file as UTF-8, which `koster.parse` takes without a warning."""
    return text.encode("utf-8", "surrogatepass")


def escape_non_ascii(url: str) -> str:
    """Return a URL with escapes for all that is not ASCII; ``\\udc80`` to ``\\udcff`` are bytes."""
    try:
        return quote(url, safe=ASCII, errors="surrogateescape")
    except UnicodeEncodeError:
        return quote(url, safe=ASCII, errors="surrogatepass")


def text_of(value: str | bytes) -> str:
    """Return a value as text; invalid UTF-8 becomes lone surrogates."""
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value


def escapes_of(characters: str) -> tuple[tuple[str, str], ...]:
    """Return the escapes of some characters, in upper and lower case, each with its character."""
    pairs = [(f"%{ord(character):02X}", character) for character in characters]
    return tuple(dict.fromkeys([*pairs, *((code.lower(), each) for code, each in pairs)]))


def decoders(
    escapes: tuple[tuple[str, str], ...],
) -> tuple[Callable[[bytes], bytes], Callable[[str], str]]:
    """Return functions for bytes and text that decode only some escapes."""
    in_bytes = re.compile("|".join(code for code, _ in escapes).encode())

    def raw(value: bytes) -> bytes:
        if b"%" not in value:
            return value
        return in_bytes.sub(lambda match: bytes.fromhex(match[0][1:].decode("ascii")), value)

    def text(value: str) -> str:
        if "%" in value:
            for escape, character in escapes:
                value = value.replace(escape, character)
        return value

    return raw, text
