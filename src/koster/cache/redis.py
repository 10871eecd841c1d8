"""A cache on a Redis server, for a fleet. Needs the extra ``redis``."""

from __future__ import annotations

import contextlib
import re
import threading
import time
import weakref
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ..errors import CacheError, missing
from ..freshness import MAX_UNREACHABLE
from ._selection import is_of, moment_before, origins_of
from .forks import at_fork
from .store import decode_entry, encode_entry

try:
    import redis
    import redis.asyncio
    from redis.backoff import NoBackoff
    from redis.retry import Retry
except ModuleNotFoundError as error:
    raise missing("RedisCache", "redis") from error

from collections.abc import Callable, Iterator

from ..freshness import Entry

if TYPE_CHECKING:
    import socket


#: Entries that are not refreshed expire: a stale file is unused after `MAX_UNREACHABLE`.
_TTL = MAX_UNREACHABLE + timedelta(days=10)

#: Names asked for at once.
_NAMES_AT_ONCE = 1000

#: Maximum seconds of a lease.
_MAX_LEASE = 15.0

#: Maximum seconds per response: decisions must not wait long for a cache.
_TIMEOUT = 1.0

#: Maximum bytes per response. The largest entry has about 2 MiB: a file of 500 KiB may triple in
#: size in UTF-8, plus the headers of six requests.
_MAX_RESPONSE_BYTES = 4 << 20


class RedisCache:
    """Caches entries on a Redis server, shared by a fleet.

    Args:
        server: A URL such as ``redis://localhost:6379/0``; a client (`redis.Redis`) that returns
            bytes, not text, which the caller closes; or a `redis.asyncio.Redis`, whose address,
            credentials and TLS settings are used for new connections. `AsyncRobotsClient` uses all
            of them in threads, so that the event loop does not wait.
        prefix: The prefix of all keys.

    Raises:
        CacheError: the server does not respond, or the database does not exist.
        TypeError: the client cannot be used, or returns text.
        ValueError: the URL is invalid.
    """

    def __init__(
        self, server: str | redis.Redis | redis.asyncio.Redis, prefix: str = "koster:"
    ) -> None:
        self._server = Server(server)
        self._prefix = prefix
        self._is_closed = False
        if self._server.client.get_connection_kwargs().get("decode_responses"):
            raise TypeError("the Redis client must return bytes: set decode_responses=False")
        self._server.check()

    def check(self) -> None:
        """Check that the server responds.

        Raises:
            CacheError: it does not, or the cache is closed.
        """
        self._check_open()
        self._server.check()

    def _check_open(self) -> None:
        if self._is_closed:
            raise CacheError("Redis: the cache is closed: create a new RedisCache")

    def get(self, key: str) -> Entry | None:
        """Return the entry of a key; None if it is missing or invalid.

        Raises:
            CacheError: the server is down, or responds with an error or invalid data; or the cache
                is closed.
        """
        self._check_open()
        try:
            return decode_entry(self._server.client.get(self._prefix + key))
        except redis.ResponseError as error:
            if is_wrong_type(error):
                # Another program's key: `put` overwrites it.
                return None
            raise CacheError(f"Redis: {error}") from error
        except Exception as error:
            raise self._server.to_cache_error(error) from error

    def put(self, key: str, entry: Entry) -> None:
        """Store an entry.

        Raises:
            CacheError: as `get`.
        """
        record = encode_entry(entry)
        self._check_open()
        try:
            self._server.client.set(self._prefix + key, record, ex=_TTL)
        except Exception as error:
            raise self._server.to_cache_error(error) from error

    def delete(self, url: str) -> int:
        """Delete the entries of a URL's site, for all dialects; return how many there were.

        Raises:
            UrlError: the URL is invalid, or not HTTP or HTTPS.
            CacheError: as `get`.
        """
        origins = origins_of(url)
        deleted = 0
        for origin in origins:
            deleted += self._delete(self._prefix + origin)
            for name in self._names(f"{_escape_glob(self._prefix)}* {_escape_glob(origin)}"):
                deleted += self._delete(name) if is_of(name, origins) else 0
        return deleted

    def purge(self, *, older_than: timedelta) -> int:
        """Delete the entries that were fetched longer ago; return how many there were.

        Raises:
            TypeError: ``older_than`` is not a timedelta.
            ValueError: it is negative.
            CacheError: as `get`.
        """
        moment = moment_before(older_than)
        deleted = 0
        for name in self._names(f"{_escape_glob(self._prefix)}*"):
            entry = self.get(name.removeprefix(self._prefix))
            if entry is not None and entry.fetched < moment:
                deleted += self._delete(name)
        return deleted

    def _delete(self, name: str) -> int:
        self._check_open()
        try:
            return int(str(self._server.client.delete(name)))
        except Exception as error:
            raise self._server.to_cache_error(error) from error

    def _names(self, pattern: str) -> Iterator[str]:
        """Yield the names of keys with text that match a pattern, but not those of leases."""
        leases = self._lease_name("")
        cursor: Any = 0
        while True:
            self._check_open()
            try:
                found: Any = self._server.client.scan(cursor, pattern, _NAMES_AT_ONCE, "string")
                cursor, names = found
                decoded = [name.decode("utf-8", "replace") for name in names]
            except Exception as error:
                raise self._server.to_cache_error(error) from error
            yield from (name for name in decoded if not name.startswith(leases))
            if not cursor:
                return

    def lease(self, key: str, owner: str, seconds: float) -> bool:
        """Take a key's lease, or lengthen the owner's; False if another owner holds it.

        Raises:
            CacheError: as `get`.
        """
        self._check_open()
        name, millis = self._lease_name(key), int(min(seconds, _MAX_LEASE) * 1000)
        try:
            return self._take_lease(name, owner, millis)
        except Exception as error:
            if is_wrong_type(error):
                return True
            raise self._server.to_cache_error(error) from error

    def _take_lease(self, name: str, owner: str, millis: int) -> bool:
        client = self._server.client
        if client.set(name, owner, px=millis, nx=True):
            return True
        if client.get(name) == owner.encode():
            return bool(client.set(name, owner, px=millis, xx=True))
        left: Any = client.pttl(name)
        if left != -1 and left <= _MAX_LEASE * 1000:
            return False
        # Another program's key.
        client.delete(name)
        return bool(client.set(name, owner, px=millis, nx=True))

    def release(self, key: str, owner: str) -> None:
        """End a key's lease if the owner holds it.

        Raises:
            CacheError: as `get`.
        """
        self._check_open()
        client, name = self._server.client, self._lease_name(key)
        try:
            if client.get(name) == owner.encode():
                client.delete(name)
        except Exception as error:
            raise self._server.to_cache_error(error) from error

    def _lease_name(self, key: str) -> str:
        return f"{self._prefix}lease:{key}"

    def close(self) -> None:
        """Close the connections, unless the client is the caller's; later calls raise."""
        self._is_closed = True
        self._server.close()


