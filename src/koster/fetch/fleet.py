"""Pacing for a fleet: the same as `Pacer`, through a Redis server. Needs the extra ``redis``.

Twenty workers together keep one site's interval: each asks pyrate-limiter's GCRA on the server
for the turn, in one atomic step, with the interval that `koster.politeness` has at this moment;
windows are kept to by what all know of the last turn. The time is the server's.

A key whose type or value no pacer can have written is deleted, so that the fleet can go on.
"""

from __future__ import annotations

import math
import random
import time
from typing import TYPE_CHECKING, Any

from .._moments import EPOCH, later
from ..cache.memory import Recent
from ..errors import missing
from ..politeness import RULE_OF_THUMB, Fetch, Pace, interval, next_request
from .events import EventName, Teller
from .pace import Pacer

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

#: The longest pause that is kept to, in seconds: a year. GCRA counts microseconds in numbers that
#: are exact up to 2**53.
_LONGEST = 365 * 24 * 60 * 60

#: How long is remembered how long a request took, in seconds.
_MEMORY = 24 * 60 * 60

#: How many seconds later a worker asks again than the turn is due, at most.
_CHANCE = 0.02

#: Seconds for which a server that failed is left alone.
_PAUSE = 10.0

#: Seconds by which a turn may be in the future: workers ask for the time one after the other.
_SKEW = 60

#: How many wrong keys are replaced in one step. If more are wrong, something else writes them.
_REPLACED = 3

#: Wrong keys that are remembered, so that each is reported once.
_REPORTED = 1000


class _WrongKeyError(Exception):
    """A key has a type or a value that no pacer has written."""

    def __init__(self, name: str, why: str, is_wrong: Callable[[Any], bool]) -> None:
        super().__init__(f"the key {name!r} {why}")
        self.name = name
        self.why = why
        #: Tells by a client whether it is still wrong.
        self.is_wrong = is_wrong


