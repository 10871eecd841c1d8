"""Counts the answers of ``koster bulk classify`` for a report.

Sites are counted, not files: a host in a crawl, with or without www., by http or https, is one
site. Redirects are followed as far as the archives have them; if several origins of a site have a
file, that of https counts, reached by the fewest redirects, and the last one fetched.

The crawl of a row of a table is in its column ``crawl``, or else the month in ``fetched``; its site
is in ``host`` or ``url``. Rows without a host are sites of their own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..crawlers import Obeys, Purpose, known, place_in_reports
from ..errors import MissingExtraError, UnreadableError, missing
from . import runs
from ._arrow import pa
from ._sites import UNDATED, answers_of_sites, create_sites

try:
    import duckdb
except ImportError as error:
    raise missing("koster.bulk.report", "bulk") from error

import os

from ..crawlers import Crawler
from .runs import Columns

__all__ = ["MAX_CRAWLS", "UNDATED", "BlockingReport", "Fetches", "Share", "report"]

#: The maximum number of crawls: more are a column that names something else.
MAX_CRAWLS = 2_000

#: The purpose of unknown agents.
_OTHERS = "others"
#: The order of the report.
_PURPOSES = [*(purpose.value for purpose in Purpose), _OTHERS]


@dataclass(frozen=True, slots=True)
class Share:
    """How many sites of a crawl block an agent.

    ``sites`` have a file; ``without_host`` of them are files without URL or host, each counted as a
    site of its own. ``named`` name the agent; ``closed`` block it, ``closed_by_name`` in a group
    that names it; ``partly`` block a part of the site, and for ``unknown`` it could not be proved.
    A crawler that ignores the ``*`` group (``by_name``) is blocked only by sites that name it.
    """

    crawl: str
    agent: str
    operator: str
    purpose: str
    by_name: bool
    sites: int
    without_host: int
    named: int
    closed: int
    closed_by_name: int
    partly: int
    unknown: int

    @property
    def share_closed(self) -> float:
        """The share of sites that block it: 0 to 1."""
        return self.closed / self.sites if self.sites else 0.0

    @property
    def share_by_name(self) -> float:
        """The share of sites that block it by name: 0 to 1."""
        return self.closed_by_name / self.sites if self.sites else 0.0

    @property
    def share_partly(self) -> float:
        """The share of sites that block it partly: 0 to 1."""
        return self.partly / self.sites if self.sites else 0.0


@dataclass(frozen=True, slots=True)
class Fetches:
    """How many sites of a crawl have an outcome: a fetch class, or how the redirects ended."""

    crawl: str
    outcome: str
    sites: int


@dataclass(frozen=True)
class BlockingReport:
    """The numbers, sorted by crawl, purpose and share of sites that block the crawler.

    Attributes:
        shares: For each crawl and crawler, how many sites block it.
        fetches: For each crawl, how many sites had each outcome.
        crawls: The names of crawls, oldest first; `UNDATED` is before all others.
        files: The number of robots.txt files.
        undated: How many of them have neither a crawl nor a date.
        without_host: How many of them have neither a URL nor a host.
        dialect: How they were read.
        inputs: How many inputs were read.
        bad: How many of their records could not be read.
    """

    shares: tuple[Share, ...]
    fetches: tuple[Fetches, ...]
    crawls: tuple[str, ...]
    files: int
    undated: int
    without_host: int
    dialect: str
    inputs: int
    bad: int

    @property
    def dated(self) -> tuple[str, ...]:
        """The crawls that have files, without the undated one unless there is no other."""
        with_files = {each.crawl for each in self.shares}
        found = tuple(crawl for crawl in self.crawls if crawl in with_files)
        return tuple(crawl for crawl in found if crawl != UNDATED) or found

    def of(self, crawl: str) -> tuple[Share, ...]:
        """Return the shares of a crawl."""
        return tuple(each for each in self.shares if each.crawl == crawl)


def report(
    folder: str | os.PathLike[str],
    crawl_column: str | None = None,
    time_column: str | None = None,
) -> BlockingReport:
    """Return the numbers for the shards in a folder.

    Args:
        folder: The folder.
        crawl_column: The column of crawls in tables. Default: the one that ``koster bulk classify``
            was given, or ``crawl``.
        time_column: The column of when files were fetched. Default: likewise, or ``fetched``.

    Raises:
        UnreadableError: there are no shards, they are not answers of ``koster bulk classify``, a
            column that was named is missing, or there are too many crawls.
    """
    shards = runs.read_shards(folder)
    question = shards[0][1]["question"]
    if any(metadata["question"] != question for _, metadata in shards):
        raise UnreadableError(f"{folder}: has answers to several questions")
    if question["kind"] != "classify":
        raise UnreadableError(
            f"{folder}: has answers of koster bulk {question['kind']}; a report needs those of "
            "koster bulk classify"
        )
    columns = runs.Columns(
        crawl=crawl_column or question["columns"]["crawl"],
        time=time_column or question["columns"]["time"],
    )
    try:
        with duckdb.connect() as con:
            con.execute("SET preserve_insertion_order = false")
            # In an interactive Python it would be printed on standard output.
            con.execute("SET enable_progress_bar = false")
            return _summarize(con, shards, columns)
    except UnreadableError as error:
        raise UnreadableError(f"{folder}: {error}") from error
    except (duckdb.Error, pa.ArrowException, OSError, UnicodeError) as error:
        raise UnreadableError(f"{folder}: {str(error).splitlines()[0]}") from error


_CRAWL_COUNT = "SELECT count(DISTINCT crawl), count(*) > count(crawl) FROM records"
_COUNTS = """
SELECT count(*), count(*) FILTER (crawl IS NULL), count(*) FILTER (origin IS NULL)
FROM records
WHERE has_file
"""
# The day by which half of a crawl was fetched: a wrong date does not move it.
_DAYS = """
SELECT crawl, min(day) FILTER (2 * so_far >= total)
FROM (
    SELECT crawl, day,
        sum(fetches) OVER (PARTITION BY crawl ORDER BY day) AS so_far,
        sum(fetches) OVER (PARTITION BY crawl) AS total
    FROM (
        SELECT crawl, (fetched AT TIME ZONE 'UTC')::DATE AS day, count(fetched) AS fetches
        FROM records
        WHERE crawl IS NOT NULL
        GROUP BY ALL
    )
)
GROUP BY crawl
"""
_FETCHES = "SELECT crawl, outcome, count(*) FROM sites GROUP BY ALL ORDER BY crawl, 3 DESC, outcome"
_SHARES = """
SELECT crawl, agent,
    count(*),
    count(*) FILTER (NOT has_host),
    count(*) FILTER (written),
    count(*) FILTER (effective = 'all'),
    count(*) FILTER (effective = 'all' AND written),
    count(*) FILTER (effective = 'some'),
    count(*) FILTER (effective = 'some' AND written),
    count(*) FILTER (effective IS NULL)
