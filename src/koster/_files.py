"""Robots.txt files on disk."""

from __future__ import annotations

import os

from ._opening import open_file
from .dialects import RFC9309, Dialect
from .robots import MAX_PARSED_BYTES, RobotsTxt, parse


def parse_file(path: str | os.PathLike[str], dialect: Dialect = RFC9309) -> RobotsTxt:
    """Parse a robots.txt on disk.

    Raises:
        OSError: the file cannot be read, or is a named pipe or a device.
        TypeError: ``path`` is not a path, or ``dialect`` is not a `Dialect`.
    """
    with open_file(path) as file:
        return parse(file.read(MAX_PARSED_BYTES + 1), dialect)
