"""Globs: whether the rest of a pattern, from its first special octet on, matches a path.

Takes octets and offsets into them, gives a verdict; no Python object is needed. `matches`
takes ``*``: each run between stars is looked for once, as far left as it can stand, so that
there is no backtracking and the time is at most O(octets of the path × number of stars).
`shell_matches` takes the patterns of /bin/sh.
"""

from __future__ import annotations

from . import _octets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._octets import Integers, Octets

_STAR = 42
_QUESTION = 63
_BRACKET = 91
_CLOSING = 93
_BANG = 33
_HYPHEN = 45
_BACKSLASH = 92

#: Up to this many octets a run is looked for by comparing it at each place: that is at most
#: so many comparisons an octet of the path. Longer runs have links (Knuth, Morris and Pratt).
SHORT = 32


def matches(
    text: Octets, at: int, end: int, anchored: bool, links: Integers,
    path: Octets, position: int, stop: int,
) -> bool:  # fmt: skip
    """Tell whether ``text[at:end]``, which begins with a star, matches from ``position`` on."""
    while at < end:
        while at < end and text[at] == _STAR:
            at += 1
        run_end = _octets.find(text, _STAR, at, end)
        size = run_end - at
        if anchored and run_end == end:
            return stop - position >= size and _octets.same(text, at, path, stop - size, size)
        position = _search(text, at, size, links, path, position, stop)
        if position < 0:
            return False
        position += size
        at = run_end
    return True


def _search(
    text: Octets, at: int, size: int, links: Integers, path: Octets, position: int, stop: int
) -> int:
    """Return where the run ``text[at:at + size]`` first stands in the path, or -1."""
    if size == 0:
        return position
    if size > SHORT:
        return _search_long(text, at, size, links, path, position, stop)
    last = stop - size + 1
    while True:
        position = _octets.find(path, text[at], position, last)
        if position >= last:
            return -1
        if _octets.same(path, position, text, at, size):
            return position
        position += 1


def _search_long(
    text: Octets, at: int, size: int, links: Integers, path: Octets, position: int, stop: int
) -> int:
    """Search in time linear in the path: Knuth, Morris and Pratt, 1977."""
    matched = 0
    while position < stop:
        while matched > 0 and text[at + matched] != path[position]:
            matched = links[at + matched - 1]
        if text[at + matched] == path[position]:
            matched += 1
        position += 1
        if matched == size:
            return position - size
    return -1


def longest_run(text: Octets, at: int, end: int) -> int:
    """Return the octets in the longest run between stars."""
    longest = 0
    while at < end:
        run_end = _octets.find(text, _STAR, at, end)
        longest = max(longest, run_end - at)
        at = run_end + 1
    return longest


def link(text: Octets, at: int, end: int, links: Integers) -> None:
    """Fill in the links of the runs in ``text[at:end]``.

    ``links[i]`` is how many octets before and with ``text[i]`` are also how its run begins.
    """
    while at < end:
        run_end = _octets.find(text, _STAR, at, end)
        matched = 0
        for position in range(at + 1, run_end):
            while matched > 0 and text[position] != text[at + matched]:
                matched = links[at + matched - 1]
            if text[position] == text[at + matched]:
                matched += 1
            links[position] = matched
        at = run_end + 1


def is_special(octet: int) -> bool:
    """Tell whether an octet is special in a shell pattern."""
    return octet == _STAR or octet == _QUESTION or octet == _BRACKET or octet == _BACKSLASH


def shell_matches(text: Octets, at: int, end: int, path: Octets, position: int, stop: int) -> bool:
    """Tell whether the shell pattern ``text[at:end]`` matches all of ``path[position:stop]``."""
    star = -1
    mark = position
    while position < stop or at < end:
        if at < end and text[at] == _STAR:
            star = at
            mark = position
            at += 1
            continue
        size = _element(text, at, end, path[position]) if at < end and position < stop else 0
        if size > 0:
            at += size
            position += 1
        elif star < 0 or mark >= stop:
            return False
        else:
            mark += 1
            position = mark
            at = star + 1
    return True


def _element(text: Octets, at: int, end: int, octet: int) -> int:
    """Return how long the element at ``at`` is if it matches the octet, else 0."""
    if text[at] == _QUESTION:
        return 1
    if text[at] == _BACKSLASH and at + 1 < end:
        return 2 if text[at + 1] == octet else 0
    if text[at] == _BRACKET:
        after = _class_end(text, at, end)
        if after > 0:
            return after - at if _in_class(text, at + 1, after - 1, octet) else 0
    return 1 if text[at] == octet else 0


def _class_end(text: Octets, at: int, end: int) -> int:
    """Return where the class that opens at ``at`` ends, or 0 if it never closes."""
    at += 1
    if at < end and text[at] == _BANG:
        at += 1
    first = at
    while at < end:
        if text[at] == _CLOSING and at > first:
            return at + 1
        at += 2 if text[at] == _BACKSLASH else 1
    return 0


def _in_class(text: Octets, at: int, end: int, octet: int) -> bool:
    """Tell whether the class with the members ``text[at:end]`` holds the octet."""
    wanted = True
    if at < end and text[at] == _BANG:
        wanted = False
        at += 1
    while at < end:
        if text[at] == _BACKSLASH and at + 1 < end:
            at += 1
        low = text[at]
        high = low
        at += 1
        if end - at >= 2 and text[at] == _HYPHEN:
            at += 2 if text[at + 1] == _BACKSLASH and end - at >= 3 else 1
            high = text[at]
            at += 1
        if low <= octet <= high:
            return wanted
    return not wanted
