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
    from .redis import RedisCache

__all__ = ["Cache", "MemoryCache", "RedisCache", "SqliteCache"]


def __getattr__(name: str) -> object:
    """Load the cache that needs an extra when it is asked for."""
    if name == "RedisCache":
        from .redis import RedisCache  # noqa: PLC0415 - see there

        return RedisCache
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
