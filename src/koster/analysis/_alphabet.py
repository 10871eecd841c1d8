"""The alphabet of a question: what URLs are made of, as far as some patterns can tell it apart.

A path is made of tokens, a character or an escape each, and every reading turns a token into bytes
of its own (`koster.engine.canonical`, which is asked, so that there is one truth). Tokens whose
bytes all patterns treat alike are one letter of the alphabet; the plainest of them stands for it.

URLs of one reading are all that it can be asked. Where several readings are compared, they are the
URLs that clients send (RFC 3986 §3.3, §3.4, §6.2.2): unreserved characters are not escaped, ``/``
and ``?`` stand as they are behind the first ``?``, and other characters that may stand as they are
do, unless a file itself escapes them. Else every rule would be read in several ways: ``/%70rivate``
is ``/private`` to one standard and not to another.

An escape of which no pattern speaks needs no letter: a pattern cannot tell ``%XY`` from another
byte of which none speaks, with the same X and Y behind it.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..dialects import Dialect, Escapes
from ..robots import parse, selection_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TypeAlias

    from ..dialects import Reading
    from ..engine.selection import Selection

    #: A token, and for each reading its bytes: in a path, and in a query.
    Candidate: TypeAlias = tuple[str, tuple[tuple[bytes, bytes], ...]]

_NICE = (
    "xyzabcdefghijklmnopqrstuvw0123456789XYZABCDEFGHIJKLMNOPQRSTUVW-_.~/=&?:@!$'()*+,;"
    '"<>[]^`{|}\\ '
)
#: RFC 3986 §2.3, §3.3 and §3.4.
_UNRESERVED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
_RAW = _UNRESERVED | frozenset("/?:@!$&'()*+,;=")

#: What the canonical form escapes, and browsers do not.
PLAIN = ":@!$'()+,;"

_KEPT = "".join(sorted(_UNRESERVED | set("/?&="))).encode("ascii")

#: Escapes of characters that the canonical form leaves as they are.
_DISTINCT = frozenset(f"%{ord(character):02X}" for character in "/?&=")

#: Escapes that do not stand in a query; a token without bytes leads nowhere.
_AS_THEY_ARE = ("%2F", "%3F")

#: As they are written, and as the canonical form has them (`koster.engine.canonical`).
_ESCAPE = re.compile(rb"%(?:[0-9A-F]{2}|[\xb0-\xb9\xc1-\xc6]{2})")
_MARKED = bytes(byte | 128 for byte in b"0123456789ABCDEF")
_UNMARKED = bytes.maketrans(_MARKED, b"0123456789ABCDEF")
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]+")
#: A run behind a star that can begin in the middle of an escape.
_IN_AN_ESCAPE = re.compile(rb"\*[0-9A-F]")

#: Readings that take a URL's bytes as they stand.
AS_IT_STANDS = frozenset({Escapes.PATTERN_ONLY, Escapes.AS_WRITTEN})


@functools.cache
def _no_rules(reading: Reading) -> Selection:
    return selection_of(parse(b"", Dialect(name="", source="", reading=reading)).rules_for("*"))


def path_of(reading: Reading, path: str) -> bytes:
    """Return what a reading compares of a path, also of one that looks like a host."""
    return _no_rules(reading).path_of(with_host(path))


def spelled(path: bytes, reading: Reading) -> bytes:
    """Return what is compared with the escapes as they are written."""
    return path.translate(_UNMARKED) if reading.escapes == Escapes.CANONICAL else path


def with_host(path: str) -> str:
    """Return a path as it may be asked for: one that looks like a host gets one before it."""
    return f"https://example.com{path}" if path.startswith("//") else path


def plainest(path: str, reading: Reading) -> str:
    """Return a path with the characters that browsers do not escape as they are."""
    if "%" not in path:
        return path
    plain = path
    for character in PLAIN:
        plain = plain.replace(f"%{ord(character):02X}", character)
    return plain if path_of(reading, plain) == path_of(reading, path) else path


@functools.cache
def _outputs(reading: Reading) -> dict[str, tuple[bytes, bytes]]:
    """Return for each ASCII character and each escape its bytes: in a path, and in a query."""
    selection = _no_rules(reading)
    tokens = [chr(byte) for byte in (*map(ord, _NICE), *range(1, 128))]
    tokens += [f"%{byte:02X}" for byte in range(256)]
    return {
        token: (selection.path_of(f"/x{token}")[2:], selection.path_of(f"/?{token}")[2:])
        for token in dict.fromkeys(tokens)
        if token != "#"
    }


@dataclass(frozen=True, slots=True)
class Alphabet:
    """Tokens, and for each reading their bytes: in a path, and behind its first ``?``."""

    tokens: tuple[str, ...]
    outputs: tuple[tuple[tuple[bytes, ...], tuple[bytes, ...]], ...]

    @property
    def has_queries(self) -> bool:
        """Whether a token says something else in a query."""
        return any(path != query for path, query in self.outputs)


def alphabet(
    readings: Sequence[Reading],
    texts: Sequence[bytes],
    tables: Iterable[bytes],
    as_written: Sequence[bytes] = (),
) -> Alphabet:
    """Return the alphabet of some patterns.

    ``texts`` are the patterns, with stars where runs begin; ``tables`` those of `Shell`. Of several
    readings, ``as_written`` are the patterns of those that compare them as they stand.
    """
    is_one = len(set(readings)) == 1
    written = b"\n".join(texts)
    if is_one:
        candidates = _of_one(readings[0], written)
    else:
        candidates = _of_several(readings, written, b"\n".join(as_written))
    sets = tuple(set(tables))
    spoken = set(written)
    class_of = [
        (byte if byte in spoken else -1, *[table[byte] for table in sets]) for byte in range(256)
    ]
    chosen: dict[object, Candidate] = {}
    for token, outputs in candidates:
        key = (
            token == "?",
            tuple(tuple(class_of[byte] for byte in raw) for pair in outputs for raw in pair),
        )
        chosen.setdefault(key, (token, outputs))
    tokens = tuple(token for token, _ in chosen.values())
    return Alphabet(
        tokens,
        tuple(
            (
                tuple(outputs[number][0] for _, outputs in chosen.values()),
                tuple(outputs[number][1] for _, outputs in chosen.values()),
            )
            for number in range(len(readings))
        ),
    )


def _of_one(reading: Reading, written: bytes) -> Iterator[Candidate]:
    """Go through the tokens of a reading that may be told apart, the plainest first."""
    listed = _escapes_in(written)
    outputs = _outputs(reading)
    if reading.escapes in AS_IT_STANDS:
        for token in (*(each for each in outputs if len(each) == 1), *_characters(written)):
            raw = token.encode("utf-8")
            yield token, ((raw, raw),)
        return
    # Where patterns speak of every character that stands as it is, one escape of which they do
    # not speak is the letter for all others.
    needs_other = all(byte in written for byte in _KEPT)
    for token, pair in outputs.items():
        escape = spelled(pair[0], reading).decode("ascii", "replace")
        is_told = escape in listed or reading.escapes != Escapes.CANONICAL
        if len(escape) > 1 and len(token) == 1 and not (is_told and token in PLAIN):
            continue
        if len(escape) == 1 or is_told:
            yield token, (pair,)
        elif needs_other:
            needs_other = False
            yield token, (pair,)


def _of_several(
    readings: Sequence[Reading], written: bytes, as_written: bytes
) -> Iterator[Candidate]:
    """Go through the tokens of URLs that clients send."""
    outputs = [_outputs(reading) for reading in readings]
    spoken = _escapes_in(written)
    listed = _escapes_in(as_written)
    # The canonical form has these escapes only where the file itself has them.
    listed |= spoken & _DISTINCT
    listed |= {each for each in spoken if chr(int(each[1:], 16)) not in _RAW}
    bare = _ESCAPE.sub(b"", written)
    listed |= {f"%{byte:02X}" for byte in set(bare) if chr(byte) not in _RAW}
    spoken_bytes = set(written)
    in_an_escape = _IN_AN_ESCAPE.search(written) is not None
    for token in outputs[0]:
        pairs = tuple(of_reading[token] for of_reading in outputs)
        if token in _RAW:
            if (
                in_an_escape
                or all(len(pair[0]) == 1 for pair in pairs)
                or _is_told(token, spoken_bytes, spoken)
            ):
                yield token, pairs
        elif token in listed and chr(int(token[1:], 16)) not in _UNRESERVED:
            if token in _AS_THEY_ARE:
                pairs = tuple((path, b"") for path, _ in pairs)
            yield token, pairs


def _escapes_in(written: bytes) -> set[str]:
    found = set(_ESCAPE.findall(written))
    return {escape.translate(_UNMARKED).decode("ascii") for escape in found}


def _is_told(character: str, spoken: set[int], escapes: set[str]) -> bool:
    """Tell whether a pattern speaks of a character, as it is or escaped."""
    return ord(character) in spoken or f"%{ord(character):02X}" in escapes


def _characters(written: bytes) -> list[str]:
    """Return the characters beyond ASCII that patterns speak of."""
    text = b"".join(_BEYOND_ASCII.findall(written)).decode("utf-8", "ignore")
    return list(dict.fromkeys(text))
