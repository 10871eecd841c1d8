"""Reads files of TOML that others may have written: in bounded time and memory.

`tomllib` takes 1.6 GB for a key of 20,000 parts, which needs 40 KB, and raises RecursionError for
nested arrays. Here, files beyond some limits are refused before it reads them.
"""

from __future__ import annotations

import re
from typing import Any

#: The maximum size of a file, in bytes or characters: many times that of a real one.
MAX_SIZE = 1 << 20
#: The maximum number of parts of a key, such as 3 in ``tool.koster.severity``.
_MAX_PARTS = 32
#: The maximum number of dots in all keys and numbers.
_MAX_DOTS = 50_000
#: The maximum depth of arrays and inline tables.
_MAX_DEPTH = 50

#: Strings and comments: dots and brackets there mean nothing.
_TEXT = re.compile(
    r'''
      """ (?: [^\\"]++ | \\. | "(?!"") )*+ """
    | \'\'\' (?: [^']++ | '(?!'') )*+ \'\'\'
    | " (?: [^\\"\n]++ | \\. )*+ "
    | ' [^'\n]*+ '
    | \# [^\n]*+
    ''',
    re.VERBOSE | re.DOTALL,
)
_PART = r'(?: [\w-]++ | "" )'
_LONG_KEY = re.compile(
    rf"(?<! [\w-] ) {_PART} (?: [ \t]*+ \. [ \t]*+ {_PART} ){{{_MAX_PARTS}}}", re.VERBOSE
)
_BRACKET = re.compile(r"[][{}]")


class TomlError(ValueError):
    """A file is not TOML, or too large, or too deep."""


def read_toml(content: str | bytes) -> dict[str, Any]:
    """Return what is in a file; to tell that it is too large, `MAX_SIZE` + 1 bytes are enough.

    Raises:
        TomlError: it is invalid, or beyond a limit.

    >>> read_toml("a.b = [1]")
    {'a': {'b': [1]}}
    """
    import tomllib  # noqa: PLC0415 - takes long to import

    if len(content) > MAX_SIZE:
        raise TomlError(f"is larger than {MAX_SIZE >> 20} MiB")
    try:
        text = content if isinstance(content, str) else content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TomlError("is not UTF-8") from error
    bare = _TEXT.sub(lambda match: "" if match[0][0] == "#" else '""', text)
    if _LONG_KEY.search(bare):
        raise TomlError(f"a key has more than {_MAX_PARTS} parts")
    if bare.count(".") > _MAX_DOTS:
        raise TomlError(f"keys and numbers have more than {_MAX_DOTS:,} dots")
    if _is_too_deep(bare):
        raise TomlError(f"arrays or inline tables are nested more than {_MAX_DEPTH} deep")
    try:
        return tomllib.loads(text)
    except RecursionError as error:  # a caller left little of the stack
        raise TomlError("nested too deep") from error
    except ValueError as error:
        raise TomlError(str(error)) from error


def _is_too_deep(bare: str) -> bool:
    depth = 0
    for match in _BRACKET.finditer(bare):
        depth = depth + 1 if match[0] in "[{" else max(depth - 1, 0)
        if depth > _MAX_DEPTH:
            return True
    return False
