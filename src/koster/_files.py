"""Robots.txt files on disk."""

from __future__ import annotations

from ._opening import open_file
from .dialects import RFC9309
from .robots import MAX_PARSED_BYTES, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os

    from .dialects import Dialect
    from .robots import RobotsTxt


def parse_file(path: str | os.PathLike[str], dialect: Dialect = RFC9309) -> RobotsTxt:
    """Parse a robots.txt on disk.

    The file is read by its byte order mark: UTF-16 and UTF-32 are converted to UTF-8.

    Raises:
        OSError: the file cannot be read, or is a named pipe or a device.
        TypeError: ``path`` is not a path, or ``dialect`` is not a `Dialect`.
    """
    from ._charsets import decode_by_bom  # noqa: PLC0415 - only for files on disk

    with open_file(path) as file:
        body = file.read(MAX_PARSED_BYTES + 1)
    return parse(decode_by_bom(body, len(body) <= MAX_PARSED_BYTES)[0], dialect)
