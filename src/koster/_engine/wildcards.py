"""Globs: whether the rest of a pattern, from its first special byte on, matches a path.

Takes bytes and offsets, and uses no Python objects. `matches` is for ``*``: each run between stars
is searched once, as far left as possible, so there is no backtracking and the time is at most
O(bytes of the path × number of stars). `shell_matches` is for the patterns of /bin/sh: elements of
a run can match several bytes, so each element is compared with many positions of the path at once.
"""

from __future__ import annotations

from . import memory as _memory
from . import no_cython as cython

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .memory import Bytes, Integers
elif cython.compiled:
    import cython

_STAR = 42
_QUESTION = 63
_BRACKET = 91
_CLOSING = 93
_BANG = 33
_HYPHEN = 45
_BACKSLASH = 92

#: There was no memory to match a pattern.
NO_ROOM = -1

#: How many positions of the path are compared with an element at once, many of them with one
#: instruction (``make bench``, hostile patterns).
_WINDOW = 256

_EVERY_TABLE = bytes(range(256))
_EVERY_BYTE = _EVERY_TABLE

#: Runs up to this size are searched by comparing them at each position: at most as many
#: comparisons for each byte of the path. Longer runs have links (Knuth, Morris and Pratt).
_SHORT = 32
#: A run is not in the path, or there was no memory to search for it.
_MISSING, _NO_LINKS = -1, -2


def matches(
    text: Bytes, at: int, end: int, anchored: bool, path: Bytes, position: int, stop: int
) -> int:
    """Tell whether ``text[at:end]`` matches from ``position`` on: 1 or 0, or `NO_ROOM`.

    It starts with a star and does not end with one.
    """
    while at < end:
        while at < end and text[at] == _STAR:
            at += 1
        run_end = _memory.find(text, _STAR, at, end)
        size = run_end - at
        if size > stop - position:
            return 0
        if anchored and run_end == end:
            return _memory.same(text, at, path, stop - size, size)
        found = _search(text, at, size, path, position, stop)
        if found < position:
            return NO_ROOM if found == _NO_LINKS else 0
        position = found + size
        at = run_end
    return 1


def _search(text: Bytes, at: int, size: int, path: Bytes, position: int, stop: int) -> int:
    """Return the first position of the run ``text[at:at + size]`` in the path, or `_MISSING`."""
    position = _memory.search(path, position, stop, text, at, min(size, _SHORT))
    if size <= _SHORT or position < 0:
        return position
    links = _memory.integers(size)
    if not links:
        return _NO_LINKS
    _link(text, at, size, links)
    position = _search_long(text, at, size, links, path, position, stop)
    _memory.release(links)
    return position


def _search_long(
    text: Bytes, at: int, size: int, links: Integers, path: Bytes, position: int, stop: int
) -> int:
    """Search in time linear in the path: Knuth, Morris and Pratt, 1977."""
    matched = 0
    while position < stop:
        while matched > 0 and text[at + matched] != path[position]:
            matched = links[matched - 1]
        if text[at + matched] == path[position]:
            matched += 1
        position += 1
        if matched == size:
            return position - size
    return _MISSING


def _link(text: Bytes, at: int, size: int, links: Integers) -> None:
    """Fill in the links of a run.

    ``links[i]`` is how many bytes up to its byte i are also a prefix of it; ``links[0]`` is 0.
    """
    matched = 0
    for index in range(1, size):
        while matched > 0 and text[at + index] != text[at + matched]:
            matched = links[matched - 1]
        if text[at + index] == text[at + matched]:
            matched += 1
        links[index] = matched


def links_of(run: bytes) -> list[int]:
    """Return the links of a run, which is not empty; for `koster.analysis`."""
    links = _memory.integers(len(run))
    if not links:
        raise MemoryError("no memory for a pattern")
    _link(run, 0, len(run), links)
    found = [links[at] for at in range(len(run))]
    _memory.release(links)
    return found


def is_special(byte: int) -> bool:
    """Tell whether a byte is special in a shell pattern."""
    return byte in (_STAR, _QUESTION, _BRACKET, _BACKSLASH)


def is_explicit(text: Bytes, at: int, end: int) -> bool:
    """Tell whether a shell pattern has only literal bytes, quoted or not."""
    closing = _last_bracket(text, at, end)
    while at < end:
        after = _element_end(text, at, end, closing)
        if text[at] == _STAR or text[at] == _QUESTION or (text[at] == _BRACKET and after != at + 1):
            return False
        at = after
    return True


@cython.locals(after_star="bint", matched="int")
def shell_matches(text: Bytes, at: int, end: int, path: Bytes, position: int, stop: int) -> int:
    """Tell whether the shell pattern ``text[at:end]`` matches all of ``path[position:stop]``.

    Returns 1 or 0, or `NO_ROOM`.
    """
    room = _memory.buffer(2 * _WINDOW)
    if not room:
        return NO_ROOM
    closing = _last_bracket(text, at, end)
    matched = 0
    after_star = False
    while True:
        run_end, size = _run(text, at, end, closing)
        low = position
        high = stop - size if after_star else position
        if run_end == end:
            low = max(position, stop - size)
        if low <= high <= stop - size:
            position = _find_run(text, at, run_end, closing, room, path, low, high)
        else:
            position = -1
        if position < 0 or run_end == end:
            matched = position >= 0
            break
        position += size
        at = run_end + 1
        after_star = True
    _memory.release(room)
    return matched


