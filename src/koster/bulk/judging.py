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

Some operators document more, and a crawler is not judged sooner than its operator says
(`koster.crawlers.Crawler`):

* ``change_delay``: changes reach it only after that time, even if it fetched the file. It may have
  held any version in force during that time;
* ``old_copy``: after fetches that failed, whatever the reason (3xx, 4xx, 5xx, hang-ups), it may
  have held the versions from the last good answer on, and everything if no good answer is of that
  age.
  Only failures that are among the requests count.

`TOLERANCE` is added at both ends: servers log in whole seconds, some when a request ends, clocks
differ, and a crawler has requests under way while it fetches the file.

``judge.sql`` does this, in DuckDB for `judge` and `Judge`, which take Arrow tables, and for
``robots_judge``, see `koster.bulk.duckdb`; `koster.bulk.spark` does it in Spark. Requests have the
columns

| column | type | meaning |
|---|---|---|
| ``time`` | timestamp | when it was made |
| ``crawler`` | text | product token of the crawler, or its User-Agent header |
| ``url`` | text or bytes | absolute URL, or path with query |
| ``status`` | integer | HTTP status of the response |
| ``method`` | text, optional | HTTP method, GET by default: only GET fetches /robots.txt |
| ``client`` | text, optional | who shares a copy of the file with the crawler, such as an address |
| ``host`` | text, optional | the site, with or without port; each has its own copies; that of an \
absolute URL comes first; requests without one are of the one site that others name |

and versions ``since`` (timestamp: in force from then on; null: from the beginning), ``body`` (text
or bytes; null: there was no robots.txt) and, optionally, ``label``.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from importlib.resources import files
from typing import Any

from ..crawlers import CHANGE_DELAY, slow_to_change
from ..dialects import RFC9309, Dialect
from ..errors import missing
from ._arrow import Numbers, np, pa, pc
from ._columns import to_large_binary, to_numpy, to_text, unchunked
from ._rulings import ANSWERED, answers, encode, is_exempt

try:
    import duckdb
except ImportError as error:
    raise missing("koster.bulk.judging", "bulk") from error

__all__ = [
    "ANSWERED", "GRACE", "JUDGED", "TOLERANCE", "Judge", "Verdict", "answers", "is_exempt", "judge",
]  # fmt: skip

#: How long a copy of robots.txt may be used (RFC 9309 §2.4).
GRACE = CHANGE_DELAY

#: How far apart the moments of a fetch, of a change and of a request may be logged.
TOLERANCE = timedelta(seconds=10)

#: How much later than others requests may be logged, as servers log when a request ends.
DISORDER = timedelta(minutes=10)

_MICROSECOND = timedelta(microseconds=1)

#: The moment of what never happened, and the start of the first version.
NEVER = -(2**63)

#: The start of the first version in SQL, whose smallest integer cannot be subtracted from.
BEGINNING = -(2**62)

#: Requests for the file itself, and the authority of absolute URLs; without backslashes, which
#: engines of SQL read differently.
ROBOTS_TXT = "(?s)^(?:[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*)?/robots(?:[.]|%2[Ee])txt(?:[?#].*)?$"
_AUTHORITY = "^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#@]*@)?([^/?#@]*)"


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
_VERDICT_NAMES = pa.array([each.value for each in VERDICTS], pa.string())

