"""Entries that are deleted by hand: those of a site, and old ones."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import koster
from koster.cache import MemoryCache, RedisCache, SqliteCache, open_cache
from koster.cache.store import key_prefix
from koster.dialects import DIALECTS
from tests.helpers.entries import ENTRY

SITE = "https://example.com"
#: Keys of other sites, and of none.
OTHERS = [
    "https://example.com:8443",
    "http://example.com",
    "https://www.example.com",
    "https://example.co",
    "https://xexample.com",
    "http://[::1]:8080",
    "x",
]
PREFIXES = {key_prefix(dialect.statuses) for dialect in DIALECTS.values()} | {"1-2;;3;4 "}


@pytest.fixture(params=["memory", "sqlite", "redis", "redis*[x]"])
def cache(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    make: Any
    if request.param == "memory":
        make = MemoryCache
    elif request.param == "sqlite":
        make = lambda: SqliteCache(tmp_path / "x.sqlite")  # noqa: E731
    else:
        url = request.getfixturevalue("redis_url")
        make = lambda: RedisCache(url, f"{request.node.name}:")  # noqa: E731
    with closing(make()) as cache:
        yield cache


@pytest.mark.parametrize(
    "url", [SITE, "https://EXAMPLE.com:443/a?b#c", "https://user:password@example.com/robots.txt"]
)
def test_a_site_is_deleted_for_all_dialects(cache: Any, url: str) -> None:
    assert len(PREFIXES) > 2
    assert cache.delete(url) == 0
    for prefix in PREFIXES:
        for key in (SITE, *OTHERS):
            cache.put(prefix + key, ENTRY)
    if not isinstance(cache, MemoryCache):
        assert cache.lease(SITE, "one", 10)
        assert cache.lease(f"1-2;;3;4 {SITE}", "one", 10)
    assert cache.delete(url) == len(PREFIXES)
    for prefix in PREFIXES:
        assert cache.get(prefix + SITE) is None
        assert all(cache.get(prefix + key) == ENTRY for key in OTHERS)
    assert cache.delete("http://[0:0::1]:8080/x") == len(PREFIXES)
    if not isinstance(cache, MemoryCache):
        assert not cache.lease(SITE, "two", 10)
        assert not cache.lease(f"1-2;;3;4 {SITE}", "two", 10)


def test_a_site_with_a_unicode_name_is_deleted(cache: Any) -> None:
    for url, key in (
        ("https://bücher.example/x", "https://xn--bcher-kva.example"),
        ("https://faß.example/", "https://xn--fa-hia.example"),
    ):
        cache.put(key, ENTRY)
        assert cache.delete(url) == 1
        assert cache.get(key) is None


@pytest.mark.parametrize("url", ["example.com", "ftp://example.com", "", "https://"])
def test_invalid_urls_are_errors(cache: Any, url: str) -> None:
    with pytest.raises(koster.UrlError):
        cache.delete(url)


def test_old_entries_are_purged(cache: Any) -> None:
    now = datetime.now(UTC)
    keys = [f"{prefix}https://{days}.example" for days in range(10) for prefix in PREFIXES]
    for key in reversed(keys):
        days = int(key.rpartition("/")[2].partition(".")[0])
        cache.put(key, replace(ENTRY, fetched=now - timedelta(days=days, hours=1)))
    assert cache.purge(older_than=timedelta(days=100)) == 0
    assert cache.purge(older_than=timedelta(days=7)) == 3 * len(PREFIXES)
    assert [key for key in keys if cache.get(key) is not None] == keys[: 7 * len(PREFIXES)]
    assert cache.purge(older_than=timedelta()) == 7 * len(PREFIXES)
    assert cache.purge(older_than=timedelta.max) == 0


@pytest.mark.parametrize(
    ("age", "error"),
    [
        (30, TypeError),
        ("30d", TypeError),
        (datetime.now(UTC), TypeError),
        (-timedelta(1), ValueError),
    ],
)
def test_the_age_is_checked(cache: Any, age: Any, error: type[Exception]) -> None:
    cache.put(SITE, ENTRY)
    with pytest.raises(error, match="older_than must"):
        cache.purge(older_than=age)
    assert cache.get(SITE) == ENTRY


def test_purge_reads_a_file_in_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("koster.cache.sqlite._RECORDS_AT_ONCE", 3)
    with closing(SqliteCache(tmp_path / "x")) as cache:
        for number in range(10):
            cache.put(f"{number}", ENTRY)
        assert cache.lease("5", "one", 0.001)
        time.sleep(0.01)
        cache._execute("INSERT INTO entries VALUES ('other', 'no record')", ())
        assert cache.purge(older_than=timedelta()) == 10
        assert cache._execute("SELECT key FROM entries", ()) == [("other",)]


def test_files_have_a_limit_by_default(tmp_path: Path) -> None:
    opened: Any = open_cache(tmp_path / "x")
    assert opened._max_bytes == SqliteCache(tmp_path / "x")._max_bytes == 1 << 30
    opened.close()
    assert SqliteCache(tmp_path / "x", None)._max_bytes is None
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="max_bytes must be at least 1"):
            SqliteCache(tmp_path / "x", wrong)


def test_deleting_from_a_lost_server_is_an_error(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import redis

    def fail(*_: object, **__: object) -> None:
        raise redis.ConnectionError("gone")

    with closing(RedisCache(redis_url)) as cache:
        monkeypatch.setattr(redis.Redis, "execute_command", fail)
        for call in (lambda: cache.delete(SITE), lambda: cache.purge(older_than=timedelta(1))):
            with pytest.raises(koster.CacheError, match="gone"):
                call()  # type: ignore[no-untyped-call]
