"""The settings of a service: its limits, with defaults for a public one."""

from __future__ import annotations

import os
from dataclasses import dataclass

from .._version import VERSION

#: The User-Agent header of fetches.
USER_AGENT = f"koster/{VERSION}"


def _spare_cores() -> int:
    """Return the number of CPU cores besides the server's."""
    return max(1, (os.cpu_count() or 1) - 1)


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """The settings of a service: limits, fetching and cache.

    Attributes:
        max_body: Maximum bytes of a request body; more is 413.
        max_questions: Maximum of agents times URLs per request; more is 422.
        rate: Requests per second and client on average, twice as many in a burst; 0 for no limit.
            More is 429. A request that fetches counts as ten, and as fifty if it fetches a page.
        work_timeout: Maximum seconds in a worker process per request; more is 422.
        work_per_minute: Seconds of worker time per client and minute on average, those of one
            minute in a burst; 0 for no limit. More is 429.
        workers: Worker processes for long requests; there is one more for short ones.
        fetch_timeout: Seconds for a whole fetch, including redirects.
        fetches: Maximum number of concurrent fetches.
        user_agent: The User-Agent header of fetches.
        fetch_proxy: The URL of the proxy for fetches. Default: that of the environment.
        cache: A path, ``redis://HOST:PORT/DB``, or None for a cache in memory.
        cache_bytes: Maximum bytes of a cache in a file.
        host_names: Host names that are accepted besides ``localhost`` and the loopback addresses in
            requests over loopback. If there are any, other requests must have one of them, too.
        let_through: Networks that the address guard allows, such as ``("10.1.2.0/24",)``.
    """

    max_body: int = 1 << 20
    max_questions: int = 1_000
    rate: float = 50
    work_timeout: float = 10
    work_per_minute: float = 30
    workers: int = _spare_cores()
    fetch_timeout: float = 10
    fetches: int = 20
    user_agent: str = USER_AGENT
    fetch_proxy: str | None = None
    cache: str | None = None
    cache_bytes: int = 1 << 30
    host_names: tuple[str, ...] = ()
    let_through: tuple[str, ...] = ()
