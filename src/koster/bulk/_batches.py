"""What all inputs of ``koster bulk`` become: batches of records, of bounded size."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..errors import KosterError
from ._arrow import pa

#: Bad records that are listed; more are counted.
MAX_LISTED = 100


class WrongColumnsError(KosterError, ValueError):
    """A table does not have the columns that are asked for, or not of the type."""


@dataclass(frozen=True, slots=True)
class Input:
    """A file to be read: ``kind`` is warc, parquet, json or csv; ``size`` in bytes."""

    path: str
    kind: str
    size: int
    modified: int


@dataclass(frozen=True, slots=True)
class Columns:
    """What the columns of a table are called: None where they are to be found."""

    body: str | None = None
    url: str | None = None
    agent: str | None = None


@dataclass(slots=True)
class Batch:
    """Some records: ``kept`` is what of them stays beside the answers.

    ``classes`` are those of the fetches where the input is an archive; ``bodies`` are as crawlers
    read them, ``served`` as they were. ``place`` says how far the input is read, in bytes. Where
    bodies were cut, ``sizes`` are those that they had.
    """

    kept: Any
    bodies: Any
    served: Any
    urls: Any | None
    agents: Any | None
    classes: Any | None
    place: int
    sizes: Any | None = None


@dataclass(slots=True)
class BadRecords:
    """The records of an input that could not be read: how many, and the first of them."""

    count: int = 0
    listed: list[str] = field(default_factory=list)

    def add(self, what: str) -> None:
        """Add a bad record."""
        self.count += 1
        if len(self.listed) < MAX_LISTED:
            self.listed.append(what)


#: What stays of a record of an archive.
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
    pa.field("bytes", pa.int64()),
    pa.field("archive", pa.string()),
    pa.field("offset", pa.int64()),
])  # fmt: skip
