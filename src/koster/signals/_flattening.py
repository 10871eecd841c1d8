"""Makes HTML flat, for a parser that takes quadratic time for deep trees and many attributes.

All elements become empty ones, except those that change how what follows is read. Their names stay
within, as do their attributes, so that the text of scripts can be restored. The tags that are
looked for get the number of their line, which the parser does not tell.

Character references that are longer in UTF-8 than as written are no longer references: selectolax
1.0.2 writes them beyond the end of its memory (50,000 of them crash the process).
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
MANY_ATTRIBUTES = re.compile(
    "((?:[\t\n\f\r /]*+=?[^\t\n\f\r />=]++"
    "(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+"
    "(?:\"[^\"]*+\"|'[^']*+'|[^\t\n\f\r >\"'][^\t\n\f\r >]*+)?+)?+"
    f"){{{_MAX_ATTRIBUTES}}})[\t\n\f\r /]*+[^\t\n\f\r />]"
)

_FOREIGN = frozenset(("svg", "math"))
#: Elements whose content is text, but for those within SVG and MathML.
_TEXTS = frozenset(
    ("title", "script", "style", "textarea", "xmp", "iframe", "noembed", "noframes", "plaintext")
)

#: Elements that are like others within SVG and MathML, but not elsewhere.
_FOREIGN_TEXTS = _TEXTS | {"template"}
#: Characters of a tag in which its end is looked for.
_MAX_TAG = 10_000
#: The tags that matter for whether tags are hidden.
_FOLLOWED = re.compile(
    f"<(/?)({'|'.join(sorted(_FOREIGN | _FOREIGN_TEXTS | _NUMBERED))})(?![^\t\n\f\r />])",
    re.IGNORECASE | re.ASCII,
)

_LONGER = ("nGt;", "nLt;")
_LONGER_REFERENCE = re.compile(f"&(?={'|'.join(_LONGER)})")


class FlatPage:
    """A page as flat HTML.

    Attributes:
        html: The HTML.
        mark: The attribute with the line of a tag; with a hyphen, the beginning of attributes that
            were names of elements. The page itself has it nowhere.
        cut: The attribute of tags with more attributes than are read.
        hides_tags: Whether tags that are looked for are within elements of SVG or MathML that are
            text elsewhere: browsers may find others than the flat page has.
    """

    def __init__(self, text: str) -> None:
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        self.mark = f"x{digest[:16]}"
        self.cut = f"{self.mark}c"
        self.hides_tags = False
        self.html = _LONGER_REFERENCE.sub(f"&{self.mark}-", "".join(self._parts(text)))
        self._inserted = re.compile(
            f"(?<=<)br {self.mark}-|(?<=</)q {self.mark}-| {self.mark}=[0-9]+ | {self.cut}>"
            f"|(?<=&){self.mark}-"
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
        texts = _Texts()
        for tag in _TAG.finditer(text):
            start, end = tag.span()
            slash, name = tag.groups()
            known = name.lower() if name.isascii() else name
            is_within_text = texts.follow(known, slash, text, end)
            self.hides_tags |= is_within_text and known in _NUMBERED and not slash
            merged += known in _MERGED
            if known in _MERGED and merged > _REPEATABLE:
                yield start, end, f"</q {self.mark}-{name}"
            elif known not in _KEPT or (texts.is_foreign and known in _FOREIGN_TEXTS):
                # Unknown end tags do nothing, and there are no elements that they could end.
                yield start, end, f"<{slash}{'q' if slash else 'br'} {self.mark}-{name}"
            elif known in _NUMBERED and not slash:
                line += _line_ends(text, counted, start)
                counted = start
                # Without quotation marks: it may be in the value of an attribute.
                yield end, end, f" {self.mark}={line} "
            if more := MANY_ATTRIBUTES.match(text, end):
                yield more.end(1), more.end(1), f" {self.cut}>"


def hides_tags(text: str) -> bool:
    """Return what `FlatPage` says about a page."""
    texts = _Texts()
    return any(
        texts.follow(name, slash, text, tag.end()) and name in _NUMBERED and not slash
        for tag in _FOLLOWED.finditer(text)
        for slash, name in [(tag[1], tag[2].lower())]
    )


class _Texts:
    """Follows tags into elements whose content is text, but for those within SVG and MathML.

    Attributes:
        is_foreign: Whether tags are within SVG or MathML.
    """

    def __init__(self) -> None:
        self.is_foreign = False
        self._outer = ""
        self._depth = 0
        self._open = ""

    def follow(self, name: str, slash: str, text: str, position: int) -> bool:
        """Follow a tag; return whether it is within SVG in what is text elsewhere.

        Args:
            name: Its name.
            slash: A slash if it is an end tag.
            text: The page.
            position: Where the name ends.
        """
        if self._open and not self.is_foreign:
            if slash and name == self._open:
                self._open = ""
        elif name in _FOREIGN:
            self._enter_or_leave(name, slash, text, position)
        elif slash:
            if name == self._open:
                self._open = ""
        elif not self._open and name in (_FOREIGN_TEXTS if self.is_foreign else _TEXTS):
            self._open = "" if self.is_foreign and _is_empty(text, position) else name
            return False
        return bool(self._open) and self.is_foreign

    def _enter_or_leave(self, name: str, slash: str, text: str, position: int) -> None:
        if not self.is_foreign:
            self._outer = name
        if name == self._outer and (slash or not _is_empty(text, position)):
            self._depth = max(0, self._depth + (-1 if slash else 1))
            self.is_foreign = self._depth > 0
            self._open = "" if slash else self._open


def _is_empty(text: str, position: int) -> bool:
    """Return whether a tag, whose name ends at a position, ends with a slash."""
    end = text.find(">", position, position + _MAX_TAG)
    return end > 0 and text[end - 1] == "/"


def _line_ends(text: str, start: int, end: int) -> int:
    ends = text.count("\n", start, end) + text.count("\r", start, end)
    return ends - text.count("\r\n", start, end)
