"""Tables as batches: what CSV, JSON lines and Parquet have in common."""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING, Any

from ..engine.document import MAX_PARSED_BYTES
from ._arrow import pa, pc
from ._batches import Batch, WrongColumnsError
from ._columns import buffers, bytes_in
from ._parquet import TEXT

if TYPE_CHECKING:
    from ._batches import Columns, Input

#: What a column of robots.txt files may be called, by default.
BODY_NAMES = ("body", "text", "content", "robots_txt", "robots")


def columns_of(given: Input, names: list[str], columns: Columns) -> dict[str, str]:
    """Return what the columns that are needed are called.

    Raises:
        WrongColumnsError: one is not there.
    """
    there = f"there are {', '.join(names[:20])}{' …' if len(names) > 20 else ''}"
    body = columns.body
    if body is None:
        body = next((name for name in BODY_NAMES if name in names), None)
        if body is None:
            wanted = ", ".join(BODY_NAMES)
            raise WrongColumnsError(
                f"{given.path}: no column is called {wanted}; name that of the robots.txt files "
                f"with --body ({there})"
            )
    asked = {"body": body, "url": columns.url, "agent": columns.agent}
    found = {what: name for what, name in asked.items() if name is not None}
    for what, name in found.items():
        if name not in names:
            raise WrongColumnsError(
                f"{given.path}: there is no column {name!r} ({there}){_HINTS[what]}"
            )
    return found


#: What options name columns, or stand in for them.
_HINTS = {
    "body": "",
    "url": "; name that of the URLs with --url-column, or ask all sites the same with --url",
    "agent": "; name that of the agents with --agent-column, or say who asks with --agent",
}


def check_type(given: Input, what: str, column: Any) -> None:
    """Look whether a column has text or bytes.

    Raises:
        WrongColumnsError: it has something else.
    """
    type_ = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not TEXT.fullmatch(str(type_)) and not pa.types.is_null(type_):
        raise WrongColumnsError(
            f"{given.path}: the column {column.name!r} has {column.type}, and {what} must be text "
            "or bytes"
        )


def _cut_bodies(bodies: Any) -> tuple[Any, Any | None]:
    """Return bodies with no more than is parsed of each, and if one was cut, what sizes they had.

    A body stays longer than what is parsed if it was, and does not end within a character.
    """
    is_coded = pa.types.is_dictionary(bodies.type)
    # Without a copy: values of Arrow's own, one by one, are copies.
    values = bytes_in(bodies.dictionary if is_coded else bodies)
    sizes = pc.binary_length(values)
    if (pc.max(sizes).as_py() or 0) <= MAX_PARSED_BYTES:
        return bodies, None
    data, starts = buffers(values)
    begins = (_start_of(data[start:end]) for start, end in itertools.pairwise(starts))
    is_there = values.is_valid().to_pylist()
    cut = [begin if there else None for begin, there in zip(begins, is_there, strict=True)]
    found = pa.array(cut, pa.large_binary())
    if not is_coded:
        return found, sizes
    return pa.DictionaryArray.from_arrays(bodies.indices, found), sizes.take(bodies.indices)


def _start_of(body: memoryview) -> bytes:
    """Return what is parsed of a body, and the character after it."""
    end = min(len(body), MAX_PARSED_BYTES + 1)
    last = min(len(body), end + 3)
    while end < last and body[end] & 0xC0 == 0x80:
        end += 1
    return bytes(body[:end])


def batch_of(batch: Any, named: dict[str, str], place: int) -> Batch:
    bodies, sizes = _cut_bodies(batch.column(named["body"]))
    kept = batch.drop_columns([named["body"]])
    return Batch(
        kept=kept,
        bodies=bodies,
        served=bodies,
        urls=batch.column(named["url"]) if "url" in named else None,
        agents=batch.column(named["agent"]) if "agent" in named else None,
        classes=None,
        place=place,
        sizes=sizes,
    )


def decompressed(path: str, stream: Any) -> Any:
    """Return a stream of Arrow's, decompressed as the name of its file says."""
    ending = os.path.splitext(path)[1].lower()
    codings = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".lz4": "lz4"}
    return pa.CompressedInputStream(stream, codings[ending]) if ending in codings else stream
