"""Pacing for a fleet: like `Pacer`, but through a Redis server. Needs the extra ``redis``.

All workers together keep a site's interval: each takes its turn with pyrate-limiter's GCRA, one
atomic step on the server, with the interval that `koster.politeness` computes for that moment.
Windows of the day follow from the last turn, which all workers see. The clock is the server's.

Keys whose type or value no pacer writes are deleted, so that the fleet can continue.
"""

from __future__ import annotations

import math
import random
import time
from typing import TYPE_CHECKING, Any

from .._moments import EPOCH, later
from ..cache.memory import LRUCache
from ..errors import TooSlowError, missing
from ..politeness import NO_LIMITS, RULE_OF_THUMB, Fetch, Limits, Pace, interval, next_request
from .events import EventEmitter, EventName
from .pace import Pacer, validate_limits

try:
    import redis
    from pyrate_limiter import AbstractClock, Rate, RateItem, StateBucket
    from pyrate_limiter.buckets.redis_state import RedisStateStore

    from ..cache.redis import Server, is_wrong_type
except ModuleNotFoundError as error:
    raise missing("FleetPacer", "redis") from error

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from ..robots import Rules
    from .events import OnEvent

#: Maximum seconds between turns: a year. GCRA counts microseconds in floats, exact up to 2**53.
_MAX_PAUSE = 365 * 24 * 60 * 60

#: Seconds for which the duration of the last request is remembered.
_LAST_TURN_TTL = 24 * 60 * 60

#: Maximum random delay in seconds, so that workers do not try in lockstep.
_MAX_JITTER = 0.02

#: Seconds until a failed server is tried again.
_RETRY_SECONDS = 10.0

#: Seconds by which a turn may be in the future: workers read the clock one after another.
_MAX_SKEW = 60

#: Wrong keys replaced per call. If more are wrong, another program writes them.
_MAX_REPLACEMENTS = 3

#: Wrong keys remembered, to report each one once.
_MAX_REPORTED = 1000


class _WrongKeyError(Exception):
    """A key has a type or value that no pacer writes."""

    def __init__(self, name: str, why: str, is_wrong: Callable[[Any], bool]) -> None:
        super().__init__(f"the key {name!r} {why}")
        self.name = name
        self.why = why
        #: Checks with a Redis client whether the key is still wrong.
        self.is_wrong = is_wrong


