"""Policies for caching failed fetches."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


class CachePolicyBase:
    """A policy: what to cache after an error, and until when."""

    def exception(self, url: str, exception: BaseException) -> tuple[float, Any]:
        """Return the expiry, and the object to cache for an exception.

        Raises:
            NotImplementedError: always; subclasses override it.
        """
        raise NotImplementedError("CachePolicyBase does not implement exception.")


class DefaultObjectPolicy(CachePolicyBase):
    """Cache the result of a factory for ``ttl`` seconds."""

    def __init__(self, ttl: float, factory: Callable[[str], Any]) -> None:
        self.ttl = ttl
        self.factory = factory

    def exception(self, url: str, exception: BaseException) -> tuple[float, Any]:  # noqa: ARG002
        """Return the expiry and the object."""
        return time.time() + self.ttl, self.factory(url)


class ReraiseExceptionPolicy(CachePolicyBase):
    """Cache the exception, and raise it again, for ``ttl`` seconds."""

    def __init__(self, ttl: float) -> None:
        self.ttl = ttl

    def exception(self, url: str, exception: BaseException) -> tuple[float, Any]:  # noqa: ARG002
        """Return the expiry and the exception."""
        return time.time() + self.ttl, exception
