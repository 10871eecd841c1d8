"""Members of gzip files, decompressed by libdeflate and by zlib: the same, or None."""

from __future__ import annotations

import gzip
import random
import sys
from typing import Any

import numpy as np
import pytest

from koster.bulk import _libdeflate, _members

WAYS = {"zlib": _members._decompress_by_zlib}
if _members._LIBDEFLATE is not None:
    WAYS["libdeflate"] = _members._LIBDEFLATE.decompress  # type: ignore[assignment]

TEXTS = [b"", b"a", b"User-agent: *\nDisallow: /\n" * 300, random.Random(1).randbytes(5_000), b""]


def numbers(values: list[int]) -> Any:
    return np.array(values, np.int64)


def ends(parts: list[bytes]) -> Any:
    return numbers([0, *np.cumsum([len(each) for each in parts]).tolist()])


@pytest.fixture(params=WAYS)
def decompress(request: pytest.FixtureRequest) -> Any:
    """Return a function that takes members and what is in them, by this way."""
    return lambda members, texts: decompressed(request.param, members, texts)


def decompressed(way: str, members: list[bytes], texts: list[bytes]) -> bytes | None:
    """Return what members have, without the room after it."""
    found = WAYS[way](memoryview(b"".join(members)), ends(members), ends(texts))
    if found is None:
        return None
    size = sum(map(len, texts))
    assert len(found) - size == (_libdeflate.SPARE if way == "libdeflate" else 0)
    return bytes(found[:size])


@pytest.mark.skipif(sys.platform == "win32", reason="extensions export less there")
def test_libdeflate_is_found() -> None:
    assert _libdeflate.find() is not None


def test_without_libdeflate(monkeypatch: pytest.MonkeyPatch) -> None:
    for file in ("missing", sys.executable):
        monkeypatch.setattr(_libdeflate._deflate, "__file__", file)  # type: ignore[attr-defined]
        assert _libdeflate.find() is None
    monkeypatch.setitem(sys.modules, "ctypes", None)
    assert _libdeflate.find() is None


def test_without_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    library = _libdeflate.find()
    assert library is not None
    monkeypatch.setattr(library, "_allocate", lambda: None)
    assert library.decompress(memoryview(b""), numbers([0]), numbers([0])) is None


@pytest.mark.parametrize("level", [0, 1, 6, 9])
def test_all_members_together(decompress: Any, level: int) -> None:
    members = [gzip.compress(each, level) for each in TEXTS]
    assert decompress(members, TEXTS) == b"".join(TEXTS)
    assert decompress([], []) == b""


def test_optional_parts_of_the_header(decompress: Any) -> None:
    text = TEXTS[2]
    usual = gzip.compress(text, mtime=0)
    # FTEXT, FEXTRA, FNAME and FCOMMENT: RFC 1952 §2.3.1.
    header = usual[:3] + b"\x1d" + usual[4:10] + b"\4\0ab\0\0" + b"name\0" + b"comment\0"
    assert decompress([header + usual[10:]], [text]) == text


def test_everything_must_be_exact(decompress: Any) -> None:
    text, usual = TEXTS[2], gzip.compress(TEXTS[2])
    assert decompress([usual], [text]) == text
    for wrong in (text + b"x", text[:-1], b"", text * 2):
        assert decompress([usual], [wrong]) is None
    parts = (usual[:-1], usual[:-8], usual[:10], b"")
    for broken in (*parts, usual + b"\0", usual + usual, b"x" * 99):
        assert decompress([broken], [text]) is None
    # The last eight bytes are the checksum and the size, again.
    assert decompress([usual + usual[-8:]], [text]) is None


def test_damaged_members() -> None:
    text, usual = TEXTS[2], gzip.compress(TEXTS[2], mtime=0)
    assert len(usual) < 100
    unread = []
    for bit in range(8 * len(usual)):
        broken = bytearray(usual)
        broken[bit // 8] ^= 1 << bit % 8
        # Between two others, of which one would be overwritten.
        members = [usual, bytes(broken), usual]
        found = [decompressed(way, members, [text] * 3) for way in WAYS]
        assert found == [found[0]] * len(WAYS)
        if found[0] is not None:
            assert found[0] == text * 3
            unread.append(bit)
    # Whether it is text, time, level, system, and the bits after the last code.
    assert set(unread[:49]) == {24, *range(32, 80)}
    assert 0 < len(unread[49:]) < 8
