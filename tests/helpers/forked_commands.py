"""Runs commands in forks of a process that has imported them: to start each takes half a second."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Mapping
from multiprocessing.context import ForkServerContext
from pathlib import Path

_IMPORTED = [
    "koster._cli.root",
    "koster.logs",
    "koster.bulk.runs",
    "koster.fetch",
    "koster._reports",
    *(
        f"koster._cli.commands.{name}"
        for name in ("audit", "check", "compose", "diff", "fetch", "fmt")
    ),
    *(f"koster._cli.commands.{name}" for name in ("lint", "logs", "bulk", "test")),
    __name__,
]


def context() -> ForkServerContext:
    """Return a context whose processes have imported the commands."""
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(_IMPORTED)
    return found


def run_on(terminal: str, folder: Path, arguments: tuple[str, ...], env: Mapping[str, str]) -> None:
    """Run ``koster`` on a terminal, without standard input."""
    from koster._cli import main

    os.chdir(folder)
    os.environ.update(env)
    device = os.open(terminal, os.O_RDWR | os.O_NOCTTY)
    for number, opened in enumerate((os.open(os.devnull, os.O_RDONLY), device, device)):
        os.dup2(opened, number)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
    sys.argv = ["koster", *arguments]
    main()
