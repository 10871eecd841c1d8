"""Pacing in one process: whose turn it is to request from a site, and when.

`koster.politeness` computes the schedule; this module remembers the last turns. Intervals use the
monotonic clock, windows of the day the time that the caller passes.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

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

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from ..robots import Rules

#: Seconds after which a waiting client checks again: windows and clocks may change.
MAX_SLEEP = 60.0

#: Turns remembered before expired ones are discarded.
_MAX_TURNS = 10_000
#: Minimum seconds for which a turn is remembered.
_MIN_MEMORY = 60.0

#: Seconds by which wall clock and monotonic clock may differ between readings, unless one was set.
_CLOCK_TOLERANCE = 0.001


class PaceKeeper(Protocol):
    """Paces requests by key (an origin and an agent). Must be thread-safe."""

    def turn(self, key: str, rules: Rules, now: datetime) -> float:
        """Take the turn and return 0, or return the seconds after which to try again."""

    def next_request(self, key: str, rules: Rules, now: datetime) -> datetime:
        """Return when the next turn is due, without taking it."""

    def took(self, key: str, seconds: float) -> None:
        """Record how many seconds the request of the last turn took."""

    def why(self, key: str, rules: Rules, due: datetime) -> str:
        """Return why the next turn is due at a moment, as a part of a sentence."""


@dataclass(slots=True)
class _Turn:
    """A turn: ``began`` on the monotonic clock, ``moment`` on the wall clock."""

    began: float
    moment: datetime
    seconds: float
    interval: float


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
    return pacer if hasattr(pacer, "why") else _SimplePacer(pacer)


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
            return (due - now).total_seconds()
        turn = _Turn(self._monotonic(), now, 0.0, self._interval(rules, now))
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

    def took(self, key: str, seconds: float) -> None:
        """Record how many seconds the request of the last turn took.

        Raises:
            ValueError: ``seconds`` is not a finite number of at least 0.
        """
        validate_seconds(seconds)
        turn = self._turns.get(key)
        if turn is not None:
            turn.seconds = seconds

    def why(self, key: str, rules: Rules, due: datetime) -> str:  # noqa: ARG002
        """Return why the next turn is due at a moment, as a part of a sentence."""
        return why(rules, due, self._default, self._limits)

    def _interval(self, rules: Rules, now: datetime) -> float:
        return interval(rules, now, 0.0, self._default, self._limits)

    def _due(self, key: str, turn: _Turn | None, rules: Rules, now: datetime) -> datetime:
        last = None
        if turn is not None:
            elapsed = self._monotonic() - turn.began
            wall_clock = (now - turn.moment).total_seconds()
            was_clock_set = abs(wall_clock - elapsed) > _CLOCK_TOLERANCE
            last = Fetch(later(now, -elapsed) if was_clock_set else turn.moment, turn.seconds)
        due = next_request(rules, last, now, self._default, self._limits)
        if self._limits is not NO_LIMITS:
            self._limits.check(key, rules, due)
        return due

    def _discard_expired(self) -> None:
        """Discard expired turns; if too few are, raise the limit: each call is O(n)."""
        now = self._monotonic()
        for key, turn in list(self._turns.items()):
            pause = max(turn.interval, self._default.interval(turn.seconds), _MIN_MEMORY)
            if now - turn.began > pause:
                self._turns.pop(key, None)
        self._limit = max(_MAX_TURNS, 2 * len(self._turns))
