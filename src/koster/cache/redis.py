"""A cache on a Redis server, for a fleet. Needs the extra ``redis``."""

from __future__ import annotations

import contextlib
import threading
import time
import weakref
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ..errors import CacheError, missing
from ..freshness import GIVES_UP_AFTER
from .forks import at_fork
from .store import decoded, encoded

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

#: Entries of origins that nobody asked about for so long go: an old copy is of no use after
#: `GIVES_UP_AFTER`.
_KEPT = GIVES_UP_AFTER + timedelta(days=10)

#: Seconds that the server may take for an answer: no decision is to wait for it long.
_PATIENCE = 1.0

#: Bytes that an answer may have. The longest entry has about 2 MiB: a file of 500 KiB takes three
#: times as much in UTF-8, and beside it are the headers of six requests.
_LONGEST_ANSWER = 4 << 20


class RedisCache:
    """Keeps entries on a server, which a fleet shares.

    Args:
        server: Its URL, as in ``redis://localhost:6379/0``, or a client (`redis.Redis`), which
            then stays the caller's to close and is to give bytes, not text.
        prefix: What all keys begin with.
    """

    def __init__(self, server: str | redis.Redis, prefix: str = "koster:") -> None:
        self._server = Server(server)
        self._prefix = prefix
        if self._server.client.get_connection_kwargs().get("decode_responses"):
            raise TypeError("the client must not decode responses: entries are bytes")

    def get(self, key: str) -> Entry | None:
        """Return what is kept under a key, or None; also where it cannot be read.

        Raises:
            CacheError: the server is down, says no, or gives no proper answer.
        """
        try:
            return decoded(self._server.client.get(self._prefix + key))
        except redis.ResponseError as error:
            if is_wrong_type(error):
                # Somebody else's: it is written over.
                return None
            raise CacheError(f"Redis: {error}") from error
        except Exception as error:  # what redis-py raises at malformed answers is not defined
            raise self._failed(error) from error

    def put(self, key: str, entry: Entry) -> None:
        """Keep an entry.

        Raises:
            CacheError: as `get`.
        """
        record = encoded(entry)
        try:
            self._server.client.set(self._prefix + key, record, ex=_KEPT)
        except Exception as error:  # as in `get`
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> CacheError:
        self._server.drop_connections(error)
        return CacheError(f"Redis: {str(error) or type(error).__name__}")

    def close(self) -> None:
        """Close the connections, if they are the cache's own."""
        self._server.close()


def is_wrong_type(error: Exception) -> bool:
    """Tell whether a server says that a key has a value of another type."""
    # In the error of a script it is not the first word.
    return isinstance(error, redis.ResponseError) and "WRONGTYPE" in str(error)


class Server:
    """A Redis server: a client for its URL, or the caller's."""

    def __init__(self, server: str | redis.Redis) -> None:
        self._is_ours = isinstance(server, str)
        self._sockets: weakref.WeakSet[_Socket] = weakref.WeakSet()
        self.client = self._connected(server) if isinstance(server, str) else server
        at_fork(in_child=self._renew)

    def _connected(self, url: str) -> redis.Redis:
        """Return a client for a server that waits neither long nor often, nor reads much."""
        client = redis.Redis.from_url(
            url,
            socket_timeout=_PATIENCE,
            socket_connect_timeout=_PATIENCE,
            retry=Retry(NoBackoff(), 0),
        )
        pool = client.connection_pool
        bases, members = (_Bounded, pool.connection_class), {"sockets": self._sockets}
        pool.connection_class = type("BoundedConnection", bases, members)
        return client

    def _renew(self) -> None:
        """Give the client new locks in a child process.

        redis-py itself makes new connections there, but it first takes locks that a thread of the
        parent may hold.
        """
        pool = self.client.connection_pool
        for each in (self.client, pool, *vars(pool).values()):
            _renew_locks(each)
        # The child's copies; nothing is sent on them.
        for socket_ in list(self._sockets):
            socket_.close()

    def drop_connections(self, error: Exception) -> None:
        """Close idle connections where one may be left in the middle of an answer."""
        if not isinstance(error, (redis.RedisError, OSError)):
            # What cannot be closed will fail again, and say so.
            with contextlib.suppress(Exception):
                self.client.connection_pool.disconnect(inuse_connections=False)

    def close(self) -> None:
        """Close the connections, unless they are the caller's."""
        if self._is_ours:
            self.client.close()


def _renew_locks(thing: Any) -> None:
    """Give an object of redis-py's new locks."""
    if not type(thing).__module__.startswith("redis.") or not hasattr(thing, "__dict__"):
        return
    for name, value in list(vars(thing).items()):
        new = _LOCKS.get(type(value))
        if new is not None:
            setattr(thing, name, new())


#: What makes a new lock of a type.
_LOCKS: dict[type, Callable[[], object]] = {
    type(make()): make for make in (threading.Lock, threading.RLock)
}


class _Bounded:
    """A connection that limits the time and the length of each answer.

    redis-py limits the time of each read alone: a server that sends a byte now and then, or bytes
    without end, would keep it reading forever.
    """

    sockets: weakref.WeakSet[_Socket]

    def _connect(self) -> _Socket:
        inherited: Any = super()
        made = _Socket(inherited._connect())  # noqa: SLF001 - each of redis-py's has it
        self.sockets.add(made)
        return made


class _Socket:
    """A socket with a budget of seconds and bytes, anew after each request."""

    def __init__(self, inner: socket.socket) -> None:
        self._inner = inner
        self._timeout = inner.gettimeout()
        self._renew()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def _renew(self) -> None:
        self._until = time.monotonic() + _PATIENCE
        self._left = _LONGEST_ANSWER

    def settimeout(self, timeout: float | None) -> None:
        """Set how many seconds a step may take; none takes longer than what is left."""
        self._timeout = timeout
        self._inner.settimeout(timeout)

    def sendall(self, data: bytes) -> None:
        """Send a request, or a part of one."""
        self._renew()
        self._inner.settimeout(self._timeout)
        self._inner.sendall(data)

    def recv(self, size: int) -> bytes:
        """Receive a part of an answer."""
        self._limit_time()
        data = self._inner.recv(size)
        self._count(len(data))
        return data

    def recv_into(self, buffer: bytearray | memoryview) -> int:
        """Receive a part of an answer, as hiredis does."""
        self._limit_time()
        size = self._inner.recv_into(buffer)
        self._count(size)
        return size

    def _limit_time(self) -> None:
        """Let the next step take what is left.

        Raises:
            TimeoutError: nothing is.
        """
        if self._timeout == 0:
            # A look whether there is something to read.
            return
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the answer took too long")
        self._inner.settimeout(left if self._timeout is None else min(left, self._timeout))

    def _count(self, size: int) -> None:
        """Count what was received.

        Raises:
            OSError: it is too much.
        """
        self._left -= size
        if self._left < 0:
            raise OSError(f"an answer of more than {_LONGEST_ANSWER:,} bytes")
