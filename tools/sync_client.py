"""Make `koster.fetch._sync` from `koster.fetch._async`: ``make sync``.

The argument is the package folder, so that a test can compare a fresh copy.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import unasync

_RENAMED = {"AbstractAsyncContextManager": "AbstractContextManager"}
_HEADER = "# Made from koster/fetch/_async/{name} by `make sync`. Do not edit.\n"
_NAMES = ("client.py", "turn.py")


def main(folder: Path) -> None:
    """Write the modules of the synchronous client."""
    rule = unasync.Rule("/_async/", "/_sync/", additional_replacements=_RENAMED)
    unasync.unasync_files([str(folder / "_async" / name) for name in _NAMES], [rule])
    targets = [folder / "_sync" / name for name in _NAMES]
    for target in targets:
        text = target.read_text("utf-8")
        target.write_text(_HEADER.format(name=target.name) + text, "utf-8")
    for command in (["check", "--quiet", "--fix", "--select", "I"], ["format", "--quiet"]):
        subprocess.run([sys.executable, "-m", "ruff", *command, *targets], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
