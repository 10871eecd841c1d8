"""Rows of CSV that Arrow cannot report: those with another number of columns that are not UTF-8."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import UnreadableError
from ._arrow import pa


@contextmanager
def checked_rows(path: str) -> Iterator[None]:
    """Explain why Arrow stops at a row that it cannot pass to ``invalid_row_handler``.

    It would print a traceback, too.

    Raises:
        UnreadableError: there is such a row.
    """
    show = sys.unraisablehook
    undecodable = []

    def collect(event: Any) -> None:
        if isinstance(event.exc_value, UnicodeDecodeError):
            undecodable.append(event.exc_value)
        else:
            show(event)

    sys.unraisablehook = collect
    try:
        yield
    except pa.ArrowInvalid as error:
        if not undecodable:
            raise
        number = re.search(r"Row #(\d+)", str(error))
        row = f"row {number[1]}" if number else "a row"
        raise UnreadableError(
            f"{path}: cannot be read to its end: {row} has too many or too few columns, "
            "and is not UTF-8"
        ) from error
    finally:
        sys.unraisablehook = show
