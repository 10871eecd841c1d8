"""Inputs of ``koster bulk``: finds archives and tables.

Without Arrow, so that worker processes start before it is imported; see `_reading`.
"""

from __future__ import annotations

import gzip
import os
import stat
import zlib
from collections.abc import Iterable, Iterator
from urllib.parse import unquote, urlsplit

from ..errors import UnreadableError
from ._batches import Input
from ._downloads import is_url

#: The file that marks a folder of answers, which is not one of inputs.
MARKER = ".koster-bulk"

#: The kinds of inputs by the ending of their names; `_reading` has their readers.
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
            for each in [path] if is_url(path) else _files_in(path):
                found.setdefault(identity(each), _to_input(each))
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
    """Return a file or URL as an input.

    Raises:
        UnreadableError: it is missing, or its name is unsupported.
    """
    if is_url(path):
        return Input(path, _known_kind(path, urlsplit(path).path), 0, 0)
    try:
        status = os.stat(path)
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}") from error
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableError(f"{path}: is not a regular file")
    return Input(path, _known_kind(path, path), status.st_size, status.st_mtime_ns)


def _known_kind(path: str, name: str) -> str:
    """Return the kind of an input by the name of its file.

    Raises:
        UnreadableError: the name is unsupported.
    """
    kind = _kind(name)
    if kind is None:
        raise UnreadableError(
            f"{path}: unsupported file name; use .warc, .parquet, .jsonl, .ndjson, .json, .csv or "
            ".tsv, also with .gz, .zst, .bz2 or .lz4"
        )
    return kind


def identity(path: str) -> str:
    """Return what tells inputs apart: the path without links, or the URL."""
    return path if is_url(path) else os.path.realpath(path)


def read_list(path: str) -> list[str]:
    """Return the inputs that a list names, a path or URL a line; it may be compressed with gzip.

    Raises:
        UnreadableError: it cannot be read, or names nothing.
    """
    try:
        with open(path, "rb") as raw:
            is_compressed = raw.read(2) == b"\x1f\x8b"
        with (gzip.open if is_compressed else open)(path, "rt", encoding="utf-8") as file:
            found = [line.strip() for line in file if line.strip()]
    except (OSError, EOFError, UnicodeError, zlib.error) as error:
        why = (isinstance(error, OSError) and error.strerror) or "is not a list of inputs"
        raise UnreadableError(f"{path}: {why}") from error
    if not found:
        raise UnreadableError(f"{path}: names no input")
    return found


#: How Hive and Spark name the partition of rows without a value.
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


def partitions_of(path: str) -> dict[str, str | None]:
    """Return the columns that the folders of a path name, as Hive and Spark do.

    >>> partitions_of("crawl=2026-01/site=a%2Fb/part-0.parquet")
    {'crawl': '2026-01', 'site': 'a/b'}
    """
    found: dict[str, str | None] = {}
    for part in os.path.dirname(path).split(os.sep):
        name, is_partition, value = part.partition("=")
        if is_partition and name:
            found[unquote(name)] = None if value == _NO_VALUE else unquote(value)
    return found
