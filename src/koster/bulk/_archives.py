"""Archives as batches of fetches."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .._charsets import as_utf8
from . import warc
from ._arrow import pa
from ._batches import ARCHIVED, Batch
from ._parquet import BYTES, ROWS
from .warc import BadRecord, FetchClass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ._batches import BadRecords, Columns, Input


def read_archive(given: Input, _columns: Columns, bad: BadRecords) -> Iterator[Batch]:
    """Go through the fetches in an archive."""
    return fetched(warc.records(given.path), os.path.basename(given.path), bad)


def fetched(
    found: Iterable[warc.Record | BadRecord], name: str, bad: BadRecords
) -> Iterator[Batch]:
    """Go through what was found in an archive, as batches."""
    fetches: list[warc.Record] = []
    total = 0
    for each in found:
        if isinstance(each, BadRecord):
            bad.add(f"at byte {each.offset}: {each.why}")
            continue
        fetches.append(each)
        total += len(each.body)
        if len(fetches) == ROWS or total >= BYTES:
            yield _of_fetches(fetches, name)
            fetches = []
            total = 0
    if fetches:
        yield _of_fetches(fetches, name)


#: The classes of fetches that have a body to be read.
_WITH_BODY = (FetchClass.OK, FetchClass.WRONG_TYPE)


def _of_fetches(fetches: list[warc.Record], name: str) -> Batch:
    rows = [
        (
            each.url, each.origin, each.crawl, each.fetched, each.status, each.fetch_class.value,
            each.location, each.content_type, each.charset, len(each.body), name, each.offset,
        )
        for each in fetches
    ]  # fmt: skip
    kept = pa.RecordBatch.from_arrays(
        [
            pa.array([_storable(value) for value in column], field.type)
            for column, field in zip(zip(*rows, strict=True), ARCHIVED, strict=True)
        ],
        schema=ARCHIVED,
    )
    served = [each.body if each.fetch_class in _WITH_BODY else None for each in fetches]
    read = [
        None if body is None else as_utf8(body, each.charset, each.is_whole)[0]
        for body, each in zip(served, fetches, strict=True)
    ]
    return Batch(
        kept=kept,
        bodies=pa.array(read, pa.large_binary()),
        served=pa.array(served, pa.large_binary()),
        urls=None,
        agents=None,
        classes=kept.column("class"),
        place=fetches[-1].offset,
    )


def _storable(value: Any) -> Any:
    """Return text of headers as Arrow takes it: without lone surrogates."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return value
