"""What the bytes of a file are: a robots.txt, a page, a program, in a wide charset, or binary."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable

from ._charsets import bom_charset, is_utf8
from .dialects import GOOGLE, RFC9309, Dialect
from .model import LineKind
from .robots import RobotsTxt, parse

_HTML = re.compile(rb"<(?:!doctype|html|head|body|meta|script|div|title|\?xml)", re.IGNORECASE)
_WHOLE_PAGE = re.compile(rb"<(?:!doctype|html|head|body|\?xml)", re.IGNORECASE)
#: Around the lines of Cloudflare's managed robots.txt.
_CLOUDFLARE = re.compile(rb"^# BEGIN Cloudflare Managed Content", re.IGNORECASE | re.MULTILINE)
_CLOUDFLARE_END = "end cloudflare managed content"
#: How compressed data begins.
_COMPRESSED = (
    (b"\x1f\x8b", "gzip"),
    (b"\x1f\x9d", "compress"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\0", "xz"),
    (b"\x28\xb5\x2f\xfd", "Zstandard"),
    (b"\x04\x22\x4d\x18", "LZ4"),
    (b"PK\x03\x04", "ZIP"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
)
#: The maximum bytes that are decompressed to find out whether data is compressed.
_MAX_TRIED = 1 << 16
#: gzip, Zstandard, ZIP, PDF, PNG, GIF, JPEG, ELF.
_MAGIC = (
    b"\x1f\x8b",
    b"\x28\xb5\x2f\xfd",
    b"PK\x03\x04",
    b"%PDF-",
    b"\x89PNG",
    b"GIF8",
    b"\xff\xd8\xff",
    b"\x7fELF",
)
#: Lines that only programs have, by language.
_PROGRAMS = {
    "JavaScript or TypeScript": re.compile(
        rb"import\s[^:]*\bfrom\s*['\"]|import\s*['\"{]|module\.exports\b|['\"]use \w+['\"]"
        rb"|export\s+(?:default|const|async|function|type|interface)\b|return\s*[{(]"
        rb"|(?:const|let|var)\s+[\w${]|(?:async\s+)?function\s*\w*\s*\("
        rb"|(?:interface|type)\s+\w+\s*[={]"
    ),
    "Python": re.compile(
        rb"from\s+[\w.]+\s+import\s|import\s+[\w.]+(?:\s+as\s+\w+)?\s*$|return\s+\w+\("
        rb"|(?:async\s+)?def\s+\w+\(.*:\s*$|class\s+\w+.*:\s*$|@\w[\w.]*\("
    ),
    "shell": re.compile(rb"echo\s+['\"].*>|cat\s*<<|set\s+-[eux]|#!/|export\s+\w+="),
    "PHP": re.compile(rb"<\?php|echo\s+['\"]|header\s*\(|if\s*\(\s*\$|\$\w+\s*="),
    "Ruby": re.compile(
        rb"class\s+[A-Z]\w*|module\s+[A-Z]\w*|def\s+\w+[?!]?\s*(?:\(.*\))?\s*$"
        rb"|require\s+['\"]|render\s+\w+:\s|Rails\.|\w+\s*=\s*[\[{\"'%]|get\s+['\"]"
    ),
    "Java, C# or Go": re.compile(
        rb"package\s+[\w.]+;?\s*$|using\s+[\w.]+;|namespace\s+\w|func\s+\w*\("
        rb"|(?:public|private)\s+\w"
    ),
}
#: Directives as a robots.txt has them: at the start of a line, and not as a field with a comma.
_DIRECTIVE_LINE = re.compile(
    rb"(?:user-agent|(?:dis)?allow|sitemap|crawl-delay)[ \t]*:(?!.*,[ \t]*\Z)", re.IGNORECASE
)
_CODE_COMMENT = re.compile(rb"(?:#|//|/?\*|<!--)")
#: Lines to look at: programs show what they are at the start.
_MAX_CODE_LINES = 100
#: JSON that says something else than a robots.txt is short.
_MAX_JSON = 100_000
#: The start of a line that is neither blank nor a comment.
_TEXT = re.compile(rb"(?:\A|[\r\n])[ \t\v\f]*+[^#\s]")
#: With fewer control characters a file may be text.
_MIN_CONTROLS = 20
#: Control characters that text does not have.
_CONTROLS = bytes({*range(32), 127} - set(b"\t\n\v\f\r\x1b"))


def is_page(body: bytes) -> bool:
    """Return whether bytes are an HTML page."""
    return _HTML.match(body.lstrip(b"\xef\xbb\xbf \t\r\n\v\f")[:16]) is not None


def is_only_page(body: bytes, readings: Iterable[RobotsTxt]) -> bool:
    """Return whether bytes are an HTML page, and not a robots.txt below a stray tag.

    ``readings`` is what they are as a robots.txt, in some dialects.
    """
    if not is_page(body):
        return False
    return _WHOLE_PAGE.search(body[:200]) is not None or not any(each.groups for each in readings)


def program_language(body: bytes) -> str | None:
    """Return the language of a program, such as one that writes a robots.txt, or None.

    >>> program_language(b"import x from 'x'\\nexport default function robots() {\\n")
    'JavaScript or TypeScript'
    """
    lines = body[: 100 * _MAX_CODE_LINES].splitlines()[:_MAX_CODE_LINES]
    code = [
        line.strip() for line in lines if line.strip() and not _CODE_COMMENT.match(line.strip())
    ]
    if not code or (code[0].startswith(b"<?php") and b"?>" in body):
        return None
    if code[0][:1] in b"[{" and _is_json(body):
        return "JSON"
    for language, pattern in _PROGRAMS.items():
        if pattern.match(code[0]):
            count = sum(pattern.match(line) is not None for line in code)
            directives = sum(_DIRECTIVE_LINE.match(line) is not None for line in code)
            return language if not directives or count >= max(directives, 2) else None
    return None


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body[:_MAX_JSON])
    except (ValueError, RecursionError):
        return False
    return True


def wide_charset(body: bytes) -> str | None:
    """Return the charset of a file in UTF-16 or UTF-32, or None."""
    marked = bom_charset(body)
    if marked:
        return marked.upper()
    begin = body[:200]
    # ASCII text in these charsets has zeros in one half or three quarters of its bytes.
    halves = sorted(begin[start::2].count(0) for start in (0, 1))
    has_zero_pattern = (
        len(begin) > 3 and halves[1] * 5 >= len(begin) * 2 and halves[0] * 3 <= len(begin)
    )
    return "UTF-16 or UTF-32" if has_zero_pattern else None


def is_binary(body: bytes) -> bool:
    """Return whether bytes are binary: compressed, an image, or a program."""
    begin = body[:1_000]
    zeros = begin[:200].count(0) * 10 >= len(begin[:200]) > 0
    controls = len(begin) - len(begin.translate(None, _CONTROLS))
    has_controls = controls >= _MIN_CONTROLS and controls * 20 >= len(begin)
    return body.startswith(_MAGIC) or ((zeros or has_controls) and not wide_charset(body))


def has_controls(body: bytes) -> bool:
    """Return whether bytes begin with control characters, which text has only in UTF-16."""
    begin = body[:1_000]
    return len(begin) != len(begin.translate(None, _CONTROLS)) and not wide_charset(body)


def compression_of(body: bytes) -> str | None:
    """Return how bytes that are not text in UTF-8 are compressed, or None."""
    for begin, name in _COMPRESSED:
        if body.startswith(begin):
            return name
    return "deflate" if any(_is_deflated(body, bits) for bits in (15, -15)) else None


def _is_deflated(body: bytes, bits: int) -> bool:
    """Return whether bytes are one whole stream of text, with a zlib header or raw (RFC 1951)."""
    stream = zlib.decompressobj(bits)
    try:
        text = stream.decompress(body, _MAX_TRIED)
    except zlib.error:
        return False
    if stream.eof:
        return bool(text) and not stream.unused_data and is_utf8(text)
    # The last character may be cut.
    return len(text) == _MAX_TRIED and is_utf8(text[:-4])


def lines_of_cloudflare(robots: RobotsTxt) -> range:
    """Return the numbers of the lines that Cloudflare puts above a site's own; empty if none."""
    begin = _CLOUDFLARE.search(robots.body)
    if begin is None:
        return range(0)
    lines = robots.lines
    first = robots.body.count(b"\n", 0, begin.start()) + 1
    ends = (line.number for line in lines[first:] if _CLOUDFLARE_END in line.text.lower())
    above = lines[: first - 1]
    if all(line.kind in (LineKind.COMMENT, LineKind.BLANK) for line in above):
        # What the signals mean.
        first = 1
    return range(first, next(ends, first) + 1)


def is_readable(body: bytes, dialects: Iterable[Dialect] = (RFC9309, GOOGLE)) -> bool:
    """Return whether a dialect reads a line of a file, or it has only comments and blank lines."""
    return has_readable_line([parse(body, dialect) for dialect in dialects])


def has_readable_line(readings: list[RobotsTxt]) -> bool:
    """Return the same as `is_readable`, for a file that is parsed in each dialect."""
    # Creating all lines is slow. Most files have groups.
    if any(robots.groups for robots in readings):
        return True
    if not any(_TEXT.search(robots.body) for robots in readings):
        return True
    kinds = set()
    for robots in readings:
        for line in robots.lines:
            if line.directive is not None:
                return True
            kinds.add(line.kind)
    return kinds <= {LineKind.BLANK, LineKind.COMMENT}
