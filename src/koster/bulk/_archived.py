"""The columns of archives. None is a word that SQL reserves, or a field of an answer."""

from __future__ import annotations

from ._arrow import pa

#: The columns of an archive's records that are copied to the answers.
ARCHIVED = pa.schema([
    pa.field("url", pa.string()),
    pa.field("origin", pa.string()),
    pa.field("crawl", pa.string()),
    pa.field("fetched", pa.timestamp("us", tz="UTC")),
    pa.field("status", pa.int32()),
    pa.field("class", pa.string()),
    pa.field("location", pa.string()),
    pa.field("content_type", pa.string()),
    pa.field("charset", pa.string()),
    pa.field("whole", pa.bool_()),
    pa.field("body_bytes", pa.int64()),
    pa.field("archive", pa.string()),
    pa.field("archive_offset", pa.int64()),
])  # fmt: skip

#: The columns of `koster.bulk.spark.archives`.
FETCHED = pa.schema([
    *ARCHIVED,
    pa.field("body", pa.binary()),
    pa.field("error", pa.string()),
    pa.field("error_kind", pa.string()),
])  # fmt: skip

#: Those of `ARCHIVED` whose values rarely repeat.
DISTINCT = frozenset({"url", "origin", "body_bytes", "archive_offset"})
