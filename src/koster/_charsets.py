"""Charsets: convert the bytes of a robots.txt to UTF-8. Pure.

The charset is that of the byte order mark; else UTF-8 if the bytes are valid UTF-8, because servers
often declare Latin-1 for UTF-8; else the declared charset; else the bytes stay unchanged.
"""

from __future__ import annotations

import codecs
import contextlib
import encodings.aliases
import functools
import re

#: Bytes read of a file (RFC 9309 §2.5: "at least 500 kibibytes"), after its Content-Encoding.
MAX_BYTES = 500 * 1024

#: Python codecs that are not charsets of documents; some take quadratic time.
_NON_TEXT_CODECS = frozenset(
    {"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape"}
)


@functools.cache
def _known_codecs() -> frozenset[str]:
    """Return the names of codecs; `codecs.lookup` caches failed lookups forever."""
    import pkgutil  # noqa: PLC0415 - few files name a charset

    modules = (module.name for module in pkgutil.iter_modules(encodings.__path__))
    aliases = encodings.aliases.aliases.items()
    names = {*modules, *(alias for alias, name in aliases if name not in _NON_TEXT_CODECS)}
    return frozenset(names - _NON_TEXT_CODECS)


#: UTF-32 first: its BOM starts with that of UTF-16.
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def decode_text(content: bytes, charset: str) -> str:
    """Decode bytes in a charset.

    Raises:
        LookupError: the charset is unknown.
        UnicodeError: the bytes are invalid in this charset.
    """
    name = charset[:50].lower()
    is_name = name.isascii() and "\0" not in charset
    if not is_name or encodings.normalize_encoding(name) not in _known_codecs():
        raise LookupError(f"unknown encoding: {charset[:50]!r}")
    return content.decode(charset)


def media_type_of(content_type: str) -> str:
    """Return the media type of a Content-Type header, in lower case.

    >>> media_type_of("Text/HTML; charset=utf-8")
    'text/html'
    """
    return content_type.partition(";")[0].strip().lower()


def declared_charset(content_type: str) -> str | None:
    """Return the charset of a Content-Type header, or None.

    >>> declared_charset('text/plain; format=flowed; Charset="ISO-8859-1"')
    'ISO-8859-1'
    """
    for parameter in content_type.split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip("\"'") or None
    return None


def bom_charset(body: bytes) -> str | None:
    """Return the charset of a file's byte order mark, or None; also None for UTF-8."""
    return next((codec for bom, codec in _BOMS if body.startswith(bom)), None)


def is_utf16_or_utf32(charset: str | None) -> bool:
    """Return whether a charset is UTF-16 or UTF-32: its text is never ASCII-compatible."""
    name = (charset or "").upper().replace("-", "").replace("_", "")
    return name.startswith(("UTF16", "UTF32"))


def decode_by_bom(body: bytes, is_whole: bool = True) -> tuple[bytes, str | None]:
    """Convert a file to UTF-8 by its byte order mark; return it with its original charset.

    Without such a mark it returns the file unchanged, and None. Of a converted file that is not
    whole, the last line is dropped if it has no line ending.
    """
    for bom, codec in _BOMS:
        if body.startswith(bom):
            decoder = codecs.getincrementaldecoder(codec)("replace")
            text = decoder.decode(body[len(bom) :], is_whole).encode("utf-8")
            return _without_partial_line(text, is_whole), codec
    return body, None


def to_utf8(body: bytes, charset: str | None, is_whole: bool) -> tuple[bytes, str | None]:
    """Convert a body to UTF-8, up to the last complete line within the size limit.

    Returns it with its original charset; None if that is UTF-8, or unknown.
    """
    is_whole = is_whole and len(body) <= MAX_BYTES
    body = body[:MAX_BYTES]
    body, bom_codec = decode_by_bom(body, is_whole)
    body = _without_partial_line(body, is_whole)
    if bom_codec is not None:
        return body, bom_codec
    if charset is None or is_utf8(body):
        return body, None
    try:
        return decode_text(body, charset).encode("utf-8", "surrogatepass"), charset.lower()
    except (LookupError, UnicodeError):
        # The declared charset is wrong or unknown.
        return body, None


def is_utf8(body: bytes) -> bool:
    """Return whether bytes are UTF-8 text without NUL."""
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\0" not in body


#: Control characters that text does not have, and those that only UTF-8 may have: C1.
_CONTROL = re.compile("[\0-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_HIGH_CONTROL = re.compile("[\x80-\x9f]")


def is_text(body: bytes, charset: str | None = None) -> bool:
    """Return whether bytes are text without control characters.

    Their charset is that of the byte order mark, else UTF-8, else this one.
    """
    with contextlib.suppress(UnicodeError):
        return not _CONTROL.search(body.decode(bom_charset(body) or "utf-8"))
    if charset is not None:
        with contextlib.suppress(LookupError, UnicodeError):
            text = decode_text(body, charset)
            return not _CONTROL.search(text) and not _HIGH_CONTROL.search(text)
    return False


def complete_lines(body: bytes, is_whole: bool = True, limit: int = MAX_BYTES) -> bytes:
    """Return a body up to the last complete line within the size limit."""
    return _without_partial_line(body[:limit], is_whole and len(body) <= limit)


def _without_partial_line(body: bytes, is_whole: bool) -> bytes:
    """Drop the last line of a truncated body, unless it has a line ending."""
    if is_whole:
        return body
    return body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]
