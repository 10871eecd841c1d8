"""The command ``koster``: `commands` has one module for each of its commands.

`main` is what the console script calls. The commands are made with click and rich, which the
extra ``cli`` brings; without it `main` says so.

Exit codes of all commands: 0 all is well, 1 something is not, 2 wrong usage, 3 something could
not be read.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from typing import Any, NoReturn

from .. import _pure
from .._own_process import leave_out_unused

#: What the extra ``cli`` brings.
_EXTRA = {"click", "rich", "rich_click"}

#: The file descriptor of standard error.
_STDERR = 2


class _OutputError(OSError):
    """Standard output cannot be written."""


class _StandardStream(io.FileIO):
    """A standard stream that ends the process with SIGPIPE when its reader closes it.

    SIGPIPE itself keeps its handler: its default action would also end the process when a server
    or a worker closes a connection.
    """

    def write(self, raw: Any) -> Any:
        try:
            written = super().write(raw)
        except BrokenPipeError:
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGPIPE)
            raise
        except OSError as error:
            return self._fail(raw, error)
        if written is None:
            return self._fail(raw, BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN)))
        return written

    def _fail(self, raw: Any, error: OSError) -> int:
        if self.fileno() == _STDERR:
            # A warning that cannot be written must not cost the answers.
            return len(raw)
        raise _OutputError(error.errno, error.strerror) from error


def _escaping(stream: Any) -> Any:
    if stream is None or not hasattr(signal, "SIGPIPE"):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
        return stream
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_StandardStream(stream.fileno(), "w", closefd=False)),
        stream.encoding,
        # A robots.txt or a URL may have characters that the terminal's encoding lacks.
        "backslashreplace",
        # With PYTHONUNBUFFERED, streams are written through, but not this buffer.
        line_buffering=stream.line_buffering or stream.write_through,
        write_through=stream.write_through,
    )


def main() -> None:
    """Run the command, and exit with its code."""
    try:
        from .root import koster
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _EXTRA:
            raise
        command = "pip install 'koster[cli]' (in a checkout '.[cli]')"
        print(f"koster: the extra cli is not installed: {command}", file=sys.stderr)
        sys.exit(2)
    leave_out_unused()
    sys.stdout = _escaping(sys.stdout)
    sys.stderr = _escaping(sys.stderr)
    # Without standard output, the exit code is the answer. Without standard error, `print` would
    # write warnings between the answers.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 - until the end
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115 - until the end
    if warning := _pure.outdated():
        print(f"koster: {warning}", file=sys.stderr)
    try:
        try:
            koster(prog_name="koster")
        finally:
            sys.stdout.flush()
    except _OutputError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _exit(f"the answers could not be written: {error.strerror}")
    except OSError as error:
        _exit(str(error))


def _exit(why: str) -> NoReturn:
    print(f"koster: {why}", file=sys.stderr)
    sys.exit(3)
