"""Counts the answers of ``koster bulk signals``: what sites say about use, in which grammar.

A site is a host in a crawl, with or without www., by http or https. Its pages may have several
answers, so a site counts for each answer that one of its pages has.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..errors import UnreadableError, missing
from ..signals import GRAMMARS, Stated, Use
from ._arrow import pa
from ._shards import read_shards
from ._sites import UNDATED, read_panel, workspace
from .report import crawls_in_order

try:
    import duckdb
except ImportError as error:
    raise missing("koster.bulk.use_report", "bulk") from error

__all__ = ["CrawlPages", "UseReport", "UseShare", "use_report"]

#: Rows of answers that are read at a time.
_ROWS = 1_000_000


@dataclass(frozen=True, slots=True)
class UseShare:
    """How many pages and sites of a crawl have an answer, or a source in a grammar, about a use.

    Attributes:
        crawl: The crawl.
        use: The use: see `koster.signals.Use`.
        stated: The answer: see `koster.signals.Stated`; empty: all that are stated in a grammar.
        grammar: The name of the grammar; empty: all of them together.
        pages: How many pages.
        sites: How many sites have such a page.
        of: The pages and sites of the crawl.
    """

    crawl: str
    use: str
    stated: str
    grammar: str
    pages: int
    sites: int
    of: CrawlPages

    @property
    def share_of_pages(self) -> float:
        """``pages`` as a share of all: 0 to 1."""
        return self.pages / self.of.pages

    @property
    def share_of_sites(self) -> float:
        """``sites`` as a share of all: 0 to 1."""
        return self.sites / self.of.sites


@dataclass(frozen=True, slots=True)
class CrawlPages:
    """How many pages and sites a crawl has.

    Attributes:
        crawl: The crawl.
        pages: How many pages.
        sites: How many sites.
        unread_pages: For how many pages a source could not be read.
        unread_sites: How many sites have such a page.
        not_fetched: How many sites of a list (``--sites``) have no page in the crawl.
    """

    crawl: str
    pages: int
    sites: int
    unread_pages: int
    unread_sites: int
    not_fetched: int = 0


@dataclass(frozen=True)
class UseReport:
    """The numbers, sorted by crawl, use, answer and grammar.

    Attributes:
        shares: For each crawl and use, each answer and each grammar.
        crawls: The crawls, oldest first.
        dialect: How the robots.txt files were read.
        panel: How many sites a list (``--sites``) has; None without one.
    """

    shares: tuple[UseShare, ...]
    crawls: tuple[CrawlPages, ...]
    dialect: str
    panel: int | None = None

    def of(self, crawl: str) -> tuple[UseShare, ...]:
        """Return the shares of a crawl."""
        return tuple(each for each in self.shares if each.crawl == crawl)


_TABLES = """
CREATE TABLE panel (site TEXT);
CREATE TABLE counted (crawl TEXT, use TEXT, stated TEXT, grammar TEXT, pages BIGINT, sites BIGINT);
CREATE TABLE totals (
    crawl TEXT, pages BIGINT, sites BIGINT, unread_pages BIGINT, unread_sites BIGINT
);
CREATE TABLE records (crawl TEXT, fetched TIMESTAMPTZ);
"""

# Sites are not counted across parts: all pages of a site are in one.
_PAGES = """
CREATE OR REPLACE TABLE pages AS
SELECT
    coalesce(nullif(crawl, ''), strftime(fetched AT TIME ZONE 'UTC', '%Y-%m'), $undated) AS crawl,
    regexp_replace(origin, '^https?://(www\\.)?', '') AS site, fetched, signals,
    len(unread) > 0 AS is_unread
