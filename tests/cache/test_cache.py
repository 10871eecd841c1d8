"""The memory, SQLite and Redis caches."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import koster
from koster._moments import FIRST, LAST
from koster.cache import MemoryCache, RedisCache, SqliteCache
from koster.cache.memory import LRUCache, memory_bytes
from koster.cache.redis import Server, _BoundedSocket
from koster.cache.resilient import ResilientCache
from koster.cache.store import _FORMAT, decode_entry, encode_entry, key_prefix
from koster.freshness import Hop
from tests.helpers.entries import ENTRY
from tests.helpers.support import EVERYTHING, ROOT


@pytest.fixture(params=["memory", "sqlite", "redis"])
def cache(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    if request.param == "memory":
        yield MemoryCache()
    elif request.param == "sqlite":
        with closing(SqliteCache(tmp_path / "cache.sqlite")) as opened_cache:
            yield opened_cache
    else:
        url = request.getfixturevalue("redis_url")
        with closing(RedisCache(url, prefix=f"test{os.getpid()}:")) as opened_cache:
            yield opened_cache


def test_records_without_a_charset_are_readable() -> None:
    _, line, body = encode_entry(ENTRY).split(b"\n", 2)
    fields = json.loads(line)
    del fields["charset"]
    content = json.dumps(fields).encode() + b"\n" + body
    assert decode_entry(b"%s %08x\n%s" % (_FORMAT, zlib.crc32(content), content)) == replace(
        ENTRY, charset=None
    )


def test_put_and_get(cache: Any) -> None:
    assert cache.get("a") is None
    cache.put("a", ENTRY)
    cache.put("b", replace(ENTRY, body=b""))
    assert cache.get("a") == ENTRY
    cache.put("a", replace(ENTRY, status=200))
    assert cache.get("a").status == 200
    assert cache.get("b").body == b""
    assert cache.get("c") is None


def test_first_and_last_moment_round_trip(cache: Any) -> None:
    for moment in (FIRST, LAST):
        entry = replace(ENTRY, fetched=moment, expires=moment, unreachable_since=moment)
        cache.put("end", entry)
        assert cache.get("end") == entry


def test_threads_share_one_cache(cache: Any) -> None:
    errors = []

    def work(number: int) -> None:
        try:
            for each in range(50):
                cache.put(f"{number} {each}", replace(ENTRY, status=each))
                assert cache.get(f"{number} {each}").status == each
        except (koster.KosterError, AssertionError, AttributeError) as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_corrupt_records_are_ignored() -> None:
    record = encode_entry(ENTRY)
    assert decode_entry(record) == ENTRY
    for at in range(len(record)):
        corrupt = bytearray(record)
        corrupt[at] ^= 0x20
        assert decode_entry(bytes(corrupt)) is None
        assert decode_entry(record[:at]) is None
    assert decode_entry(record + b"x") is None
    for other in (None, "text", 5, b"", b"\n", record.replace(b"entry-1", b"entry-0")):
        assert decode_entry(other) is None


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
), st.sampled_from([None, *json.loads(encode_entry(ENTRY).split(b"\n")[1])]))  # fmt: skip
def test_records_with_arbitrary_json(value: object, key: str | None) -> None:
    fields = json.loads(encode_entry(ENTRY).split(b"\n")[1])
    content = json.dumps(value if key is None else fields | {key: value}).encode() + b"\nbody"
    entry = decode_entry(b"koster-entry-1 %08x\n%s" % (zlib.crc32(content), content))
    if entry is not None:
        assert decode_entry(encode_entry(entry)) == entry


def test_memory_cache_evicts_the_least_recently_used_entry() -> None:
    cache = MemoryCache(entries=3)
    for key in "abc":
        cache.put(key, ENTRY)
    cache.get("a")
    cache.put("d", ENTRY)
    assert [key for key in "abcd" if cache.get(key)] == ["a", "c", "d"]
    cache.close()
    assert len(cache) == 0


def test_memory_cache_max_bytes() -> None:
    cache = MemoryCache(max_bytes=100_000)
    for number in range(100):
        cache.put(str(number), replace(ENTRY, body=b"x" * 10_000))
    assert 5 <= len(cache) <= 10
    assert cache.get("99") is not None
    cache.put("large", replace(ENTRY, body=b"x" * 200_000))
    assert cache.get("large") is None
    assert cache.get("99") is not None
    with pytest.raises(ValueError, match="at least 1"):
        MemoryCache(entries=0)


def test_memory_cache_has_at_most_ten_thousand_entries() -> None:
    cache = MemoryCache()
    for number in range(10_001):
        cache.put(str(number), ENTRY)
    assert len(cache) == 10_000
    assert cache.get("0") is None
    assert cache.get("1") is ENTRY


def test_memory_cache_has_at_most_64_mebibytes() -> None:
    large = replace(ENTRY, body=b"x" * (1 << 20))
    count = (64 << 20) // memory_bytes(large)
    assert count == 63
    cache = MemoryCache()
    for number in range(count + 1):
        cache.put(str(number), large)
    assert len(cache) == count
    assert cache.get("0") is None
    assert cache.get("1") is large


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 60)), max_size=60))
def test_lru_cache_weight_is_the_sum_of_its_entries(steps: list[tuple[int, int]]) -> None:
    table: LRUCache[int, int] = LRUCache(5, 100, lambda value: value)
    for key, value in steps:
        if value == 60:
            table.drop(key)
        else:
            table.put(key, value)
        values = [table.get(each) for each in range(10)]
        assert table.weight == sum(each for each in values if each is not None) <= 100
        assert len(table) <= 5


@given(st.lists(st.tuples(st.sampled_from(["get", "get", "put", "drop"]), st.integers(0, 6))))
def test_lru_cache_drops_what_was_not_used_for_longest(steps: list[tuple[str, int]]) -> None:
    table: LRUCache[int, int] = LRUCache(3, 100, lambda _: 1)
    used: list[int] = []
    for method, key in steps:
        if method == "get":
            assert table.get(key) == (key if key in used else None)
        elif method == "put":
            table.put(key, key)
        else:
            table.drop(key)
        is_kept = method == "put" or (method == "get" and key in used)
        used = [each for each in used if each != key] + [key] * is_kept
        used = used[-3:]
    assert [table.get(key) for key in used] == used
    assert len(table) == len(used)


@pytest.mark.parametrize(
    "content",
    [b"not a database, but long enough to be one " * 100, b"SQLite format 3\0" + b"\0" * 4000],
)
def test_non_sqlite_file_is_an_error_and_not_modified(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "cache.sqlite"
    path.write_bytes(content)
    with closing(SqliteCache(path)) as cache:
        for _ in range(2):
            with pytest.raises(koster.CacheError, match=r"cache\.sqlite: "):
                cache.get("a")
            with pytest.raises(koster.CacheError):
                cache.put("a", ENTRY)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "statement",
    ["CREATE TABLE theirs (a)", "PRAGMA user_version = 99", "PRAGMA application_id = 5"],
)
def test_foreign_sqlite_database_is_an_error_and_not_modified(
    tmp_path: Path, statement: str
) -> None:
    path = tmp_path / "theirs.sqlite"
    with closing(sqlite3.connect(path)) as foreign:
        foreign.execute(statement)
        foreign.commit()
    before = path.read_bytes()
    with (
        closing(SqliteCache(path)) as cache,
        pytest.raises(koster.CacheError, match="not a cache file of this version"),
    ):
        cache.get("a")
    assert path.read_bytes() == before


def test_records_of_another_version_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    with closing(SqliteCache(path)) as cache:
        cache.put("a", ENTRY)
        with closing(sqlite3.connect(path)) as raw:
            raw.execute("UPDATE entries SET record = 'text'")
            raw.commit()
        assert cache.get("a") is None
        cache.put("a", ENTRY)
        assert cache.get("a") == ENTRY
        assert list(cache.keys()) == ["a"]


@pytest.mark.parametrize("name", ["missing/cache.sqlite", ".", "\0"])
def test_invalid_cache_path_is_an_error(tmp_path: Path, name: str) -> None:
    with closing(SqliteCache(str(tmp_path / name))) as cache, pytest.raises(koster.CacheError):
        cache.put("a", ENTRY)


def test_full_disk_is_an_error(tmp_path: Path) -> None:
    with closing(SqliteCache(tmp_path / "cache.sqlite")) as cache:
        cache.put("a", ENTRY)
        assert cache._connection is not None
        cache._connection.execute("PRAGMA max_page_count = 8")
        with pytest.raises(koster.CacheError, match="full"):
            cache.put("b", replace(ENTRY, body=b"x" * 100_000))
        assert cache.get("a") == ENTRY


def test_sqlite_cache_max_bytes(tmp_path: Path) -> None:
    """The oldest entries are evicted; an entry that is written again counts as new."""
    path = tmp_path / "cache.sqlite"
    with closing(SqliteCache(path, max_bytes=400_000)) as cache:
        for number in range(300):
            cache.put(f"{number:03}", replace(ENTRY, body=b"x" * 10_000))
            cache.put("again", ENTRY)
        keys = sorted(cache.keys())
        assert "again" in keys
        assert keys[-2] == "299"
        assert 10 < len(keys) < 100
    assert path.stat().st_size < 1_500_000
    with closing(SqliteCache(path, max_bytes=1)) as cache:
        cache.put("a", ENTRY)
        assert not list(cache.keys())


def test_locked_file_is_an_error_for_writes_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("koster.cache.sqlite._TIMEOUT", 0.05)
    path = tmp_path / "cache.sqlite"
    with (
        closing(SqliteCache(path)) as cache,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        cache.put("a", ENTRY)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(koster.CacheError, match="locked"):
            cache.put("a", ENTRY)
        # Reads do not wait for the lock.
        assert cache.get("a") == ENTRY


def test_forked_child_opens_its_own_connection(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    with closing(SqliteCache(path)) as cache:
        cache.put("parent", ENTRY)
        pid = os.fork()
        if pid == 0:
            try:
                cache.put("child", ENTRY)
                os._exit(0 if cache.get("parent") == ENTRY else 1)
            finally:
                os._exit(2)
        assert os.waitpid(pid, 0)[1] == 0
        assert cache.get("child") == ENTRY


WRITER = """
import sys
from dataclasses import replace
sys.path.insert(0, sys.argv[3])
from tests.helpers.entries import ENTRY
from koster.cache import SqliteCache
from koster.errors import CacheError
cache = SqliteCache(sys.argv[1])
for count in range(10**9):
    entry = replace(ENTRY, status=count, body=b"%d\\n" % count * 3000)
    while True:
        try:
            cache.put(sys.argv[2], entry)
        except CacheError:
            # Other processes had the lock for very long.
            continue
        break
    print(count, flush=True)
