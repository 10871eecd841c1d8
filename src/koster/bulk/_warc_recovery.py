"""Reads on behind the broken parts of a WARC file, at the next record that is whole."""

from __future__ import annotations

import io
import re
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO

from ..errors import UnreadableError
from ._warc_reader import BadRecord, BrokenError, read_raw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._warc_reader import RawRecord

#: Places in an archive that may be broken before it is not read on.
_MAX_BROKEN = 1_000


def whole_records(file: BinaryIO, path: str) -> Iterator[RawRecord | BadRecord]:
    """Go through the records of a file; where it is broken, on to the next that begins as one.

    The first time through records of no interest are not looked at. From where it is broken, or
    from the last record on, they are: to tell what of them is whole.

    Raises:
        UnreadableError: it has none.
    """
    place = _Place(file)
    start: int | None = 0
    every = False
    while start is not None:
        at = -1
        # Records of one member have one offset, or one within it: only what was read before is not
        # told again.
        last = place.last
        try:
            _check_start(file, start)
            place.is_archive = True
            for raw in read_raw(file, every):
                at = raw.offset
                if at > last:
                    yield from place.bad_records()
                    place.last = at
                    yield raw
        except BrokenError as error:
            if every or place.is_within(at):
                start = place.after_broken(start, at, str(error))
            else:
                start = max(at, 0)
        else:
            is_last = every or place.is_within(at)
            start = place.after_end(start, at) if is_last else max(at, 0)
        every = True
    if not place.is_archive and place.size:
        raise UnreadableError(f"{path}: is no WARC file")
    yield from place.bad_records()


class _Place:
    """How far a file is read, and what of it could not be."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.size = file.seek(0, io.SEEK_END)
        self.last = -1
        self.is_archive = False
        self._bad: list[BadRecord] = []
        self._count = 0
        self._is_gap = False

    def bad_records(self) -> list[BadRecord]:
        """Return what could not be read since this was last asked."""
        found, self._bad = self._bad, []
        self._is_gap = False
        return found

    def is_within(self, at: int) -> bool:
        """Tell whether a record is within a member: reading cannot begin again at its offset."""
        return at >= self.size or (at > 0 and not _is_start(self.file, at))

    def _add(self, offset: int, why: str) -> None:
        self._count += 1
        self._bad.append(BadRecord(offset, why))

    def _next(self, at: int) -> int | None:
        """Return where to read on behind a broken place."""
        if self._count > _MAX_BROKEN:
            self._add(at, "too much of the archive is broken; it is not read on")
            return None
        return _next_start(self.file, at)

    def after_broken(self, start: int, at: int, why: str) -> int | None:
        """Return where to read on after records from ``start`` on, the last one at ``at``."""
        if at >= 0:
            self._add(at, f"what follows it is broken: {why}")
        else:
            if self._is_gap:
                # What follows the last good one is this.
                self._bad.pop()
            self._add(start, why)
        self._is_gap = at >= 0
        return self._next(max(start, at) + 1)

    def after_end(self, start: int, at: int) -> int | None:
        """Return where to read on where fastwarc sees no more records."""
        if at < 0:
            if start < self.size:
                self._add(start, "the archive breaks off in it")
                return self._next(start + 1)
            return None
        end, is_whole = _end_of(self.file, at, self.size)
        if end is None:
            # Several records are in one member: where they begin nobody knows.
            end, is_whole = _end_of(self.file, start, self.size)
        if not is_whole:
            self._add(at, "the archive breaks off in it")
            return self._next(at + 1)
        following = self.size if end is None else _past_nothing(self.file, end)
        if following >= self.size:
            return None
        return following if _is_start(self.file, following) else self._junk(following)

    def _junk(self, at: int) -> int | None:
        self.file.seek(at)
        is_cut = self.file.read(3) == _GZIP and not _member_end(self.file, at)[1]
        self._add(at, "the archive breaks off in it" if is_cut else "no record begins there")
        return self._next(at + 1)


def _end_of(file: BinaryIO, at: int, size: int) -> tuple[int | None, bool]:
    """Return where a record ends, and whether it is whole; None: none begins there."""
    file.seek(at)
    begin = file.read(1 << 16)
    if begin.startswith(_GZIP):
        return _member_end(file, at) if _begins_as_record(file, at) else (None, True)
    if not begin.lstrip().startswith(_HEAD):
        return None, True
    head, _, _ = begin.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)\r\ncontent-length:[ \t]*(\d{1,18})", head)
    end = at + len(head) + 4 + (int(length[1]) if length else 0)
    return min(end, size), end <= size


def _member_end(file: BinaryIO, at: int) -> tuple[int, bool]:
    """Return where a member of gzip ends, and whether it is whole."""
    file.seek(at)
    member = zlib.decompressobj(zlib.MAX_WBITS | 16)
    with suppress(zlib.error):
        while data := file.read(1 << 16):
            while data:
                member.decompress(data, _CHUNK)
                data = member.unconsumed_tail
            if member.eof:
                return file.tell() - len(member.unused_data), True
    return file.tell(), False


def _past_nothing(file: BinaryIO, at: int) -> int:
    """Return where something stands behind ends of lines, and members of gzip without content."""
    while True:
        file.seek(at)
        begin = file.read(1 << 12)
        stripped = begin.lstrip(b"\r\n")
        if begin and not stripped:
            at += len(begin)
            continue
        at += len(begin) - len(stripped)
        if not stripped.startswith(_GZIP):
            return at
        member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            if member.decompress(stripped, 1) or not member.eof:
                return at
        except zlib.error:
            return at
        at += len(stripped) - len(member.unused_data)


_GZIP = b"\x1f\x8b\x08"
_HEAD = b"WARC/"
_MARK = re.compile(rb"\x1f\x8b\x08|WARC/1\.")
_CHUNK = 1 << 18


def _next_start(file: BinaryIO, at: int) -> int | None:
    """Return where the next record of a file begins that looks like one, or None."""
    file.seek(at)
    base, window = at, b""
    while chunk := file.read(_CHUNK):
        window += chunk
        for match in _MARK.finditer(window):
            place = base + match.start()
            if match[0] != _GZIP or _begins_as_record(file, place):
                return place
        kept = min(len(_HEAD) + 1, len(window))
        base += len(window) - kept
        window = window[len(window) - kept :]
        file.seek(base + kept)
    return None


#: How archives begin that fastwarc unpacks besides: Zstandard, its skippable frames, and LZ4.
_OTHERS = (b"\x28\xb5\x2f\xfd", b"\x5d\x2a\x4d\x18", b"\x04\x22\x4d\x18")


def _check_start(file: BinaryIO, at: int) -> None:
    """Look whether a record may begin there, and stay there.

    Raises:
        BrokenError: none does.
    """
    if not _is_start(file, at):
        raise BrokenError("no record begins there")
    file.seek(at)


def _is_start(file: BinaryIO, at: int) -> bool:
    """Tell whether a record may begin there, or the file ends."""
    file.seek(at)
    begin = file.read(64)
    if begin.startswith(_GZIP):
        return _begins_as_record(file, at)
    return begin.startswith(_OTHERS) or begin.lstrip().startswith(_HEAD) or not begin


def _begins_as_record(file: BinaryIO, at: int) -> bool:
    """Tell whether a member of gzip with a record begins there."""
    file.seek(at)
    with suppress(zlib.error):
        begin = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(file.read(4096), len(_HEAD))
        return begin == _HEAD
    return False