FROM read_parquet($paths, hive_partitioning = false)
WHERE NOT $has_panel OR site IN (SELECT site FROM panel)
"""
_COUNT = """
INSERT INTO totals
SELECT crawl, sum(pages), count(*), sum(unread), count(*) FILTER (unread > 0)
FROM (
    SELECT crawl, site, count(*) AS pages, count(*) FILTER (is_unread) AS unread
    FROM pages GROUP BY ALL
)
GROUP BY crawl;
INSERT INTO records
SELECT nullif(crawl, '{undated}'), time_bucket(INTERVAL 1 DAY, fetched) FROM pages GROUP BY ALL;
INSERT INTO counted
SELECT crawl, use, coalesce(stated, ''), coalesce(grammar, ''), sum(pages), count(*)
FROM (
    SELECT crawl, site, use, stated, NULL AS grammar, count(*) AS pages
    FROM (SELECT crawl, site, unnest(signals, recursive := true) FROM pages)
    GROUP BY ALL
    UNION ALL
    SELECT crawl, site, use, NULL, grammar, count(*)
    FROM (
        SELECT crawl, site, use, unnest(grammars) AS grammar
        FROM (SELECT crawl, site, unnest(signals, recursive := true) FROM pages)
    )
    GROUP BY ALL
)
GROUP BY ALL
"""


def use_report(folder: str | os.PathLike[str], sites: str | None = None) -> UseReport:
    """Return the numbers for the answers in a folder of ``koster bulk signals``.

    Args:
        folder: The folder.
        sites: The path of a list of sites; only these are counted.

    Raises:
        UnreadableError: there are no answers, they are not those of signals, the list cannot be
            read, or there are too many crawls.
    """
    shards = read_shards(folder)
    questions = [metadata["question"] for _, metadata in shards]
    if any(each["kind"] != "signals" for each in questions):
        raise UnreadableError(f"{folder}: has answers of koster bulk {questions[0]['kind']}")
    panel = None if sites is None else {*read_panel(sites)}
    try:
        with workspace() as con:
            con.execute(_TABLES)
            if panel:
                con.register("sites", pa.table({"site": pa.array([*panel], pa.string())}))
                con.execute("INSERT INTO panel FROM sites")
            rows = [(path, metadata["rows"]) for path, metadata in shards]
            for paths in _groups(rows):
                given = {"undated": UNDATED, "has_panel": panel is not None, "paths": paths}
                con.execute(_PAGES, given)
                con.execute(_COUNT.replace("{undated}", UNDATED))
            return _summarize(con, questions[0]["dialect"], None if panel is None else len(panel))
    except UnreadableError as error:
        raise UnreadableError(f"{folder}: {error}") from error
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise UnreadableError(f"{folder}: {str(error).splitlines()[0]}") from error


def _groups(shards: Iterable[tuple[str, int]]) -> Iterable[list[str]]:
    """Yield the paths of shards with together about `_ROWS` rows."""
    some: list[str] = []
    total = 0
    for path, rows in shards:
        some.append(path)
        total += rows
        if total >= _ROWS:
            yield some
            some, total = [], 0
    if some:
        yield some


def _summarize(con: Any, dialect: str, panel: int | None) -> UseReport:
    """Return the report.

    Raises:
        UnreadableError: there are too many crawls.
    """
    sums = "SELECT crawl, sum(COLUMNS(* EXCLUDE (crawl))) FROM totals GROUP BY crawl"
    totals = {}
    for crawl, *counts in con.execute(sums).fetchall():
        pages, sites, unread_pages, unread_sites = map(int, counts)
        not_fetched = 0 if panel is None else panel - sites
        totals[crawl] = CrawlPages(crawl, pages, sites, unread_pages, unread_sites, not_fetched)
    order = crawls_in_order(con)
    sums = (
        "SELECT crawl, use, stated, grammar, sum(pages), sum(sites) FROM counted "
        "GROUP BY crawl, use, stated, grammar"
    )
    shares = [
        UseShare(crawl, use, stated, grammar, int(pages), int(sites), totals[crawl])
        for crawl, use, stated, grammar, pages, sites in con.execute(sums).fetchall()
    ]
    shares.sort(
        key=lambda each: (
            order.index(each.crawl),
            *map(_WORDS.index, (each.use, each.grammar, each.stated)),
        )
    )
    crawls = tuple(totals[crawl] for crawl in order if crawl in totals)
    return UseReport(tuple(shares), crawls, dialect, panel)


#: In the order of reports.
_WORDS = ("", *map(str, Use), *map(str, Stated), *(each.name for each in GRAMMARS))
