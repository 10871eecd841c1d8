"""JSON lines as batches."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

from .._json import parse_json
from ._arrow import pa
from ._batches import BadRecords, Batch, Columns, Input
from ._parquet import BYTES, ROWS
from ._tables import TEXT_ROLES, decompressed, find_columns, to_batch
from .kernel import storable_text

#: The maximum number of keys that become columns.
_MAX_KEYS = 1_000

#: The maximum length of a line in bytes: JSON may need six bytes for one of the body.
_MAX_LINE = 128 * 1024 * 1024


def read_json_lines(source: Input, columns: Columns, bad: BadRecords) -> Iterator[Batch]:
    """Yield the batches of JSON lines, each an object; keys become text columns."""
    rows: list[tuple[int, dict[str, Any]]] = []
    names: list[str] = []
    roles: dict[str, str] = {}
    total = 0
    with open(source.file, "rb") as file:
        for number, line in _lines(decompressed(source.path, pa.PythonFile(file, "r"))):
            row = _object(line)
            if isinstance(row, str):
                bad.add(f"line {number}: {row}")
                continue
            rows.append((number, row))
            total += len(line or b"")
            if len(rows) == ROWS or total >= BYTES:
                if not names:
                    names, roles = _keys(source, rows, columns)
                yield _to_batch(rows, names, roles, bad, file.tell())
                rows = []
                total = 0
        if rows:
            if not names:
                names, roles = _keys(source, rows, columns)
            yield _to_batch(rows, names, roles, bad, source.size)


def _lines(stream: Any) -> Iterator[tuple[int, bytes | None]]:
    """Yield the lines that are not blank, with their numbers; None for a line that is too long."""
    number = 0
    rest = b""
    is_skipping = False
    while chunk := stream.read(1 << 20):
        parts = (rest + chunk).split(b"\n")
        rest = parts.pop()
        for part in parts:
            number += 1
            if is_skipping:
                is_skipping = False
            elif part.strip():
                yield number, part
        if is_skipping or len(rest) > _MAX_LINE:
            if not is_skipping:
                yield number + 1, None
            is_skipping = True
            rest = b""
    if rest.strip() and not is_skipping:
        yield number + 1, rest


def _object(line: bytes | None) -> dict[str, Any] | str:
    """Return a JSON object, or an error."""
    if line is None:
        return f"longer than {_MAX_LINE:,} bytes"
    try:
        found = parse_json(line)
    except ValueError:
        return "invalid JSON"
    return found if isinstance(found, dict) else "not a JSON object"


def _type_error(row: dict[str, Any], roles: dict[str, str]) -> str | None:
    """Return an error if a value is not text."""
    for name in (roles[role] for role in TEXT_ROLES if role in roles):
        if not isinstance(row.get(name), (str, type(None))):
            return f"{name} is not text"
    return None


def _keys(
    source: Input, rows: list[tuple[int, dict[str, Any]]], columns: Columns
) -> tuple[list[str], dict[str, str]]:
    """Return the keys that become columns, and the names of the needed ones by role."""
    keys = itertools.islice(dict.fromkeys(name for _, row in rows for name in row), _MAX_KEYS)
    names = list(keys)
    roles = find_columns(source, names, columns)
    return names, roles


def _to_batch(
    rows: list[tuple[int, dict[str, Any]]],
    names: list[str],
    roles: dict[str, str],
    bad: BadRecords,
    position: int,
) -> Batch:
    good = []
    for number, row in rows:
        error = _type_error(row, roles)
        if error:
            bad.add(f"line {number}: {error}")
        else:
            good.append(row)
    arrays = [
        pa.array([_bytes(row.get(name)) for row in good], pa.large_binary())
        if name == roles["body"]
        else pa.array([_cell(row.get(name)) for row in good], pa.string())
        for name in names
    ]
    # Keys that become equal when surrogates are replaced: the first wins.
    columns = dict(zip(map(storable_text, reversed(names)), reversed(arrays), strict=True))
    cleaned = {what: storable_text(name) for what, name in roles.items()}
    return to_batch(
        pa.RecordBatch.from_pydict(dict(reversed(columns.items()))), cleaned, position, bad
    )


def _bytes(body: str | None) -> bytes | None:
    """Encode text as `koster.parse` does."""
    return None if body is None else body.encode("utf-8", "surrogatepass")


def _cell(value: Any) -> str | None:
    """Return text as it is, and other values as JSON."""
    if value is None:
        return None
    return storable_text(value if isinstance(value, str) else json.dumps(value))
