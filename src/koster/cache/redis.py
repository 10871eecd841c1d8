"""A cache on a Redis server, for a fleet. Needs the extra ``redis``."""

from __future__ import annotations

import contextlib
import threading
import time
import weakref
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ..errors import CacheError, missing
from ..freshness import MAX_UNREACHABLE
from .forks import at_fork
from .store import decode_entry, encode_entry

try:
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry
except ModuleNotFoundError as error:
    raise missing("RedisCache", "redis") from error

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from ..freshness import Entry

#: Entries that are not refreshed expire: a stale file is unused after `MAX_UNREACHABLE`.
_TTL = MAX_UNREACHABLE + timedelta(days=10)

#: Maximum seconds per response: decisions must not wait long for a cache.
_TIMEOUT = 1.0

#: Maximum bytes per response. The largest entry has about 2 MiB: a file of 500 KiB may triple in
#: size in UTF-8, plus the headers of six requests.
_MAX_RESPONSE_BYTES = 4 << 20


class RedisCache:
    """Caches entries on a Redis server, shared by a fleet.

    Args:
        server: A URL such as ``redis://localhost:6379/0``, or a client (`redis.Redis`) that
            returns bytes, not text; the caller closes it.
        prefix: The prefix of all keys.

    Raises:
        TypeError: the client returns text.
    """

    def __init__(self, server: str | redis.Redis, prefix: str = "koster:") -> None:
        self._server = Server(server)
        self._prefix = prefix
        if self._server.client.get_connection_kwargs().get("decode_responses"):
            raise TypeError("the Redis client must return bytes: set decode_responses=False")

    def check(self) -> None:
        """Check that the server responds.

        Raises:
            CacheError: it does not.
        """
        try:
            self._server.client.ping()
        except Exception as error:  # as in `get`
            raise self._to_cache_error(error) from error

    def get(self, key: str) -> Entry | None:
        """Return the entry of a key; None if it is missing or invalid.

        Raises:
            CacheError: the server is down, or responds with an error or invalid data.
        """
        try:
            return decode_entry(self._server.client.get(self._prefix + key))
        except redis.ResponseError as error:
            if is_wrong_type(error):
                # Another program's key: `put` overwrites it.
                return None
            raise CacheError(f"Redis: {error}") from error
        except Exception as error:  # redis-py does not define its errors for malformed responses
            raise self._to_cache_error(error) from error

    def put(self, key: str, entry: Entry) -> None:
        """Store an entry.

        Raises:
            CacheError: as `get`.
        """
        record = encode_entry(entry)
        try:
            self._server.client.set(self._prefix + key, record, ex=_TTL)
        except Exception as error:  # as in `get`
            raise self._to_cache_error(error) from error

    def _to_cache_error(self, error: Exception) -> CacheError:
        self._server.drop_connections(error)
        return CacheError(f"Redis: {str(error) or type(error).__name__}")

    def close(self) -> None:
        """Close the connections, unless the client is the caller's."""
        self._server.close()


def is_wrong_type(error: Exception) -> bool:
    """Return whether an error means that a key has a value of another type."""
    # Errors of scripts do not begin with it.
    return isinstance(error, redis.ResponseError) and "WRONGTYPE" in str(error)


class Server:
    """A Redis server: a new client for its URL, or the caller's client."""

    def __init__(self, server: str | redis.Redis) -> None:
        self._owns_client = isinstance(server, str)
        self._sockets: weakref.WeakSet[_BoundedSocket] = weakref.WeakSet()
        self.client = self._create_client(server) if isinstance(server, str) else server
        at_fork(in_child=self._reset_after_fork)

    def _create_client(self, url: str) -> redis.Redis:
        """Return a client without retries, with limits on time and bytes per response."""
        client = redis.Redis.from_url(
            url,
            socket_timeout=_TIMEOUT,
            socket_connect_timeout=_TIMEOUT,
            retry=Retry(NoBackoff(), 0),
        )
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
