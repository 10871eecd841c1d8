"""The alphabet of a search: the tokens of URLs that some patterns can distinguish.

For a single reading, all URLs are considered. For several readings, only URLs that clients send
(RFC 3986 §3.3, §3.4, §6.2.2): unreserved characters are not escaped, ``/`` and ``?`` are not
escaped after the first ``?``, and neither are other characters that need no escape, unless the file
itself escapes them. Otherwise every rule would differ: ``/%70rivate`` is ``/private`` in one
standard and not in another.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import unquote

from ...dialects import Escapes, Reading
from .automata import CHARACTER, IMPOSSIBLE, Moves
from .urls import (
    ESCAPED_ONLY_BY_KOSTER,
    UNDECODED_ESCAPES,
    UNMARK_DIGITS,
    empty_selection,
    with_written_escapes,
)

#: A token, and its bytes for each reading: in a path, and in a query.
Candidate: TypeAlias = tuple[str, tuple[tuple[bytes, bytes], ...]]

_CHARACTERS_BY_PREFERENCE = (
    "xyzabcdefghijklmnopqrstuvw0123456789XYZABCDEFGHIJKLMNOPQRSTUVW-_.~/=&?:@!$'()*+,;"
    '"<>[]^`{|}\\ '
)
#: RFC 3986 §2.3, §3.3 and §3.4.
_UNRESERVED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
_UNESCAPED = _UNRESERVED | frozenset("/?:@!$&'()*+,;=")

_CANONICAL_CHARACTERS = "".join(sorted(_UNRESERVED | set("/?&="))).encode("ascii")

#: Escapes that the canonical form does not decode.
_DISTINCT_ESCAPES = frozenset(f"%{ord(character):02X}" for character in "/?&=")

#: Escapes excluded from queries; a token without bytes has no successor.
_NOT_IN_QUERIES = ("%2F", "%3F")

#: Escapes as written, and with the marked digits of `koster._engine.canonical`.
_ESCAPE = re.compile(rb"(%(?:[0-9A-F]{2}|[\xb0-\xb9\xc1-\xc6]{2}))")
_ASCII = bytes(range(128))

#: The first digit of a run.
_DIGIT_OF_RUN = re.compile(rb"\*[0-9A-F]")
_BYTES = range(256)


@functools.cache
def _outputs(reading: Reading) -> dict[str, tuple[bytes, bytes]]:
    """Return the bytes of each ASCII character and each escape: in a path, and in a query."""
    selection = empty_selection(reading)
    tokens = [*_CHARACTERS_BY_PREFERENCE, *filter(str.isascii, map(chr, _BYTES))]
    tokens += [f"%{byte:02X}" for byte in _BYTES]
    return {
        token: (selection.path_of(f"/x{token}")[2:], selection.path_of(f"/?{token}")[2:])
        for token in dict.fromkeys(tokens)
        if token != "#"
    }


@dataclass(frozen=True, slots=True)
class Alphabet:
    """Letters: a token for each class, and its bytes for each reading, in paths and queries."""

    tokens: tuple[str, ...]
    moves: tuple[tuple[Moves, Moves], ...]
    #: For each reading: the least cost of each byte, `CHARACTER` for a character of a token.
    costs: tuple[bytes, ...]
    #: Whether a token has different bytes in a query, after the first ``?``.
    has_queries: bool


class _Written:
    """What matters of the text of some patterns."""

    def __init__(self, text: bytes) -> None:
        parts = _ESCAPE.split(text)
        escapes = {each.translate(UNMARK_DIGITS).decode("ascii") for each in set(parts[1::2])}
        self.escapes = frozenset(escapes)
        self.all_bytes = frozenset(text)
        #: Those outside of escapes.
        self.plain_bytes = frozenset(b"".join(parts[::2]))
        #: Whether a run after a star begins with a digit: it may begin inside of an escape.
        self.may_begin_in_escapes = _DIGIT_OF_RUN.search(text) is not None
        #: The characters that are not ASCII, in the order of their first appearance.
        other = text.translate(None, _ASCII).decode("utf-8", "ignore")
        self.characters = tuple(dict.fromkeys(other))


def alphabet(
    readings: Sequence[Reading], texts: Sequence[bytes], tables: Iterable[bytes] = ()
) -> Alphabet:
    """Return the alphabet of some patterns: of each reading, or several times of the only one.

    ``texts`` are those of all patterns, with stars before runs; ``tables`` those of `Shell`.
    """
    written = _Written(b"/".join(texts))
    if len(readings) > 1:
        candidates = _candidates_for_several(readings, written, _known_escapes(readings, texts))
    else:
        candidates = _candidates_for_one(readings[0], written)
    class_of = [
        (byte if byte in written.all_bytes else None, *[table[byte] for table in tables])
        for byte in _BYTES
    ]
    chosen: dict[object, Candidate] = {}
    for token, outputs in candidates:
        key = (
            token == "?",
            tuple(tuple(class_of[byte] for byte in raw) for pair in outputs for raw in pair),
        )
        chosen.setdefault(key, (token, outputs))
    tokens, outputs_of_tokens = zip(*chosen.values(), strict=True)
    raw = [tuple(zip(*pairs, strict=True)) for pairs in zip(*outputs_of_tokens, strict=True)]
    has_queries = any(path != query for path, query in raw)
    return Alphabet(
        tokens,
        tuple((Moves(path), Moves(query)) for path, query in raw),
        tuple(_costs(tokens, [path, query]) for path, query in raw),
        has_queries,
    )


def _costs(tokens: Sequence[str], outputs: Iterable[Sequence[bytes]]) -> bytes:
    """Return the least cost of each byte, for the outputs of all tokens."""
    costs = bytearray([IMPOSSIBLE]) * len(_BYTES)
    for raws in outputs:
        for token, raw in zip(tokens, raws, strict=True):
            for byte in raw:
                costs[byte] = min(costs[byte], CHARACTER * len(token) // len(raw))
    return bytes(costs)


def _candidates_for_one(reading: Reading, written: _Written) -> Iterator[Candidate]:
    """Yield the tokens that a reading may distinguish, the simplest first."""
    outputs = _outputs(reading)
    if reading.escapes in UNDECODED_ESCAPES:
        for token in (
            *(each for each in outputs if len(each) == 1),
            *written.characters,
        ):
            raw = token.encode("utf-8")
            yield token, ((raw, raw),)
        return
    # If the patterns contain every unescaped character, one escape represents all other bytes.
    needs_other = written.all_bytes.issuperset(_CANONICAL_CHARACTERS)
    for token, (in_path, in_query) in outputs.items():
        escape = with_written_escapes(in_path, reading).decode("ascii", "replace")
        is_distinct = escape in written.escapes or reading.escapes != Escapes.CANONICAL
        is_escaped = len(escape) != 1
        if is_escaped and len(token) == 1 and not (is_distinct and token in ESCAPED_ONLY_BY_KOSTER):
            continue
        if is_distinct or not is_escaped:
            yield token, ((in_path, in_query),)
        elif needs_other:
            needs_other = False
            yield token, ((in_path, in_query),)


def _candidates_for_several(
    readings: Sequence[Reading], written: _Written, known_escapes: set[str]
) -> Iterator[Candidate]:
    """Yield the tokens of URLs that clients send."""
    for token in _outputs(readings[0]):
        pairs = tuple(_outputs(reading)[token] for reading in readings)
        if token in _UNESCAPED:
            if (
                written.may_begin_in_escapes
                or all(len(in_path) == 1 for in_path, _ in pairs)
                or _occurs(token, written)
            ):
                yield token, pairs
        elif token in known_escapes and unquote(token) not in _UNRESERVED:
            if token in _NOT_IN_QUERIES:
                pairs = tuple((path, b"") for path, _ in pairs)
            yield token, pairs


def _known_escapes(readings: Sequence[Reading], texts: Sequence[bytes]) -> set[str]:
    """Return the escapes of URLs that clients send, for patterns of each reading."""
    known: set[str] = set()
    for reading, written in zip(readings, map(_Written, texts), strict=True):
        # The canonical form has others only if the file has them.
        known |= {
            each
            for each in written.escapes
            if reading.escapes in UNDECODED_ESCAPES
            or each in _DISTINCT_ESCAPES
            or unquote(each) not in _UNESCAPED
        }
        known |= {f"%{byte:02X}" for byte in written.plain_bytes if chr(byte) not in _UNESCAPED}
    return known


def _occurs(character: str, written: _Written) -> bool:
    return ord(character) in written.all_bytes or f"%{ord(character):02X}" in written.escapes
