"""Equivalent variants of a case: line endings, a byte order mark, and trailing junk."""

from __future__ import annotations

from collections.abc import Iterator

from tests.helpers.support import Case

BOM = b"\xef\xbb\xbf"


JUNK = b"\nSome-key: value\n<p>junk</p>\n\xff\xfe\x00\n:\n# end"


def variants(case: Case) -> Iterator[tuple[str, bytes]]:
    """Yield the case's file unchanged, and equivalent variants."""
    yield "unchanged", case.body
    if not case.varies:
        return
    if b"\r" not in case.body:
        yield "CRLF", case.body.replace(b"\n", b"\r\n")
        yield "CR", case.body.replace(b"\n", b"\r")
    if not case.body.startswith((BOM, b"\xef")):
        yield "BOM", BOM + case.body
    yield "trailing junk", case.body + JUNK
    yield "no final line ending", case.body.rstrip(b"\n")
