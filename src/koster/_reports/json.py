"""JSON that every reader accepts, also with text from files that are not UTF-8."""

from __future__ import annotations

import json
import re
from typing import Any

_SURROGATES = re.compile("[\ud800-\udfff]")


def to_json(record: Any) -> str:
    r"""Return a record as indented JSON; bytes that were not UTF-8 are U+FFFD.

    >>> print(to_json(["\udcff"]))
    [
      "\ufffd"
    ]
    """
    return json.dumps(scalars(record), indent=2)


def scalars(record: Any) -> Any:
    """Return a record with U+FFFD for lone surrogates, so that all text is Unicode scalars."""
    if isinstance(record, str):
        return _SURROGATES.sub("\ufffd", record)
    if isinstance(record, dict):
        return {key: scalars(value) for key, value in record.items()}
    if isinstance(record, (list, tuple)):
        return [scalars(each) for each in record]
    return record
