"""Counts the answers of ``koster bulk classify`` for a report.

Sites are counted, not files: a host in a crawl, with or without www., by http or https, is one
site. Redirects are followed as far as the archives have them; if several origins of a site have a
file, that of https counts, reached by the fewest redirects, and the last one fetched.

The crawl of a row of a table is in its column ``crawl``, or else the month in ``fetched``; its site
is in ``host`` or ``url``. Rows without a host are sites of their own.

What does not fit into 600 MB is written to a temporary folder: about 100 bytes a file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..crawlers import Obeys, Purpose, known, place_in_reports
from ..errors import MissingExtraError, UnreadableError, missing
from ._answers import Shard, find_answers
from ._arrow import pa
from ._sites import UNDATED, count_answers, create_sites, read_panel, unread_rows, workspace

try:
    import duckdb
except ImportError as error:
    raise missing("koster.bulk.report", "bulk") from error

import os

from ..crawlers import Crawler
from ._batches import Columns

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

    Attributes:
        crawl: The crawl.
        month: The month by which half of it was fetched, as in ``2026-10``; empty without dates.
        agent: The agent.
        operator: Who runs it; empty if it is not in the registry.
        purpose: What it crawls for.
        by_name: It ignores ``*`` groups: only sites that name it block it.
        sites: How many sites have a file.
        without_file: How many have none: crawlers may fetch everything there.
        not_read: How many sites' files could not be fetched or read.
        not_fetched: How many sites of a list (``--sites``) the crawl does not have.
        without_host: How many of ``sites`` are files without URL or host, each counted as a site.
        named: How many sites name the agent.
        blocked: How many block all of the site for it.
        blocked_by_name: How many of them do so in a group that names it.
        partly: How many block a part of the site.
        partly_by_name: How many of them do so in a group that names it.
        unknown: For how many it could not be proved how much they block.
    """

    crawl: str
    month: str
    agent: str
    operator: str
    purpose: str
    by_name: bool
    sites: int
    without_file: int
    not_read: int
    not_fetched: int
    without_host: int
    named: int
    blocked: int
    blocked_by_name: int
    partly: int
    partly_by_name: int
    unknown: int

    @property
    def blocked_by_star(self) -> int:
        """How many sites block it in a ``*`` group."""
        return self.blocked - self.blocked_by_name

    @property
    def partly_by_star(self) -> int:
        """How many sites block a part of the site in a ``*`` group."""
        return self.partly - self.partly_by_name

    @property
    def share_blocked(self) -> float:
        """The share of sites that block it: 0 to 1."""
        return self.blocked / self.sites if self.sites else 0.0

    @property
    def share_by_name(self) -> float:
        """The share of sites that block it by name: 0 to 1."""
        return self.blocked_by_name / self.sites if self.sites else 0.0

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
        dialect: How they were read; empty if another engine wrote the answers.
        inputs: How many inputs were read.
        bad: How many of their records could not be read.
        panel: How many sites a list (``--sites``) has; None without one.
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
    panel: int | None = None

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
    sites: str | None = None,
) -> BlockingReport:
    """Return the numbers for the answers in a folder.

    Args:
        folder: The folder: that of ``koster bulk classify``, or Parquet files with the answers of
            `koster.bulk.spark.classify`, also in partitions such as ``crawl=2026-01/``.
        crawl_column: The column of crawls in tables. Default: the one that ``koster bulk classify``
            was given, or ``crawl``.
        time_column: The column of when files were fetched. Default: likewise, or ``fetched``.
        sites: The path of a list of sites; only these are counted.

    Raises:
        UnreadableError: there are no answers, they are not those of classify, a column that was
            named is missing, the list cannot be read, or there are too many crawls.
    """
    shards = find_answers(folder)
    questions = [each.question for each in shards if each.question is not None]
    if any(each != questions[0] for each in questions):
        raise UnreadableError(f"{folder}: has answers to several questions")
    if questions and questions[0]["kind"] != "classify":
        raise UnreadableError(
            f"{folder}: has answers of koster bulk {questions[0]['kind']}; a report needs those of "
            "koster bulk classify"
        )
    given = questions[0]["columns"] if questions else {"crawl": None, "time": None}
    columns = Columns(crawl=crawl_column or given["crawl"], time=time_column or given["time"])
    panel = None if sites is None else read_panel(sites)
    try:
        with workspace() as con:
            create_sites(con, shards, columns, panel)
            return _summarize(con, shards, panel)
    except UnreadableError as error:
        raise UnreadableError(f"{folder}: {error}") from error
    except (duckdb.Error, pa.ArrowException, OSError, UnicodeError) as error:
        raise UnreadableError(f"{folder}: {str(error).splitlines()[0]}") from error


