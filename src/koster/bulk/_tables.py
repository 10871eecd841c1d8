"""Converts tables to batches: shared by CSV, JSON lines and Parquet."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from .._bodies import compression_in
from .._charsets import MAX_BYTES
from .._engine.document import MAX_PARSED_BYTES
from ._arrow import pa, pc
from ._batches import BadRecords, Batch, Columns, Input, WrongColumnsError
from ._columns import to_large_binary
from ._inputs import partitions_of
from ._loops import batches as _batches
from ._parquet import TEXT
from ._parts import buffers

#: The default names of the column of robots.txt files; the first that exists is used.
BODY_NAMES = ("body", "text", "content", "robots_txt", "robots")


#: The default names of the columns of crawls, and of when files were fetched.
CRAWL_NAME, TIME_NAME = "crawl", "fetched"

#: The roles of columns whose values must be text.
TEXT_ROLES = ("body", "url", "agent")


def find_columns(source: Input, names: list[str], columns: Columns) -> dict[str, str]:
    """Return the names of the needed columns, by role: those of `Columns`.

    Raises:
        WrongColumnsError: one is missing.
    """
    body = columns.body
    if body is None:
        body = next((name for name in BODY_NAMES if name in names), None)
        if body is None:
            defaults = ", ".join(BODY_NAMES)
            raise WrongColumnsError(
                f"{source.path}: no column named {defaults}; choose the column of robots.txt files "
                f"with --body ({available(names)})"
            )
    roles = {role: name for role, name in asdict(columns).items() if name is not None}
    roles.pop("delimiter", None)
    roles["body"] = body
    for role in ("crawl", "time"):
        # A report reads them from the answers, which have the columns of folders, too.
        if role in roles and roles[role] not in names and roles[role] in partitions_of(source.path):
            del roles[role]
    for role, name in roles.items():
        if name not in names:
            raise WrongColumnsError(
                f"{source.path}: no column {name!r} ({available(names)}){_HINTS.get(role, '')}"
            )
        if name == body and role not in TEXT_ROLES:
            raise WrongColumnsError(f"{source.path}: column {name!r} has the robots.txt files")
    return roles


def available(names: list[str]) -> str:
    """Return the names of a table's columns for an error message."""
    return f"columns: {', '.join(names[:20])}{' …' if len(names) > 20 else ''}"


#: The options that name columns, or replace them.
_HINTS = {
    "url": "; choose the column of URLs with --url-column, or give URLs for all sites with --url",
    "agent": "; choose the column of agents with --agent-column, or give agents with --agent",
}


def check_type(source: Input, role: str, column: Any) -> None:
    """Check that a column has text or bytes; crawls and times may be numbers or dates.

    Raises:
        WrongColumnsError: it has another type.
    """
    type_ = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    is_text = bool(TEXT.fullmatch(str(type_))) or pa.types.is_null(type_)
    if role in TEXT_ROLES and not is_text:
        expected = "text or bytes"
    elif pa.types.is_nested(type_):
        expected = "text, numbers or dates"
    else:
        return
    raise WrongColumnsError(
        f"{source.path}: column {column.name!r} has type {column.type}; {role} must be {expected}"
    )


def _cut_bodies(bodies: Any) -> tuple[Any, Any | None]:
    """Cut bodies to what is parsed of them; if one was cut, also return the original sizes.

    A cut body stays longer than what is parsed, and does not end within a character.
    """
    is_coded = pa.types.is_dictionary(bodies.type)
    # A buffer: Arrow would copy each value.
    values = to_large_binary(bodies.dictionary if is_coded else bodies)
    sizes = pc.binary_length(values)
    if (pc.max(sizes).as_py() or 0) <= MAX_PARSED_BYTES:
        return bodies, None
    data, starts = buffers(values)
    begins = (_parsed_part(data[start:end]) for start, end in itertools.pairwise(starts))
    validity = values.is_valid().to_pylist()
    cut = [begin if is_valid else None for begin, is_valid in zip(begins, validity, strict=True)]
    found = pa.array(cut, pa.large_binary())
    if not is_coded:
        return found, sizes
    return pa.DictionaryArray.from_arrays(bodies.indices, found), sizes.take(bodies.indices)


def _parsed_part(body: memoryview) -> bytes:
    """Return what is parsed of a body, plus one character."""
    end = min(len(body), MAX_PARSED_BYTES + 1)
    last = min(len(body), end + 3)
    while end < last and body[end] & 0xC0 == 0x80:
        end += 1
    return bytes(body[:end])


def _compressed(values: Any) -> Iterator[tuple[int, str]]:
    """Yield the numbers of values that are compressed, and how."""
    data, bounds = buffers(values)
    for number in _batches.unusual(data, bounds[:-1], bounds[1:]):
        body = data[bounds[number] : bounds[number + 1]]
        how = compression_in(bytes(body[:MAX_BYTES]))
        if how is not None:
            yield number, how


def _without_compressed(bodies: Any, bad: BadRecords) -> Any:
    """Return bodies with null for those that are compressed, which are not read.

    A file of compressed bytes has no group, so that everything would be allowed.
    """
    is_coded = pa.types.is_dictionary(bodies.type)
    values = to_large_binary(bodies.dictionary if is_coded else bodies)
    found = dict(_compressed(values))
    if not found:
        return bodies
    codes = bodies.indices if is_coded else pa.array(range(len(bodies)), pa.int64())
    is_compressed = pc.is_in(codes, value_set=pa.array(list(found), codes.type))
    for row, (code, is_bad) in enumerate(
        zip(codes.to_pylist(), is_compressed.to_pylist(), strict=True), bad.rows + 1
    ):
        if is_bad:
            bad.add(f"row {row}: the body is compressed with {found[code]}")
    if not is_coded:
        return pc.if_else(is_compressed, pa.scalar(None, values.type), values)
    codes = pc.if_else(is_compressed, pa.scalar(None, codes.type), codes)
    return pa.DictionaryArray.from_arrays(codes, bodies.dictionary)


def to_batch(batch: Any, roles: dict[str, str], position: int, bad: BadRecords) -> Batch:
    bodies, sizes = _cut_bodies(_without_compressed(batch.column(roles["body"]), bad))
    bad.rows += len(batch)
    passthrough = batch.drop_columns([roles["body"]])
    return Batch(
        passthrough=passthrough,
        bodies=bodies,
        served=bodies,
        urls=batch.column(roles["url"]) if "url" in roles else None,
        agents=batch.column(roles["agent"]) if "agent" in roles else None,
        classes=None,
        position=position,
        sizes=sizes,
    )


def decompressed(path: str, stream: Any) -> Any:
    """Wrap an Arrow stream to decompress it, by the ending of the file's name."""
    ending = os.path.splitext(path)[1].lower()
    codings = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".lz4": "lz4"}
    return pa.CompressedInputStream(stream, codings[ending]) if ending in codings else stream
