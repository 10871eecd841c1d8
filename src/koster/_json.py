"""JSON of others: whatever is wrong with it is a `ValueError`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NoReturn

#: How deep arrays and objects may be nested: programs that read them recursively must get to the
#: end, too, such as those that write them again.
_MAX_DEPTH = 200


def parse_json(
    text: str | bytes,
    *,
    to_object: Callable[[list[tuple[str, Any]]], Any] | None = None,
    is_strict: bool = False,
) -> Any:
    """Return the value of a JSON text.

    Args:
        text: The text.
        to_object: Makes an object of its names and values, of which some may be repeated.
        is_strict: Whether NaN and Infinity are not JSON, as RFC 8259 has it.

    Raises:
        ValueError: it is not JSON, or is nested too deeply.
    """
    refuse = _refuse_constant if is_strict else None
    try:
        found = json.loads(text, object_pairs_hook=to_object, parse_constant=refuse)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    opened, listed = ("{", "[") if isinstance(text, str) else (b"{", b"[")
    if text.count(opened) + text.count(listed) > _MAX_DEPTH:  # type: ignore[arg-type]
        _check_depth(found)
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(_MAX_DEPTH + 1):
        inner = (each.values() if isinstance(each, dict) else each for each in level)
        level = [each for them in inner for each in them if isinstance(each, (dict, list))]
        if not level:
            return
    raise ValueError("it is nested too deeply")
