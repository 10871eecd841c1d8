"""Checks of limits: of crawlers, and of koster."""

from __future__ import annotations

from collections.abc import Iterator

from .. import _charsets
from .._engine import document as _document
from ..dialects import BUFFER_BYTES
from ..model import LineKind
from ._checks import ERROR, NOTE, WARNING, check
from ._model import WHOLE_FILE, CheckedFile, Place, Remark


@check("Z001", "too-large", ERROR, "The file is larger than 500 KiB",
    why="Crawlers must read 500 KiB, and many read no more: rules after that may have no effect.",
    example="Any file of more than 512,000 bytes. Often it lists single pages: block their folder, or use `noindex` in the pages.",
    source="RFC 9309 §2.5")  # fmt: skip
def too_long(subject: CheckedFile) -> Iterator[Remark]:
    size = len(subject.body)
    if subject.is_cut or size > _charsets.MAX_BYTES:
        lost = [
            line
            for line in subject.directive_lines
            if subject.line_starts[line.number - 1] >= _charsets.MAX_BYTES
        ]
        where = f" from line {lost[0].number} on" if lost else ""
        yield Remark(
            WHOLE_FILE,
            f"The file is larger than 500 KiB: crawlers may not read the rest{where}",
            "Shorten it: one path with * can replace many lines",
        )


@check("Z003", "not-checked", ERROR, "The file is larger than koster reads",
    why="koster did not check the rest.",
    example="Any file of more than 16 MiB.",
    source="koster reads 16 MiB")  # fmt: skip
def beyond_koster(subject: CheckedFile) -> Iterator[Remark]:
    if len(subject.body) > _document.MAX_PARSED_BYTES:
        yield Remark(
            WHOLE_FILE,
            f"The file is larger than {(_document.MAX_PARSED_BYTES + 1) >> 20} MiB: koster did not check the rest",
            "Shorten it",
        )


@check("Z004", "partly-checked", NOTE, "The file, or a sitemap, was not checked completely",
    why="koster limits the time that a file takes. Its findings are correct, but rules without effect, rules that dialects read differently, or rules that block URLs of sitemaps, may be missing. The last are also missing if a sitemap could not be read to its end.",
    example="Any file with more than 2,000 groups of different crawlers, or with thousands of rules with `*` that match the same URLs.",
    source="koster.analysis: Budget")  # fmt: skip
def partly_checked(subject: CheckedFile) -> Iterator[Remark]:
    """Find files of which the checks before this one left out something."""
    if not subject.analysis.is_complete:
        yield Remark(
            WHOLE_FILE,
            "Not checked completely: the rules are too many, or overlap too much",
            "Findings may be missing: shorten the file, then check again",
        )


@check("Z002", "long-line", WARNING, "A line is longer than Google reads",
    why="Google ignores the rest of the line.",
    example="Any line of more than 16,664 bytes.",
    source="google/robotstxt, robots.cc: kMaxLineLen")  # fmt: skip
def long_line(subject: CheckedFile) -> Iterator[Remark]:
    for line in subject.lines:
        if len(line.text) > BUFFER_BYTES and line.kind is not LineKind.COMMENT:
            yield Remark(
                Place(line.number, BUFFER_BYTES, len(line.text) - BUFFER_BYTES),
                f"Line of {len(line.text):,} characters: Google reads only the first {BUFFER_BYTES:,} bytes",
                "Shorten it",
            )
