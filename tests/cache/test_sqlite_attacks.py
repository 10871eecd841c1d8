"""SQLite files that someone else wrote: nothing in them is run, and nothing waits for them."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

import koster
from koster.cache import SqliteCache, _sqlite_guard
from koster.cache._sqlite_guard import TABLE
from koster.cache.sqlite import _DELETE_OLDEST
from tests.helpers.entries import ENTRY

MARKS = "PRAGMA application_id = 0x6B6F7374; PRAGMA user_version = 1;"
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
#: The table as a cache has it, with something else.
WITH = f"{TABLE}; "
COLUMNS = "key TEXT PRIMARY KEY NOT NULL, record BLOB NOT NULL"


def write(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as raw:
        raw.executescript(f"BEGIN; {MARKS} {script}; COMMIT")


@pytest.mark.parametrize(
    "script",
    [
        f"CREATE VIEW entries AS SELECT '{{}}' AS key, ({ENDLESS}) AS record",
        f"{WITH} CREATE TRIGGER t AFTER INSERT ON entries BEGIN SELECT ({ENDLESS}); END",
        f"{WITH} CREATE TRIGGER t BEFORE DELETE ON entries BEGIN DELETE FROM entries; END",
        f"{WITH} CREATE VIEW v AS {ENDLESS}",
        f"{WITH} CREATE TABLE other (a)",
        f"{WITH} CREATE INDEX i ON entries (record)",
        f"{WITH} CREATE INDEX i ON entries (replace(hex(zeroblob(10000000)), '0', '00'))",
        f"{WITH} CREATE INDEX i ON entries (key) WHERE key LIKE '%a%a%a%a%'",
        f"CREATE TABLE entries ({COLUMNS}, CHECK (length(hex(zeroblob(99999999))) > 0))",
        f"CREATE TABLE entries ({COLUMNS}, a AS (hex(zeroblob(99999999))))",
        f"CREATE TABLE entries ({COLUMNS}, a DEFAULT (randomblob(99999999)))",
        f"CREATE TABLE entries ({COLUMNS}) WITHOUT ROWID",
        "CREATE TABLE entries (key TEXT PRIMARY KEY COLLATE NOCASE NOT NULL, record BLOB NOT NULL)",
        "CREATE TABLE entries (key TEXT PRIMARY KEY, record)",
        "CREATE VIRTUAL TABLE entries USING fts4(key, record)",
        "CREATE TABLE e2 (a)",
        "",
        f"COMMIT; PRAGMA encoding = 'UTF-16le'; BEGIN; {TABLE}",
        "".join(f"CREATE TABLE t{number} (a);" for number in range(300)),
    ],
)
def test_another_schema_is_an_error_at_once(tmp_path: Path, script: str) -> None:
    path = tmp_path / "cache.sqlite"
    try:
        write(path, script)
    except sqlite3.OperationalError as error:
        pytest.skip(f"this SQLite cannot make the file: {error}")
    before = path.read_bytes()
    start = time.monotonic()
    with closing(SqliteCache(path, max_bytes=1)) as cache:
        with pytest.raises(koster.CacheError, match="not the tables of a koster cache"):
            cache.check()
        with pytest.raises(koster.CacheError):
            cache.get("a")
        with pytest.raises(koster.CacheError):
            cache.put("a", ENTRY)
    assert time.monotonic() - start < 1
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "change",
    [
        f"CREATE TRIGGER t BEFORE INSERT ON entries BEGIN SELECT ({ENDLESS}); END",
        f"CREATE TRIGGER t AFTER DELETE ON entries BEGIN SELECT ({ENDLESS}); END",
        f"DROP TABLE entries; CREATE VIEW entries AS SELECT 'a' AS key, ({ENDLESS}) AS record",
    ],
)
def test_a_schema_that_changes_later_is_not_run(tmp_path: Path, change: str) -> None:
    path = tmp_path / "cache.sqlite"
    with closing(SqliteCache(path, max_bytes=1)) as cache:
        cache.put("a", ENTRY)
        with closing(sqlite3.connect(path)) as other:
            other.executescript(change)
        start = time.monotonic()

        def put_many() -> None:
            for _ in range(60):
                cache.put("b", ENTRY)

        with pytest.raises(koster.CacheError):
            put_many()
        assert time.monotonic() - start < 1


def test_a_statement_that_does_not_end_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("koster.cache.sqlite._MAX_SECONDS", 0.1)
    monkeypatch.setattr("koster.cache.sqlite._MAX_SECONDS_OF_MANY", 0.1)
    monkeypatch.setattr(_sqlite_guard, "_STEPS", 100)
    path = tmp_path / "cache.sqlite"
    with closing(SqliteCache(path)) as cache:
        cache.put("a", ENTRY)
        assert cache._connection is not None
        cache._connection.set_authorizer(None)
        with pytest.raises(koster.CacheError, match="interrupted"):
            cache._execute(ENDLESS, (), 0.1)
        assert cache.get("a") == ENTRY


def test_a_tree_of_pages_that_contains_itself_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each page of the table has one page below it many times: 250 to the power of 5 rows."""
    monkeypatch.setattr("koster.cache.sqlite._MAX_SECONDS", 0.1)
    monkeypatch.setattr("koster.cache.sqlite._MAX_SECONDS_OF_MANY", 0.1)
    path = tmp_path / "cache.sqlite"
    write(path, f"{TABLE}; INSERT INTO entries VALUES ('a', x'00');")
    pages = [path.read_bytes()[at : at + 4096] for at in range(0, path.stat().st_size, 4096)]
    root, size = 2, len(pages)
    pages.append(pages[root - 1])
    pages += [interior_page(child) for child in range(size + 1, size + 6)]
    pages[root - 1] = interior_page(size + 6)
    header = bytearray(pages[0])
    header[28:32] = len(pages).to_bytes(4, "big")
    path.write_bytes(b"".join([bytes(header), *pages[1:]]))
    with closing(SqliteCache(path, max_bytes=1)) as cache:
        start = time.monotonic()
        for use in (lambda: cache.put("b", ENTRY), lambda: cache.get("b"), cache.keys):
            try:
                use()
            except koster.CacheError:
                continue
        assert time.monotonic() - start < 3


