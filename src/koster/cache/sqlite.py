"""A cache in an SQLite file: for several threads and processes on one machine.

Written ahead (WAL), so that readers do not wait for writers and a process that is killed takes
nothing along that it had written. A file that is no cache of koster's is never changed.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from typing import TYPE_CHECKING

from ..errors import CacheError
from .forks import at_fork
from .store import decoded, encoded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..freshness import Entry

#: Seconds that a process waits while others write.
_PATIENCE = 1.0

#: Seconds that a fork waits for a statement of another thread.
_FORK_PATIENCE = 5.0

#: Connections of the parent: a child that closed one could harm the file.
_inherited: list[sqlite3.Connection] = []

#: PRAGMA application_id: "kost". Says whose file it is.
_ID = 0x6B6F7374
#: PRAGMA user_version: of the tables.
_VERSION = 1

_TABLE = """
CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY NOT NULL, record BLOB NOT NULL)
"""
_GET = "SELECT record FROM entries WHERE key = ?"
#: Replacing gives an entry a new number: the lowest ones were put longest ago.
_PUT = "REPLACE INTO entries VALUES (?, ?)"
_USED = """
SELECT (page_count - freelist_count) * page_size
FROM pragma_page_count, pragma_freelist_count, pragma_page_size
"""
_FIRST = "SELECT 1 FROM entries LIMIT 1"
#: A twentieth goes at a time.
_DROP = """
DELETE FROM entries WHERE rowid IN (
  SELECT rowid FROM entries ORDER BY rowid LIMIT 1 + (SELECT count(*) / 20 FROM entries))
"""

#: Puts between two looks at how much there is.
_LOOK = 50


class SqliteCache:
    """Keeps entries in a file; it is made if it is not there.

    ``max_bytes``: what was fetched longest ago goes once entries take more; the file stays as
    large as it was at its largest. Without it, nothing goes.

    Nothing is opened before the first question; what goes wrong then and later is a
    `CacheError`. The connection is closed before the process forks, and parent and child each open
    their own. Where a statement of another thread does not end within seconds the fork goes on
    without that, and the child's cache raises `CacheError` from then on.
    """

    def __init__(self, path: str | os.PathLike[str], max_bytes: int | None = None) -> None:
        self._path = os.fspath(path)
        self._most = max_bytes
        self._puts = 0
        self._connection: sqlite3.Connection | None = None
        self._failures = 0
        #: Why it cannot be used any more, if it cannot.
        self._end = ""
        self._lock = threading.Lock()
        #: The thread that holds the lock because it forks.
        self._forking: int | None = None
        at_fork(before=self._let_go, in_parent=self._go_on, in_child=self._renew)

    def __repr__(self) -> str:
        return f"<SqliteCache {self._path}>"

    def get(self, key: str) -> Entry | None:
        """Return what is kept under a key, or None; also where it cannot be read.

        Raises:
            CacheError: the file is locked, broken, or none of koster's.
        """
        rows = self._run(_GET, (key,))
        return decoded(rows[0][0]) if rows else None

    def put(self, key: str, entry: Entry) -> None:
        """Keep an entry: once this returns it is in the file.

        Raises:
            CacheError: as `get`, or the disk is full.
        """
        self._run(_PUT, (key, encoded(entry)))
        self._puts += 1
        if self._most is not None and self._puts % _LOOK == 1:
            while self._used() > self._most and self._run(_FIRST, ()):
                self._run(_DROP, ())

    def _used(self) -> int:
        """Return how many bytes of the file are in use."""
        (used,) = self._run(_USED, ())[0]
        return int(str(used))

    def keys(self) -> Iterator[str]:
        """Go through the keys of all that is kept.

        Raises:
            CacheError: as `get`.
        """
        return (str(row[0]) for row in self._run("SELECT key FROM entries ORDER BY key", ()))

    def close(self) -> None:
        """Let go of the file, for good."""
        self._end = "is closed"
        with self._lock:
            self._close_connection()

    def _close_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    # SQLite keeps a record of the locks that the process has on a file. A child inherits the record
    # but not the locks, and what it writes through a connection of its own can be lost. So there
    # must be no connection while the process forks (sqlite.org/howtocorrupt.html, section 2.6).

    def _let_go(self) -> None:
        """Close the connection, and keep other threads from opening one."""
        if self._lock.acquire(timeout=_FORK_PATIENCE):
            self._forking = threading.get_ident()
            self._close_connection()

    def _go_on(self) -> None:
        if self._forking == threading.get_ident():
            self._forking = None
            self._lock.release()

    def _renew(self) -> None:
        """Begin without a connection, in a child process."""
        if self._forking != threading.get_ident():
            self._end = "was in use when the process forked"
        if self._connection is not None:
            _inherited.append(self._connection)
        self._connection = self._forking = None
        self._lock = threading.Lock()

    def _run(self, statement: str, values: Sequence[object]) -> list[tuple[object, ...]]:
        """Run a statement, and commit.

        Raises:
            CacheError: it could not be done.
        """
        failures = self._failures
        with self._lock:
            if self._end:
                raise CacheError(f"{self._path}: {self._end}")
            if self._failures != failures:
                # Another thread has just waited: fail at once.
                raise CacheError(f"{self._path}: has just failed")
            try:
                return self._opened().execute(statement, values).fetchall()
            except (sqlite3.Error, OSError, ValueError) as error:
                self._failures += 1
                raise CacheError(f"{self._path}: {error}") from error

    def _opened(self) -> sqlite3.Connection:
        """Return the connection."""
        if self._connection is None:
            self._connection = self._open()
        return self._connection

    def _open(self) -> sqlite3.Connection:
        """Open the file.

        Raises:
            sqlite3.Error: it cannot be opened, or is none of ours.
        """
        connection = sqlite3.connect(
            self._path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
        )
        try:
            _settle(connection)
        except BaseException:
            connection.close()
            raise
        return connection


def _settle(connection: sqlite3.Connection) -> None:
    """Make the table in a new file; see whether an old one is ours.

    Raises:
        sqlite3.Error: it is not.
    """
    if _marks(connection) != (_ID, _VERSION):
        _make(connection)
    # It can be changed only while nobody else has the file; who is second goes on without.
    if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        with contextlib.suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")


def _make(connection: sqlite3.Connection) -> None:
    """Make the table in an empty file, one process at a time.

    Raises:
        sqlite3.Error: it is not empty, and none of ours.
    """
    # Within the transaction nobody else makes it: what is seen here is so.
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _is_empty(connection):
            connection.execute(_TABLE)
            connection.execute(f"PRAGMA application_id = {_ID}")
            connection.execute(f"PRAGMA user_version = {_VERSION}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _is_empty(connection: sqlite3.Connection) -> bool:
    """Tell whether a file is empty; else it has our table.

    Raises:
        sqlite3.DatabaseError: it is somebody else's, or of another version.
    """
    marks = _marks(connection)
    if marks == (_ID, _VERSION):
        return False
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if marks != (0, 0) or tables:
        raise sqlite3.DatabaseError("is no cache of this version of koster")
    return True


def _marks(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return whose file it is, and of which version."""
    names = ("application_id", "user_version")
    owner, version = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
    return int(owner), int(version)
