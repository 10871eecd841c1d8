"""Inputs of ``koster bulk``: archives and tables, as batches of bounded size.

Whatever the size of an input, no more is held of it than a batch, and of a Parquet file a page of
each column. What cannot be read of an input is counted and listed, and reading goes on; where an
input cannot be read at all, `UnreadableError` says why in a sentence.
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

#: The file that tells a folder of answers from one of inputs.
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
_PACKED = (".gz", ".zst", ".bz2", ".lz4")


def find(paths: Iterable[str], errors: list[str] | None = None) -> list[Input]:
    """Return the inputs that files and folders are; of folders, those whose names say so.

    With a list of ``errors``, the reason why an input cannot be read is added to it.

    Raises:
        UnreadableError: one is not there, is no input by its name, or a folder has none.
    """
    found: dict[str, Input] = {}
    for path in paths:
        try:
            for each in _files_of(path):
                found.setdefault(os.path.realpath(each), _input(each))
        except UnreadableError as error:
            if errors is None:
                raise
            errors.append(str(error))
    return list(found.values())


def _files_of(path: str) -> list[str]:
    """Return a file, or those in a folder that are inputs by their names.

    Raises:
        UnreadableError: a folder has none.
    """
    if not os.path.isdir(path):
        return [path]
    found = [each for each in _walk(path) if _kind(each)]
    if not found:
        raise UnreadableError(f"{path}: has no WARC, Parquet, JSON lines or CSV files")
    return found


def _walk(folder: str) -> Iterator[str]:
    """Go through the files in a folder, by name, without those that hide."""
    for base, folders, files in os.walk(folder, onerror=_cannot_walk):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "_")))
        if MARKER in files:
            # What is answered is not asked.
            folders.clear()
            continue
        for name in sorted(files):
            path = os.path.join(base, name)
            if not name.startswith((".", "_")) and os.path.isfile(path):
                yield path


def _cannot_walk(error: OSError) -> None:
    raise UnreadableError(f"{error.filename}: {error.strerror}") from error


def _kind(path: str) -> str | None:
    """Return what a file is, by its name."""
    name = path.lower()
    for ending in _PACKED:
        name = name.removesuffix(ending)
    return _KINDS.get(os.path.splitext(name)[1])


def _input(path: str) -> Input:
    """Return a file as an input.

    Raises:
        UnreadableError: it is not there, or none by its name.
    """
    try:
        status = os.stat(path)
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}") from error
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableError(f"{path}: is no regular file")
    kind = _kind(path)
    if kind is None:
        raise UnreadableError(
            f"{path}: is no input by its name: .warc, .parquet, .jsonl, .ndjson, .json, .csv and "
            ".tsv are, also with .gz, .zst, .bz2 or .lz4"
        )
    return Input(path, kind, status.st_size, status.st_mtime_ns)


def batches(given: Input, columns: Columns, bad: BadRecords) -> Iterator[Batch]:
    """Go through an input; what cannot be read of it is added to ``bad``.

    Raises:
        UnreadableError: it cannot be read at all, or no further.
        WrongColumnsError: it does not have the columns.
    """
    try:
        yield from _READERS[given.kind](given, columns, bad)
    except KosterError:
        raise
    except OSError as error:
        raise UnreadableError(f"{given.path}: {error.strerror or error}") from error
    except (pa.ArrowException, csv.Error, EOFError, KeyError, TypeError, ValueError) as error:
        why = " ".join(str(error).split())[:300]
        if "straddling object" in why:
            why = f"a row has more than {BLOCK:,} bytes"
        raise UnreadableError(f"{given.path}: {why}") from error


#: What reads the kinds of inputs: the one place to add one, besides its endings in `_KINDS`.
_READERS: dict[str, Callable[[Input, Columns, BadRecords], Iterator[Batch]]] = {
    "warc": read_archive,
    "parquet": read_parquet,
    "csv": read_csv,
    "json": read_json_lines,
}
