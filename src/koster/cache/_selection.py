"""Which entries `delete` and `purge` of a cache remove."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta

from .._moments import later
from ..origins import origin_of

#: Keys with a prefix for other `Statuses` begin with a digit or ``;``, so they sort before this.
FIRST_WITHOUT_PREFIX = "h"


def origins_of(url: str) -> set[str]:
    """Return the origin of a URL, as clients write it.

    Raises:
        UrlError: the URL is invalid, or not HTTP or HTTPS.
    """
    origins = {str(origin_of(url))}
    # Clients encode names as browsers do, if they can.
    with suppress(ModuleNotFoundError, UnicodeError, ValueError):
        import idna  # noqa: PLC0415 - of an extra

        origins.add(str(origin_of(url, lambda host: idna.encode(host, uts46=True).decode("ascii"))))
    return origins


def is_of(key: str, origins: set[str]) -> bool:
    """Return whether a key, with any prefix, is that of one of the origins."""
    return key.rpartition(" ")[2] in origins


def moment_before(age: timedelta) -> datetime:
    """Return the moment some time ago.

    Raises:
        TypeError: ``age`` is not a timedelta.
        ValueError: it is negative.
    """
    if not isinstance(age, timedelta):
        raise TypeError(
            f"older_than must be a timedelta, such as timedelta(days=30), not {type(age).__name__}"
        )
    if age < timedelta():
        raise ValueError(f"older_than must not be negative: {age}")
    return later(datetime.now(UTC), -age.total_seconds())
