"""What pages state, as bytes between the two passes of ``koster bulk signals``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple, replace
from datetime import UTC, datetime

from ..signals import GRAMMARS, License, Stated, Statement, Use
from ..signals._combining import read_page
from ..signals._model import Reading

_GRAMMARS = {each.name: each for each in GRAMMARS}
#: For pages whose time is unknown: then all dates have passed.
_LAST = datetime.max.replace(tzinfo=UTC)


def reading_of(
    headers: Sequence[tuple[str, str]],
    html: bytes | None,
    charset: str | None,
    fetched: datetime | None,
    crawlers: Sequence[str] = (),
) -> Reading:
    """Return what a page states, without notes. Dates are compared with when it was fetched."""
    found = read_page(headers, html, charset, fetched or _LAST, crawlers, has_notes=False)
    if fetched is None:
        found.statements = [_undated(each) for each in found.statements]
    return found


def _undated(statement: Statement) -> Statement:
    """Return a statement as it is if the time of the fetch is unknown."""
    if not statement.text.lower().startswith("unavailable_after"):
        return statement
    return replace(statement, stated=Stated.UNDECIDED)


def to_bytes(found: Reading) -> bytes | None:
    """Return what a page states as bytes; None if that is nothing, as for nearly all pages."""
    parts: tuple[list[object], ...] = (
        [
            (each.grammar.name, each.where, each.text, each.use, each.stated, each.crawler)
            for each in found.statements
        ],
        [astuple(each) for each in found.licenses],
        [(where, body.decode()) for where, body in found.embedded],
        [*found.unread],
    )
    return json.dumps(parts).encode() if any(parts) else None


def from_bytes(stored: bytes | None) -> Reading:
    """Return what `to_bytes` has stored."""
    if stored is None:
        return Reading()
    statements, licenses, embedded, unread = json.loads(stored)
    return Reading(
        statements=[
            Statement(_GRAMMARS[grammar], where, words, Use(use), Stated(stated), crawler)
            for grammar, where, words, use, stated, crawler in statements
        ],
        licenses=[License(*each) for each in licenses],
        embedded=[(where, body.encode()) for where, body in embedded],
        unread=unread,
    )
