"""Checks of bytes and encoding."""

from __future__ import annotations

import codecs
import functools
import re
import unicodedata
from itertools import islice
from typing import TYPE_CHECKING

from .._charsets import is_utf16_or_utf32
from .._contents import is_binary, is_page, wide_charset
from .._wording import count_noun
from ..model import LineKind
from ..robots import parse
from ._model import WHOLE_FILE, Edit, Place, Remark

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..model import Line
    from ._model import CheckedFile

#: Maximum number of characters fixed per line.
_MAX_FIXES = 200

#: Bytes that are not UTF-8, as they are decoded.
_UNDECODED = re.compile("[\udc80-\udcff]")
_TAG = re.compile(r"\s*</?[a-zA-Z!][^>]*>")

#: Invisible characters and bidirectional controls (Unicode: Cf), and non-ASCII spaces.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]"
)
_NON_ASCII_SPACE = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2028\u2029]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f]")
_CONTROL_BYTES = re.compile(_CONTROLS.pattern.encode("ascii"))

#: Letters that look like Latin ones (the most common of Unicode's confusables).
_CONFUSABLES = dict(
    zip(
        "аеорсхуіјѕһԁԛԝАВЕКМНОРСТХІЈЅΑΒΕΖΗΙΚΜΝΟΡΤΥΧοαν",
        "aeopcxyijshdqwABEKMHOPCTXIJSABEZHIKMNOPTYXoav",
        strict=True,
    )
)
_LONE_RETURN = re.compile(rb"\r(?!\n)")
#: Lone carriage returns that are replaced one by one; more are replaced with what is between them.
_MAX_RETURNS = 1_000
_COLONS = "：﹕ː∶꞉"
_DASHES = "‐‑‒–—−﹣－"


def html(subject: CheckedFile) -> Iterator[Remark]:
    """Find an HTML page instead of a robots.txt."""
    if is_page(subject.body):
        yield Remark(
            subject.text(subject.lines[0]),
            "This is an HTML page, not a robots.txt: crawlers find no rules in it",
            "Serve the file as text/plain, or answer 404 if the site has no robots.txt",
        )


def page_in_parts(subject: CheckedFile) -> Iterator[Remark]:
    """Find HTML tags in an otherwise normal file."""
    for line in subject.lines if b"<" in subject.body else ():
        if line.kind in (LineKind.MALFORMED, LineKind.UNKNOWN) and _TAG.match(line.text):
            yield Remark(
                subject.text(line),
                "HTML tag: crawlers ignore this line",
                "Remove it",
                proposal=(subject.removal(line),),
            )


def template(subject: CheckedFile) -> Iterator[Remark]:
    """Find the tags of a template, once per file."""
    found = subject.template
    if found is None:
        return
    count = count_noun(len(found.lines), "line")
    rules = ", and rules were not compared" if found.has_logic else ""
    was = "was" if len(found.lines) == 1 else "were"
    yield Remark(
        Place(*found.first),
        f"Template ({found.language}): {count} with tags {was} not checked{rules}",
        "Check the rendered file with --render",
    )


def wide(subject: CheckedFile) -> Iterator[Remark]:
    """Find UTF-16 and UTF-32."""
    declared = (subject.charset or "").upper()
    charset = declared if is_utf16_or_utf32(declared) else wide_charset(subject.body)
    if charset:
        yield Remark(
            WHOLE_FILE,
            f"The file is in {charset}: crawlers read UTF-8 and find no rules in it",
            "Save it as UTF-8",
        )


def binary(subject: CheckedFile) -> Iterator[Remark]:
    """Find binary files."""
    if is_binary(subject.body) and not is_page(subject.body):
        yield Remark(
            WHOLE_FILE,
            "The file is binary, not text: crawlers find no rules in it",
            "Serve it as text/plain; if it is compressed, send a Content-Encoding header",
        )


#: The only checks that apply to a file that is not text.
KINDS = (html, wide, binary)


def bom(subject: CheckedFile) -> Iterator[Remark]:
    """Find a UTF-8 byte order mark."""
    bom = codecs.BOM_UTF8
    # The second of two is an invisible character, which is removed first: without the first one
    # the line would be read.
    if subject.body.startswith(bom) and not subject.body.startswith(bom * 2) and subject.lines:
        line = subject.lines[0]
        yield Remark(
            Place(line.number, 0, 1),
            "Byte order mark: some older parsers ignore the first line because of it",
            "Save the file without it",
            edits=(subject.edit(line, 0, 1, ""),),
        )


def not_utf8(subject: CheckedFile) -> Iterator[Remark]:
    """Find lines with bytes that are not UTF-8, except comments."""
    lines = _non_ascii_lines(subject)
    if lines and subject.charset and not is_utf16_or_utf32(subject.charset):
        yield Remark(
            WHOLE_FILE,
            f"Served as {subject.charset}: crawlers that read only UTF-8 see other paths",
            "Save and serve the file as UTF-8",
        )
    for line, text in lines:
        undecoded = _UNDECODED.search(text)
        if undecoded:
            yield Remark(
                Place(line.number, undecoded.start(), 1),
                f"Byte {ord(undecoded[0]) - 0xDC00:#04x} is not UTF-8: crawlers read the line differently",
                "Save the file as UTF-8",
            )


