"""Checks of bytes and encoding."""

from __future__ import annotations

import codecs
import functools
import re
import unicodedata
from collections.abc import Iterator
from itertools import islice

from .._charsets import is_utf16_or_utf32
from .._contents import is_binary, program_language, wide_charset
from .._wording import count_noun
from ..model import Line, LineKind
from ..robots import parse
from ._checks import ERROR, NOTE, WARNING, check
from ._directives import intended_directives
from ._model import WHOLE_FILE, CheckedFile, Edit, Place, Remark, corrected

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
#: Maximum number of carriage returns that have an edit each; one edit replaces more than that.
_MAX_RETURNS = 1_000
_COLONS = "：﹕ː∶꞉"
_DASHES = "‐‑‒–—−﹣－"


@check("B001", "html", ERROR, "The file is an HTML page",
    why="Crawlers find no rules in it, so everything is allowed. Often the server answers every unknown URL with its home page: serve the file at /robots.txt, or answer 404.",
    example="<!DOCTYPE html>\n<html><body>Not found</body></html>\n",
    fix="# <!DOCTYPE html>\nUser-agent: *\nDisallow:\n",
    source="RFC 9309 §2.3: the file is text/plain")  # fmt: skip
def html(subject: CheckedFile) -> Iterator[Remark]:
    if subject.is_page:
        what = "XML" if subject.body.lstrip()[:5].lower() == b"<?xml" else "an HTML page"
        yield Remark(
            subject.text(subject.lines[0]),
            f"This is {what}, not a robots.txt: crawlers find no rules in it",
            "Serve the file as text/plain, or answer 404 if the site has no robots.txt",
        )


@check("B009", "html-tag", WARNING, "A line is an HTML tag",
    why="Crawlers ignore the line. Find out what added it: it may have added more.",
    example="User-agent: *\n<pre>\nDisallow: /a\n",
    fix="User-agent: *\n# <pre>\nDisallow: /a\n",
    source="RFC 9309 §2.2")  # fmt: skip
def page_in_parts(subject: CheckedFile) -> Iterator[Remark]:
    for line in subject.lines if b"<" in subject.body else ():
        if line.kind in (LineKind.MALFORMED, LineKind.UNKNOWN) and _TAG.match(line.text):
            yield Remark(
                subject.text(line),
                "HTML tag: crawlers ignore this line",
                "Remove it",
                proposal=(subject.removal(line),),
            )


@check("B011", "template", WARNING, "The file is a template",
    why="It has tags of Jinja, Twig, Liquid, Go or Hugo, ERB or PHP. Lines with tags are not checked, and rules are not compared if the template has conditions or loops. Check the rendered file with --render.",
    example="User-agent: *\n{% if staging %}\nDisallow: /\n{% endif %}\nDisallow: /a\n",
    fix="User-agent: *\nDisallow: /*{{url}}\nDisallow: /%7B%25\n",
    source="koster: templates have no standard")  # fmt: skip
def template(subject: CheckedFile) -> Iterator[Remark]:
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


@check("B002", "wide-encoding", ERROR, "The file is in UTF-16 or UTF-32",
    why="Crawlers read UTF-8. Most find no rules in such a file.",
    example="User-agent: *\nDisallow: /\n",
    fix="User-agent: *\nDisallow: /\n", encoding="utf-16",
    source="RFC 9309 §2.3")  # fmt: skip
def wide(subject: CheckedFile) -> Iterator[Remark]:
    declared = (subject.charset or "").upper()
    charset = declared if is_utf16_or_utf32(declared) else wide_charset(subject.body)
    if charset:
        yield Remark(
            WHOLE_FILE,
            f"The file is in {charset}: crawlers read UTF-8 and find no rules in it",
            "Save it as UTF-8",
        )


@check("B010", "binary", ERROR, "The file is not text",
    why="Crawlers find no rules in it, so everything is allowed. Often it is compressed and served without a Content-Encoding header.",
    example="\x1f\x8b\x08\x00\x00",
    fix="User-agent: *\nDisallow: /a\x00b\n", encoding="latin-1",
    source="RFC 9309 §2.3: the file is text/plain")  # fmt: skip
def binary(subject: CheckedFile) -> Iterator[Remark]:
    if is_binary(subject.body) and not subject.is_page:
        yield Remark(
            WHOLE_FILE,
            "The file is binary, not text: crawlers find no rules in it",
            "Serve it as text/plain; if it is compressed, send a Content-Encoding header",
        )


