"""Patterns of paths as in robots.txt, in other files."""

from __future__ import annotations

import re

from ..robots import matched_length

#: Characters that would end a pattern in a robots.txt, or that it would lose.
_ESCAPED = re.compile("[\0-\x20#\x7f]")


def matched_location(url: str, pattern: str) -> int:
    """Return how specific a pattern is, in bytes, if it matches a URL, else -1.

    >>> matched_location("https://provider.com/path/foo-$", "/path/foo-%24")
    13
    >>> matched_location("https://provider.com/path/", "/path\\nAllow: /")
    -1
    """
    escaped = _ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", pattern)
    # JSON and HTML can write halves of surrogates, which no URL has.
    return matched_length(url, escaped.encode("utf-8", "replace").decode())
