"""CSV files as batches; their first line names the columns, all are text."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator
from typing import Any

import pyarrow.csv

from ..errors import UnreadableError
from ._arrow import pa
from ._batches import BadRecords, Batch, Columns, Input, WrongColumnsError
from ._columns import to_text
from ._csv_rows import checked_rows
from ._parquet import BYTES, ROWS
from ._tables import decompressed, find_columns, to_batch

#: Bytes of CSV that are read at a time; a longer row may be reported as broken.
BLOCK = 8 * BYTES


def read_csv(source: Input, columns: Columns, bad: BadRecords) -> Iterator[Batch]:
    """Yield the batches of a CSV or TSV file."""
    with checked_rows(source.file):
        yield from _read(source, columns, bad)


def _read(source: Input, columns: Columns, bad: BadRecords) -> Iterator[Batch]:
    names = _header(source, columns)
    roles = find_columns(source, names, columns)

    def skip(row: Any) -> str:
        place = f"row {row.number}" if row.number is not None else "a row"
        bad.add(f"{place}: has {row.actual_columns} of {row.expected_columns} columns")
        return "skip"

    # Arrow's own file: Arrow reads ahead in a thread, and a reader that is deleted waits for it
    # while holding the interpreter lock, which a Python file would need.
    file = pa.OSFile(os.fsencode(source.file))
    reader = _csv_reader(
        decompressed(source.path, file),
        read_options=pyarrow.csv.ReadOptions(
            block_size=BLOCK, use_threads=False, column_names=names, skip_rows=1
        ),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=_delimiter(source.path, columns),
            newlines_in_values=True,
            invalid_row_handler=skip,
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.binary()), strings_can_be_null=False
        ),
    )
    for batch in reader or ():
        for start in range(0, len(batch), ROWS):
            part = batch.slice(start, ROWS)
            texts = [
                column if name == roles["body"] else to_text(column)
                for name, column in zip(names, part.columns, strict=True)
            ]
            table = pa.RecordBatch.from_arrays(texts, names=names)
            yield to_batch(table, roles, file.tell(), bad)


def _csv_reader(stream: Any, **options: Any) -> Any:
    """Return a CSV reader; None if there are no rows."""
    try:
        return pyarrow.csv.open_csv(stream, **options)
    except pa.ArrowInvalid as error:
        if re.search("Empty CSV|Could not skip initial 1 rows", str(error)):
            return None
        raise


def _header(source: Input, columns: Columns) -> list[str]:
    """Return the names of the columns of a CSV file.

    Raises:
        UnreadableError: it has no first line.
        WrongColumnsError: two columns have one name.
    """
    with open(source.file, "rb") as file:
        stream = decompressed(source.path, pa.PythonFile(file, "r"))
        begin = stream.read(1 << 20).decode("utf-8-sig", "replace")
    line = re.split(r"\r\n|\n|\r", begin, maxsplit=1)[0]
    first = next(csv.reader([line], delimiter=_delimiter(source.path, columns)), None)
    if not first:
        raise UnreadableError(f"{source.path}: is empty; the first line must name the columns")
    if len(set(first)) < len(first):
        raise WrongColumnsError(f"{source.path}: two columns have the same name")
    return first


def _delimiter(path: str, columns: Columns) -> str:
    if columns.delimiter is not None:
        return columns.delimiter
    return "\t" if ".tsv" in os.path.basename(path).lower() else ","
