"""The HTTP cache of Scrapy (``HTTPCACHE_ENABLED``), and how long its copies of robots.txt count.

A copy is used as long as RFC 9309 allows, counted from when it was stored. Then the site is asked;
only if there is no answer at all, as without a network, is the old copy used; one without rules
for pages that are in the HTTP cache, too.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from scrapy import Request
from scrapy.downloadermiddlewares.httpcache import HttpCacheMiddleware

from ...dialects import Statuses
from ...freshness import expiry


class HttpCache(enum.Enum):
    """How robots.txt files are requested."""

    OFF = enum.auto()
    """From the site."""
    FIRST = enum.auto()
    """From the HTTP cache, then from the site."""
    ONLY = enum.auto()
    """From the HTTP cache alone: ``HTTPCACHE_IGNORE_MISSING``."""


def http_cache_of(settings: Any) -> HttpCache:
    """Return how a crawler uses the HTTP cache."""
    if not settings.getbool("HTTPCACHE_ENABLED"):
        return HttpCache.OFF
    is_only = settings.getbool("HTTPCACHE_IGNORE_MISSING")
    return HttpCache.ONLY if is_only else HttpCache.FIRST


def stored_at(response: Any, meta: Mapping[str, Any], now: datetime) -> datetime | None:
    """Return when a response was stored in the HTTP cache; None if it comes from the network.

    A storage that does not tell stored it long ago.
    """
    if "cached" not in response.flags:
        return None
    try:
        moment = datetime.fromtimestamp(float(meta["cache_timestamp"]), UTC)
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        return now - timedelta(days=365)
    return min(moment, now)


def as_stored(crawler: Any, request: Request) -> Any:
    """Return a response of the HTTP cache as it arrived, or None."""
    middleware = crawler.get_downloader_middleware(HttpCacheMiddleware)
    try:
        return middleware.storage.retrieve_response(crawler.spider, request.copy())
    except Exception:  # noqa: BLE001 - whatever storages raise
        return None


def is_definite(status: int) -> bool:
    """Return whether a stored status says what the site has: no error, and no proxy's answer."""
    return 200 <= status < 500 and status not in (304, 407, 429)


def is_current(
    headers: Mapping[str, str], stored: datetime, now: datetime, statuses: Statuses
) -> bool:
    """Return whether a stored response still counts."""
    return now < expiry(headers, stored, statuses)


def has_page(crawler: Any, page: Request) -> bool:
    """Return whether a page comes from the HTTP cache, and not from its site."""
    middleware = crawler.get_downloader_middleware(HttpCacheMiddleware)
    if page.meta.get("dont_cache") or not middleware.policy.should_cache_request(page):
        return False
    try:
        stored = middleware.storage.retrieve_response(crawler.spider, page.copy())
    except Exception:  # noqa: BLE001 - Scrapy asks the site then, too
        return False
    return stored is not None and bool(middleware.policy.is_cached_response_fresh(stored, page))
