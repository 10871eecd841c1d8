"""JSON that every reader takes: text in it may come from files that are no UTF-8."""

from __future__ import annotations

import json
import re
from typing import Any

_SURROGATES = re.compile("[\ud800-\udfff]")


def dumped(record: Any) -> str:
    r"""Return a record as JSON, indented; bytes that were no UTF-8 are U+FFFD.

    >>> print(dumped(["\udcff"]))
    [
      "\ufffd"
    ]
    """
    return json.dumps(scalars(record), indent=2)


def scalars(record: Any) -> Any:
    """Return a record in which all text is Unicode's scalar values."""
    if isinstance(record, str):
        return _SURROGATES.sub("\ufffd", record)
    if isinstance(record, dict):
        return {key: scalars(value) for key, value in record.items()}
    if isinstance(record, (list, tuple)):
        return [scalars(each) for each in record]
    return record
