"""Requests judged by the versions of a robots.txt that their crawlers may have held.

A request is a violation only if every version that its crawler may have held at that moment
disallows it. The versions it may have held are:

* those in force from its last fetch of /robots.txt on, while that answer is fresh: the caching
  period, 24 hours by default (RFC 9309 §2.4). It may have had a later one from elsewhere, so what
  the version in force allows is no violation. 304 confirms, 4xx except 429 allows everything
  (§2.3.1.3), after a redirect the answer is unknown;
* if the server answered its later fetches with 5xx or 429, those from the last good answer on;
  after 30 days everything (§2.3.1.4);
* else any version in force during the caching period, and everything if the server answered the
  request of any crawler for /robots.txt with 404 or 410 in that time.

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
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from importlib.resources import files
from typing import Any

from ..dialects import RFC9309, Dialect
from ..freshness import MAX_UNREACHABLE
from ._arrow import Numbers, np, pa, pc
from ._columns import to_large_binary, to_numpy, unchunked
from ._fetches import NEVER, FetchMoments
from ._rulings import ANSWERED, DISALLOWED, UNBOUND, UNDECIDED, answers, encode, is_exempt

__all__ = [
    "ANSWERED", "GRACE", "JUDGED", "TOLERANCE", "Judge", "Verdict", "answers", "is_exempt", "judge",
]  # fmt: skip

#: How long a copy of robots.txt may be used (RFC 9309 §2.4).
GRACE = timedelta(hours=24)

#: How far apart the moments of a fetch, of a change and of a request may be logged.
TOLERANCE = timedelta(seconds=10)

_MICROSECOND = timedelta(microseconds=1)

#: The start of the first version in SQL, whose smallest integer cannot be subtracted from.
BEGINNING = -(2**62)

#: Requests for the file itself; with "//" before a host, as in URLs.
ROBOTS_TXT = r"(?s)^(?:[A-Za-z][A-Za-z0-9+.-]*:)?(?://[^/?#]*)?/robots(?:\.|%2[Ee])txt(?:[?#].*)?$"


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
_ALLOWED, _VIOLATION, _WITHIN, _EXEMPT, _ROBOTS_TXT, _NOT_JUDGED = range(len(VERDICTS))

#: The result of `judge`. ``disallowed``: by the version in force, as written. ``version``: the
#: label of the version with ``line`` and ``rule``, which disallow the request; null if none does.
JUDGED = pa.struct([
    pa.field("verdict", pa.string()),
    pa.field("disallowed", pa.bool_()),
    pa.field("version", pa.string()),
    pa.field("line", pa.int32()),
    pa.field("rule", pa.string()),
])  # fmt: skip

#: What a status of /robots.txt means: nothing, a file, unreachable, at another address, no file
#: (all is allowed), and no file for anyone.
_NOTHING, _FILE, _UNREACHABLE, _ELSEWHERE, _NO_FILE, _GONE = range(6)


def microseconds(column: Any) -> Numbers:
    """Return a column of timestamps, or of integers, as microseconds since 1970; naive ones as UTC.

    Raises:
        TypeError: it has another type.
    """
    column = unchunked(column)
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False).cast(pa.int64())
    elif not pa.types.is_integer(column.type):
        raise TypeError(f"time must be a column of timestamps, not of {column.type}")
    return to_numpy(column.cast(pa.int64()).fill_null(NEVER))


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
        labels = unchunked(labels)
        return cls(
            since[to_numpy(order)],
            to_numpy(bodies.indices),
            bodies.dictionary,
            labels.take(order),
        )

    def at(self, moments: Numbers) -> Numbers:
        """Return the number of the version in force at moments; -1 before the first."""
        return np.searchsorted(self.since, moments, side="right") - 1


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

    def filter(self, are: Numbers) -> Judgement:
        """Return the judgement of some of the requests."""
        return Judgement(
            self.verdicts[are], self.disallowed[are], self.versions[are], self.lines[are],
            self.rules.filter(pa.array(are)), self.first[are], self.last[are],
        )  # fmt: skip


class Judge:
    """Judges requests in batches, which follow one another in time."""

    def __init__(self, versions: Any, grace: timedelta = GRACE, dialect: Dialect = RFC9309) -> None:
        self._versions = _Versions.of(versions)
        self._grace = grace // _MICROSECOND
        self._dialect = dialect
        self._definite, self._missing, self._failed = FetchMoments(), FetchMoments(), FetchMoments()
        self._missing_on_host, self._elsewhere = FetchMoments(), FetchMoments()

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
        crawlers = encode(_texts(requests, "crawler"))
        are_robots = to_numpy(pc.match_substring_regex(urls, ROBOTS_TXT).fill_null(False))
        held = self._held(requests, times, crawlers, are_robots)
        return self._decide(urls, crawlers, times, are_robots, held)

    def _held(self, requests: Any, times: Numbers, crawlers: Any, are_robots: Numbers) -> _Held:
        """Return the range of versions that the crawler of each request may have held."""
        hosts = _texts(requests, "host")
        clients = pc.binary_join_element_wise(
            hosts, crawlers.cast(pa.string()).fill_null(""), _texts(requests, "client"), "\x1f"
        ).dictionary_encode()
        names, owners = clients.dictionary.to_pylist(), to_numpy(clients.indices)
        sites = hosts.dictionary_encode()
        kinds = np.where(are_robots, _kinds(requests["status"]), _NOTHING)
        tolerance = TOLERANCE // _MICROSECOND

        found = (kinds == _FILE) | (kinds >= _NO_FILE)
        definite = self._definite.last(names, owners, times, found)
        latest = definite.before(owners, times)
        earlier = definite.before(owners, times - tolerance)
        missing = self._missing.last(names, owners, times, kinds >= _NO_FILE).before(owners, times)
        failed = self._failed.last(names, owners, times, kinds == _UNREACHABLE)
        failed = failed.before(owners, times)
        elsewhere = self._elsewhere.last(names, owners, times, kinds == _ELSEWHERE)
        elsewhere = elsewhere.before(owners, times)
        at_site = to_numpy(sites.indices)
        gone = self._missing_on_host.last(
            sites.dictionary.to_pylist(), at_site, times, kinds == _GONE
        ).before(at_site, times)

        start = times - self._grace
        never = NEVER
        # After a redirect it has what another address answered.
        is_known = (latest != never) & (elsewhere <= latest)
        is_fresh = is_known & (latest >= start)
        limit = times - MAX_UNREACHABLE // _MICROSECOND
        is_failing = ~is_fresh & is_known & (failed > latest) & (failed >= start)
        is_retried = is_failing & (latest >= limit)
        is_gone = gone >= start - tolerance
        has_earlier = is_fresh & (earlier != never)
        low = np.where(has_earlier, np.maximum(earlier, start), start)
        low = np.where(is_retried, latest, low) - tolerance
        high = times + tolerance
        is_open = np.where(has_earlier, (missing != never) & (missing >= earlier), is_gone)
        is_open |= is_failing & (latest < limit)
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
            [is_violation, codes == UNBOUND, codes == UNDECIDED, is_current],
            [_VIOLATION, _EXEMPT, _NOT_JUDGED, _WITHIN],
            _ALLOWED,
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
            to_numpy(found.field("code")).copy(),
            to_numpy(found.field("disallowed")),
            to_numpy(found.field("line").fill_null(0)),
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
    return unchunked(requests[name]).cast(pa.string()).fill_null("")


def _kinds(statuses: Any) -> Numbers:
    """Return what statuses of /robots.txt mean (RFC 9309 §2.3.1; 429 is unreachable)."""
    status = to_numpy(unchunked(statuses).cast(pa.int32()).fill_null(0))
    return np.select(
        [
            (status == 429) | (status >= 500),
            (status == 404) | (status == 410),
            # The client hung up.
            (status == 444) | (status == 460) | (status == 499),
            status >= 400,
            ((status >= 200) & (status < 300)) | (status == 304),
            (status >= 300),
        ],
        [_UNREACHABLE, _GONE, _NOTHING, _NO_FILE, _FILE, _ELSEWHERE],
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
