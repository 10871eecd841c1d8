"""A cache on a Redis server, for a fleet. Needs the extra ``redis``."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from ..errors import CacheError, missing
from ..freshness import GIVES_UP_AFTER
from .store import decoded, encoded

try:
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry
except ModuleNotFoundError as error:
    raise missing("RedisCache", "redis") from error

if TYPE_CHECKING:
    from ..freshness import Entry

#: Entries of origins that nobody asked about for so long go: an old copy is of no use after
#: `GIVES_UP_AFTER`.
_KEPT = GIVES_UP_AFTER + timedelta(days=10)

#: Seconds that the server may take for an answer: no decision is to wait for it long.
_PATIENCE = 1.0


class RedisCache:
    """Keeps entries on a server, which a fleet shares.

    Args:
        server: Its URL, as in ``redis://localhost:6379/0``, or a client (`redis.Redis`), which
            then stays the caller's to close and is to give octets, not text.
        prefix: What all keys begin with.
    """

    def __init__(self, server: str | redis.Redis, prefix: str = "koster:") -> None:
        self._is_ours = isinstance(server, str)
        self._redis = connected(server) if isinstance(server, str) else server
        self._prefix = prefix
        if self._redis.get_connection_kwargs().get("decode_responses"):
            raise TypeError("the client must not decode responses: entries are octets")

    def get(self, key: str) -> Entry | None:
        """Return what is kept under a key, or None; also where it cannot be read.

        Raises:
            CacheError: the server is down, or says no.
        """
        try:
            return decoded(self._redis.get(self._prefix + key))
        except (redis.RedisError, OSError) as error:
            if str(error).startswith("WRONGTYPE"):
                # Somebody else's: it is written over.
                return None
            raise CacheError(f"Redis: {error}") from error

    def put(self, key: str, entry: Entry) -> None:
        """Keep an entry.

        Raises:
            CacheError: as `get`.
        """
        try:
            self._redis.set(self._prefix + key, encoded(entry), ex=_KEPT)
        except (redis.RedisError, OSError) as error:
            raise CacheError(f"Redis: {error}") from error

    def close(self) -> None:
        """Close the connections, if they are the cache's own."""
        if self._is_ours:
            self._redis.close()


def connected(url: str) -> redis.Redis:
    """Return a client for a server that waits neither long nor often."""
    return redis.Redis.from_url(
        url,
        socket_timeout=_PATIENCE,
        socket_connect_timeout=_PATIENCE,
        retry=Retry(NoBackoff(), 0),
    )
