"""Archives as batches of fetches."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from . import warc
from ._arrow import np, pa, pc
from ._batches import BadRecords, Batch, Columns, Input
from ._parquet import BYTES, ROWS
from ._scanned import WITH_BODY, Piece, joined, piece_of, scan
from .warc import BadRecord

#: The fetch classes with a body to parse.
_WITH_BODY = pa.array([each.value for each in WITH_BODY], pa.string())


def read_archive(source: Input, _columns: Columns, bad: BadRecords) -> Iterator[Batch]:
    """Yield the batches of an archive."""
    with open(source.file, "rb") as file:
        yield from batches_of(file, source.path, os.path.basename(source.path), bad)


def batches_of(file: BinaryIO, path: str, name: str, bad: BadRecords) -> Iterator[Batch]:
    """Yield the fetches of an archive as batches; ``name`` is their archive.

    Raises:
        UnreadableError: the file is not a WARC file.
    """
    pending: list[Piece] = []
    rows = total = 0
    for piece in _pieces(file, path, name, bad):
        _note_bodies(piece, bad.noted)
        rest = piece
        while len(rest.bodies):
            sizes = rest.passthrough.column("body_bytes").to_numpy()
            count = int(np.searchsorted(total + np.cumsum(sizes), BYTES)) + 1
            count = min(count, ROWS - rows, len(sizes))
            pending.append(_slice(rest, 0, count))
            rest = _slice(rest, count)
            rows += count
            total += int(sizes[:count].sum())
            # Half a batch is enough: to add another piece is to copy both.
            if 2 * rows >= ROWS or total >= BYTES:
                batch = _to_batch(pending)
                # Otherwise the pieces would stay in memory until the next batch.
                pending, rows, total = [], 0, 0
                yield batch
    if pending:
        yield _to_batch(pending)


def _note_bodies(piece: Piece, noted: Counter[str]) -> None:
    """Count the bodies that cannot be read, and those that are stored decoded."""
    whole = piece.passthrough.column("whole")
    noted["unread"] += len(whole) - whole.null_count - whole.true_count
    is_file = pc.is_in(piece.passthrough.column("class"), value_set=_WITH_BODY)
    noted["decoded"] += pc.and_(is_file, whole.is_null()).true_count


def _pieces(file: BinaryIO, path: str, name: str, bad: BadRecords) -> Iterator[Piece]:
    """Yield the fetches of an archive: those of usual form at once, the rest one by one."""
    crawl = warc.crawl_from_path(path)
    size = file.seek(0, os.SEEK_END)
    last = -1
    end = 0
    broken: list[BadRecord] = []
    for part in scan(file, name, crawl):
        _add_bad(broken, bad)
        bad.noted.update(part.noted)
        yield part.piece
        broken, crawl, last, end = part.bad, part.crawl, part.last, part.end
    is_unfinished = end < size or not size
    is_last_broken = bool(broken) and broken[-1].offset == last
    pending = broken.pop() if is_unfinished and is_last_broken else None
    _add_bad(broken, bad)
    if is_unfinished:
        records = warc.records_after(file, path, last, crawl, pending, bad.noted)
        yield from _pieces_of(records, name, bad)


def _pieces_of(
    records: Iterable[warc.Record | BadRecord], name: str, bad: BadRecords
) -> Iterator[Piece]:
    """Yield records as pieces of at most a batch."""
    fetches: list[warc.Record] = []
    total = 0
    for each in records:
        if isinstance(each, BadRecord):
            _add_bad([each], bad)
            continue
        fetches.append(each)
        total += len(each.body)
        if len(fetches) == ROWS or total >= BYTES:
            yield piece_of(fetches, name)
            fetches = []
            total = 0
    if fetches:
        yield piece_of(fetches, name)


def _add_bad(found: Iterable[BadRecord], bad: BadRecords) -> None:
    for each in found:
        bad.add(f"at byte {each.offset}: {each.why}")


def _slice(piece: Piece, start: int, count: int | None = None) -> Piece:
    """Return some rows of a piece."""
    passthrough, served = piece.passthrough.slice(start, count), piece.served.slice(start, count)
    is_same = piece.bodies is piece.served
    return Piece(passthrough, served if is_same else piece.bodies.slice(start, count), served)


def _to_batch(pieces: list[Piece]) -> Batch:
    passthrough, bodies, served = joined(pieces)
    return Batch(
        passthrough=passthrough,
        bodies=bodies,
        served=served,
        classes=passthrough.column("class"),
        position=passthrough.column("archive_offset")[-1].as_py(),
    )
