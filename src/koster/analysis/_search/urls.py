"""URLs and the paths that a reading compares: one from the other."""

from __future__ import annotations

import functools
import re

from ..._asking import selection_of
from ..._engine.selection import Selection
from ...dialects import Dialect, Escapes, Reading
from ...robots import parse
from .budget import BudgetSpentError

#: Characters that the canonical form escapes, and browsers do not.
ESCAPED_ONLY_BY_KOSTER = ":@!$'()+,;"

_DIGITS = b"0123456789ABCDEF"
_MARKED_DIGITS = bytes(byte | 128 for byte in _DIGITS)
UNMARK_DIGITS = bytes.maketrans(_MARKED_DIGITS, _DIGITS)

#: Readings that do not decode escapes of URLs.
UNDECODED_ESCAPES = frozenset({Escapes.PATTERN_ONLY, Escapes.AS_WRITTEN})

#: Those that decode ``%26``, ``%3D`` and ``%3F``: ``&`` matches more URLs than in other readings.
DECODED_ESCAPES = frozenset({Escapes.DECODED, Escapes.PLAIN})

#: An incomplete UTF-8 character.
_INCOMPLETE_CHARACTER = re.compile(
    rb"(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})\Z"
)
#: Bytes that all readings with wildcards compare alike, if all decode escapes or none does.
SAFE = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/?&=*")
#: Bytes that are not escaped (RFC 3986 §3.3), except the dollar, which is special in patterns.
_PLAIN = SAFE | frozenset(b":@!'()+,;")
_ESCAPES_OR_NOT_PLAIN = re.compile(
    rb"(?:%[0-9A-F]{2})+|[^" + re.escape(bytes(sorted(_PLAIN))) + rb"]", re.DOTALL
)

#: Text with the same spelling in every reading.
UNAMBIGUOUS = re.compile(rb"/[A-Za-z0-9._~/-]*")


@functools.cache
def empty_selection(reading: Reading) -> Selection:
    """Return a selection without rules, cached."""
    return selection_of(parse(b"", Dialect(name="", source="", reading=reading)).rules_for("*"))


def comparison_path(reading: Reading, path: str) -> bytes:
    """Return the bytes that a reading compares for a path, even if it looks like a host."""
    return empty_selection(reading).path_of(with_host_if_ambiguous(path))


def with_written_escapes(path: bytes, reading: Reading) -> bytes:
    """Return compared bytes with their escapes as written."""
    return path.translate(UNMARK_DIGITS) if reading.escapes == Escapes.CANONICAL else path


def with_host_if_ambiguous(path: str) -> str:
    """Return a path, or an absolute URL if the path would be parsed as a host."""
    return f"https://example.com{path}" if path.startswith("//") else path


def simplify_url(path: str, reading: Reading) -> str:
    """Return a path without the escapes that browsers do not use."""
    if "%" not in path:
        return path
    plain = path
    for character in ESCAPED_ONLY_BY_KOSTER:
        plain = plain.replace(f"%{ord(character):02X}", character)
    return plain if comparison_path(reading, plain) == comparison_path(reading, path) else path


def url_of(path: bytes, reading: Reading) -> str:
    """Return a URL that is compared as ``path``; an arbitrary one if no URL is."""
    escapes = reading.escapes
    path = with_written_escapes(path, reading)
    if escapes in (Escapes.CANONICAL, Escapes.PATTERN_ONLY, Escapes.AS_WRITTEN):
        return path.decode("utf-8", "replace")
    # Keep remaining escapes; escape other bytes that are not plain.
    return _ESCAPES_OR_NOT_PLAIN.sub(_escape, path).decode("ascii")


def url_beginning_with(path: bytes, reading: Reading) -> str | None:
    """Return a URL's path that is compared as ``path``, or None if no path is."""
    if not path.startswith(b"/"):
        return None
    url = url_of(path, reading)
    if comparison_path(reading, url) == path:
        return url
    if reading.escapes in UNDECODED_ESCAPES and _INCOMPLETE_CHARACTER.search(path):
        raise BudgetSpentError
    return None


def _escape(found: re.Match[bytes]) -> bytes:
    part = found[0]
    return part if len(part) != 1 else b"%%%02X" % ord(part)
