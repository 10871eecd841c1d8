"""Checks of bytes and encoding."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from .._charsets import is_utf16_or_utf32
from ..model import LineKind
from ..robots import parse
from ._model import Edit, is_binary, is_page, wide_charset

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..model import Line
    from ._model import Remark, Subject

#: Maximum number of characters fixed per line.
_MAX_FIXES = 200

_TAG = re.compile(r"\s*</?[a-zA-Z!][^>]*>")

#: Invisible characters and bidirectional controls (Unicode: Cf), and non-ASCII spaces.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]"
)
_NON_ASCII_SPACE = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2028\u2029]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f]")

#: Letters that look like Latin ones (the most common of Unicode's confusables).
_CONFUSABLES = dict(
    zip(
        "аеорсхуіјѕһԁԛԝАВЕКМНОРСТХІЈЅΑΒΕΖΗΙΚΜΝΟΡΤΥΧοαν",
        "aeopcxyijshdqwABEKMHOPCTXIJSABEZHIKMNOPTYXoav",
        strict=True,
    )
)
_COLONS = "：﹕ː∶꞉"
_DASHES = "‐‑‒–—−﹣－"


def html(subject: Subject) -> Iterator[Remark]:
    """Find an HTML page instead of a robots.txt."""
    if is_page(subject.body):
        yield subject.remark_on_line(
            subject.lines[0],
            "this is an HTML page, not a robots.txt",
            "serve the file as text, or 404 if there is none",
        )


def page_in_parts(subject: Subject) -> Iterator[Remark]:
    """Find HTML tags in an otherwise normal file."""
    if is_page(subject.body):
        return
    for line in subject.lines:
        if line.kind in (LineKind.MALFORMED, LineKind.UNKNOWN) and _TAG.match(line.text):
            yield subject.remark_on_line(
                line, "a tag of HTML is no line of a robots.txt", "remove it"
            )
            return


def wide(subject: Subject) -> Iterator[Remark]:
    """Find UTF-16 and UTF-32."""
    declared = (subject.charset or "").upper()
    charset = declared if is_utf16_or_utf32(declared) else wide_charset(subject.body)
    if charset:
        yield subject.remark_on_file(
            f"the file is in {charset}; robots read UTF-8, and see nothing in it",
            "save it as UTF-8",
        )


def binary(subject: Subject) -> Iterator[Remark]:
    """Find binary files."""
    if is_binary(subject.body) and not is_page(subject.body):
        yield subject.remark_on_file(
            "this is no text; robots find no rule in it",
            "serve the file as plain text; if it is compressed, with a Content-Encoding that says so",
        )


#: The only checks that apply to a file that is not text.
KINDS = (html, wide, binary)


def bom(subject: Subject) -> Iterator[Remark]:
    """Find a UTF-8 byte order mark."""
    if subject.body.startswith(b"\xef\xbb\xbf") and subject.lines:
        line = subject.lines[0]
        edits = (subject.edit(line, 0, 1, ""),)
        yield subject.remark_on_part(
            line,
            0,
            1,
            "a byte order mark is skipped by robots that follow RFC 9309, and hides the first line from others",
            "save the file without it",
            edits,
        )


def not_utf8(subject: Subject) -> Iterator[Remark]:
    """Find bytes that are not UTF-8, once per file."""
    if subject.charset and not is_utf16_or_utf32(subject.charset):
        yield subject.remark_on_file(
            f"the file is served in {subject.charset}; many robots read UTF-8 alone, and other paths",
            "save and serve it as UTF-8",
        )
    if subject.robots.body.isascii():
        return
    lines = [
        line for line in subject.lines if any("\udc80" <= each <= "\udcff" for each in line.text)
    ]
    if lines:
        at = next(index for index, each in enumerate(lines[0].text) if "\udc80" <= each <= "\udcff")
        more = f", here and on {len(lines) - 1} more lines" if len(lines) > 1 else ""
        byte = ord(lines[0].text[at]) - 0xDC00
        yield subject.remark_on_part(
            lines[0], at, 1, f"byte {byte:#04x} is not UTF-8{more}", "save the file as UTF-8"
        )


def _has_non_ascii(line: Line) -> bool:
    return line.kind not in (LineKind.BLANK, LineKind.COMMENT) and not line.text.isascii()


def invisible(subject: Subject) -> Iterator[Remark]:
    """Find invisible characters and non-ASCII spaces outside comments."""
    if subject.robots.body.isascii():
        return
    for line in filter(_has_non_ascii, subject.lines):
        text = _without_comment(subject, line)
        invisibles = list(
            _INVISIBLE.finditer(text, line.text.startswith("\ufeff") and line.number == 1)
        )
        if invisibles:
            more = f", and {len(invisibles) - 1} more" if len(invisibles) > 1 else ""
            yield subject.remark_on_part(
                line,
                invisibles[0].start(),
                1,
                f"an invisible character ({_describe(invisibles[0][0])}{more}) is part of the line to robots",
                "remove it",
                tuple(
                    subject.edit(line, match.start(), 1, "") for match in invisibles[:_MAX_FIXES]
                ),
            )
        spaces = list(_NON_ASCII_SPACE.finditer(text))
        if spaces:
            more = f" (and {len(spaces) - 1} more)" if len(spaces) > 1 else ""
            yield subject.remark_on_part(
                line,
                spaces[0].start(),
                1,
                f"{_describe(spaces[0][0])} looks like a space and is none to robots{more}",
                "write a space",
                tuple(subject.edit(line, match.start(), 1, " ") for match in spaces[:_MAX_FIXES]),
            )


def _without_comment(subject: Subject, line: Line) -> str:
    """Return a line without its comment; columns do not change."""
    at = subject.comment_start(line)
    return line.text if at < 0 else line.text[:at]


def _describe(character: str) -> str:
    return f"U+{ord(character):04X} {unicodedata.name(character, 'without a name')}"


def look_alike(subject: Subject) -> Iterator[Remark]:
    """Find directives with characters that look like ASCII."""
    if subject.robots.body.isascii():
        return
    for line in filter(_has_non_ascii, subject.lines):
        text = _without_comment(subject, line)
        key, colon, _ = text.partition(":")
        if not colon:
            key = text.split(maxsplit=1)[0] if text.split() else ""
        fixed = _to_ascii(key if colon else text)
        if fixed != (key if colon else text) and _is_known_directive(fixed):
            edit = subject.edit(line, 0, len(key if colon else text), fixed)
            confusable = next(
                each for each, plain in zip(text, fixed, strict=False) if each != plain
            )
            yield subject.remark_on_part(
                line,
                text.index(confusable),
                1,
                f"{_describe(confusable)} only looks like a part of a key; robots pass over the line",
                f"write {fixed.strip()!r} in ASCII",
                (edit,),
            )


def _to_ascii(text: str) -> str:
    """Replace characters that look like ASCII; the length does not change."""
    found = []
    for each in text:
        if each in _COLONS:
            found.append(":")
        elif each in _DASHES:
            found.append("-")
        else:
            normal = unicodedata.normalize("NFKC", each)
            found.append(_CONFUSABLES.get(each, normal if len(normal) == 1 else each))
    return "".join(found)


def _is_known_directive(text: str) -> bool:
    line = parse(text.partition(":")[0].strip() + ": x").lines[0]
    return line.directive is not None


def controls(subject: Subject) -> Iterator[Remark]:
    """Find control characters, once per file."""
    for line in subject.lines:
        found = (
            []
            if line.kind is LineKind.COMMENT
            else list(_CONTROLS.finditer(_without_comment(subject, line)))
        )
        if found:
            edits = tuple(subject.edit(line, match.start(), 1, "") for match in found[:_MAX_FIXES])
            number = ord(found[0][0])
            yield subject.remark_on_part(
                line,
                found[0].start(),
                1,
                f"a control character (U+{number:04X}); Google's parser stops reading the line at U+0000",
                "remove it",
                edits,
            )
            return


def lone_returns(subject: Subject) -> Iterator[Remark]:
    """Find line endings that some tools do not support: CR."""
    lone = re.search(rb"\r(?!\n)", subject.robots.body)
    if lone:
        number = subject.robots.body.count(b"\n", 0, lone.start()) + 1
        line = subject.lines[min(number, len(subject.lines)) - 1]
        edits = tuple(
            Edit(match.start(), match.end(), b"\n")
            for match in re.finditer(rb"\r(?!\n)", subject.robots.body)
        )
        yield subject.remark_on_part(
            line,
            len(line.text),
            0,
            "a line ends with a carriage return alone; many tools take the whole file for one line",
            "end lines with LF or CRLF",
            edits,
        )
