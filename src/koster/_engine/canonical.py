"""Paths: the canonical form in which URLs and patterns are compared.

Takes bytes, returns bytes: `span` finds the path and query of a URL, `write` writes the canonical
form of a path or a pattern. All bytes are valid URLs; nothing raises.

RFC 9309 §2.2.2 compares bytes after normalising percent-encoding, and does not say how. Here, an
escape of an unreserved byte (RFC 3986 §2.3) is decoded, and every byte that could mean two things
(reserved, ``%``, not ASCII) is escaped, so that ``/a%2Fb`` is not ``/a/b`` and ``%2A`` in a pattern
is a literal star.

An escape is one byte, however many it is written with, and ``*`` must not match a part of it:
``/*A`` does not match ``/10:30``, whose form has ``%3A``. Therefore the canonical form has the
highest bit of both hex digits set. No other byte in it has, and the literal after a star in a
pattern never starts with such a byte, like UTF-8 marks the starts of characters.
"""

from __future__ import annotations

from ..dialects import Escapes, Patterns, UrlPath
from . import memory as _memory
from . import no_cython as cython

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .memory import Bytes
elif cython.compiled:
    import cython

_CANONICAL = int(Escapes.CANONICAL)
_PATTERN_ONLY = int(Escapes.PATTERN_ONLY)
_AS_WRITTEN = int(Escapes.AS_WRITTEN)
_DECODED = int(Escapes.DECODED)
_GOOGLE = int(UrlPath.GOOGLE)
_WILDCARDS = int(Patterns.WILDCARDS)
_SHELL = int(Patterns.SHELL)

#: Instead of a value of `Patterns`: the path of a URL, in which no byte is special.
URL = -1

_SLASH = 47
_COLON = 58
_QUERY = 63
_HASH = 35
_PERCENT = 37
_STAR = 42
_DOLLAR = 36
_BACKSLASH = 92

_HEX_TABLE = b"0123456789ABCDEF"
_HEX = _HEX_TABLE
#: The digits of the canonical form.
_MARKED_TABLE = bytes(byte | 128 for byte in _HEX_TABLE)
_MARKED = _MARKED_TABLE
_NO_DIGIT = 255
#: The value of a hex digit, or `_NO_DIGIT`.
_NIBBLE_TABLE = bytes(
    int(chr(byte), 16) if chr(byte) in "0123456789abcdefABCDEF" else _NO_DIGIT
    for byte in range(256)
)
_NIBBLE = _NIBBLE_TABLE

_ALPHA = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_UNRESERVED = _ALPHA + b"0123456789-._~"
_SCHEME_TABLE = bytes(byte in _ALPHA + b"0123456789+-." for byte in range(256))
_SCHEME = _SCHEME_TABLE
_AUTHORITY_END_TABLE = bytes(byte in b"/?#" for byte in range(256))
_AUTHORITY_END = _AUTHORITY_END_TABLE
_HTTPS_TABLE = b"https://"
_HTTPS = _HTTPS_TABLE

#: What the canonical form does with a raw byte.
_ESCAPE = 0
_KEEP = 1
_INSPECT = 2


def _actions(keep: bytes, special: bytes) -> bytes:
    return bytes(
        _INSPECT if byte in special else _KEEP if byte in keep else _ESCAPE for byte in range(256)
    )


_EVERY_BYTE = bytes(range(256))
#: RFC 3986 §2.3 and the separators in patterns.
_CANONICAL_TABLE = _actions(_UNRESERVED + b"/?&=", b"%*$")
_CANONICAL_ACTIONS = _CANONICAL_TABLE
#: 1 for a byte that stands for itself, whatever the dialect does with escapes and patterns.
_LITERAL_TABLE = bytes(action == _KEEP for action in _CANONICAL_TABLE)
LITERAL = _LITERAL_TABLE
#: MK1996 §3.2.2: bytes as they are; those that may be special in a pattern are inspected.
_DECODED_TABLE = _actions(_EVERY_BYTE, b"%*$")
_DECODED_ACTIONS = _DECODED_TABLE
_PLAIN_TABLE = _actions(_EVERY_BYTE, b"%")
_PLAIN_ACTIONS = _PLAIN_TABLE
_SHELL_ACTIONS_TABLE = _actions(_EVERY_BYTE, b"%\\")
_SHELL_ACTIONS = _SHELL_ACTIONS_TABLE
_SHELL_BYTES = b"*?[]!-\\"
_SHELL_TABLE = bytes(byte in _SHELL_BYTES for byte in range(256))
_SHELL_SPECIAL = _SHELL_TABLE


