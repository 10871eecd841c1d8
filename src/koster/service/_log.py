"""The log: a line of JSON for each entry, on standard error.

A general formatter takes a third of what a request takes (see `benchmarks.service`): it looks
through all attributes of an entry. Ours have their fields in one.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

WARNING = logging.WARNING

_NAME = "koster.service"
_logger = logging.getLogger(_NAME)

#: What uvicorn says of its own doing, and we say better.
_NOISE = ("Started server", "Finished server", "Waiting for", "Shutting down", "Application ")


def log(message: str, level: int = logging.INFO, **fields: Any) -> None:
    """Write an entry; fields are what JSON takes."""
    if _logger.isEnabledFor(level):
        entry = logging.LogRecord(_NAME, level, "", 0, message, None, None)
        entry.fields = fields
        _logger.handle(entry)


def log_as_json(level: str) -> None:
    """Write the log to standard error, from a level on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Formatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    # What sites do is in the service's own entries.
    logging.getLogger("koster.fetch").setLevel(logging.ERROR)
    logging.getLogger("uvicorn.error").addFilter(_is_worth_it)
    # Nobody asks an entry for them, and they take a while.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False


class _Formatter(logging.Formatter):
    """Makes a line of JSON of an entry."""

    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage().strip(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return json.dumps(entry, default=str)


def _is_worth_it(entry: logging.LogRecord) -> bool:
    """Tell whether an entry is one for the log."""
    return not entry.getMessage().startswith(_NOISE)
