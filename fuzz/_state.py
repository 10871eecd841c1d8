"""What a child process reports, in a file that both processes map: it outlives any crash.

Three integers: how many inputs and triples were checked, and the size of the current input; then
that input.
"""

from __future__ import annotations

import mmap
from pathlib import Path

#: Longer inputs are cut when they are saved after a crash; no target takes longer ones.
MAX_INPUT = 1 << 20

_FIELDS = 3
_HEADER = 8 * _FIELDS
_INPUTS, _TRIPLES, _SIZE = range(_FIELDS)


class State:
    """The counts of a child process, and the input that it checks."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(bytes(_HEADER + MAX_INPUT))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)
        self._fields = memoryview(self._map)[:_HEADER].cast("q")

    @property
    def inputs(self) -> int:
        """The number of inputs that were checked."""
        return self._fields[_INPUTS]

    @property
    def triples(self) -> int:
        """The number of decisions about a file, an agent and a URL that were compared."""
        return self._fields[_TRIPLES]

    @property
    def current(self) -> bytes:
        """The input that is being checked; empty between two."""
        return self._map[_HEADER : _HEADER + self._fields[_SIZE]]

    def begin(self, data: bytes) -> None:
        """Note the input that is about to be checked."""
        data = data[:MAX_INPUT]
        self._map[_HEADER : _HEADER + len(data)] = data
        self._fields[_SIZE] = len(data)

    def end(self, triples: int) -> None:
        """Note that an input was checked, and the total of triples."""
        self._fields[_INPUTS] += 1
        self._fields[_TRIPLES] = triples
        self._fields[_SIZE] = 0
