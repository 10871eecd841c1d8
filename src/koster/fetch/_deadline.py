"""The deadline of a fetch in a thread."""

from __future__ import annotations

import contextvars
import time
from typing import Self

#: The deadline of the fetch in this context, on the monotonic clock.
_deadline: contextvars.ContextVar[float | None] = contextvars.ContextVar("deadline", default=None)


class Deadline:
    """A context in which connections of koster's own network time out at a monotonic moment."""

    def __init__(self, moment: float) -> None:
        self.moment = moment

    def __enter__(self) -> Self:
        self._token = _deadline.set(self.moment)
        return self

    def __exit__(self, *_: object) -> None:
        _deadline.reset(self._token)

    def check(self) -> float:
        """Return the remaining seconds.

        Raises:
            TimeoutError: the deadline has passed.
        """
        return remaining(None)


def remaining(timeout: float | None) -> float:
    """Return the seconds until the deadline, else ``timeout``.

    Raises:
        TimeoutError: the deadline has passed.
    """
    moment = _deadline.get()
    if moment is None:
        return timeout if timeout is not None else 60.0
    seconds = moment - time.monotonic()
    if seconds <= 0:
        raise TimeoutError("the deadline has passed")
    return seconds
