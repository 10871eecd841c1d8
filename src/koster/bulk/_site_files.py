"""The second pass of ``koster bulk signals``: pages, and the files of their sites at that time.

Reads what `_site_order` has sorted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import IO, Any, NamedTuple

import pyarrow.parquet as pq

from .._charsets import MAX_BYTES, complete_lines, to_utf8
from ..access import wants_body
from ..dialects import Decoding, Dialect
from ..robots import RobotsTxt, parse
from ..signals._uses import MISSING, TDMREP_PATH
from . import _parquet
from ._arrow import pa, pc
from ._batches import BadRecords, Batch, Columns, Input
from ._page_archives import PAGE, PAGES, ROBOTS, TDMREP
from .warc import FetchClass

#: The columns of the answers of ``koster bulk signals``, before the signals.
ANSWERED_PAGES = pa.schema([
    *PAGES,
    pa.field("robots_fetched", PAGES.field("fetched").type),
    pa.field("robots_status", pa.int32()),
])  # fmt: skip

#: The most redirects that are followed (RFC 9309 §2.3.1.2), and licenses that are kept of a site.
MAX_HOPS = 5
_MAX_LICENSES = 20


@dataclass(eq=False)
class RobotsFile:
    """A fetch of a robots.txt: its body, if there is one, and what could not be read."""

    body: bytes = b""
    charset: str | None = None
    fetched: datetime | None = None
    status: int | None = None
    unread: str = "robots.txt: not in the archives"
    _parsed: RobotsTxt | None = None

    def parsed(self, dialect: Dialect) -> RobotsTxt:
        """Return it as crawlers read it, always in the same dialect; empty without a body."""
        if self._parsed is None:
            body = complete_lines(self.body)
            if dialect.decoding is not Decoding.NONE:
                body, _ = to_utf8(self.body, self.charset, is_whole=True)
            self._parsed = parse(body, dialect)
        return self._parsed


class SiteFiles(NamedTuple):
    """The files of a site in a crawl that count at a moment."""

    origin: str
    crawl: str | None
    robots: RobotsFile
    tdmrep: bytes | None = None
    tdmrep_unread: str = ""
    #: By their URLs; None: it could not be read.
    licenses: Mapping[str, bytes | None] = MappingProxyType({})

    def with_file(self, row: dict[str, Any]) -> SiteFiles:
        """Return the files after another one was fetched."""
        if row["kind"] == ROBOTS:
            return self._replace(robots=_robots_of(row))
        if row["kind"] == TDMREP:
            is_read = row["body"] is not None or row["status"] in MISSING
            unread = "" if is_read else f"{TDMREP_PATH}: {_why(row)}"
            return self._replace(tdmrep=row["body"], tdmrep_unread=unread)
        licenses = {**self.licenses, row["url"]: row["body"]}
        return self._replace(licenses=dict([*licenses.items()][-_MAX_LICENSES:]))


def _robots_of(row: dict[str, Any]) -> RobotsFile:
    body = row["body"] or b""
    unread = ""
    if row["body"] is None and row["status"] not in MISSING:
        unread = f"robots.txt: {_why(row)}"
    elif len(body) > MAX_BYTES:
        unread = f"robots.txt: only its first {MAX_BYTES >> 10} KiB are read"
    return RobotsFile(body, row["charset"], row["fetched"], row["status"], unread)


def _why(row: dict[str, Any]) -> str:
    """Return why a file without a body could not be read."""
    if row["class"] == FetchClass.REDIRECT:
        is_loop = row["hops"] == MAX_HOPS
        why = "too many redirects" if is_loop else "which is not archived as a robots.txt"
        return f"redirects to {row['location']}, {why}"
    if wants_body(row["status"]):
        return "its body is cut or cannot be decoded"
    return f"status {row['status']}"


def read_part(source: Input, _columns: Columns, _bad: BadRecords) -> Iterator[Batch]:
    """Yield the pages of a part, each with the files of its site, and what it states."""
    part = int(source.path.rpartition("-")[2])
    site = SiteFiles("", None, RobotsFile())
    found: list[tuple[dict[str, Any], SiteFiles]] = []
    size = 0
    with open(source.file, "rb") as file:
        groups = _groups_of(pq.read_metadata(file), part)
        for row in _joined(_rows(file, source.path, groups, part)):
            if (row["origin"], row["crawl"]) != site[:2]:
                site = SiteFiles(row["origin"], row["crawl"], RobotsFile())
            size += len(row["body"] or b"")
            if row["kind"] == PAGE:
                found.append((row, site))
            else:
                site = site.with_file(row)
            if len(found) == _parquet.ROWS or size >= _parquet.BYTES:
                if found:
                    yield _to_batch(found)
                found, size = [], 0
        if found:
            yield _to_batch(found)


def _rows(file: IO[bytes], path: str, groups: list[int], part: int) -> Iterator[dict[str, Any]]:
    for rows, _ in _parquet.batches(file, path, groups):
        yield from rows.filter(pc.equal(rows.column("part"), part)).to_pylist()


def _joined(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield rows with whole bodies, which are in pieces."""
    whole: dict[str, Any] | None = None
    for row in rows:
        if whole is not None and row["piece"]:
            whole["body"] += row["body"]
            continue
        if whole is not None:
            yield whole
        whole = row
    if whole is not None:
        yield whole


def _groups_of(metadata: Any, part: int) -> list[int]:
    """Return the row groups that have rows of a part."""
    column = metadata.schema.names.index("part")
    found = []
    for number in range(metadata.num_row_groups):
        values = metadata.row_group(number).column(column).statistics
        if values.min <= part <= values.max:
            found.append(number)
    return found


def _to_batch(found: list[tuple[dict[str, Any], SiteFiles]]) -> Batch:
    columns = [pa.array([row[field.name] for row, _ in found], field.type) for field in PAGES]
    files = [site.robots for _, site in found]
    columns.append(pa.array([each.fetched for each in files], PAGES.field("fetched").type))
    columns.append(pa.array([each.status for each in files], pa.int32()))
    return Batch(
        passthrough=pa.RecordBatch.from_arrays(columns, schema=ANSWERED_PAGES),
        position=0,
        pages=[(site, row["body"]) for row, site in found],
    )
