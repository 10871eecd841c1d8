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
    """Print one line for a person on standard error."""
    print(f"koster: {printable(message)}", file=sys.stderr)


def print_file(body: bytes) -> None:
    """Print a robots.txt: byte by byte, but on a terminal with control characters spelt out."""
    if sys.stdout.isatty():
        print(printable_lines(text_of(body)), end="")
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(body)
    sys.stdout.flush()


def _console() -> Console:
    """Return standard output: colours and a width on a terminal, neither elsewhere."""
    terminal = sys.stdout.isatty()
    return Console(
        highlight=False, emoji=False, markup=False, width=None if terminal else _UNLIMITED
    )


def print_table(headings: list[str], rows: Iterable[list[Text]]) -> None:
    """Print a table: in colour and folded on a terminal, as wide as it wants to be elsewhere.

    Of a row the cells that have a heading are shown. Where all headings are empty there is no line
    of them.
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
        table.add_column(heading, overflow="fold", no_wrap=not console.is_terminal)
        if number == 0 and console.is_terminal and len(headings) > 1:
            table.columns[0].width = _first_width([row[0].plain for row in shown], console.width)
    for row in shown:
        table.add_row(*row)
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as capture:
        console.print(table)
    for line in capture.get().split("\n")[:-1]:
        print(_no_command(line.rstrip()))


def _no_command(line: str) -> str:
    """Return a line that is no workflow command, whoever wrote what it says: GitHub's begin so."""
    return line.replace("::", r"\x3a:", 1) if line.lstrip().startswith("::") else line


def _first_width(texts: list[str], width: int) -> int:
    """Return how wide the first column is: so that no word of a name is broken."""
    whole = max((len(text) for text in texts), default=0)
    word = max((len(word) for text in texts for word in text.split()), default=0)
    return min(max(word, min(whole, width // 3)), width // 2)


def print_lines(*texts: Text) -> None:
    """Print lines: in colour on a terminal, where they are folded at words."""
    console = _console()
    for text in texts:
        if console.is_terminal:
            console.print(text)
        else:
            print(_no_command(text.plain))


def print_note(text: str) -> None:
    """Print a remark that only a person wants."""
    console = _console()
    if console.is_terminal:
        console.print(Text(text, "dim"))
