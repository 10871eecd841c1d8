"""Reads the JSON of request bodies, within limits."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from .._wording import truncated
from .refusals import RefusedError

#: Maximum number of values in a request's JSON, including field names.
MAX_VALUES = 20_000

#: A string of a JSON text, which may end too early. It never backtracks.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)

#: Maximum characters of a field name in a message.
_MAX_NAME = 300


def read_json(body: bytes) -> Any:
    """Return the value of a JSON text that repeats no key: parsers handle those differently.

    Raises:
        RefusedError: it is not JSON, or has too many values.
    """
    # To leave out the strings takes longer; a page in a string may have as many.
    if _values_in(body) > MAX_VALUES and _values_in(_STRING.sub(b'""', body)) > MAX_VALUES:
        raise _too_many()
    try:
        value = json.loads(body, object_pairs_hook=_reject_duplicate_keys)
    except json.JSONDecodeError as error:
        detail = f"the body is not valid JSON: {error.msg}"
        raise RefusedError(400, "not-json", detail) from error
    except RecursionError as error:
        raise RefusedError(400, "not-json", "the body is nested too deeply") from error
    except ValueError as error:
        # Not UTF-8, or a number of thousands of digits.
        raise RefusedError(400, "not-json", "the body is not JSON") from error
    if _count(value) > MAX_VALUES:
        raise _too_many()
    return value


def _values_in(body: bytes) -> int:
    """Return how many values a JSON text has, about: strings may contain the characters, too."""
    return max(body.count(b"["), body.count(b"{"), body.count(b'"') // 2)


def _too_many() -> RefusedError:
    return RefusedError(422, "invalid", f"the body has more than {MAX_VALUES:,} values")


def _count(value: Any) -> int:
    """Return the number of values and field names in a value, or one above the limit."""
    waiting, count = [value], 0
    while waiting and count <= MAX_VALUES:
        count += 1
        each = waiting.pop()
        if isinstance(each, dict):
            count += len(each)
            waiting += each.values()
        elif isinstance(each, list):
            if len(each) > MAX_VALUES:
                return MAX_VALUES + 1
            waiting += each
    return count


def _reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        duplicate = next(name for name, count in counts.items() if count > 1)
        raise json.JSONDecodeError(f'duplicate key "{truncated(duplicate, _MAX_NAME)}"', "", 0)
    return result
