"""Requests in tables: Parquet and CSV with a column for each field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import tzinfo
from typing import Any

import pyarrow.csv
import pyarrow.parquet

from .._wording import joined
from ..bulk._arrow import pa
from ..bulk._csv_rows import checked_rows
from ..errors import UnreadableError
from ._identity import Identities
from ._known_formats import NAMES
from ._patterns import FormatError, check_fields
from ._requests import Parsed, to_requests

#: Rows that are read at a time.
_ROWS = 32_768
_CSV_BYTES = 4 * 2**20

_PARQUET = b"PAR1"


def kind_of(path: str, start: bytes) -> str | None:
    """Return ``"parquet"`` or ``"csv"`` if a file is a table, else None."""
    if start.startswith(_PARQUET):
        return "parquet"
    return "csv" if path.lower().endswith((".csv", ".tsv")) else None


def read_table(
    path: str,
    kind: str,
    columns: Mapping[str, str],
    identities: Identities,
    zone: tzinfo | None = None,
) -> Iterator[Parsed]:
    """Yield the requests of a table.

    Args:
        path: The file.
        kind: ``"parquet"`` or ``"csv"``.
        columns: The names of columns, by field; others have one of the usual names.
        identities: Recognizes crawlers.
        zone: The time zone of times without one; None: UTC.

    Raises:
        UnreadableError: the file is broken, or a column is missing.
    """
    try:
        if kind == "parquet":
            yield from _read_parquet(path, columns, identities, zone)
        else:
            with checked_rows(path):
                yield from _read_csv(path, columns, identities, zone)
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, UnreadableError):
            raise
        raise UnreadableError(f"{path}: {error}") from error


def _read_parquet(
    path: str, columns: Mapping[str, str], identities: Identities, zone: tzinfo | None
) -> Iterator[Parsed]:
    with pyarrow.parquet.ParquetFile(path) as file:
        names = find_columns(path, file.schema_arrow.names, columns)
        for batch in file.iter_batches(_ROWS, columns=list(names.values()), use_threads=False):
            yield _parsed({field: batch[name] for field, name in names.items()}, identities, zone)


def _read_csv(
    path: str, columns: Mapping[str, str], identities: Identities, zone: tzinfo | None
) -> Iterator[Parsed]:
    bad = 0

    def skip(_row: Any) -> str:
        nonlocal bad
        bad += 1
        return "skip"

    delimiter = "\t" if path.lower().endswith(".tsv") else ","
    with pyarrow.csv.open_csv(
        path,
        pyarrow.csv.ReadOptions(block_size=_CSV_BYTES, use_threads=False),
        pyarrow.csv.ParseOptions(delimiter=delimiter, invalid_row_handler=skip),
        pyarrow.csv.ConvertOptions(column_types={}, strings_can_be_null=True),
    ) as reader:
        names = find_columns(path, reader.schema.names, columns)
        for batch in reader:
            found = _parsed({field: batch[name] for field, name in names.items()}, identities, zone)
            yield replace(found, lines=found.lines + bad, unreadable=found.unreadable + bad)
            bad = 0


def _parsed(columns: dict[str, Any], identities: Identities, zone: tzinfo | None) -> Parsed:
    columns = {
        name: column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        for name, column in columns.items()
    }
    return to_requests(columns, identities, zone=zone)


def find_columns(path: str, names: list[str], given: Mapping[str, str]) -> dict[str, str]:
    """Return the names of the columns of a table by field.

    Raises:
        UnreadableError: one that was given, or one that is needed, is missing.
    """
    lower = {name.lower(): name for name in names}
    found = {}
    for field, usual in NAMES.items():
        if field in given:
            if given[field] not in names:
                raise UnreadableError(
                    f"{path}: has no column {given[field]!r}; it has {joined(names)}"
                )
            found[field] = given[field]
            continue
        name = next((lower[each] for each in usual if each in lower), None)
        if name is not None:
            found[field] = name
    try:
        check_fields(found)
    except FormatError as error:
        raise UnreadableError(
            f"{path}: {error}; name its columns, such as --column time=NAME. It has {joined(names)}"
        ) from error
    return found
