"""Standard output and error: tables and lines, in colour on a terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..model import text_of
from .plain import printable, printable_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def _console() -> Console:
    """Return standard output, with colours and a width limit only on a terminal."""
    terminal = sys.stdout.isatty()
    return Console(
        highlight=False, emoji=False, markup=False, width=None if terminal else _UNLIMITED
    )


def width() -> int:
    """Return the width of standard output, which only a terminal limits."""
    return _console().width


def print_table(headings: list[str], rows: Iterable[list[Text]]) -> None:
    """Print a table: coloured and folded on a terminal, uncoloured and at full width elsewhere.

    Cells of a row beyond the headings are omitted. If all headings are empty there is no heading
    line.
    """
    console = _console()
    table = Table(
        box=None,
        header_style="bold underline",
        pad_edge=False,
        padding=(0, 2, 0, 0),
        show_header=any(headings),
    )
    shown = [row[: len(headings)] for row in rows]
    for number, heading in enumerate(headings):
        table.add_column(
            heading, overflow="fold", no_wrap=not console.is_terminal, min_width=len(heading)
        )
        if number == 0 and console.is_terminal and len(headings) > 1:
            texts = [heading, *(row[0].plain for row in shown)]
            table.columns[0].width = _first_width(texts, console.width)
    for row in shown:
        table.add_row(*row)
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
    console = _console()
    for text in texts:
        if console.is_terminal:
            console.print(text)
        else:
            print(_escape_command(text.plain))


def print_note(text: str) -> None:
    """Print a note, only on a terminal."""
    console = _console()
    if console.is_terminal:
        console.print(Text(text, "dim"))