@check("B012", "program", ERROR, "The file is the code of a program",
    why="Crawlers get what the program writes, not its code: check that. Frameworks write the file when they build or serve the site.",
    example="import type { MetadataRoute } from 'next'\n\nexport default function robots() {\n}\n",
    fix="# import\nUser-agent: *\nDisallow: /a\n",
    source="https://nextjs.org/docs/app/api-reference/file-conventions/metadata/robots")  # fmt: skip
def program(subject: CheckedFile) -> Iterator[Remark]:
    language = program_language(subject.body)
    if language:
        yield Remark(
            WHOLE_FILE,
            f"This is program code ({language}), not a robots.txt: nothing else was checked",
            "Check the file that it writes: the built one, or the address of the site",
        )


@check("B013", "no-readable-line", ERROR, "No line of the file is one of a robots.txt",
    why="Crawlers find no rules in it, so everything is allowed. Perhaps it is another file, or an error message.",
    example="Error: file not found\n",
    fix="# Error: file not found\nUser-agent: *\nDisallow:\n",
    source="RFC 9309 §2.2")  # fmt: skip
def nothing_readable(subject: CheckedFile) -> Iterator[Remark]:
    if subject.is_text and is_unreadable(subject):
        yield Remark(
            WHOLE_FILE,
            "No line of this file is one of a robots.txt: crawlers find no rules in it",
            "Serve the robots.txt, or answer 404 if the site has none",
        )


def is_unreadable(subject: CheckedFile) -> bool:
    """Return whether no line is, or was meant to be, one that crawlers read."""
    if subject.robots.groups or subject.template or subject.lines_by_kind[LineKind.DIRECTIVE]:
        return False
    unknown, malformed = (
        subject.lines_by_kind[kind] for kind in (LineKind.UNKNOWN, LineKind.MALFORMED)
    )
    meant = intended_directives(subject) or look_alikes(subject) or subject.read_only_by_google
    return bool(unknown or malformed) and not meant


#: The only checks that apply to a file that is not a robots.txt.
KINDS = (html, wide, binary, program, nothing_readable)


@check("B003", "byte-order-mark", NOTE, "The file begins with a UTF-8 byte order mark",
    why="Google and other crawlers that follow RFC 9309 skip it. Some older parsers ignore the first line because of it, often the first User-agent.",
    example="\ufeffUser-agent: *\nDisallow: /a\n",
    fix="User-agent: *\nDisallow: /a\n",
    source="https://developers.google.com/search/docs/crawling-indexing/robots/robots_txt; google/robotstxt, robots.cc")  # fmt: skip
def bom(subject: CheckedFile) -> Iterator[Remark]:
    bom = codecs.BOM_UTF8
    # Of two marks the second is an invisible character, which B005 removes before.
    if subject.body.startswith(bom) and not subject.body.startswith(bom * 2) and subject.lines:
        line = subject.lines[0]
        yield Remark(
            Place(line.number, 0, 1),
            "Byte order mark: some older parsers ignore the first line because of it",
            "Save the file without it",
            edits=(subject.edit(line, 0, 1, ""),),
        )


@check("B004", "not-utf-8", WARNING, "A line has bytes that are not UTF-8",
    why="Crawlers compare bytes: a path in another encoding is another path. Comments are not checked.",
    example="User-agent: *\nDisallow: /caf\xe9\n",
    fix="User-agent: *\nDisallow: /caf\xe9\n", encoding="latin-1",
    source="RFC 9309 §2.3")  # fmt: skip
def not_utf8(subject: CheckedFile) -> Iterator[Remark]:
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


@check("B005", "invisible-character", WARNING, "A line has an invisible character or a non-ASCII space",
    why="Crawlers read it as part of the directive or the path. It often comes from a word processor or a web page.",
    example="User-agent:\xa0*\nDisallow: /ab\n",
    fix="User-agent: *\nDisallow: /ab\n",
    source="RFC 9309 §2.2: the grammar has only spaces and tabs")  # fmt: skip
def invisible(subject: CheckedFile) -> Iterator[Remark]:
    """Find invisible characters and non-ASCII spaces outside comments."""
    for line, text in _non_ascii_lines(subject):
        start = line.number == 1 and text.startswith("\ufeff")
        if _INVISIBLE.search(text, start):
            invisibles = list(_INVISIBLE.finditer(text, start))
            more = f", and {len(invisibles) - 1} more" if len(invisibles) > 1 else ""
            yield corrected(
                Place(line.number, invisibles[0].start(), 1),
                f"Invisible character ({_describe(invisibles[0][0])}{more}): crawlers read it as part of the line",
                "Remove it",
                tuple(
                    subject.edit(line, match.start(), 1, "") for match in invisibles[:_MAX_FIXES]
                ),
                text[:start] + _INVISIBLE.sub("", text[start:]),
            )
        if _NON_ASCII_SPACE.search(text):
            spaces = list(_NON_ASCII_SPACE.finditer(text))
            more = f", and {len(spaces) - 1} more" if len(spaces) > 1 else ""
            yield corrected(
                Place(line.number, spaces[0].start(), 1),
                f"Non-ASCII space ({_describe(spaces[0][0])}{more}): crawlers read it as part of the line",
                "Replace it with a space",
                tuple(subject.edit(line, match.start(), 1, " ") for match in spaces[:_MAX_FIXES]),
                _NON_ASCII_SPACE.sub(" ", text),
            )


