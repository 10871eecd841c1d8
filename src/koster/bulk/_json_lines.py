"""JSON lines as batches."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

from ._arrow import pa
from ._parquet import BYTES, ROWS
from ._tables import batch_of, columns_of, decompressed
from .kernel import storable_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._batches import BadRecords, Batch, Columns, Input

#: Keys of objects that become columns.
_MAX_KEYS = 1_000

#: Bytes of a line of JSON that are read: a body can take six for one.
_MAX_LINE = 128 * 1024 * 1024


def read_json_lines(given: Input, columns: Columns, bad: BadRecords) -> Iterator[Batch]:
    """Go through lines of JSON, each an object: what the first ones have stays, as text."""
    rows: list[tuple[int, dict[str, Any]]] = []
    names: list[str] = []
    named: dict[str, str] = {}
    total = 0
    with open(given.path, "rb") as file:
        for number, line in _lines(decompressed(given.path, pa.PythonFile(file, "r"))):
            row = _object(line)
            if isinstance(row, str):
                bad.add(f"line {number}: {row}")
                continue
            rows.append((number, row))
            total += len(line or b"")
            if len(rows) == ROWS or total >= BYTES:
                if not names:
                    names, named = _keys(given, rows, columns)
                yield _of_objects(rows, names, named, bad, file.tell())
                rows = []
                total = 0
        if rows:
            if not names:
                names, named = _keys(given, rows, columns)
            yield _of_objects(rows, names, named, bad, given.size)


def _lines(stream: Any) -> Iterator[tuple[int, bytes | None]]:
    """Go through the lines of a stream that are not blank, with their numbers; None: too long."""
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
    """Return an object of JSON, or what is wrong with it."""
    if line is None:
        return f"it has more than {_MAX_LINE:,} bytes"
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return "it is no JSON"
    return found if isinstance(found, dict) else "it is no object"


def _not_text(row: dict[str, Any], named: dict[str, str]) -> str | None:
    """Return what is wrong with an object."""
    for name in named.values():
        if not isinstance(row.get(name), (str, type(None))):
            return f"{name} is no text"
    return None


def _keys(
    given: Input, rows: list[tuple[int, dict[str, Any]]], columns: Columns
) -> tuple[list[str], dict[str, str]]:
    """Return the keys that stay, and which of them are asked for."""
    keys = itertools.islice(dict.fromkeys(name for _, row in rows for name in row), _MAX_KEYS)
    names = list(keys)
    named = columns_of(given, names, columns)
    return names, named


def _of_objects(
    rows: list[tuple[int, dict[str, Any]]],
    names: list[str],
    named: dict[str, str],
    bad: BadRecords,
    place: int,
) -> Batch:
    good = []
    for number, row in rows:
        wrong = _not_text(row, named)
        if wrong:
            bad.add(f"line {number}: {wrong}")
        else:
            good.append(row)
    arrays = [
        pa.array([_bytes(row.get(name)) for row in good], pa.large_binary())
        if name == named["body"]
        else pa.array([_cell(row.get(name)) for row in good], pa.string())
        for name in names
    ]
    # Of two keys that are one when they are cleaned the first stays.
    columns = dict(zip(map(storable_text, reversed(names)), reversed(arrays), strict=True))
    cleaned = {what: storable_text(name) for what, name in named.items()}
    return batch_of(pa.RecordBatch.from_pydict(dict(reversed(columns.items()))), cleaned, place)


def _bytes(body: str | None) -> bytes | None:
    """Return text as bytes, as `koster.parse` reads it."""
    return None if body is None else body.encode("utf-8", "surrogatepass")


def _cell(value: Any) -> str | None:
    """Return a value as text: as it stands, or as JSON."""
    if value is None:
        return None
    return storable_text(value if isinstance(value, str) else json.dumps(value))
