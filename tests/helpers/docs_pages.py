"""The pages of the docs and their code blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.helpers.support import ROOT

DOCS = ROOT / "docs"
#: A fenced block, and the comment before it that says why it is not run.
_BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<reason>[^\n]+) -->\n)?"
    r"^(?P<indent> *)```(?P<language>\w*)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<text>.*?)^ *```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A fenced code block: a file if it has a ``title``; not run if it has a ``reason``."""

    line: int
    language: str
    title: str | None
    reason: str | None
    text: str


def pages() -> list[Path]:
    """Return all Markdown files of the docs, and the README."""
    return [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text("utf-8")
    for each in _BLOCK.finditer(text):
        indent = len(each["indent"])
        lines = [line[indent:] for line in each["text"].splitlines(keepends=True)]
        yield Block(
            text.count("\n", 0, each.start("language")) + 1,
            each["language"], each["title"], each["reason"], "".join(lines),
        )  # fmt: skip
