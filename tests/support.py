"""The cases in tests/cases, and the conformance data."""

from __future__ import annotations

import csv
import gzip
import io
import os
import tomllib
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import koster

HERE = Path(__file__).parent
ROOT = HERE.parent

#: Set by `make test-all`: test all real files instead of a sample, with new random examples in
#: each run.
EVERYTHING = os.environ.get("KOSTER_TEST_EVERYTHING") == "1"


@dataclass(frozen=True)
class Case:
    """A robots.txt, an agent, and the expected verdicts."""

    name: str
    source: str
    dialect: koster.Dialect
    body: bytes
    agent: str | tuple[str, ...]
    allowed: tuple[str, ...] = ()
    disallowed: tuple[str, ...] = ()
    lines: dict[str, int] = field(default_factory=dict)
    reason: str | None = None
    varies: bool = True

    @property
    def expected(self) -> dict[str, bool]:
        return dict.fromkeys(self.allowed, True) | dict.fromkeys(self.disallowed, False)

    def __str__(self) -> str:
        return f"{self.dialect.name}: {self.name}"


def _case(entry: dict[str, Any], default: str | None) -> Case:
    known = {
        *("name", "source", "dialect", "robots", "robots_latin1", "agent", "allowed"),
        *("disallowed", "lines", "reason", "variants"),
    }
    assert entry.keys() <= known, entry.keys() - known
    agent = entry.get("agent", "FooBot")
    if "robots" in entry:
        body = entry["robots"].encode()
    else:
        body = entry["robots_latin1"].encode("latin-1")
    return Case(
        name=entry["name"],
        source=entry["source"],
        dialect=koster.DIALECTS[entry.get("dialect", default)],
        body=body,
        agent=agent if isinstance(agent, str) else tuple(agent),
        allowed=tuple(entry.get("allowed", ())),
        disallowed=tuple(entry.get("disallowed", ())),
        lines=entry.get("lines", {}),
        reason=entry.get("reason"),
        varies=entry.get("variants", "all") == "all",
    )


def all_cases() -> list[Case]:
    cases = []
    for path in sorted((HERE / "cases").glob("*.toml")):
        content = tomllib.loads(path.read_text("utf-8"))
        cases += [_case(entry, content.get("dialect")) for entry in content["case"]]
    return cases


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
