"""Pacing in one process: whose turn it is to request from a site, and when.

`koster.politeness` computes the schedule; this module remembers the last turns. Intervals use the
monotonic clock, windows of the day the time that the caller passes.

The interval runs from the moment when a turn is given (`Pacer.turn`), or from the moment when its
request was sent: `Pacer.begin` holds the next turn back until `Pacer.sent`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from .._moments import later
from ..cache.forks import at_fork
from ..errors import TooSoonError
from ..politeness import (
    NO_LIMITS,
    RULE_OF_THUMB,
    Fetch,
    Limits,
    Pace,
    interval,
    next_request,
    pace_of,
    validate_seconds,
    why,
)
from ..robots import Rules
from ._back_off import MEMORY, BackOff, PageAnswer

#: Seconds after which a waiting client checks again: windows and clocks may change.
MAX_SLEEP = 60.0

#: Maximum seconds for which a turn holds the next one back: its request counts as sent then.
MAX_OPEN = 60.0

#: Minimum seconds after which a caller asks again while another turn holds the next one back.
_MIN_POLL = 0.01

#: Turns remembered before expired ones are discarded.
_MAX_TURNS = 10_000
#: Minimum seconds for which a turn is remembered.
_MIN_MEMORY = 60.0

#: Seconds by which wall clock and monotonic clock may differ between readings, unless one was set.
_CLOCK_TOLERANCE = 0.001


class PaceKeeper(Protocol):
    """Paces requests by key (an origin and an agent). Must be thread-safe.

    A caller's own pacer needs `turn`, `next_request` and `took` only.
    """

    def turn(self, key: str, rules: Rules, now: datetime) -> float:
        """Take the turn and return 0, or return the seconds after which to try again."""

    def next_request(self, key: str, rules: Rules, now: datetime) -> datetime:
        """Return when the next turn is due, without taking it."""

    def took(self, key: str, seconds: float) -> None:
        """Record how many seconds the request of the last turn took."""

    def begin(self, key: str, rules: Rules, now: datetime, token: int) -> float:
        """Take the turn like `turn`, and hold the next one back until `sent`."""

    def sent(self, key: str, token: int, now: datetime) -> None:
        """Record that the request of a turn was sent now: the interval counts from here."""

    def answered(self, key: str, rules: Rules, now: datetime, answer: PageAnswer) -> BackOff | None:
        """Record the answer to a page; return the back-off if it changed the pace."""

    def why(self, key: str, rules: Rules, due: datetime) -> str:
        """Return why the next turn is due at a moment, as a part of a sentence."""


@dataclass(slots=True)
class _Turn:
    """A turn: ``began`` and ``given`` on the monotonic clock, ``moment`` on the wall clock.

    It is ``given`` once; the interval counts from ``began``. An open turn, with a ``token``, has
    not been sent yet.
    """

    began: float
    moment: datetime
    seconds: float
    interval: float
    given: float
    token: int = 0
    is_open: bool = False


def pacer_for(
    pacer: PaceKeeper | None, default_interval: float | None, limits: Limits
) -> PaceKeeper:
    """Return a client's pacer.

    Raises:
        TypeError: the pacer lacks a method, or the interval is not a number.
        ValueError: it is combined with intervals, or an interval is not a finite number of at
            least 0.
    """
    if pacer is None:
        return Pacer(pace_of(default_interval), limits=limits)
    if default_interval is not None:
        raise ValueError("default_interval cannot be combined with pacer: give it a default")
    if limits != NO_LIMITS:
        raise ValueError(
            "min_interval and max_interval cannot be combined with pacer: give it limits"
        )
    for name in ("turn", "next_request", "took"):
        if not callable(getattr(pacer, name, None)):
            raise TypeError(
                "pacer must be a koster.fetch.Pacer or FleetPacer, or have their methods, "
                f"not {type(pacer).__name__}"
            )
    is_complete = all(hasattr(pacer, name) for name in ("begin", "sent", "answered", "why"))
    return pacer if is_complete else _SimplePacer(pacer)


def too_soon_error(key: str, moment: datetime, reason: str) -> TooSoonError:
    """Return the error for a turn that is due later than the caller wants to wait."""
    return TooSoonError(f"{key}: next request at {moment:%Y-%m-%d %H:%M:%S} UTC ({reason})", moment)


def validate_limits(limits: Limits) -> Limits:
    """Return a pacer's limits.

    Raises:
        TypeError: they are something else.
    """
    if not isinstance(limits, Limits):
        raise TypeError(f"limits must be koster.politeness.Limits, not {type(limits).__name__}")
    return limits


class _SimplePacer:
    """A caller's own pacer that has only the methods `turn`, `next_request` and `took`."""

    def __init__(self, pacer: PaceKeeper) -> None:
        self.turn = pacer.turn
        self.next_request = pacer.next_request
        self.took = pacer.took

    def begin(self, key: str, rules: Rules, now: datetime, _token: int) -> float:
        """Take the turn: its interval counts from here."""
        return self.turn(key, rules, now)

    def sent(self, key: str, token: int, now: datetime) -> None:
        """Record nothing."""

    def answered(self, *_: object) -> BackOff | None:
        """Raise an error: the pacer cannot slow down.

        Raises:
            TypeError: always.
        """
        raise TypeError(
            "this pacer cannot slow down: it has no method answered, as koster.fetch.Pacer has"
        )

    def why(self, _key: str, rules: Rules, due: datetime) -> str:
        """Return why the next turn is due at a moment: what the site says."""
        return why(rules, due)