def _actions_of(escapes: int, patterns: int) -> Bytes:
    """Return the action for each byte."""
    if escapes == _CANONICAL:
        return _CANONICAL_ACTIONS
    if patterns == _SHELL:
        return _SHELL_ACTIONS
    return _DECODED_ACTIONS if escapes == _DECODED else _PLAIN_ACTIONS


def span(url: Bytes, size: int, url_path: int) -> tuple[int, int]:
    """Return where the path of a URL starts and where its query ends.

    `write` adds a ``/`` to a path that does not start with one.
    """
    if url_path == _GOOGLE:
        return _google_span(url, size)
    start = path_start(url, size)
    return start, _memory.find(url, _HASH, start, size)


def path_start(url: Bytes, size: int) -> int:
    """Return where the path of a URL starts; for all values of `UrlPath` but one of Google's."""
    # Known when it is compiled, the size makes this one comparison of two integers.
    if size >= 8 and _memory.same(url, 0, _HTTPS, 0, 8):
        start = 8
    elif size >= 2 and url[0] == _SLASH and url[1] == _SLASH:
        start = 2
    else:
        start = 0
        while start < size and _SCHEME[url[start]]:
            start += 1
        if (
            start == 0
            or size - start < 3
            or url[start] != _COLON
            or url[start + 1] != _SLASH
            or url[start + 2] != _SLASH
            # A scheme starts with a letter; the other bytes of schemes are less than a colon.
            or url[0] < _COLON
        ):
            return 0
        start += 3
    while start < size and not _AUTHORITY_END[url[start]]:
        start += 1
    return start


def _google_span(url: Bytes, size: int) -> tuple[int, int]:
    """Like GetPathParamsQuery of google/robotstxt; ends at a NUL, as C strings do.

    Returns ``(size, size)`` for a URL that has no path.
    """
    start = 2 if size >= 2 and url[0] == _SLASH and url[1] == _SLASH else 0
    mark = _memory.find(url, _HASH, start, size)
    colon = _google_separator(url, start, size)
    path = _google_path(url, start, size)
    if colon < path:
        path = _google_path(url, colon + 3, size)
    if mark <= path:
        return size, size
    return path, _memory.find(url, 0, path, mark)


def _google_path(url: Bytes, start: int, size: int) -> int:
    """Return the position of the first ``/``, ``?`` or ``;``, or ``size``."""
    while start < size and url[start] != _SLASH and url[start] != _QUERY and url[start] != 59:
        start += 1
    return start


def _google_separator(url: Bytes, start: int, size: int) -> int:
    """Return the position of the first ``://``, or ``size``."""
    colon = _memory.find(url, _COLON, start, size)
    while colon < size:
        if size - colon > 2 and url[colon + 1] == _SLASH and url[colon + 2] == _SLASH:
            return colon
        colon = _memory.find(url, _COLON, colon + 1, size)
    return size


def is_plain(data: Bytes, start: int, end: int, escapes: int) -> bool:
    """Tell whether a URL's path is already in canonical form."""
    if start == end or data[start] != _SLASH:
        return False
    if escapes in (_PATTERN_ONLY, _AS_WRITTEN):
        return True
    actions = _actions_of(escapes, URL)
    while start < end and actions[data[start]] == _KEEP:
        start += 1
    return start == end


