"""Makes HTML flat, for a parser that takes quadratic time for deep trees and many attributes.

All elements become empty ones, except those that change how what follows is read. Their names stay
within, as do their attributes, so that the text of scripts can be restored. The tags that are
looked for get the number of their line, which the parser does not tell.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

#: Elements that stay as they are: those of heads, and those whose content is not HTML.
_KEPT = frozenset(
    ("html", "head", "body", "title", "base", "basefont", "bgsound", "meta", "link", "script",
     "style", "noscript", "template", "textarea", "xmp", "iframe", "noembed", "noframes",
     "plaintext")
)  # fmt: skip
#: Each further one adds its attributes to those of the first: nothing that is looked for.
_REPEATABLE = 10
_MERGED = frozenset(("html", "body"))
_NUMBERED = frozenset(("meta", "link", "script"))
#: The beginning of a tag for the tokenizer of HTML; also what looks like one, within others.
_TAG = re.compile("<(/?)([A-Za-z][^\t\n\f\r />]*+)")
#: Attributes that are read of a tag. The pattern matches if there are more.
_MAX_ATTRIBUTES = 50
_ATTRIBUTES = re.compile(
    "((?:[\t\n\f\r /]*+=?[^\t\n\f\r />=]++"
    "(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+"
    "(?:\"[^\"]*+\"|'[^']*+'|[^\t\n\f\r >\"'][^\t\n\f\r >]*+)?+)?+"
    f"){{{_MAX_ATTRIBUTES}}})[\t\n\f\r /]*+[^\t\n\f\r />]"
)


class FlatPage:
    """A page as flat HTML.

    Attributes:
        html: The HTML.
        mark: The attribute with the line of a tag; with a hyphen, the beginning of attributes that
            were names of elements. The page itself has it nowhere.
    """

    def __init__(self, text: str) -> None:
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        self.mark = f"x{digest[:16]}"
        self.html = "".join(self._parts(text))
        self._inserted = re.compile(
            f"(?<=<)br {self.mark}-|(?<=</)q {self.mark}-| {self.mark}(?:=[0-9]+ |>)"
        )

    def restored(self, text: str) -> str:
        """Return a text within the page, such as that of a script, as it was."""
        return self._inserted.sub("", text)

    def _parts(self, text: str) -> Iterator[str]:
        position = 0
        for start, end, replacement in sorted(self._edits(text)):
            yield text[position:start]
            yield replacement
            position = max(position, end)
        yield text[position:]

    def _edits(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield which parts to replace by what."""
        line, counted, merged = 1, 0, 0
        for tag in _TAG.finditer(text):
            start, end = tag.span()
            line += _line_ends(text, counted, start)
            counted = start
            slash, name = tag.groups()
            known = name.lower() if name.isascii() else name
            merged += known in _MERGED
            if known in _MERGED and merged > _REPEATABLE:
                yield start, end, f"</q {self.mark}-{name}"
            elif known not in _KEPT:
                # Unknown end tags do nothing, and there are no elements that they could end.
                yield start, end, f"<{slash}{'q' if slash else 'br'} {self.mark}-{name}"
            elif known in _NUMBERED and not slash:
                # Without quotes, which would end a value that contains what looks like a tag.
                yield end, end, f" {self.mark}={line} "
            if more := _ATTRIBUTES.match(text, end):
                yield more.end(1), more.end(1), f" {self.mark}>"


def _line_ends(text: str, start: int, end: int) -> int:
    ends = text.count("\n", start, end) + text.count("\r", start, end)
    return ends - text.count("\r\n", start, end)
