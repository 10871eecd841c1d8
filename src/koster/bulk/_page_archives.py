"""The first pass of ``koster bulk signals``: pages, and the files of sites, from archives.

Archives are read record by record with fastwarc: what pages state may be in any of their headers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, BinaryIO, NamedTuple

from .._charsets import MAX_BYTES, media_type_of
from .._contents import is_page
from ..access import wants_body
from ..signals import MAX_DOCUMENT, MAX_HTML
from ..signals._headers import NAMES
from ..signals._limits import RSL_TYPE
from ..signals._uses import TDMREP_PATH
from . import warc
from ._arrow import pa
from ._batches import INPUT, BadRecords, Batch, Columns, Input
from ._parquet import BYTES, ROWS
from ._readings import reading_of, to_bytes
from ._scanned import WITH_BODY, storable_value
from ._warc_reader import BadRecord, RawRecord

#: The kinds of rows.
PAGE, ROBOTS, TDMREP, LICENSE = "page", "robots", "tdmrep", "license"

#: The columns of pages.
PAGES = pa.schema([
    pa.field("url", pa.string()),
    pa.field("origin", pa.string()),
    pa.field("crawl", pa.string()),
    pa.field("fetched", pa.timestamp("us", tz="UTC")),
    pa.field("status", pa.int32()),
    pa.field("archive", pa.string()),
    pa.field("archive_offset", pa.int64()),
    pa.field(INPUT, pa.string()),
])  # fmt: skip
#: What the first pass writes of pages and files. ``record`` is the number of a record in its
#: archive. Its ``body``, what a page states or the content of a file, is in pieces, each in a row:
#: DuckDB has thousands of rows in memory, and each may be long.
READ = pa.schema([
    *PAGES,
    pa.field("record", pa.int64()),
    pa.field("kind", pa.string()),
    pa.field("class", pa.string()),
    pa.field("location", pa.string()),
    pa.field("charset", pa.string()),
    pa.field("piece", pa.int32()),
    pa.field("body", pa.binary()),
])  # fmt: skip
#: The size of a piece in bytes. Most files are not larger.
_PIECE = 2 << 10

_HTML_TYPES = ("text/html", "application/xhtml+xml")
_NAMES = frozenset(name.encode() for name in NAMES)
_UNREAD = "page: its body is cut or cannot be decoded"


class Page(NamedTuple):
    """A page as it was served: the headers that are read, and the HTML, if it can be decoded."""

    headers: list[tuple[str, str]]
    html: bytes | None
    charset: str | None
    unread: str


class _Found(NamedTuple):
    kind: str
    record: warc.Record
    page: Page | None


def read_pages(source: Input, _columns: Columns, bad: BadRecords) -> Iterator[Batch]:
    """Yield pages and the files of sites in an archive, for `to_table`."""
    with open(source.file, "rb") as file:
        found: list[_Found] = []
        size = count = 0
        for each in _records(file, source.path, bad):
            found.append(each)
            size += len(each.record.body)
            if len(found) == ROWS or size >= BYTES:
                yield _to_batch(found, source, count)
                count += len(found)
                found, size = [], 0
        if found:
            yield _to_batch(found, source, count)


def _records(file: BinaryIO, path: str, bad: BadRecords) -> Iterator[_Found]:
    for each in warc.responses(file, path, bad.noted):
        found = each if isinstance(each, BadRecord) else _read(*each)
        if isinstance(found, BadRecord):
            bad.add(f"at byte {found.offset}: {found.why}")
        elif found is not None:
            yield found


def _read(raw: RawRecord, crawl: str | None) -> _Found | BadRecord | None:
    """Return a page or a file of a site; None if a record is neither."""
    kind = _kind_of(raw)
    if kind is None and raw.url and raw.status is not None:
        return None
    record = warc.record_of(raw, crawl, *_LIMITS[kind or PAGE])
    if kind is None or not isinstance(record, warc.Record):
        return record if isinstance(record, BadRecord) else None
    if kind == TDMREP and record.url != f"{record.origin}{TDMREP_PATH}":
        return None
    if kind != PAGE:
        return _Found(kind, record, None)
    if not record.content_type and not is_page(record.body):
        return None
    is_read = record.is_whole is not False
    page = Page(
        [
            (name.decode(), value.decode("utf-8", "surrogateescape"))
            for name, value in ((name.lower(), value) for name, value in raw.fields)
            if name in _NAMES
        ],
        record.body if is_read else None,
        record.charset,
        "" if is_read else _UNREAD,
    )
    return _Found(PAGE, record, page)


#: Bytes of bodies that are kept, and those without which a body is not whole.
_LIMITS = {
    PAGE: (MAX_HTML + 1, MAX_HTML),
    ROBOTS: (MAX_BYTES + 1, MAX_BYTES),
    TDMREP: (MAX_DOCUMENT + 1, MAX_DOCUMENT),
    LICENSE: (MAX_DOCUMENT + 1, MAX_DOCUMENT),
}


def _kind_of(raw: RawRecord) -> str | None:
    target = re.split("[?#>]", raw.url or "", maxsplit=1)[0]
    if target.endswith("/robots.txt"):
        return ROBOTS
    if target.endswith(TDMREP_PATH):
        return TDMREP
    if raw.status is None or not wants_body(raw.status):
        return None
    # Some servers send the header twice.
    media_type = media_type_of(raw.headers.get("content-type", "").partition(",")[0])
    if media_type == RSL_TYPE:
        return LICENSE
    return PAGE if media_type in _HTML_TYPES or not media_type else None


def _to_batch(found: list[_Found], source: Input, first: int) -> Batch:
    """Return pages and files as a batch; ``first`` is the number of the first record."""
    archive = os.path.basename(source.path)
    rows = [
        (
            each.url, each.origin, each.crawl, each.fetched, each.status, archive, each.offset,
            source.path, number, kind, each.fetch_class.value, each.location, each.charset,
        )
        for number, (kind, each, _) in enumerate(found, first)
    ]  # fmt: skip
    fields = list(READ)[:-2]
    passthrough = pa.RecordBatch.from_arrays(
        [
            pa.array([storable_value(value) for value in column], field.type)
            for column, field in zip(zip(*rows, strict=True), fields, strict=True)
        ],
        schema=pa.schema(fields),
    )
    return Batch(
        passthrough=passthrough,
        position=found[-1].record.offset,
        pages=[
            page or (each.body if each.fetch_class in WITH_BODY else None)
            for _, each, page in found
        ],
    )


def to_table(batch: Batch, crawlers: Sequence[str]) -> Any:
    """Return a batch as a table with the columns `READ`: what pages state is read."""
    times = batch.passthrough.column("fetched").to_pylist()
    rows, pieces, bodies = [], [], []
    for row, (found, fetched) in enumerate(zip(batch.pages or (), times, strict=True)):
        body = _stated(found, fetched, crawlers) if isinstance(found, Page) else found
        for start in range(0, max(len(body or b""), 1), _PIECE):
            rows.append(row)
            pieces.append(start // _PIECE)
            bodies.append(None if body is None else body[start : start + _PIECE])
    columns = batch.passthrough.take(pa.array(rows, pa.int64())).columns
    more = [pa.array(pieces, pa.int32()), pa.array(bodies, pa.binary())]
    return pa.table([*columns, *more], schema=READ)


def _stated(page: Page, fetched: datetime | None, crawlers: Sequence[str]) -> bytes | None:
    found = reading_of(page.headers, page.html, page.charset, fetched, crawlers)
    found.unread += [page.unread] if page.unread else []
    return to_bytes(found)
