"""What robots.txt files say about requests of crawlers, and whether they are bound by it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from .._asking import rules_for_data
from ..crawlers import Crawler, Obeys, Purpose, agent_for, named
from ..decisions import Reason
from ..dialects import RFC9309, Dialect
from ..robots import parse
from . import kernel
from ._arrow import Numbers, np, pa, pc
from ._columns import to_numpy, unchunked

#: What a version says about a request.
ALLOWED, DISALLOWED, UNBOUND, UNDECIDED = range(4)

#: The result of `answers`. ``code``: ALLOWED, DISALLOWED, UNBOUND (no group applies, or the
#: crawler is exempt) or UNDECIDED (the URL is too long). ``disallowed``: as written.
ANSWERED = pa.struct([
    pa.field("code", pa.int32()),
    pa.field("disallowed", pa.bool_()),
    pa.field("line", pa.int32()),
    pa.field("rule", pa.string()),
])  # fmt: skip


def is_exempt(crawler: Crawler) -> bool:
    """Return whether a crawler fetches for a person, and its operator says it may ignore the file.

    Such fetchers are not crawlers in the sense of RFC 9309 §1. Those whose operators promise to
    obey, such as Claude-User, are not exempt.
    """
    return crawler.purpose in _FOR_PEOPLE and crawler.obeys in (Obeys.MAY_IGNORE, Obeys.NOTHING)


_FOR_PEOPLE = (Purpose.USER_FETCH, Purpose.PREVIEW, Purpose.TOOL)


@lru_cache(maxsize=4096)
def _record_of(name: str) -> Crawler | None:
    return named(name.partition("/")[0].strip())


def answers(bodies: Any, urls: Any, crawlers: Any, dialect: Dialect = RFC9309) -> pa.StructArray:
    """Return what robots.txt files say about requests by crawlers: `ANSWERED`.

    Args:
        bodies: Robots.txt files, a column; best a dictionary.
        urls: Absolute URLs or paths, a column. Two slashes at the start are a path, as in requests.
        crawlers: Product tokens, a column; best a dictionary.
        dialect: How to read the files.

    The result for null is null.
    """
    bodies, urls, crawlers = map(_whole, (bodies, urls, crawlers))
    if not any(each.null_count for each in (bodies, urls, crawlers)):
        return _answer(bodies, urls, crawlers, dialect)
    masks = [to_numpy(each.is_valid()) for each in (bodies, urls, crawlers)]
    are_valid = np.logical_and.reduce(masks)
    rows = pa.array(np.flatnonzero(are_valid))
    found = _answer(bodies.take(rows), urls.take(rows), crawlers.take(rows), dialect)
    return found.take(pa.array(np.cumsum(are_valid) - 1, mask=~are_valid))


def _whole(column: Any) -> Any:
    column = unchunked(column)
    return column.cast(pa.string()) if pa.types.is_null(column.type) else column


def _answer(bodies: Any, urls: Any, crawlers: Any, dialect: Dialect) -> pa.StructArray:
    decided = unchunked(kernel.decide(bodies, _as_targets(urls), crawlers, dialect))
    disallowed = pc.invert(decided.field("allowed"))
    no_group = pc.equal(decided.field("reason"), Reason.NO_GROUP.value)
    codes = np.where(to_numpy(no_group), UNBOUND, to_numpy(disallowed).astype(np.int32))
    too_long = to_numpy(pc.equal(decided.field("reason"), Reason.URL_TOO_LONG.value))
    codes = np.where(too_long, UNDECIDED, codes)
    _mark_unbound(codes, encode(bodies), encode(crawlers), dialect)
    nothing = pa.scalar(None, pa.string())
    rules = pc.binary_join_element_wise("Disallow", decided.field("pattern"), ": ")
    return pa.StructArray.from_arrays(
        [
            pa.array(codes, pa.int32()),
            disallowed,
            pc.if_else(disallowed, decided.field("line"), pa.scalar(None, pa.int32())),
            pc.if_else(disallowed, rules, nothing),
        ],
        fields=list(ANSWERED),
    )


def _as_targets(urls: Any) -> Any:
    """Return URLs for decisions, where two slashes come before a host."""
    is_double = pc.starts_with(urls, "//")
    if not pc.any(is_double).as_py():
        return urls
    prefixed = pc.replace_substring_regex(urls, "^//", "http://localhost//")
    return pc.if_else(is_double, prefixed, urls)


def encode(column: Any) -> Any:
    """Return a column as a dictionary."""
    column = _whole(column)
    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()


def _mark_unbound(codes: Numbers, bodies: Any, crawlers: Any, dialect: Dialect) -> None:
    """Set the codes of crawlers that are exempt or ignore ``*``, and of files without groups."""
    numbers = to_numpy(bodies.indices)
    for body in np.unique(numbers[codes == UNBOUND]):
        if not parse(bodies.dictionary[int(body)].as_py() or b"", dialect).groups:
            codes[(numbers == body) & (codes == UNBOUND)] = ALLOWED
    for number, name in enumerate(crawlers.dictionary.to_pylist()):
        if isinstance(name, bytes):
            name = name.decode("utf-8", "replace")  # noqa: PLW2901 - the same name
        record = None if name is None else _record_of(name)
        if record is None or (not is_exempt(record) and record.obeys is not Obeys.OWN_GROUPS):
            continue
        rows = np.flatnonzero(to_numpy(crawlers.indices) == number)
        if is_exempt(record):
            codes[rows] = UNBOUND
            continue
        bodies_of = numbers[rows]
        for body in np.unique(bodies_of):
            robots = parse(bodies.dictionary[int(body)].as_py() or b"", dialect)
            if not rules_for_data(robots, agent_for(name)).is_named:
                codes[rows[bodies_of == body]] = UNBOUND
