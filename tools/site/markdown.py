"""Pieces of Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table."""
    lines = ["| " + " | ".join(row) + " |" for row in (headings, *rows)]
    lines.insert(1, "|---" * len(headings) + "|")
    return "\n".join(lines)


def front(description: str) -> list[str]:
    """Return the lines before a page's heading."""
    return ["---", f"description: {description}", "---"]


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Return a text with its parts outside code spans changed."""
    return "".join(
        part if part.startswith("`") else change(part) for part in re.split(r"(`[^`]*`)", text)
    )
