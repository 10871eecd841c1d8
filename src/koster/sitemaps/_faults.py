"""What is wrong with XML, in terms of sitemaps, and what to write instead."""

from __future__ import annotations

import codecs
import re
from html.entities import html5
from xml.parsers.expat import ErrorString, errors

#: Bytes before an error that are looked at.
CONTEXT = 200

_REFERENCE = re.compile(rb"&[\w.:#\x80-\xff-]*\Z")
_TAG = re.compile(rb"<(?![!?/])[^<>\"'=]*\Z")
_ENTITY = re.compile(r"&([^;&<>\s]{1,80});")
_CONTROLS = frozenset(range(0x20)) - frozenset(b"\t\n\r")

_CODES = errors.codes
_INVALID_TOKEN = _CODES[errors.XML_ERROR_INVALID_TOKEN]
_UNDECLARED = _CODES[errors.XML_ERROR_UNDEFINED_ENTITY]
_LATE_DECLARATION = _CODES[errors.XML_ERROR_MISPLACED_XML_PI]
_WRONG_ENCODING = _CODES[errors.XML_ERROR_INCORRECT_ENCODING]


def fault(code: int, before: bytes, after: bytes) -> str:
    """Return what Expat's error means, by up to `CONTEXT` bytes before and after its place."""
    if 0 in before or 0 in after:
        # UTF-16: all that is looked for is ASCII.
        before, after = before.replace(b"\0", b""), after.replace(b"\0", b"")
    if code == _INVALID_TOKEN:
        found = _invalid_token(before, after)
    elif code == _UNDECLARED:
        found = _undeclared(after)
    elif code == _LATE_DECLARATION:
        found = "the XML declaration is not at the start of the file: remove what is before it"
    elif code == _WRONG_ENCODING:
        found = "the XML declaration names another encoding than that of the file: correct it"
    else:
        found = ""
    return found or ErrorString(code)


def _invalid_token(before: bytes, after: bytes) -> str:
    if _REFERENCE.search(before):
        return "bare &: write &amp;"
    if after.startswith(codecs.BOM_UTF8):
        return "second byte order mark: remove it"
    if not _begins_with_utf8(after):
        return "not UTF-8: save the file as UTF-8, or declare its encoding"
    if after[:1] and after[0] in _CONTROLS:
        return f"control character U+{after[0]:04X}: remove it"
    return "bare <: write &lt;" if _TAG.search(before) else ""


def _begins_with_utf8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start > 0
    return True


def _undeclared(after: bytes) -> str:
    entity = _ENTITY.match(after.decode("utf-8", "replace"))
    if entity is None:
        return ""
    characters = html5.get(entity[1] + ";")
    if characters is None:
        return f"undeclared entity {entity[0]}: write &amp; for a bare &"
    return (
        f"undeclared entity {entity[0]}: write {''.join(f'&#{ord(each)};' for each in characters)}"
    )
