"""Guards a connection against files of SQLite that others wrote.

SQLite runs what a file's schema says: triggers, views, checks, indexes on expressions. Those may
never end. So only the schema of a koster cache is accepted, statements reach nothing but its table,
and each ends after some seconds.
"""

from __future__ import annotations

import sqlite3
import time

#: The maximum number of bytes of a record or of a statement in the schema. Records have at most
#: 500 KiB of a robots.txt, and its headers.
_MAX_VALUE = 16 << 20
_MAX_STATEMENT = 2_000
#: Limits of Python's module that are not in all versions of SQLite.
_LIMITS = {
    "LENGTH": _MAX_VALUE,
    "SQL_LENGTH": _MAX_STATEMENT,
    "COLUMN": 10,
    "EXPR_DEPTH": 20,
    "COMPOUND_SELECT": 2,
    "VDBE_OP": 1_000,
    "FUNCTION_ARG": 4,
    "ATTACHED": 0,
    "TRIGGER_DEPTH": 1,
    "WORKER_THREADS": 0,
}
#: Settings of Python 3.12 and later.
_SETTINGS = {
    "DEFENSIVE": True,
    "TRUSTED_SCHEMA": False,
    "ENABLE_TRIGGER": False,
    "ENABLE_VIEW": False,
    "DQS_DDL": False,
    "DQS_DML": False,
}
#: What statements may do, outside of views and triggers.
_ACTIONS = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_INSERT,
    sqlite3.SQLITE_DELETE,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_PRAGMA,
    sqlite3.SQLITE_TRANSACTION,
}
#: The steps of SQLite between two looks at the clock: less than a millisecond.
_STEPS = 10_000

#: What a cache consists of, as SQLite notes it.
TABLE = "CREATE TABLE entries (key TEXT PRIMARY KEY NOT NULL, record BLOB NOT NULL)"
_SCHEMA = [
    ("table", "entries", "entries", TABLE),
    ("index", "sqlite_autoindex_entries_1", "entries", None),
]


class StatementDeadline:
    """The moment after which the statement of a connection is interrupted."""

    def __init__(self) -> None:
        self._end = 0.0

    def begin(self, seconds: float) -> None:
        """Give the next statements some seconds."""
        self._end = time.monotonic() + seconds

    def is_over(self) -> bool:
        """Tell whether the statements took longer."""
        return time.monotonic() > self._end


def guard(connection: sqlite3.Connection, deadline: StatementDeadline) -> None:
    """Limit what a file may do, before the first statement reads its schema."""
    connection.set_progress_handler(deadline.is_over, _STEPS)
    for name, most in _LIMITS.items():
        category = getattr(sqlite3, f"SQLITE_LIMIT_{name}", None)
        if category is not None:
            connection.setlimit(category, most)
    for name, value in _SETTINGS.items():
        option = getattr(sqlite3, f"SQLITE_DBCONFIG_{name}", None)
        if option is not None:
            connection.setconfig(option, value)  # type: ignore[attr-defined, unused-ignore]
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")


def verify(connection: sqlite3.Connection) -> None:
    """Check that a file has the table of a cache and nothing else; then allow only to use that.

    Raises:
        sqlite3.DatabaseError: the file has something else.
    """
    encoding = connection.execute("PRAGMA encoding").fetchone()[0]
    schema = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT 3")
    if encoding != "UTF-8" or sorted(schema.fetchall(), reverse=True) != _SCHEMA:
        raise sqlite3.DatabaseError("not the tables of a koster cache; delete the file")
    # Another process may still change the schema.
    connection.set_authorizer(_authorize)


def _authorize(
    action: int, _first: str | None, _second: str | None, _file: str | None, source: str | None
) -> int:
    """Allow what the statements of the cache do; ``source`` is a view or trigger."""
    is_own = source is None and action in _ACTIONS
    return sqlite3.SQLITE_OK if is_own else sqlite3.SQLITE_DENY
