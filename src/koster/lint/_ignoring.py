"""Comments that ignore findings: ``# koster: ignore[S009, P004]``.

Beside a directive they ignore findings on that line; on a line of their own, those on the next line
that is not a comment. Without codes they ignore all findings there.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..model import LineKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ..model import Line

_IGNORE = re.compile(r"#\s*koster:\s*ignore\b(?:\s*\[([^\]]*)\]|\s*(?=#|\Z))", re.IGNORECASE)
#: An attempt without brackets, or with a typo.
_ATTEMPT = re.compile(r"#\s*koster\s*:\s*(\S[^#]*)", re.IGNORECASE)
_CODE = re.compile(r"[^\s,]+")
_EVERY_CODE = ""


def ignored_codes(lines: Iterable[Line]) -> Mapping[int, tuple[str, ...]]:
    """Return the prefixes of the ignored codes by line number."""
    found: dict[int, tuple[str, ...]] = {}
    pending: tuple[str, ...] = ()
    for line in lines:
        # A long line has no comment that people write.
        match = _IGNORE.search(line.text) if "koster" in line.text else None
        codes = tuple(code.upper() for code, _ in _codes(match)) if match else ()
        if match and match[1] is None:
            codes = (_EVERY_CODE,)
        if line.kind is LineKind.COMMENT:
            pending += codes
            continue
        if codes or pending:
            found[line.number] = codes + pending
        pending = ()
    return found


def unknown_codes(text: str, known: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield the codes in a comment that are not the beginning of a known one, with columns.

    Of a comment that ignores nothing, as it has no brackets or a typo, yield the text.
    """
    match = _IGNORE.search(text) if "koster" in text else None
    attempt = _ATTEMPT.search(text) if "koster" in text and match is None else None
    if attempt:
        yield attempt[1].strip(), attempt.start(1)
    for code, start in _codes(match) if match else ():
        if not any(each.startswith(code.upper()) for each in known):
            yield code, start


def _codes(match: re.Match[str]) -> Iterator[tuple[str, int]]:
    for code in _CODE.finditer(match[1] or ""):
        yield code[0], match.start(1) + code.start()
