"""Pacing for a fleet: like `Pacer`, but through a Redis server. Needs the extra ``redis``.

All workers together keep a site's interval: each takes its turn with pyrate-limiter's GCRA, one
atomic step on the server, with the interval that `koster.politeness` computes for that moment.
Windows of the day follow from the last turn, which all workers see. The clock is the server's.

Keys whose type or value no pacer writes are deleted, so that the fleet can continue.
"""

from __future__ import annotations

import enum
import math
import os
import random
import secrets
import time
from dataclasses import replace
from typing import Any, Literal

from .._moments import later
from ..cache.memory import LRUCache
from ..errors import OutageError, missing
from ..politeness import NO_LIMITS, RULE_OF_THUMB, Limits, Pace, interval, next_request
from ._back_off import BackOff
from ._last_turn import (
    FIELDS,
    MAX_PAUSE,
    MAX_SKEW,
    LastTurn,
    fields_of,
    moment_of,
    parse_last_turn,
)
from .events import EventEmitter, EventName
from .pace import Pacer, validate_limits

try:
    import redis
    from pyrate_limiter import AbstractClock, Rate, RateItem, StateBucket
    from pyrate_limiter.buckets.redis_state import RedisStateStore

    from ..cache.redis import Server, is_outage, is_wrong_type
except ModuleNotFoundError as error:
    raise missing("FleetPacer", "redis") from error

from collections.abc import Callable
from datetime import datetime

from ..robots import Rules
from ._back_off import PageAnswer
from .events import OnEvent

#: Seconds for which the duration of the last request is remembered.
_LAST_TURN_TTL = 24 * 60 * 60

#: Maximum random delay in seconds, so that workers do not try in lockstep.
_MAX_JITTER = 0.02

#: Seconds until a failed server is tried again.
_RETRY_SECONDS = 10.0

#: Minimum seconds after which a worker asks again while another turn holds the next one back.
_MIN_POLL = 0.01

#: Milliseconds until the end of the year 9999.
_MAX_MILLIS = 253_402_300_799_999

#: Wrong keys replaced per call. If more are wrong, another program writes them.
_MAX_REPLACEMENTS = 3

#: Wrong keys remembered, to report each one once.
_MAX_REPORTED = 1000


#: Times that an answer is recorded again because another worker wrote at the same moment.
_MAX_CONFLICTS = 10


class Outage(enum.StrEnum):
    """What a `FleetPacer` does while its server is down."""

    OWN_PACE = "own pace"
    """Each process keeps the pace of its own requests: together they may be faster."""
    REFUSE = "refuse"
    """No turns: they raise `koster.OutageError`."""


class _WrongKeyError(redis.RedisError):
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
        found: Any = self._server.client.time()
        try:
            seconds, micros = found
            millis = int(seconds) * 1000 + int(micros) // 1000
        except (ArithmeticError, TypeError, ValueError) as error:
            raise redis.InvalidResponse("TIME returned no time") from error
        if not 0 <= millis <= _MAX_MILLIS:
            raise redis.InvalidResponse("TIME returned a time after the year 9999")
        return millis