"""


def last_acknowledged(output: bytes) -> int:
    """Return the number in the last complete line of a writer's output."""
    return int(output[: output.rfind(b"\n")].rsplit(b"\n", 1)[-1])


@pytest.mark.thorough
def test_killed_writer_loses_no_written_entries(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    for _ in range(3 if EVERYTHING else 1):
        names = ["one", "two", "three", "four"]
        tests_folder = str(ROOT)
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, path, name, tests_folder], stdout=subprocess.PIPE
            )
            for name in names
        ]
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.readline()
        time.sleep(0.4)
        written_counts = {}
        for name, writer in zip(names, writers, strict=True):
            writer.send_signal(signal.SIGKILL)
            written_counts[name] = last_acknowledged(b"0\n" + writer.communicate()[0])
        with closing(SqliteCache(path)) as cache:
            for name, count in written_counts.items():
                entry = cache.get(name)
                assert entry is not None
                # One more entry may have been written but not printed.
                assert entry.status in (count, count + 1)
                assert entry.body == b"%d\n" % entry.status * 3000
        with closing(sqlite3.connect(path)) as raw:
            assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def _put_one(path: Path, number: int, barrier: Any) -> None:
    cache = SqliteCache(path)
    barrier.wait()
    cache.put(str(number), ENTRY)
    cache.close()