def _without_comment(subject: CheckedFile, line: Line) -> str:
    """Return a line without its comment; columns do not change."""
    at = subject.comment_start(line)
    return line.text if at < 0 else line.text[:at]


def _describe(character: str) -> str:
    return f"U+{ord(character):04X} {unicodedata.name(character, 'without a name')}"


@check("B006", "look-alike", WARNING, "A directive has characters that only look like ASCII",
    why="Cyrillic and Greek letters and full-width characters are other characters: crawlers ignore the line. Google compares only the beginning of a directive, and may read it.",
    example="User-agent: *\nDis\u0430llow: /a\n",
    fix="User-agent: *\nDisallow: /a\n",
    source="RFC 9309 §2.2; Unicode Technical Standard 39")  # fmt: skip
def look_alike(subject: CheckedFile) -> Iterator[Remark]:
    for line, fixed in look_alikes(subject).items():
        confusable = next(
            each for each, plain in zip(line.text, fixed, strict=False) if each != plain
        )
        google = subject.read_only_by_google.get(line.number)
        readers = "crawlers ignore this line"
        if google:
            readers = f"Google reads this line as {google}, other crawlers ignore it"
        yield corrected(
            Place(line.number, line.text.index(confusable), 1),
            f"{_describe(confusable)} only looks like an ASCII character: {readers}",
            f"Write {fixed.strip()} in ASCII",
            (subject.edit(line, 0, len(fixed), fixed),),
            fixed + line.text[len(fixed) :],
        )


def look_alikes(subject: CheckedFile) -> dict[Line, str]:
    """Return the lines whose directive has such characters, with their beginning in ASCII."""
    return subject.once("look-alikes", lambda: dict(_look_alikes(subject)))


def _look_alikes(subject: CheckedFile) -> Iterator[tuple[Line, str]]:
    for line, text in _non_ascii_lines(subject):
        key, colon, _ = text.partition(":")
        if colon and key.isascii():
            continue
        begin = key if colon else text
        fixed = _to_ascii(begin)
        if fixed != begin and _is_known_directive(fixed.partition(":")[0].strip()):
            yield line, fixed


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


@check("B007", "control-character", WARNING, "A line has a control character",
    why="Most crawlers read it as part of the path; Google stops reading the line at U+0000.",
    example="User-agent: *\nDisallow: /a\x01b\n",
    fix="User-agent: *\nDisallow: /ab\n",
    source="google/robotstxt, robots.cc")  # fmt: skip
def controls(subject: CheckedFile) -> Iterator[Remark]:
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
            yield corrected(
                Place(line.number, found[0].start(), 1),
                f"Control character (U+{number:04X}): {effect}",
                "Remove it",
                tuple(subject.edit(line, match.start(), 1, "") for match in found[:_MAX_FIXES]),
                _CONTROLS.sub("", _without_comment(subject, line)),
            )


def _last_lone_return(body: bytes) -> int:
    at = body.rfind(b"\r")
    while body[at + 1 : at + 2] == b"\n":
        at = body.rfind(b"\r", 0, at)
    return at


@check("B008", "lone-carriage-return", NOTE, "A line ends with a carriage return only",
    why="RFC 9309 accepts it as a line end, but some tools read the whole file as one line.",
    example="User-agent: *\rDisallow: /a\r",
    fix="User-agent: *\nDisallow: /a\n",
    source="RFC 9309 §2.2: EOL = CR / LF / CRLF")  # fmt: skip
def lone_returns(subject: CheckedFile) -> Iterator[Remark]:
    body = subject.robots.body
    found = _LONE_RETURN.finditer(body)
    places = [match.start() for match in islice(found, _MAX_RETURNS)]
    if places:
        number = body.count(b"\n", 0, places[0]) + 1
        line = subject.lines[min(number, len(subject.lines)) - 1]
        edits = tuple(Edit(at, at + 1, b"\n") for at in places)
        if next(found, None):
            # There may be millions.
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
