"""Members of gzip files are decompressed whole, or not at all."""

from __future__ import annotations

import gzip
import random
from typing import Any

import numpy as np
import pytest

from koster.bulk import _members

TEXTS = [b"", b"a", b"User-agent: *\nDisallow: /\n" * 300, random.Random(1).randbytes(5_000), b""]


def numbers(values: list[int]) -> Any:
    return np.array(values, np.int64)


def ends(parts: list[bytes]) -> Any:
    return numbers([0, *np.cumsum([len(each) for each in parts]).tolist()])


def decompressed(members: list[bytes], texts: list[bytes]) -> bytes | None:
    """Return what members have, if it is of the size of these texts."""
    return _members.decompress(memoryview(b"".join(members)), ends(members), ends(texts))


@pytest.mark.parametrize("level", [0, 1, 6, 9])
def test_all_members_together(level: int) -> None:
    members = [gzip.compress(each, level) for each in TEXTS]
    assert decompressed(members, TEXTS) == b"".join(TEXTS)
    assert decompressed([], []) == b""


def test_optional_parts_of_the_header() -> None:
    text = TEXTS[2]
    usual = gzip.compress(text, mtime=0)
    # FTEXT, FEXTRA, FNAME and FCOMMENT: RFC 1952 §2.3.1.
    header = usual[:3] + b"\x1d" + usual[4:10] + b"\4\0ab\0\0" + b"name\0" + b"comment\0"
    assert decompressed([header + usual[10:]], [text]) == text


def test_everything_must_be_exact() -> None:
    text, usual = TEXTS[2], gzip.compress(TEXTS[2])
    assert decompressed([usual], [text]) == text
    for wrong in (text + b"x", text[:-1], b"", text * 2):
        assert decompressed([usual], [wrong]) is None
    parts = (usual[:-1], usual[:-8], usual[:10], b"")
    for broken in (*parts, usual + b"\0", usual + usual, b"x" * 99):
        assert decompressed([broken], [text]) is None
    # The last eight bytes are the checksum and the size, again.
    assert decompressed([usual + usual[-8:]], [text]) is None


def test_damaged_members() -> None:
    text, usual = TEXTS[2], gzip.compress(TEXTS[2], mtime=0)
    assert len(usual) < 100
    unread = []
    for bit in range(8 * len(usual)):
        broken = bytearray(usual)
        broken[bit // 8] ^= 1 << bit % 8
        found = decompressed([usual, bytes(broken), usual], [text] * 3)
        if found is not None:
            assert found == text * 3
            unread.append(bit)
    # Whether it is text, time, level, system, and the bits after the last code.
    assert set(unread[:49]) == {24, *range(32, 80)}
    assert 0 < len(unread[49:]) < 8
