"""Facts about files: the columns of `kernel.facts`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .. import directives
from .._asking import rules_for_data
from .._charsets import MAX_BYTES
from .._contents import is_binary, is_page, wide_charset
from ..analysis import Extent, classify
from ..crawlers import POLICY_TOKENS, Purpose
from ..dialects import Dialect
from ..model import DIRECTIVE_OF, RULES, Directive, text_of
from ..robots import parse
from ._arrow import pa
from ._loops import batches as _batches

if TYPE_CHECKING:
    from ._parts import Parts

#: The maximum length of an unknown directive or a value in the facts; longer ones are cut.
MAX_CHARACTERS = 2_000

_PLACE = (pa.field("group_number", pa.int32()), pa.field("line", pa.int32()))


def _list_of(*fields: pa.Field) -> Any:
    return pa.list_(pa.struct(fields))


_COUNTED = pa.field("count", pa.int32())

#: The result of `facts`. ``group_number`` is that of a line's group, from 1; null before the first
#: group. A delay or preference applies to the agents above it in its group. ``rules``: Allow and
#: Disallow lines, also without a value. ``directives``: the count of each known directive;
#: ``unknown``: of each other one, in lower case. ``malformed``: lines that are neither a directive
#: nor a comment. ``findings``: names of checks of ``koster lint``. ``training_preference``:
#: what the group of the policy token for AI training states: ``yes``, ``no``, ``partly``, or
#: ``undecided`` if that is not proved; null if no group names it.
FACTS = pa.struct([
    pa.field("bytes", pa.int64()),
    pa.field("lines", pa.int32()),
    pa.field("groups", pa.int32()),
    pa.field("rules", pa.int32()),
    pa.field("malformed", pa.int32()),
    pa.field("agents", _list_of(pa.field("name", pa.string()), *_PLACE)),
    pa.field("sitemaps", pa.list_(pa.string())),
    pa.field("delays", _list_of(pa.field("seconds", pa.float64()), *_PLACE)),
    pa.field(
        "preferences",
        _list_of(
            pa.field("directive", pa.string()),
            pa.field("key", pa.string()),
            pa.field("value", pa.string()),
            pa.field("path", pa.string()),
            *_PLACE,
        ),
    ),
    pa.field("directives", _list_of(pa.field("directive", pa.string()), _COUNTED)),
    pa.field("unknown", _list_of(pa.field("key", pa.string()), _COUNTED)),
    pa.field("findings", pa.list_(pa.string())),
    pa.field("training_preference", pa.string()),
])  # fmt: skip

_PREFERENCES = {
    Directive.CONTENT_SIGNAL.code: directives.content_signal,
    Directive.CONTENT_USAGE.code: directives.content_usage,
}
_LONE_RETURN = re.compile(rb"\r(?!\n)")


def facts_of(served: Parts, bodies: Parts, dialect: Dialect) -> pa.Array:
    """Return the facts about distinct bodies: as they were served, and decoded."""
    columns: dict[str, list[Any]] = {field.name: [] for field in FACTS}
    for raw, body in zip(served.to_pylist(), bodies.to_pylist(), strict=True):
        for name, value in _facts(raw, body, dialect).items():
            columns[name].append(value)
    return pa.StructArray.from_arrays(
        [_array(columns[field.name], field.type) for field in FACTS], fields=list(FACTS)
    )


def _array(values: list[Any], type_: Any) -> pa.Array:
    """Return an array of values; lists of tuples become lists of structs."""
    if not pa.types.is_list(type_) or not pa.types.is_struct(type_.value_type):
        return pa.array(values, type_)
    bounds = [0]
    for each in values:
        bounds.append(bounds[-1] + len(each))
    fields = list(type_.value_type)
    flat = [value for each in values for value in each]
    transposed = zip(*flat, strict=True) if flat else ([] for _ in fields)
    children = [pa.array(each, field.type) for each, field in zip(transposed, fields, strict=True)]
    struct = pa.StructArray.from_arrays(children, fields=fields)
    return pa.ListArray.from_arrays(pa.array(bounds, pa.int32()), struct, type=type_)


def _facts(served: bytes, body: bytes, dialect: Dialect) -> dict[str, Any]:
    counts, entries, unknown, groups, orphans, malformed = _batches.survey(body, dialect)
    agents = []
    sitemaps = []
    delays = []
    preferences = []
    for code, value, line, number in entries:
        group = number or None
        if code == Directive.USER_AGENT.code:
            agents.append((_text_of(value), group, line))
        elif code == Directive.SITEMAP.code and value:
            sitemaps.append(_text_of(value))
        elif code == Directive.CRAWL_DELAY.code:
            seconds = directives.delay(value)
            if seconds is not None:
                delays.append((seconds, group, line))
        elif code in _PREFERENCES:
            preferences += [
                (
                    str(each.directive), _truncate(each.key), _truncate(each.value),
                    None if each.pattern is None else _truncate(each.pattern), group, line,
                )
                for each in _PREFERENCES[code](value, line)
            ]  # fmt: skip
    keys = Counter(_text_of(key.strip().removesuffix(b":").strip().lower()) for key in unknown)
    return {
        "bytes": len(served),
        "lines": sum(counts),
        "groups": groups,
        "rules": sum(counts[rule.code] for rule in RULES),
        "malformed": malformed,
        "agents": agents,
        "sitemaps": sitemaps,
        "delays": delays,
        "preferences": preferences,
        "directives": [
            (str(directive), counts[code])
            for code, directive in DIRECTIVE_OF.items()
            if counts[code]
        ],
        "unknown": list(keys.items()),
        "findings": list(_findings(served, groups, orphans)),
        "training_preference": _training_preference(body, dialect),
    }


def _training_preference(body: bytes, dialect: Dialect) -> str | None:
    """Return what a file states with the policy token for AI training."""
    # Nearly no file has one.
    if _TRAINING.encode() not in body.lower():
        return None
    rules = rules_for_data(parse(body, dialect), _TRAINING)
    if not rules.is_named:
        return None
    found = classify(rules)
    return _STATED[found.extent] if found.is_proved else "undecided"


_TRAINING = next(each.token for each in POLICY_TOKENS if each.purpose is Purpose.TRAINING)
_STATED = {Extent.ALL: "no", Extent.SOME: "partly", Extent.NONE: "yes"}


def _text_of(raw: bytes) -> str:
    """Return bytes of a file as text without lone surrogates, which Arrow rejects."""
    return _truncate(text_of(raw[: 4 * MAX_CHARACTERS]))


def _truncate(text: str) -> str:
    return text[:MAX_CHARACTERS].encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _findings(body: bytes, groups: int, orphans: int) -> Iterator[str]:
    """Yield the names of lint checks about the file as a whole."""
    is_html = is_page(body)
    if is_html:
        yield "html"
    if wide_charset(body):
        yield "wide-encoding"
    elif is_binary(body) and not is_html:
        yield "binary"
    if body.startswith(b"\xef\xbb\xbf"):
        yield "byte-order-mark"
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        yield "not-utf-8"
    if _LONE_RETURN.search(body):
        yield "lone-carriage-return"
    if len(body) > MAX_BYTES:
        yield "too-large"
    if orphans:
        yield "rule-before-group"
    if not groups:
        yield "no-groups"
