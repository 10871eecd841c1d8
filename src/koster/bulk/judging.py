"""Requests judged by the versions of a robots.txt that their crawlers may have held.

A request is a violation only if every version that its crawler may have held at that moment
disallows it. The versions it may have held are:

* those in force at its last fetch of /robots.txt, while that answer is fresh: the caching period,
  24 hours by default (RFC 9309 §2.4). 304 confirms, 4xx except 429 allows everything (§2.3.1.3);
* if the server answered its later fetches with 5xx or 429, the version of the last good answer, for
  up to 30 days (§2.3.1.4), or any in force during the caching period;
* else any version in force during the caching period, and everything if the server answered
  anyone's request for /robots.txt with 4xx in that time.

`TOLERANCE` is added at both ends: servers log in whole seconds, some when a request ends, clocks
differ, and a crawler has requests under way while it fetches the file.

`judge` and `Judge` do this on Arrow tables. ``judge.sql`` does it in DuckDB: ``robots_judge``, see
`koster.bulk.duckdb`, and `koster.bulk.spark` in Spark. Requests have the columns

| column | type | meaning |
|---|---|---|
| ``time`` | timestamp | when it was made |
| ``crawler`` | text | product token of the crawler, or its User-Agent header |
| ``url`` | text or bytes | absolute URL, or path with query |
| ``status`` | integer | HTTP status of the response |
| ``client`` | text, optional | who shares a copy of the file with the crawler, such as an address |
| ``host`` | text, optional | the site; each has its own copies |

and versions ``since`` (timestamp: in force from then on; null: from the beginning), ``body`` (text
or bytes; null: there was no robots.txt) and, optionally, ``label``.
"""

from __future__ import annotations

import enum
from array import array
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ..crawlers import Crawler, Obeys, Purpose, agent_for, named
from ..dialects import RFC9309
from ..freshness import MAX_UNREACHABLE
from ..model import Reason
from ..robots import parse, rules_for_data
from . import kernel
from ._arrow import np, pa, pc
from ._columns import to_large_binary

if TYPE_CHECKING:
    from typing import TypeAlias

    from ..dialects import Dialect

    #: NumPy's arrays.
    Numbers: TypeAlias = Any

__all__ = [
    "GRACE", "JUDGED", "TOLERANCE", "Judge", "Verdict", "is_exempt", "judge",
]  # fmt: skip

#: How long a copy of robots.txt may be used (RFC 9309 §2.4).
GRACE = timedelta(hours=24)

#: How far apart the moments of a fetch, of a change and of a request may be logged.
TOLERANCE = timedelta(seconds=10)

#: How far back fetches are looked up for requests that are logged late, such as long downloads.
_HORIZON = timedelta(hours=1)

#: The maximum number of clients whose fetches are remembered; the oldest are forgotten, after which
#: any version of the caching period counts for them.
_MAX_CLIENTS = 100_000

_MICROSECOND = timedelta(microseconds=1)

#: The moment of what never happened, and the start of the first version.
_NEVER = -(2**63)

#: The start of the first version in SQL, whose smallest integer cannot be subtracted from.
BEGINNING = -(2**62)

#: Requests for the file itself; with "//" before a host, as in URLs.
ROBOTS_TXT = r"(?s)^(?:[A-Za-z][A-Za-z0-9+.-]*:)?(?://[^/?#]*)?/robots\.txt(?:[?#].*)?$"


class Verdict(enum.StrEnum):
    """What a request was."""

    ALLOWED = "allowed"
    """The version in force allows it."""
    VIOLATION = "violation"
    """All versions that the crawler may have held disallow it."""
    WITHIN_CACHING_PERIOD = "within_caching_period"
    """The version in force disallows it, but the crawler may have held one that does not."""
    EXEMPT = "exempt"
    """No group of the file applies to the crawler, or it fetches for a person and its operator says
    that it may ignore the file."""
    ROBOTS_TXT = "robots_txt"
    """The file itself."""
    NOT_JUDGED = "not_judged"
    """It is older than the first version."""


VERDICTS = tuple(Verdict)
(*(_ALLOWED, _VIOLATION, _WITHIN, _EXEMPT, _ROBOTS_TXT, _NOT_JUDGED),) = range(len(VERDICTS))

