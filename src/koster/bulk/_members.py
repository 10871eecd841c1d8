"""Reads gzip files with a member for each record, as web archives are, in chunks of whole members.

The last four bytes of a member are its size, so that the bounds of all members of a chunk are known
without decompressing them one by one. Their sum is compared with the size of the decompressed
data: bytes within a member that look like the start of another one are noticed.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from fastwarc.stream_io import GzipReader

from ._arrow import np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._arrow import Numbers

#: Compressed bytes that are read at once.
_CHUNK = 1 << 19
#: The maximum of the compressed and decompressed bytes of a chunk.
_MAX_COMPRESSED = 1 << 24
_MAX_DECOMPRESSED = 1 << 25

#: RFC 1952 §2.3: magic number and method, flags, time, and usual values for level and system.
_START = re.compile(rb"\x1f\x8b\x08[\0-\x1f].{4}[\0\2\4][\0-\x0d\xff]", re.DOTALL)


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
    file.seek(0)
    offset = 0
    pending = b""
    is_last = False
    while not is_last and len(pending) < _MAX_COMPRESSED:
        more = file.read(_CHUNK)
        pending += more
        is_last = len(more) < _CHUNK
        starts = [match.start() for match in _START.finditer(pending)]
        while starts and (is_last or len(starts) > 1):
            ends = [*starts[1:], len(pending)] if is_last else starts[1:]
            found = _decompress(pending, starts, ends, offset)
            if found is None:
                return
            yield found
            pending = pending[found.end - offset :]
            starts = [each + offset - found.end for each in starts[len(found.offsets) :]]
            offset = found.end


def _decompress(
    compressed: bytes, starts: list[int], ends: list[int], offset: int
) -> Members | None:
    """Decompress members up to the size limit; None if they are broken or too large."""
    at = np.array(ends)
    if starts[0] != 0 or at[0] < 18:
        return None
    raw = np.frombuffer(compressed, np.uint8)
    sizes = sum(raw[at - 4 + byte].astype(np.int64) << 8 * byte for byte in range(4))
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    count = int(np.searchsorted(bounds, _MAX_DECOMPRESSED, "right")) - 1
    if count == 0:
        return None
    total = int(bounds[count])
    end = ends[count - 1]
    try:
        data = GzipReader(io.BytesIO(compressed[:end])).read(total + 1)
    except OSError:
        return None
    if len(data) != total:
        return None
    return Members(data, bounds[: count + 1], np.array(starts[:count]) + offset, offset + end)
