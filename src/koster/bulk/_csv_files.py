"""CSV files as batches; their first line names the columns, all are text."""

from __future__ import annotations

import csv
import os
import re
from typing import TYPE_CHECKING, Any

import pyarrow.csv

from ..errors import UnreadableError
from ._arrow import pa
from ._batches import WrongColumnsError
from ._parquet import BYTES, ROWS
from ._tables import batch_of, columns_of, decompressed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._batches import BadRecords, Batch, Columns, Input

#: Bytes of CSV that are read at a time; a row that has more may be reported as broken.
BLOCK = 8 * BYTES


def read_csv(given: Input, columns: Columns, bad: BadRecords) -> Iterator[Batch]:
    """Go through a CSV file, or one with tabs: its first line names the columns, all are text."""
    names = _header(given)
    named = columns_of(given, names, columns)

    def skip(row: Any) -> str:
        place = f"row {row.number}" if row.number is not None else "a row"
        bad.add(f"{place}: it has {row.actual_columns} of {row.expected_columns} columns")
        return "skip"

    # A file of Arrow's own. Arrow reads ahead in a thread; a reader that is let go of waits for it
    # and holds the interpreter lock, which a file of Python's would need to go on.
    file = pa.OSFile(os.fsencode(given.path))
    reader = _csv_reader(
        decompressed(given.path, file),
        read_options=pyarrow.csv.ReadOptions(
            block_size=BLOCK, use_threads=False, column_names=names, skip_rows=1
        ),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=_delimiter(given.path),
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
                column if name == named["body"] else _as_text(column)
                for name, column in zip(names, part.columns, strict=True)
            ]
            table = pa.RecordBatch.from_arrays(texts, names=names)
            yield batch_of(table, named, file.tell())


def _csv_reader(stream: Any, **options: Any) -> Any:
    """Return a reader of CSV; None where there are no rows."""
    try:
        return pyarrow.csv.open_csv(stream, **options)
    except pa.ArrowInvalid as error:
        if re.search("Empty CSV|Could not skip initial 1 rows", str(error)):
            return None
        raise


def _header(given: Input) -> list[str]:
    """Return the names of the columns of a CSV file.

    Raises:
        UnreadableError: it has no first line.
        WrongColumnsError: two columns have one name.
    """
    with open(given.path, "rb") as file:
        stream = decompressed(given.path, pa.PythonFile(file, "r"))
        begin = stream.read(1 << 20).decode("utf-8-sig", "replace")
    line = re.split(r"\r\n|\n|\r", begin, maxsplit=1)[0]
    first = next(csv.reader([line], delimiter=_delimiter(given.path)), None)
    if not first:
        raise UnreadableError(f"{given.path}: is empty, without even the names of columns")
    if len(set(first)) < len(first):
        raise WrongColumnsError(f"{given.path}: two columns have the same name")
    return first


def _delimiter(path: str) -> str:
    return "\t" if ".tsv" in os.path.basename(path).lower() else ","


def _as_text(column: Any) -> Any:
    """Return a column of bytes as text; what is not UTF-8 of it is replaced."""
    try:
        return column.cast(pa.string())
    except pa.ArrowInvalid:
        values = column.to_pylist()
        texts = [None if each is None else each.decode("utf-8", "replace") for each in values]
        return pa.array(texts, pa.string())
