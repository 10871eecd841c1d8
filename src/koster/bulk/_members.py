"""Reads gzip files with a member for each record, as web archives are, in chunks of whole members.

The last four bytes of a member are its size, so that the place of each member of a chunk in the
decompressed data is known before. Bytes within a member that look like the start of another one
are noticed: the sizes are wrong then.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from ._arrow import Numbers, np
from ._loops.records import MEMBER_HEADER, find_members

#: Compressed bytes that are read at once: the members of a batch, if files have a usual size.
_CHUNK = 3 << 20
#: The maximum of the compressed and decompressed bytes of a chunk.
_MAX_COMPRESSED = 1 << 24
_MAX_DECOMPRESSED = 1 << 25
#: The bytes of a member's header and trailer.
_MIN_MEMBER = MEMBER_HEADER + 8

#: Added to the bits of the window, it stands for the format: `zlib.decompressobj`.
_GZIP = 16


@dataclass(frozen=True, slots=True)
class Members:
    """Some adjacent members of a gzip file.

    Attributes:
        data: Their decompressed bytes.
        bounds: Where each starts in ``data``, and where the last one ends.
        offsets: Where each starts in the file.
        end: Where the last one ends in the file.
    """

    data: bytes
    bounds: Numbers
    offsets: Numbers
    end: int


def read_members(file: BinaryIO) -> Iterator[Members]:
    """Yield the members from the start of a file on, up to its end or to anything unusual."""
    offset = 0
    wanted = _CHUNK
    is_last = False
    while not is_last and wanted <= _MAX_COMPRESSED:
        # To read the rest of a chunk again is faster than to copy the next chunk to it.
        file.seek(offset)
        pending = file.read(wanted)
        is_last = len(pending) < wanted
        bounds = _bounds(pending)
        if is_last:
            bounds = np.append(bounds, len(pending))
        wanted = _CHUNK if len(bounds) > 1 else wanted + _CHUNK
        while len(bounds) > 1:
            found = _decompress(pending, bounds, offset)
            if found is None:
                return
            yield found
            size = found.end - offset
            pending = pending[size:]
            bounds = bounds[len(found.offsets) :] - size
            offset = found.end


def _bounds(compressed: bytes) -> Numbers:
    """Return where members seem to start."""
    starts = np.empty(len(compressed) // MEMBER_HEADER + 1, np.int64)
    return starts[: find_members(compressed, starts)]


def _decompress(compressed: bytes, bounds: Numbers, offset: int) -> Members | None:
    """Decompress members up to the size limit; None if they are broken or too large."""
    ends = bounds[1:]
    if bounds[0] != 0 or ends[0] < _MIN_MEMBER:
        return None
    raw = np.frombuffer(compressed, np.uint8)
    sizes = sum(raw[ends - 4 + byte].astype(np.int64) << 8 * byte for byte in range(4))
    places = np.concatenate([[0], np.cumsum(sizes)])
    count = int(np.searchsorted(places, _MAX_DECOMPRESSED, "right")) - 1
    if count == 0:
        return None
    end = int(ends[count - 1])
    places = places[: count + 1]
    bounds = bounds[: count + 1]
    data = decompress(memoryview(compressed), bounds, places)
    if data is None:
        return None
    return Members(data, places, bounds[:-1] + offset, offset + end)


def decompress(compressed: memoryview, bounds: Numbers, places: Numbers) -> bytes | None:
    """Decompress adjacent gzip members; None if one is broken.

    Number n is ``compressed[bounds[n]:bounds[n + 1]]``, and ``[places[n]:places[n + 1]]`` of the
    result; both must be exact.
    """
    found = []
    starts = bounds.tolist()
    for start, end, size in zip(starts, starts[1:], np.diff(places).tolist(), strict=False):
        member = zlib.decompressobj(zlib.MAX_WBITS | _GZIP)
        try:
            found.append(member.decompress(compressed[start:end], size + 1))
        except zlib.error:
            return None
        if not member.eof or member.unused_data or len(found[-1]) != size:
            return None
    return b"".join(found)