def _escape_glob(text: str) -> str:
    return re.sub(r"([\[\]*?\\^-])", r"\\\1", text)


def is_wrong_type(error: Exception) -> bool:
    """Return whether an error means that a key has a value of another type."""
    # Errors of scripts do not begin with it.
    return isinstance(error, redis.ResponseError) and "WRONGTYPE" in str(error)


#: The packages whose frames say who raised an error.
_OWN, _THEIRS = "koster", ("redis", "pyrate_limiter")


def is_outage(error: Exception) -> bool:
    """Return whether the server caused an error: it is down, or its response is invalid.

    redis-py does not define its errors for malformed responses, so whatever its own code raises
    counts. What koster's code raises, as a call with wrong arguments does, is a bug.
    """
    if isinstance(error, redis.DataError):
        return False
    if isinstance(error, (redis.RedisError, OSError)):
        return True
    raised_by = _OWN
    traceback = error.__traceback__
    while traceback is not None:
        package = str(traceback.tb_frame.f_globals.get("__name__")).partition(".")[0]
        raised_by = package if package in (_OWN, *_THEIRS) else raised_by
        traceback = traceback.tb_next
    return raised_by != _OWN


class Server:
    """A Redis server: a new client for its URL or an asyncio client's, or the caller's client.

    Raises:
        TypeError: it is neither a str nor a client that can be used.
        ValueError: the URL is invalid.
    """

    def __init__(self, server: str | redis.Redis | redis.asyncio.Redis) -> None:
        self._owns_client = isinstance(server, (str, redis.asyncio.Redis))
        self._sockets: weakref.WeakSet[_BoundedSocket] = weakref.WeakSet()
        if isinstance(server, str):
            self.client = self._create_client(_checked_url(server))
        else:
            client = _checked_client(server)
            if isinstance(client, redis.asyncio.Redis):
                client = self._limited(redis.Redis.from_pool(_pool_like(client)))
            self.client = client
        at_fork(in_child=self._reset_after_fork)

    def check(self) -> None:
        """Check that the server responds.

        Raises:
            CacheError: it does not, or has no such database.
        """
        try:
            self.client.ping()
        except Exception as error:
            self.close()
            raise self.to_cache_error(error) from error

    def to_cache_error(self, error: Exception) -> Exception:
        """Return the `CacheError` for an error of the server; any other error as it is."""
        if not is_outage(error):
            return error
        self.drop_connections(error)
        return CacheError(f"Redis: {str(error) or type(error).__name__}")

    def _create_client(self, url: str) -> redis.Redis:
        """Return a client without retries, with limits on time and bytes per response."""
        try:
            client = redis.Redis.from_url(url, **_limits())
            pool = client.connection_pool
            # Connects to nothing, but names options that do not exist.
            pool.connection_class(**pool.connection_kwargs)
        except TypeError as error:
            raise ValueError(f"the URL of the Redis server: unknown option: {error}") from error
        except ValueError:
            # The original message may have a part of the password.
            raise ValueError(
                "invalid URL of a Redis server: write redis://user:password@host:6379/0, with "
                "percent-encoded special characters in the password"
            ) from None
        return self._limited(client)

    def _limited(self, client: redis.Redis) -> redis.Redis:
        """Limit the time and length of each response of a new client."""
        pool = client.connection_pool
        bases, members = (_BoundedConnection, pool.connection_class), {"sockets": self._sockets}
        pool.connection_class = type("BoundedConnection", bases, members)
        return client

    def _reset_after_fork(self) -> None:
        """Replace the client's locks in a child process.

        redis-py creates new connections there, but first acquires locks that a thread of the
        parent may hold.
        """
        pool = self.client.connection_pool
        for each in (self.client, pool, *vars(pool).values()):
            _replace_locks(each)
        # Closes the child's copies without sending anything.
        for socket_ in list(self._sockets):
            socket_.close()

    def drop_connections(self, error: Exception) -> None:
        """Close idle connections if one may have an unread rest of a response."""
        if not isinstance(error, (redis.RedisError, OSError)):
            # If this fails, the next use fails, too, and is reported.
            with contextlib.suppress(Exception):
                self.client.connection_pool.disconnect(inuse_connections=False)

    def close(self) -> None:
        """Close the connections, unless the client is the caller's."""
        if self._owns_client:
            self.client.close()


