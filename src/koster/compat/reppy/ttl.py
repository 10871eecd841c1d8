"""How long a robots.txt may be kept."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

from . import logger
from .util import parse_date

if TYPE_CHECKING:
    from email.message import Message


#: Nothing is kept for more seconds than a hundred years have.
MOST = 100 * 365 * 24 * 60 * 60


class Response(Protocol):
    """What a policy looks at."""

    headers: Message


class TTLPolicyBase:
    """A policy: seconds for a response."""

    def ttl(self, response: Response) -> float:
        """Return for how many seconds a response may be kept.

        Raises:
            NotImplementedError: always; for a child to write.
        """
        raise NotImplementedError("TTLPolicyBase does not implement ttl.")

    def expires(self, response: Response) -> float:
        """Return when a response expires, in seconds since the epoch."""
        return time.time() + self.ttl(response)


class HeaderWithDefaultPolicy(TTLPolicyBase):
    """Cache-Control goes first, then Expires, then a default; with a minimum.

    Args:
        default: Seconds where the response says nothing.
        minimum: Seconds at least where it does.
    """

    def __init__(self, default: float, minimum: float) -> None:
        self.default = default
        self.minimum = minimum

    def ttl(self, response: Response) -> float:
        """Return for how many seconds a response may be kept."""
        for directive in (response.headers.get("cache-control") or "").split(","):
            name, _, value = directive.lower().partition("=")
            if name.strip() in ("no-store", "must-revalidate", "no-cache"):
                return max(self.minimum, 0)
            if name.strip() in ("s-maxage", "max-age"):
                try:
                    return max(self.minimum, min(int(value.strip()), MOST))
                except ValueError:
                    logger.warning("Could not parse %s=%s", name, value)
        expires = _date(response.headers.get("expires"))
        if expires is None:
            return self.default
        date = _date(response.headers.get("date"))
        return max(self.minimum, min(expires - (time.time() if date is None else date), MOST))


def _date(text: str | None) -> float | None:
    """Return a date, or None if it is absent or cannot be read."""
    if text is None:
        return None
    try:
        return parse_date(text)
    except (ValueError, OverflowError):
        logger.warning("Could not parse date string %s", text)
        return None
