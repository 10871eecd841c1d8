"""Makes `koster.fetch._sync` from `koster.fetch._async`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import unasync

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "src/koster/fetch"

_RENAMED = {"AbstractAsyncContextManager": "AbstractContextManager"}
_HEADER = "# Made from koster/fetch/_async/{name} by `make generate`. Do not edit.\n"
_NAMES = ("client.py", "hooks.py", "turn.py", "uses.py")


def files() -> dict[Path, str]:
    """Return the modules of the synchronous client."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "fetch")
        shutil.copytree(FOLDER / "_async", folder / "_async")
        # For ruff.
        shutil.copy(ROOT / "pyproject.toml", temporary)
        rule = unasync.Rule("/_async/", "/_sync/", additional_replacements=_RENAMED)
        unasync.unasync_files([str(folder / "_async" / name) for name in _NAMES], [rule])
        targets = [folder / "_sync" / name for name in _NAMES]
        for target in targets:
            text = target.read_text("utf-8")
            target.write_text(_HEADER.format(name=target.name) + text, "utf-8")
        for command in (["check", "--quiet", "--fix", "--select", "I"], ["format", "--quiet"]):
            subprocess.run([sys.executable, "-m", "ruff", *command, *targets], check=True)
        return {FOLDER / "_sync" / each.name: each.read_text("utf-8") for each in targets}
