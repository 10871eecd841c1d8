"""What the headers of a response state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import ModuleType
from typing import Any

from ..errors import missing
from ._grammars import CONTENT_USAGE, ROBOTS_TAG, X_ROBOTS_TAG
from ._limits import RSL_TYPE
from ._links import links_in
from ._model import License, Reading, Statement
from ._notes import first_of, quoted, shortened, usable_url
from ._rules import RULES, Rule, crawler_names, read_rules, rules_in
from ._tdmrep import read_tdm
from ._words import CONTENT_USAGES, USAGE_VALUES

#: Characters of a header that are read, of all its lines.
MAX_HEADER = 64 << 10
_MAX_LINES = 1_000
#: Bytes of Robots-Tag that are read: those that its draft asks for.
MAX_ROBOTS_TAG = 8 << 10


def read_headers(
    headers: Iterable[tuple[str, str]], now: datetime, agents: Sequence[str] = ()
) -> Reading:
    """Return what the headers of a response state.

    Args:
        headers: Names and values, in their order; a name may be repeated.
        now: The current time, with a time zone.
        agents: Crawlers that are asked about: their names are given as they are here.

    The URLs of licenses are as they are written: they may be relative to that of the page.

    Raises:
        MissingExtraError: Robots-Tag and Content-Usage need the extra ``signals``.
    """
    lines: dict[str, list[str]] = {}
    for name, value in headers:
        lines.setdefault(name.strip().lower(), []).append(value)
    found = Reading()
    for name, read in _READERS.items():
        if name in lines:
            found += read(lines[name], now, agents)
    tdm = []
    for name in ("tdm-reservation", "tdm-policy"):
        where = f"header {name}"
        kept, unread = _limited(where, lines.get(name, []))
        tdm.append([(where, value) for value in kept])
        found.unread += unread
    found += read_tdm(*tdm)
    return found


def _limited(where: str, values: list[str]) -> tuple[list[str], list[str]]:
    """Return the lines of a header up to the limits, and what is unread if there is more."""
    kept: list[str] = []
    left = MAX_HEADER
    for value in values[:_MAX_LINES]:
        kept.append(value[:left])
        left = max(0, left - len(value))
    is_whole = left > 0 and len(values) <= _MAX_LINES
    return kept, [] if is_whole else [f"{where} is too large: only its beginning is read"]


def _read_x_robots_tag(values: list[str], now: datetime, agents: Sequence[str]) -> Reading:
    where = "header X-Robots-Tag"
    known = crawler_names(agents)
    kept, unread = _limited(where, values)
    rules = [rule for value in kept for rule in rules_in(where, value, "", known)]
    found = read_rules(rules, X_ROBOTS_TAG, now, in_headers=True)
    found.unread += unread
    return found


def _read_robots_tag(values: list[str], now: datetime, agents: Sequence[str]) -> Reading:
    where = "header Robots-Tag"
    data = _encoded(values)
    notes: list[str] = []
    unread = []
    if len(data) > MAX_ROBOTS_TAG:
        data = _complete_members(data[:MAX_ROBOTS_TAG])
        unread.append(f"{where}: only its first {MAX_ROBOTS_TAG >> 10} KiB are read")
    members, why = _structured(data, "list")
    if members is None:
        note = f"{where} is ignored: it is no structured list ({why})"
        return Reading(notes=[note], unread=unread)
    rules = list(_rules_of(members, where, crawler_names(agents), notes))
    found = read_rules(rules, ROBOTS_TAG, now, in_headers=True)
    found.notes[:0] = first_of(notes)
    found.unread += unread
    return found


def _rules_of(
    members: list[Any], where: str, known: Mapping[str, str], notes: list[str]
) -> Iterator[Rule]:
    """Yield the rules of the members of a Robots-Tag: product tokens with parameters."""
    for item, parameters in members:
        if not isinstance(item, (str, _structured_fields().Token)):
            notes.append(f"{where}: a member is no product token: ignored")
            continue
        token = str(item)
        if token.lower() in RULES:
            notes.append(f"{where}: {token} is read as a crawler's name: for all, write *;{token}")
        crawler = "" if token == "*" else known.get(token.lower(), shortened(token))
        for name, value in parameters.items():
            if value is False:
                continue
            with_value = name if value is True else f"{name}:{value}"
            yield Rule(
                where, crawler, shortened(with_value), name, "" if value is True else str(value)
            )


def _complete_members(data: bytes) -> bytes:
    """Return a structured list that is cut, up to its last complete member."""
    end, is_string, is_escaped = 0, False, False
    for position, byte in enumerate(data):
        if is_escaped:
            is_escaped = False
        elif is_string and byte == ord("\\"):
            is_escaped = True
        elif byte == ord('"'):
            is_string = not is_string
        elif byte == ord(",") and not is_string:
            end = position
    return data[:end]


def _read_content_usage(values: list[str], _now: datetime, _agents: Sequence[str]) -> Reading:
    where = "header Content-Usage"
    data = _encoded(values)
    if len(data) > MAX_HEADER:
        return Reading(unread=[f"{where} is too large"])
    members, why = _structured(data, "dictionary")
    if members is None:
        note = f"{where} is no structured dictionary ({why}): all preferences are unknown"
        return Reading(notes=[note])
    found = Reading()
    others = []
    for key, (value, _) in members.items():
        use = CONTENT_USAGES.get(key)
        if use is None:
            others.append(f"{where}: {quoted(key)} is about none of these uses")
            continue
        is_token = isinstance(value, _structured_fields().Token)
        stated = USAGE_VALUES.get(str(value)) if is_token else None
        if stated is None:
            found.notes.append(f"{where}: {key} must be y or n: this preference is unknown")
        else:
            found.statements.append(Statement(CONTENT_USAGE, where, f"{key}={value}", use, stated))
    found.notes += first_of(others)
    return found


def _encoded(values: list[str]) -> bytes:
    """Return the lines of a structured field as one (RFC 9651, section 4.2)."""
    # Beyond ASCII nothing is valid there, whatever its bytes are.
    return ", ".join(values).encode("utf-8", "surrogatepass")


def _structured(data: bytes, kind: str) -> tuple[Any, str]:
    """Return the value of a structured field, or None and what is wrong with it."""
    fields = _structured_fields()
    try:
        return fields.parse(data, tltype=kind), ""
    except fields.StructuredFieldError as error:
        return None, shortened(str(error))


def _structured_fields() -> ModuleType:
    """Return the library for structured fields.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import http_sf  # noqa: PLC0415 - few sites have such headers
    except ImportError as error:
        raise missing("the header Robots-Tag or Content-Usage", "signals") from error
    return http_sf


