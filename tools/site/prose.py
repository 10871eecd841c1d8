"""Checks the prose of all pages with proselint: the glossary in ``docs/glossary.toml``, and more."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from proselint import checks as proselint_checks
from proselint.registry.checks import Check, Padding, types

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markdown_it.token import Token

    from .staging import Page

GLOSSARY = Path(__file__).parents[2] / "docs" / "glossary.toml"

#: Sentences of standards and letters are quoted as they are.
_QUOTATION = re.compile(r'"[^"]{30,}"')

#: Checks of proselint that find mistakes in technical prose. Others are about taste or typography.
_USED = (
    "lexical_illusions",
    "malapropisms",
    "misc.illogic",
    "misc.narcissism",
    "misc.phrasal_adjectives",
    "misc.waxed",
    "misc.whence",
    "mixed_metaphors",
    "mondegreens",
    "nonwords",
    "redundancy",
    "spelling",
    "cliches",
    "archaism",
    "uncomparables",
)


def glossary() -> Check:
    """Return the check for words that the glossary replaces."""
    words = tomllib.loads(GLOSSARY.read_text("utf-8"))["instead"]
    items = {word.lower(): instead for word, instead in words.items()}
    return Check(
        check_type=types.PreferredFormsSimple(items=items, padding=Padding.WORDS_IN_TEXT),
        path="glossary",
        message="say '{}', not '{}'",
    )


def findings(pages: Iterable[Page]) -> Iterator[str]:
    """Yield what is wrong with the prose of pages, a line for each."""
    used = [each for each in proselint_checks.__register__ if each.path.startswith(_USED)]
    checks = [glossary(), *used]

    # Generated pages have many paragraphs in common.
    @cache
    def problems(text: str) -> list[str]:
        return [
            f"{text[found.span[0] : found.span[1]].strip()!r}: {found.message} ({found.check_path})"
            for check in checks
            for found in check.check(text)
        ]

    for page in pages:
        for line, text in paragraphs(page.plain):
            for problem in problems(f" {text} "):
                yield f"{page.path}:{line}: {problem}"


def paragraphs(markdown: str) -> Iterator[tuple[int, str]]:
    """Yield the prose of a page without code, links' targets and pictures, with its lines.

    Block quotes are the words of others.
    """
    depth = 0
    for token in MarkdownIt("commonmark").enable("table").parse(markdown):
        depth += {"blockquote_open": 1, "blockquote_close": -1}.get(token.type, 0)
        if not depth and token.type == "inline" and token.children:
            text = _QUOTATION.sub("", "".join(_prose(token.children)))
            if re.search(r"[a-z]{2}", text):
                yield (token.map or [0])[0] + 1, text


def _prose(tokens: list[Token]) -> Iterator[str]:
    for number, token in enumerate(tokens):
        if token.type == "text":
            yield token.content
        elif token.type == "code_inline":
            # A word that no check knows, each another one, keeps the words around it apart.
            yield f"X{number}"
        elif token.type in ("softbreak", "hardbreak"):
            yield " "
