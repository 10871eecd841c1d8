"""A case with each line ending, a byte order mark, and junk behind it."""

from __future__ import annotations

from collections.abc import Iterator

from support import Case

BOM = b"\xef\xbb\xbf"


JUNK = b"\nSome-key: value\n<p>junk</p>\n\xff\xfe\x00\n:\n# end"


def variants(case: Case) -> Iterator[tuple[str, bytes]]:
    """Give the case's file as it stands, and others that say the same."""
    yield "as it stands", case.body
    if not case.varies:
        return
    if b"\r" not in case.body:
        yield "CRLF", case.body.replace(b"\n", b"\r\n")
        yield "CR", case.body.replace(b"\n", b"\r")
    if not case.body.startswith((BOM, b"\xef")):
        yield "BOM", BOM + case.body
    yield "trailing junk", case.body + JUNK
    yield "no end of line", case.body.rstrip(b"\n")
