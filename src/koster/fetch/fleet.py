"""Pacing for a fleet: the same as `Pacer`, through a Redis server. Needs the extra ``redis``.

Twenty workers together keep one site's interval: each asks pyrate-limiter's GCRA on the server
for the turn, in one atomic step, with the interval that `koster.politeness` has at this moment;
windows are kept to by what all know of the last turn. The time is the server's.
"""

from __future__ import annotations

import contextlib
import logging
import math
import random
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from ..errors import missing
from ..politeness import RULE_OF_THUMB, Fetch, Pace, interval, later, next_request
from .pace import Pacer

try:
    import redis
    from pyrate_limiter import AbstractClock, Rate, RateItem, StateBucket
    from pyrate_limiter.buckets.redis_state import RedisStateStore

    from ..cache.redis import connected
except ModuleNotFoundError as error:
    raise missing("FleetPacer", "redis") from error

if TYPE_CHECKING:
    from ..robots import Rules

_log = logging.getLogger("koster.fetch")

#: The longest pause that is kept to, in milliseconds: a year. GCRA counts microseconds in numbers
#: that are exact up to 2**53.
_LONGEST = 365 * 24 * 60 * 60 * 1000

#: How long is remembered how long a request took, in seconds.
_MEMORY = 24 * 60 * 60

#: How many seconds later a worker asks again than the turn is due, at most.
_CHANCE = 0.02

#: Seconds for which a server that failed is left alone.
_PAUSE = 10.0


class _ServerClock(AbstractClock):
    """The server's time in milliseconds: all workers share it."""

    def __init__(self, server: redis.Redis) -> None:
        self._redis = server

    def now(self) -> int:
        seconds, micros = self._redis.time()
        return int(seconds) * 1000 + int(micros) // 1000


class FleetPacer:
    """Keeps the pace for all processes that use the same server and prefix.

    Args:
        server: Its URL, as in ``redis://localhost:6379/0``, or a client (`redis.Redis`).
        default: The pace where a site asks for none.
        prefix: What all keys begin with.

    While the server is down each process keeps the pace on its own, and says so in the log.
    """

    def __init__(
        self,
        server: str | redis.Redis,
        default: Pace = RULE_OF_THUMB,
        prefix: str = "koster:pace:",
    ) -> None:
        self._redis = connected(server) if isinstance(server, str) else server
        self._clock = _ServerClock(self._redis)
        self._default = default
        self._prefix = prefix
        self._alone = Pacer(default)
        self._alone_until = -math.inf

    def turn(self, key: str, rules: Rules, now: datetime) -> float:
        """Take the turn and return 0, or return the seconds after which to ask again."""
        # What this process did itself it knows, also what the server does not know any more.
        left = (self._alone.next_request(key, rules, now) - now).total_seconds()
        if left > 0:
            return _with_chance(left)
        seconds: float | None = self._asked(key, self._turn, key, rules, now)
        if seconds is None or seconds == 0:
            return self._alone.turn(key, rules, now)
        return _with_chance(seconds)

    def next_request(self, key: str, rules: Rules, now: datetime) -> datetime:
        """Return when the next turn is, without taking it."""
        alone = self._alone.next_request(key, rules, now)
        seconds: float | None = self._asked(key, self._left, key, rules)
        return alone if seconds is None else max(alone, later(now, seconds))

    def took(self, key: str, seconds: float) -> None:
        """Note how long the request took for which the turn was taken last.

        Raises:
            ValueError: ``seconds`` is no finite number from 0 on.
        """
        self._alone.took(key, seconds)
        self._asked(key, self._note, key, seconds)

    def _asked(self, key: str, method: Any, *arguments: Any) -> Any:
        """Return what the server says, or None if it is down."""
        if time.monotonic() < self._alone_until:
            return None
        try:
            return method(*arguments)
        except (redis.RedisError, OSError) as error:
            self._alone_until = time.monotonic() + _PAUSE
            _log.warning("the fleet's pace is not kept, this process goes on alone: %s", error)
            if str(error).startswith("WRONGTYPE"):
                # Somebody else's: it goes, so that the fleet can go on.
                with contextlib.suppress(redis.RedisError, OSError):
                    self._redis.delete(self._name(key, "last"))
            return None

    def _turn(self, key: str, rules: Rules, now: datetime) -> float:
        """Take the turn on the server, or return the seconds after which to ask again."""
        stamp = self._clock.now()
        left = self._left(key, rules, stamp)
        if left > 0:
            return left
        millis = math.ceil(min(interval(rules, now, 0.0, self._default) * 1000, _LONGEST))
        if millis > 0:
            # One name for each interval: where the file changes, the old one binds nobody.
            left = self._admitted(self._name(key, f"turn {millis}"), millis, stamp)
            if left > 0:
                return left
        name = self._name(key, "last")
        self._redis.hset(name, mapping={"began": stamp, "seconds": 0})
        self._redis.expire(name, _MEMORY + millis // 1000)
        return 0.0

    def _admitted(self, name: str, millis: int, stamp: int) -> float:
        """Take the turn under a name in one atomic step, or return the seconds that are left."""
        store = RedisStateStore(self._redis, name)
        bucket = StateBucket([Rate(1, millis, burst=1)], store=store, clock=self._clock)
        item = RateItem(name, stamp)
        try:
            if bucket.put(item):
                return 0.0
            waiting: Any = bucket.waiting(item)
        except redis.ResponseError:
            # What stands there is none of ours.
            self._redis.delete(name)
            raise
        return max(float(waiting), 1.0) / 1000

    def _left(self, key: str, rules: Rules, stamp: int | None = None) -> float:
        """Return the seconds until the next turn, by what is known of the last one."""
        stamp = self._clock.now() if stamp is None else stamp
        now = _moment(stamp)
        due = next_request(rules, self._last(key, stamp), now, self._default)
        return (due - now).total_seconds()

    def _note(self, key: str, seconds: float) -> None:
        name = self._name(key, "last")
        if self._redis.exists(name):
            self._redis.hset(name, "seconds", str(seconds))

    def _last(self, key: str, stamp: int) -> Fetch | None:
        """Return what is known of the last turn, if anything is."""
        found: Any = self._redis.hmget(self._name(key, "last"), ["began", "seconds"])
        try:
            return Fetch(_moment(min(max(int(found[0]), 0), stamp)), float(found[1]))
        except (ValueError, TypeError):
            # Nothing, or nothing that a pacer wrote.
            return None

    def _name(self, key: str, what: str) -> str:
        return f"{self._prefix}{what}:{key}"


def _with_chance(seconds: float) -> float:
    """Return a little more, by chance: of workers who wake together each is first now and then."""
    return seconds + random.uniform(0, min(_CHANCE, seconds / 10))  # noqa: S311 - no secret


def _moment(millis: int) -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=millis)
