"""The command ``koster``: one module for each of its commands.

`main` is what the console script calls. The commands are made with click and rich, which the
extra ``cli`` brings; without it `main` says so.

Exit codes of all commands: 0 all is well, 1 something is not, 2 wrong usage, 3 something could
not be read.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from typing import Any

#: What the extra ``cli`` brings.
_EXTRA = {"click", "rich", "rich_click"}


class _Answers(io.FileIO):
    """A standard stream; who stops reading it has seen enough, which is no exit code of ours.

    The process ends as if the signal had its default action. Were it given that, a server or a
    worker that hangs up would end the process too.
    """

    def write(self, raw: Any) -> Any:
        try:
            return super().write(raw)
        except BrokenPipeError:
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGPIPE)
            raise


def _shown_on(stream: Any) -> Any:
    """Return a standard stream that shows all text, and ends the process when nobody reads it."""
    if stream is None or not hasattr(signal, "SIGPIPE"):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
        return stream
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Answers(stream.fileno(), "w", closefd=False)),
        stream.encoding,
        # What stands in a robots.txt or a URL may be no text that the terminal can show.
        "backslashreplace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def main() -> None:
    """Run the command, and exit with its code."""
    try:
        from ._root import koster
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _EXTRA:
            raise
        more = "pip install 'koster[cli]' (in a checkout '.[cli]')"
        print(f"koster: its commands need more: {more}", file=sys.stderr)
        sys.exit(2)
    sys.stdout = _shown_on(sys.stdout)
    sys.stderr = _shown_on(sys.stderr)
    if sys.stdout is None:
        # Nobody reads: the exit code is the answer.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - until the end
    try:
        try:
            koster(prog_name="koster")
        finally:
            sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"koster: the answers could not be written: {error.strerror}", file=sys.stderr)
        sys.exit(3)
