"""Files that commands are given: read whole or by lines, ``-`` for standard input."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from ..errors import UnreadableError
from ..reports.plain import printable
from ..robots import MAX_PARSED_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

#: How standard input is named, as an argument and in what is printed.
STDIN = "-"
_STDIN_NAME = "<stdin>"

#: What is read of a list of URLs: some millions of them. Longer ones are refused, not cut.
_LIST_BYTES = 256 << 20


def shown_name(path: str) -> str:
    """Return the name of a file as it is printed."""
    return _STDIN_NAME if path == STDIN else printable(path)


def _stdin() -> IO[bytes]:
    if sys.stdin is None:
        raise UnreadableError(f"{_STDIN_NAME}: is closed")
    return sys.stdin.buffer


def file_name(path: str) -> str:
    """Return the name of a file as it is given to machines."""
    return _STDIN_NAME.strip("<>") if path == STDIN else path


@contextmanager
def _opened(path: str) -> Iterator[IO[bytes]]:
    """Open a file.

    Raises:
        UnreadableError: with one line that says which file and why.
    """
    try:
        if path == STDIN:
            yield _stdin()
        else:
            with open(path, "rb") as file:
                yield file
    except UnreadableError:
        raise
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UnreadableError(f"{shown_name(path)}: {why}") from error


def read_bytes(path: str) -> bytes:
    """Return what stands in a file, as much of it as would be parsed.

    Raises:
        UnreadableError: it cannot be read.
    """
    with _opened(path) as file:
        return file.read(MAX_PARSED_BYTES + 1)


@dataclass(frozen=True, slots=True)
class Version:
    """A file at the moment it was read: its content, and what changes when it is written.

    Attributes:
        content: As many bytes of it as would be parsed; None if there was no file.
        status: Device, inode, size and time of the last change; None where they say nothing, as
            for standard input.
    """

    content: bytes | None = None
    status: tuple[int, int, int, int] | None = None


def read_version(path: str) -> Version:
    """Return a file as it is now, to notice later that somebody else changed it.

    Raises:
        UnreadableError: it cannot be read.
    """
    with _opened(path) as file:
        # Before reading: a change while reading shows later.
        found = None if path == STDIN else os.fstat(file.fileno())
        status = found and (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
        return Version(file.read(MAX_PARSED_BYTES + 1), status)


def version_of(path: str) -> Version:
    """Return a regular file as it is now, or an empty version if it is missing.

    Raises:
        UnreadableError: it is there and cannot be read, or is no regular file.
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return Version()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UnreadableError(f"{shown_name(path)}: {why}") from error
    if not stat.S_ISREG(mode):
        raise UnreadableError(f"{shown_name(path)}: is not a regular file")
    return read_version(path)


def bytes_escaped(text: str) -> str:
    """Return text in which bytes that were no UTF-8, kept as surrogates, are ``%XX``."""
    if text.isascii():
        return text
    return "".join(
        f"%{ord(each) - 0xDC00:02X}" if "\udc80" <= each <= "\udcff" else each for each in text
    )


def read_lines(path: str) -> list[str]:
    """Return the lines of a text file that are not blank, without the space around them.

    Bytes that are not UTF-8 become ``%XX``.

    Raises:
        UnreadableError: it cannot be read.
    """
    with _opened(path) as file:
        raw = file.read(_LIST_BYTES + 1)
    if len(raw) > _LIST_BYTES:
        raise UnreadableError(f"{shown_name(path)}: has more than {_LIST_BYTES >> 20} MiB")
    text = raw.decode("utf-8-sig", "surrogateescape")
    lines = (line.strip() for line in text.split("\n"))
    return [bytes_escaped(line) for line in lines if line]
