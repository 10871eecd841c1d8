"""Opens input files: regular ones, and what the process that started this one has opened for it.

Named pipes and devices are refused: reading one may never begin, or never end. Any file in a
checkout may be one, or a link to one.
"""

from __future__ import annotations

import errno
import os
import re
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    import io
    from typing import IO

#: Names of what is open already: standard input, and pipes such as that of ``<(zcat log.gz)``.
_OPEN = re.compile(r"/dev/(?:stdin|fd/\d+)|/proc/(?:self|\d+)/fd/\d+")

_KINDS = (
    (stat.S_ISDIR, errno.EISDIR, os.strerror(errno.EISDIR)),
    (stat.S_ISFIFO, errno.EINVAL, "is a named pipe, not a file; read it as standard input, with -"),
    (stat.S_ISSOCK, errno.EINVAL, "is a socket, not a file"),
)
_DEVICE = "is a device, not a file"


def is_open_stream(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is that of a file which is open already, such as ``/dev/stdin``."""
    return _OPEN.fullmatch(os.fspath(path)) is not None


def check_file(path: str | os.PathLike[str]) -> None:
    """Check that a path is that of a file which `open_file` opens.

    Raises:
        OSError: it is not.
    """
    _check(os.stat(path), path)


def open_file(path: str | os.PathLike[str]) -> io.BufferedReader:
    """Open a file to read its bytes.

    Raises:
        OSError: it cannot be opened, or is a folder, a named pipe, a device or a socket.
    """
    check_file(path)
    # It may be another file now: a named pipe would wait for its writer.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0))
    try:
        _check(os.fstat(handle), path)
        if hasattr(os, "set_blocking"):
            os.set_blocking(handle, True)
        return open(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def check_stream(stream: IO[bytes]) -> None:
    """Check that standard input is not an endless device.

    Raises:
        OSError: it is.
    """
    try:
        status = os.fstat(stream.fileno())
    except (OSError, ValueError):
        # Not of the system, such as that of a test.
        return
    if _is_endless(status) and not stream.isatty():
        raise OSError(errno.EINVAL, _DEVICE, "standard input")


def _check(status: os.stat_result, path: str | os.PathLike[str]) -> None:
    if stat.S_ISREG(status.st_mode):
        return
    is_open = is_open_stream(path)
    for is_kind, number, words in _KINDS:
        if is_kind(status.st_mode):
            if is_open and number != errno.EISDIR:
                return
            raise OSError(number, words, os.fspath(path))
    # A terminal is a device that ends.
    if _is_endless(status) and not (is_open and _is_terminal(status)):
        raise OSError(errno.EINVAL, _DEVICE, os.fspath(path))


def _is_endless(status: os.stat_result) -> bool:
    """Return whether a file is a device other than the empty one."""
    if not stat.S_ISCHR(status.st_mode):
        return stat.S_ISBLK(status.st_mode)
    return status.st_rdev != os.stat(os.devnull).st_rdev


def _is_terminal(status: os.stat_result) -> bool:
    """Return whether a device is the terminal of a standard stream."""
    for number in range(3):
        try:
            if os.fstat(number).st_rdev == status.st_rdev and os.isatty(number):
                return True
        except OSError:
            continue
    return False
