"""Styled text, and tables for files and pipes, which need no rich.

On a terminal, `screen` prints with rich. Importing rich takes as long as most commands.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import rich.text

#: The spaces between two columns.
_GAP = 2


class Text:
    """Text in a style such as ``bold red``; parts may have other styles. Like that of rich."""

    __slots__ = ("_more", "_style", "_text")

    def __init__(self, text: str = "", style: str = "") -> None:
        self._text = text
        self._style = style
        self._more: list[tuple[str | Text, str]] = []

    @classmethod
    def assemble(cls, *parts: str | tuple[str, str] | Text) -> Text:
        """Put parts together: text, text with a style, or `Text`."""
        whole = cls()
        for part in parts:
            whole.append(*(part if isinstance(part, tuple) else (part,)))
        return whole

    def append(self, text: str | Text, style: str = "") -> Text:
        """Add a part at the end; the style of the whole applies to it, too."""
        self._more.append((text, style))
        return self

    @property
    def plain(self) -> str:
        """The text without styles."""
        return self._text + "".join(
            part.plain if isinstance(part, Text) else part for part, _ in self._more
        )

    @property
    def cell_len(self) -> int:
        """Its width on a terminal, in cells."""
        return _cells(self.plain)

    def for_terminal(self) -> rich.text.Text:
        """Return the text of rich for it."""
        from rich.text import Text as RichText  # noqa: PLC0415 - only on a terminal

        whole = RichText(self._text, self._style)
        for part, style in self._more:
            if isinstance(part, Text):
                whole.append(part.for_terminal())
            else:
                whole.append(part, style or None)
        return whole


def _cells(text: str) -> int:
    """Return the cells of a line; East Asian characters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415 - see the module

    return cell_len(text)


def table_lines(headings: list[str], rows: list[list[str]]) -> Iterator[str]:
    """Yield the lines of a table at full width, without spaces at their ends.

    If all headings are empty, there is no heading line.
    """
    cells = [[cell.split("\n") for cell in row] for row in rows]
    widths = [max(len(heading), _cells(heading)) for heading in headings]
    for row in cells:
        for column, lines in enumerate(row):
            widths[column] = max(widths[column], *map(_cells, lines))
    if any(headings):
        yield _line(headings, widths)
    for row in cells:
        for line in zip_longest(*row, fillvalue=""):
            yield _line(line, widths)


def _line(cells: list[str] | tuple[str, ...], widths: list[int]) -> str:
    padded = (
        cell + " " * (width + _GAP - _cells(cell))
        for cell, width in zip(cells, widths, strict=False)
    )
    return "".join(padded).rstrip()
