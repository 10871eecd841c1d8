"""Compares outputs with their schemas, and says which parts of a schema no output had."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import jsonschema
import pyarrow as pa

from tests.helpers.support import ROOT

FOLDER = ROOT / "docs" / "reference" / "schemas"

#: A place in a schema, and whether it is about null there.
Place = tuple[str, bool]


_FORMATS = jsonschema.FormatChecker(["date"])


@_FORMATS.checks("date-time", raises=ValueError)
def _is_moment(value: object) -> bool:
    """Return whether a text is a time with its offset, as all outputs have."""
    return not isinstance(value, str) or datetime.fromisoformat(value).tzinfo is not None


def schema(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return found


def check_json(name: str, *outputs: Any) -> None:
    """Check that outputs are valid, and that together they have each key and each null."""
    whole = schema(name)
    jsonschema.Draft202012Validator.check_schema(whole)
    checker = jsonschema.Draft202012Validator(whole, format_checker=_FORMATS)
    seen: set[Place] = set()
    for output in outputs:
        checker.validate(output)
        seen |= set(_seen(whole, whole, output, "$"))
    missing = set(_places(whole, whole, "$", set())) - seen
    assert not missing, f"no output of {name} has {sorted(missing)}"


def _resolved(whole: dict[str, Any], part: dict[str, Any], path: str) -> tuple[dict[str, Any], str]:
    """Return a part of a schema, and its path: that of its definition if it has one."""
    if "$ref" in part:
        name = part["$ref"].rpartition("/")[2]
        return whole["$defs"][name], f"${name}"
    return part, path


def _may_be_null(part: dict[str, Any]) -> bool:
    return (
        "null" in part.get("type", ())
        or None in part.get("enum", ())
        or any(_may_be_null(each) for each in part.get("anyOf", ()))
    )


def _parts(part: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the parts of a schema about values within a value."""
    for name, each in part.get("properties", {}).items():
        yield f".{name}", each
    if isinstance(part.get("items"), dict):
        yield "[]", part["items"]
    for number, each in enumerate(part.get("anyOf", ())):
        yield f"|{number}", each


def _places(
    whole: dict[str, Any], part: dict[str, Any], path: str, done: set[str]
) -> Iterator[Place]:
    part, path = _resolved(whole, part, path)
    if path in done:
        return
    done.add(path)
    yield path, False
    if _may_be_null(part):
        yield path, True
    for name, each in _parts(part):
        if each != {"type": "null"}:
            yield from _places(whole, each, path + name, done)


def _seen(whole: dict[str, Any], part: dict[str, Any], value: Any, path: str) -> Iterator[Place]:
    part, path = _resolved(whole, part, path)
    yield path, value is None
    for name, each in _parts(part):
        if name[0] == "." and isinstance(value, dict) and name[1:] in value:
            yield from _seen(whole, each, value[name[1:]], path + name)
        elif name == "[]" and isinstance(value, list):
            for item in value:
                yield from _seen(whole, each, item, path + name)
        elif name[0] == "|" and jsonschema.Draft202012Validator(
            {**each, "$defs": whole.get("$defs", {})}
        ).is_valid(value):
            yield from _seen(whole, each, value, path + name)


_CELLS: dict[str, Callable[[str], Any]] = {
    "integer": int,
    "decimal": float,
    "boolean": {"true": True, "false": False}.__getitem__,
    "date-time": datetime.fromisoformat,
    "text": str,
}


def check_csv(name: str, *outputs: str) -> None:
    """Check headings and cells; together, the outputs fill each column and leave others empty."""
    columns = schema(name)["columns"]
    seen: set[Place] = set()
    for output in outputs:
        headings, *rows = csv.reader(io.StringIO(output))
        # Some columns at the end depend on an option.
        assert headings == [each["name"] for each in columns[: len(headings)]]
        assert rows
        for row in rows:
            for column, cell in zip(columns, row, strict=False):
                seen.add((column["name"], not cell))
                if cell:
                    value = _CELLS[column["type"]](cell)
                    assert value in column.get("values", [value]), column
    _check_nulls(name, columns, seen)


def check_parquet(name: str, *tables: pa.Table) -> None:
    """Check names, types and values; together, the tables have each null."""
    columns = schema(name)["columns"]
    seen: set[Place] = set()
    for table in tables:
        assert table.schema.names == [each["name"] for each in columns]
        for column, field in zip(columns, table.schema, strict=True):
            _check_type(column, field.type)
        for row in table.to_pylist():
            _note(columns, row, "", seen)
    _check_nulls(name, columns, seen)


def _check_type(column: dict[str, Any], type_: pa.DataType) -> None:
    is_list = pa.types.is_list(type_)
    inner = type_.value_type if is_list else type_
    if "fields" in column:
        assert column["type"] == ("list<struct>" if is_list else "struct")
        assert [each["name"] for each in column["fields"]] == [each.name for each in inner]
        for each, field in zip(column["fields"], inner, strict=True):
            _check_type(each, field.type)
    else:
        assert column["type"] == (f"list<{inner}>" if is_list else str(inner))


def _note(columns: list[dict[str, Any]], row: dict[str, Any], path: str, seen: set[Place]) -> None:
    for column in columns:
        name, value = path + column["name"], row[column["name"]]
        seen.add((name, value is None))
        if value is None:
            continue
        assert value in column.get("values", [value]), column
        if "fields" in column:
            for each in value if isinstance(value, list) else [value]:
                _note(column["fields"], each, f"{name}.", seen)


def _check_nulls(name: str, columns: list[dict[str, Any]], seen: set[Place]) -> None:
    expected = set(_expected(columns, ""))
    assert not expected - seen, f"no output of {name} has {sorted(expected - seen)}"
    assert not seen - expected, f"{name} does not know {sorted(seen - expected)}"


def _expected(columns: list[dict[str, Any]], path: str) -> Iterator[Place]:
    for each in columns:
        name = path + each["name"]
        yield name, False
        if each["nullable"]:
            yield name, True
        yield from _expected(each.get("fields", []), f"{name}.")


def digests() -> dict[str, str]:
    """Return digests of all schemas, by name; words are left out, which may change."""
    names = sorted(path.stem for path in FOLDER.glob("*.json"))
    texts = {name: json.dumps(_without_words(schema(name), is_shape=True)) for name in names}
    return {name: hashlib.sha256(each.encode()).hexdigest()[:16] for name, each in texts.items()}


def _without_words(value: Any, *, is_shape: bool) -> Any:
    """Return a schema without titles and descriptions; properties may have these names."""
    if isinstance(value, list):
        return [_without_words(each, is_shape=is_shape) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: _without_words(each, is_shape=name not in ("properties", "$defs") or not is_shape)
        for name, each in value.items()
        if not is_shape or name not in ("title", "description")
    }
