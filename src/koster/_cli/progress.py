"""Progress bars on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .._reports import screen

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn


def progress(
    *columns: ProgressColumn, shows_bar: bool = True, redirect_stdout: bool = True
) -> Progress:
    """Return a progress bar for standard error, shown on a terminal only."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    return Progress(
        *columns,
        console=console,
        transient=True,
        redirect_stdout=redirect_stdout,
        disable=not (shows_bar and console.is_terminal),
    )


@contextmanager
def byte_progress(total: int | None, text: str = "", *, is_quiet: bool = False) -> Iterator[Any]:
    """Show a bar on standard error; yield the function that updates it.

    It takes the keyword arguments of `rich.progress.Progress.update`; ``text`` is a field. None is
    yielded if standard error is not a terminal, or the command is quiet.

    Args:
        total: The number of bytes; None if it is unknown.
        text: What is shown after the speed, until it is updated.
        is_quiet: Whether nothing is shown.
    """
    if is_quiet or screen.is_file(sys.stderr):
        yield None
        return
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TextColumn("{task.fields[text]}"),
        TimeRemainingColumn(),
    )
    with progress(*columns) as bar:
        task = bar.add_task("", total=total, text=text)
        yield None if bar.disable else lambda **changes: bar.update(task, **changes)
