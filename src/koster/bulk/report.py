"""What ``koster bulk classify`` found, as numbers and as a page.

Sites are counted, not files: a host that was asked in a crawl, with www. before it or not, by http
or https, is one site. Redirects are followed as far as the archives have them; where several of its
origins gave a file, that of https counts, reached by the fewest redirects. Of tables, which know of
no origins, each row is a site.
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

#: The label of what belongs to no crawl, and has no date.
_NO_CRAWL = "undated"
#: The purpose of agents that are not known.
_OTHERS = "others"
#: The order of the report.
_PURPOSES = [*(purpose.value for purpose in Purpose), _OTHERS]


@dataclass(frozen=True, slots=True)
class Share:
    """How many sites of a crawl disallow an agent.

    ``sites`` answered with a file; ``named`` of them name the agent, ``closed`` disallow all,
    ``closed_by_name`` in a group that names it, ``partly`` a part, and of ``unknown`` it could not
    be proved. A crawler that obeys no groups for
    everybody (``by_name``) is counted as disallowed only by sites that name it.
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
        """Of the sites, those that disallow all: 0 to 1."""
        return self.closed / self.sites if self.sites else 0.0

    @property
    def share_by_name(self) -> float:
        """Of the sites, those that disallow all and name it: 0 to 1."""
        return self.closed_by_name / self.sites if self.sites else 0.0

    @property
    def share_partly(self) -> float:
        """Of the sites, those that disallow a part: 0 to 1."""
        return self.partly / self.sites if self.sites else 0.0


@dataclass(frozen=True, slots=True)
class Fetches:
    """How many sites of a crawl gave what in the end: a fetch class, or why there is none."""

    crawl: str
    outcome: str
    sites: int


@dataclass(frozen=True)
class Report:
    """The numbers: by crawl, purpose, and the share of sites that disallow all.

    ``crawls``: the oldest first. ``inputs`` have been read, ``bad`` records of them could not be.
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
    """Return the numbers of the shards in a folder.

    Raises:
        UnreadableError: there are none, or they are no answers of ``koster bulk classify``.
    """
    shards = runs.read_shards(folder)
    question = shards[0][1]["question"]
    if any(metadata["question"] != question for _, metadata in shards):
        raise UnreadableError(f"{folder}: has answers to several questions")
    if question["kind"] != "classify":
        raise UnreadableError(
            f"{folder}: has the answers of koster bulk {question['kind']}; a report is made from "
            "those of koster bulk classify"
        )
    archived: list[str] = []
    tabled: list[str] = []
    for path, _ in shards:
        (archived if _is_archived(path) else tabled).append(path)
    try:
        with duckdb.connect() as con:
            con.execute("SET preserve_insertion_order = false")
            shares, fetches, crawls = summarised(con, archived, tabled)
    except (duckdb.Error, UnicodeError) as error:
        raise UnreadableError(f"{folder}: {str(error).splitlines()[0]}") from error
    bad = sum(metadata["bad"] for _, metadata in shards)
    return Report(shares, fetches, crawls, question["dialect"], len(shards), bad)


def _is_archived(path: str) -> bool:
    import pyarrow.parquet as pq  # noqa: PLC0415

    with open(path, "rb") as file:
        return set(ARCHIVED.names) <= set(pq.read_schema(file).names)


_SITES_ARCHIVED = """
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
_SITES_TABLED = """
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


def summarised(
    con: Any, archived: list[str], tabled: list[str]
) -> tuple[tuple[Share, ...], tuple[Fetches, ...], tuple[str, ...]]:
    """Return shares, fetches and crawls of shards, by a connection of DuckDB."""
    crawls: list[str] = []
    con.execute(REDIRECTS)
    con.execute(
        "CREATE TEMP TABLE sites (crawl TEXT, outcome TEXT, robots STRUCT(agent TEXT, "
        "written BOOLEAN, effective TEXT, line INTEGER)[])"
    )
    if archived:
        con.execute(_SITES_ARCHIVED, [_NO_CRAWL, archived])
        con.execute(_SITES)
        query = "SELECT crawl FROM archived GROUP BY crawl ORDER BY min(fetched), crawl"
        crawls = [crawl for (crawl,) in con.execute(query).fetchall()]
    if tabled:
        con.execute(_SITES_TABLED, [_NO_CRAWL, tabled])
    if tabled or _NO_CRAWL in crawls:
        # What is the newest that is known stands last.
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
