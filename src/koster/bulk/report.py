"""Counts the answers of ``koster bulk classify`` for a report.

Sites are counted, not files: a host in a crawl, with or without www., by http or https, is one
site. Redirects are followed as far as the archives have them; if several origins of a site have a
file, that of https counts, reached by the fewest redirects. Tables have no origins: each row is a
site.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..crawlers import Obeys, Purpose, known, place_in_reports
from ..errors import MissingExtraError, UnreadableError, missing
from . import runs
from ._batches import ARCHIVED
from .duckdb import REDIRECTS

try:
    import duckdb
except ImportError as error:
    raise missing("koster.bulk.report", "bulk") from error

if TYPE_CHECKING:
    import os

    from ..crawlers import Crawler

__all__ = ["Fetches", "Report", "Share", "report"]

#: The label of records without a crawl or a date.
_NO_CRAWL = "undated"
#: The purpose of unknown agents.
_OTHERS = "others"
#: The order of the report.
_PURPOSES = [*(purpose.value for purpose in Purpose), _OTHERS]


@dataclass(frozen=True, slots=True)
class Share:
    """How many sites of a crawl disallow an agent.

    ``sites`` have a file; ``named`` of them name the agent, ``closed`` disallow everything,
    ``closed_by_name`` in a group that names it, ``partly`` a part, and for ``unknown`` it could not
    be proved. A crawler that ignores the ``*`` group (``by_name``) counts as disallowed only by
    sites that name it.
    """

    crawl: str
    agent: str
    operator: str
    purpose: str
    by_name: bool
    sites: int
    named: int
    closed: int
    closed_by_name: int
    partly: int
    unknown: int

    @property
    def share_closed(self) -> float:
        """The share of sites that disallow everything: 0 to 1."""
        return self.closed / self.sites if self.sites else 0.0

    @property
    def share_by_name(self) -> float:
        """The share of sites that disallow everything and name it: 0 to 1."""
        return self.closed_by_name / self.sites if self.sites else 0.0

    @property
    def share_partly(self) -> float:
        """The share of sites that disallow a part: 0 to 1."""
        return self.partly / self.sites if self.sites else 0.0


@dataclass(frozen=True, slots=True)
class Fetches:
    """How many sites of a crawl have an outcome: a fetch class, or how the redirects ended."""

    crawl: str
    outcome: str
    sites: int


@dataclass(frozen=True)
class Report:
    """The numbers, sorted by crawl, purpose and share of sites that disallow everything.

    ``crawls``: oldest first. ``inputs``: how many were read; ``bad``: how many of their records
    could not be.
    """

    shares: tuple[Share, ...]
    fetches: tuple[Fetches, ...]
    crawls: tuple[str, ...]
    dialect: str
    inputs: int
    bad: int

    def of(self, crawl: str) -> tuple[Share, ...]:
        """Return the shares of a crawl."""
        return tuple(each for each in self.shares if each.crawl == crawl)


def report(folder: str | os.PathLike[str]) -> Report:
    """Return the numbers for the shards in a folder.

    Raises:
        UnreadableError: there are none, or they are not answers of ``koster bulk classify``.
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
    archives: list[str] = []
    tables: list[str] = []
    for path, _ in shards:
        (archives if _is_from_archive(path) else tables).append(path)
    try:
        with duckdb.connect() as con:
            con.execute("SET preserve_insertion_order = false")
            shares, fetches, crawls = _summarize(con, archives, tables)
    except (duckdb.Error, UnicodeError) as error:
        raise UnreadableError(f"{folder}: {str(error).splitlines()[0]}") from error
    bad = sum(metadata["bad"] for _, metadata in shards)
    return Report(shares, fetches, crawls, question["dialect"], len(shards), bad)


def _is_from_archive(path: str) -> bool:
    import pyarrow.parquet as pq  # noqa: PLC0415

    with open(path, "rb") as file:
        return set(ARCHIVED.names) <= set(pq.read_schema(file).names)


