"""Counts, lists of names and long texts in sentences."""

from __future__ import annotations

from collections.abc import Iterable


def count_noun(count: int, what: str) -> str:
    """Return a count with its noun, in the plural if needed.

    >>> count_noun(1, "record"), count_noun(2000, "record")
    ('1 record', '2,000 records')
    """
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def joined(items: Iterable[str], word: str = "and") -> str:
    """Return items, at least one, for a sentence.

    >>> joined(["A"]), joined(["A", "B"]), joined(["A", "B", "C"], "or")
    ('A', 'A and B', 'A, B or C')
    """
    *first, last = items
    return f"{', '.join(first)} {word} {last}" if first else last


def truncated(text: str, limit: int) -> str:
    """Return a text of at most ``limit`` characters.

    >>> truncated("abcd", 4), truncated("abcde", 4)
    ('abcd', 'abc…')
    """
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
