"""Skips broken parts of a WARC file: resumes at the next complete record."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO

from ..errors import UnreadableError
from ._warc_reader import BadRecord, BrokenError, RawRecord, read_raw

#: The maximum number of broken records before the rest of the archive is skipped.
_MAX_BROKEN = 1_000


def whole_records(file: BinaryIO, path: str, after: int = -1) -> Iterator[RawRecord | BadRecord]:
    """Yield the records of a file; after a broken one, resume at the next that looks like one.

    If ``after`` is not -1, yield those after the record with this offset.

    The first pass skips records of other types. After an error, and after the last record, they are
    read, too, to find out which are complete.

    Raises:
        UnreadableError: it has no records.
    """
    state = _RecoveryState(file, after)
    start: int | None = max(after, 0)
    all_types = False
    while start is not None:
        at = -1
        # Records in one gzip member share its offset, or have one within it: skip only records
        # from before this pass.
        last = state.last
        try:
            _check_start(file, start)
            state.is_archive = True
            for raw in read_raw(file, all_types):
                at = raw.offset
                if at > last:
                    yield from state.bad_records()
                    state.last = at
                    yield raw
        except BrokenError as error:
            if all_types or state.is_within(at):
                start = state.after_broken(start, at, str(error))
            else:
                start = max(at, 0)
        else:
            is_last = all_types or state.is_within(at)
            start = state.after_end(start, at) if is_last else max(at, 0)
        all_types = True
    if not state.is_archive and state.size:
        raise UnreadableError(f"{path}: is not a WARC file")
    yield from state.bad_records()


class _RecoveryState:
    """How far a file is read, and its broken records."""

    def __init__(self, file: BinaryIO, after: int) -> None:
        self.file = file
        self.size = file.seek(0, io.SEEK_END)
        self.last = after
        self.is_archive = after >= 0
        self._bad: list[BadRecord] = []
        self._count = 0
        self._is_gap = False

    def bad_records(self) -> list[BadRecord]:
        """Return the broken records since the last call."""
        found, self._bad = self._bad, []
        self._is_gap = False
        return found

    def is_within(self, at: int) -> bool:
        """Tell whether a record is within a gzip member, so that reading cannot resume there."""
        return at >= self.size or (at > 0 and not _is_start(self.file, at))

    def _add(self, offset: int, why: str) -> None:
        self._count += 1
        self._bad.append(BadRecord(offset, why))

    def _resume_after(self, at: int) -> int | None:
        """Return the offset to resume at after a broken record, or None."""
        if self._count > _MAX_BROKEN:
            self._add(at, "too many broken records; the rest of the archive is skipped")
            return None
        return _next_start(self.file, at)

    def after_broken(self, start: int, at: int, why: str) -> int | None:
        """Return the offset to resume at. Reading began at ``start``; ``at`` is the last record."""
        if at >= 0:
            self._add(at, f"the data after this record is broken: {why}")
        else:
            if self._is_gap:
                # Already reported as the data after the last good record.
                self._bad.pop()
            self._add(start, why)
        self._is_gap = at >= 0
        return self._resume_after(max(start, at) + 1)

    def after_end(self, start: int, at: int) -> int | None:
        """Return the offset to resume at when fastwarc finds no more records, or None."""
        if at < 0:
            if start < self.size:
                self._add(start, "the record is truncated")
                return self._resume_after(start + 1)
            return None
        end, is_whole = _record_end(self.file, at, self.size)
        if end is None:
            # The member has several records, whose offsets are unknown.
            end, is_whole = _record_end(self.file, start, self.size)
        if not is_whole:
            self._add(at, "the record is truncated")
            return self._resume_after(at + 1)
        following = self.size if end is None else _skip_padding(self.file, end)
        if following >= self.size:
            return None
        return following if _is_start(self.file, following) else self._after_junk(following)

    def _after_junk(self, at: int) -> int | None:
        self.file.seek(at)
        is_cut = self.file.read(3) == _GZIP_MAGIC and not _member_end(self.file, at)[1]
        self._add(at, "the record is truncated" if is_cut else "no record starts here")
        return self._resume_after(at + 1)


def _record_end(file: BinaryIO, at: int, size: int) -> tuple[int | None, bool]:
    """Return where a record ends, and whether it is complete; None if none starts there."""
    file.seek(at)
    begin = file.read(1 << 16)
    if begin.startswith(_GZIP_MAGIC):
        return _member_end(file, at) if _is_gzip_record(file, at) else (None, True)
    if not begin.lstrip().startswith(_WARC_MAGIC):
        return None, True
    head, _, _ = begin.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)\r\ncontent-length:[ \t]*(\d{1,18})", head)
    end = at + len(head) + 4 + (int(length[1]) if length else 0)
    return min(end, size), end <= size


def _member_end(file: BinaryIO, at: int) -> tuple[int, bool]:
    """Return where a gzip member ends, and whether it is complete."""
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


def _skip_padding(file: BinaryIO, at: int) -> int:
    """Return the offset after line ends and empty gzip members."""
    while True:
        file.seek(at)
        begin = file.read(1 << 12)
        stripped = begin.lstrip(b"\r\n")
        if begin and not stripped:
            at += len(begin)
            continue
        at += len(begin) - len(stripped)
        if not stripped.startswith(_GZIP_MAGIC):
            return at
        member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            if member.decompress(stripped, 1) or not member.eof:
                return at
        except zlib.error:
            return at
        at += len(stripped) - len(member.unused_data)


_GZIP_MAGIC = b"\x1f\x8b\x08"
_WARC_MAGIC = b"WARC/"
_MAGIC = re.compile(rb"\x1f\x8b\x08|WARC/1\.")
_CHUNK = 1 << 18


def _next_start(file: BinaryIO, at: int) -> int | None:
    """Return the offset of the next thing that looks like a record, or None."""
    file.seek(at)
    base, window = at, b""
    while chunk := file.read(_CHUNK):
        window += chunk
        for match in _MAGIC.finditer(window):
            offset = base + match.start()
            if match[0] != _GZIP_MAGIC or _is_gzip_record(file, offset):
                return offset
        overlap = min(len(_WARC_MAGIC) + 1, len(window))
        base += len(window) - overlap
        window = window[len(window) - overlap :]
        file.seek(base + overlap)
    return None


#: Other compression that fastwarc supports: Zstandard, its skippable frames, and LZ4.
_OTHER_MAGIC = (b"\x28\xb5\x2f\xfd", b"\x5d\x2a\x4d\x18", b"\x04\x22\x4d\x18")


def _check_start(file: BinaryIO, at: int) -> None:
    """Seek to an offset where a record may start.

    Raises:
        BrokenError: no record starts there.
    """
    if not _is_start(file, at):
        raise BrokenError("no record starts here")
    file.seek(at)


def _is_start(file: BinaryIO, at: int) -> bool:
    """Tell whether a record may start there, or the file ends."""
    file.seek(at)
    begin = file.read(64)
    if begin.startswith(_GZIP_MAGIC):
        return _is_gzip_record(file, at)
    return begin.startswith(_OTHER_MAGIC) or begin.lstrip().startswith(_WARC_MAGIC) or not begin


def _is_gzip_record(file: BinaryIO, at: int) -> bool:
    """Tell whether a gzip member with a record starts there."""
    file.seek(at)
    with suppress(zlib.error):
        begin = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(
            file.read(4096), len(_WARC_MAGIC)
        )
        return begin == _WARC_MAGIC
    return False
