"""What a service may be told: its limits, with defaults that a public one can live with."""

from __future__ import annotations

import os
from dataclasses import dataclass

from .._version import VERSION

#: What is sent as the User-Agent header of fetches.
USER_AGENT = f"koster/{VERSION}"


def _cores_to_spare() -> int:
    """Return how many processes may work on long questions: one core is the server's."""
    return max(1, (os.cpu_count() or 1) - 1)


@dataclass(frozen=True, slots=True)
class Settings:
    """The limits of a service, and where it keeps what it fetched.

    Attributes:
        max_body: Bytes of a request's body; more is 413.
        max_questions: Robots times URLs of a call; more is 422.
        rate: Requests a second that a client may make on average, twice as many at once; 0 for
            any number. More is 429. A request that fetches counts as ten.
        work_timeout: Seconds that a question may be worked on; longer is 422.
        work_per_minute: Seconds of worker time that a client may use in a minute on average, a
            minute's worth at once; 0 for any number. More is 429.
        workers: Processes that work on long questions; one more answers short ones.
        fetch_timeout: Seconds that a site's whole fetch may take, redirects included.
        fetches: Fetches at a time.
        user_agent: What is sent as the User-Agent header.
        cache: A path, ``redis://HOST:PORT/DB``, or None to keep it in memory.
        cache_bytes: What a cache in a file may hold.
        let_through: Networks that the address guard lets through, as in ``("10.1.2.0/24",)``.
    """

    max_body: int = 1 << 20
    max_questions: int = 1_000
    rate: float = 50
    work_timeout: float = 10
    work_per_minute: float = 30
    workers: int = _cores_to_spare()
    fetch_timeout: float = 10
    fetches: int = 20
    user_agent: str = USER_AGENT
    cache: str | None = None
    cache_bytes: int = 1 << 30
    let_through: tuple[str, ...] = ()
