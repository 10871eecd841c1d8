"""The parts of JSON schemas: each value has a type and a sentence that says what it means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

Shape: TypeAlias = dict[str, Any]


def text(meaning: str) -> Shape:
    return {"type": "string", "description": meaning}


def moment(meaning: str) -> Shape:
    return {"type": "string", "format": "date-time", "description": meaning}


def integer(meaning: str, least: int = 0) -> Shape:
    return {"type": "integer", "minimum": least, "description": meaning}


def number(meaning: str) -> Shape:
    return {"type": "number", "minimum": 0, "description": meaning}


def boolean(meaning: str) -> Shape:
    return {"type": "boolean", "description": meaning}


def one_of(values: Iterable[str], meaning: str) -> Shape:
    """Return a text from a closed set of values."""
    return {"enum": [str(each) for each in values], "description": meaning}


def nullable(shape: Shape) -> Shape:
    """Return a value that may be null."""
    if "enum" in shape:
        return {**shape, "enum": [*shape["enum"], None]}
    if "type" not in shape:
        meaning = {"description": shape["description"]} if "description" in shape else {}
        inner = {name: value for name, value in shape.items() if name != "description"}
        return {"anyOf": [inner, {"type": "null"}], **meaning}
    return {**shape, "type": [shape["type"], "null"]}


def array(items: Shape, meaning: str = "") -> Shape:
    return {"type": "array", "items": items, **({"description": meaning} if meaning else {})}


def record(properties: dict[str, Shape], meaning: str = "", optional: Iterable[str] = ()) -> Shape:
    """Return an object that has all of these keys but the optional ones, and no others."""
    left_out = set(optional)
    return {
        "type": "object",
        **({"description": meaning} if meaning else {}),
        "properties": properties,
        "required": [name for name in properties if name not in left_out],
        "additionalProperties": False,
    }


def texts(meaning: str) -> Shape:
    return array({"type": "string"}, meaning)


def titled(title: str, shape: Shape, meaning: str) -> Shape:
    """Return the schema of a whole output."""
    return {"title": title, "description": meaning, **shape}
