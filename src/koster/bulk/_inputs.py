"""Inputs of ``koster bulk``: archives and tables, as batches of bounded size.

Memory holds one batch of an input, whatever its size, and of a Parquet file one page of each
column. Records that cannot be read are counted and listed, and reading continues; if an input
cannot be read at all, `UnreadableError` says why.
"""

from __future__ import annotations

import csv
import os
import stat
from typing import TYPE_CHECKING

from ..errors import KosterError, UnreadableError
from ._archives import read_archive
from ._arrow import pa
from ._batches import Input
from ._csv_files import BLOCK, read_csv
from ._json_lines import read_json_lines
from ._parquet_files import read_parquet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ._batches import BadRecords, Batch, Columns

#: The file that marks a folder of answers, which is not one of inputs.
MARKER = ".koster-bulk"

_KINDS = {
    ".warc": "warc",
    ".parquet": "parquet",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "csv",
}
_COMPRESSED = (".gz", ".zst", ".bz2", ".lz4")


def find(paths: Iterable[str], errors: list[str] | None = None) -> list[Input]:
    """Return files, and the files in folders with the name of an input, as inputs.

    If ``errors`` is given, errors are appended to it and not raised.

    Raises:
        UnreadableError: a file is missing or has an unsupported name, or a folder has no inputs.
    """
    found: dict[str, Input] = {}
    for path in paths:
        try:
            for each in _files_in(path):
                found.setdefault(os.path.realpath(each), _to_input(each))
        except UnreadableError as error:
            if errors is None:
                raise
            errors.append(str(error))
    return list(found.values())


def _files_in(path: str) -> list[str]:
    """Return a file, or the files in a folder with the name of an input.

    Raises:
        UnreadableError: the folder has none.
    """
    if not os.path.isdir(path):
        return [path]
    found = [each for each in _walk(path) if _kind(each)]
    if not found:
        raise UnreadableError(f"{path}: has no WARC, Parquet, JSON lines or CSV files")
    return found


def _walk(folder: str) -> Iterator[str]:
    """Yield the files in a folder, by name, without hidden ones and folders of answers."""
    for base, folders, files in os.walk(folder, onerror=_cannot_walk):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "_")))
        if MARKER in files:
            folders.clear()
            continue
        for name in sorted(files):
            path = os.path.join(base, name)
            if not name.startswith((".", "_")) and os.path.isfile(path):
                yield path


def _cannot_walk(error: OSError) -> None:
    raise UnreadableError(f"{error.filename}: {error.strerror}") from error


def _kind(path: str) -> str | None:
    """Return the kind of a file by its name, or None."""
    name = path.lower()
    for ending in _COMPRESSED:
        name = name.removesuffix(ending)
    return _KINDS.get(os.path.splitext(name)[1])


def _to_input(path: str) -> Input:
    """Return a file as an input.

    Raises:
        UnreadableError: it is missing, or its name is unsupported.
    """
    try:
        status = os.stat(path)
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}") from error
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableError(f"{path}: is not a regular file")
    kind = _kind(path)
    if kind is None:
        raise UnreadableError(
            f"{path}: unsupported file name; use .warc, .parquet, .jsonl, .ndjson, .json, .csv or "
            ".tsv, also with .gz, .zst, .bz2 or .lz4"
        )
    return Input(path, kind, status.st_size, status.st_mtime_ns)


def batches(source: Input, columns: Columns, bad: BadRecords) -> Iterator[Batch]:
    """Yield the batches of an input; records that cannot be read are added to ``bad``.

    Raises:
        UnreadableError: the input, or the rest of it, cannot be read.
        WrongColumnsError: a column is missing, or has the wrong type.
    """
    try:
        yield from _READERS[source.kind](source, columns, bad)
    except KosterError:
        raise
    except OSError as error:
        raise UnreadableError(f"{source.path}: {error.strerror or error}") from error
    except (pa.ArrowException, csv.Error, EOFError, KeyError, TypeError, ValueError) as error:
        why = " ".join(str(error).split())[:300]
        if "straddling object" in why:
            why = f"a row has more than {BLOCK:,} bytes"
        raise UnreadableError(f"{source.path}: {why}") from error


#: The reader of each kind of input. To add a kind, add its endings to `_KINDS`, too.
_READERS: dict[str, Callable[[Input, Columns, BadRecords], Iterator[Batch]]] = {
    "warc": read_archive,
    "parquet": read_parquet,
    "csv": read_csv,
    "json": read_json_lines,
}