def _read_content_signal(values: list[str], _now: datetime, _agents: Sequence[str]) -> Reading:
    note = (
        f"header Content-Signal: {quoted(values[0])} is ignored: Content-Signal is a line of "
        "robots.txt, not a header"
    )
    return Reading(notes=[note])


def _read_link(values: list[str], _now: datetime, _agents: Sequence[str]) -> Reading:
    where = "header Link"
    found = Reading()
    notes = []
    kept, found.unread = _limited(where, values)
    for link in (link for value in kept for link in links_in(value)):
        if "license" not in link.relations:
            continue
        if "anchor" in link.parameters:
            notes.append(f"{where}: {quoted(link.target)} is the license of something else")
        elif url := usable_url(link.target):
            is_rsl = link.parameters.get("type", "").strip().lower() == RSL_TYPE
            found.licenses.append(License(url, where, is_rsl))
        else:
            notes.append(f"{where}: the license is no URL: {quoted(link.target)}")
    found.licenses = list(dict.fromkeys(found.licenses))
    found.notes = first_of(notes)
    return found


_READERS: Mapping[str, Callable[[list[str], datetime, Sequence[str]], Reading]] = {
    "x-robots-tag": _read_x_robots_tag,
    "robots-tag": _read_robots_tag,
    "content-usage": _read_content_usage,
    "content-signal": _read_content_signal,
    "link": _read_link,
}

#: The headers that are read, in lower case.
NAMES = frozenset(_READERS) | {"tdm-reservation", "tdm-policy"}
