"""The log: a line of JSON for each entry, on standard error.

`logging` with a formatter takes a fifth of what a request takes (see `benchmarks.service`), so our
own entries go past it where nobody has set up another log.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import sys
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from ..reports._json import scalars

if TYPE_CHECKING:
    from collections.abc import Callable

WARNING = logging.WARNING

_NAME = "koster.service"
_logger = logging.getLogger(_NAME)

#: What uvicorn says of its own doing, and we say better.
_NOISE = ("Started server", "Finished server", "Waiting for", "Shutting down", "Application ")


#: Seconds between two entries of one cause, and causes that are remembered.
_SPARSE = 60.0
_CAUSES = 1_000

#: Writes a line where the log goes; None where `logging` has it.
_write: Callable[[bytes], object] | None = None


def log(message: str, level: int = logging.INFO, **fields: Any) -> None:
    """Write an entry; fields are what JSON takes."""
    if not _logger.isEnabledFor(level):
        return
    if _write is not None:
        now = datetime.now(UTC)
        _write(_line(now, logging.getLevelName(level), _NAME, message, fields))
        return
    entry = logging.LogRecord(_NAME, level, "", 0, message, None, None)
    entry.fields = fields
    _logger.handle(entry)


def log_sparsely(message: str, level: int = WARNING, **fields: Any) -> None:
    """Write an entry, unless the same message was written less than a minute ago.

    The next one says how often that was the case: ``repeated``.
    """
    repeated = _sparse.count(message)
    if repeated is not None:
        log(message, level, **fields, **({"repeated": repeated} if repeated else {}))


class _Sparse:
    """Tells whether a message may be written: each of them once a minute."""

    def __init__(self) -> None:
        self._written: dict[object, tuple[float, int]] = {}

    def count(self, cause: object) -> int | None:
        """Return how often a cause was left out since its last entry; None: leave it out again."""
        now = time.monotonic()
        since, left_out = self._written.get(cause, (-math.inf, 0))
        if now - since < _SPARSE:
            self._written[cause] = since, left_out + 1
            return None
        if len(self._written) >= _CAUSES:
            self._written.clear()
        self._written[cause] = now, 0
        return left_out


_sparse = _Sparse()


def log_as_json(level: str) -> None:
    """Write the log to standard error, from a level on."""
    global _write  # noqa: PLW0603 - as `logging` does, once for the process
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Formatter())
    handler.addFilter(_is_not_repeated)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    # What sites do is in the service's own entries.
    logging.getLogger("koster.fetch").setLevel(logging.ERROR)
    logging.getLogger("uvicorn.error").addFilter(_is_worth_it)
    _write = _to_standard_error


def _to_standard_error(line: bytes) -> None:
    """Write a line at once, and whole; where nobody reads it, it goes."""
    with contextlib.suppress(OSError):
        os.write(2, line)


def _line(moment: datetime, level: str, logger: str, message: str, fields: dict[str, Any]) -> bytes:
    """Return an entry as a line."""
    entry = {
        "time": moment.isoformat(timespec="milliseconds"),
        "level": level,
        "logger": logger,
        "message": message,
        **fields,
    }
    return to_json(entry, fallback=str) + b"\n"


class _Formatter(logging.Formatter):
    """Makes a line of JSON of an entry."""

    def format(self, record: logging.LogRecord) -> str:
        fields = dict(getattr(record, "fields", {}))
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        moment = datetime.fromtimestamp(record.created, UTC)
        message = record.getMessage().strip()
        line = _line(moment, record.levelname, record.name, scalars(message), scalars(fields))
        return line.decode("utf-8").rstrip("\n")


def _is_worth_it(entry: logging.LogRecord) -> bool:
    """Tell whether an entry is one for the log."""
    return not entry.getMessage().startswith(_NOISE)


def _is_not_repeated(entry: logging.LogRecord) -> bool:
    """Tell whether an entry may be written: what a client can cause must not fill the disk.

    The cause is what logged it, what it says before values are put in, and where an exception came
    from.
    """
    place: tuple[object, ...] = ()
    if entry.exc_info and entry.exc_info[2] is not None:
        traceback = entry.exc_info[2]
        while traceback.tb_next is not None:
            traceback = traceback.tb_next
        place = entry.exc_info[0], traceback.tb_frame.f_code, traceback.tb_lineno
    repeated = _sparse.count((entry.name, entry.levelno, entry.msg, *place))
    if repeated:
        entry.fields = getattr(entry, "fields", {}) | {"repeated": repeated}
    return repeated is not None
