"""What the TDM Reservation Protocol states: in the file of a site, in headers and in pages.

https://www.w3.org/community/reports/tdmrep/CG-FINAL-tdmrep-20240510/
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .._contents import is_page
from .._json import parse_json
from .._wording import count_noun
from ._grammars import TDMREP
from ._limits import MAX_DOCUMENT
from ._model import License, Reading, Stated, Statement, Use
from ._notes import first_of, joined_url, quoted, shortened, usable_url
from ._paths import matched_location
from ._words import RESERVATIONS

#: The path of the file of a site.
TDMREP_PATH = "/.well-known/tdmrep.json"
#: Rules of a file that are read.
_MAX_RULES = 5_000
_RESERVATION, _POLICY = "tdm-reservation", "tdm-policy"


def read_tdm(
    reservations: Sequence[tuple[str, str]], policies: Sequence[tuple[str, str]]
) -> Reading:
    """Return what the properties in the headers or the tags of one page state.

    Args:
        reservations: The values of tdm-reservation, each after its place.
        policies: Those of tdm-policy.
    """
    found = Reading()
    notes = []
    stated: dict[str, str] = {}
    for where, value in reservations:
        if value.strip() in RESERVATIONS:
            stated.setdefault(value.strip(), where)
        else:
            notes.append(f"{where} must be 0 or 1, not {quoted(value)}: nothing is stated")
    found.notes += first_of(notes)
    for value, where in stated.items():
        # Which of two counts is not specified.
        is_clear = len(stated) == 1
        meaning = RESERVATIONS[value] if is_clear else Stated.UNDECIDED
        text = f"{_RESERVATION}: {value}"
        found.statements.append(Statement(TDMREP, where, text, Use.TDM, meaning))
    for where, url in policies:
        found += _policy(where, url, is_reserved="0" not in stated)
    return found


def _policy(where: str, url: str, *, is_reserved: bool) -> Reading:
    """Return a policy: without a reservation it is not to be read."""
    if not usable_url(url):
        return Reading(notes=[f"{where}: {_POLICY} is no URL: {quoted(url)}"])
    if not is_reserved:
        return Reading(notes=[f"{where}: {_POLICY} is ignored: nothing is reserved"])
    return Reading(licenses=[License(usable_url(url), where)])


def read_tdmrep(body: bytes, url: str) -> Reading:
    """Return what a site's ``/.well-known/tdmrep.json`` states about the page with a URL."""
    try:
        rules, notes = _rules(body)
    except ValueError as error:
        if is_page(body):
            # As if there were none: many sites answer everything with a page.
            return Reading(notes=[f"{TDMREP_PATH} is an HTML page, not JSON"])
        why = f"{TDMREP_PATH} cannot be read: {error}"
        return Reading([_undecided(TDMREP_PATH, "cannot be read")], unread=[why])
    found = _first_match(rules[:_MAX_RULES], url, notes)
    if found is None and len(rules) > _MAX_RULES:
        what = f"has more than {count_noun(_MAX_RULES, 'rule')}"
        note = f"{TDMREP_PATH} {what}: the others are not read"
        found = Reading([_undecided(TDMREP_PATH, what)], [note])
    found = found or Reading()
    found.notes += first_of(notes)
    return found


def _undecided(where: str, text: str) -> Statement:
    return Statement(TDMREP, where, text, Use.TDM, Stated.UNDECIDED)


def _rules(body: bytes) -> tuple[list[Any], list[str]]:
    """Return the rules of a file, and what is wrong with it.

    Raises:
        ValueError: it is not JSON, or not an array.
    """
    if len(body) > MAX_DOCUMENT:
        raise ValueError(f"it is larger than {MAX_DOCUMENT >> 20} MiB")
    repeated: list[str] = []

    def to_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            repeated.append(f"{TDMREP_PATH}: a name is repeated in an object: the last one counts")
        return found

    rules = parse_json(body.decode("utf-8-sig"), to_object=to_object, is_strict=True)
    if not isinstance(rules, list):
        raise ValueError("it must be an array of rules")  # noqa: TRY004 - of the file
    return rules, repeated


def _first_match(rules: list[Any], url: str, notes: list[str]) -> Reading | None:
    """Return what the first rule whose location matches states: the order decides."""
    for number, rule in enumerate(rules):
        where = f"{TDMREP_PATH}#/{number}"
        if not isinstance(rule, dict):
            notes.append(f"{where} is not an object: ignored")
            continue
        location = rule.get("location")
        if not isinstance(location, str) or not location.startswith(("/", "*")):
            what = f", not {quoted(location)}" if isinstance(location, str) else ""
            notes.append(f"{where}/location must be a path{what}: ignored")
        elif matched_location(url, location) >= 0:
            return _stated(rule, where, location, url)
    return None


def _stated(rule: dict[str, Any], where: str, location: str, url: str) -> Reading:
    """Return what a rule states about a page."""
    where_value = f"{where}/{_RESERVATION}"
    if _RESERVATION not in rule:
        return Reading(notes=[f"{where} has no {_RESERVATION}: nothing is stated"])
    value = rule[_RESERVATION]
    if value not in (0, 1, "0", "1"):
        return Reading(notes=[f"{where_value} must be 0 or 1: nothing is stated"])
    text = f"{shortened(location)}: {_RESERVATION} {json.dumps(value)}"
    if isinstance(value, (str, bool)):
        # The protocol calls it a boolean of 0 or 1, and has no word about the types of JSON.
        found = Reading([_undecided(where_value, text)])
        found.notes.append(f"{where_value} must be a number, 0 or 1")
    else:
        meaning = RESERVATIONS[str(int(value))]
        found = Reading([Statement(TDMREP, where_value, text, Use.TDM, meaning)])
    policy = rule.get(_POLICY)
    if policy is not None:
        full = joined_url(url, policy) if isinstance(policy, str) else ""
        found += _policy(f"{where}/{_POLICY}", full, is_reserved=value not in (0, "0"))
    return found
