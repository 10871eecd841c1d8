"""Caches of entries (one per origin) between fetches.

`MemoryCache` for one process, `SqliteCache` for several on one machine, `RedisCache` for a fleet
(extra ``redis``). Any object that implements the `Cache` protocol works, too.
"""

from __future__ import annotations

from ._locations import server_url
from .memory import MemoryCache
from .sqlite import DEFAULT_MAX_BYTES, SqliteCache
from .store import Cache, LeasingCache

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os

    from .redis import RedisCache

__all__ = ["Cache", "LeasingCache", "MemoryCache", "RedisCache", "SqliteCache"]


def open_cache(
    location: str | os.PathLike[str] | None, max_bytes: int | None = DEFAULT_MAX_BYTES
) -> Cache | None:
    """Return the cache at a location: the path of a file, or the URL of a Redis server.

    ``max_bytes`` limits the size of a file. If the location is None, so is the result.

    Raises:
        CacheError: the file cannot be opened, or the server does not respond.
        ValueError: the location is empty, or an invalid URL.
    """
    if location is None:
        return None
    url = server_url(location)
    if url is not None:
        from .redis import RedisCache  # noqa: PLC0415 - needs an extra

        return RedisCache(url)
    cache = SqliteCache(location, max_bytes)
    try:
        cache.check()
    except BaseException:
        cache.close()
        raise
    return cache


def __getattr__(name: str) -> object:
    """Import `RedisCache` on first access: it needs the extra ``redis``."""
    if name == "RedisCache":
        from .redis import RedisCache  # noqa: PLC0415 - needs an extra

        return RedisCache
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
