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
from ..politeness import (
    RULE_OF_THUMB,
    Fetch,
    Pace,
    interval,
    next_request,
    pace_of,
    validate_seconds,
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


@dataclass(slots=True)
class _Turn:
    """A turn: ``began`` on the monotonic clock, ``moment`` on the wall clock."""

    began: float
    moment: datetime
    seconds: float
    interval: float


def pacer_for(pacer: PaceKeeper | None, default_interval: float | None) -> PaceKeeper:
    """Return a client's pacer.

    Raises:
        TypeError: the pacer lacks a method, or the interval is not a number.
        ValueError: both are given, or the interval is not a finite number of at least 0.
    """
    if pacer is None:
        return Pacer(pace_of(default_interval))
    if default_interval is not None:
        raise ValueError("default_interval cannot be combined with pacer: give it a default")
    for name in ("turn", "next_request", "took"):
        if not callable(getattr(pacer, name, None)):
            raise TypeError(
                "pacer must be a koster.fetch.Pacer or FleetPacer, or have their methods, "
                f"not {type(pacer).__name__}"
            )
    return pacer


class Pacer:
    """Paces requests in this process.

    Args:
        default: The pace for sites that set none.
        monotonic: Returns seconds of a monotonic clock.
    """

    def __init__(
        self, default: Pace = RULE_OF_THUMB, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._default = default
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
        """Take the turn and return 0, or return the seconds after which to try again."""
        last = self._turns.get(key)
        due = self._due(last, rules, now)
        if due > now:
            return (due - now).total_seconds()
        turn = _Turn(self._monotonic(), now, 0.0, interval(rules, now, 0.0, self._default))
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
        """Return when the next turn is due, without taking it."""
        return self._due(self._turns.get(key), rules, now)

    def took(self, key: str, seconds: float) -> None:
        """Record how many seconds the request of the last turn took.

        Raises:
            ValueError: ``seconds`` is not a finite number of at least 0.
        """
        validate_seconds(seconds)
        turn = self._turns.get(key)
        if turn is not None:
            turn.seconds = seconds

    def _due(self, turn: _Turn | None, rules: Rules, now: datetime) -> datetime:
        last = None
        if turn is not None:
            elapsed = self._monotonic() - turn.began
            wall_clock = (now - turn.moment).total_seconds()
            was_clock_set = abs(wall_clock - elapsed) > _CLOCK_TOLERANCE
            last = Fetch(later(now, -elapsed) if was_clock_set else turn.moment, turn.seconds)
        return next_request(rules, last, now, self._default)

    def _discard_expired(self) -> None:
        """Discard expired turns; if too few are, raise the limit: each call is O(n)."""
        now = self._monotonic()
        for key, turn in list(self._turns.items()):
            pause = max(turn.interval, self._default.interval(turn.seconds), _MIN_MEMORY)
            if now - turn.began > pause:
                self._turns.pop(key, None)
        self._limit = max(_MAX_TURNS, 2 * len(self._turns))
