"""Sorts requests by time, in bounded memory.

DuckDB writes what does not fit into a temporary folder.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..bulk._arrow import np, pa, pc
from ..errors import UnreadableError, missing
from ._identity import STATUSES, VERIFIED
from ._requests import REQUESTS, clients

try:
    import duckdb
except ImportError as error:
    raise missing("koster.logs", "logs") from error

#: What DuckDB may use before it writes to the disk.
_MEMORY = "256MB"

#: Rows of a sorted batch.
_ROWS = 65_536

#: The columns of requests, with crawlers and identities as numbers, and their place in the logs.
_TABLE = """
CREATE TABLE requests (
    time BIGINT, address VARCHAR, host VARCHAR, method VARCHAR, url BLOB, status INTEGER,
    agent VARCHAR, crawler INTEGER, identified INTEGER, place BIGINT
)
"""
_SORTED = "SELECT * EXCLUDE (place) FROM requests ORDER BY time, place"


class Sorter:
    """Takes requests in any order, and returns them in the order of time.

    Those of the same moment stay in the order in which they came.
    """

    def __init__(self, con: Any, names: list[str]) -> None:
        self._con = con
        self._names = pa.array(names, pa.string())
        self._count = 0

    def add(self, requests: pa.RecordBatch) -> None:
        """Add a batch of `REQUESTS`."""
        if not len(requests):
            return
        columns = dict(zip(REQUESTS.names, requests.columns, strict=True))
        for name in ("crawler", "identified"):
            columns[name] = columns[name].indices
        del columns["client"]
        columns["place"] = pa.array(np.arange(self._count, self._count + len(requests)))
        self._count += len(requests)
        self._con.register("added", pa.table(columns))
        self._con.execute("INSERT INTO requests SELECT * FROM added")
        self._con.unregister("added")

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield all requests as batches of `REQUESTS`."""
        for batch in self._con.sql(_SORTED).to_arrow_reader(_ROWS):
            yield self._restored(batch)

    def _restored(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        addresses = columns["address"].cast(pa.string())
        columns["client"] = clients(addresses, pc.equal(columns["identified"], VERIFIED))
        statuses = pa.array([each.value for each in STATUSES])
        for name, values in (("crawler", self._names), ("identified", statuses)):
            columns[name] = pa.DictionaryArray.from_arrays(columns[name], values)
        found = [columns[field.name].cast(field.type) for field in REQUESTS]
        return pa.RecordBatch.from_arrays(found, schema=REQUESTS)


@contextmanager
def sorter(names: list[str]) -> Iterator[Sorter]:
    """Provide a sorter of requests of the crawlers with these names; it is used once.

    Raises:
        UnreadableError: the temporary folder is full, or cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix="koster-") as folder:
        # Of its own: its limit of memory is no other's.
        con = duckdb.connect(
            config={"threads": 1, "memory_limit": _MEMORY, "temp_directory": folder}
        )
        try:
            # In an interactive Python it would be printed on standard output.
            con.execute("SET enable_progress_bar = false")
            con.execute(_TABLE)
            yield Sorter(con, names)
        except duckdb.Error as error:
            why = str(error).splitlines()[0]
            raise UnreadableError(f"requests cannot be sorted in {folder}: {why}") from error
        finally:
            con.close()