#: The result of `judge`. ``disallowed``: by the version in force, as written. ``version``: the
#: label of the version with ``line`` and ``rule``, which disallow the request; null if none does.
JUDGED = pa.struct([
    pa.field("verdict", pa.string()),
    pa.field("disallowed", pa.bool_()),
    pa.field("version", pa.string()),
    pa.field("line", pa.int32()),
    pa.field("rule", pa.string()),
])  # fmt: skip

#: What a version says about a request.
ALLOWED, DISALLOWED, UNBOUND = range(3)

#: The result of `answers`. ``code``: ALLOWED, DISALLOWED or UNBOUND (no group applies, or the
#: crawler is exempt). ``disallowed``: as written.
ANSWERED = pa.struct([
    pa.field("code", pa.int32()),
    pa.field("disallowed", pa.bool_()),
    pa.field("line", pa.int32()),
    pa.field("rule", pa.string()),
])  # fmt: skip

#: What a status of /robots.txt means: nothing, a file, no file (all is allowed), unreachable.
_NOTHING, _FILE, _NO_FILE, _UNREACHABLE = range(4)


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
        urls: Absolute URLs or paths, a column.
        crawlers: Product tokens, a column; best a dictionary.
        dialect: How to read the files.

    The result for null is null.
    """
    bodies, urls, crawlers = map(_whole, (bodies, urls, crawlers))
    if not any(each.null_count for each in (bodies, urls, crawlers)):
        return _answer(bodies, urls, crawlers, dialect)
    masks = [_to_numpy(each.is_valid()) for each in (bodies, urls, crawlers)]
    are_valid = np.logical_and.reduce(masks)
    rows = pa.array(np.flatnonzero(are_valid))
    found = _answer(bodies.take(rows), urls.take(rows), crawlers.take(rows), dialect)
    return found.take(pa.array(np.cumsum(are_valid) - 1, mask=~are_valid))


def _whole(column: Any) -> Any:
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column.cast(pa.string()) if pa.types.is_null(column.type) else column


def _answer(bodies: Any, urls: Any, crawlers: Any, dialect: Dialect) -> pa.StructArray:
    decided = kernel.decide(bodies, urls, crawlers, dialect)
    if isinstance(decided, pa.ChunkedArray):
        decided = decided.combine_chunks()
    disallowed = pc.invert(decided.field("allowed"))
    no_group = pc.equal(decided.field("reason"), Reason.NO_GROUP.value)
    codes = np.where(_to_numpy(no_group), UNBOUND, _to_numpy(disallowed).astype(np.int32))
    _mark_unbound(codes, _encode(bodies), _encode(crawlers), dialect)
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


def _encode(column: Any) -> Any:
    """Return a column as a dictionary."""
    column = _whole(column)
    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()


def _to_numpy(column: Any) -> Numbers:
    return column.to_numpy(zero_copy_only=False)


def _mark_unbound(codes: Numbers, bodies: Any, crawlers: Any, dialect: Dialect) -> None:
    """Set the codes of crawlers that are exempt or ignore ``*``, and of files without groups."""
    for body, raw in enumerate(bodies.dictionary.to_pylist()):
        if not parse(raw or b"", dialect).groups:
            codes[(_to_numpy(bodies.indices) == body) & (codes == UNBOUND)] = ALLOWED
    for number, name in enumerate(crawlers.dictionary.to_pylist()):
        if isinstance(name, bytes):
            name = name.decode("utf-8", "replace")  # noqa: PLW2901 - the same name
        record = None if name is None else _record_of(name)
        if record is None or (not is_exempt(record) and record.obeys is not Obeys.OWN_GROUPS):
            continue
        rows = np.flatnonzero(_to_numpy(crawlers.indices) == number)
        if is_exempt(record):
            codes[rows] = UNBOUND
            continue
        bodies_of = _to_numpy(bodies.indices)[rows]
        for body in np.unique(bodies_of):
            robots = parse(bodies.dictionary[int(body)].as_py() or b"", dialect)
            if not rules_for_data(robots, agent_for(name)).is_named:
                codes[rows[bodies_of == body]] = UNBOUND


def microseconds(column: Any) -> Numbers:
    """Return a column of timestamps, or of integers, as microseconds since 1970; naive ones as UTC.

    Raises:
        TypeError: it has another type.
    """
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False).cast(pa.int64())
    elif not pa.types.is_integer(column.type):
        raise TypeError(f"time must be a column of timestamps, not of {column.type}")
    return _to_numpy(column.cast(pa.int64()).fill_null(_NEVER))


@dataclass(frozen=True, slots=True)
class _Versions:
    """Versions in order: when they begin, the number of their body, the bodies, and the labels."""

    since: Numbers
    numbers: Numbers
    bodies: pa.Array
    labels: pa.Array

    @classmethod
    def of(cls, table: Any) -> _Versions:
        since = microseconds(table["since"])
        order = pa.array(np.argsort(since, kind="stable"))
        bodies = to_large_binary(table["body"]).fill_null(b"").take(order).dictionary_encode()
        if "label" in table.schema.names:
            labels = table["label"].cast(pa.string())
        else:
            labels = pa.array([str(number) for number in range(1, len(table) + 1)])
        if isinstance(labels, pa.ChunkedArray):
            labels = labels.combine_chunks()
        return cls(
            since[_to_numpy(order)],
            _to_numpy(bodies.indices),
            bodies.dictionary,
            labels.take(order),
        )

    def at(self, moments: Numbers) -> Numbers:
        """Return the number of the version in force at moments; -1 before the first."""
        return np.searchsorted(self.since, moments, side="right") - 1


class _Fetches:
    """The moments of one kind of fetch, by client, for those within `_HORIZON` of the last one."""

    def __init__(self) -> None:
        self._moments: dict[str, array[int]] = {}

    def last(self, clients: list[str], codes: Numbers, times: Numbers, are: Numbers) -> _Lookup:
        """Return the lookup of the last fetch, with those of a batch, where ``are`` is true.

        ``codes`` are indices into ``clients``.
        """
        known = [
            (code, self._moments[client])
            for code, client in enumerate(clients)
            if client in self._moments
        ]
        owners = [np.full(len(some), code) for code, some in known]
        found = _Lookup(
            np.concatenate([codes[are], *owners]),
            np.concatenate([times[are], *(np.array(some) for _, some in known)]),
        )
        self._add(clients, codes[are], times[are])
        return found

    def _add(self, clients: list[str], codes: Numbers, times: Numbers) -> None:
        for code in np.unique(codes):
            new = np.unique(times[codes == code])
            moments = self._moments.pop(clients[code], None) or array("q")
            merged = np.unique(np.concatenate([np.array(moments, np.int64), new]))
            start = np.searchsorted(merged, merged[-1] - _HORIZON // _MICROSECOND) - 1
            # Popped and set, so that the table is in order of use.
            self._moments[clients[code]] = array("q", merged[max(start, 0) :].tolist())
        while len(self._moments) > _MAX_CLIENTS:
            del self._moments[next(iter(self._moments))]


class _Lookup:
    """Finds the last of some moments of an owner before another moment."""

    def __init__(self, owners: Numbers, moments: Numbers) -> None:
        order = np.lexsort((moments, owners))
        self.owners = owners[order].astype(np.int64)
        self.moments = moments[order].astype(np.int64)
        self._first = int(self.moments.min()) if len(moments) else 0

    def before(self, owners: Numbers, moments: Numbers) -> Numbers:
        """Return the last moments, at or before those given; `_NEVER` where there is none."""
        if not len(self.moments):
            return np.full(len(owners), _NEVER)
        places = np.searchsorted(self._keys(self.owners, self.moments),
                                 self._keys(owners, moments), side="right") - 1  # fmt: skip
        found = self.moments[places]
        is_own = (places >= 0) & (self.owners[places] == owners) & (found <= moments)
        return np.where(is_own, found, _NEVER)

    def _keys(self, owners: Numbers, moments: Numbers) -> Numbers:
        """Return owner and moment as one integer; 2 ** 47 microseconds are four years."""
        return (owners.astype(np.int64) << 48) + np.clip(moments - self._first + 1, 0, 2**48 - 1)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judgement of a batch, as arrays with an item for each request.

    ``verdicts`` are indices into `VERDICTS`; ``disallowed`` is by the version in force, as written;
    ``versions`` are the numbers of the version that ``lines`` and ``rules`` are of; lines are 0
    where the request is not disallowed, and rules null. ``first`` and ``last`` are the range of
    versions that may have been held; -1 is before the first.
    """

    verdicts: Numbers
    disallowed: Numbers
    versions: Numbers
    lines: Numbers
    rules: pa.Array
    first: Numbers
    last: Numbers


