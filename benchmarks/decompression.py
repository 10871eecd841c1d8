"""Libraries that decompress gzip members, beside koster, which finds them as well."""

from __future__ import annotations

import io
import zlib
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from itertools import starmap
from typing import Any

import numpy as np
from fastwarc.stream_io import GzipReader

from koster.bulk._loops.records import find_members
from koster.bulk._members import read_members

from .measure import format_time, in_turns, table


def run(raw: bytes, rounds: int) -> None:
    """Measure libraries that decompress an archive of a gzip member for each record."""
    first = np.empty(len(raw), np.int64)
    starts = first[: find_members(raw, first)].tolist()
    members = [raw[at:end] for at, end in zip(starts, [*starts[1:], len(raw)], strict=True)]
    sizes = [int.from_bytes(each[-4:], "little") for each in members]
    # About three megabytes, as koster reads them.
    groups = [slice(at, at + 6_000) for at in range(0, len(members), 6_000)]
    streams = [(b"".join(members[group]), sum(sizes[group])) for group in groups]
    single = [(each, 31) for each in members]
    ways: dict[str, Callable[[], object]] = {
        "koster": lambda: deque(read_members(io.BytesIO(raw)), 0),
        "fastwarc, 6,000 members at once": _each(
            lambda stream, size: GzipReader(io.BytesIO(stream)).read(size), streams
        ),
        "zlib": _each(zlib.decompress, single),
    }
    with suppress(ImportError):
        from isal import igzip, isal_zlib

        ways["isal, 6,000 members at once"] = _each(_read_all(igzip.IGzipFile), streams)
        ways["isal"] = _each(isal_zlib.decompress, single)
    with suppress(ImportError):
        from zlib_ng import gzip_ng, zlib_ng

        ways["zlib-ng, 6,000 members at once"] = _each(_read_all(gzip_ng.GzipNGFile), streams)
        ways["zlib-ng"] = _each(zlib_ng.decompress, single)
    taken = in_turns(ways, 2 * rounds)
    print(f"## Decompression: {len(members):,} gzip members, {sum(sizes) / 1e6:,.0f} MB\n")
    table(
        ["", "time", "MB a second"],
        [
            [name, format_time(time_), f"{sum(sizes) / time_ / 1e6:,.0f}"]
            for name, time_ in taken.items()
        ],
    )


def _read_all(file: Callable[..., Any]) -> Callable[[bytes, int], object]:
    return lambda stream, size: file(fileobj=memoryview(stream), mode="rb").read(size)


def _each(
    function: Callable[..., object], arguments: list[tuple[Any, int]]
) -> Callable[[], object]:
    """Return a function that calls one with all arguments, and keeps nothing that it returns.

    New memory for all results would take as long as a tenth of the work.
    """
    return lambda: deque(starmap(function, arguments), maxlen=0)
