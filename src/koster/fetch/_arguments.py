"""The arguments of both clients: their checks, and what they stand for."""

from __future__ import annotations

import math
import os
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime

from .._misuse import checked_agent
from ..cache import Cache, MemoryCache, open_cache
from ..dialects import Dialect, Names
from .guard import Guard

#: A User-Agent header, for messages.
EXAMPLE = "FooBot/1.0 (+https://foo.example/bot)"

#: Default number of concurrent fetches.
DEFAULT_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class NetworkSettings:
    """The arguments of a client for koster's own network; see `RobotsClient`."""

    guard: Guard | None
    proxy: str | None
    trust_env: bool
    verify: bool | str | os.PathLike[str] | ssl.SSLContext
    cert: str | os.PathLike[str] | tuple[str | os.PathLike[str], ...] | None

    def check_unused(self, other: str) -> None:
        """Check that no argument is given, because requests go through ``other``.

        Raises:
            ValueError: one is given.
        """
        defaults = NetworkSettings(None, None, True, True, None)
        for each in fields(self):
            if getattr(self, each.name) != getattr(defaults, each.name):
                raise ValueError(
                    f"{each.name} cannot be combined with {other}: it belongs to koster's own "
                    "network"
                )


def resolve_cache(cache: Cache | str | os.PathLike[str] | None) -> tuple[Cache, bool]:
    """Return a client's cache, and whether the client closes it.

    Raises:
        CacheError: the cache cannot be opened.
        TypeError: it is not a cache.
    """
    if cache is None:
        return MemoryCache(), True
    if isinstance(cache, (str, os.PathLike)):
        return open_cache(cache) or MemoryCache(), True
    module = type(cache).__module__
    if module.startswith("redis."):
        raise TypeError(
            "a redis.asyncio client cannot be a cache: pass the server's URL, redis://…, which "
            "AsyncRobotsClient uses without blocking its event loop"
            if module.startswith("redis.asyncio.")
            else "a client of Redis cannot be a cache: pass koster.cache.RedisCache(client)"
        )
    for name in ("get", "put", "close"):
        if not callable(getattr(cache, name, None)):
            raise TypeError(
                "cache must be the path of a file, a URL redis://…, or an object with the methods "
                f"of koster.cache.Cache, not {type(cache).__name__}"
            )
    check = getattr(cache, "check", None)
    if callable(check):
        check()
    return cache, False


def validate_user_agent(user_agent: str) -> str:
    """Return the User-Agent header to send.

    Raises:
        TypeError: it is not a str.
        ValueError: it is empty, or not printable ASCII.
    """
    if not isinstance(user_agent, str):
        raise TypeError(f"user_agent must be a str, not {type(user_agent).__name__}")
    if not user_agent.strip() or not user_agent.isascii() or not user_agent.isprintable():
        raise ValueError(f"user_agent must be printable ASCII, not {user_agent!r}")
    return user_agent.strip()


def validate_agent(agent: str | Sequence[str]) -> str | Sequence[str]:
    """Return the crawler whose rules apply.

    Raises:
        TypeError: it is neither a str nor a sequence of them.
        ValueError: it is empty, or a name is: no group names it.
    """
    checked = checked_agent(agent)
    if not checked or not all(map(str.strip, [checked] if isinstance(checked, str) else checked)):
        raise ValueError(f"agent must name a crawler, such as 'FooBot', not {agent!r}")
    return agent


def validate_at_most(at_most: float | None) -> float | None:
    """Return the most seconds to wait for a turn; None is no limit.

    Raises:
        TypeError: it is not a number.
        ValueError: it is negative, or not a number (nan).
    """
    if at_most is None:
        return None
    if not isinstance(at_most, (int, float)) or isinstance(at_most, bool):
        raise TypeError(f"at_most must be a number of seconds, not {type(at_most).__name__}")
    if not at_most >= 0:
        raise ValueError(f"at_most must be at least 0 seconds, not {at_most!r}")
    return at_most


def validate_timeout(timeout: float) -> float:
    """Return a timeout as a float.

    Raises:
        TypeError: it is not a number.
        ValueError: it is not finite, or not above 0.
    """
    if not isinstance(timeout, (int, float)) or isinstance(timeout, bool):
        raise TypeError(f"timeout must be a number of seconds, not {type(timeout).__name__}")
    if not 0 < timeout < math.inf:
        raise ValueError(f"timeout must be a finite number of seconds above 0, not {timeout!r}")
    return float(timeout)


def agent_from_header(user_agent: str, dialect: Dialect) -> str:
    """Return the agent of a User-Agent header: its product token, if the dialect needs one.

    Raises:
        ValueError: the header begins with no such token.
    """
    if dialect.names is not Names.LETTERS:
        return user_agent
    header = user_agent.strip()
    end = next((at for at, each in enumerate(header) if not (each.isalpha() or each in "-_")), None)
    if end == 0:
        raise ValueError(
            f"user_agent must begin with a letter under {dialect}, not {header!r}; "
            "or pass the name that groups have as agent"
        )
    return header[:end]


def check_arguments(
    network: NetworkSettings, http: object, transport: object, at_once: int
) -> None:
    """Check the arguments of a client.

    Raises:
        ValueError: arguments that cannot be combined, or ``at_once`` below 1.
    """
    if http is not None and transport is not None:
        raise ValueError("http and transport cannot be combined")
    for name, value in (("http", http), ("transport", transport)):
        if value is not None:
            network.check_unused(name)
    if network.guard is not None and not isinstance(network.guard, Guard):
        raise TypeError(
            f"guard must be koster.PUBLIC_ONLY or a koster.fetch.Guard, "
            f"not {type(network.guard).__name__}"
        )
    if not isinstance(network.trust_env, bool):
        raise TypeError(f"trust_env must be True or False, not {network.trust_env!r}")
    if not isinstance(at_once, int) or isinstance(at_once, bool):
        raise TypeError(f"at_once must be an int, not {type(at_once).__name__}")
    if at_once < 1:
        raise ValueError(f"at_once must be at least 1, not {at_once!r}")


def name_of_type(value: object) -> str:
    """Return the library and the class of a value, for errors."""
    kind = type(value)
    return f"{kind.__module__.partition('.')[0]}.{kind.__qualname__}"


def validate_clock(clock: Callable[[], datetime]) -> Callable[[], datetime]:
    """Return a clock that was asked once.

    Raises:
        TypeError: it is not callable, or returns no datetime.
        ValueError: its time has no time zone.
    """
    if not callable(clock):
        raise TypeError(f"clock must be a function, not {type(clock).__name__}")
    now = clock()
    if not isinstance(now, datetime):
        raise TypeError(f"clock must return a datetime, not {type(now).__name__}")
    if now.utcoffset() is None:
        raise ValueError("clock must return a datetime with a time zone")
    return clock