class Judge:
    """Judges requests in batches, which follow one another in time."""

    def __init__(self, versions: Any, grace: timedelta = GRACE, dialect: Dialect = RFC9309) -> None:
        self._versions = _Versions.of(versions)
        self._grace = grace // _MICROSECOND
        self._dialect = dialect
        self._definite, self._missing, self._failed = _Fetches(), _Fetches(), _Fetches()
        self._missing_on_host = _Fetches()

    def replace_versions(self, versions: Any) -> None:
        """Judge by other versions from now on; the fetches so far stay known."""
        self._versions = _Versions.of(versions)

    @property
    def labels(self) -> list[str]:
        """The labels of the versions, in order."""
        found: list[str] = self._versions.labels.to_pylist()
        return found

    def judge(self, requests: Any) -> Judgement:
        """Judge a batch: a table or record batch of requests."""
        times = microseconds(requests["time"])
        urls = to_large_binary(requests["url"]).fill_null(b"")
        crawlers = _encode(requests["crawler"])
        are_robots = _to_numpy(pc.match_substring_regex(urls, ROBOTS_TXT).fill_null(False))
        held = self._held(requests, times, crawlers, are_robots)
        return self._decide(urls, crawlers, times, are_robots, held)

    def _held(self, requests: Any, times: Numbers, crawlers: Any, are_robots: Numbers) -> _Held:
        """Return the range of versions that the crawler of each request may have held."""
        hosts = _texts(requests, "host")
        clients = pc.binary_join_element_wise(
            hosts, crawlers.cast(pa.string()).fill_null(""), _texts(requests, "client"), "\x1f"
        ).dictionary_encode()
        names, owners = clients.dictionary.to_pylist(), _to_numpy(clients.indices)
        sites = hosts.dictionary_encode()
        kinds = np.where(are_robots, _kinds(requests["status"]), _NOTHING)
        tolerance = TOLERANCE // _MICROSECOND

        found = (kinds == _FILE) | (kinds == _NO_FILE)
        definite = self._definite.last(names, owners, times, found)
        latest = definite.before(owners, times)
        earlier = definite.before(owners, times - tolerance)
        missing = self._missing.last(names, owners, times, kinds == _NO_FILE).before(owners, times)
        failed = self._failed.last(names, owners, times, kinds == _UNREACHABLE)
        failed = failed.before(owners, times)
        at_site = _to_numpy(sites.indices)
        gone = self._missing_on_host.last(
            sites.dictionary.to_pylist(), at_site, times, kinds == _NO_FILE
        ).before(at_site, times)

        start = times - self._grace
        never = _NEVER
        is_fresh = (latest != never) & (latest >= start)
        limit = times - MAX_UNREACHABLE // _MICROSECOND
        is_retried = ~is_fresh & (latest != never) & (latest >= limit)
        is_retried &= (failed > latest) & (failed >= start)
        is_gone = gone >= start - tolerance
        has_earlier = is_fresh & (earlier != never)
        low = np.where(has_earlier, np.maximum(earlier, start), start)
        low = np.where(is_retried, latest, low) - tolerance
        high: Numbers = np.add(np.where(is_fresh, latest, times), tolerance)
        is_open = np.where(has_earlier, (missing != never) & (missing >= earlier), is_gone)
        is_open |= is_retried & (missing != never) & (missing >= latest)
        return _Held(self._versions.at(low), self._versions.at(high), is_open)

    def _decide(
        self, urls: Any, crawlers: Any, times: Numbers, are_robots: Numbers, held: _Held
    ) -> Judgement:
        numbers = self._versions.numbers
        current = self._versions.at(times)
        is_judged = ~are_robots & (current >= 0)
        rows = np.flatnonzero(is_judged)
        now = self._ask(rows, current[rows], urls, crawlers)
        # The newest version that it may have held; mostly the current one.
        newest = np.where(held.last[rows] < 0, current[rows], held.last[rows])
        other = numbers[newest] != numbers[current[rows]]
        codes, lines = now.codes.copy(), now.lines.copy()
        rules = now.rules
        if other.any():
            then = self._ask(rows[other], newest[other], urls, crawlers)
            codes[other], lines[other] = then.codes, then.lines
            rules = pc.replace_with_mask(rules, pa.array(other), then.rules)
        is_violation = (codes == DISALLOWED) & ~held.is_open[rows] & (held.first[rows] >= 0)
        # Older ones that it may have held, too.
        some = np.flatnonzero(is_violation & (held.first[rows] < newest))
        if len(some):
            is_violation[some] = self._all_disallow(rows[some], held, urls, crawlers)
        is_current = now.disallowed & ~is_violation
        verdicts = np.full(len(times), _NOT_JUDGED)
        verdicts[are_robots] = _ROBOTS_TXT
        verdicts[rows] = np.select(
            [is_violation, codes == UNBOUND, is_current], [_VIOLATION, _EXEMPT, _WITHIN], _ALLOWED
        )
        shown = is_violation & other
        lines = np.where(shown, lines, now.lines)
        rules = pc.if_else(pa.array(shown), rules, now.rules)
        return _spread(len(times), rows, verdicts, now.disallowed, lines, rules,
                       np.where(is_violation, newest, current[rows]), held)  # fmt: skip

    def _all_disallow(self, rows: Numbers, held: _Held, urls: Any, crawlers: Any) -> Numbers:
        """Return whether all versions that may have been held disallow requests."""
        first, last = held.first[rows], held.last[rows]
        verdicts = np.ones(len(rows), bool)
        # Each body of a range once; ranges are mostly the same.
        ranges, which = np.unique(np.stack([first, last]), axis=1, return_inverse=True)
        which = which.reshape(-1)
        for number in range(ranges.shape[1]):
            low, high = map(int, ranges[:, number])
            numbers = self._versions.numbers[low : high + 1].tolist()
            for version in {number: low + place for place, number in enumerate(numbers)}.values():
                asked = np.flatnonzero((which == number) & verdicts)
                if not len(asked):
                    break
                versions = np.full(len(asked), version)
                verdicts[asked] = (
                    self._ask(rows[asked], versions, urls, crawlers).codes == DISALLOWED
                )
        return verdicts

    def _ask(self, rows: Numbers, versions: Numbers, urls: Any, crawlers: Any) -> _Answers:
        """Ask versions about requests."""
        indices = pa.array(rows)
        bodies = pa.DictionaryArray.from_arrays(
            pa.array(self._versions.numbers[versions], pa.int32()), self._versions.bodies
        )
        names = pa.DictionaryArray.from_arrays(crawlers.indices.take(indices), crawlers.dictionary)
        found = answers(bodies, urls.take(indices), names, self._dialect)
        return _Answers(
            _to_numpy(found.field("code")).copy(),
            _to_numpy(found.field("disallowed")),
            _to_numpy(found.field("line").fill_null(0)),
            found.field("rule"),
        )


