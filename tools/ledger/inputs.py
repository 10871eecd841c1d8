"""The files that are asked about, by name, with questions.

``site/NAME`` and ``modern/NAME`` are real files, ``google/NUMBER`` questions of Google's own tests:
they are not in this repository (see `folder`). ``suite/ID`` are the cases in ``tests/cases``.
"""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
import os
import zipfile
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.suite import source

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Agent = str | tuple[str, ...]

_TABLES = {"site": "verdicts.tsv.gz", "modern": "modern-verdicts.tsv.gz"}
#: Longer files are in the suite; no real one is.
_LONG = 200_000
_REAL = ("site/", "modern/", "google/")


@dataclass(frozen=True)
class File:
    """A file, and who asks about which URLs."""

    body: bytes
    questions: tuple[tuple[Agent, str], ...]

    @property
    def labels(self) -> list[str]:
        """The questions as text."""
        return [f"{agent_text(agent)} {url}" for agent, url in self.questions]

    @property
    def agents(self) -> list[Agent]:
        """The agents that ask, once each."""
        return list(dict.fromkeys(agent for agent, _ in self.questions))


def agent_text(agent: Agent) -> str:
    return agent if isinstance(agent, str) else ", ".join(agent)


def folder() -> Path | None:
    """Return the folder of real files, or None if it is missing."""
    configured = os.environ.get("KOSTER_CONFORMANCE")
    path = Path(configured) if configured else source.ROOT.parent / "shared" / "conformance"
    return path if path.is_dir() else None


def is_real(name: str) -> bool:
    """Return whether a file is in the folder of real files."""
    return name.startswith(_REAL)


def all_files() -> list[str]:
    """Return all files."""
    return list(_files())


def is_sampled(name: str, share: int) -> bool:
    """Return whether a file is one in ``share``: always the same ones."""
    return zlib.crc32(name.encode("utf-8")) % share == 0


def usual_files() -> list[str]:
    """Return the files that are not so long that tools need seconds for them."""
    return [name for name, each in _files().items() if len(each.body) < _LONG]


def file(name: str) -> File:
    """Return a file."""
    return _files()[name]


def body(name: str) -> bytes:
    return _files()[name].body


@cache
def _files() -> dict[str, File]:
    found = dict(_suite())
    path = folder()
    if path is not None:
        for kind, table in _TABLES.items():
            found |= _real(path, kind, table)
        found |= _google(path)
    return dict(sorted(found.items()))


def _suite() -> Iterable[tuple[str, File]]:
    for case in source.entries():
        agent = case.agent if isinstance(case.agent, str) else tuple(case.agent)
        yield f"suite/{case.id}", File(case.body, tuple((agent, url) for url in case.expected))


def _real(path: Path, kind: str, table: str) -> dict[str, File]:
    asked: dict[str, list[tuple[Agent, str]]] = {}
    with gzip.open(path / table, "rt", encoding="utf-8", newline="\n") as rows:
        for row in csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE):
            asked.setdefault(row["site"], []).append((row["agent"], row["url"]))
    bodies = _bodies(path, kind)
    return {f"{kind}/{site}": File(bodies[site], tuple(some)) for site, some in asked.items()}


def _bodies(path: Path, kind: str) -> dict[str, bytes]:
    if kind == "modern":
        return {each.stem: each.read_bytes() for each in (path / kind).glob("*.txt")}
    with zipfile.ZipFile(io.BytesIO((path / "robots-top-sites.zip").read_bytes())) as archive:
        return {each.removesuffix(".txt"): archive.read(each) for each in archive.namelist()}


def _google(path: Path) -> dict[str, File]:
    cases: Sequence[dict[str, Any]] = json.loads(
        gzip.decompress((path / "google-cases.json.gz").read_bytes())
    )
    return {
        f"google/{number:03}": File(
            base64.b64decode(case["robots"]), ((case["agent"], case["url"]),)
        )
        for number, case in enumerate(cases)
    }
