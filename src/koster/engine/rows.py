"""Rows of integers: what the steps hand one another instead of Python objects.

``values`` holds the rows one after another, ``count`` how many there are. What the integers
of a row mean is the business of the step that adds them. Rows are added while a file is parsed
and never change after that.

Lines have rows of three: a code below `CODES` together with the number of the line, and where
its value begins and ends. (Four would be more than a file of short lines may take.)
"""

from __future__ import annotations

from . import memory as _memory

#: ``values[3 * row] % CODES`` is the code of a line's row, ``// CODES`` the line's number.
CODES = 128


class Rows:
    """A table that grows by rows of two or three integers."""

    def __init__(self, width: int, room: int) -> None:
        """Make room for ``room`` rows, at least one; more are made when they are needed."""
        self.count = 0
        self.width = width
        self.room = room
        self.lost = False
        self.values = _memory.integers(width * room)

    def __dealloc__(self) -> None:
        _memory.release(self.values)

    def allocated(self) -> int:
        """Return the bytes of memory that it takes."""
        return object.__sizeof__(self) + 4 * self.width * self.room

    def add_line(self, code: int, number: int, start: int, end: int) -> None:
        """Add the row of a line; where there is no memory for it, ``lost`` is set instead."""
        if self.count == self.room and not self.resize(2 * self.room):
            self.lost = True
            return
        at = 3 * self.count
        self.values[at] = number * CODES + code
        self.values[at + 1] = start
        self.values[at + 2] = end
        self.count += 1

    def clear(self) -> None:
        """Forget the rows and keep their room."""
        self.count = 0

    def replace(self, row: int, code: int, start: int) -> None:
        """Give the row of a line another code, and another start of its value."""
        self.values[3 * row] += code - (self.values[3 * row] & (CODES - 1))
        self.values[3 * row + 1] = start

    def code(self, row: int) -> int:
        """Return the code of a line's row."""
        return self.values[3 * row] & (CODES - 1)

    def number(self, row: int) -> int:
        """Return the number of a row's line."""
        return self.values[3 * row] // CODES

    def start(self, row: int) -> int:
        """Return where the value of a row's line begins."""
        return self.values[3 * row + 1]

    def end(self, row: int) -> int:
        """Return where the value of a row's line ends."""
        return self.values[3 * row + 2]

    def add_pair(self, first: int, second: int) -> None:
        """Add a row of two, as `add_line` does."""
        if self.count == self.room and not self.resize(2 * self.room):
            self.lost = True
            return
        self.values[2 * self.count] = first
        self.values[2 * self.count + 1] = second
        self.count += 1

    def resize(self, room: int) -> bool:
        """Make room for exactly ``room`` rows; tell whether there was memory."""
        values = _memory.resized(self.values, self.width * room)
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
