"""Charsets: the bytes of a served robots.txt as UTF-8. Pure.

By their byte order mark, else as UTF-8 where they are valid UTF-8, else by the charset that the
server declares, else as they are: servers often declare Latin-1 over UTF-8.
"""

from __future__ import annotations

import codecs
import encodings.aliases
import functools
import pkgutil

#: What is read of a file (RFC 9309 §2.5: "at least 500 kibibytes"), after its Content-Encoding.
MAX_BYTES = 500 * 1024

#: Codecs of Python that are no charsets of documents; some take time that grows with the square.
_NO_CHARSETS = frozenset({"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape"})


@functools.cache
def _known() -> frozenset[str]:
    """Return the names of codecs: Python remembers for ever those that it looked up in vain."""
    modules = (module.name for module in pkgutil.iter_modules(encodings.__path__))
    return frozenset({*encodings.aliases.aliases, *modules}) - _NO_CHARSETS


#: UTF-32 first: its mark begins as that of UTF-16 does.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def decoded(content: bytes, charset: str) -> str:
    """Return bytes as text.

    Raises:
        LookupError: there is no such charset.
        UnicodeError: the bytes are not in it.
    """
    name = charset[:50].lower()
    if not name.isascii() or encodings.normalize_encoding(name) not in _known():
        raise LookupError(f"unknown encoding: {charset[:50]!r}")
    try:
        found = codecs.lookup(charset).name.replace("-", "_")
    except ValueError as error:
        raise LookupError(f"unknown encoding: {charset[:50]!r}") from error
    if found in _NO_CHARSETS:
        raise LookupError(f"unknown encoding: {charset[:50]!r}")
    return content.decode(charset)


def charset_of(content_type: str) -> str | None:
    """Return the charset that a Content-Type declares, or None.

    >>> charset_of('text/plain; format=flowed; Charset="ISO-8859-1"')
    'ISO-8859-1'
    """
    for parameter in content_type.split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip("\"'") or None
    return None


def marked_charset(body: bytes) -> str | None:
    """Return the charset, other than UTF-8, that a byte order mark says a file is in, or None."""
    return next((codec for mark, codec in _MARKS if body.startswith(mark)), None)


def is_wide(charset: str | None) -> bool:
    """Tell whether a charset is one in which no text is ASCII, by its name: UTF-16, UTF-32."""
    name = (charset or "").upper().replace("-", "").replace("_", "")
    return name.startswith(("UTF16", "UTF32"))


def by_mark(body: bytes, is_whole: bool = True) -> tuple[bytes, str | None]:
    """Return a file as UTF-8 if its byte order mark names another charset, and that charset.

    Other files come back as they are, with None. This is how clients read a file for which no
    charset is declared, such as one on disk.
    """
    for mark, codec in _MARKS:
        if body.startswith(mark):
            decoder = codecs.getincrementaldecoder(codec)("replace")
            return decoder.decode(body[len(mark) :], is_whole).encode("utf-8"), codec
    return body, None


def as_utf8(body: bytes, charset: str | None, is_whole: bool) -> tuple[bytes, str | None]:
    """Return what is read of a body, as UTF-8: of one that is too long its whole lines.

    And the charset that it was in; None if that is UTF-8, or nobody knows.
    """
    is_whole = is_whole and len(body) <= MAX_BYTES
    body = body[:MAX_BYTES]
    body, marked = by_mark(body, is_whole)
    body = _whole_lines(body, is_whole)
    if marked is not None:
        return body, marked
    if charset is None or is_utf8(body):
        return body, None
    try:
        return decoded(body, charset).encode("utf-8", "surrogatepass"), charset.lower()
    except (LookupError, UnicodeError):
        # The charset lies, or nobody knows it.
        return body, None


def is_utf8(body: bytes) -> bool:
    """Tell whether bytes are UTF-8 text, which has no NUL."""
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\0" not in body


def _whole_lines(body: bytes, is_whole: bool) -> bytes:
    """Return the lines of a body that was read as far as the last of them has its end."""
    if is_whole:
        return body
    return body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]
