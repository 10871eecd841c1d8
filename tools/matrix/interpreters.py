"""The CPythons of this machine: each brings a robots.txt parser of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

OLDEST = (3, 8)
_NAME = re.compile(r"python3(\.\d+)?")
_ASK = (
    "import platform, sys;"
    "print(platform.python_implementation(), platform.python_version(), sys.base_prefix, sep='\\n')"
)


def interpreters() -> dict[str, Path]:
    """Return the path of each CPython, by its version, the oldest version first.

    They are looked for on PATH, and beside those found there: version managers keep each version in
    a folder of its own, next to the others.
    """
    found: dict[str, Path] = {}
    folders: set[Path] = set()
    candidates = [*_on_path(), own()]
    for candidate in candidates:
        if (answer := _ask(candidate)) is None:
            continue
        version, prefix = answer
        major, minor = numbers(version)[:2]
        found.setdefault(version, prefix / "bin" / f"python{major}.{minor}")
        if prefix.parent not in folders:
            folders.add(prefix.parent)
            candidates += sorted(prefix.parent.glob("*/bin/python3"))
    return dict(sorted(found.items(), key=lambda each: numbers(each[0])))


def own() -> Path:
    """Return the interpreter of this process without its virtual environment."""
    return Path(sys.base_prefix, "bin", f"python{sys.version_info[0]}.{sys.version_info[1]}")


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))


def _on_path() -> Iterator[Path]:
    for folder in os.get_exec_path():
        if Path(folder).is_dir():
            names = sorted(Path(folder).iterdir())
            yield from (each for each in names if _NAME.fullmatch(each.name))


def _ask(python: Path) -> tuple[str, Path] | None:
    """Return version and prefix, or None for what is no CPython or too old."""
    done = subprocess.run([python, "-c", _ASK], capture_output=True, text=True, check=False)
    if done.returncode:
        return None
    implementation, version, prefix = done.stdout.splitlines()
    if implementation != "CPython" or numbers(version)[:2] < OLDEST:
        return None
    return version, Path(prefix)
