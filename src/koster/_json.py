"""JSON of others: whatever is wrong with it is a `ValueError`."""

from __future__ import annotations

import json
from typing import Any

#: How deep arrays and objects may be nested: programs that read them recursively must get to the
#: end, too, such as those that write them again.
_MAX_DEPTH = 200


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: it is not JSON, or is nested too deeply.
    """
    try:
        found = json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    opened, listed = ("{", "[") if isinstance(text, str) else (b"{", b"[")
    if text.count(opened) + text.count(listed) > _MAX_DEPTH:  # type: ignore[arg-type]
        _check_depth(found)
    return found


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(_MAX_DEPTH + 1):
        inner = (each.values() if isinstance(each, dict) else each for each in level)
        level = [each for them in inner for each in them if isinstance(each, (dict, list))]
        if not level:
            return
    raise ValueError("it is nested too deeply")