class _ServerClock(AbstractClock):
    """The server's time in milliseconds: all workers share it."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def now(self) -> int:
        seconds, micros = self._server.client.time()
        return int(seconds) * 1000 + int(micros) // 1000


class FleetPacer:
    """Keeps the pace for all processes that use the same server and prefix.

    Args:
        server: Its URL, as in ``redis://localhost:6379/0``, or a client (`redis.Redis`).
        default: The pace where a site asks for none.
        prefix: What all keys begin with.
        on_event: Called with each `Event` of the pacer.

    While the server is down, or gives no proper answers, each process keeps the pace on its own,
    and says so in the log. A key of a wrong type or with a wrong value is deleted and written
    anew, with a warning; where it cannot be deleted, it is as if the server were down.
    """

    def __init__(
        self,
        server: str | redis.Redis,
        default: Pace = RULE_OF_THUMB,
        prefix: str = "koster:pace:",
        on_event: OnEvent | None = None,
    ) -> None:
        self._server = Server(server)
        self._clock = _ServerClock(self._server)
        self._default = default
        self._prefix = prefix
        self._teller = Teller(on_event)
        self._alone = Pacer(default)
        self._alone_until = -math.inf
        #: What went wrong last, until something goes well.
        self._failure = ""
        self._reported: Recent[tuple[str, str], bool] = Recent(_REPORTED, _REPORTED, lambda _: 1)

    @property
    def _redis(self) -> redis.Redis:
        return self._server.client

    def turn(self, key: str, rules: Rules, now: datetime) -> float:
        """Take the turn and return 0, or return the seconds after which to ask again."""
        # What this process did itself it knows, also what the server does not know any more.
        left = (self._alone.next_request(key, rules, now) - now).total_seconds()
        if left > 0:
            return _with_chance(left)
        seconds: float | None = self._asked(key, self._turn, rules, now)
        if seconds is None or seconds == 0:
            return self._alone.turn(key, rules, now)
        return _with_chance(seconds)

    def next_request(self, key: str, rules: Rules, now: datetime) -> datetime:
        """Return when the next turn is, without taking it."""
        alone = self._alone.next_request(key, rules, now)
        seconds: float | None = self._asked(key, self._left, rules)
        return alone if seconds is None else max(alone, later(now, seconds))

    def took(self, key: str, seconds: float) -> None:
        """Note how long the request took for which the turn was taken last.

        Raises:
            ValueError: ``seconds`` is no finite number from 0 on.
        """
        self._alone.took(key, seconds)
        self._asked(key, self._note, seconds)

    def _asked(self, key: str, method: Any, *arguments: Any) -> Any:
        """Return what the server says, or None if it is down."""
        if time.monotonic() < self._alone_until:
            return None
        try:
            answer = self._with_right_keys(key, method, *arguments)
        except Exception as error:  # noqa: BLE001 - as in `RedisCache.get`
            self._alone_until = time.monotonic() + _PAUSE
            self._server.drop_connections(error)
            self._report_failure(key, error)
            return None
        self._failure = ""
        return answer

    def _with_right_keys(self, key: str, method: Any, *arguments: Any) -> Any:
        """Return what the server says, once the keys that are wrong have been deleted.

        Raises:
            _WrongKeyError: they are written again and again.
        """
        for _ in range(_REPLACED):
            try:
                return method(key, *arguments)
            except _WrongKeyError as error:
                self._replace(key, error)
        return method(key, *arguments)

    def _replace(self, key: str, wrong: _WrongKeyError) -> None:
        """Delete a key if it is still wrong: another worker may have been faster."""
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
            self._tell(
                EventName.PACE_REPLACED,
                key,
                {"koster.pace.key": wrong.name, "koster.why": wrong.why},
            )

    def _report_failure(self, key: str, error: Exception) -> None:
        kind, message = type(error).__name__, str(error)
        if self._failure != f"{kind}: {message}":
            self._failure = f"{kind}: {message}"
            self._tell(EventName.PACE_FAILED, key, {"error.type": kind, "error.message": message})

    def _tell(self, name: EventName, key: str, attributes: dict[str, str]) -> None:
        """Tell an event about a key, which is an origin and an agent."""
        self._teller.tell(name, key.partition(" ")[0], attributes)

    def _turn(self, key: str, rules: Rules, now: datetime) -> float:
        """Take the turn on the server, or return the seconds after which to ask again."""
        stamp = self._clock.now()
        left = self._left(key, rules, stamp)
        if left > 0:
            return left
        seconds = min(interval(rules, now, 0.0, self._default), _LONGEST)
        millis = math.ceil(seconds * 1000)
        if millis > 0:
            # One name for each interval: where the file changes, the old one binds nobody.
            left = self._admitted(self._name(key, f"turn {millis}"), millis, stamp)
            if left > 0:
                return left
        self._write(self._name(key, "last"), {"began": stamp, "seconds": 0})
        self._redis.expire(self._name(key, "last"), _MEMORY + millis // 1000)
        return 0.0

    def _admitted(self, name: str, millis: int, stamp: int) -> float:
        """Take the turn under a name in one atomic step, or return the seconds that are left.

        Raises:
            _WrongKeyError: the key is of a wrong type, or asks for a longer wait than GCRA would.
        """
        left = self._put(name, millis, stamp)
        if 0 <= left <= millis / 1000 + _SKEW:
            return left
        # Another worker may have replaced it meanwhile: only what is wrong twice is deleted.
        found = self._redis.hgetall(name)
        left = self._put(name, millis, stamp)
        if 0 <= left <= millis / 1000 + _SKEW:
            return left
        raise _WrongKeyError(
            name,
            f"asks for a longer wait than {millis / 1000:g} s",
            lambda client: bool(found) and client.hgetall(name) == found,
        )

    def _put(self, name: str, millis: int, stamp: int) -> float:
        """Take the turn, or return the seconds that are left; negative if GCRA gives none.

        Raises:
            _WrongKeyError: the key is of a wrong type.
        """
        store = RedisStateStore(self._redis, name)
        bucket = StateBucket([Rate(1, millis, burst=1)], store=store, clock=self._clock)
        item = RateItem(name, stamp)
        try:
            if bucket.put(item):
                return 0.0
        except redis.ResponseError as error:
            raise _as_wrong_key(error, name) from error
        try:
            waiting: Any = bucket.waiting(item)
        except ValueError:
            # The key has no number that Python can read.
            return -1.0
        return float(waiting) / 1000 if waiting > 0 else -1.0

    def _left(self, key: str, rules: Rules, stamp: int | None = None) -> float:
        """Return the seconds until the next turn, by what is known of the last one."""
        stamp = self._clock.now() if stamp is None else stamp
        now = _moment(stamp)
        due = next_request(rules, self._last(key, stamp), now, self._default)
        return (due - now).total_seconds()

    def _note(self, key: str, seconds: float) -> None:
        name = self._name(key, "last")
        if self._redis.exists(name):
            self._write(name, {"seconds": str(min(seconds, _LONGEST))})

    def _write(self, name: str, fields: Any) -> None:
        """Write fields of a key.

        Raises:
            _WrongKeyError: it is of a wrong type.
        """
        try:
            self._redis.hset(name, mapping=fields)
        except redis.ResponseError as error:
            raise _as_wrong_key(error, name) from error

    def _last(self, key: str, stamp: int) -> Fetch | None:
        """Return what is known of the last turn, if anything is.

        Raises:
            _WrongKeyError: no pacer has written that.
        """
        name = self._name(key, "last")

        def found(client: Any) -> tuple[Any, Any]:
            began, seconds = client.hmget(name, ["began", "seconds"])
            return began, seconds

        try:
            began, seconds = found(self._redis)
        except redis.ResponseError as error:
            raise _as_wrong_key(error, name) from error
        if began is None:
            return None
        last = _fetch_of(began, seconds, stamp)
        if last is None:
            why = "has a value that no pacer writes"
            wrong = began, seconds
            raise _WrongKeyError(name, why, lambda client: found(client) == wrong)
        return last

    def _name(self, key: str, what: str) -> str:
        return f"{self._prefix}{what}:{key}"


def _as_wrong_key(error: redis.ResponseError, name: str) -> Exception:
    """Return an error that says so if a key is of a wrong type, and else the error."""
    if not is_wrong_type(error):
        return error
    return _WrongKeyError(name, "has a wrong type", lambda client: not _is_hash(client, name))


def _is_hash(client: redis.Redis, name: str) -> bool:
    """Tell whether a key is a hash, or not there."""
    found: Any = client.type(name)
    return found in (b"hash", "hash", b"none", "none")


def _fetch_of(began: Any, seconds: Any, stamp: int) -> Fetch | None:
    """Return the last turn, given in milliseconds and seconds, or None if no pacer writes that."""
    try:
        millis, took = int(began), float(seconds)
    except (ValueError, TypeError):
        return None
    if not 0 <= millis <= stamp + _SKEW * 1000 or not 0 <= took <= _LONGEST:
        return None
    return Fetch(_moment(min(millis, stamp)), took)


def _with_chance(seconds: float) -> float:
    """Return a little more, by chance: of workers who wake together each is first now and then."""
    return seconds + random.uniform(0, min(_CHANCE, seconds / 10))  # noqa: S311 - no secret


def _moment(millis: int) -> datetime:
    return later(EPOCH, millis / 1000)
