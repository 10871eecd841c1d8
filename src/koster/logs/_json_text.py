"""JSON that is not an object on each line: arrays, and objects over several lines or on one.

Its objects become lines, in bounded memory: an object is as long as a line may be.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..bulk._arrow import Numbers, np
from ..errors import UnreadableError

_QUOTE, _BACKSLASH, _OPEN, _CLOSE, _NEWLINE, _SPACE = b'"\\{}\n '

_BOM = b"\xef\xbb\xbf"

#: What is between objects: brackets, commas and whitespace.
_BETWEEN = np.zeros(256, bool)
_BETWEEN[list(b"[], \t\r\n")] = True


def is_json_text(start: bytes) -> bool:
    """Return whether a file begins with an array of objects, or an object that is no line."""
    text = start.removeprefix(_BOM).lstrip()
    if text.startswith(b"["):
        return text[1:].lstrip().startswith(b"{")
    if not text.startswith(b"{"):
        return False
    depth = _depths(np.frombuffer(text, np.uint8))
    ends = np.flatnonzero(depth == 0)
    if not len(ends):
        # A line that was cut, or no JSON.
        return False
    end = int(ends[0]) + 1
    after = text[end:].lstrip(b" \t\r")
    return b"\n" in text[:end] or after[:1] in (b"{", b",")


def lines_from(chunks: Iterator[bytes], path: str, limit: int) -> Iterator[bytes]:
    """Yield the objects of JSON, one a line, in blocks.

    Raises:
        UnreadableError: the JSON is broken, or an object is too long; those before were yielded.
    """
    rest = b""
    for number, chunk in enumerate(chunks):
        rest += chunk.removeprefix(_BOM) if number == 0 else chunk
        found, rest = _split(rest, path)
        if found and not found.isspace():
            yield found
        if len(rest) > limit:
            raise UnreadableError(
                f"{path}: cannot be read to its end: an object of its JSON is longer than "
                f"{limit // 2**20} MiB, or is not closed"
            )
    if rest.strip():
        raise UnreadableError(f"{path}: cannot be read to its end: its JSON ends within an object")


def _split(data: bytes, path: str) -> tuple[bytes, bytes]:
    """Return the whole objects of some JSON as lines, and the start of the next one."""
    signs = np.frombuffer(data, np.uint8)
    depth = _depths(signs)
    if len(depth) and depth.min() < 0:
        raise UnreadableError(f"{path}: cannot be read to its end: its JSON has one }} too many")
    is_end = (depth == 0) & (signs == _CLOSE)
    ends = np.flatnonzero(is_end)
    if not len(ends):
        is_open = bool(len(depth) and depth[-1] > 0)
        return (b"", data) if is_open else (_lines(signs, depth), b"")
    last = int(ends[-1]) + 1
    if not depth[-1]:
        last = len(data)
    return _lines(signs[:last], depth[:last]), data[last:]


def _lines(signs: Numbers, depth: Numbers) -> bytes:
    """Return objects with a line end after each, and none in them."""
    is_outside = (depth == 0) & (signs != _CLOSE)
    found = signs.copy()
    found[(found == _NEWLINE) & ~is_outside] = _SPACE
    found[is_outside & _BETWEEN[signs]] = _NEWLINE
    ends = np.flatnonzero((depth == 0) & (signs == _CLOSE)) + 1
    return np.insert(found, ends, _NEWLINE).tobytes()


def _depths(signs: Numbers) -> Numbers:
    """Return how many objects are open after each byte.

    Text ends at the end of a line at the latest: a quote that is missing ends there.
    """
    is_quote = signs == _QUOTE
    if (signs == _BACKSLASH).any():
        is_quote &= ~_are_escaped(signs)
    quotes = np.cumsum(is_quote, dtype=np.int32)
    newlines = np.flatnonzero(signs == _NEWLINE)
    # The quotes before each line do not count in it.
    starts = np.zeros(len(signs), np.int32)
    starts[newlines] = np.diff(quotes[newlines], prepend=0)
    before = np.cumsum(starts)
    is_text = ((quotes - before) & 1).astype(bool)
    step = (signs == _OPEN).astype(np.int8) - (signs == _CLOSE)
    step[is_text] = 0
    return np.cumsum(step, dtype=np.int32)


def _are_escaped(signs: Numbers) -> Numbers:
    """Return which bytes have an odd number of backslashes before them."""
    places = np.arange(len(signs), dtype=np.int32)
    others = np.where(signs == _BACKSLASH, -1, places)
    last_other = np.maximum.accumulate(others)
    run = places - 1 - np.concatenate([[-1], last_other[:-1]])
    return (run & 1).astype(bool)
