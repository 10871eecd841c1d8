"""Skips broken parts of a WARC file: resumes at the next complete record."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, BinaryIO

from ..errors import UnreadableError
from ._warc_reader import NO_DICTIONARY, BadRecord, BrokenError, RawRecord, read_raw

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
            reader, shift = _with_dictionary(file, start)
            for found in read_raw(reader, all_types):
                raw = found._replace(offset=found.offset + shift) if shift else found
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
        if why == NO_DICTIONARY and self.last < 0:
            return None
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
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_MAGIC = re.compile(rb"\x1f\x8b\x08|WARC/1\.")
_CHUNK = 1 << 18


def _next_start(file: BinaryIO, at: int) -> int | None:
    """Return the offset of the next thing that looks like a record, or None."""
    file.seek(0)
    # Text in a file of Zstandard is within its frames, or its dictionary.
    is_zstd = file.read(4) in (_ZSTD_MAGIC, _DICTIONARY_MAGIC)
    found = _offsets_of(re.compile(re.escape(_ZSTD_MAGIC)) if is_zstd else _MAGIC, file, at)
    if is_zstd:
        return next((each for each in islice(found, _MAX_BROKEN) if _is_record(file, each)), None)
    return next((each for each in found if _is_start(file, each)), None)


def _offsets_of(pattern: re.Pattern[bytes], file: BinaryIO, at: int) -> Iterator[int]:
    """Yield the offsets of a pattern from an offset on."""
    file.seek(at)
    base, window = at, b""
    while chunk := file.read(_CHUNK):
        window += chunk
        for match in pattern.finditer(window):
            yield base + match.start()
        overlap = min(len(_WARC_MAGIC) + 1, len(window))
        base += len(window) - overlap
        window = window[len(window) - overlap :]
        file.seek(base + overlap)


#: Other compression that fastwarc supports: Zstandard, its skippable frames, and LZ4.
_DICTIONARY_MAGIC = b"\x5d\x2a\x4d\x18"
_OTHER_MAGIC = (_ZSTD_MAGIC, _DICTIONARY_MAGIC, b"\x04\x22\x4d\x18")


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


class _WithDictionary:
    """A file from an offset on, with the frame before it that has the dictionary of all others.

    fastwarc looks for that only where a file begins, so this one begins at 0. The format is
    https://iipc.github.io/warc-specifications/specifications/warc-zstd/.
    """

    def __init__(self, file: BinaryIO, frame: bytes) -> None:
        self._file = file
        self._frame = frame
        self._at = 0

    def read(self, size: int) -> bytes:
        found, self._frame = self._frame[:size], self._frame[size:]
        found = found or self._file.read(size)
        self._at += len(found)
        return found

    def tell(self) -> int:
        return self._at


def _is_record(file: BinaryIO, at: int) -> bool:
    """Tell whether a frame of Zstandard with a record starts there."""
    with suppress(BrokenError):
        return next(read_raw(_with_dictionary(file, at)[0], all_types=True), None) is not None
    return False


def _with_dictionary(file: BinaryIO, at: int) -> tuple[Any, int]:
    """Return a file at an offset, with its dictionary if it has one, and what to add to offsets."""
    file.seek(0)
    head = file.read(8)
    size = int.from_bytes(head[4:], "little")
    if head[:4] != _DICTIONARY_MAGIC or at < 8 + size:
        file.seek(at)
        return file, 0
    frame = head + file.read(size)
    file.seek(at)
    return _WithDictionary(file, frame), at - len(frame)


def _is_gzip_record(file: BinaryIO, at: int) -> bool:
    """Tell whether a gzip member with a record starts there."""
    file.seek(at)
    with suppress(zlib.error):
        begin = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(
            file.read(4096), len(_WARC_MAGIC)
        )
        return begin == _WARC_MAGIC
    return False
