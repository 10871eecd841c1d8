"""Judges the requests of crawlers in log files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from .._wording import count_noun, joined
from ..bulk._arrow import np, pa
from ..bulk._columns import to_numpy, to_text
from ..bulk.judging import GRACE, NEVER, VERDICTS, Judge, Judgement, Verdict, to_column
from ..dialects import RFC9309, Dialect
from ..errors import KosterError
from ._checks import disordered, unnamed, zone_notices
from ._detection import format_of
from ._dns import ReverseDns, skipped_notice
from ._files import LogFile, LogReader, ReadOptions, find_files
from ._identity import MAX_NAMES, STATUSES, Identities
from ._pace import Paces
from ._summary import Addresses, CrawlerReport, LogSummary, Report, moment
from ._versions import GIT, Versions

_ROBOTS_TXT = VERDICTS.index(Verdict.ROBOTS_TXT)

#: Sites to name in a notice.
_MAX_HOSTS = 5
#: Sites to count.
_MAX_KNOWN_HOSTS = 1_000


class UnknownCrawlerError(KosterError, ValueError):
    """The name of a crawler is unknown, and not in the robots.txt."""


class UnknownHostError(KosterError, ValueError):
    """The log has no request of a crawler for a site."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to read and judge logs.

    Attributes:
        format: The name of a format, an Apache LogFormat or an nginx log_format; None: detect it.
        columns: The names of the columns of tables, by field.
        host: Judge only requests for this site.
        agents: Judge only these crawlers.
        ranges: A folder with lists of addresses, and keys.
        dns: Checks addresses by reverse DNS; None: it is not asked.
        grace: How long a crawler may use its copy of robots.txt; longer if its operator says so.
        are_addresses_shown: Whether addresses are shown as they are, not hashed.
        dialect: How to read the robots.txt.
        jobs: How many threads parse; None: as many as there are cores.
        progress: Called with the number of bytes that were read.
        timezone: The time zone of times without one; None: they are read as UTC, with a notice.
    """

    format: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    host: str | None = None
    agents: Sequence[str] = ()
    ranges: str | None = None
    dns: ReverseDns | None = None
    grace: timedelta = GRACE
    are_addresses_shown: bool = False
    dialect: Dialect = RFC9309
    jobs: int | None = None
    progress: Callable[[int], object] = lambda size: None  # noqa: ARG005 - does nothing
    timezone: tzinfo | None = None


#: The columns of events: a row for each request of a crawler, with the columns that
#: `koster.logs.judge` needs. ``client`` is the address of a crawler that was not verified: it does
#: not share the copies of others with its name.
EVENTS = pa.schema([
    pa.field("time", pa.timestamp("us", "UTC")),
    pa.field("crawler", pa.string()),
    pa.field("operator", pa.string()),
    pa.field("identified", pa.string()),
    pa.field("client", pa.string()),
    pa.field("address", pa.string()),
    pa.field("host", pa.string()),
    pa.field("method", pa.string()),
    pa.field("url", pa.string()),
    pa.field("status", pa.int32()),
    pa.field("agent", pa.string()),
    pa.field("verdict", pa.string()),
    pa.field("disallowed", pa.bool_()),
    pa.field("version", pa.string()),
    pa.field("line", pa.int32()),
    pa.field("rule", pa.string()),
])  # fmt: skip


class Analysis:
    """Judges batches of requests, and adds them up."""

    def __init__(self, versions: Versions, options: Options) -> None:
        self.versions = versions
        self._options = options
        self.identities = Identities(versions.names, options.ranges, options.dns)
        known = {name.lower() for name in self.identities.names}
        for agent in options.agents:
            if agent.lower() not in known:
                raise UnknownCrawlerError(
                    f"{agent} is not a known crawler, and no group of the robots.txt names it"
                )
        self._judge = Judge(versions.table(), options.grace, options.dialect)
        self.addresses = Addresses(are_shown=options.are_addresses_shown)
        self.summary = LogSummary(self.addresses)
        self._paces = self._new_paces()
        self._operators = pa.array(
            [self._operator(name) for name in self.identities.names], pa.string()
        )
        #: How many requests each site had; those without a site are counted apart.
        self.hosts: dict[str, int] = {}
        self._without_host = 0

    def _new_paces(self) -> Paces:
        bodies = [each.body or b"" for each in self.versions.versions]
        return Paces(bodies, self._options.dialect)

    def replace_versions(self, versions: Versions) -> None:
        """Judge by other versions from now on; the fetches of crawlers stay known."""
        self.versions = versions
        self._judge.replace_versions(versions.table())
        self._paces = self._new_paces()

    def _operator(self, name: str) -> str:
        record = self.identities.records.get(name.lower())
        return record.operator if record else ""

    def add(self, requests: pa.RecordBatch) -> tuple[pa.RecordBatch, Judgement]:
        """Judge a batch; return its requests of the crawlers and the site that were asked for."""
        requests = self._of_site(requests)
        judgement = self._judge.judge(requests)
        # All are judged: what the server answered one crawler counts for others, too.
        if self._options.agents:
            requests, judgement = self._of_agents(requests, judgement)
        times = requests["time"].to_numpy()
        if len(requests):
            self.summary.add(requests, judgement, times)
            if self._paces.are_set:
                self._add_paces(requests, judgement, times)
        return requests, judgement

    def _of_agents(
        self, requests: pa.RecordBatch, judgement: Judgement
    ) -> tuple[pa.RecordBatch, Judgement]:
        """Return the requests of the crawlers that were asked for."""
        asked = {each.lower() for each in self._options.agents}
        chosen = np.array([name.lower() in asked for name in self.identities.names])
        are = chosen[to_numpy(requests["crawler"].indices)]
        return requests.filter(pa.array(are)), judgement.filter(are)

    def _of_site(self, requests: pa.RecordBatch) -> pa.RecordBatch:
        """Return the requests for the site that was asked for."""
        hosts = requests["host"].dictionary_encode()
        names = [_bare(each) for each in hosts.dictionary.to_pylist()]
        # Requests without a site have the number after the last one.
        sites = to_numpy(hosts.indices.fill_null(len(names)))
        counts = np.bincount(sites, minlength=len(names) + 1).tolist()
        for name, count in zip([*names, ""], counts, strict=True):
            if not name:
                self._without_host += count
            elif name in self.hosts or len(self.hosts) < _MAX_KNOWN_HOSTS:
                self.hosts[name] = self.hosts.get(name, 0) + count
        if self._options.host is None:
            return requests
        host = _bare(self._options.host)
        wanted = np.array([*(name == host for name in names), False])
        return requests.filter(pa.array(wanted[sites]))

    def check_host(self) -> None:
        """Check that the log has the site that was asked for.

        Raises:
            UnknownHostError: it has not, but others, or requests without a site.
        """
        host = self._options.host
        if host is None or _bare(host) in self.hosts or not (self.hosts or self._without_host):
            return
        if self.hosts:
            why = f"crawlers asked {self._busiest_hosts()}"
        else:
            why = "its lines do not name the site: leave out --host if all are of this one"
        raise UnknownHostError(f"No crawler asked {host} in the log; {why}")

    def _busiest_hosts(self) -> str:
        """Return the sites with most requests, for a sentence."""
        busiest = sorted(self.hosts, key=lambda name: -self.hosts[name])
        more = len(busiest) - _MAX_HOSTS
        shown = [*busiest[:_MAX_HOSTS], *([f"{more:,} more"] if more > 0 else [])]
        return joined(shown)

    def _add_paces(self, requests: pa.RecordBatch, judgement: Judgement, times: Any) -> None:
        crawlers = requests["crawler"]
        hosts = requests["host"].fill_null("").dictionary_encode()
        codes = to_numpy(crawlers.indices).astype(np.int64)
        statuses = to_numpy(requests["identified"].indices)
        sites = to_numpy(hosts.indices)
        is_page = judgement.verdicts != _ROBOTS_TXT
        keys = (codes * len(STATUSES) + statuses) * max(len(hosts.dictionary), 1) + sites
        for key in np.unique(keys[is_page]):
            rows = np.flatnonzero((keys == key) & is_page)
            name = crawlers.dictionary[int(codes[rows[0]])].as_py()
            found = hosts.dictionary[int(sites[rows[0]])].as_py(), name, int(statuses[rows[0]])
            self._paces.add(
                self.summary.paces, found, name, times[rows], judgement.first[rows],
                judgement.last[rows],
            )  # fmt: skip

    def events(self, requests: pa.RecordBatch, judgement: Judgement) -> pa.RecordBatch:
        """Return requests with their judgement: `EVENTS`."""
        column = to_column(judgement, [each.label for each in self.versions.versions])
        return pa.RecordBatch.from_arrays(
            [
                requests["time"].cast(pa.timestamp("us", "UTC")),
                requests["crawler"].cast(pa.string()),
                self._operators.take(requests["crawler"].indices),
                requests["identified"].cast(pa.string()),
                self.addresses.column(requests["client"]),
                self.addresses.column(requests["address"]),
                requests["host"],
                requests["method"],
                to_text(requests["url"]),
                requests["status"],
                requests["agent"],
                *column.flatten(),
            ],
            schema=EVENTS,
        )

    def report(
        self, reader: LogReader, files: list[LogFile], errors: list[str], notices: list[str]
    ) -> Report:
        """Return what was found."""
        first, last = reader.first, reader.last
        crawlers = self.summary.crawlers(
            self.versions.versions, self.identities, first, self._options.grace
        )
        return Report(
            crawlers=crawlers,
            lines=sum(each.lines for each in files),
            unreadable=sum(each.unreadable for each in files),
            samples=tuple(
                (each.path, sample.decode("utf-8", "replace"))
                for each in files
                for sample in each.samples[:2]
            ),
            first=None if first == NEVER else moment(first),
            last=None if last == NEVER else moment(last),
            versions=self.versions.versions,
            files=tuple((each.path, each.format_name) for each in files),
            errors=tuple(errors),
            notices=(*notices, *self._notices(files, crawlers, first)),
            period=self.summary.period,
        )

    def _notices(
        self, files: list[LogFile], crawlers: tuple[CrawlerReport, ...], first: int
    ) -> list[str]:
        """Return what the numbers leave open."""
        found = disordered(files)
        not_judged = sum(each.not_judged for each in crawlers)
        if not_judged:
            found.append(
                f"{count_noun(not_judged, 'request')} not judged: older than the first version of "
                "the robots.txt"
            )
        if self._options.host is None and len(self.hosts) > 1:
            found.append(
                f"The log is of {count_noun(len(self.hosts), 'site')} ({self._busiest_hosts()}), "
                "and the robots.txt of one: choose it with --host"
            )
        if self._without_host and self.hosts:
            found.append(
                f"{count_noun(self._without_host, 'request')} without a site "
                f"{'left out' if self._options.host else 'judged as of this site, too'}"
            )
        if self.identities.skipped:
            found.append(
                f"{count_noun(self.identities.skipped, 'name')} in the robots.txt not looked for: "
                f"only the first {MAX_NAMES:,} are"
            )
        found += _changed_later(self.versions, first)
        if self._options.dns is not None and self._options.dns.skipped:
            found.append(skipped_notice(self._options.dns.skipped))
        return found


def _bare(host: str | None) -> str:
    """Return a host in lower case, without its port; empty for "-" and null."""
    name = (host or "").lower().removeprefix("-")
    return name.rpartition(":")[0] if name.rpartition(":")[2].isdigit() and ":" in name else name


def _changed_later(versions: Versions, first: int) -> list[str]:
    """Return a warning if the only version was written after the log begins."""
    if len(versions.versions) > 1 or versions.source.startswith(GIT) or first == NEVER:
        return []
    try:
        written = datetime.fromtimestamp(os.path.getmtime(versions.source), UTC)
    except OSError:
        return []
    if versions.versions[0].since is not None or written <= moment(first):
        return []
    return [
        (
            f"{versions.source} was last changed on {written:%Y-%m-%d %H:%M} UTC, after the log "
            "begins, but all of the log is judged by it: use a folder of versions, or git:PATH"
        )
    ]


def analyze(
    paths: Iterable[str],
    versions: Versions,
    options: Options | None = None,
    on_events: Callable[[pa.RecordBatch], object] | None = None,
) -> Report:
    """Judge the requests of crawlers in logs by the versions of a robots.txt.

    Args:
        paths: Log files, folders of them, or ``-`` for standard input.
        versions: The versions.
        options: How to read and judge.
        on_events: Called with each batch of judged requests: `EVENTS`.

    Raises:
        FormatError: the format in ``options`` is invalid.
        UnknownHostError: no crawler asked the host in ``options``.
        UnreadableError: a folder of ranges cannot be read. Errors in logs are in the report.
    """
    options = options or Options()
    analysis = Analysis(versions, options)
    form = None if options.format is None else format_of(options.format)
    reading = ReadOptions(
        analysis.identities, form, options.columns, options.jobs or os.cpu_count() or 1,
        options.progress, options.timezone,
    )  # fmt: skip
    files, errors, notices = find_files(paths, reading)
    reader = LogReader(files, reading)
    for batch in reader.batches():
        requests, judgement = analysis.add(batch)
        if on_events is not None and len(requests):
            on_events(analysis.events(requests, judgement))
    analysis.check_host()
    for file in files:
        if error := file.error or file.check():
            errors.append(error)
    unnamed_errors, unnamed_notices = unnamed(files)
    errors += unnamed_errors
    notices = [*unnamed_notices, *zone_notices(files, options.timezone), *notices]
    return analysis.report(reader, files, errors, notices)
