"""Pacing in one process: who may ask a site next, and when.

The schedule is `koster.politeness`; here stands what was asked last. Intervals are measured by a
clock that nobody sets, windows of the day by the time that the caller gives.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from .._moments import later
from ..cache.forks import at_fork
from ..politeness import RULE_OF_THUMB, Fetch, Pace, check_seconds, interval, next_request

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from ..robots import Rules

#: A client that waits asks again after so many seconds at most: windows and clocks may change.
LONGEST_SLEEP = 60.0

#: How many turns are remembered before those that matter no more are forgotten.
_TURNS = 10_000
#: And for how many seconds they are, at least.
_SHORTEST_MEMORY = 60.0

#: Clocks that are no more seconds apart were not set between two readings.
_SAME = 0.001


class PaceKeeper(Protocol):
    """Keeps the pace for keys, each an origin and an agent. May be called from several threads."""

    def turn(self, key: str, rules: Rules, now: datetime) -> float:
        """Take the turn and return 0, or return the seconds after which to ask again."""

    def next_request(self, key: str, rules: Rules, now: datetime) -> datetime:
        """Return when the next turn is, without taking it."""

    def took(self, key: str, seconds: float) -> None:
        """Note how long the request took for which the turn was taken last."""


@dataclass(slots=True)
class _Turn:
    """A turn that was taken: when, how long the request took, and how long it matters.

    ``moment`` is when it was by the clock of the day.
    """

    began: float
    moment: datetime
    seconds: float
    interval: float


class Pacer:
    """Keeps the pace in this process.

    Args:
        default: The pace where a site asks for none.
        monotonic: Gives seconds by a clock that nobody sets.
    """

    def __init__(
        self, default: Pace = RULE_OF_THUMB, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._default = default
        self._monotonic = monotonic
        self._turns: dict[str, _Turn] = {}
        self._limit = _TURNS
        self._lock = threading.Lock()
        at_fork(in_child=self._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._turns)

    def turn(self, key: str, rules: Rules, now: datetime) -> float:
        """Take the turn and return 0, or return the seconds after which to ask again."""
        with self._lock:
            due = self._due(key, rules, now)
            if due > now:
                return (due - now).total_seconds()
            pause = interval(rules, now, 0.0, self._default)
            self._turns[key] = _Turn(self._monotonic(), now, 0.0, pause)
            if len(self._turns) > self._limit:
                self._forget()
        return 0.0

    def next_request(self, key: str, rules: Rules, now: datetime) -> datetime:
        """Return when the next turn is, without taking it."""
        with self._lock:
            return self._due(key, rules, now)

    def took(self, key: str, seconds: float) -> None:
        """Note how long the request took for which the turn was taken last.

        Raises:
            ValueError: ``seconds`` is no finite number from 0 on.
        """
        check_seconds(seconds)
        with self._lock:
            turn = self._turns.get(key)
            if turn is not None:
                turn.seconds = seconds

    def _due(self, key: str, rules: Rules, now: datetime) -> datetime:
        """Return when the next turn is."""
        turn = self._turns.get(key)
        last = None
        if turn is not None:
            elapsed = self._monotonic() - turn.began
            by_the_day = (now - turn.moment).total_seconds()
            is_set = abs(by_the_day - elapsed) > _SAME
            last = Fetch(later(now, -elapsed) if is_set else turn.moment, turn.seconds)
        return next_request(rules, last, now, self._default)

    def _forget(self) -> None:
        """Forget the turns that matter no more; where all do, remember more."""
        now = self._monotonic()
        for key, turn in list(self._turns.items()):
            pause = max(turn.interval, self._default.interval(turn.seconds), _SHORTEST_MEMORY)
            if now - turn.began > pause:
                del self._turns[key]
        self._limit = max(_TURNS, 2 * len(self._turns))
