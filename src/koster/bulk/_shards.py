"""The folder of answers: a shard for each input, which says itself what it answers."""

from __future__ import annotations

import hashlib
import json
import os
import re
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from .._version import VERSION
from ..errors import KosterError, UnreadableError
from ._arrow import pa
from ._batches import Columns
from ._inputs import MARKER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._batches import Input

#: The key of Parquet's metadata under which a shard says what it is.
KEY = b"koster.bulk"

#: Rows, and bytes of answers, that are written together.
_GROUP_ROWS = 16_384
_GROUP_BYTES = 16 * 1024 * 1024


class ForeignFolderError(KosterError, ValueError):
    """The folder for the answers has something else in it."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked about every robots.txt.

    Attributes:
        kind: ``classify``, ``decide`` or ``facts``.
        agents: Who asks; of ``decide``, if there are any, in place of the column of agents.
        urls: Of ``decide``: URLs, or paths, that are asked of every site, in place of the column.
        dialect: The name of one of `koster.DIALECTS`.
        columns: What the columns of tables are called.
    """

    kind: str
    agents: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    dialect: str = "RFC9309"
    columns: Columns = field(default_factory=Columns)

    def record(self) -> dict[str, Any]:
        """Return the question as JSON has it."""
        return json.loads(json.dumps(asdict(self)))  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class ShardReport:
    """What became of an input.

    ``why`` says why there is no shard of it; ``bad`` counts what could not be read of it, and
    ``listed`` has the first of that. ``is_new``: the shard was not there before.
    """

    input: str
    shard: str | None
    rows: int = 0
    bad: int = 0
    listed: tuple[str, ...] = ()
    why: str | None = None
    is_new: bool = True


def shard_name(given: Input) -> str:
    """Return the name of an input's shard: that of the input, and what tells it from its likes."""
    path = os.path.realpath(given.path)
    stem = re.sub(r"[^A-Za-z0-9.-]+", "_", os.path.basename(path)).strip("._")[:80]
    return f"{stem or 'input'}-{hashlib.sha256(os.fsencode(path)).hexdigest()[:10]}.parquet"


def _metadata_of(path: Path) -> dict[str, Any] | None:
    """Return what a shard says of itself; None if it is none."""
    try:
        with path.open("rb") as file:
            metadata = pq.read_metadata(file).metadata or {}
        found = json.loads(metadata[KEY])
    except (OSError, pa.ArrowException, KeyError, ValueError):
        return None
    keys = {"version", "question", "input", "rows", "bad", "listed"}
    return found if isinstance(found, dict) and keys <= found.keys() else None


#: What a shard is called until it is whole.
_PART = re.compile(r"\..+-[0-9a-f]{10}\.parquet\.\d+\.part")


def remove_parts(folder: Path) -> None:
    """Remove what processes left that were killed."""
    for path in folder.glob(".*.part"):
        if _PART.fullmatch(path.name):
            path.unlink(missing_ok=True)


def check_folder(folder: Path, question: Question) -> None:
    """Look whether a folder has nothing but shards of a question.

    Raises:
        ForeignFolderError: it has others.
    """
    wanted = question.record()
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        metadata = _metadata_of(path) if path.suffix == ".parquet" else None
        if metadata is None:
            raise ForeignFolderError(f"{folder}: has {path.name}, which is no shard; name another")
        if metadata["question"] != wanted:
            raise ForeignFolderError(
                f"{folder}: has answers to another question ({path.name}); name another folder, "
                "or remove this one"
            )


def existing_shard(given: Input, shard: Path) -> ShardReport | None:
    """Return the report of a shard that is there, None if there is none for the input as it is."""
    if not shard.exists():
        return None
    found = _metadata_of(shard)
    if found is None or found["input"] != identity_of(given) or found["version"] != VERSION:
        return None
    rows, bad, listed = found["rows"], found["bad"], tuple(found["listed"])
    return ShardReport(given.path, str(shard), rows, bad, listed, is_new=False)


def identity_of(given: Input) -> dict[str, Any]:
    return {"path": os.path.realpath(given.path), "size": given.size, "modified": given.modified}


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep a folder from other runs.

    Raises:
        UnreadableError: it cannot be written to, or another run has it.
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
        import fcntl  # noqa: PLC0415 - there is none on Windows
    except ImportError:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise UnreadableError(f"{folder}: another run is writing there") from error


def read_shards(folder: str | os.PathLike[str]) -> list[tuple[str, dict[str, Any]]]:
    """Return the shards of a folder, with what each says of itself.

    Raises:
        UnreadableError: there is no such folder, or it has none.
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


class Writer:
    """Writes tables into a Parquet file, many rows at a time: the same rows, the same file."""

    def __init__(self, file: Any) -> None:
        self.rows = 0
        self._file = file
        self._held: list[Any] = []
        self._held_rows = 0
        self._held_bytes = 0
        self._writer: Any = None

    @property
    def has_begun(self) -> bool:
        """Whether it knows the columns."""
        return self._writer is not None

    def add(self, table: Any) -> None:
        self.rows += table.num_rows
        self._held.append(table)
        self._held_rows += table.num_rows
        self._held_bytes += table.nbytes
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._file, table.schema, compression="zstd")
        if self._held_rows >= _GROUP_ROWS or self._held_bytes >= _GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._held:
            self._writer.write_table(pa.concat_tables(self._held), row_group_size=_GROUP_ROWS)
        self._held, self._held_rows, self._held_bytes = [], 0, 0

    def close(self, metadata: dict[bytes, str]) -> None:
        self._flush()
        self._writer.add_key_value_metadata(metadata)
        self._writer.close()

    def abandon(self) -> None:
        """Let go of a file that is no longer wanted; nothing happens after `close`."""
        if self._writer is not None and self._writer.is_open:
            with suppress(OSError, ValueError, pa.ArrowException):
                self._writer.close()
