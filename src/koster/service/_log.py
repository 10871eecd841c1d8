"""The log: a line of JSON per entry, on standard error.

`logging` with a formatter takes a fifth of the time of a request, so the
service bypasses it unless the application configures logging itself.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from pydantic_core import to_json

from .._reports.json import scalars

WARNING = logging.WARNING

_NAME = "koster.service"
_logger = logging.getLogger(_NAME)

#: Messages of uvicorn that the service replaces by its own.
_IGNORED_MESSAGES = (
    "Started server",
    "Finished server",
    "Waiting for",
    "Shutting down",
    "Application ",
)


#: Minimum seconds between entries with the same cause, and the number of causes remembered.
_THROTTLE_SECONDS = 60.0
_MAX_CAUSES = 1_000

#: Writes a line directly; None if entries go through `logging`.
_write: Callable[[bytes], object] | None = None


def log(message: str, level: int = logging.INFO, **fields: Any) -> None:
    """Write an entry; fields must be JSON values."""
    if not _logger.isEnabledFor(level):
        return
    if _write is not None:
        now = datetime.now(UTC)
        _write(_line(now, logging.getLevelName(level), _NAME, message, fields))
        return
    entry = logging.LogRecord(_NAME, level, "", 0, message, None, None)
    entry.fields = fields
    _logger.handle(entry)


def log_rate_limited(message: str, level: int = WARNING, **fields: Any) -> None:
    """Write an entry, at most once a minute per message.

    The field ``repeated`` of the next entry counts the suppressed ones.
    """
    repeated = _throttle.count(message)
    if repeated is not None:
        log(message, level, **fields, **({"repeated": repeated} if repeated else {}))


class _Throttle:
    """Limits entries to one per cause and minute."""

    def __init__(self) -> None:
        self._written: dict[object, tuple[float, int]] = {}

    def count(self, cause: object) -> int | None:
        """Return the number of suppressed entries since the last one; None to suppress this one."""
        now = time.monotonic()
        since, suppressed = self._written.get(cause, (-math.inf, 0))
        if now - since < _THROTTLE_SECONDS:
            self._written[cause] = since, suppressed + 1
            return None
        if len(self._written) >= _MAX_CAUSES:
            self._written.clear()
        self._written[cause] = now, 0
        return suppressed


_throttle = _Throttle()


def log_as_json(level: str) -> None:
    """Write the log as JSON to standard error, from a level on."""
    global _write  # noqa: PLW0603 - as `logging` does, once for the process
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Formatter())
    handler.addFilter(_passes_throttle)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    # The service has its own entries for fetches.
    logging.getLogger("koster.fetch").setLevel(logging.ERROR)
    logging.getLogger("uvicorn.error").addFilter(_is_relevant)
    _write = _to_standard_error


def _to_standard_error(line: bytes) -> None:
    """Write a line atomically; ignore errors if nobody reads it."""
    with contextlib.suppress(OSError):
        os.write(2, line)


def _line(moment: datetime, level: str, logger: str, message: str, fields: dict[str, Any]) -> bytes:
    entry = {
        "time": moment.isoformat(timespec="milliseconds"),
        "level": level,
        "logger": logger,
        "message": message,
        **fields,
    }
    return to_json(entry, fallback=str) + b"\n"


class _Formatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = dict(getattr(record, "fields", {}))
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        moment = datetime.fromtimestamp(record.created, UTC)
        message = record.getMessage().strip()
        line = _line(moment, record.levelname, record.name, scalars(message), scalars(fields))
        return line.decode("utf-8").rstrip("\n")


def _is_relevant(entry: logging.LogRecord) -> bool:
    """Filter messages that the service replaces by its own."""
    return not entry.getMessage().startswith(_IGNORED_MESSAGES)


def _passes_throttle(entry: logging.LogRecord) -> bool:
    """Filter repeated entries, so that clients cannot fill the disk.

    The cause is the logger, the level, the message without its values, and the exception's origin.
    """
    origin: tuple[object, ...] = ()
    if entry.exc_info and entry.exc_info[2] is not None:
        traceback = entry.exc_info[2]
        while traceback.tb_next is not None:
            traceback = traceback.tb_next
        origin = entry.exc_info[0], traceback.tb_frame.f_code, traceback.tb_lineno
    repeated = _throttle.count((entry.name, entry.levelno, entry.msg, *origin))
    if repeated:
        entry.fields = getattr(entry, "fields", {}) | {"repeated": repeated}
    return repeated is not None
