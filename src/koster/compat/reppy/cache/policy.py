"""What a cache keeps where a fetch failed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class CachePolicyBase:
    """A policy: when it ends, and what is kept until then."""

    def exception(self, url: str, exception: BaseException) -> tuple[float, Any]:
        """Return when an exception is forgotten, and what stands for it until then.

        Raises:
            NotImplementedError: always; for a child to write.
        """
        raise NotImplementedError("CachePolicyBase does not implement exception.")


class DefaultObjectPolicy(CachePolicyBase):
    """Keep what a factory makes of the URL, for ``ttl`` seconds."""

    def __init__(self, ttl: float, factory: Callable[[str], Any]) -> None:
        self.ttl = ttl
        self.factory = factory

    def exception(self, url: str, exception: BaseException) -> tuple[float, Any]:  # noqa: ARG002
        """Return the end, and the object."""
        return time.time() + self.ttl, self.factory(url)


class ReraiseExceptionPolicy(CachePolicyBase):
    """Keep the exception and raise it again, for ``ttl`` seconds."""

    def __init__(self, ttl: float) -> None:
        self.ttl = ttl

    def exception(self, url: str, exception: BaseException) -> tuple[float, Any]:  # noqa: ARG002
        """Return the end, and the exception."""
        return time.time() + self.ttl, exception
