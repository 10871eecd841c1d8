"""The alphabet of a search: the tokens of URLs that some patterns can distinguish.

A path consists of tokens: characters and escapes. Each reading maps a token to bytes
(`koster.engine.canonical` is the only implementation). Tokens whose bytes all patterns treat alike
are one letter of the alphabet, represented by the simplest one.

For a single reading, all URLs are considered. For several readings, only URLs that clients send
(RFC 3986 §3.3, §3.4, §6.2.2): unreserved characters are not escaped, ``/`` and ``?`` are not
escaped after the first ``?``, and neither are other characters that need no escape, unless the file
itself escapes them. Otherwise every rule would differ: ``/%70rivate`` is ``/private`` in one
standard and not in another.

An escape that occurs in no pattern needs no letter of its own: patterns cannot distinguish it from
other bytes that occur in none.
"""

from __future__ import annotations

import functools
import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from ..dialects import Escapes
from ._automata import CHARACTER, EVERY_BYTE, IMPOSSIBLE
from ._urls import (
    ANY_URL,
    ESCAPED_ONLY_BY_KOSTER,
    MARK_DIGITS,
    UNDECODED_ESCAPES,
    UNMARK_DIGITS,
    Likeness,
    digits_of_runs,
    empty_selection,
    with_likeness,
    with_written_escapes,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TypeAlias

    from ..dialects import Reading

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

#: Bytes that are special in patterns or escapes, or not ASCII, and those that are never escaped.
_NOT_SIGNS = frozenset(
    bytes([byte]) for byte in EVERY_BYTE if byte > 127 or chr(byte) in _UNRESERVED | set("*%/")
)

#: Escapes excluded from queries; a token without bytes has no successor.
_NOT_IN_QUERIES = ("%2F", "%3F")

#: Escapes as written, and with the marked digits of the canonical form (`koster.engine.canonical`).
_ESCAPE = re.compile(rb"(%(?:[0-9A-F]{2}|[\xb0-\xb9\xc1-\xc6]{2}))")
_ASCII = bytes(range(128))

#: What separates patterns that are looked at together: nearly all have it anyway.
_BETWEEN = b"/"

#: Bytes in a sample of a text: most of the different ones.
_SAMPLE_BYTES = 1_024

#: Beginnings of patterns whose tokens are cached.
_MAX_BEGINNINGS = 1_000

#: Texts of one pattern.
_MAX_SPELLINGS = 16

#: Alphabets that are cached.
_MAX_ALPHABETS = 64


@functools.cache
def _outputs(reading: Reading) -> dict[str, tuple[bytes, bytes]]:
    """Return the bytes of each ASCII character and each escape: in a path, and in a query."""
    selection = empty_selection(reading)
    tokens = [*_CHARACTERS_BY_PREFERENCE, *filter(str.isascii, map(chr, EVERY_BYTE))]
    tokens += [f"%{byte:02X}" for byte in EVERY_BYTE]
    return {
        token: (selection.path_of(f"/x{token}")[2:], selection.path_of(f"/?{token}")[2:])
        for token in dict.fromkeys(tokens)
        if token != "#"
    }


class Outputs:
    """The bytes of all tokens, by number: for one reading, in a path or in a query."""

    __slots__ = (
        "_only",
        "_sizes",
        "_sole",
        "_with_bytes",
        "empty",
        "having",
        "raw",
        "starting_with",
    )

    def __init__(self, raw: Iterable[bytes]) -> None:
        self.raw = tuple(raw)
        #: The tokens without bytes, and those that have a given byte.
        self.empty = [token for token, each in enumerate(self.raw) if not each]
        self.having: dict[int, list[int]] = {}
        self.starting_with: dict[int, list[int]] = {}
        self._with_bytes: dict[bytes, list[int]] = {}
        for token, each in enumerate(self.raw):
            if each:
                self.starting_with.setdefault(each[0], []).append(token)
                self._with_bytes.setdefault(each, []).append(token)
            for byte in set(each):
                self.having.setdefault(byte, []).append(token)
        self._sizes = sorted(set(map(len, self._with_bytes)))
        #: The token that begins with a byte, if no other one does.
        self._sole = {
            byte: tokens[0] for byte, tokens in self.starting_with.items() if len(tokens) == 1
        }
        self._only: dict[bytes, list[int]] = {}

    def only_tokens(self, raw: bytes) -> list[int]:
        """Return the tokens that some bytes begin with, as long as there is no choice; cached."""
        found = self._only.get(raw)
        if found is None:
            if len(self._only) >= _MAX_BEGINNINGS:
                self._only.clear()
            found = self._only[raw] = self._find_only_tokens(raw)
        return found

    def _find_only_tokens(self, raw: bytes) -> list[int]:
        found: list[int] = []
        at = 0
        size = len(raw)
        sole = self._sole
        # At the end there may be a part of a token.
        end = size - self._sizes[-1]
        while at < size:
            token = sole.get(raw[at])
            if token is not None:
                own = self.raw[token]
                if not raw.startswith(own, at):
                    break
                found.append(token)
                at += len(own)
                continue
            some = (self._with_bytes.get(raw[at : at + each], ()) for each in self._sizes)
            tokens = [*itertools.chain.from_iterable(some)]
            if len(tokens) != 1 or (at > end and len(self.beginning_with(raw[at:])) > 1):
                break
            found += tokens
            at += len(self.raw[tokens[0]])
        return found

    def beginning_with(self, raw: bytes) -> list[int]:
        """Return the tokens that some bytes begin with, or that begin with these bytes."""
        if len(raw) >= self._sizes[-1]:
            some = (self._with_bytes.get(raw[:size], ()) for size in self._sizes)
            return sorted(itertools.chain.from_iterable(some))
        return [
            token
            for token in self.starting_with.get(raw[0], ())
            if raw.startswith(self.raw[token]) or self.raw[token].startswith(raw)
        ]


@dataclass(frozen=True, slots=True)
class Alphabet:
    """Tokens, and their bytes for each reading: in a path, and after its first ``?``."""

    tokens: tuple[str, ...]
    outputs: tuple[tuple[Outputs, Outputs], ...]
    #: For each reading: the least cost of each byte, `CHARACTER` for a character of a token.
    costs: tuple[bytes, ...]
    #: Whether a token has different bytes in a query.
    has_queries: bool

    def spellings(self, number: int, raw: bytes) -> list[str] | None:
        """Return all texts that a reading compares as some bytes of a path, the shortest first.

        None if they are many, if a token may go on after the bytes, or if a query may begin there.
        """
        outputs = self.outputs[number][0]
        if outputs.empty or (self.has_queries and b"?" in raw):
            return None
        found = []
        pending = [("", raw)]
        while pending:
            text, rest = pending.pop()
            if tokens := outputs.only_tokens(rest):
                text += "".join([self.tokens[token] for token in tokens])
                rest = rest[sum([len(outputs.raw[token]) for token in tokens]) :]
            if not rest:
                found.append(text)
                continue
            for token in outputs.beginning_with(rest):
                if len(outputs.raw[token]) > len(rest):
                    return None
                pending.append((text + self.tokens[token], rest[len(outputs.raw[token]) :]))
            if len(found) + len(pending) > _MAX_SPELLINGS:
                return None
        return sorted(found, key=len)


@dataclass(frozen=True, slots=True)
class Written:
    """What matters of the text of some patterns: many rule sets are alike."""

    all_bytes: frozenset[int]
    #: Those outside of escapes.
    plain_bytes: frozenset[int]
    escapes: frozenset[str]
    #: The characters that are not ASCII, in the order of their first appearance.
    characters: tuple[str, ...]
    digits_of_runs: frozenset[int]
    #: Those of `Shell`.
    tables: frozenset[bytes]


def written_in(texts: Iterable[bytes], tables: Iterable[bytes] = ()) -> Written:
    """Return what matters of patterns: their text with stars before runs, and their tables."""
    text = _BETWEEN.join(texts)
    parts = _ESCAPE.split(text) if b"%" in text else [text]
    escapes = {each.translate(UNMARK_DIGITS).decode("ascii") for each in set(parts[1::2])}
    other = text.translate(None, _ASCII).decode("utf-8", "ignore")
    all_bytes = _bytes_in(text)
    return Written(
        all_bytes,
        _bytes_in(b"".join(parts[::2])) if escapes else all_bytes,
        frozenset(escapes),
        tuple(dict.fromkeys(other)),
        digits_of_runs(text),
        frozenset(tables),
    )


def _bytes_in(text: bytes) -> frozenset[int]:
    """Return the bytes of a text; faster than a set of all, because few are different."""
    found = set(text[:: 1 + len(text) // _SAMPLE_BYTES])
    return frozenset(found.union(text.translate(None, bytes(found))))


def _together(parts: Sequence[Written]) -> Written:
    """Return what `written_in` does for the patterns of all parts."""
    if len(parts) == 1:
        return parts[0]
    between = frozenset(_BETWEEN)
    return Written(
        between.union(*[each.all_bytes for each in parts]),
        between.union(*[each.plain_bytes for each in parts]),
        frozenset().union(*[each.escapes for each in parts]),
        tuple(dict.fromkeys(itertools.chain.from_iterable(each.characters for each in parts))),
        frozenset().union(*[each.digits_of_runs for each in parts]),
        frozenset().union(*[each.tables for each in parts]),
    )


def alphabet(
    readings: Sequence[Reading], written: Sequence[Written], likeness: Likeness = ANY_URL
) -> Alphabet:
    """Return the alphabet of some patterns: of each reading, or several times of the only one.

    The bytes of tokens are those of `with_likeness`.
    """
    as_written = _together(_as_written(readings, written))
    return _alphabet(tuple(readings), _together(written), as_written, likeness)


def likeness_of(readings: Sequence[Reading], written: Sequence[Written]) -> Likeness:
    """Return what is compared alike on the URLs of `alphabet`, of what is in some patterns."""
    together = _together(written)
    known = _known_escapes(together, _together(_as_written(readings, written)))
    signs = b""
    escapes = set()
    for byte in sorted(together.all_bytes.union(_byte_of(each) for each in together.escapes)):
        sign, escape = bytes([byte]), b"%%%02X" % byte
        # One of both is in URLs, and most readings compare it as itself.
        form = _common_form(byte, chr(byte) in _UNESCAPED, escape.decode() in known, readings)
        if form == sign and sign not in _NOT_SIGNS:
            signs += sign
        elif form == escape and not together.digits_of_runs.intersection(escape):
            escapes.add(escape)
    digits = ANY_URL.digits
    if together.digits_of_runs:
        compared = b"".join(_compared_escapes(each, known) for each in readings)
        digits = frozenset(compared.replace(b"%", b""))
    return Likeness(signs, frozenset(escapes), digits)


def _compared_escapes(reading: Reading, known: Iterable[str]) -> bytes:
    """Return all escapes that a reading compares, for URLs with known escapes.

    Those of the canonical form are no text of which a pattern has a part.
    """
    if reading.escapes == Escapes.CANONICAL:
        return b""
    outputs = _outputs(reading)
    found = (raw for token in (*_UNESCAPED, *known) for raw in outputs[token])
    return b"".join(raw for raw in found if b"%" in raw)


def _common_form(
    byte: int, is_unescaped: bool, is_escaped: bool, readings: Sequence[Reading]
) -> bytes | None:
    """Return what all readings compare of the one token for a byte; None if they differ.

    The canonical form may become what the others compare.
    """
    if is_unescaped == is_escaped:
        return None
    escape = f"%{byte:02X}"
    marked = escape.encode("ascii").translate(MARK_DIGITS)
    token = escape if is_escaped else chr(byte)
    found = {each for reading in readings for each in _outputs(reading)[token]}
    others = found - {marked} or {escape.encode("ascii")}
    return others.pop() if len(others) == 1 else None


def _byte_of(escape: str) -> int:
    return int(escape[1:], 16)


def _as_written(readings: Sequence[Reading], written: Sequence[Written]) -> list[Written]:
    """Return the patterns whose reading does not decode escapes, of several readings."""
    if len(readings) == 1:
        return [_NOTHING]
    both = zip(readings, written, strict=True)
    return [each for reading, each in both if reading.escapes in UNDECODED_ESCAPES] or [_NOTHING]


_NOTHING = written_in(())


@functools.lru_cache(_MAX_ALPHABETS)
def _alphabet(
    readings: tuple[Reading, ...],
    written: Written,
    as_written: Written,
    likeness: Likeness,
) -> Alphabet:
    first, *others = readings
    if others:
        candidates = _candidates_for_several(readings, written, as_written, likeness)
    else:
        candidates = _candidates_for_one(first, written)
    class_of = [
        (byte if byte in written.all_bytes else None, *[table[byte] for table in written.tables])
        for byte in EVERY_BYTE
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
        tuple((Outputs(path), Outputs(query)) for path, query in raw),
        tuple(_costs(tokens, [path, query]) for path, query in raw),
        has_queries,
    )


def _costs(tokens: Sequence[str], outputs: Iterable[Sequence[bytes]]) -> bytes:
    """Return the least cost of each byte, for the outputs of all tokens."""
    costs = bytearray([IMPOSSIBLE]) * len(EVERY_BYTE)
    for raws in outputs:
        for token, raw in zip(tokens, raws, strict=True):
            for byte in raw:
                costs[byte] = min(costs[byte], CHARACTER * len(token) // len(raw))
    return bytes(costs)


def _candidates_for_one(reading: Reading, written: Written) -> Iterator[Candidate]:
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
    readings: Sequence[Reading], written: Written, as_written: Written, likeness: Likeness
) -> Iterator[Candidate]:
    """Yield the tokens of URLs that clients send."""
    known_escapes = _known_escapes(written, as_written)
    for token in _outputs(readings[0]):
        pairs = tuple(_pair(token, reading, likeness) for reading in readings)
        if token in _UNESCAPED:
            if (
                written.digits_of_runs
                or all(len(in_path) == 1 for in_path, _ in pairs)
                or _occurs(token, written)
            ):
                yield token, pairs
        elif token in known_escapes and unquote(token) not in _UNRESERVED:
            if token in _NOT_IN_QUERIES:
                pairs = tuple((path, b"") for path, _ in pairs)
            yield token, pairs


def _known_escapes(written: Written, as_written: Written) -> set[str]:
    """Return the escapes of URLs that clients send, for some patterns."""
    # The canonical form has these only if the file has them.
    known = set(as_written.escapes) | (written.escapes & _DISTINCT_ESCAPES)
    known |= {each for each in written.escapes if unquote(each) not in _UNESCAPED}
    return known | {f"%{byte:02X}" for byte in written.plain_bytes if chr(byte) not in _UNESCAPED}


def _pair(token: str, reading: Reading, likeness: Likeness) -> tuple[bytes, bytes]:
    """Return the bytes of a token, in a path and in a query, with a likeness."""
    in_path, in_query = _outputs(reading)[token]
    return with_likeness(in_path, reading, likeness), with_likeness(in_query, reading, likeness)


def _occurs(character: str, written: Written) -> bool:
    return ord(character) in written.all_bytes or f"%{ord(character):02X}" in written.escapes
