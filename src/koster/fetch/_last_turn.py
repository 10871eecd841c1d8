"""What a `FleetPacer` writes into the Redis hash of a site's last turn, and how it is read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .._moments import EPOCH, later
from ..politeness import Fetch
from ._back_off import MAX_DOUBLED, MEMORY, BackOff
from .pace import MAX_OPEN

#: Maximum seconds between turns: a year. GCRA counts microseconds in floats, exact up to 2**53.
MAX_PAUSE = 365 * 24 * 60 * 60

#: Seconds by which a turn may be in the future: workers read the clock one after another.
MAX_SKEW = 60

#: The fields of the last turn: when it began (moved by `FleetPacer.sent`), how long its request
#: took, when it was given, what stands for it, and whether it holds the next one back.
_TURN_FIELDS = ("began", "seconds", "given", "token", "open")
_BACK_OFF_FIELDS = ("slowed", "until", "doubled", "good", "status")
FIELDS = [*_TURN_FIELDS, *_BACK_OFF_FIELDS]


@dataclass(frozen=True, slots=True)
class LastTurn:
    """The last turn, if there was one, and the back-off.

    ``given`` is in seconds on the server's clock. ``token`` stands for the turn. If it
    ``is_open``, it has not been sent and holds the next one back.
    """

    fetch: Fetch | None
    back_off: BackOff
    given: float = 0.0
    token: str = ""
    is_open: bool = False


def parse_last_turn(fields: list[Any], stamp: int) -> LastTurn | None:
    """Return the last turn and the back-off from their fields, or None if they are invalid."""
    began, seconds, given, token, opened, *others = fields
    try:
        back_off = _parse_back_off(others, stamp)
        if began is None:
            return LastTurn(None, back_off)
        millis, took = int(began), float(seconds)
        given_millis = millis if given is None else int(given)
        name, is_open = (token or b"").decode(), bool(int(opened or 0))
    except (ValueError, TypeError):
        return None
    latest = stamp + MAX_SKEW * 1000
    is_valid = 0 <= millis <= latest and 0 <= given_millis <= latest and 0 <= took <= MAX_PAUSE
    if not is_valid:
        return None
    if is_open:
        # Not sent yet: it begins now, or it began when it had held the next one back for too long.
        longest = int(MAX_OPEN * 1000)
        is_open = stamp - millis < longest
        millis = stamp if is_open else millis + longest
    return LastTurn(
        Fetch(moment_of(min(millis, stamp)), took), back_off, given_millis / 1000, name, is_open
    )


def _parse_back_off(fields: list[Any], stamp: int) -> BackOff:
    """Return the back-off from its fields.

    Raises:
        ValueError: a field has a value that no pacer writes.
    """
    if fields[0] is None:
        return BackOff()
    seconds, until, turn = map(float, fields[:3])
    good, status = map(int, fields[3:])
    latest = stamp / 1000 + MEMORY + MAX_SKEW
    if not (0 <= seconds <= MAX_DOUBLED and 0 <= until <= latest and good >= 0):
        raise ValueError(f"no back-off: {fields}")
    return BackOff(seconds, until, good, turn, status)


def fields_of(back_off: BackOff) -> dict[str, str]:
    """Return the fields of a back-off."""
    values = (back_off.interval, back_off.until, back_off.turn, back_off.good, back_off.status)
    return dict(zip(_BACK_OFF_FIELDS, map(str, values), strict=True))


def moment_of(millis: int) -> datetime:
    """Return a moment of the server's clock."""
    return later(EPOCH, millis / 1000)