FROM (SELECT crawl, has_host, unnest(robots, recursive := true) FROM answers)
GROUP BY ALL
"""


def _summarize(
    con: Any, shards: list[tuple[str, dict[str, Any]]], columns: Columns
) -> BlockingReport:
    """Return the report on shards, each with its metadata.

    Raises:
        UnreadableError: a column is missing, or there are too many crawls.
    """
    paths = [path for path, _ in shards]
    create_sites(con, paths, columns)
    files, undated, without_host = con.execute(_COUNTS).fetchone()
    crawls = _crawls(con)
    crawlers = {each.token: each for each in _known()}
    with answers_of_sites(con, paths):
        shares = [_share(row, crawlers.get(row[1])) for row in con.execute(_SHARES).fetchall()]
    places = {crawl: number for number, crawl in enumerate(crawls)}
    purposes = {purpose: number for number, purpose in enumerate(_PURPOSES)}
    shares.sort(
        key=lambda each: (
            places[each.crawl],
            purposes[each.purpose],
            -each.share_closed,
            place_in_reports(crawlers[each.agent]) if each.agent in crawlers else 0,
            each.agent.lower(),
        )
    )
    return BlockingReport(
        shares=tuple(shares),
        fetches=tuple(Fetches(*row) for row in con.execute(_FETCHES).fetchall()),
        crawls=crawls,
        files=files,
        undated=undated,
        without_host=without_host,
        dialect=shards[0][1]["question"]["dialect"],
        inputs=len(shards),
        bad=sum(metadata["bad"] for _, metadata in shards),
    )


def _crawls(con: Any) -> tuple[str, ...]:
    """Return the crawls, oldest first; by name, if one has no dates.

    Raises:
        UnreadableError: there are too many.
    """
    count, has_undated = con.execute(_CRAWL_COUNT).fetchone()
    if count > MAX_CRAWLS:
        raise UnreadableError(
            f"has {count:,} crawls, and a report shows at most {MAX_CRAWLS:,}; name another column "
            "with --crawl-column"
        )
    days = dict(con.execute(_DAYS).fetchall())
    if None in days.values():
        crawls = sorted(days, key=_by_number)
    else:
        crawls = sorted(days, key=lambda crawl: (days[crawl], _by_number(crawl)))
    if not has_undated and UNDATED not in days:
        return tuple(crawls)
    # The newest crawl with a date comes last.
    return (UNDATED, *(crawl for crawl in crawls if crawl != UNDATED))


def _by_number(name: str) -> list[str | int]:
    """Return a key that sorts "crawl 9" before "crawl 10"."""
    parts = re.split("([0-9]+)", name)
    return [int(part) if number % 2 else part for number, part in enumerate(parts)]


def _known() -> tuple[Crawler, ...]:
    try:
        return known()
    except MissingExtraError:
        return ()


def _share(row: tuple[Any, ...], crawler: Crawler | None) -> Share:
    crawl, agent, sites, without_host, named, *blocked, unknown = row
    closed, closed_by_name, partly, partly_by_name = blocked
    by_name = crawler is not None and crawler.obeys is Obeys.OWN_GROUPS
    return Share(
        crawl=crawl,
        agent=agent,
        operator=crawler.operator if crawler else "",
        purpose=crawler.purpose.value if crawler else _OTHERS,
        by_name=by_name,
        sites=sites,
        without_host=without_host,
        named=named,
        closed=closed_by_name if by_name else closed,
        closed_by_name=closed_by_name,
        partly=partly_by_name if by_name else partly,
        unknown=unknown,
    )
