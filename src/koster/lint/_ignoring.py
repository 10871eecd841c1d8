"""Comments that ignore findings: ``# koster: ignore[S009, P004]``.

Beside a directive they ignore findings on that line; on a line of their own, those on the next line
that is not a comment. Without codes they ignore all findings there.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping

from ..model import Line, LineKind

_IGNORE = re.compile(r"#\s*koster:\s*ignore\b(?:\s*\[([^\]\[#]*)\]|\s*(?=#|\Z))", re.IGNORECASE)
#: An attempt without brackets, or with a typo.
_ATTEMPT = re.compile(r"#\s*koster\s*:\s*(\S[^#]*)", re.IGNORECASE)
_CODE = re.compile(r"[^\s,]+")
_EVERY_CODE = ""

#: The maximum number of unknown codes of a line that are reported.
_MAX_UNKNOWN = 20


def ignored_codes(lines: Iterable[Line], known: Iterable[str]) -> Mapping[int, frozenset[str]]:
    """Return those of the known codes that are ignored, by line number."""

    @functools.lru_cache(maxsize=1_000)
    def matching(codes: tuple[str, ...]) -> frozenset[str]:
        return frozenset(code for code in known if code.startswith(codes))

    found: dict[int, frozenset[str]] = {}
    pending: frozenset[str] = frozenset()
    for line in lines:
        # A long line has no comment that people write.
        match = _IGNORE.search(line.text) if "koster" in line.text else None
        codes = tuple(code.upper() for code, _ in _codes(match)) if match else ()
        if match and match[1] is None:
            codes = (_EVERY_CODE,)
        ignored = matching(tuple(dict.fromkeys(codes))) if codes else frozenset()
        if line.kind is LineKind.COMMENT:
            pending |= ignored
            continue
        if ignored or pending:
            found[line.number] = ignored | pending
        pending = frozenset()
    return found


@functools.lru_cache(maxsize=1)
def _beginnings(codes: frozenset[str]) -> frozenset[str]:
    return frozenset(code[:size] for code in codes for size in range(1, len(code) + 1))


def unknown_codes(text: str, known: frozenset[str]) -> Iterator[tuple[str, int]]:
    """Yield the codes in a comment that are not the beginning of a known one, with columns.

    Of a comment that ignores nothing, as it has no brackets or a typo, yield the text.
    """
    match = _IGNORE.search(text) if "koster" in text else None
    attempt = _ATTEMPT.search(text) if "koster" in text and match is None else None
    if attempt:
        yield attempt[1].strip(), attempt.start(1)
    if match:
        beginnings = _beginnings(known)
        unknown = (each for each in _codes(match) if each[0].upper() not in beginnings)
        yield from itertools.islice(unknown, _MAX_UNKNOWN)


def _codes(match: re.Match[str]) -> Iterator[tuple[str, int]]:
    for code in _CODE.finditer(match[1] or ""):
        yield code[0], match.start(1) + code.start()
