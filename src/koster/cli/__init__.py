"""The command ``koster``: one module for each of its commands.

`main` is what the console script calls. The commands are made with click and rich, which the
extra ``cli`` brings; without it `main` says so.

Exit codes of all commands: 0 all is well, 1 something is not, 2 wrong usage, 3 something could
not be read.
"""

from __future__ import annotations

import os
import signal
import sys

#: What the extra ``cli`` brings.
_EXTRA = {"click", "rich", "rich_click"}


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
    if hasattr(signal, "SIGPIPE"):
        # Who stops reading what is printed has seen enough: that is no exit code of ours.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        # What stands in a robots.txt or a URL may be no text that the terminal can show.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
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
