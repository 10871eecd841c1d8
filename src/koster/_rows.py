"""Rows of four integers: what the steps hand one another instead of Python objects.

``values`` holds the rows one after another, ``count`` how many there are. What the four mean
is the business of the step that adds them. Rows are added while a file is parsed and never
change after that.
"""

from __future__ import annotations

from . import _octets


class Rows:
    """A table that grows by rows of four integers."""

    def __init__(self, room: int) -> None:
        """Make room for ``room`` rows, at least one; more are made when they are needed."""
        self.count = 0
        self.room = room
        self.lost = False
        self.values = _octets.integers(4 * room)

    def __dealloc__(self) -> None:
        _octets.release(self.values)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + 16 * self.room

    def add(self, first: int, second: int, third: int, fourth: int) -> None:
        """Add a row; where there is no memory for it, ``lost`` is set instead."""
        if self.count == self.room and not self.resize(2 * self.room):
            self.lost = True
            return
        at = 4 * self.count
        self.values[at] = first
        self.values[at + 1] = second
        self.values[at + 2] = third
        self.values[at + 3] = fourth
        self.count += 1

    def resize(self, room: int) -> bool:
        """Make room for exactly ``room`` rows; tell whether there was memory."""
        values = _octets.resized(self.values, 4 * room)
        if not values:
            return False
        self.values = values
        self.room = room
        return True

    def close(self) -> None:
        """Give back the room that was not needed.

        Raises:
            MemoryError: rows were lost on the way.
        """
        if self.lost:
            raise MemoryError("no memory for the lines of a robots.txt")
        if self.room > self.count:
            self.resize(self.count or 1)
