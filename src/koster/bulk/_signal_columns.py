"""What sites state about the use of pages, for columns of any engine.

>>> import pyarrow as pa
>>> bodies = pa.array(["User-agent: *\\nContent-Signal: ai-train=no\\nAllow: /"])
>>> found = signals(bodies, pa.array(["https://shop.example/press/"]))
>>> [each for each in found[0].as_py() if each["stated"] != "unstated"]
[{'use': 'ai-train', 'stated': 'no', 'grammars': ['content-signal']}]
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from typing import Any

from ..dialects import RFC9309, Dialect
from ..robots import RobotsTxt, parse
from ..signals import GRAMMARS
from ..signals._combining import Combined
from ..signals._model import Answer
from ..signals._uses import charset_of
from ._arrow import pa
from ._attribution import moments
from ._columns import Column, in_chunks, to_arrow, to_large_binary, to_text, unchunked
from ._readings import reading_of

_GRAMMARS = tuple(each.name for each in GRAMMARS)

#: What is stated about a use: ``stated`` is as in `koster.signals.Stated`, ``grammars`` are the
#: names of those in which sources state something.
SIGNAL = pa.struct([
    pa.field("use", pa.string()),
    pa.field("stated", pa.string()),
    pa.field("grammars", pa.list_(pa.string())),
])  # fmt: skip


def row_of(answer: Answer) -> dict[str, Any]:
    """Return an answer as a `SIGNAL`."""
    names = {each.grammar.name for each in answer.statements}
    grammars = [name for name in _GRAMMARS if name in names] if names else []
    return {"use": answer.use.value, "stated": answer.stated.value, "grammars": grammars}


def signals(
    bodies: Column,
    urls: Column,
    headers: Column | None = None,
    html: Column | None = None,
    fetched: Column | None = None,
    dialect: Dialect = RFC9309,
) -> Any:
    """Return what sites state to everybody about the use of pages: lists of `SIGNAL`, one a use.

    Args:
        bodies: Robots.txt files; an empty one stands for a site that has none.
        urls: The URLs of the pages.
        headers: Those of the responses: maps from names to a value or several, or lists of structs
            with a name and a value. Default: they have none.
        html: The pages, without codings. Default: they are not HTML.
        fetched: When they were fetched. Where it is missing, the dates of ``unavailable_after`` are
            undecided.
        dialect: How to read the robots.txt files.

    The result for null in ``bodies`` or ``urls`` is null. Other files of sites are not read:
    tdmrep.json, and the licenses that are named.

    Raises:
        TypeError: ``bodies``, ``urls`` or ``html`` is not a column of text or bytes.
        MissingExtraError: headers with structured fields, or HTML, need the extra ``signals``.
    """
    column = to_arrow(bodies, "bodies")
    chunks = tuple(map(len, column.chunks)) if isinstance(column, pa.ChunkedArray) else None
    count = len(column)
    # Text is decoded already.
    is_text = html is not None and "binary" not in str(to_arrow(html, "html").type)
    rows = zip(
        _bytes_of(column, "bodies", count),
        to_text(to_large_binary(to_arrow(urls, "urls"))).to_pylist(),
        [None] * count if headers is None else unchunked(headers).to_pylist(),
        _bytes_of(html, "html", count),
        [None] * count if fetched is None else moments(unchunked(fetched)).to_pylist(),
        strict=True,
    )
    parsed = lru_cache(maxsize=64)(lambda body: parse(body, dialect))
    charset = "utf-8" if is_text else None
    found = [
        None
        if body is None or url is None
        else _answers(url, parsed(body), fields, page, moment, charset)
        for body, url, fields, page, moment in rows
    ]
    return in_chunks(pa.array(found, pa.list_(SIGNAL)), chunks)


def _bytes_of(column: Column | None, what: str, count: int) -> list[bytes | None]:
    if column is None:
        return [None] * count
    values: list[bytes | None] = to_large_binary(to_arrow(column, what)).to_pylist()
    return values


def _answers(
    url: str,
    robots: RobotsTxt,
    headers: Any,
    html: bytes | None,
    fetched: datetime | None,
    charset: str | None,
) -> list[dict[str, Any]]:
    pairs = list(_pairs(headers))
    page = reading_of(pairs, html, charset or charset_of(pairs), fetched)
    return [row_of(each) for each in Combined(url, robots, page).answers()]


def _pairs(headers: Any) -> Iterator[tuple[str, str]]:
    """Yield the names and values of a map, or of a list of structs."""
    for each in filter(None, headers or ()):
        name, value = each.values() if isinstance(each, dict) else each
        for one in value if isinstance(value, list) else [value]:
            if name is not None and one is not None:
                yield name, one