#: The result of `judge`. ``disallowed``: by the version in force, as written. ``version``: the
#: label of the version with ``line`` and ``rule``, which disallow the request; null if none does.
JUDGED = pa.struct([
    pa.field("verdict", pa.string()),
    pa.field("disallowed", pa.bool_()),
    pa.field("version", pa.string()),
    pa.field("line", pa.int32()),
    pa.field("rule", pa.string()),
])  # fmt: skip


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
    numbers: pa.Array
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
            bodies.indices,
            bodies.dictionary,
            labels.take(order),
        )

    def periods(self) -> Any:
        """Return the table ``numbered`` of ``judge.sql``."""
        starts = np.where(self.since == NEVER, BEGINNING, self.since)
        return pa.table({
            "number": pa.array(np.arange(1, len(starts) + 1)),
            "since_us": pa.array(starts),
            "until_us": pa.array([*starts[1:].tolist(), None], pa.int64()),
        })  # fmt: skip


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
    """Judges requests in batches, which follow one another in time but for `DISORDER`."""

    def __init__(self, versions: Any, grace: timedelta = GRACE, dialect: Dialect = RFC9309) -> None:
        self._dialect = dialect
        self._con = connected()
        self._con.execute("CREATE TEMP TABLE limits AS SELECT CAST(? AS BIGINT) AS grace_us",
                          [grace // _MICROSECOND])  # fmt: skip
        self._con.execute(_STATE)
        self.replace_versions(versions)

    def replace_versions(self, versions: Any) -> None:
        """Judge by other versions from now on; the fetches so far stay known."""
        self._versions = _Versions.of(versions)
        self._con.register("numbered_rows", self._versions.periods())
        self._con.execute("CREATE OR REPLACE TEMP TABLE numbered AS SELECT * FROM numbered_rows")

    @property
    def labels(self) -> list[str]:
        """The labels of the versions, in order."""
        found: list[str] = self._versions.labels.to_pylist()
        return found

    def judge(self, requests: Any) -> Judgement:
        """Judge a batch: a table or record batch of requests."""
        urls = to_large_binary(requests["url"])
        self._con.register("given_rows", _given(requests, urls))
        self._con.execute(with_queries(_ASKED))
        paired = self._con.sql(with_queries(_PAIRS)).to_arrow_table().combine_chunks()
        self._con.register("answered", self._answered(paired, urls))
        found = self._con.sql(with_queries(_VERDICTS)).to_arrow_table().combine_chunks()
        self._con.execute(_REMEMBER, {"disorder": DISORDER // _MICROSECOND})
        return _to_judgement(found)

    def _answered(self, paired: Any, urls: Any) -> Any:
        """Return pairs with what their versions say about the requests."""
        # Nulls are of requests that no version is asked about.
        numbers = paired["number"].combine_chunks()
        places = self._versions.numbers.take(pc.subtract(numbers, 1))
        bodies = pa.DictionaryArray.from_arrays(places, self._versions.bodies)
        crawlers = paired["crawler"].combine_chunks()
        asked = urls.take(paired["row_id"].combine_chunks())
        found = answers(bodies, asked, encode(crawlers), self._dialect)
        columns = dict(zip(paired.schema.names, paired.columns, strict=True))
        columns |= {field.name: found.field(field.name) for field in ANSWERED}
        return pa.table(columns)


#: The fetches that were made before a batch: the last of each kind, and those of `DISORDER`.
_STATE = """
CREATE TEMP TABLE state (
    t BIGINT, crawler VARCHAR, url VARCHAR, status INTEGER, client VARCHAR, host VARCHAR
)
"""
_ASKED = """
CREATE OR REPLACE TEMP TABLE asked AS
WITH given AS (SELECT * FROM given_rows UNION ALL BY NAME SELECT * FROM state), @ASKED@
SELECT * EXCLUDE (method) FROM asked
"""
_PAIRS = """
WITH @HELD@, @PAIRS@
SELECT * EXCLUDE (url) FROM paired
"""
_VERDICTS = """
WITH @VERDICTS@
SELECT * FROM verdicts ORDER BY row_id
"""
_REMEMBER = """
CREATE OR REPLACE TEMP TABLE state AS
SELECT t, crawler, url, status, client, host
FROM asked
WHERE kind > 0
QUALIFY coalesce(
    lead(t) OVER (PARTITION BY host, crawler, client, kind ORDER BY t)
        > (SELECT max(t) FROM asked) - $disorder,
    true
)
ORDER BY t DESC
LIMIT 200000
"""


@cache
def _database() -> Any:
    return duckdb.connect(config={"threads": 1})


def connected() -> Any:
    """Return a connection to DuckDB: one core, UTC; its temporary tables are its own.

    All are to one database: to open another one takes as long as to parse 10,000 lines of a log.
    """
    connection = _database().cursor()
    connection.execute("SET TimeZone = 'UTC'")
    # In an interactive Python it would be printed on standard output.
    connection.execute("SET enable_progress_bar = false")
    return connection


def _given(requests: Any, urls: Any) -> Any:
    """Return the table ``given`` of ``judge.sql`` for a batch."""
    return pa.table({
        "row_id": pa.array(np.arange(len(requests))),
        "t": pa.array(microseconds(requests["time"])),
        "crawler": _text(requests, "crawler"),
        "url": to_text(urls),
        "status": unchunked(requests["status"]).cast(pa.int32()),
        "client": _text(requests, "client"),
        "host": _text(requests, "host"),
        "method": _text(requests, "method"),
    })  # fmt: skip


def _text(requests: Any, name: str) -> Any:
    """Return an optional column of text."""
    if name not in requests.schema.names:
        return pa.nulls(len(requests), pa.string())
    return unchunked(requests[name]).cast(pa.string())


def _to_judgement(verdicts: Any) -> Judgement:
    """Return a judgement from the table ``verdicts``, in the order of requests."""
    columns = {name: verdicts[name].combine_chunks() for name in verdicts.schema.names}
    first, last, number = (
        to_numpy(columns[name].fill_null(0)) - 1 for name in ("first_held", "last_held", "number")
    )
    return Judgement(
        to_numpy(pc.index_in(columns["verdict"], _VERDICT_NAMES)),
        to_numpy(columns["disallowed"]),
        number,
        to_numpy(columns["line"].fill_null(0)),
        columns["rule"],
        first,
        last,
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
            and perhaps ``client``, ``host`` and ``method``; in any order.
        versions: A table with the columns ``since`` and ``body``, and perhaps ``label``.
        grace: How long a copy may be used; longer by crawlers whose operators say so.
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
    judged = Judge(versions, grace, dialect)
    return to_column(judged.judge(pa.table(requests)), judged.labels)


@cache
def _queries() -> dict[str, str]:
    """Return the parts of ``judge.sql`` by name: ASKED, HELD, PAIRS and VERDICTS."""
    text = files(__package__).joinpath("judge.sql").read_text("utf-8")
    text = text.replace("@AUTHORITY@", _AUTHORITY).replace("@ROBOTS_TXT@", ROBOTS_TXT)
    text = text.replace("@DOCUMENTED@", _documented())
    parts = re.split(r"^-- (\w+):", text, flags=re.MULTILINE)
    return {
        name.upper(): "\n".join(line for line in part.split("\n")[1:] if line.strip()[:2] != "--")
        for name, part in zip(parts[1::2], parts[2::2], strict=True)
    }


def _documented() -> str:
    """Return a query for the periods that operators document."""
    return " UNION ALL ".join(
        f"SELECT '{each.token.lower()}' AS token, "
        f"CAST({_if_more(each.change_delay)} AS BIGINT) AS delay_us, "
        f"CAST({each.old_copy // _MICROSECOND} AS BIGINT) AS kept_us"
        for each in slow_to_change()
    )


def _if_more(delay: timedelta) -> int:
    """Return a delay in microseconds; 0 if it is that of all crawlers."""
    return delay // _MICROSECOND if delay > CHANGE_DELAY else 0


@cache
def with_queries(text: str) -> str:
    """Return SQL with the parts of ``judge.sql`` that it names, such as ``@ASKED@``."""
    for name, query in _queries().items():
        text = text.replace(f"@{name}@", query)
    return text


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
