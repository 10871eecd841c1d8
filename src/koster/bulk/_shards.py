"""The folder of answers: a shard for each input, with the question and errors as metadata.

Imports Arrow only to read shards, so that worker processes of a new run start before that.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .._json import parse_json
from .._version import VERSION
from ..errors import KosterError, UnreadableError
from ._batches import Columns, Input
from ._inputs import MARKER, identity

#: The key of a shard's Parquet metadata.
KEY = b"koster.bulk"


class ForeignFolderError(KosterError, ValueError):
    """The folder for the answers contains something else."""


@dataclass(frozen=True, slots=True)
class Question:
    """The question about every robots.txt.

    Attributes:
        kind: ``classify``, ``decide``, ``facts`` or ``signals``.
        agents: The agents; for ``decide``, if there are any, in place of the column of agents; for
            ``signals``, those besides everybody.
        urls: For ``decide``: URLs or paths to decide for every site, in place of the column.
        dialect: The name of one of `koster.DIALECTS`.
        columns: The names of the columns of tables.
    """

    kind: str
    agents: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    dialect: str = "RFC9309"
    columns: Columns = field(default_factory=Columns)

    def record(self) -> dict[str, Any]:
        """Return the question as JSON values."""
        return json.loads(json.dumps(asdict(self)))  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Task:
    """An input, the question about it, and the path of the shard for the answers.

    ``pause``: seconds before the input is downloaded, if it is at a URL.
    """

    number: int
    input: Input
    shard: str
    question: Question
    pause: float = 0.0


@dataclass(frozen=True, slots=True)
class ShardReport:
    """The result for an input.

    ``why`` says why it has no shard; ``bad`` is the number of records that could not be read, and
    ``listed`` has the errors of the first. ``noted`` counts what `_batches.NOTES` explains.
    ``is_new``: this run wrote the shard.
    """

    input: str
    shard: str | None
    rows: int = 0
    bad: int = 0
    listed: tuple[str, ...] = ()
    why: str | None = None
    is_new: bool = True
    noted: dict[str, int] = field(default_factory=dict)


def shard_name(source: Input) -> str:
    """Return the name of an input's shard: the input's name, and a hash of its path."""
    path = identity(source.path)
    stem = re.sub(r"[^A-Za-z0-9.-]+", "_", os.path.basename(path)).strip("._")[:80]
    return f"{stem or 'input'}-{hashlib.sha256(os.fsencode(path)).hexdigest()[:10]}.parquet"


def _metadata_of(path: Path) -> dict[str, Any] | None:
    """Return the metadata of a shard; None if the file is not a shard."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        with path.open("rb") as file:
            metadata = pq.read_metadata(file).metadata or {}
        found = parse_json(metadata[KEY])
    except (OSError, pa.ArrowException, KeyError, ValueError):
        return None
    keys = {"version", "question", "input", "rows", "bad", "listed"}
    if not isinstance(found, dict) or not keys <= found.keys():
        return None
    question = found["question"]
    if not isinstance(question, dict) or not isinstance(question.get("columns"), dict):
        return None
    # Shards of earlier versions name fewer columns.
    question["columns"] = asdict(Columns()) | question["columns"]
    return found


#: The name of a shard until it is complete.
_PART = re.compile(r"\..+-[0-9a-f]{10}\.parquet\.\d+(?:\.download)?\.part")


def remove_parts(folder: Path) -> None:
    """Remove the incomplete shards of killed processes."""
    for path in folder.glob(".*.part"):
        if _PART.fullmatch(path.name):
            path.unlink(missing_ok=True)


def check_folder(folder: Path, question: Question) -> None:
    """Check that a folder contains only shards of this question.

    Raises:
        ForeignFolderError: it contains something else.
    """
    expected = question.record()
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        metadata = _metadata_of(path) if path.suffix == ".parquet" else None
        if metadata is None:
            raise ForeignFolderError(
                f"{folder}: contains {path.name}, which is not a shard; choose another folder"
            )
        if metadata["question"] != expected:
            raise ForeignFolderError(
                f"{folder}: has answers to another question ({path.name}); choose another folder, "
                "or remove this one"
            )


def existing_shard(source: Input, shard: Path) -> ShardReport | None:
    """Return the report of a shard from an earlier run; None if the input has changed since."""
    if not shard.exists():
        return None
    found = _metadata_of(shard)
    if found is None or found["input"] != identity_of(source) or found["version"] != VERSION:
        return None
    rows, bad, listed = found["rows"], found["bad"], tuple(found["listed"])
    # Shards of earlier versions count nothing.
    noted = found.get("noted", {})
    return ShardReport(source.path, str(shard), rows, bad, listed, is_new=False, noted=noted)


def identity_of(source: Input) -> dict[str, Any]:
    return {"path": identity(source.path), "size": source.size, "modified": source.modified}


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder against other runs; create it if it is missing.

    Raises:
        UnreadableError: it cannot be written to, or another run has locked it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / MARKER, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise UnreadableError(f"{folder}: {error.strerror}") from error
    try:
        _lock(handle, folder)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, folder: Path) -> None:
    """Lock a file until it is closed, or the process ends.

    Raises:
        UnreadableError: another process has locked it.
    """
    try:
        import fcntl  # noqa: PLC0415 - missing on Windows
    except ImportError:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise UnreadableError(f"{folder}: another run is writing there") from error


def question_of(folder: str | os.PathLike[str]) -> str | None:
    """Return the kind of the question that a folder answers; None if another engine wrote it."""
    paths = (path for path in Path(folder).glob("*.parquet") if path.name[0] != ".")
    metadata = next(filter(None, map(_metadata_of, paths)), None)
    return None if metadata is None else str(metadata["question"]["kind"])


def read_shards(folder: str | os.PathLike[str]) -> list[tuple[str, dict[str, Any]]]:
    """Return the shards of a folder, each with its metadata.

    Raises:
        UnreadableError: the folder is missing, or has no shards.
    """
    target = Path(folder)
    if target.is_file():
        paths = [target]
    elif target.is_dir():
        paths = sorted(path for path in target.glob("*.parquet") if path.name[0] != ".")
    else:
        raise UnreadableError(f"{folder}: No such file or directory")
    found = [
        (str(path), metadata) for path in paths if (metadata := _metadata_of(path)) is not None
    ]
    if not found:
        raise UnreadableError(f"{folder}: has no shards of koster bulk")
    return found