def test_processes_create_one_file_concurrently(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(8)
    path = tmp_path / "cache.sqlite"
    processes = [
        context.Process(target=_put_one, args=(path, number, barrier)) for number in range(8)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 8
    with closing(SqliteCache(path)) as cache:
        assert sorted(cache.keys()) == [str(number) for number in range(8)]


def test_failed_cache_is_left_alone_for_ten_seconds() -> None:
    now = 0.0
    tries: list[float] = []

    class Failing(MemoryCache):
        def get(self, key: str) -> None:
            tries.append(now)
            raise OSError("down")

    resilient = ResilientCache(
        Failing(), koster.RFC9309.statuses, lambda _origin, _error: None, lambda: now
    )
    for moment in (0.0, 9.9, 10.0, 19.9):
        now = moment
        assert resilient.get("https://example.com") is None
    assert tries == [0.0, 10.0]


def test_lock_timeouts_of_threads_do_not_add_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("koster.cache.sqlite._TIMEOUT", 0.5)
    path = tmp_path / "cache.sqlite"
    with (
        closing(SqliteCache(path)) as cache,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        cache.put("a", ENTRY)
        other.execute("BEGIN IMMEDIATE")
        errors: list[koster.CacheError] = []

        def work() -> None:
            try:
                cache.put("a", ENTRY)
            except koster.CacheError as error:
                errors.append(error)

        threads = [threading.Thread(target=work) for _ in range(10)]
        start = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert time.monotonic() - start < 2
        assert len(errors) == 10


def test_closed_cache_raises(tmp_path: Path) -> None:
    cache = SqliteCache(tmp_path / "cache.sqlite")
    cache.put("a", ENTRY)
    cache.close()
    with pytest.raises(koster.CacheError, match="closed"):
        cache.get("a")


def test_key_prefix_differs_per_status_handling() -> None:
    statuses = [dialect.statuses for dialect in koster.DIALECTS.values()]
    statuses += [replace(statuses[0], unavailable=frozenset({number})) for number in (404, 410)]
    assert len({key_prefix(each) for each in statuses}) == len(set(statuses)) == 5
    assert key_prefix(statuses[0]) == ""


def test_memory_bytes_counts_redirect_urls() -> None:
    hop = Hop("https://example.com/" + "x" * 8000, 301, (("location", "x" * 1000),))
    assert memory_bytes(replace(ENTRY, hops=(hop,) * 5)) > 5 * 8000


def test_deeply_nested_record_is_ignored() -> None:
    content = b"[" * 200_000 + b"\n"
    assert decode_entry(b"koster-entry-1 %08x\n%s" % (zlib.crc32(content), content)) is None


def test_unreachable_redis_is_an_error(unused: int) -> None:
    for url in (f"redis://127.0.0.1:{unused}", "unix:///missing/redis.sock"):
        with pytest.raises(koster.CacheError, match="Redis"):
            RedisCache(url)


def test_redis_entries_expire_and_invalid_ones_are_ignored(redis_url: str) -> None:
    import redis

    with redis.Redis.from_url(redis_url) as client:
        cache = RedisCache(client, prefix="ttl:")
        cache.put("a", ENTRY)
        assert 40 * 86400 - 60 < int(client.ttl("ttl:a")) <= 40 * 86400  # type: ignore[arg-type]
        client.set("ttl:b", "nonsense")
        assert cache.get("b") is None
        client.lpush("ttl:c", "x")
        assert cache.get("c") is None
        cache.put("c", ENTRY)
        assert cache.get("c") == ENTRY
        cache.close()
        assert client.ping()
        with pytest.raises(koster.CacheError, match="closed"):
            cache.get("c")


def test_redis_answer_may_take_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("koster.cache.redis.time", SimpleNamespace(monotonic=lambda: now))
    settings = Server("redis://127.0.0.1:1").client.get_connection_kwargs()
    assert (settings["socket_timeout"], settings["socket_connect_timeout"]) == (1, 1)
    one, other = socket.socketpair()
    with one, other:
        bounded = _BoundedSocket(one)
        for start in (100.0, 200.0):
            now = start
            bounded.sendall(b"GET a")
            other.sendall(b"1")
            now = start + 0.99
            assert bounded.recv(1) == b"1"
            now = start + 1
            with pytest.raises(TimeoutError, match="response timed out"):
                bounded.recv(1)


def test_redis_answer_may_have_four_mebibytes() -> None:
    part = bytes(1 << 16)
    one, other = socket.socketpair()
    with one, other:
        bounded = _BoundedSocket(one)
        for _ in range(2):
            bounded.sendall(b"GET a")
            for _ in range(64):
                other.sendall(part)
                left = len(part)
                while left:
                    left -= len(bounded.recv(left))
        other.sendall(b"x")
        with pytest.raises(OSError, match="response of more than 4,194,304 bytes"):
            bounded.recv(1)


def test_redis_client_that_decodes_responses_is_rejected(redis_url: str) -> None:
    import redis

    client = redis.Redis.from_url(redis_url, decode_responses=True)
    with client, pytest.raises(TypeError, match="decode"):
        RedisCache(client)