class _ServerClock(AbstractClock):
    """The server's clock in milliseconds, shared by all workers."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def now(self) -> int:
        seconds, micros = self._server.client.time()
        return int(seconds) * 1000 + int(micros) // 1000


class FleetPacer:
    """Paces requests of all processes that use the same server and prefix.

    Args:
        server: A URL such as ``redis://localhost:6379/0``, or a client (`redis.Redis`).
        default: The pace for sites that set none.
        prefix: The prefix of all keys.
        on_event: Called with each `Event` of the pacer.
        limits: The shortest and the longest interval to accept from a site.

    While the server is down or its responses are invalid, each process paces only its own
    requests, and logs a warning. A key with a wrong type or value is deleted and written again,
    with a warning; if that fails, the server counts as down.
    """

    def __init__(
        self,
        server: str | redis.Redis,
        default: Pace = RULE_OF_THUMB,
        prefix: str = "koster:pace:",
        on_event: OnEvent | None = None,
        limits: Limits = NO_LIMITS,
    ) -> None:
        self._limits = validate_limits(limits)
        self._server = Server(server)
        self._clock = _ServerClock(self._server)
        self._default = default
        self._prefix = prefix
        self._emitter = EventEmitter(on_event)
        self._local = Pacer(default, limits=limits)
        self._local_until = -math.inf
        #: Whether the server has failed, and not worked since.
        self._is_down = False
        self._reported: LRUCache[tuple[str, str], bool] = LRUCache(
            _MAX_REPORTED, _MAX_REPORTED, lambda _: 1
        )

    @property
    def _redis(self) -> redis.Redis:
        return self._server.client

    def turn(self, key: str, rules: Rules, now: datetime) -> float:
        """Take the turn and return 0, or return the seconds after which to try again.

        Raises:
            TooSlowError: the site's interval is longer than the limits accept.
        """
        # This process's own turns count even if the server has lost them.
        seconds_left = (self._local.next_request(key, rules, now) - now).total_seconds()
        if seconds_left > 0:
            return _with_jitter(seconds_left)
        seconds: float | None = self._call_server(key, self._take_turn, rules, now)
        if seconds is None or seconds == 0:
            return self._local.turn(key, rules, now)
        return _with_jitter(seconds)

    def next_request(self, key: str, rules: Rules, now: datetime) -> datetime:
        """Return when the next turn is due, without taking it.

        Raises:
            TooSlowError: the site's interval is longer than the limits accept.
        """
        local = self._local.next_request(key, rules, now)
        seconds: float | None = self._call_server(key, self._seconds_left, rules)
        return local if seconds is None else max(local, later(now, seconds))

    def took(self, key: str, seconds: float) -> None:
        """Record how many seconds the request of the last turn took.

        Raises:
            ValueError: ``seconds`` is not a finite number of at least 0.
        """
        self._local.took(key, seconds)
        self._call_server(key, self._record_seconds, seconds)

    def why(self, key: str, rules: Rules, due: datetime) -> str:
        """Return why the next turn is due at a moment, as a part of a sentence."""
        return self._local.why(key, rules, due)

    def close(self) -> None:
        """Close the connections, unless the client is the caller's."""
        self._server.close()

    def _call_server(self, key: str, method: Any, *arguments: Any) -> Any:
        """Call a method that uses the server; return None if the server fails."""
        began = time.monotonic()
        if began < self._local_until:
            return None
        try:
            result = self._call_replacing_wrong_keys(key, method, *arguments)
        except TooSlowError:
            raise
        except Exception as error:  # noqa: BLE001 - as in `RedisCache.get`
            self._local_until = time.monotonic() + _RETRY_SECONDS
            self._server.drop_connections(error)
            self._report_failure(key, error)
            return None
        # A success of a call that began before another thread's call failed is no recovery.
        if began >= self._local_until:
            self._is_down = False
        return result

    def _call_replacing_wrong_keys(self, key: str, method: Any, *arguments: Any) -> Any:
        """Call a method, deleting wrong keys that it finds.

        Raises:
            _WrongKeyError: keys are still wrong after several deletions.
        """
        for _ in range(_MAX_REPLACEMENTS):
            try:
                return method(key, *arguments)
            except _WrongKeyError as error:
                self._replace(key, error)
        return method(key, *arguments)

    def _replace(self, key: str, wrong: _WrongKeyError) -> None:
        """Delete a key, unless another worker has already replaced it."""
        pipe: Any
        with self._redis.pipeline() as pipe:
            pipe.watch(wrong.name)
            if not wrong.is_wrong(pipe):
                return
            pipe.multi()
            pipe.delete(wrong.name)
            try:
                pipe.execute()
            except redis.WatchError:
                return
        cause = wrong.name, wrong.why
        if self._reported.get(cause) is None:
            self._reported.put(cause, True)
            self._emit(
                EventName.PACE_REPLACED,
                key,
                {"koster.pace.key": wrong.name, "koster.why": wrong.why},
            )

    def _report_failure(self, key: str, error: Exception) -> None:
        """Report a failure, unless the outage it belongs to has been reported."""
        if self._is_down:
            return
        self._is_down = True
        attributes = {"error.type": type(error).__name__, "error.message": str(error)}
        self._emit(EventName.PACE_FAILED, key, attributes)

    def _emit(self, name: EventName, key: str, attributes: dict[str, str]) -> None:
        self._emitter.emit(name, key.partition(" ")[0], attributes)

    def _take_turn(self, key: str, rules: Rules, now: datetime) -> float:
        """Take the turn on the server and return 0, or return the seconds that are left."""
        stamp = self._clock.now()
        seconds_left = self._seconds_left(key, rules, stamp)
        if seconds_left > 0:
            return seconds_left
        seconds = min(interval(rules, now, 0.0, self._default, self._limits), _MAX_PAUSE)
        millis = math.ceil(seconds * 1000)
        if millis > 0:
            # One key per interval: after a change of the file, the old interval no longer applies.
            seconds_left = self._acquire_turn(self._name(key, f"turn {millis}"), millis, stamp)
            if seconds_left > 0:
                return seconds_left
        self._write(self._name(key, "last"), {"began": stamp, "seconds": 0})
        self._redis.expire(self._name(key, "last"), _LAST_TURN_TTL + millis // 1000)
        return 0.0

    def _acquire_turn(self, name: str, millis: int, stamp: int) -> float:
        """Take the turn of a key atomically and return 0, or return the seconds that are left.

        Raises:
            _WrongKeyError: the key has a wrong type, or sets a longer wait than GCRA would.
        """
        seconds_left = self._try_turn(name, millis, stamp)
        if 0 <= seconds_left <= millis / 1000 + _MAX_SKEW:
            return seconds_left
        # Another worker may just have replaced the key: report it only if it is wrong twice.
        fields = self._redis.hgetall(name)
        seconds_left = self._try_turn(name, millis, stamp)
        if 0 <= seconds_left <= millis / 1000 + _MAX_SKEW:
            return seconds_left
        raise _WrongKeyError(
            name,
            f"sets a longer wait than {millis / 1000:g} s",
            lambda client: bool(fields) and client.hgetall(name) == fields,
        )

    def _try_turn(self, name: str, millis: int, stamp: int) -> float:
        """Take the turn and return 0, or return the seconds left; negative for an invalid value.

        Raises:
            _WrongKeyError: the key has a wrong type.
        """
        store = RedisStateStore(self._redis, name)
        bucket = StateBucket([Rate(1, millis, burst=1)], store=store, clock=self._clock)
        item = RateItem(name, stamp)
        try:
            if bucket.put(item):
                return 0.0
        except redis.ResponseError as error:
            raise _to_wrong_key_error(error, name) from error
        try:
            wait: Any = bucket.waiting(item)
        except ValueError:
            # The key's value is not a number.
            return -1.0
        return float(wait) / 1000 if wait > 0 else -1.0

    def _seconds_left(self, key: str, rules: Rules, stamp: int | None = None) -> float:
        """Return the seconds until the next turn, according to the last one."""
        stamp = self._clock.now() if stamp is None else stamp
        now = _moment(stamp)
        due = next_request(rules, self._last(key, stamp), now, self._default, self._limits)
        self._limits.check(key, rules, due)
        return (due - now).total_seconds()

    def _record_seconds(self, key: str, seconds: float) -> None:
        name = self._name(key, "last")
        if self._redis.exists(name):
            self._write(name, {"seconds": str(min(seconds, _MAX_PAUSE))})

    def _write(self, name: str, fields: Any) -> None:
        """Write fields of a key.

        Raises:
            _WrongKeyError: the key has a wrong type.
        """
        try:
            self._redis.hset(name, mapping=fields)
        except redis.ResponseError as error:
            raise _to_wrong_key_error(error, name) from error

    def _last(self, key: str, stamp: int) -> Fetch | None:
        """Return the last turn, or None.

        Raises:
            _WrongKeyError: the key has a wrong type or value.
        """
        name = self._name(key, "last")

        def read_fields(client: Any) -> tuple[Any, Any]:
            began, seconds = client.hmget(name, ["began", "seconds"])
            return began, seconds

        try:
            began, seconds = read_fields(self._redis)
        except redis.ResponseError as error:
            raise _to_wrong_key_error(error, name) from error
        if began is None:
            return None
        last = _parse_last_turn(began, seconds, stamp)
        if last is None:
            why = "has an invalid value"
            wrong = began, seconds
            raise _WrongKeyError(name, why, lambda client: read_fields(client) == wrong)
        return last

    def _name(self, key: str, what: str) -> str:
        return f"{self._prefix}{what}:{key}"


def _to_wrong_key_error(error: redis.ResponseError, name: str) -> Exception:
    """Return a `_WrongKeyError` if the error is about a key's type, else the error itself."""
    if not is_wrong_type(error):
        return error
    return _WrongKeyError(name, "has the wrong type", lambda client: not _is_hash(client, name))


def _is_hash(client: redis.Redis, name: str) -> bool:
    kind: Any = client.type(name)
    return kind in (b"hash", "hash", b"none", "none")


def _parse_last_turn(began: Any, seconds: Any, stamp: int) -> Fetch | None:
    """Return the last turn from its fields, or None if they are invalid."""
    try:
        millis, took = int(began), float(seconds)
    except (ValueError, TypeError):
        return None
    if not 0 <= millis <= stamp + _MAX_SKEW * 1000 or not 0 <= took <= _MAX_PAUSE:
        return None
    return Fetch(_moment(min(millis, stamp)), took)


def _with_jitter(seconds: float) -> float:
    """Add a random delay, so that no worker is always first."""
    return seconds + random.uniform(0, min(_MAX_JITTER, seconds / 10))  # noqa: S311 - not a secret


def _moment(millis: int) -> datetime:
    return later(EPOCH, millis / 1000)
