"""What commands print: text that is safe to show, in colour where a person looks."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.text import Text

#: Octets of a line that are shown; the rest of a longer one is an ellipsis.
_SHOWN_CHARACTERS = 200


def printable(text: str) -> str:
    """Return text in which control characters, and what a terminal may obey, are spelt out."""
    return "".join(
        character
        if character.isprintable()
        else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def shortened(text: str) -> str:
    """Return a printable text, cut if it is very long."""
    if len(text) > _SHOWN_CHARACTERS:
        text = text[: _SHOWN_CHARACTERS - 1] + "…"
    return printable(text)


def complain(message: str) -> None:
    """Print one line for a person on standard error."""
    print(f"koster: {printable(message)}", file=sys.stderr)


def console() -> Console:
    """Return standard output: with colours and a width on a terminal, plain elsewhere."""
    return Console(highlight=False, soft_wrap=False, emoji=False, markup=False)


def verdict(allowed: bool) -> Text:
    """Return a verdict in its colour."""
    return Text("allowed", "green") if allowed else Text("disallowed", "bold red")