_CRAWL_COUNT = "SELECT count(DISTINCT crawl), count(*) > count(crawl) FROM records"
_COUNTS = """
SELECT count(*), count(*) FILTER (crawl IS NULL), count(*) FILTER (origin IS NULL)
FROM (
    SELECT crawl, origin, class FROM records WHERE url IS NOT NULL
    UNION ALL SELECT crawl, origin, class FROM attributed_rows
)
WHERE class IN ('ok', 'wrong type')
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
#: Outcomes of sites with a file, and of those without.
_WITH_FILE = ("ok", "wrong type")
_WITHOUT_FILE = ("unavailable", "no file")


def _summarize(con: Any, shards: list[Shard], panel: list[str] | None) -> BlockingReport:
    """Return the report on shards.

    Raises:
        UnreadableError: there are too many crawls.
    """
    files, undated, without_host = con.execute(_COUNTS).fetchone()
    days = _days(con)
    crawls = _crawls(con, days)
    fetches = tuple(Fetches(*row) for row in con.execute(_FETCHES).fetchall())
    size = None if panel is None else len({*panel})
    crawlers = {each.token: each for each in _known()}
    others = _without_answers(fetches, size)
    shares = [
        _share(row, days.get(row[0]), others[row[0]], crawlers.get(row[1]))
        for row in count_answers(con, shards)
    ]
    places = {crawl: number for number, crawl in enumerate(crawls)}
    purposes = {purpose: number for number, purpose in enumerate(_PURPOSES)}
    shares.sort(
        key=lambda each: (
            places[each.crawl],
            purposes[each.purpose],
            -each.share_blocked,
            place_in_reports(crawlers[each.agent]) if each.agent in crawlers else 0,
            each.agent.lower(),
        )
    )
    question = shards[0].question
    return BlockingReport(
        shares=tuple(shares),
        fetches=fetches,
        crawls=crawls,
        files=files,
        undated=undated,
        without_host=without_host,
        dialect=question["dialect"] if question else "",
        inputs=len(shards),
        bad=sum(each.bad for each in shards) + unread_rows(con),
        panel=size,
    )


def _without_answers(
    fetches: tuple[Fetches, ...], panel: int | None
) -> dict[str, tuple[int, int, int]]:
    """Return by crawl how many sites have no file, were not read, and are not in the crawl."""
    found: dict[str, tuple[int, int, int]] = {}
    for crawl in dict.fromkeys(each.crawl for each in fetches):
        some = [each for each in fetches if each.crawl == crawl]
        without = sum(each.sites for each in some if each.outcome in _WITHOUT_FILE)
        with_file = sum(each.sites for each in some if each.outcome in _WITH_FILE)
        total = sum(each.sites for each in some)
        not_fetched = 0 if panel is None else panel - total
        found[crawl] = without, total - without - with_file, not_fetched
    return found


def _days(con: Any) -> dict[str, Any]:
    return dict(con.execute(_DAYS).fetchall())


def crawls_in_order(con: Any) -> tuple[str, ...]:
    """Return the crawls of the table ``records``, with when they were fetched, oldest first.

    Raises:
        UnreadableError: there are too many.
    """
    return _crawls(con, _days(con))


def _crawls(con: Any, days: dict[str, Any]) -> tuple[str, ...]:
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


def _share(
    row: tuple[Any, ...], day: Any, others: tuple[int, int, int], crawler: Crawler | None
) -> Share:
    crawl, agent, sites, without_host, named, *counts, unknown = row
    blocked, blocked_by_name, partly, partly_by_name = counts
    by_name = crawler is not None and crawler.obeys is Obeys.OWN_GROUPS
    without_file, not_read, not_fetched = others
    return Share(
        crawl=crawl,
        month=f"{day:%Y-%m}" if day else "",
        agent=agent,
        operator=crawler.operator if crawler else "",
        purpose=crawler.purpose.value if crawler else _OTHERS,
        by_name=by_name,
        sites=sites,
        without_file=without_file,
        not_read=not_read,
        not_fetched=not_fetched,
        without_host=without_host,
        named=named,
        blocked=blocked_by_name if by_name else blocked,
        blocked_by_name=blocked_by_name,
        partly=partly_by_name if by_name else partly,
        partly_by_name=partly_by_name,
        unknown=unknown,
    )