class Pacer:
    """Paces requests in this process.

    Args:
        default: The pace for sites that set none.
        monotonic: Returns seconds of a monotonic clock.
        limits: The shortest and the longest interval to accept from a site.
    """

    def __init__(
        self,
        default: Pace = RULE_OF_THUMB,
        monotonic: Callable[[], float] = time.monotonic,
        limits: Limits = NO_LIMITS,
    ) -> None:
        self._default = default
        self._limits = validate_limits(limits)
        self._monotonic = monotonic
        self._turns: dict[str, _Turn] = {}
        self._back_offs: dict[str, BackOff] = {}
        self._limit = _MAX_TURNS
        # Held for two steps only, and never while something else is waited for.
        self._lock = threading.RLock()
        at_fork(in_child=self._reset_after_fork)

    def _reset_after_fork(self) -> None:
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return len(self._turns)

    def turn(self, key: str, rules: Rules, now: datetime) -> float:
        """Take the turn and return 0, or return the seconds after which to try again.

        Raises:
            TooSlowError: the site's interval is longer than the limits accept.
        """
        last = self._turns.get(key)
        due = self._due(key, last, rules, now)
        if due > now:
            seconds = (due - now).total_seconds()
            return max(seconds, _MIN_POLL) if last is not None and last.is_open else seconds
        given = self._monotonic()
        turn = _Turn(given, now, 0.0, self._interval(rules, now), given)
        with self._lock:
            is_taken = self._turns.get(key) is not last
            if not is_taken:
                self._turns[key] = turn
        if is_taken:
            return self.turn(key, rules, now)
        if len(self._turns) > self._limit:
            self._discard_expired()
        return 0.0

    def next_request(self, key: str, rules: Rules, now: datetime) -> datetime:
        """Return when the next turn is due, without taking it.

        Raises:
            TooSlowError: the site's interval is longer than the limits accept.
        """
        return self._due(key, self._turns.get(key), rules, now)

    def begin(self, key: str, rules: Rules, now: datetime, token: int) -> float:
        """Take the turn like `turn`, and hold the next one back until `sent`.

        ``token`` stands for this turn. After `MAX_OPEN` seconds its request counts as sent.
        """
        seconds = self.turn(key, rules, now)
        if not seconds:
            turn = self._turns.get(key)
            if turn is not None:
                turn.token = token
                turn.is_open = True
        return seconds

    def sent(self, key: str, token: int, now: datetime) -> None:
        """Record that the request of a turn was sent now: the interval counts from here.

        A turn that was not given, or is not the last one any more, changes nothing.
        """
        self.move_start(key, token, now)

    def move_start(self, key: str, token: int, now: datetime) -> bool:
        """Do what `sent` does; return whether the turn is the last one."""
        turn = self._turns.get(key)
        if turn is None or turn.token != token:
            return False
        turn.began = self._monotonic()
        turn.moment = now
        turn.is_open = False
        return True

    def took(self, key: str, seconds: float) -> None:
        """Record how many seconds the request of the last turn took.

        Raises:
            ValueError: ``seconds`` is not a finite number of at least 0.
        """
        validate_seconds(seconds)
        turn = self._turns.get(key)
        if turn is not None:
            turn.seconds = seconds

    def answered(self, key: str, rules: Rules, now: datetime, answer: PageAnswer) -> BackOff | None:
        """Record the answer to a page; return the back-off if it changed the pace.

        429 and 503 slow down the requests of a key: until the end of Retry-After, or by doubling
        the interval, up to 300 seconds. Ten good answers halve it again.
        """
        turn = self._turns.get(key)
        given, took = (0.0, 0.0) if turn is None else (turn.given, turn.seconds)
        own = interval(rules, now, took, self._default, self._limits)
        with self._lock:
            before = self._back_offs.get(key, BackOff())
            after = before.after(answer, own, given, self._monotonic())
            if after is not before:
                self.adopt(key, after)
        has_changed = (before.interval, before.until) != (after.interval, after.until)
        return after if has_changed else None

    def adopt(self, key: str, back_off: BackOff) -> None:
        """Use a back-off, whose ``until`` is on the clock of this pacer."""
        if back_off.interval or back_off.until > self._monotonic():
            self._back_offs[key] = back_off
            if len(self._back_offs) > self._limit:
                self._discard_expired()
        else:
            self._back_offs.pop(key, None)

    def why(self, key: str, rules: Rules, due: datetime) -> str:
        """Return why the next turn is due at a moment, as a part of a sentence."""
        back_off = self._back_offs.get(key)
        if back_off is not None:
            reason = back_off.why(self._interval(rules, due), self._monotonic())
            if reason:
                return reason
        return why(rules, due, self._default, self._limits)

    def _interval(self, rules: Rules, now: datetime) -> float:
        return interval(rules, now, 0.0, self._default, self._limits)

    def _due(self, key: str, turn: _Turn | None, rules: Rules, now: datetime) -> datetime:
        last = None
        if turn is not None:
            last = self._last_fetch(turn, now)
        earliest = now
        if self._back_offs:
            earliest = self._after_back_off(key, last, now)
        due = next_request(rules, last, earliest, self._default, self._limits)
        if self._limits is not NO_LIMITS:
            self._limits.check(key, rules, due)
        return due

    def _last_fetch(self, turn: _Turn, now: datetime) -> Fetch:
        """Return the last request; one that was not sent yet begins now."""
        elapsed = self._monotonic() - turn.began
        moment = turn.moment
        if turn.is_open:
            if elapsed < MAX_OPEN:
                return Fetch(now, turn.seconds)
            elapsed -= MAX_OPEN
            moment = later(moment, MAX_OPEN)
        wall_clock = (now - moment).total_seconds()
        was_clock_set = abs(wall_clock - elapsed) > _CLOCK_TOLERANCE
        return Fetch(later(now, -elapsed) if was_clock_set else moment, turn.seconds)

    def _after_back_off(self, key: str, last: Fetch | None, now: datetime) -> datetime:
        """Return the first moment that the back-off of a key permits, ``now`` or later."""
        back_off = self._back_offs.get(key)
        if back_off is None:
            return now
        moment = max(now, later(now, back_off.until - self._monotonic()))
        return moment if last is None else max(moment, later(last.began, back_off.interval))

    def _discard_expired(self) -> None:
        """Discard expired turns; if too few are, raise the limit: each call is O(n)."""
        now = self._monotonic()
        # Not a list of items: finalizers, which may take turns, run while it is made.
        for key, back_off in self._back_offs.copy().items():
            last = self._turns.get(key)
            is_old = last is None or now - last.began > MEMORY
            if back_off.until < now and (is_old or not back_off.interval):
                self._back_offs.pop(key, None)
        for key, turn in self._turns.copy().items():
            pause = max(turn.interval, self._default.interval(turn.seconds), _MIN_MEMORY)
            if now - turn.began > pause + MAX_OPEN * turn.is_open and key not in self._back_offs:
                self._turns.pop(key, None)
        self._limit = max(_MAX_TURNS, 2 * len(self._turns), 2 * len(self._back_offs))
