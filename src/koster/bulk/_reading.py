"""Reads the inputs of ``koster bulk``: archives and tables, as batches of bounded size.

Memory holds one batch of an input, whatever its size, and of a Parquet file one page of each
column. Records that cannot be read are counted and listed, and reading continues; if an input
cannot be read at all, `UnreadableError` says why.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from ..errors import KosterError, UnreadableError
from ._archives import read_archive
from ._arrow import pa
from ._batches import INPUT, BadRecords, Batch, Columns, Input
from ._csv_files import BLOCK, read_csv
from ._inputs import partitions_of
from ._json_lines import read_json_lines
from ._page_archives import read_pages
from ._parquet_files import read_parquet
from ._site_files import read_part
from .kernel import storable_text


def batches(source: Input, columns: Columns, bad: BadRecords) -> Iterator[Batch]:
    """Yield the batches of an input; records that cannot be read are added to ``bad``.

    Raises:
        UnreadableError: the input, or the rest of it, cannot be read.
        WrongColumnsError: a column is missing, or has the wrong type.
    """
    try:
        for batch in _READERS[source.kind](source, columns, bad):
            if batch.pages is None:
                batch = replace(batch, passthrough=with_origin(batch.passthrough, source))  # noqa: PLW2901 - the same batch
            yield batch
    except KosterError:
        raise
    except OSError as error:
        raise UnreadableError(f"{source.path}: {error.strerror or error}") from error
    except (pa.ArrowException, csv.Error, EOFError, KeyError, TypeError, ValueError) as error:
        why = " ".join(str(error).split())[:300]
        if "straddling object" in why:
            why = f"a row has more than {BLOCK:,} bytes"
        raise UnreadableError(f"{source.path}: {why}") from error


def with_origin(passthrough: Any, source: Input) -> Any:
    """Return columns with `INPUT`, and those that the folders of the input name.

    Columns that the input has itself stay as they are.
    """
    taken = {name.lower() for name in passthrough.schema.names}
    for name, value in {INPUT: source.path, **partitions_of(source.path)}.items():
        if name.lower() not in taken:
            scalar = pa.scalar(None if value is None else storable_text(value), pa.string())
            column = pa.repeat(scalar, len(passthrough))
            passthrough = passthrough.append_column(pa.field(name, pa.string()), column)
    return passthrough


#: The reader of each kind of input. To add a kind, add its endings to `_inputs`, too.
_READERS: dict[str, Callable[[Input, Columns, BadRecords], Iterator[Batch]]] = {
    "warc": read_archive,
    "parquet": read_parquet,
    "csv": read_csv,
    "json": read_json_lines,
    "pages": read_pages,
    "part": read_part,
}