def _non_ascii_lines(subject: CheckedFile) -> list[tuple[Line, str]]:
    """Return the lines with characters beyond ASCII outside comments, without their comments."""
    return subject.once("lines beyond ASCII", lambda: _find_non_ascii_lines(subject))


def _find_non_ascii_lines(subject: CheckedFile) -> list[tuple[Line, str]]:
    if subject.robots.body.isascii():
        return []
    found = []
    for line in subject.lines:
        if not line.text.isascii() and line.kind not in (LineKind.BLANK, LineKind.COMMENT):
            text = _without_comment(subject, line)
            if not text.isascii():
                found.append((line, text))
    return found


def invisible(subject: CheckedFile) -> Iterator[Remark]:
    """Find invisible characters and non-ASCII spaces outside comments."""
    for line, text in _non_ascii_lines(subject):
        start = line.number == 1 and text.startswith("\ufeff")
        if _INVISIBLE.search(text, start):
            invisibles = list(_INVISIBLE.finditer(text, start))
            more = f", and {len(invisibles) - 1} more" if len(invisibles) > 1 else ""
            yield Remark(
                Place(line.number, invisibles[0].start(), 1),
                f"Invisible character ({_describe(invisibles[0][0])}{more}): crawlers read it as part of the line",
                "Remove it",
                edits=tuple(
                    subject.edit(line, match.start(), 1, "") for match in invisibles[:_MAX_FIXES]
                ),
            )
        if _NON_ASCII_SPACE.search(text):
            spaces = list(_NON_ASCII_SPACE.finditer(text))
            more = f", and {len(spaces) - 1} more" if len(spaces) > 1 else ""
            yield Remark(
                Place(line.number, spaces[0].start(), 1),
                f"Non-ASCII space ({_describe(spaces[0][0])}{more}): crawlers read it as part of the line",
                "Replace it with a space",
                edits=tuple(
                    subject.edit(line, match.start(), 1, " ") for match in spaces[:_MAX_FIXES]
                ),
            )


def _without_comment(subject: CheckedFile, line: Line) -> str:
    """Return a line without its comment; columns do not change."""
    at = subject.comment_start(line)
    return line.text if at < 0 else line.text[:at]


def _describe(character: str) -> str:
    return f"U+{ord(character):04X} {unicodedata.name(character, 'without a name')}"


def look_alike(subject: CheckedFile) -> Iterator[Remark]:
    """Find directives with characters that look like ASCII."""
    for line, text in _non_ascii_lines(subject):
        key, colon, _ = text.partition(":")
        if colon and key.isascii():
            continue
        if not colon:
            key = text.split(maxsplit=1)[0] if text.split() else ""
        fixed = _to_ascii(key if colon else text)
        if fixed != (key if colon else text) and _is_known_directive(
            fixed.partition(":")[0].strip()
        ):
            edit = subject.edit(line, 0, len(key if colon else text), fixed)
            confusable = next(
                each for each, plain in zip(text, fixed, strict=False) if each != plain
            )
            yield Remark(
                Place(line.number, text.index(confusable), 1),
                f"{_describe(confusable)} only looks like an ASCII character: crawlers ignore this line",
                f"Write {fixed.strip()} in ASCII",
                edits=(edit,),
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


@functools.lru_cache(maxsize=1_000)
def _is_known_directive(key: str) -> bool:
    return parse(f"{key}: x").lines[0].directive is not None


def controls(subject: CheckedFile) -> Iterator[Remark]:
    """Find control characters, except in comments."""
    if not _CONTROL_BYTES.search(subject.body):
        return
    for line in subject.lines:
        found = (
            []
            if line.kind is LineKind.COMMENT
            else list(_CONTROLS.finditer(_without_comment(subject, line)))
        )
        if found:
            number = ord(found[0][0])
            effect = "crawlers read it as part of the line" if number else "Google reads no further"
            yield Remark(
                Place(line.number, found[0].start(), 1),
                f"Control character (U+{number:04X}): {effect}",
                "Remove it",
                edits=tuple(
                    subject.edit(line, match.start(), 1, "") for match in found[:_MAX_FIXES]
                ),
            )


def _last_lone_return(body: bytes) -> int:
    at = body.rfind(b"\r")
    while body[at + 1 : at + 2] == b"\n":
        at = body.rfind(b"\r", 0, at)
    return at


def lone_returns(subject: CheckedFile) -> Iterator[Remark]:
    """Find line endings that some tools do not support: CR."""
    body = subject.robots.body
    found = _LONE_RETURN.finditer(body)
    places = [match.start() for match in islice(found, _MAX_RETURNS)]
    if places:
        number = body.count(b"\n", 0, places[0]) + 1
        line = subject.lines[min(number, len(subject.lines)) - 1]
        edits = tuple(Edit(at, at + 1, b"\n") for at in places)
        if next(found, None):
            # One edit for all: there may be millions.
            first, end = places[0], _last_lone_return(body) + 1
            between = b"\r\n".join(
                part.replace(b"\r", b"\n") for part in body[first : end + 1].split(b"\r\n")
            )
            edits = (Edit(first, end, between[: end - first]),)
        yield Remark(
            Place(line.number, len(line.text), 0),
            "Line ends with CR only: some tools read the whole file as one line",
            "End lines with LF or CRLF",
            edits=edits,
        )