def elements(pattern: bytes) -> list[bytes | None]:
    """Return the elements of a shell pattern, for `koster.analysis`.

    Each is a table of the 256 bytes with 1 for those that match, or None for a star.
    """
    found: list[bytes | None] = []
    end = len(pattern)
    closing = _last_bracket(pattern, 0, end)
    at = 0
    while at < end:
        after = at + 1
        if pattern[at] == _STAR:
            found.append(None)
        else:
            after = _element_end(pattern, at, end, closing)
            room = _memory.buffer(2 * _WINDOW)
            if not room:
                raise MemoryError("no memory for a shell pattern")
            _memory.fill(room, 0, 1, _WINDOW)
            _clear_mismatches(pattern, at, after, room, _WINDOW, _EVERY_BYTE, 0)
            found.append(bytes(room[:256]))
            _memory.release(room)
        at = after
    return found


def _last_bracket(text: Bytes, at: int, end: int) -> int:
    """Return the position of the last ``]`` that can close a class, or -1."""
    last = -1
    while at < end:
        if text[at] == _CLOSING:
            last = at
        at += 2 if text[at] == _BACKSLASH else 1
    return last


def _run(text: Bytes, at: int, end: int, closing: int) -> tuple[int, int]:
    """Return where the run at ``at`` ends, and its number of elements."""
    size = 0
    while at < end and text[at] != _STAR:
        at = _element_end(text, at, end, closing)
        size += 1
    return at, size


def _element_end(text: Bytes, at: int, end: int, closing: int) -> int:
    """Return where the element at ``at`` ends, which matches one byte of the path."""
    if text[at] == _BACKSLASH:
        return min(at + 2, end)
    if text[at] != _BRACKET:
        return at + 1
    last = at + 1
    if last < end and text[last] == _BANG:
        last += 1
    first = last
    while last <= closing:
        if text[last] == _CLOSING and last > first:
            return last + 1
        last += 2 if text[last] == _BACKSLASH else 1
    return at + 1


def _find_run(
    text: Bytes, at: int, end: int, closing: int, room: bytearray,
    path: Bytes, low: int, high: int,
) -> int:  # fmt: skip
    """Return the first position from ``low`` to ``high`` where a run matches the path, or -1.

    ``room`` has 1 for each position that is still possible, then for each that a class matches.
    """
    while low <= high:
        count = min(_WINDOW, high - low + 1)
        _memory.fill(room, 0, 1, count)
        possible = 0
        element = at
        position = low
        while element < end and possible < count:
            after = _element_end(text, element, end, closing)
            _clear_mismatches(text, element, after, room, count, path, position)
            possible = _memory.find(room, 1, 0, count)
            element = after
            position += 1
        if possible < count:
            return low + possible
        low += count
    return -1


@cython.locals(byte="unsigned char")
def _clear_mismatches(
    text: Bytes, at: int, end: int, room: bytearray, count: int, path: Bytes, position: int
) -> None:
    """Clear the positions at which the element ``text[at:end]`` does not match."""
    byte = text[at]
    if byte == _QUESTION:
        return
    if byte == _BRACKET and end - at != 1:
        _clear_others(text, at + 1, end - 1, room, count, path, position)
        return
    if byte == _BACKSLASH and end - at == 2:
        byte = text[at + 1]
    for place in range(count):
        room[place] &= path[position + place] == byte


@cython.locals(
    is_negated="unsigned char", low="unsigned char", high="unsigned char", span="unsigned char",
    distance="unsigned char",
)  # fmt: skip
def _clear_others(
    text: Bytes, at: int, end: int, room: bytearray, count: int, path: Bytes, position: int
) -> None:
    """Clear the positions whose byte is not in the class with the members ``text[at:end]``.

    One instruction compares a range with many bytes; a table of the members takes one for each.
    """
    is_negated = at < end and text[at] == _BANG
    if is_negated:
        at += 1
    # A local variable, which no write to the room can change: only so are loops vectorized.
    members = _WINDOW
    _memory.fill(room, members, 0, count)
    while at < end:
        # A backslash is not the last byte: it would quote the bracket that closes the class.
        if text[at] == _BACKSLASH:
            at += 1
        low = text[at]
        high = low
        at += 1
        if end - at >= 2 and text[at] == _HYPHEN:
            at += 2 if text[at + 1] == _BACKSLASH else 1
            high = text[at]
            at += 1
        if low <= high:
            span = high - low
            for place in range(count):
                distance = (path[position + place] - low) & 255
                room[members + place] |= distance <= span
    for place in range(count):
        room[place] &= room[members + place] ^ is_negated
