"""An SQLite cache on a full disk, in a read-only folder or locked, and clients that use it."""

from __future__ import annotations

import itertools
import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import koster
from koster.cache import SqliteCache
from koster.cache.resilient import ResilientCache
from koster.fetch import Event, EventName, MockTransport, RobotsClient
from tests.helpers import asking, commands
from tests.helpers.disks import Disk
from tests.helpers.entries import ENTRY
from tests.helpers.fetching import FILE, KINDS, NAME
from tests.helpers.server import Site

#: Some kilobytes.
LARGE = replace(ENTRY, body=b"Disallow: /private\n" * 300)


def put_until_full(cache: SqliteCache, prefix: str) -> list[str]:
    """Write entries until that fails; return the keys of those that were written."""
    written: list[str] = []
    for number in itertools.count():
        try:
            cache.put(f"{prefix}{number}", LARGE)
        except koster.CacheError as error:
            if "database or disk is full" in str(error):
                break
            raise
        written.append(f"{prefix}{number}")
    return written


def check_stored(path: Path, keys: list[str]) -> None:
    """Open a file anew, and check that entries are in it."""
    with closing(SqliteCache(path)) as cache:
        assert [key for key in keys if cache.get(key) != LARGE] == []
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_full_disk_loses_no_written_entry(disk: Disk) -> None:
    """`SqliteCache` loses nothing that it has written; `put` says that the disk is full."""
    path = disk.folder / "cache.sqlite"
    disk.fill(leave=400_000)
    with closing(SqliteCache(path)) as cache:
        written = put_until_full(cache, "first ")
        assert len(written) > 10
        assert cache.get(written[-1]) == LARGE
    check_stored(path, written)
    disk.free()
    with closing(SqliteCache(path)) as cache:
        cache.put("x", LARGE)
    check_stored(path, [*written, "x"])


def test_full_disk_with_two_processes_writing(disk: Disk) -> None:
    """Also for the connection that did not see the error."""
    path = disk.folder / "cache.sqlite"
    disk.fill(leave=400_000)
    with closing(SqliteCache(path)) as one, closing(SqliteCache(path)) as other:
        written = put_until_full(one, "one ")
        written += put_until_full(other, "other ")
        assert [key for key in written if one.get(key) != LARGE] == []
        assert [key for key in written if other.get(key) != LARGE] == []
    check_stored(path, written)


@pytest.mark.parametrize("is_read_only", [False, True])
def test_cache_that_cannot_be_created(disk: Disk, is_read_only: bool) -> None:
    """A cache that cannot be opened raises `CacheError` when the client is created."""
    if is_read_only:
        disk.make_read_only()
    else:
        disk.fill()
    path = disk.folder / "cache.sqlite"
    with pytest.raises(koster.CacheError, match=f"cannot open the cache {path}: "):
        RobotsClient(NAME, cache=path)
    if not is_read_only:
        disk.free()
        with RobotsClient(NAME, cache=path, transport=MockTransport({})) as client:
            assert client.allowed("https://example.com/")


def test_cache_in_a_read_only_folder_is_not_changed(disk: Disk) -> None:
    path = disk.folder / "cache.sqlite"
    with closing(SqliteCache(path)) as cache:
        cache.put("a", ENTRY)
    before = path.read_bytes()
    disk.make_read_only()
    with closing(SqliteCache(path)) as cache:
        with pytest.raises(koster.CacheError):
            cache.put("b", ENTRY)
        with pytest.raises(koster.CacheError):
            cache.get("a")
    assert path.read_bytes() == before
    assert [each.name for each in disk.folder.iterdir()] == [path.name]


#: Files that need several pages of a cache.
SITES = MockTransport({f"https://{number}.example": FILE * 300 for number in range(50)})


@pytest.mark.parametrize("kind", KINDS)
def test_full_disk_stops_no_decision(
    kind: str, disk: Disk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A full disk stops no decision; it is reported once, and the cache is tried again."""
    monkeypatch.setattr("koster.cache.resilient.RETRY_SECONDS", 0)
    path = disk.folder / "cache.sqlite"
    events: list[Event] = []
    reported: list[int] = []

    def count() -> None:
        reported.append([event.name for event in events].count(EventName.CACHE_FAILED))

    rounds = [
        [f"https://{10 * step + each}.example/private" for each in range(10)] for step in range(5)
    ]
    decisions = asking.decide(
        kind,
        [
            rounds[0], count,
            disk.fill, rounds[1], count, rounds[2], count,
            disk.free, rounds[3], count,
            disk.fill, rounds[4], count,
        ],
        cache=path, transport=SITES, on_event=events.append,
    )  # fmt: skip
    assert [each.allowed for each in decisions] == [False] * 50
    assert reported == [0, 1, 1, 1, 2]
    assert len([each for each in caplog.records if each.levelname == "WARNING"]) == 2
    with closing(SqliteCache(path)) as cache:
        stored = [key for key in cache.keys() if cache.get(key) is not None]  # noqa: SIM118 - no dict
    kept = {url.removesuffix("/private") for url in (*rounds[0], *rounds[3])}
    assert kept <= set(stored)


@pytest.mark.parametrize("kind", KINDS)
def test_locked_cache_stops_no_decision(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program locks the file: decisions go on, and wait for it only once."""
    monkeypatch.setattr("koster.cache.sqlite._TIMEOUT", 0.3)
    path = tmp_path / "cache.sqlite"
    events: list[Event] = []
    urls = [f"https://{number}.example/private" for number in range(20)]
    with closing(SqliteCache(path)) as cache:
        cache.put("a", ENTRY)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        decisions = asking.decide(kind, [urls], cache=path, transport=SITES, on_event=events.append)
        assert time.monotonic() - began < 3
        other.execute("ROLLBACK")
    assert [each.allowed for each in decisions] == [False] * 20
    assert [event.name for event in events].count(EventName.CACHE_FAILED) == 1


def test_cache_is_tried_again_after_ten_seconds(disk: Disk) -> None:
    """The client continues without a failed cache for ten seconds, then tries again."""
    seconds = 0.0
    failures: list[Exception] = []
    with closing(SqliteCache(disk.folder / "cache.sqlite")) as cache:
        resilient = ResilientCache(
            cache, koster.RFC9309.statuses, lambda _, error: failures.append(error), lambda: seconds
        )
        resilient.put(ENTRY)
        disk.fill()
        large = replace(LARGE, origin="https://large.example", body=b"x" * 100_000)
        resilient.put(large)
        assert len(failures) == 1
        disk.free()
        seconds = 9.9
        resilient.put(large)
        assert resilient.get(ENTRY.origin) is None
        seconds = 10.0
        assert resilient.get(ENTRY.origin) == ENTRY
        assert resilient.get(large.origin) is None
        resilient.put(large)
        assert resilient.get(large.origin) == large
    assert len(failures) == 1


def test_command_continues_without_a_cache_that_cannot_be_opened(disk: Disk, site: Site) -> None:
    site.robots(body=FILE)
    line = f"check {site.url}/private --cache {{disk}}/cache.sqlite"
    disk.fill()
    result = commands.run(line, disk.folder, disk.folder)
    assert result.returncode == 1
    assert "Disallow: /private" in result.stdout
    assert result.stderr.startswith(
        f"koster: the cache failed and is not used: cannot open the cache {disk.folder}/cache.sqlite: "
    )
    disk.free()
    result = commands.run(line, disk.folder, disk.folder)
    assert (result.returncode, result.stderr) == (1, "")
