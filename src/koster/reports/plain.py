"""Text that is safe to show: files, URLs and names are written by strangers."""

from __future__ import annotations

import re

from ..model import spelt_out

#: Characters that are shown of a longer text.
_SHOWN = 200

_MARKDOWN = frozenset("\\`*_{}[]<>()#+!|~")


def printable(text: str) -> str:
    """Return text in which control characters, and what a terminal may obey, are spelt out."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else spelt_out(character) for character in text
    )


def printable_lines(text: str) -> str:
    """Return lines in which control characters are spelt out; each ends with a line feed."""
    lines = re.split("\r\n|\r|\n", text)
    if not lines[-1]:
        lines.pop()
    return "".join(f"{printable(line.expandtabs())}\n" for line in lines)


def shortened(text: str) -> str:
    """Return a printable text, cut if it is very long."""
    return printable(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")


def markdown(text: str) -> str:
    """Return text that Markdown shows as it is."""
    return "".join(f"\\{each}" if each in _MARKDOWN else each for each in printable(text))


def markdown_code(text: str) -> str:
    """Return text as code, also in a cell of a table."""
    shown = shortened(text).replace("|", "\\|")
    fence = "`"
    while fence in shown:
        fence += "`"
    return f"{fence}{shown}{fence}" if len(fence) == 1 else f"{fence} {shown} {fence}"


def counted(count: int, what: str) -> str:
    """Return how many there are of something.

    >>> counted(1, "record"), counted(2000, "record")
    ('1 record', '2,000 records')
    """
    return f"{count:,} {what}{'' if count == 1 else 's'}"
