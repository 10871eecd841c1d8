"""What requests amount to: a row for each crawler and identity."""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from .._moments import EPOCH, later
from ..bulk._arrow import Numbers, np, pa
from ..bulk.judging import VERDICTS, Judgement, Verdict
from ..crawlers import CHANGE_DELAY, Crawler
from ..model import text_of
from ._identity import STATUSES, VERIFIED, Identified, Identities
from ._pace import Paced
from ._versions import Version

_VIOLATION = VERDICTS.index(Verdict.VIOLATION)

#: Examples of each broken rule.
_MAX_EXAMPLES = 3

#: The maximum number of addresses that are counted for a crawler, and shown.
_MAX_ADDRESSES = 10_000
SHOWN_ADDRESSES = 10

#: The periods that requests over time are counted by, in seconds: the shortest one with at most
#: `_MAX_PERIODS`.
_PERIODS = (3_600, 86_400, 7 * 86_400, 28 * 86_400)
_MAX_PERIODS = 1_500


@dataclass(frozen=True, slots=True)
class Example:
    """A request that broke a rule."""

    time: datetime
    address: str
    method: str
    url: str
    status: int | None
    agent: str


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A rule that a crawler broke.

    Attributes:
        line: Its line.
        rule: As written: ``Disallow: /private/``.
        version: The label of the version of the file.
        since: Since when that version is in force; None: always.
        violations: How often it was broken.
        first: The first time.
        last: The last time.
        examples: Some of the requests; the first ones.
    """

    line: int
    rule: str
    version: str
    since: datetime | None
    violations: int
    first: datetime
    last: datetime
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Pace:
    """How a crawler kept to Crawl-delay, Request-rate and Visit-time.

    Attributes:
        directive: The directive with its line: ``line 3, Crawl-delay: 10``.
        intervals: The intervals between two requests for which a pace was set.
        kept: How many of them were long enough, as far as whole seconds tell.
        worst_minute: The minute with the most requests.
        worst_minute_requests: How many they were.
        outside_visit_time: Requests at times when the site wants none.
    """

    directive: str
    intervals: int
    kept: int
    worst_minute: datetime
    worst_minute_requests: int
    outside_visit_time: int


@dataclass(frozen=True, slots=True)
class CrawlerReport:
    """What a crawler did.

    Attributes:
        crawler: Its product token.
        operator: Who runs it; empty if it is not in the registry.
        identified: Whether its identity was verified.
        record: Its record in the registry, if any.
        requests: How many requests it made, without those for /robots.txt.
        disallowed: How many of them the version in force disallowed.
        violations: How many of them every version disallowed that it may have held.
        within_caching_period: Those that only some of these versions disallowed.
        exempt: Those that no group applies to, or that a person caused.
        not_judged: Those before the first version.
        robots_txt: Requests for /robots.txt.
        asked_for_robots_txt: Whether it made one; None if it made none, but may have a file that it
            fetched before the log begins.
        first: Its first request.
        last: Its last request.
        rules: The rules that it broke, the most broken first.
        pace: How it kept to Crawl-delay and the like; None if the file has none for it.
        addresses: Its addresses with most requests, and how many.
        lists: The days of the operator's lists of addresses.
        series: Requests over time: the start of each period, those that were no violation, and
            those that were.
    """

    crawler: str
    operator: str
    identified: Identified
    record: Crawler | None
    requests: int
    disallowed: int
    violations: int
    within_caching_period: int
    exempt: int
    not_judged: int
    robots_txt: int
    asked_for_robots_txt: bool | None
    first: datetime
    last: datetime
    rules: tuple[BrokenRule, ...]
    pace: Pace | None
    addresses: tuple[tuple[str, int], ...]
    lists: tuple[str, ...]
    series: tuple[tuple[datetime, int, int], ...]

    @property
    def share(self) -> float:
        """The share of its requests that were violations."""
        return self.violations / self.requests if self.requests else 0.0


@dataclass(frozen=True, slots=True)
class Report:
    """What crawlers did in a log.

    Attributes:
        crawlers: A row for each crawler and identity: verified ones with violations first.
        lines: How many lines were read.
        unreadable: How many of them could not be read.
        samples: The first of those, with their file.
        first: The first moment in the log; None if it has no line.
        last: The last moment.
        versions: The versions of the robots.txt.
        files: The files that were read, with their formats.
        errors: What could not be read, in sentences.
        notices: What the numbers leave open, in sentences.
        period: The seconds of the periods in ``series``.
    """

    crawlers: tuple[CrawlerReport, ...]
    lines: int
    unreadable: int
    samples: tuple[tuple[str, str], ...]
    first: datetime | None
    last: datetime | None
    versions: tuple[Version, ...]
    files: tuple[tuple[str, str], ...]
    errors: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    period: int = _PERIODS[0]

    @property
    def violations(self) -> int:
        """All violations."""
        return sum(each.violations for each in self.crawlers)


class Addresses:
    """Replaces addresses by a hash with a key of this run, unless they may be shown."""

    def __init__(self, *, are_shown: bool) -> None:
        self._key = None if are_shown else secrets.token_bytes(16)

    def __call__(self, address: str | None) -> str:
        """Return an address for output."""
        if not address:
            return ""
        if self._key is None:
            return address
        raw = address.encode("utf-8", "replace")
        return hashlib.blake2b(raw, key=self._key, digest_size=6).hexdigest()

    def column(self, addresses: pa.Array) -> pa.Array:
        """Return a column of addresses for output."""
        encoded = addresses.dictionary_encode()
        shown = pa.array(map(self, encoded.dictionary.to_pylist()), pa.string())
        return shown.take(encoded.indices)


@dataclass(slots=True)
class _Broken:
    violations: int = 0
    first: int = 2**63 - 1
    last: int = 0
    examples: list[Example] = field(default_factory=list)


@dataclass(slots=True)
class _Row:
    """The counts of a crawler and identity."""

    counts: Numbers = field(default_factory=lambda: np.zeros(len(VERDICTS), np.int64))
    disallowed: int = 0
    first: int = 2**63 - 1
    last: int = 0
    rules: dict[tuple[int, str, int], _Broken] = field(default_factory=dict)
    addresses: Counter[str] = field(default_factory=Counter)
    #: By hour.
    series: dict[int, list[int]] = field(default_factory=dict)


class LogSummary:
    """Adds up judged requests; memory is bounded by crawlers, rules and time, not by requests."""

    def __init__(self, addresses: Addresses) -> None:
        self._rows: dict[tuple[str, int], _Row] = {}
        self._addresses = addresses
        self._period = 0
        #: By site, crawler and identity.
        self.paces: dict[tuple[str, str, int], Paced] = {}

    def add(self, requests: pa.RecordBatch, judgement: Judgement, times: Numbers) -> None:
        """Add the requests of a batch."""
        crawlers = requests["crawler"]
        codes = crawlers.indices.to_numpy(zero_copy_only=False)
        statuses = requests["identified"].indices.to_numpy(zero_copy_only=False)
        keys = codes.astype(np.int64) * len(STATUSES) + statuses
        for key in np.unique(keys):
            rows = np.flatnonzero(keys == key)
            name = crawlers.dictionary[int(key) // len(STATUSES)].as_py()
            row = self._rows.setdefault((name, int(key) % len(STATUSES)), _Row())
            self._add_rows(row, rows, requests, judgement, times)

    def _add_rows(
        self,
        row: _Row,
        rows: Numbers,
        requests: pa.RecordBatch,
        judgement: Judgement,
        times: Numbers,
    ) -> None:
        verdicts, moments = judgement.verdicts[rows], times[rows]
        row.counts += np.bincount(verdicts, minlength=len(VERDICTS))
        row.disallowed += int(judgement.disallowed[rows].sum())
        row.first = min(row.first, int(moments.min()))
        row.last = max(row.last, int(moments.max()))
        counted = requests["address"].take(pa.array(rows)).value_counts()
        for each in counted.to_pylist():
            row.addresses[each["values"]] += each["counts"]
        if len(row.addresses) > 2 * _MAX_ADDRESSES:
            row.addresses = Counter(dict(row.addresses.most_common(_MAX_ADDRESSES)))
        are_broken = verdicts == _VIOLATION
        self._add_series(row, moments, are_broken)
        if are_broken.any():
            self._add_broken(row, rows[are_broken], requests, judgement, times)

    def _add_series(self, row: _Row, moments: Numbers, are_broken: Numbers) -> None:
        period = _PERIODS[self._period]
        starts, which = np.unique(moments // (period * 1_000_000), return_inverse=True)
        which = which.reshape(-1)
        totals = np.bincount(which, minlength=len(starts))
        broken = np.bincount(which[are_broken], minlength=len(starts))
        for start, total, bad in zip(
            starts.tolist(), totals.tolist(), broken.tolist(), strict=True
        ):
            counts = row.series.setdefault(start * period, [0, 0])
            counts[0] += total - bad
            counts[1] += bad
        while len(row.series) > _MAX_PERIODS and self._period + 1 < len(_PERIODS):
            self._period += 1
            for each in self._rows.values():
                each.series = _coarser(each.series, _PERIODS[self._period])

    def _add_broken(
        self,
        row: _Row,
        rows: Numbers,
        requests: pa.RecordBatch,
        judgement: Judgement,
        times: Numbers,
    ) -> None:
        indices = pa.array(rows)
        table = pa.table({
            "version": pa.array(judgement.versions[rows]),
            "line": pa.array(judgement.lines[rows]),
            "rule": judgement.rules.take(indices),
            "time": pa.array(times[rows]),
            "row": indices,
        })  # fmt: skip
        groups = table.group_by(["version", "line", "rule"], use_threads=False).aggregate([
            ("row", "count"), ("time", "min"), ("time", "max"), ("row", "list"),
        ])  # fmt: skip
        for each in groups.to_pylist():
            key = each["version"], each["rule"], each["line"]
            broken = row.rules.setdefault(key, _Broken())
            broken.violations += each["row_count"]
            broken.first = min(broken.first, each["time_min"])
            broken.last = max(broken.last, each["time_max"])
            for number in each["row_list"][: _MAX_EXAMPLES - len(broken.examples)]:
                broken.examples.append(example_of(requests, number, self._addresses))

    def crawlers(
        self, versions: tuple[Version, ...], identities: Identities, first: int, grace: timedelta
    ) -> tuple[CrawlerReport, ...]:
        """Return the rows.

        ``grace`` after its ``first`` request the log has all fetches of files in use, or later for
        crawlers whose operators say so.
        """
        found = [
            self._report(name, status, row, versions, identities, first, grace)
            for (name, status), row in self._rows.items()
        ]
        return tuple(sorted(found, key=_place))

    @property
    def period(self) -> int:
        """The seconds of the periods of requests over time."""
        return _PERIODS[self._period]

    def _report(
        self, name: str, status: int, row: _Row, versions: tuple[Version, ...],
        identities: Identities, first: int, grace: timedelta,
    ) -> CrawlerReport:  # fmt: skip
        counts = dict(zip(VERDICTS, row.counts.tolist(), strict=True))
        fetches = counts[Verdict.ROBOTS_TXT]
        record = identities.records.get(name.lower())
        period = grace
        if record is not None and record.change_delay > CHANGE_DELAY:
            period = max(grace, record.change_delay)
        known_from = first + period // timedelta(microseconds=1)
        rules = [
            _broken_rule(version, rule, line, broken, versions)
            for (version, rule, line), broken in row.rules.items()
        ]
        return CrawlerReport(
            crawler=name,
            operator=record.operator if record else "",
            identified=STATUSES[status],
            record=record,
            requests=sum(counts.values()) - fetches,
            disallowed=row.disallowed,
            violations=counts[Verdict.VIOLATION],
            within_caching_period=counts[Verdict.WITHIN_CACHING_PERIOD],
            exempt=counts[Verdict.EXEMPT],
            not_judged=counts[Verdict.NOT_JUDGED],
            robots_txt=fetches,
            asked_for_robots_txt=True if fetches else False if row.last >= known_from else None,
            first=moment(row.first),
            last=moment(row.last),
            rules=tuple(sorted(rules, key=lambda each: (-each.violations, each.first, each.line))),
            pace=self._pace(name, status),
            addresses=tuple(
                (self._addresses(address), count)
                for address, count in row.addresses.most_common(SHOWN_ADDRESSES)
                if address is not None
            ),
            lists=identities.published.days(name),
            series=tuple(
                (moment(start * 1_000_000), kept, broken)
                for start, (kept, broken) in sorted(row.series.items())
            ),
        )

    def _pace(self, name: str, status: int) -> Pace | None:
        """Return the pace of a crawler at all sites."""
        some = [each for (_, *key), each in self.paces.items() if key == [name, status]]
        if not some:
            return None
        worst = max(some, key=lambda each: each.worst_requests)
        return Pace(
            some[0].directive,
            sum(each.intervals for each in some),
            sum(each.kept for each in some),
            moment(worst.worst * 60_000_000),
            worst.worst_requests,
            sum(each.outside for each in some),
        )


def _place(each: CrawlerReport) -> tuple[bool, bool, int, int, str, int]:
    """Return a sort key: crawlers with violations first, of them those that were verified."""
    status = STATUSES.index(each.identified)
    is_first = each.violations > 0
    return (not is_first, is_first and status != VERIFIED, -each.violations, -each.requests,
            each.crawler.lower(), status)  # fmt: skip


def example_of(requests: pa.RecordBatch, row: int, addresses: Addresses) -> Example:
    """Return a request of a batch for output."""
    (values,) = requests.slice(row, 1).to_pylist()
    return Example(
        moment(values["time"]),
        addresses(values["address"]),
        values["method"] or "",
        text_of(values["url"]),
        values["status"],
        values["agent"] or "",
    )


def _coarser(series: dict[int, list[int]], period: int) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for start, counts in series.items():
        total = found.setdefault(start // period * period, [0, 0])
        total[0] += counts[0]
        total[1] += counts[1]
    return found


def _broken_rule(
    version: int, rule: str, line: int, broken: _Broken, versions: tuple[Version, ...]
) -> BrokenRule:
    return BrokenRule(
        line, rule, versions[version].label, versions[version].since, broken.violations,
        moment(broken.first), moment(broken.last), tuple(broken.examples),
    )  # fmt: skip


def moment(microseconds: int) -> datetime:
    """Return microseconds since 1970 as a moment."""
    return later(EPOCH, microseconds / 1e6)