def _checked_url(url: str) -> str:
    """Return the URL of a server, with its scheme in lower case.

    Raises:
        ValueError: its scheme is not that of a single server, or its database is not a number.
    """
    scheme, separator, rest = url.partition("://")
    scheme = scheme.lower()
    if "sentinel" in scheme:
        raise ValueError(
            f"{scheme}:// is not supported: pass the client "
            "redis.sentinel.Sentinel([(host, port), …]).master_for(name)"
        )
    if "cluster" in scheme:
        raise ValueError(f"{scheme}:// is not supported: {_NO_CLUSTER}")
    if not separator or scheme not in ("redis", "rediss", "unix"):
        raise ValueError("the URL of a Redis server begins with redis://, rediss:// or unix://")
    # redis-py takes a database that is no number for database 0.
    database = re.fullmatch(r"[^/?#]*/([^/?#]+)/?(?:[?#].*)?", rest)
    if scheme != "unix" and database and not re.fullmatch("[0-9]+", database[1]):
        raise ValueError(f"a Redis database is a number, such as /0, not {database[1]!r}")
    return f"{scheme}://{rest}"


_NO_CLUSTER = "a Redis Cluster cannot be used: pass a single server, or a master from Sentinel"


def _checked_client(client: Any) -> redis.Redis | redis.asyncio.Redis:
    """Return the caller's client.

    Raises:
        TypeError: it is not a client of a single server.
    """
    kind = f"{type(client).__module__}.{type(client).__qualname__}"
    for types, instead in _INSTEAD.items():
        if isinstance(client, types):
            raise TypeError(f"a {kind} cannot be used: {instead}")
    if not isinstance(client, (redis.Redis, redis.asyncio.Redis)):
        raise TypeError(
            f"server must be a URL such as redis://localhost:6379/0, or a redis.Redis, not {kind}"
        )
    return client


#: What to pass instead of an object of redis-py that is not a client of a single server.
_INSTEAD: dict[tuple[type, ...], str] = {
    (redis.RedisCluster, redis.asyncio.RedisCluster): _NO_CLUSTER,
    (redis.client.Pipeline, redis.asyncio.client.Pipeline): "pass its client",
    (redis.ConnectionPool, redis.asyncio.ConnectionPool): "pass Redis(connection_pool=pool)",
}

