"""Strings: what C does faster. The C side is ``_text.pxd``, for the compiled modules."""

from __future__ import annotations


def has(text: str, character: str) -> bool:
    """Tell whether a string has a character."""
    return character in text


def is_ascii(text: str) -> bool:
    """Tell whether a string has only ASCII characters."""
    return text.isascii()


def is_printable(text: str) -> bool:
    """Tell whether a string has no control characters, and no white space but spaces."""
    return text.isprintable()