def interior_page(child: int, cells: int = 250) -> bytes:
    """Return a page of a table of which all pages below are the same."""
    page = bytearray(4096)
    start = 4096 - 5 * cells
    page[0] = 5
    page[3:5] = cells.to_bytes(2, "big")
    page[5:7] = start.to_bytes(2, "big")
    page[8:12] = child.to_bytes(4, "big")
    for number in range(cells):
        at = start + 5 * number
        page[12 + 2 * number : 14 + 2 * number] = at.to_bytes(2, "big")
        page[at : at + 5] = child.to_bytes(4, "big") + bytes([number % 128])
    return bytes(page)


def test_huge_values_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    write(path, f"{TABLE}; INSERT INTO entries VALUES ('a', zeroblob(20000000));")
    with closing(SqliteCache(path)) as cache:
        with pytest.raises(koster.CacheError, match="too big"):
            cache.get("a")
        cache.put("a", ENTRY)
        assert cache.get("a") == ENTRY


@pytest.mark.parametrize("value", ["1", "'text'", "x''", "1e999"])
def test_values_of_other_types_are_no_entries(tmp_path: Path, value: str) -> None:
    path = tmp_path / "cache.sqlite"
    write(path, f"{TABLE}; INSERT INTO entries VALUES ('a', {value}), ('b', CAST(x'FF' AS TEXT));")
    with closing(SqliteCache(path)) as cache:
        assert cache.get("a") is None
        with pytest.raises(koster.CacheError, match="UTF-8"):
            cache.get("b")
        cache.put("b", ENTRY)
        assert cache.get("b") == ENTRY


@pytest.mark.parametrize("cut", [100, 1_000, 4_096, 5_000, 9_000])
def test_broken_files_are_errors(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "cache.sqlite"
    write(path, f"{TABLE}; INSERT INTO entries VALUES ('a', zeroblob(9000));")
    path.write_bytes(path.read_bytes()[:cut])
    with closing(SqliteCache(path)) as cache, pytest.raises(koster.CacheError):
        cache.get("a")


def test_the_oldest_twentieth_is_deleted(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    with closing(SqliteCache(path)) as cache:
        for number in range(40):
            cache.put(f"{number:02}", ENTRY)
        cache._execute("DELETE FROM entries WHERE key = '05'", ())
        for left in (38 - 1, 38 - 3):
            cache._execute(_DELETE_OLDEST, ())
            assert len(list(cache.keys())) == left
