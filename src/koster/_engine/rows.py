"""Rows of integers: the steps pass them to each other instead of Python objects.

``values`` has the concatenated rows, ``count`` their number. The step that adds a row defines the
meaning of its integers. Rows are added while a file is parsed and never change after that.

The row of a line has three integers: a code below `CODES` combined with the line number, and where
the value starts and ends. (A fourth would exceed the memory limit for files of short lines.)
"""

from __future__ import annotations

from . import memory as _memory

#: ``values[3 * row] % CODES`` is the code of a line, ``// CODES`` its number.
CODES = 128

_NO_MEMORY = "no memory for the lines of a robots.txt"


class Rows:
    """A growing table of rows of two or three integers."""

    def __init__(self, width: int, room: int) -> None:
        """Allocate ``room`` rows, at least one; more are allocated when needed.

        Raises:
            MemoryError: no memory for them.
        """
        self.count = 0
        self.width = width
        self.room = room
        self.lost = False
        self.values = _memory.integers(width * room)
        if not self.values:
            raise MemoryError(_NO_MEMORY)

    def __dealloc__(self) -> None:
        _memory.release(self.values)

    def allocated(self) -> int:
        """Return the size in memory, in bytes."""
        return object.__sizeof__(self) + 4 * self.width * self.room

    def add_line(self, code: int, number: int, start: int, end: int) -> None:
        """Add the row of a line; without memory, set ``lost`` instead."""
        if self.count == self.room and not self.resize(2 * self.room):
            self.lost = True
            return
        at = 3 * self.count
        self.values[at] = number * CODES + code
        self.values[at + 1] = start
        self.values[at + 2] = end
        self.count += 1

    def clear(self) -> None:
        """Remove all rows; the memory stays allocated."""
        self.count = 0

    def code(self, row: int) -> int:
        """Return the code of the line."""
        return self.values[3 * row] & (CODES - 1)

    def number(self, row: int) -> int:
        """Return the line number."""
        return self.values[3 * row] // CODES

    def start(self, row: int) -> int:
        """Return where the value starts."""
        return self.values[3 * row + 1]

    def end(self, row: int) -> int:
        """Return where the value ends."""
        return self.values[3 * row + 2]

    def add_pair(self, first: int, second: int) -> None:
        """Add a row of two integers, like `add_line`."""
        if self.count == self.room and not self.resize(2 * self.room):
            self.lost = True
            return
        self.values[2 * self.count] = first
        self.values[2 * self.count + 1] = second
        self.count += 1

    def has_room(self, room: int) -> bool:
        """Allocate at least ``room`` rows; tell whether there was memory."""
        return self.room >= room or self.resize(room)

    def resize(self, room: int) -> bool:
        """Reallocate exactly ``room`` rows; tell whether there was memory."""
        values = _memory.resized(self.values, self.width * room)
        if not values:
            return False
        self.values = values
        self.room = room
        return True

    def close(self) -> None:
        """Free unused memory.

        Raises:
            MemoryError: rows were lost for lack of memory.
        """
        if self.lost:
            raise MemoryError(_NO_MEMORY)
        if self.room > self.count:
            self.resize(self.count or 1)