_SITES_FROM_ARCHIVES = """
CREATE TEMP TABLE archived AS
SELECT url, origin, fetched, class, location, robots,
    coalesce(crawl, strftime(fetched AT TIME ZONE 'UTC', '%Y-%m'), ?) AS crawl
FROM read_parquet(?, union_by_name = true);
"""
_SITES = """
INSERT INTO sites
SELECT crawl, if(ended = 'answered', class, ended), robots
FROM robots_followed('archived')
QUALIFY row_number() OVER (
    PARTITION BY crawl, regexp_replace(asked, '^https?://(www\\.)?', '')
    ORDER BY robots IS NULL, asked NOT LIKE 'https:%', hops, asked
) = 1;
"""
_SITES_FROM_TABLES = """
INSERT INTO sites SELECT ?, 'ok', robots FROM read_parquet(?, union_by_name = true);
"""
_SHARES = """
SELECT crawl, agent,
    count(*) AS sites,
    count(*) FILTER (WHERE written) AS named,
    count(*) FILTER (WHERE effective = 'all' AND (written OR obeys_all)) AS closed,
    count(*) FILTER (WHERE effective = 'all' AND written) AS closed_by_name,
    count(*) FILTER (WHERE effective = 'some' AND (written OR obeys_all)) AS partly,
    count(*) FILTER (WHERE effective IS NULL) AS unknown
FROM (
    SELECT answers.*, NOT coalesce(by_name, false) AS obeys_all
    FROM (SELECT crawl, unnest(robots, recursive := true) FROM sites) AS answers
    LEFT JOIN crawlers USING (agent)
)
GROUP BY ALL
"""


def _summarize(
    con: Any, archives: list[str], tables: list[str]
) -> tuple[tuple[Share, ...], tuple[Fetches, ...], tuple[str, ...]]:
    """Return shares, fetches and crawls of shards."""
    crawls: list[str] = []
    con.execute(REDIRECTS)
    con.execute(
        "CREATE TEMP TABLE sites (crawl TEXT, outcome TEXT, robots STRUCT(agent TEXT, "
        "written BOOLEAN, effective TEXT, line INTEGER)[])"
    )
    if archives:
        con.execute(_SITES_FROM_ARCHIVES, [_NO_CRAWL, archives])
        con.execute(_SITES)
        query = "SELECT crawl FROM archived GROUP BY crawl ORDER BY min(fetched), crawl"
        crawls = [crawl for (crawl,) in con.execute(query).fetchall()]
    if tables:
        con.execute(_SITES_FROM_TABLES, [_NO_CRAWL, tables])
    if tables or _NO_CRAWL in crawls:
        # The newest crawl with a date comes last.
        crawls = [_NO_CRAWL, *(crawl for crawl in crawls if crawl != _NO_CRAWL)]
    crawlers = {each.token: each for each in _known()}
    con.execute("CREATE TEMP TABLE crawlers (agent TEXT, by_name BOOLEAN)")
    con.executemany(
        "INSERT INTO crawlers VALUES (?, ?)",
        [[token, each.obeys is Obeys.OWN_GROUPS] for token, each in crawlers.items()]
        or [["", False]],
    )
    shares = [_share(row, crawlers.get(row[1])) for row in con.execute(_SHARES).fetchall()]
    fetches = con.execute(
        "SELECT crawl, outcome, count(*) FROM sites GROUP BY ALL ORDER BY crawl, 3 DESC, outcome"
    ).fetchall()
    order = {purpose: number for number, purpose in enumerate(_PURPOSES)}
    shares.sort(
        key=lambda each: (
            crawls.index(each.crawl),
            order[each.purpose],
            -each.share_closed,
            place_in_reports(crawlers[each.agent]) if each.agent in crawlers else 0,
            each.agent.lower(),
        )
    )
    return tuple(shares), tuple(Fetches(*row) for row in fetches), tuple(crawls)


def _known() -> tuple[Crawler, ...]:
    try:
        return known()
    except MissingExtraError:
        return ()


def _share(row: tuple[Any, ...], crawler: Crawler | None) -> Share:
    crawl, agent, *counts = row
    return Share(
        crawl,
        agent,
        crawler.operator if crawler else "",
        crawler.purpose.value if crawler else _OTHERS,
        crawler is not None and crawler.obeys is Obeys.OWN_GROUPS,
        *counts,
    )
