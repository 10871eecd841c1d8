"""The cases in tests/cases, and the conformance data."""

from __future__ import annotations

import csv
import gzip
import io
import os
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TypeVar

import koster
from tools.suite import source
from tools.suite.source import Entry

HERE = Path(__file__).parent.parent
ROOT = HERE.parent

#: Set by `make test-all`: test all real files and cases instead of a sample, with more random
#: examples, which are new in each run. Modules that import it run again there; so do tests with the fixture `conformance_data`.
EVERYTHING = os.environ.get("KOSTER_TEST_EVERYTHING") == "1"
#: `make nightly` leaves nothing out.
NIGHTLY = os.environ.get("KOSTER_TEST_NIGHTLY") == "1"


T = TypeVar("T")


def sampled(items: Sequence[T], one_in: int) -> Sequence[T]:
    """Return one in so many items, or all with EVERYTHING."""
    return items if EVERYTHING else items[::one_in]


def of_today(items: Sequence[T]) -> Sequence[T]:
    """Return all items; with EVERYTHING a third, another one each day: for tests that take long."""
    if NIGHTLY or not EVERYTHING:
        return items
    return items[datetime.now(UTC).toordinal() % 3 :: 3]


@dataclass(frozen=True)
class Case:
    """A robots.txt, an agent, and the expected verdicts; see `tools.suite.source`."""

    entry: Entry
    dialect: koster.Dialect

    @property
    def body(self) -> bytes:
        return self.entry.body

    @property
    def agent(self) -> str | tuple[str, ...]:
        return self.entry.agent

    @property
    def expected(self) -> dict[str, bool]:
        return self.entry.expected

    @property
    def lines(self) -> dict[str, int]:
        return self.entry.lines

    @property
    def reason(self) -> str | None:
        return self.entry.reason

    @property
    def varies(self) -> bool:
        return self.entry.varies

    def __str__(self) -> str:
        return f"{self.dialect.name}: {self.entry.id}"


@cache
def all_cases() -> tuple[Case, ...]:
    return tuple(Case(entry, koster.DIALECTS[entry.dialect]) for entry in source.entries())


def conformance() -> Path | None:
    """Return the folder with real files and the verdicts of other parsers, or None if missing."""
    configured = os.environ.get("KOSTER_CONFORMANCE")
    path = Path(configured) if configured else ROOT.parent / "shared" / "conformance"
    return path if path.is_dir() else None


def verdicts(name: str) -> list[dict[str, str]]:
    """Return the rows of a table of verdicts for the files of `bodies`."""
    folder = conformance()
    assert folder is not None
    with gzip.open(folder / name, "rt", encoding="utf-8", newline="\n") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [row for row in rows if is_sampled(row["site"])]


def bodies(name: str) -> dict[str, bytes]:
    """Return the files of a table of verdicts by site; see `is_sampled`."""
    folder = conformance()
    assert folder is not None
    if name == "verdicts.tsv.gz":
        with zipfile.ZipFile(io.BytesIO((folder / "robots-top-sites.zip").read_bytes())) as archive:
            files = {each.removesuffix(".txt"): each for each in archive.namelist()}
            return {site: archive.read(each) for site, each in files.items() if is_sampled(site)}
    paths = (folder / "modern").glob("*.txt")
    return {path.stem: path.read_bytes() for path in paths if is_sampled(path.stem)}


def is_sampled(site: str) -> bool:
    """Return whether a real file is tested: one in 20, or all with EVERYTHING."""
    return EVERYTHING or zlib.crc32(site.encode("utf-8")) % 20 == 0
