"""Input files of commands: read whole or by lines; ``-`` is standard input."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from .._opening import check_stream, open_file
from .._reports.plain import printable
from ..errors import UnreadableError
from ..robots import MAX_PARSED_BYTES
from . import links

#: The name of standard input, as an argument and in output.
STDIN = "-"
_STDIN_NAME = "<stdin>"

_LINE_END = re.compile(r"\r\n|\n|\r")

#: The maximum size of a list of URLs: some millions of them. Longer lists are refused, not cut.
_MAX_LIST_BYTES = 256 << 20


def shown_name(path: str) -> str:
    """Return the name of a file for output to people."""
    return _STDIN_NAME if path == STDIN else printable(path)


def _stdin() -> IO[bytes]:
    if sys.stdin is None:
        raise UnreadableError(f"{_STDIN_NAME}: is closed")
    check_stream(sys.stdin.buffer)
    return sys.stdin.buffer


def file_name(path: str) -> str:
    """Return the name of a file for machine-readable output."""
    return _STDIN_NAME.strip("<>") if path == STDIN else path


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """Open a file; a symbolic link out of the working tree is an error, see `links`.

    Raises:
        UnreadableError: with one line: which file, and why.
    """
    try:
        if path == STDIN:
            yield _stdin()
        else:
            links.check(path)
            with open_file(path) as file:
                yield file
    except UnreadableError:
        raise
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UnreadableError(f"{shown_name(path)}: {why}") from error


def read_bytes(path: str) -> bytes:
    """Return the content of a file, at most one byte more than is parsed.

    Raises:
        UnreadableError: it cannot be read.
    """
    with opened(path) as file:
        return file.read(MAX_PARSED_BYTES + 1)


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A file when it was read: its content, and the metadata that changes when it is written.

    Attributes:
        content: Its bytes, at most one more than is parsed; None if there was no file.
        status: Device, inode, size and time of the last change; None for standard input.
    """

    content: bytes | None = None
    status: tuple[int, int, int, int] | None = None


def read_version(path: str) -> FileVersion:
    """Return the current version of a file, to detect later changes.

    Raises:
        UnreadableError: it cannot be read.
    """
    with opened(path) as file:
        # Before reading, so that a change during reading is detected.
        found = None if path == STDIN else os.fstat(file.fileno())
        status = found and (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
        return FileVersion(file.read(MAX_PARSED_BYTES + 1), status)


def version_of(path: str) -> FileVersion:
    """Return the current version of a regular file; an empty version if it is missing.

    Raises:
        UnreadableError: it exists and cannot be read, or is not a regular file.
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return FileVersion()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UnreadableError(f"{shown_name(path)}: {why}") from error
    if not stat.S_ISREG(mode):
        raise UnreadableError(f"{shown_name(path)}: is not a regular file")
    return read_version(path)


def escape_surrogates(text: str) -> str:
    """Return text with each surrogate, a byte that was not UTF-8, as ``%XX``."""
    if text.isascii():
        return text
    return "".join(
        f"%{ord(each) - 0xDC00:02X}" if "\udc80" <= each <= "\udcff" else each for each in text
    )


def split_lines(text: str) -> list[str]:
    """Return the lines of a robots.txt, without their ends."""
    return _LINE_END.split(text)


def read_lines(path: str) -> list[str]:
    """Return the lines of a text file, stripped, without blank lines.

    Bytes that are not UTF-8 become ``%XX``.

    Raises:
        UnreadableError: it cannot be read.
    """
    with opened(path) as file:
        raw = file.read(_MAX_LIST_BYTES + 1)
    if len(raw) > _MAX_LIST_BYTES:
        raise UnreadableError(f"{shown_name(path)}: is larger than {_MAX_LIST_BYTES >> 20} MiB")
    text = raw.decode("utf-8-sig", "surrogateescape")
    lines = (line.strip() for line in text.split("\n"))
    return [escape_surrogates(line) for line in lines if line]