#: The connection classes of asyncio clients and those of synchronous ones; subclasses first.
_CONNECTIONS: dict[type, type] = {
    redis.asyncio.SSLConnection: redis.SSLConnection,
    redis.asyncio.UnixDomainSocketConnection: redis.UnixDomainSocketConnection,
    redis.asyncio.Connection: redis.Connection,
}

#: The settings of a connection that say where the server is, and who asks.
_ADDRESS = frozenset(
    {"host", "port", "path", "db", "username", "password", "credential_provider", "client_name"}
)


def _limits() -> dict[str, Any]:
    """Return the settings of connections without retries, and with limits of time."""
    return {
        "socket_timeout": _TIMEOUT,
        "socket_connect_timeout": _TIMEOUT,
        "retry": Retry(NoBackoff(), 0),
    }


def _pool_like(client: redis.asyncio.Redis) -> redis.ConnectionPool:
    """Return a pool of synchronous connections to an asyncio client's server.

    Raises:
        TypeError: the client's settings do not say where the server is, as with Sentinel.
    """
    pool = client.connection_pool
    theirs = pool.connection_class
    own = next((own for each, own in _CONNECTIONS.items() if issubclass(theirs, each)), None)
    settings = {
        name: value
        for name, value in pool.connection_kwargs.items()
        if name in _ADDRESS or name.startswith("ssl_")
    }
    if own is None or not settings.keys() & {"host", "path"}:
        raise TypeError(
            f"an asyncio client with a {type(pool).__name__} of {theirs.__name__} cannot be used: "
            "pass the server's URL, or a redis.Redis, which AsyncRobotsClient uses in threads"
        )
    return redis.ConnectionPool(connection_class=own, **settings, **_limits())


def _replace_locks(thing: Any) -> None:
    if not type(thing).__module__.startswith("redis.") or not hasattr(thing, "__dict__"):
        return
    for name, value in list(vars(thing).items()):
        new = _LOCKS.get(type(value))
        if new is not None:
            setattr(thing, name, new())


#: Factories for locks, by type.
_LOCKS: dict[type, Callable[[], object]] = {
    type(make()): make for make in (threading.Lock, threading.RLock)
}


class _BoundedConnection:
    """A connection that limits the time and length of each response.

    redis-py limits only the time of each read: a server that sends slowly, or without end, could
    block it forever.
    """

    sockets: weakref.WeakSet[_BoundedSocket]

    def _connect(self) -> _BoundedSocket:
        inherited: Any = super()
        wrapped = _BoundedSocket(inherited._connect())  # noqa: SLF001 - every connection class of redis-py has it
        self.sockets.add(wrapped)
        return wrapped


class _BoundedSocket:
    """A socket with a limit of seconds and bytes per response."""

    def __init__(self, inner: socket.socket) -> None:
        self._inner = inner
        self._timeout = inner.gettimeout()
        self._reset_limits()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def _reset_limits(self) -> None:
        self._deadline = time.monotonic() + _TIMEOUT
        self._bytes_left = _MAX_RESPONSE_BYTES

    def settimeout(self, timeout: float | None) -> None:
        """Set the seconds per operation, within the response's deadline."""
        self._timeout = timeout
        self._inner.settimeout(timeout)

    def sendall(self, data: bytes) -> None:
        self._reset_limits()
        self._inner.settimeout(self._timeout)
        self._inner.sendall(data)

    def recv(self, size: int) -> bytes:
        self._apply_deadline()
        data = self._inner.recv(size)
        self._count_bytes(len(data))
        return data

    def recv_into(self, buffer: bytearray | memoryview) -> int:
        """Receive a part of a response, as hiredis does."""
        self._apply_deadline()
        size = self._inner.recv_into(buffer)
        self._count_bytes(size)
        return size

    def _apply_deadline(self) -> None:
        """Limit the next operation to the time left.

        Raises:
            TimeoutError: the deadline has passed.
        """
        if self._timeout == 0:
            # Non-blocking check for data.
            return
        seconds_left = self._deadline - time.monotonic()
        if seconds_left <= 0:
            raise TimeoutError("response timed out")
        self._inner.settimeout(
            seconds_left if self._timeout is None else min(seconds_left, self._timeout)
        )

    def _count_bytes(self, size: int) -> None:
        """Count received bytes.

        Raises:
            OSError: the response is too long.
        """
        self._bytes_left -= size
        if self._bytes_left < 0:
            raise OSError(f"response of more than {_MAX_RESPONSE_BYTES:,} bytes")