def write(
    data: Bytes, start: int, end: int, escapes: int, patterns: int, out: bytearray, at: int
) -> int:
    """Write the canonical form of ``data[start:end]`` to ``out[at:]``; return where it ends.

    ``patterns`` is a value of `Patterns`, or `URL`. ``out`` needs room for three times as many
    bytes, and one more.
    """
    if patterns == URL and (start == end or data[start] != _SLASH):
        out[at] = _SLASH
        at += 1
    if escapes == _AS_WRITTEN or (escapes == _PATTERN_ONLY and patterns == URL):
        _memory.copy(out, at, data, start, end - start)
        return at + end - start
    if escapes == _PATTERN_ONLY:
        return _write_google(data, start, end, out, at)
    return _write_form(data, start, end, escapes, patterns, out, at)


@cython.locals(quoted="bint")
def _write_form(
    data: Bytes, start: int, end: int, escapes: int, patterns: int, out: bytearray, at: int
) -> int:
    """Write the canonical or the decoded form."""
    actions = _actions_of(escapes, patterns)
    query = -1
    position = start
    quoted = False
    while position < end:
        quoted = quoted and actions[data[position]] != _KEEP
        while position < end and actions[data[position]] == _KEEP:
            out[at] = data[position]
            at += 1
            position += 1
        if position == end:
            break
        byte = data[position]
        position += 1
        if byte == _PERCENT and _is_escape(data, position, end):
            if query < 0:
                query = _memory.find(data, _QUERY, start, end)
            value = 16 * _NIBBLE[data[position]] + _NIBBLE[data[position + 1]]
            at = _write_escape(value, escapes, patterns, query < position, quoted, out, at)
            position += 2
            quoted = False
        elif byte == _BACKSLASH and patterns == _SHELL:
            out[at] = byte
            at += 1
            quoted = not quoted
        elif _is_special(byte, position == end, patterns):
            out[at] = byte
            at += 1
        else:
            at = _escape(byte, escapes, out, at)
            quoted = False
    return at


def _is_escape(data: Bytes, position: int, end: int) -> bool:
    """Tell whether two hex digits follow."""
    return (
        end - position >= 2
        and _NIBBLE[data[position]] != _NO_DIGIT
        and _NIBBLE[data[position + 1]] != _NO_DIGIT
    )


def _is_special(byte: int, last: bool, patterns: int) -> bool:
    """Tell whether a raw byte is special in a pattern."""
    if byte == _STAR:
        return patterns in (_WILDCARDS, _SHELL)
    return byte == _DOLLAR and last and patterns == _WILDCARDS


@cython.locals(separator="bint", plain="bint")
def _write_escape(
    value: int, escapes: int, patterns: int, query: bool, quoted: bool, out: bytearray, at: int
) -> int:
    """Write an escaped byte: literal if that means the same, else ``%XX``.

    ``query``: after the first literal ``?``; ``quoted``: after a backslash that quotes it.
    """
    if escapes == _CANONICAL:
        separator = value in (_SLASH, _QUERY)
        plain = _CANONICAL_ACTIONS[value] == _KEEP and (
            query if separator else value not in {38, 61}
        )
    else:
        plain = _actions_of(escapes, URL)[value] == _KEEP and value != _SLASH
        if plain and patterns == _SHELL and _SHELL_SPECIAL[value] and not quoted:
            out[at] = _BACKSLASH
            at += 1
    if not plain:
        return _escape(value, escapes, out, at)
    out[at] = value
    return at + 1


def _escape(byte: int, escapes: int, out: bytearray, at: int) -> int:
    """Write ``%XX``."""
    digits = _MARKED if escapes == _CANONICAL else _HEX
    out[at] = _PERCENT
    out[at + 1] = digits[byte >> 4]
    out[at + 2] = digits[byte & 15]
    return at + 3


def _write_google(data: Bytes, start: int, end: int, out: bytearray, at: int) -> int:
    """Like MaybeEscapePattern of google/robotstxt: escapes in upper case, no 8-bit bytes."""
    while start < end:
        byte = data[start]
        start += 1
        if byte == _PERCENT and _is_escape(data, start, end):
            value = 16 * _NIBBLE[data[start]] + _NIBBLE[data[start + 1]]
            at = _escape(value, _PATTERN_ONLY, out, at)
            start += 2
        elif byte > 127:
            at = _escape(byte, _PATTERN_ONLY, out, at)
        else:
            out[at] = byte
            at += 1
    return at
