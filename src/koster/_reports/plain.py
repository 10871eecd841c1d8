"""Text that is safe to show: files, URLs and names are untrusted."""

from __future__ import annotations

import re

from .._wording import truncated
from ..model import spelt_out

#: The maximum characters of a text that is shortened.
_MAX_CHARACTERS = 200

_MARKDOWN = frozenset("\\`*_{}[]<>()#+!|~")


def printable(text: str) -> str:
    """Escape characters that are not printable, such as those that control a terminal."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else spelt_out(character) for character in text
    )


def printable_lines(text: str) -> str:
    """Escape control characters in lines; each ends with a line feed."""
    lines = re.split("\r\n|\r|\n", text)
    if not lines[-1]:
        lines.pop()
    return "".join(f"{printable(line.expandtabs())}\n" for line in lines)


def shorten(text: str) -> str:
    """Escape a text as `printable` does, and cut it if it is very long."""
    return printable(truncated(text, _MAX_CHARACTERS))


def markdown(text: str) -> str:
    """Escape text for Markdown."""
    return "".join(f"\\{each}" if each in _MARKDOWN else each for each in printable(text))


def markdown_code(text: str) -> str:
    """Return text as inline code, also valid in a table."""
    shown = shorten(text).replace("|", "\\|")
    fence = "`"
    while fence in shown:
        fence += "`"
    return f"{fence}{shown}{fence}" if len(fence) == 1 else f"{fence} {shown} {fence}"
