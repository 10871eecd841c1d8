"""Caches: where the entries of origins are kept between fetches.

`MemoryCache` for one process, `SqliteCache` for several on one machine, `RedisCache` for a fleet
(extra ``redis``). Any object that does what `Cache` says may be used in their place.
"""

from __future__ import annotations

from .memory import MemoryCache
from .sqlite import SqliteCache
from .store import Cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os

    from .redis import RedisCache

__all__ = ["Cache", "MemoryCache", "RedisCache", "SqliteCache"]

_SERVERS = ("redis://", "rediss://", "unix://")


def opened(place: str | os.PathLike[str] | None, max_bytes: int | None = None) -> Cache | None:
    """Return the cache at a place: the path of a file, or the URL of a Redis; None for none.

    ``max_bytes`` is what a file may hold.
    """
    if place is None:
        return None
    if isinstance(place, str) and place.startswith(_SERVERS):
        from .redis import RedisCache  # noqa: PLC0415 - needs an extra

        return RedisCache(place)
    return SqliteCache(place, max_bytes)


def __getattr__(name: str) -> object:
    """Load the cache that needs an extra when it is asked for."""
    if name == "RedisCache":
        from .redis import RedisCache  # noqa: PLC0415 - see there

        return RedisCache
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
