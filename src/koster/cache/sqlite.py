"""The cache in an SQLite file, for several threads and processes on one machine.

It uses write-ahead logging (WAL): readers do not wait for writers, and a killed process loses
nothing that it has written. A file that is not a koster cache is never changed.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta

from ..errors import CacheError
from ..freshness import Entry
from ._selection import FIRST_WITHOUT_PREFIX, moment_before, origins_of
from ._sqlite_guard import TABLE, StatementDeadline, guard, verify
from .forks import at_fork
from .store import decode_entry, encode_entry

#: Seconds to wait for writers in other processes.
_TIMEOUT = 1.0

#: Seconds after which a statement is interrupted, and one that reads or deletes many entries.
_MAX_SECONDS = 2.0
_MAX_SECONDS_OF_MANY = 30.0

#: Seconds that a fork waits for another thread's statement.
_FORK_TIMEOUT = 5.0

#: Connections of the parent process: closing one in a child could corrupt the file.
_inherited: list[sqlite3.Connection] = []

#: PRAGMA application_id: "kost".
_APPLICATION_ID = 0x6B6F7374
#: PRAGMA user_version.
_SCHEMA_VERSION = 1

_GET = "SELECT record FROM entries WHERE key = ? LIMIT 1"
#: REPLACE assigns a new rowid: the lowest rowids are the oldest entries.
_PUT = "REPLACE INTO entries VALUES (?, ?)"
_KEYS = "SELECT key FROM entries WHERE key NOT BETWEEN 'lease ' AND 'lease!' ORDER BY key"
_PAGES, _FREE_PAGES, _PAGE_SIZE = (
    f"PRAGMA {name}" for name in ("page_count", "freelist_count", "page_size")
)
_ANY_ENTRY = "SELECT 1 FROM entries LIMIT 1"
#: Deletes about 5 percent of the entries. It does not count them: SQLite does that in one step,
#: which nothing interrupts.
_DELETE_OLDEST = """
DELETE FROM entries WHERE rowid <= (SELECT min(rowid) FROM entries)
  + ((SELECT max(rowid) FROM entries) - (SELECT min(rowid) FROM entries)) / 20
