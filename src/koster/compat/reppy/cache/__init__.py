"""LRU caches of sites."""

from __future__ import annotations

import inspect
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Any

from ....cache.forks import at_fork
from .. import logger
from ..robots import Agent, AllowNone, Robots
from ..ttl import TTLPolicyBase
from .policy import CachePolicyBase, DefaultObjectPolicy, ReraiseExceptionPolicy

__all__ = ["AgentCache", "BaseCache", "ExpiringObject", "RobotsCache"]


class ExpiringObject:
    """An object that a factory creates, again when it has expired; one thread at a time."""

    def __init__(self, factory: Callable[[], tuple[float, Any]]) -> None:
        self.factory = factory
        self.lock = threading.RLock()
        self.obj: Any = None
        self.expires: float = 0
        self.exception: BaseException | None = None
        self._is_making = False
        at_fork(in_child=self._reset_after_fork)

    def _reset_after_fork(self) -> None:
        self.lock = threading.RLock()
        self._is_making = False

    def get(self) -> Any:
        """Return the object, or raise the cached exception."""
        with self.lock:
            if self.obj is None or time.time() >= self.expires:
                if self._is_making:
                    # A signal handler or a finalizer: it would wait for its own thread.
                    raise RuntimeError("this thread is already fetching this robots.txt")
                self._is_making = True
                try:
                    self.expires, self.obj = self.factory()
                finally:
                    self._is_making = False
                self.exception = self.obj if isinstance(self.obj, BaseException) else None
        if self.exception is not None:
            raise self.exception
        return self.obj


class BaseCache:
    """Caches an object per robots.txt.

    Args:
        capacity: Maximum number of objects.
        cache_policy: What to cache after a failed fetch.
        ttl_policy: How long to cache a robots.txt.
        args: Passed to `Robots.fetch`.
        kwargs: Passed to `Robots.fetch`.

    Raises:
        TypeError: `Robots.fetch` does not accept the arguments.
    """

    DEFAULT_CACHE_POLICY: CachePolicyBase = ReraiseExceptionPolicy(ttl=600)
    DEFAULT_TTL_POLICY: TTLPolicyBase = Robots.DEFAULT_TTL_POLICY

    def __init__(
        self,
        capacity: int,
        cache_policy: CachePolicyBase | None = None,
        ttl_policy: TTLPolicyBase | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        inspect.signature(Robots.fetch).bind("", None, *args, **kwargs)
        self.cache_policy = cache_policy or self.DEFAULT_CACHE_POLICY
        self.ttl_policy = ttl_policy or self.DEFAULT_TTL_POLICY
        self.cache: OrderedDict[str, ExpiringObject] = OrderedDict()
        self.capacity = capacity
        self.args = args
        self.kwargs = kwargs
        self._lock = threading.RLock()
        at_fork(in_child=self._reset_after_fork)

    def _reset_after_fork(self) -> None:
        self._lock = threading.RLock()

    def get(self, url: str) -> Any:
        """Return the object for the site of a URL."""
        robots_url = Robots.robots_url(url)
        with self._lock:
            cached = self.cache.pop(robots_url, None)
            if cached is None:
                cached = ExpiringObject(partial(self.factory, robots_url))
            self.cache[robots_url] = cached
            while len(self.cache) > max(self.capacity, 1):
                self.cache.popitem(last=False)
        return cached.get()

    def factory(self, url: str) -> tuple[float, Any]:
        """Return the expiry and object of a robots.txt; after an error, those of the policy."""
        try:
            return self.fetch(url)
        except Exception as error:  # noqa: BLE001 - the policy handles all errors
            logger.exception("Reppy cache fetch error on %s", url)
            return self.cache_policy.exception(url, error)

    def fetch(self, url: str) -> tuple[float, Any]:
        """Return the expiry and object of a robots.txt.

        Raises:
            NotImplementedError: always; subclasses override it.
        """
        raise NotImplementedError("BaseCache does not implement fetch.")


class RobotsCache(BaseCache):
    """Caches `Robots`; after a failed fetch everything is disallowed for ten minutes."""

    DEFAULT_CACHE_POLICY = DefaultObjectPolicy(ttl=600, factory=AllowNone)

    def allowed(self, url: str, agent: str) -> bool:
        """Return whether a crawler may fetch a URL."""
        return bool(self.get(url).allowed(url, agent))

    def fetch(self, url: str) -> tuple[float, Robots]:
        """Return the expiry and the `Robots` of a robots.txt."""
        robots = Robots.fetch(url, self.ttl_policy, *self.args, **self.kwargs)
        return robots.expires or 0, robots


class AgentCache(BaseCache):
    """Caches the `Agent` of one crawler; after a failed fetch everything is disallowed."""

    DEFAULT_CACHE_POLICY = DefaultObjectPolicy(ttl=600, factory=lambda _: Agent().disallow("/"))

    def __init__(self, agent: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.agent = agent

    def allowed(self, url: str) -> bool:
        """Return whether the crawler may fetch a URL."""
        return bool(self.get(url).allowed(url))

    def fetch(self, url: str) -> tuple[float, Agent]:
        """Return the expiry and the `Agent` of a robots.txt."""
        robots = Robots.fetch(url, self.ttl_policy, *self.args, **self.kwargs)
        return robots.expires or 0, robots.agent(self.agent)