@dataclass(frozen=True, slots=True)
class _Held:
    """The range of versions that may have been held; -1 is unknown.

    ``is_open``: the crawler may also have found no file, so that all is allowed.
    """

    first: Numbers
    last: Numbers
    is_open: Numbers


@dataclass(frozen=True, slots=True)
class _Answers:
    codes: Numbers
    disallowed: Numbers
    lines: Numbers
    rules: pa.Array


def _spread(
    size: int, rows: Numbers, verdicts: Numbers, disallowed: Numbers, lines: Numbers,
    rules: pa.Array, versions: Numbers, held: _Held,
) -> Judgement:  # fmt: skip
    """Return the judgement of all rows from that of some."""
    is_disallowed = np.zeros(size, bool)
    is_disallowed[rows] = disallowed
    is_named = disallowed | (verdicts[rows] == _VIOLATION)
    all_lines = np.zeros(size, np.int32)
    all_lines[rows] = np.where(is_named, lines, 0)
    all_versions = np.full(size, -1)
    all_versions[rows] = versions
    places = np.full(size, -1)
    places[rows] = np.arange(len(rows))
    all_rules = rules.take(pa.array(places, mask=(places < 0) | (all_lines == 0)))
    return Judgement(
        verdicts, is_disallowed, all_versions, all_lines, all_rules, held.first, held.last
    )


