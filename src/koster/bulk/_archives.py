"""Archives as batches of fetches."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .._charsets import to_utf8
from . import warc
from ._arrow import pa
from ._batches import ARCHIVED, Batch
from ._parquet import BYTES, ROWS
from .warc import BadRecord, FetchClass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ._batches import BadRecords, Columns, Input


def read_archive(source: Input, _columns: Columns, bad: BadRecords) -> Iterator[Batch]:
    """Yield the batches of an archive."""
    return batches_of(warc.records(source.path), os.path.basename(source.path), bad)


def batches_of(
    records: Iterable[warc.Record | BadRecord], name: str, bad: BadRecords
) -> Iterator[Batch]:
    """Yield the records of the archive ``name`` as batches."""
    fetches: list[warc.Record] = []
    total = 0
    for each in records:
        if isinstance(each, BadRecord):
            bad.add(f"at byte {each.offset}: {each.why}")
            continue
        fetches.append(each)
        total += len(each.body)
        if len(fetches) == ROWS or total >= BYTES:
            yield _to_batch(fetches, name)
            fetches = []
            total = 0
    if fetches:
        yield _to_batch(fetches, name)


#: The fetch classes with a body to parse.
_WITH_BODY = (FetchClass.OK, FetchClass.WRONG_TYPE)


def _to_batch(fetches: list[warc.Record], name: str) -> Batch:
    rows = [
        (
            each.url, each.origin, each.crawl, each.fetched, each.status, each.fetch_class.value,
            each.location, each.content_type, each.charset, len(each.body), name, each.offset,
        )
        for each in fetches
    ]  # fmt: skip
    passthrough = pa.RecordBatch.from_arrays(
        [
            pa.array([_without_surrogates(value) for value in column], field.type)
            for column, field in zip(zip(*rows, strict=True), ARCHIVED, strict=True)
        ],
        schema=ARCHIVED,
    )
    served = [each.body if each.fetch_class in _WITH_BODY else None for each in fetches]
    bodies = [
        None if body is None else to_utf8(body, each.charset, each.is_whole)[0]
        for body, each in zip(served, fetches, strict=True)
    ]
    return Batch(
        passthrough=passthrough,
        bodies=pa.array(bodies, pa.large_binary()),
        served=pa.array(served, pa.large_binary()),
        urls=None,
        agents=None,
        classes=passthrough.column("class"),
        position=fetches[-1].offset,
    )


def _without_surrogates(value: Any) -> Any:
    """Return text with U+FFFD for lone surrogates, which Arrow rejects; other values unchanged."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return value
