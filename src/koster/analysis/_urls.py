"""URLs and the paths that a reading compares: one from the other."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, NamedTuple

from .._asking import selection_of
from ..dialects import Dialect, Escapes
from ..robots import parse
from ._search import BudgetSpentError

if TYPE_CHECKING:
    from ..dialects import Reading
    from ..engine.selection import Selection

#: Characters that the canonical form escapes, and browsers do not.
ESCAPED_ONLY_BY_KOSTER = ":@!$'()+,;"

_DIGITS = b"0123456789ABCDEF"
_MARKED_DIGITS = bytes(byte | 128 for byte in _DIGITS)
MARK_DIGITS = bytes.maketrans(_DIGITS, _MARKED_DIGITS)
UNMARK_DIGITS = bytes.maketrans(_MARKED_DIGITS, _DIGITS)
_DIGIT_OF_RUN = re.compile(rb"\*([0-9A-F])")
#: An escape in the canonical form.
_MARKED = re.compile(rb"(%[\xb0-\xb9\xc1-\xc6]{2})")

#: Readings that do not decode escapes of URLs.
UNDECODED_ESCAPES = frozenset({Escapes.PATTERN_ONLY, Escapes.AS_WRITTEN})

#: Those that decode ``%26``, ``%3D`` and ``%3F``: ``&`` matches more URLs than in other readings.
_DECODED_ESCAPES = frozenset({Escapes.DECODED, Escapes.PLAIN})

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

#: In longer text, nothing is counted.
_MAX_COUNTED = 2_000

#: What the engine does in the time of one more check of a pattern: look at so many places where
#: the pattern may begin, or search so many others for these.
PLACES_PER_CHECK = 8
_BYTES_PER_CHECK = 256


def digits_of_runs(text: bytes) -> frozenset[int]:
    """Return the digits with which runs after stars begin: they may be inside of escapes."""
    return frozenset(map(ord, _DIGIT_OF_RUN.findall(text)))


class Likeness(NamedTuple):
    """What is compared alike in several readings, by patterns and URLs that may be compared.

    ``signs`` are characters that no URL has escaped, or all have, and that all readings compare as
    themselves; ``escapes`` those that all readings compare as escapes. ``digits`` are those of all
    escapes that are compared: a run of a pattern that begins with one may begin inside of one.
    """

    signs: bytes
    escapes: frozenset[bytes]
    digits: frozenset[int]


#: What is compared alike whatever the URLs are.
ANY_URL = Likeness(b"", frozenset(), frozenset(_DIGITS))


def checks_on(text: bytes) -> int:
    """Return how many usual checks of a pattern one on some text counts as.

    More on long text, and if a byte is often in it.
    """
    if len(text) < PLACES_PER_CHECK:
        return 1
    if len(text) > _MAX_COUNTED:
        return 1 + len(text) // PLACES_PER_CHECK
    return 1 + _most_frequent(text) // PLACES_PER_CHECK + len(text) // _BYTES_PER_CHECK


# The rule sets of a file, and several questions about each, ask about the same text.
@functools.lru_cache(1_000)
def _most_frequent(text: bytes) -> int:
    """Return how often the byte is in a text that is most often in it."""
    return max(map(text.count, set(text)))


def decodes_escapes(reading: Reading) -> bool:
    """Return whether a reading compares ``%26``, ``%3D`` and ``%3F`` decoded."""
    return reading.escapes in _DECODED_ESCAPES


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


def with_likeness(path: bytes, reading: Reading, likeness: Likeness) -> bytes:
    """Return compared bytes with signs and escapes as they are compared in other readings."""
    if b"%" not in path or reading.escapes != Escapes.CANONICAL:
        return path
    form_of = _forms(likeness).get
    parts = _MARKED.split(path)
    parts[1::2] = [form_of(escape, escape) for escape in parts[1::2]]
    return b"".join(parts)


@functools.lru_cache(64)
def _forms(likeness: Likeness) -> dict[bytes, bytes]:
    """Return the signs and escapes by their escapes in the canonical form."""
    signs = {b"%%%02X" % byte: bytes([byte]) for byte in likeness.signs}
    escapes = {escape: escape for escape in likeness.escapes}
    return {escape.translate(MARK_DIGITS): form for escape, form in {**signs, **escapes}.items()}


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
    """Return a URL's path that is compared as ``path``, or None if no path is.

    Raises:
        BudgetSpentError: not decided, because ``path`` ends within a character.
    """
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
