"""Log files as blocks of whole lines: decompressed, one after the other, in bounded memory."""

from __future__ import annotations

import bz2
import gzip
import io
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

from .._opening import check_stream, open_file
from ..bulk._arrow import np, pa
from ..errors import UnreadableError
from ._json_text import is_json_text, lines_from

#: The size of a block. A longer line is dropped.
BLOCK_BYTES = 4 * 2**20

#: Bytes from the start of a file that tell whether it is JSON in other lines than objects.
_JSON_BYTES = 2**18

#: Characters of a dropped line to show.
_SAMPLE_BYTES = 200

_STDIN = "-"

#: Compressions by the first bytes of a file.
_OPENERS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\x28\xb5\x2f\xfd": lambda file: pa.CompressedInputStream(pa.PythonFile(file), "zstd"),
}


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines, and the start of each line before them that was too long to read."""

    data: bytes
    dropped: tuple[bytes, ...] = ()


@contextmanager
def opened(path: str) -> Iterator[Any]:
    """Open a log file, or standard input for ``-``, decompressed.

    Raises:
        UnreadableError: it cannot be opened.
    """
    try:
        raw: Any = sys.stdin.buffer if path == _STDIN else open_file(path)
        if path == _STDIN:
            check_stream(raw)
        file = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(raw)
        start = file.peek(4)[:4]
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}") from error
    try:
        openers = (make for magic, make in _OPENERS.items() if start.startswith(magic))
        make = next(openers, None)
        yield file if make is None else make(file)
    finally:
        if path != _STDIN:
            raw.close()


def blocks(file: Any, path: str, size: int = BLOCK_BYTES) -> Iterator[Block]:
    """Yield the blocks of a file; objects of JSON become lines.

    Raises:
        UnreadableError: it cannot be read to its end; the blocks before were yielded.
    """
    first = read(file, size, path)
    chunks = chain([first] if first else [], iter(partial(read, file, size, path), b""))
    if is_json_text(first[:_JSON_BYTES]):
        yield from map(Block, lines_from(chunks, path, size))
        return
    rest = b""
    dropped: list[bytes] = []
    is_dropping = False
    for chunk in chunks:
        if is_dropping:
            end = chunk.find(b"\n")
            if end < 0:
                continue
            chunk, is_dropping = chunk[end + 1 :], False  # noqa: PLW2901 - the rest of it
        cut = chunk.rfind(b"\n") + 1
        if cut:
            yield Block(rest + chunk[:cut], tuple(dropped))
            rest, dropped = chunk[cut:], []
        else:
            rest += chunk
        if len(rest) > size:
            dropped.append(rest[:_SAMPLE_BYTES])
            rest, is_dropping = b"", True
    if rest or dropped:
        yield Block(rest, tuple(dropped))


def _read_whole(file: Any, size: int) -> bytes:
    """Read up to ``size`` bytes; of broken compressed data what comes before.

    Raises:
        UnreadableError: the file cannot be read, or its compressed data is broken.
    """
    # One buffer at a time: `read` would lose what it read before an error.
    read = getattr(file, "read1", file.read)
    parts: list[bytes] = []
    left = size
    try:
        while left and (part := read(left)):
            parts.append(part)
            left -= len(part)
    except (EOFError, OSError, zlib.error):
        if not parts:
            raise
    return b"".join(parts)


def read(file: Any, size: int, path: str) -> bytes:
    """Read up to ``size`` bytes.

    Raises:
        UnreadableError: the file cannot be read, or its compressed data is broken.
    """
    try:
        return _read_whole(file, size)
    except EOFError as error:
        raise UnreadableError(f"{path}: the compressed data ends too early") from error
    except (OSError, zlib.error) as error:
        raise UnreadableError(f"{path}: {error}") from error


def lines_of(data: bytes) -> pa.Array:
    """Return the lines of a block as an array of bytes, each with its line end."""
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")) + 1
    if not len(ends) or ends[-1] != len(data):
        ends = np.append(ends, len(data))
    starts = np.concatenate([[0], ends]).astype(np.int64)
    return pa.Array.from_buffers(
        pa.large_binary(), len(ends), [None, pa.py_buffer(starts), pa.py_buffer(data)]
    )