def _texts(requests: Any, name: str) -> Any:
    """Return an optional column of text, without nulls."""
    if name not in requests.schema.names:
        return pa.array([""] * len(requests), pa.string())
    column = requests[name]
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column.cast(pa.string()).fill_null("")


def _kinds(statuses: Any) -> Numbers:
    """Return what statuses of /robots.txt mean (RFC 9309 §2.3.1; 429 is unreachable)."""
    if isinstance(statuses, pa.ChunkedArray):
        statuses = statuses.combine_chunks()
    status = _to_numpy(statuses.cast(pa.int32()).fill_null(0))
    return np.select(
        [
            (status == 429) | (status >= 500),
            status >= 400,
            ((status >= 200) & (status < 300)) | (status == 304),
        ],
        [_UNREACHABLE, _NO_FILE, _FILE],
        _NOTHING,
    )


def judge(
    requests: Any,
    versions: Any,
    grace: timedelta = GRACE,
    dialect: Dialect = RFC9309,
) -> pa.StructArray:
    """Judge requests of crawlers by the versions of a robots.txt: see the module.

    Args:
        requests: A table (Arrow) with the columns ``time``, ``crawler``, ``url`` and ``status``,
            and perhaps ``client`` and ``host``; in any order.
        versions: A table with the columns ``since`` and ``body``, and perhaps ``label``.
        grace: How long a copy may be used.
        dialect: How to read the files.

    Returns:
        `JUDGED`, in the order of the requests.

    Raises:
        KeyError: a column is missing.
        TypeError: a column has the wrong type.
        ValueError: there is no version.

    >>> from datetime import UTC, datetime
    >>> times = [datetime(2026, 3, 1, 12, tzinfo=UTC), datetime(2026, 3, 1, 13, tzinfo=UTC)]
    >>> requests = pa.table({
    ...     "time": times, "crawler": ["GPTBot"] * 2, "url": ["/robots.txt", "/private/a"],
    ...     "status": [200, 200],
    ... })
    >>> versions = pa.table({"since": [None], "body": ["User-agent: *\\nDisallow: /private/"]},
    ...     schema=pa.schema({"since": pa.timestamp("us", "UTC"), "body": pa.string()}))
    >>> [each["verdict"] for each in judge(requests, versions).to_pylist()]
    ['robots_txt', 'violation']
    """
    if not len(versions):
        raise ValueError("judge needs at least one version of the robots.txt")
    if requests["time"].null_count:
        raise ValueError("time must not be null")
    requests = pa.table(requests)
    order = np.argsort(microseconds(requests["time"]), kind="stable")
    judged = Judge(versions, grace, dialect)
    found = to_column(judged.judge(requests.take(pa.array(order))), judged.labels)
    back = np.empty(len(order), np.int64)
    back[order] = np.arange(len(order))
    return found.take(pa.array(back))


@cache
def judge_queries() -> dict[str, str]:
    """Return the parts of ``judge.sql`` by name: HELD, PAIRS and VERDICTS."""
    text = files(__package__).joinpath("judge.sql").read_text("utf-8")
    parts = (part for part in text.split("\n\n") if "AS (" in part)
    queries = ("\n".join(line for line in part.split("\n") if line[:2] != "--") for part in parts)
    return dict(zip(("HELD", "PAIRS", "VERDICTS"), map(str.strip, queries), strict=True))


def to_column(judgement: Judgement, labels: list[str]) -> pa.StructArray:
    """Return a judgement as a column: `JUDGED`."""
    is_empty = judgement.lines == 0
    return pa.StructArray.from_arrays(
        [
            pa.array([each.value for each in VERDICTS]).take(pa.array(judgement.verdicts)),
            pa.array(judgement.disallowed),
            pa.array(labels, pa.string()).take(pa.array(judgement.versions, mask=is_empty)),
            pa.array(judgement.lines, pa.int32(), mask=is_empty),
            judgement.rules,
        ],
        fields=list(JUDGED),
    )
