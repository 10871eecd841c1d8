"""Standard output and error: tables and lines, in colour on a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

from ..model import text_of
from .plain import printable, printable_lines
from .text import Text, table_lines

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "Text",
    "complain",
    "is_file",
    "print_exact",
    "print_file",
    "print_lines",
    "print_note",
    "print_table",
    "width",
]

#: The width of tables that go into a file or a pipe.
_UNLIMITED = 100_000


def complain(message: str) -> None:
    """Print an error or warning as one line on standard error."""
    print(f"koster: {printable(message)}", file=sys.stderr)


def print_file(body: bytes) -> None:
    """Print the bytes of a robots.txt; on a terminal, with control characters escaped."""
    if sys.stdout.isatty():
        print(printable_lines(text_of(body)), end="")
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(body)
    sys.stdout.flush()


def print_exact(text: str) -> None:
    """Print text for programs as it is; on a terminal, with control characters escaped."""
    if sys.stdout.isatty():
        whole = text.removesuffix("\n")
        text = "\n".join(map(printable, whole.split("\n"))) + text[len(whole) :]
    print(text, end="")


def is_file(stream: TextIO) -> bool:
    """Tell whether a stream is a file or a pipe, and no variable asks for colours.

    Then `rich` is not needed, which takes long to import.
    """
    wishes = (os.environ.get("FORCE_COLOR"), os.environ.get("TTY_COMPATIBLE"))
    return not any(wishes) and not stream.isatty()


def _console() -> Console:
    """Return standard output, with colours and a width limit only on a terminal."""
    from rich.console import Console  # noqa: PLC0415 - see `_text`

    terminal = sys.stdout.isatty()
    return Console(
        highlight=False, emoji=False, markup=False, width=None if terminal else _UNLIMITED
    )


def width() -> int:
    """Return the width of standard output, which only a terminal limits."""
    return _UNLIMITED if is_file(sys.stdout) else _console().width


def print_table(headings: list[str], rows: Iterable[list[Text]]) -> None:
    """Print a table: coloured and folded on a terminal, uncoloured and at full width elsewhere.

    Cells of a row beyond the headings are omitted. If all headings are empty there is no heading
    line.
    """
    shown = [row[: len(headings)] for row in rows]
    if not is_file(sys.stdout):
        _print_table(headings, shown)
        return
    for line in table_lines(headings, [[cell.plain for cell in row] for row in shown]):
        print(_escape_command(line))


def _print_table(headings: list[str], rows: list[list[Text]]) -> None:
    """Print a table with rich."""
    from rich.table import Table  # noqa: PLC0415 - see `_text`

    console = _console()
    table = Table(
        box=None,
        header_style="bold underline",
        pad_edge=False,
        padding=(0, 2, 0, 0),
        show_header=any(headings),
    )
    for number, heading in enumerate(headings):
        table.add_column(
            heading, overflow="fold", no_wrap=not console.is_terminal, min_width=len(heading)
        )
        if number == 0 and console.is_terminal and len(headings) > 1:
            texts = [heading, *(row[0].plain for row in rows)]
            table.columns[0].width = _first_width(texts, console.width)
    for row in rows:
        table.add_row(*(cell.for_terminal() for cell in row))
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as capture:
        console.print(table)
    for line in capture.get().split("\n")[:-1]:
        print(_escape_command(line.rstrip()))


def _escape_command(line: str) -> str:
    """Escape a line that GitHub would run as a workflow command: its text is untrusted."""
    return line.replace("::", r"\x3a:", 1) if line.lstrip().startswith("::") else line


def _first_width(texts: list[str], width: int) -> int:
    """Return the width of the first column, in which no word of a name is broken."""
    whole = max((len(text) for text in texts), default=0)
    word = max((len(word) for text in texts for word in text.split()), default=0)
    return min(max(word, min(whole, width // 3)), width // 2)


def print_lines(*texts: Text) -> None:
    """Print lines; on a terminal, in colour and folded at words."""
    console = None if is_file(sys.stdout) else _console()
    for text in texts:
        if console is not None and console.is_terminal:
            console.print(text.for_terminal())
        else:
            print(_escape_command(text.plain))


def print_note(text: str) -> None:
    """Print a note, only on a terminal."""
    if not is_file(sys.stdout) and (console := _console()).is_terminal:
        console.print(Text(text, "dim").for_terminal())
