"""Batches of records, of bounded size: what ``koster bulk`` reads from every input."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from ..errors import KosterError

#: The column of answers that names the input of a row.
INPUT = "input"

#: What a report says about records of archives that are not errors: how many, and what it means.
NOTES = {
    "unread": ("response", " whose body is cut or cannot be decoded: unreachable"),
    "decoded": ("response", " stored without the declared coding: read, but perhaps cut"),
    "revisit": ("revisit record", ": the body is in an earlier crawl"),
    "resource": ("resource record", ": a file without the HTTP response, so without a status"),
}

#: Bad records of an input that are listed; the rest are only counted.
MAX_LISTED = 100


class WrongColumnsError(KosterError, ValueError):
    """A table lacks a column, or a column has the wrong type."""


@dataclass(frozen=True, slots=True)
class Input:
    """A file or URL to read: ``kind`` is warc, parquet, json or csv; ``size`` in bytes.

    ``local`` is the file that a URL was downloaded to. Size and time of URLs are unknown, and 0.
    """

    path: str
    kind: str
    size: int
    modified: int
    local: str | None = None

    @property
    def file(self) -> str:
        """The path of the file to open."""
        return self.local or self.path


@dataclass(frozen=True, slots=True)
class Columns:
    """The names of a table's columns; None stands for the default names.

    ``url`` and ``agent`` are for `koster.bulk.decide`; ``crawl`` and ``time`` are for a report: the
    crawl of each row, and when it was fetched. ``delimiter`` is the character between the cells of
    CSV; None is a tab in files named .tsv, else a comma.
    """

    body: str | None = None
    url: str | None = None
    agent: str | None = None
    crawl: str | None = None
    time: str | None = None
    delimiter: str | None = None


@dataclass(slots=True)
class Batch:
    """Some records of an input.

    Attributes:
        passthrough: The columns that are copied to the answers.
        position: How far the input is read, in bytes.
        bodies: The robots.txt files, as crawlers read them.
        served: The robots.txt files, as they were served.
        urls: The column of URLs, if there is one.
        agents: The column of agents, if there is one.
        classes: The fetch classes, if the input is an archive.
        sizes: The original sizes in bytes, if bodies were cut.
        pages: For the signals of pages, a value for each record; then there are no bodies.
    """

    passthrough: Any
    position: int
    bodies: Any = None
    served: Any = None
    urls: Any | None = None
    agents: Any | None = None
    classes: Any | None = None
    sizes: Any | None = None
    pages: list[Any] | None = None


@dataclass(slots=True)
class BadRecords:
    """The records of an input that could not be read: how many, and the errors of the first.

    ``rows`` is the number of rows of a table that have been read. ``noted`` counts what is not an
    error, but a report should say: see `NOTES`.
    """

    count: int = 0
    rows: int = 0
    noted: Counter[str] = field(default_factory=Counter)
    listed: list[str] = field(default_factory=list)

    def add(self, error: str) -> None:
        self.count += 1
        if len(self.listed) < MAX_LISTED:
            self.listed.append(error)