"""

_DELETE = "DELETE FROM entries WHERE key = ?"
_KEYS_OF_SITE = """
SELECT key FROM entries WHERE key = ? OR (key < ? AND substr(key, ?) = ?)
"""
_SOME_RECORDS = "SELECT rowid, key, record FROM entries WHERE rowid > ? ORDER BY rowid LIMIT ?"
_RECORDS_AT_ONCE = 50

#: Leases are records that other versions ignore, as they are no entries: when the lease ends, and
#: its owner. What has a later end is no lease: a clock was set.
_LEASE_KEY = "lease "
_HELD_BY_ANOTHER = """
SELECT 1 FROM entries WHERE key = ? AND record BETWEEN ? AND ? AND substr(record, 17) <> ? LIMIT 1
"""
_TAKE_LEASE = f"REPLACE INTO entries SELECT ?, ? WHERE NOT EXISTS ({_HELD_BY_ANOTHER})"
_END_LEASE = "DELETE FROM entries WHERE key = ? AND substr(record, 17) = ?"
_DELETE_ENDED_LEASES = "DELETE FROM entries WHERE key BETWEEN 'lease ' AND 'lease!' AND record < ?"
#: Maximum seconds of a lease.
_MAX_LEASE = 15.0
#: Sorts after every owner: a record is a moment and an owner.
_LAST = b"\xff"

#: Bytes of entries by default.
DEFAULT_MAX_BYTES = 1 << 30

#: Number of puts between checks of the size.
_PUTS_PER_SIZE_CHECK = 50


class SqliteCache:
    """Caches entries in a file, which is created if it does not exist.

    ``max_bytes``: once entries take more, those fetched longest ago are deleted; the file itself
    does not shrink. Default: 1 GiB, the files of about 250,000 sites: a crawl of any length
    then leaves room on the disk. None: no limit.

    The file is opened on first use, or by `check`; errors then and later are a `CacheError`. The
    connection is closed before the process forks; parent and child each open a new one. If another
    thread's statement does not end within seconds, the fork proceeds, and the child's cache raises
    `CacheError` from then on.

    A file with tables, triggers or views of another program is an error: nothing in it is run. A
    statement that takes more than 2 seconds is an error, too; 30 seconds if it deletes or lists
    many entries.
    """

    def __init__(
        self, path: str | os.PathLike[str], max_bytes: int | None = DEFAULT_MAX_BYTES
    ) -> None:
        if max_bytes is not None and max_bytes < 1:
            raise ValueError(f"max_bytes must be at least 1, or None for no limit: {max_bytes!r}")
        self._path = os.fspath(path)
        self._max_bytes = max_bytes
        self._put_count = 0
        self._connection: sqlite3.Connection | None = None
        self._failure_count = 0
        #: Why the cache is unusable, if it is.
        self._unusable_because = ""
        self._deadline = StatementDeadline()
        # A signal handler or a finalizer may call in the middle of another call.
        self._lock = threading.RLock()
        self._is_executing = False
        #: The thread that holds the lock during a fork.
        self._forking: int | None = None
        at_fork(
            before=self._close_before_fork,
            in_parent=self._release_after_fork,
            in_child=self._reset_after_fork,
        )

    def check(self) -> None:
        """Open the file.

        Raises:
            CacheError: it cannot be opened or created, is not a koster cache, or was closed. A file
                that another process has locked for the moment is no error.
        """
        with self._lock:
            if self._unusable_because:
                raise CacheError(
                    f"the cache {self._path} {self._unusable_because}: create a new SqliteCache"
                )
            try:
                self._get_connection()
            except (sqlite3.Error, OSError, ValueError) as error:
                code = getattr(error, "sqlite_errorcode", 0) & 0xFF
                if code not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                    reason = _why_not_opened(self._path) or error
                    raise CacheError(f"cannot open the cache {self._path}: {reason}") from error

    def __repr__(self) -> str:
        return f"<SqliteCache {self._path}>"

    def get(self, key: str) -> Entry | None:
        """Return the entry of a key; None if it is missing or invalid.

        Raises:
            CacheError: the file is locked, broken, or not a koster cache.
        """
        rows = self._execute(_GET, (key,))
        return decode_entry(rows[0][0]) if rows else None

    def put(self, key: str, entry: Entry) -> None:
        """Store an entry; it is in the file when this returns.

        Raises:
            CacheError: as `get`, or the disk is full.
        """
        self._execute(_PUT, (key, encode_entry(entry)))
        self._put_count += 1
        if self._max_bytes is not None and self._put_count % _PUTS_PER_SIZE_CHECK == 1:
            while self._used_bytes() > self._max_bytes and self._execute(_ANY_ENTRY, ()):
                self._execute(_DELETE_OLDEST, (), _MAX_SECONDS_OF_MANY)

    def delete(self, url: str) -> int:
        """Delete the entries of a URL's site, for all dialects; return how many there were.

        Raises:
            UrlError: the URL is invalid, or not HTTP or HTTPS.
            CacheError: as `put`.
        """
        deleted = 0
        for origin in origins_of(url):
            suffix = f" {origin}"
            values = (origin, FIRST_WITHOUT_PREFIX, -len(suffix), suffix)
            keys = self._execute(_KEYS_OF_SITE, values, _MAX_SECONDS_OF_MANY)
            deleted += self._delete_keys(keys)
        return deleted

    def purge(self, *, older_than: timedelta) -> int:
        """Delete the entries that were fetched longer ago; return how many there were.

        Raises:
            TypeError: ``older_than`` is not a timedelta.
            ValueError: it is negative.
            CacheError: as `put`.
        """
        moment = moment_before(older_than)
        deleted, last = 0, -(1 << 63)
        # In steps, so that other processes can write in between.
        while rows := self._execute(_SOME_RECORDS, (last, _RECORDS_AT_ONCE), _MAX_SECONDS_OF_MANY):
            last = int(str(rows[-1][0]))
            entries = [(key, decode_entry(record)) for _, key, record in rows]
            old = [(key,) for key, entry in entries if entry is not None and entry.fetched < moment]
            deleted += self._delete_keys(old)
        self._execute(_DELETE_ENDED_LEASES, (_moment(time.time()),), _MAX_SECONDS_OF_MANY)
        return deleted

    def _delete_keys(self, keys: Sequence[tuple[object, ...]]) -> int:
        for key in keys:
            self._execute(_DELETE, key)
        return len(keys)

    def lease(self, key: str, owner: str, seconds: float) -> bool:
        """Take a key's lease, or lengthen the owner's; False if another owner holds it.

        Raises:
            CacheError: as `put`.
        """
        name, own = _LEASE_KEY + key, owner.encode()
        if self._is_held_by_another(name, own):
            return False
        now = time.time()
        record = _moment(now + min(seconds, _MAX_LEASE)) + own
        held = name, _moment(now), _moment(now + _MAX_LEASE) + _LAST, own
        self._execute(_TAKE_LEASE, (name, record, *held))
        return not self._is_held_by_another(name, own)

    def _is_held_by_another(self, name: str, owner: bytes) -> bool:
        now = time.time()
        held = name, _moment(now), _moment(now + _MAX_LEASE) + _LAST, owner
        return bool(self._execute(_HELD_BY_ANOTHER, held))

    def release(self, key: str, owner: str) -> None:
        """End a key's lease if the owner holds it.

        Raises:
            CacheError: as `put`.
        """
        self._execute(_END_LEASE, (_LEASE_KEY + key, owner.encode()))

    def _used_bytes(self) -> int:
        pages, free, size = (
            int(str(self._execute(pragma, ())[0][0]))
            for pragma in (_PAGES, _FREE_PAGES, _PAGE_SIZE)
        )
        return (pages - free) * size

    def keys(self) -> Iterator[str]:
        """Iterate over the keys of all entries.

        Raises:
            CacheError: as `get`.
        """
        rows = self._execute(_KEYS, (), _MAX_SECONDS_OF_MANY)
        return (str(row[0]) for row in rows)

    def close(self) -> None:
        """Close the file; later calls raise `CacheError`."""
        self._unusable_because = "is closed"
        with self._lock:
            self._close_connection()

    def _close_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    # SQLite tracks the locks that a process has on a file. A child inherits that state but not the
    # locks, so its writes can be lost, even through a new connection. No connection may be open
    # while the process forks (sqlite.org/howtocorrupt.html, section 2.6).

    def _close_before_fork(self) -> None:
        """Close the connection; hold the lock so that no thread opens another."""
        if self._lock.acquire(timeout=_FORK_TIMEOUT):
            self._forking = threading.get_ident()
            self._close_connection()

    def _release_after_fork(self) -> None:
        if self._forking == threading.get_ident():
            self._forking = None
            self._lock.release()

    def _reset_after_fork(self) -> None:
        """Start without a connection in a child process."""
        if self._forking != threading.get_ident():
            self._unusable_because = "was in use when the process forked"
        if self._connection is not None:
            _inherited.append(self._connection)
        self._connection = self._forking = None
        self._lock = threading.RLock()
        self._is_executing = False

    def _execute(
        self, statement: str, values: Sequence[object], seconds: float = _MAX_SECONDS
    ) -> list[tuple[object, ...]]:
        """Execute a statement, and commit.

        Raises:
            CacheError: SQLite failed, took longer than some seconds, or the cache is closed.
        """
        failures = self._failure_count
        # A signal handler in another thread may keep the lock: then nothing is cached.
        if not self._lock.acquire(timeout=_TIMEOUT):
            raise CacheError(f"{self._path}: another thread does not finish")
        try:
            if self._unusable_because:
                raise CacheError(f"{self._path}: {self._unusable_because}")
            if self._failure_count != failures:
                # Another thread just timed out: fail fast.
                raise CacheError(f"{self._path}: failed in another thread just now")
            if self._is_executing:
                raise CacheError(f"{self._path}: in use by this thread")
            self._is_executing = True
            try:
                connection = self._get_connection()
                self._deadline.begin(seconds)
                return connection.execute(statement, values).fetchall()
            except (sqlite3.Error, OSError, ValueError) as error:
                self._failure_count += 1
                raise CacheError(f"{self._path}: {error}") from error
            finally:
                self._is_executing = False
        finally:
            self._lock.release()

    def _get_connection(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = self._open()
        return self._connection

    def _open(self) -> sqlite3.Connection:
        """Open the file.

        Raises:
            sqlite3.Error: it cannot be opened, or is not a koster cache.
        """
        connection = sqlite3.connect(
            self._path, timeout=_TIMEOUT, isolation_level=None, check_same_thread=False
        )
        try:
            self._deadline.begin(_MAX_SECONDS)
            guard(connection, self._deadline)
            _configure(connection)
        except BaseException:
            connection.close()
            raise
        return connection


def _why_not_opened(path: str) -> str:
    """Return why a file cannot be opened, where the file system says more than SQLite."""
    folder = os.path.dirname(path) or "."
    if os.path.isdir(path):
        return "it is a folder: name a file in it"
    if not os.path.exists(folder):
        return f"the folder {folder} does not exist: create it"
    if not os.path.isdir(folder):
        return f"{folder} is a file, not a folder"
    if os.path.exists(path):
        return "" if os.access(path, os.R_OK | os.W_OK) else "no permission to read and write it"
    return "" if os.access(folder, os.W_OK) else f"no permission to write to the folder {folder}"


def _moment(seconds: float) -> bytes:
    """Return seconds since 1970 as 16 bytes that sort by time."""
    return b"%016d" % int(seconds * 1000)


def _configure(connection: sqlite3.Connection) -> None:
    """Create the table in a new file, and set the pragmas.

    Raises:
        sqlite3.Error: the file is not a koster cache.
    """
    if _file_marks(connection) != (_APPLICATION_ID, _SCHEMA_VERSION):
        _create_table(connection)
    verify(connection)
    # Fails while another process has the file open; that process sets it.
    if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        with contextlib.suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")


def _create_table(connection: sqlite3.Connection) -> None:
    """Create the table in an empty file, one process at a time.

    Raises:
        sqlite3.Error: the file is not empty, and not a koster cache.
    """
    # The transaction excludes other processes: check again inside it.
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _is_empty(connection):
            connection.execute(TABLE)
            connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {_SCHEMA_VERSION}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _is_empty(connection: sqlite3.Connection) -> bool:
    """Return whether a file is empty; False if it is a koster cache.

    Raises:
        sqlite3.DatabaseError: it is another program's, or of another version.
    """
    marks = _file_marks(connection)
    if marks == (_APPLICATION_ID, _SCHEMA_VERSION):
        return False
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if marks != (0, 0) or tables:
        raise sqlite3.DatabaseError("not a cache file of this version of koster")
    return True


def _file_marks(connection: sqlite3.Connection) -> tuple[int, int]:
    names = ("application_id", "user_version")
    owner, version = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
    return int(owner), int(version)
