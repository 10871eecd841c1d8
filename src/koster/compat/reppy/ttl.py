"""Policies for the expiry of a robots.txt."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Protocol

from .util import parse_date

if TYPE_CHECKING:
    from email.message import Message

logger = logging.getLogger("reppy")

#: The maximum is a hundred years.
MAX_SECONDS = 100 * 365 * 24 * 60 * 60


class Response(Protocol):
    """A response, as policies use it."""

    headers: Message


class TTLPolicyBase:
    """A policy: the lifetime of a response in seconds."""

    def ttl(self, response: Response) -> float:
        """Return the lifetime of a response in seconds.

        Raises:
            NotImplementedError: always; subclasses override it.
        """
        raise NotImplementedError("TTLPolicyBase does not implement ttl.")

    def expires(self, response: Response) -> float:
        """Return when a response expires, in seconds since the epoch."""
        return time.time() + self.ttl(response)


class HeaderWithDefaultPolicy(TTLPolicyBase):
    """Uses Cache-Control, else Expires, else a default; with a minimum.

    Args:
        default: Seconds if there are no such headers.
        minimum: Minimum seconds if there are.
    """

    def __init__(self, default: float, minimum: float) -> None:
        self.default = default
        self.minimum = minimum

    def ttl(self, response: Response) -> float:
        """Return the lifetime of a response in seconds."""
        for directive in (response.headers.get("cache-control") or "").split(","):
            name, _, value = directive.lower().partition("=")
            if name.strip() in ("no-store", "must-revalidate", "no-cache"):
                return max(self.minimum, 0)
            if name.strip() in ("s-maxage", "max-age"):
                try:
                    return max(self.minimum, min(int(value.strip()), MAX_SECONDS))
                except ValueError:
                    logger.warning("Could not parse %s=%s", name, value)
        expires = _date(response.headers.get("expires"))
        if expires is None:
            return self.default
        date = _date(response.headers.get("date"))
        return max(
            self.minimum, min(expires - (time.time() if date is None else date), MAX_SECONDS)
        )


def _date(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return parse_date(text)
    except (ValueError, OverflowError):
        logger.warning("Could not parse date string %s", text)
        return None
