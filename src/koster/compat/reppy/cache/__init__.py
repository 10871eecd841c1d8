"""Caches of a bounded number of sites, the least recently used one going first."""

from __future__ import annotations

import inspect
import threading
import time
from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING, Any

from ....cache.forks import at_fork
from .. import logger
from ..robots import Agent, AllowNone, Robots
from .policy import CachePolicyBase, DefaultObjectPolicy, ReraiseExceptionPolicy

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..ttl import TTLPolicyBase

__all__ = ["AgentCache", "BaseCache", "ExpiringObject", "RobotsCache"]


class ExpiringObject:
    """An object that a factory makes, again when it has expired: one at a time."""

    def __init__(self, factory: Callable[[], tuple[float, Any]]) -> None:
        self.factory = factory
        self.lock = threading.Lock()
        self.obj: Any = None
        self.expires: float = 0
        self.exception: BaseException | None = None
        at_fork(in_child=self._renew)

    def _renew(self) -> None:
        self.lock = threading.Lock()

    def get(self) -> Any:
        """Return the object, or raise the exception that stands for it."""
        with self.lock:
            if self.obj is None or time.time() >= self.expires:
                self.expires, self.obj = self.factory()
                self.exception = self.obj if isinstance(self.obj, BaseException) else None
        if self.exception is not None:
            raise self.exception
        return self.obj


class BaseCache:
    """Keeps something for each robots.txt.

    Args:
        capacity: For how many at most.
        cache_policy: What is kept where a fetch failed.
        ttl_policy: How long a robots.txt is kept.
        args: For `Robots.fetch`.
        kwargs: For `Robots.fetch`.

    Raises:
        TypeError: `Robots.fetch` does not take these.
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
        self._lock = threading.Lock()
        at_fork(in_child=self._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()

    def get(self, url: str) -> Any:
        """Return what is kept for the site of a URL."""
        robots_url = Robots.robots_url(url)
        with self._lock:
            kept = self.cache.pop(robots_url, None)
            if kept is None:
                kept = ExpiringObject(partial(self.factory, robots_url))
            self.cache[robots_url] = kept
            while len(self.cache) > max(self.capacity, 1):
                self.cache.popitem(last=False)
        return kept.get()

    def factory(self, url: str) -> tuple[float, Any]:
        """Return the end and the object of a robots.txt, by the policy where it fails."""
        try:
            return self.fetch(url)
        except Exception as error:  # noqa: BLE001 - the policy takes all
            logger.exception("Reppy cache fetch error on %s", url)
            return self.cache_policy.exception(url, error)

    def fetch(self, url: str) -> tuple[float, Any]:
        """Return the end and the object of a robots.txt.

        Raises:
            NotImplementedError: always; for a child to write.
        """
        raise NotImplementedError("BaseCache does not implement fetch.")


class RobotsCache(BaseCache):
    """Keeps `Robots`; where a fetch failed everything is forbidden for ten minutes."""

    DEFAULT_CACHE_POLICY = DefaultObjectPolicy(ttl=600, factory=AllowNone)

    def allowed(self, url: str, agent: str) -> bool:
        """Tell whether a robot may fetch a URL."""
        return bool(self.get(url).allowed(url, agent))

    def fetch(self, url: str) -> tuple[float, Robots]:
        """Return the end and the `Robots` of a robots.txt."""
        robots = Robots.fetch(url, self.ttl_policy, *self.args, **self.kwargs)
        return robots.expires or 0, robots


class AgentCache(BaseCache):
    """Keeps the `Agent` of one robot; where a fetch failed everything is forbidden."""

    DEFAULT_CACHE_POLICY = DefaultObjectPolicy(ttl=600, factory=lambda _: Agent().disallow("/"))

    def __init__(self, agent: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.agent = agent

    def allowed(self, url: str) -> bool:
        """Tell whether the robot may fetch a URL."""
        return bool(self.get(url).allowed(url))

    def fetch(self, url: str) -> tuple[float, Agent]:
        """Return the end and the `Agent` of a robots.txt."""
        robots = Robots.fetch(url, self.ttl_policy, *self.args, **self.kwargs)
        return robots.expires or 0, robots.agent(self.agent)