class FleetPacer:
    """Paces requests of all processes that use the same server and prefix.

    Args:
        server: A URL such as ``redis://localhost:6379/0``, or a client (`redis.Redis` or
            `redis.asyncio.Redis`, as `RedisCache`).
        default: The pace for sites that set none.
        prefix: The prefix of all keys.
        on_event: Called with each `Event` of the pacer.
        limits: The shortest and the longest interval to accept from a site.
        on_outage: What to do while the server is down or its responses are invalid: keep the pace
            of this process's own requests, or refuse turns. Both with one warning for each outage.

    Raises:
        CacheError: the server does not respond, or the database does not exist.
        TypeError: an argument has the wrong type.
        ValueError: the URL or ``on_outage`` is invalid.

    A key with a wrong type or value is deleted and written again,
    with a warning; if that fails, the server counts as down.
    """

    def __init__(
        self,
        server: str | redis.Redis | redis.asyncio.Redis,
        default: Pace = RULE_OF_THUMB,
        prefix: str = "koster:pace:",
        on_event: OnEvent | None = None,
        limits: Limits = NO_LIMITS,
        on_outage: Outage | Literal["own pace", "refuse"] = Outage.OWN_PACE,
    ) -> None:
        self._limits = validate_limits(limits)
        if on_outage not in list(Outage):
            raise ValueError(
                f"on_outage must be koster.fetch.Outage.OWN_PACE or REFUSE, not {on_outage!r}"
            )
        self._on_outage = Outage(on_outage)
        self._server = Server(server)
        self._clock = _ServerClock(self._server)
        self._default = default
        self._prefix = prefix
        self._emitter = EventEmitter(on_event)
        #: Tells the turns of this pacer from those of others.
        self._id = secrets.token_hex(8)
        self._server.check()
        self._local = Pacer(default, limits=limits)
        self._local_until = -math.inf
        #: Whether the server has failed, and not worked since.
        self._is_down = False
        self._why_down = ""
        self._reported: LRUCache[tuple[str, str], bool] = LRUCache(
            _MAX_REPORTED, _MAX_REPORTED, lambda _: 1
        )

    @property
    def _redis(self) -> redis.Redis:
        return self._server.client

    def turn(self, key: str, rules: Rules, now: datetime) -> float:
        """Take the turn and return 0, or return the seconds after which to try again.

        Raises:
            OutageError: the server is down, and ``on_outage`` is `Outage.REFUSE`.
            TooSlowError: the site's interval is longer than the limits accept.
        """
        return self._turn(key, rules, now, 0)

    def begin(self, key: str, rules: Rules, now: datetime, token: int) -> float:
        """Take the turn like `turn`, and hold the next one back until `sent`.

        ``token`` stands for this turn. After 60 seconds its request counts as sent.
        """
        return self._turn(key, rules, now, token)

    def sent(self, key: str, token: int, now: datetime) -> None:
        """Record that the request of a turn was sent now: the interval counts from here."""
        if self._local.move_start(key, token, now):
            self._call_server(key, self._move_start, token)

    def _turn(self, key: str, rules: Rules, now: datetime, token: int) -> float:
        # This process's own turns count even if the server has lost them.
        seconds_left = (self._local.next_request(key, rules, now) - now).total_seconds()
        if seconds_left > 0:
            return _with_jitter(seconds_left)
        seconds: float | None = self._call_server(key, self._take_turn, rules, now, token)
        if seconds is None:
            self._check_outage()
        if seconds is not None and seconds > 0:
            return _with_jitter(seconds)
        if not token:
            return self._local.turn(key, rules, now)
        seconds = self._local.begin(key, rules, now, token)
        if seconds > 0:
            # Another thread was faster: the server must not wait for this turn.
            self._call_server(key, self._move_start, token)
        return seconds

    def next_request(self, key: str, rules: Rules, now: datetime) -> datetime:
        """Return when the next turn is due, without taking it.

        Raises:
            OutageError: as `turn`.
            TooSlowError: the site's interval is longer than the limits accept.
        """
        local = self._local.next_request(key, rules, now)
        seconds: float | None = self._call_server(key, self._seconds_left, rules)
        if seconds is None:
            self._check_outage()
            return local
        return max(local, later(now, seconds))

    def took(self, key: str, seconds: float) -> None:
        """Record how many seconds the request of the last turn took.

        Raises:
            ValueError: ``seconds`` is not a finite number of at least 0.
        """
        self._local.took(key, seconds)
        self._call_server(key, self._record_seconds, seconds)

    def answered(self, key: str, rules: Rules, now: datetime, answer: PageAnswer) -> BackOff | None:
        """Record the answer to a page; return the back-off if it changed the pace.

        All processes slow down together; see `Pacer.answered`.
        """
        local = self._local.answered(key, rules, now, answer)
        changed: BackOff | bool | None = self._call_server(
            key, self._record_answer, rules, now, answer
        )
        if changed is None:
            return local
        return changed if isinstance(changed, BackOff) else None

    def why(self, key: str, rules: Rules, due: datetime) -> str:
        """Return why the next turn is due at a moment, as a part of a sentence."""
        return self._local.why(key, rules, due)

    def close(self) -> None:
        """Close the connections, unless the client is the caller's."""
        self._server.close()

    def _check_outage(self) -> None:
        """Refuse a turn while the server is down, if that is what the caller wants.

        Raises:
            OutageError: it is.
        """
        if self._on_outage is Outage.REFUSE:
            raise OutageError(
                f"no turn while Redis is down ({self._why_down}): on_outage is 'refuse'; Redis is "
                f"tried again every {_RETRY_SECONDS:g} seconds"
            )

    def _call_server(self, key: str, method: Any, *arguments: Any) -> Any:
        """Call a method that uses the server; return None if the server fails."""
        began = time.monotonic()
        if began < self._local_until:
            return None
        try:
            result = self._call_replacing_wrong_keys(key, method, *arguments)
        except Exception as error:
            if not is_outage(error):
                raise
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
        self._why_down = str(error) or type(error).__name__
        if self._is_down:
            return
        self._is_down = True
        attributes = {
            "koster.policy": self._on_outage.value,
            "error.type": type(error).__name__,
            "error.message": str(error),
        }
        self._emit(EventName.PACE_FAILED, key, attributes)

    def _emit(self, name: EventName, key: str, attributes: dict[str, str]) -> None:
        self._emitter.emit(name, key.partition(" ")[0], attributes)

    def _take_turn(self, key: str, rules: Rules, now: datetime, token: int) -> float:
        """Take the turn on the server and return 0, or return the seconds that are left."""
        stamp = self._clock.now()
        seconds_left = self._seconds_left(key, rules, stamp)
        if seconds_left > 0:
            return seconds_left
        seconds = min(interval(rules, now, 0.0, self._default, self._limits), MAX_PAUSE)
        millis = math.ceil(seconds * 1000)
        if millis > 0:
            # One key per interval: after a change of the file, the old interval no longer applies.
            seconds_left = self._acquire_turn(self._name(key, f"turn {millis}"), millis, stamp)
            if seconds_left > 0:
                return seconds_left
        name = self._name(key, "last")
        opened = {"token": self._mark(token), "open": 1 if token else 0}
        self._write(name, {"began": stamp, "given": stamp, "seconds": 0, **opened})
        self._redis.expire(name, _LAST_TURN_TTL + millis // 1000)
        return 0.0

    def _mark(self, token: int) -> str:
        """Return what stands for a turn of this process; empty for one without a token."""
        return f"{self._id} {os.getpid()} {token}" if token else ""

    def _move_start(self, key: str, token: int) -> None:
        """Let the interval count from now."""
        stamp = self._clock.now()
        if self._last(key, stamp).token == self._mark(token):
            self._write(self._name(key, "last"), {"began": stamp, "open": 0})

    def _record_answer(
        self, key: str, rules: Rules, now: datetime, answer: PageAnswer
    ) -> BackOff | bool:
        """Record an answer; return the back-off if it changed, else False."""
        name = self._name(key, "last")
        pipe: Any
        for _ in range(_MAX_CONFLICTS):
            with self._redis.pipeline() as pipe:
                pipe.watch(name)
                stamp = self._clock.now()
                last = self._last(key, stamp, pipe)
                took = 0.0 if last.fetch is None else last.fetch.seconds
                own = interval(rules, now, took, self._default, self._limits)
                before = last.back_off
                after = before.after(answer, own, last.given, stamp / 1000)
                self._adopt(key, after, stamp)
                if after is before:
                    return False
                pipe.multi()
                pipe.hset(name, mapping=fields_of(after))
                pause = max(min(own, MAX_PAUSE), after.until - stamp / 1000)
                pipe.expire(name, _LAST_TURN_TTL + math.ceil(pause))
                try:
                    pipe.execute()
                except redis.WatchError:
                    continue
            has_changed = (before.interval, before.until) != (after.interval, after.until)
            return after if has_changed else False
        return False

    def _adopt(self, key: str, back_off: BackOff, stamp: int) -> None:
        """Let this process know the back-off of all processes."""
        until = time.monotonic() + back_off.until - stamp / 1000
        self._local.adopt(key, replace(back_off, until=until))

    def _acquire_turn(self, name: str, millis: int, stamp: int) -> float:
        """Take the turn of a key atomically and return 0, or return the seconds that are left.

        Raises:
            _WrongKeyError: the key has a wrong type, or sets a longer wait than GCRA would.
        """
        seconds_left = self._try_turn(name, millis, stamp)
        if 0 <= seconds_left <= millis / 1000 + MAX_SKEW:
            return seconds_left
        # Another worker may just have replaced the key: report it only if it is wrong twice.
        fields = self._redis.hgetall(name)
        seconds_left = self._try_turn(name, millis, stamp)
        if 0 <= seconds_left <= millis / 1000 + MAX_SKEW:
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
        if not isinstance(wait, (int, float)):
            raise redis.InvalidResponse("no number of milliseconds to wait")
        return float(wait) / 1000 if wait > 0 else -1.0

    def _seconds_left(self, key: str, rules: Rules, stamp: int | None = None) -> float:
        """Return the seconds until the next turn, according to the last one."""
        stamp = self._clock.now() if stamp is None else stamp
        now = moment_of(stamp)
        last = self._last(key, stamp)
        self._adopt(key, last.back_off, stamp)
        earliest = max(now, moment_of(round(last.back_off.until * 1000)))
        if last.fetch is not None:
            earliest = max(earliest, later(last.fetch.began, last.back_off.interval))
        due = next_request(rules, last.fetch, earliest, self._default, self._limits)
        self._limits.check(key, rules, due)
        seconds = (due - now).total_seconds()
        # While a turn holds the next one back, the other workers ask again later.
        return max(seconds, _MIN_POLL) if seconds and last.is_open else seconds

    def _record_seconds(self, key: str, seconds: float) -> None:
        name = self._name(key, "last")
        if self._redis.exists(name):
            self._write(name, {"seconds": str(min(seconds, MAX_PAUSE))})

    def _write(self, name: str, fields: Any) -> None:
        """Write fields of a key.

        Raises:
            _WrongKeyError: the key has a wrong type.
        """
        try:
            self._redis.hset(name, mapping=fields)
        except redis.ResponseError as error:
            raise _to_wrong_key_error(error, name) from error

    def _last(self, key: str, stamp: int, client: Any = None) -> LastTurn:
        """Return the last turn and the back-off.

        Raises:
            _WrongKeyError: the key has a wrong type or value.
        """
        name = self._name(key, "last")

        def read_fields(client: Any) -> list[Any]:
            fields: Any = client.hmget(name, FIELDS)
            if not isinstance(fields, list) or len(fields) != len(FIELDS):
                raise redis.InvalidResponse("HMGET returned other fields")
            return fields

        try:
            fields = read_fields(client or self._redis)
        except redis.ResponseError as error:
            raise _to_wrong_key_error(error, name) from error
        last = parse_last_turn(fields, stamp)
        if last is None:
            why = "has an invalid value"
            raise _WrongKeyError(name, why, lambda client: read_fields(client) == fields)
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


def _with_jitter(seconds: float) -> float:
    """Add a random delay, so that no worker is always first."""
    return seconds + random.uniform(0, min(_MAX_JITTER, seconds / 10))  # noqa: S311 - not a secret
