"""Locations and servers of caches and pacers that cannot be used are errors at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import redis
import redis.asyncio
import redis.sentinel

import koster
from koster.cache import MemoryCache, RedisCache, SqliteCache, open_cache
from koster.cache.redis import _pool_like, is_outage
from koster.fetch import FleetPacer
from tests.helpers.entries import ENTRY
from tests.helpers.server import Site

MAKERS = [RedisCache, FleetPacer]
NOW = datetime.now(UTC)
RULES = koster.parse("User-agent: *\nCrawl-delay: 60").rules_for("FooBot")


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("", "is empty: pass the path of a file, or a URL"),
        (" ", "is empty"),
        ("reddis://h/0", r"unknown scheme 'reddis' of a cache: did you mean redis://\?"),
        ("postgres://u:secret@h/d", "unknown scheme 'postgres' of a cache: pass the path"),
        ("http://h", "unknown scheme 'http'"),
        ("sqlite:///x.sqlite", "unknown scheme 'sqlite' of a cache: pass the path without"),
        ("file:///x.sqlite", "unknown scheme 'file'"),
        ("redis:/h", "must be a str that begins with redis://"),
        (Path("redis://h/0"), "must be a str that begins with redis://"),
        ("redis:localhost", "begins with redis://"),
        ("localhost:6379", "begins with redis://"),
        ("redis+sentinel://h/0", r"master_for\(name\)"),
        ("redis+cluster://h/0", "a Redis Cluster cannot be used"),
        ("redis://h/news", "a Redis database is a number, such as /0, not 'news'"),
        ("redis://h:abc/0", "invalid URL of a Redis server"),
        ("redis://:secret/x@h/0", "percent-encoded"),
        ("redis://h/0?timeout=5", "unknown option: .*timeout"),
    ],
)
def test_invalid_location_is_an_error(
    location: Any, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message) as raised:
        koster.RobotsClient("FooBot/1.0", cache=location)
    assert "secret" not in str(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_paths_with_colons_are_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("robots:v2.sqlite", "a:b", "C:x", str(tmp_path / "x:1")):
        cache = open_cache(name)
        assert isinstance(cache, SqliteCache)
        cache.close()


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("missing/deeper/x.sqlite", "the folder missing/deeper does not exist: create it"),
        (".", "it is a folder: name a file in it"),
        ("file/x.sqlite", "file is a file, not a folder"),
    ],
)
def test_unusable_path_says_why(
    path: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    with pytest.raises(koster.CacheError, match=message):
        koster.RobotsClient("FooBot/1.0", cache=path)


def closed_caches(folder: Path, redis_url: str) -> list[Any]:
    caches = [MemoryCache(), SqliteCache(folder / "x.sqlite"), RedisCache(redis_url, "closed:")]
    for cache in caches:
        cache.put("a", ENTRY)  # type: ignore[attr-defined]
        cache.close()  # type: ignore[attr-defined]
    return caches


def test_closed_cache_is_an_error(tmp_path: Path, redis_url: str) -> None:
    for cache in closed_caches(tmp_path, redis_url):
        with pytest.raises(koster.CacheError, match="closed: create a new"):
            koster.RobotsClient("FooBot/1.0", cache=cache)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("server", "message"),
    [
        (lambda: None, r"must be a URL such as redis://.*, or a redis\.Redis, not .*NoneType"),
        (lambda: 6379, "not builtins.int"),
        (object, "not builtins.object"),
        (
            lambda: redis.asyncio.Sentinel([("127.0.0.1", 1)]).master_for("main"),  # type: ignore[no-untyped-call]
            "SentinelConnectionPool of SentinelManagedConnection cannot be used: pass the server's",
        ),
        (lambda: redis.asyncio.Redis().pipeline(), "pass its client"),
        (redis.ConnectionPool, r"pass Redis\(connection_pool=pool\)"),
        (redis.asyncio.ConnectionPool, r"pass Redis\(connection_pool=pool\)"),
        (lambda: redis.Redis().pipeline(), "pass its client"),
        (
            lambda: redis.asyncio.RedisCluster.__new__(redis.asyncio.RedisCluster),
            "a Redis Cluster cannot be used",
        ),
        (lambda: redis.RedisCluster.__new__(redis.RedisCluster), "a Redis Cluster cannot be used"),
        (lambda: redis.sentinel.Sentinel([]), "or a redis.Redis, not redis.sentinel.Sentinel"),  # type: ignore[no-untyped-call]
        (lambda: redis.Redis, "or a redis.Redis, not"),
    ],
)
def test_wrong_client_is_an_error(
    make: Callable[[Any], object], server: Callable[[], Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        make(server())


@pytest.mark.parametrize("make", MAKERS)
def test_server_is_tried_at_once(make: Callable[[Any], Any], redis_url: str, unused: int) -> None:
    for url in ("redis", "rediss"):
        with pytest.raises(koster.CacheError, match=r"Redis: .*onnect"):
            make(f"{url}://127.0.0.1:{unused}/0")
    with pytest.raises(koster.CacheError, match=r"Redis: .*onnect"):
        make(redis.Redis(port=unused, retry=None))
    with pytest.raises(koster.CacheError, match="DB index is out of range"):
        make(redis_url.replace("/0", "/9999"))
    with pytest.raises(ValueError, match="begins with redis://"):
        make("localhost")
    for url in (redis_url, redis_url.upper(), f"{redis_url}/", f"{redis_url}?socket_timeout=2"):
        make(url).close()


def test_bugs_are_no_outages(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def buggy(*_: object) -> None:
        raise TypeError("a bug")

    with (
        closing(RedisCache(redis_url, "wrong:")) as cache,
        closing(FleetPacer(redis_url, prefix="wrong:", on_event=pytest.fail)) as pacer,
    ):
        with pytest.raises(redis.DataError):
            cache._server.client.set("a", object())  # type: ignore[arg-type]
        monkeypatch.setattr(redis.Redis, "get", buggy)
        with pytest.raises(TypeError, match="a bug"):
            cache.get("a")
        monkeypatch.setattr(redis.Redis, "hmget", buggy)
        with pytest.raises(TypeError, match="a bug"):
            pacer.turn("a", RULES, NOW)
        monkeypatch.setattr(redis.Redis, "hmget", lambda self: None)
        with pytest.raises(TypeError, match="positional argument"):
            pacer.next_request("a", RULES, NOW)


@pytest.mark.parametrize(
    ("error", "outage"),
    [
        (redis.ConnectionError(), True),
        (redis.ResponseError(), True),
        (TimeoutError(), True),
        (redis.DataError(), False),
        (AttributeError(), False),
        (ValueError(), False),
    ],
)
def test_kinds_of_errors(error: Exception, outage: bool) -> None:
    assert is_outage(error) is outage


@pytest.mark.parametrize(
    "pool", [redis.asyncio.ConnectionPool, redis.asyncio.BlockingConnectionPool]
)
def test_asyncio_clients_give_their_address_and_credentials(
    redis_url: str, site: Site, pool: Any
) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /x\n")
    url = redis_url.replace("/0", "/3")
    options = {"username": "crawler", "password": "p/w d", "decode_responses": True}

    async def main() -> None:
        # Its own connections return text: koster's return bytes.
        async with redis.asyncio.Redis.from_pool(pool.from_url(url, **options)) as client:
            async with koster.AsyncRobotsClient(
                "FooBot/1.0", cache=RedisCache(client), pacer=FleetPacer(client)
            ) as robots:
                assert not await robots.allowed(f"{site.url}/x")
                async with robots.turn(f"{site.url}/y"):
                    pass
            names = [name async for name in client.scan_iter("koster:*")]
            assert f"koster:{site.url}" in names
            assert any(name.startswith("koster:pace:") for name in names)
            await client.flushdb()

    with closing(redis.Redis.from_url(redis_url)) as admin:
        admin.acl_setuser(
            "crawler", enabled=True, passwords=["+p/w d"], keys=["*"], categories=["+@all"]
        )
        asyncio.run(main())


def test_asyncio_clients_keep_their_kind_of_connection() -> None:
    for client, kind in [
        (redis.asyncio.Redis(host="h", ssl=True, ssl_ca_certs="ca.pem"), redis.SSLConnection),
        (redis.asyncio.Redis(unix_socket_path="/s"), redis.UnixDomainSocketConnection),
        (redis.asyncio.from_url("rediss://a:b@h:7/3?ssl_check_hostname=no"), redis.SSLConnection),
    ]:
        pool = _pool_like(client)
        connection = pool.connection_class(**pool.connection_kwargs)
        assert type(connection) is kind
        theirs = client.connection_pool.connection_class(**client.connection_pool.connection_kwargs)
        for name in ("host", "port", "path", "db", "username", "password", "ca_certs"):
            assert getattr(connection, name, None) == getattr(theirs, name, None), name
