"""Which format a log has, and what is wrong with lines that do not have it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from .._json import parse_json
from .._wording import count_noun
from ..bulk._arrow import pa, pc
from ._blocks import lines_of
from ._explaining import explained, looks_like
from ._formats import Envelope, Enveloped, Format, JsonFormat, TextFormat, has_field_list
from ._known_formats import FORMATS, json_path
from ._patterns import FormatError, check_fields, from_apache, from_nginx, from_w3c, is_w3c_field

#: The lines of a file that its format is detected by.
_SAMPLE_LINES = 200
_SAMPLE_BYTES = 2**18

#: The share of lines that must be readable.
MIN_READABLE = 0.5

#: How many lines may be inside of one another: a server's in that of syslog, in that of Docker.
_MAX_DEPTH = 2


def format_of(text: str) -> Format:
    """Return a format by its name, or from a LogFormat, a log_format, or the fields of W3C logs.

    Raises:
        FormatError: it is something else.
    """
    if text in FORMATS:
        return FORMATS[text]
    if "%" in text:
        return Format("LogFormat", "", TextFormat(from_apache(text)))
    if "$" in text:
        return Format("log_format", "", TextFormat(from_nginx(text)))
    fields = text.removeprefix("#Fields:").split()
    if len(fields) > 1 and any(map(is_w3c_field, fields)):
        return Format("w3c fields", "", TextFormat(from_w3c(fields)))
    raise FormatError(
        f"unknown log format {text!r}: use {', '.join(FORMATS)}, a LogFormat or log_format string, "
        "or the fields of a W3C log"
    )


def resolve(
    data: bytes, path: str, given: Format | None = None, columns: Mapping[str, str] | None = None
) -> Format:
    """Return the format of a file by its first lines.

    Args:
        data: The first lines.
        path: The file, for messages.
        given: The format that its lines, or the lines inside of them, have; None: detect it.
        columns: The keys of fields of JSON, by field.

    Raises:
        FormatError: the format is unknown.
    """
    if given is None and columns and data.lstrip().startswith(b"{"):
        given = FORMATS["nginx-json"]
    if given is None:
        return detect(data, path)
    if isinstance(given.lines, Envelope):
        lines = _sample(data, path)
        inside = _inside(given.name, given.lines, lines, 0)
        if inside is None:
            raise FormatError(
                f"{path}: no known log inside of {given.name}. The file looks like "
                f"{looks_like(data)}"
            )
        return inside
    given = _with_columns(given, columns or {})
    if given.lines is None or not data.strip():
        return given
    lines = _sample(data, path)
    share, _ = _fit(given.lines, lines)
    objects = _objects(lines)
    for each in FORMATS.values():
        envelope = each.lines
        if isinstance(envelope, Envelope) and _is_possible(envelope, objects):
            inside = _wrapped(given, each.name, envelope)
            found, _ = _fit(inside.lines, lines)
            if found > MIN_READABLE and found >= share:
                return inside
    return given


def _with_columns(form: Format, columns: Mapping[str, str]) -> Format:
    """Return a JSON format with the names of fields that were given."""
    if not columns or not isinstance(form.lines, JsonFormat):
        return form
    given = {name: (json_path(column),) for name, column in columns.items()}
    paths = dict(form.lines.paths) | given
    check_fields(paths)
    return replace(form, lines=replace(form.lines, paths=paths))


def detect(data: bytes, path: str) -> Format:
    """Return the format that most of the first lines of a file have.

    Raises:
        FormatError: no format fits more than half of them; the message says what the file looks
            like.
    """
    if has_field_list(_start(data)):
        return FORMATS["w3c"]
    lines = _sample(data, path)
    best = _best(lines)
    if best is None:
        raise FormatError(_unknown(lines, path))
    return best


def _start(data: bytes) -> bytes:
    """Return the lines that a format is detected by."""
    sample = b"\n".join(data[:_SAMPLE_BYTES].split(b"\n")[: _SAMPLE_LINES + 1])
    if b"\n" in sample and len(data) > len(sample):
        sample = sample[: sample.rfind(b"\n") + 1]
    return sample


def _sample(data: bytes, path: str) -> Any:
    lines = lines_of(_start(data))
    lines = lines.filter(pc.match_substring_regex(lines, r"\S"))
    if not len(lines):
        raise FormatError(f"{path}: the file is empty")
    return lines


def _best(lines: Any, depth: int = 0, outside: Collection[str] = ()) -> Format | None:
    """Return the format of most lines; None if no format fits more than half of them.

    The first one with a User-Agent counts, then the one that reads more lines. ``outside`` are the
    fields of the lines that they are in.
    """
    best: tuple[tuple[bool, float], Format] | None = None
    for each in _candidates(lines, depth):
        share, fields = _fit(each.lines, lines, outside)
        rank = "agent" in fields, share
        if share > MIN_READABLE and (best is None or rank > best[0]):
            best = rank, each
    return best[1] if best else None


def _candidates(lines: Any, depth: int) -> Iterator[Format]:
    """Yield the formats that lines may have: those of text or of JSON."""
    objects = _objects(lines)
    for each in FORMATS.values():
        reader = each.lines
        if not _is_possible(reader, objects):
            continue
        if not isinstance(reader, Envelope):
            yield each
        elif depth < _MAX_DEPTH and (inside := _inside(each.name, reader, lines, depth)):
            yield inside


def _objects(lines: Any) -> list[Any] | None:
    """Return lines of JSON, parsed; None for lines of text."""
    if not lines[0].as_py().lstrip().startswith(b"{"):
        return None
    found = []
    for line in lines.to_pylist():
        with suppress(ValueError):
            found.append(parse_json(line.decode("utf-8", "replace")))
    return found


def _is_possible(reader: Any, objects: list[Any] | None) -> bool:
    """Return whether lines may have a format: one of them has the URL, or the line, of JSON."""
    form = reader.outer if isinstance(reader, Envelope) else reader
    if not isinstance(form, JsonFormat):
        return form is not None and objects is None
    paths = [
        re.findall(r'"([^"]+)"', path)
        for name in ("url", "request", "line")
        for path in form.paths.get(name, ())
    ]
    return any(_has(each, path) for each in objects or () for path in paths)


def _has(found: Any, path: Sequence[str]) -> bool:
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found is not None


def _inside(name: str, envelope: Envelope, lines: Any, depth: int) -> Format | None:
    """Return the format of lines inside of others; None if it is unknown."""
    are = envelope.outer.are_valid(lines)
    if _share(are) <= MIN_READABLE:
        return None
    inside = envelope.outer.columns(lines.filter(are))["line"].cast(pa.large_binary())
    inside = inside.filter(pc.match_substring_regex(inside, r"\S").fill_null(False))
    found = _best(inside, depth + 1, envelope.outer.fields) if len(inside) else None
    return found and _wrapped(found, name, envelope)


def _wrapped(form: Format, name: str, envelope: Envelope) -> Format:
    """Return the format of lines inside of others."""
    reader = form.lines
    if reader is None or isinstance(reader, Envelope):
        return form
    lines = Enveloped(envelope.outer, reader)
    return replace(form, name=f"{form.name} in {name}", lines=lines)


def _share(are: Any) -> float:
    return float(pc.sum(are).as_py() or 0) / len(are)


def _fit(reader: Any, lines: Any, outside: Collection[str] = ()) -> tuple[float, Collection[str]]:
    """Return the share of lines that have what is needed in a format, and the fields they have."""
    are = reader.are_valid(lines)
    if isinstance(reader, TextFormat):
        return _share(are), reader.fields
    valid = lines.filter(are)
    if not len(valid) or (isinstance(reader, JsonFormat) and not reader.has_mark(valid)):
        return 0.0, ()
    columns = reader.columns(valid)
    fields = [name for name, column in columns.items() if column.null_count < len(column)]
    try:
        check_fields({*fields, *outside})
    except FormatError:
        return 0.0, ()
    return _share(are), fields


def _unknown(lines: Any, path: str) -> str:
    """Return why the format of lines is unknown."""
    count = max((_fit(each.lines, lines)[0] for each in _candidates(lines, 0)), default=0)
    return (
        f"{path}: unknown log format: {round(count * len(lines))} of "
        f"{count_noun(len(lines), 'line')} can be read. The file looks like "
        f"{explained(lines[0].as_py(), FORMATS.values())}. If it is a log, name its format with "
        "--log-format"
    )
