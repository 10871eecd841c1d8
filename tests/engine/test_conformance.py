"""koster agrees with other parsers on real files (``shared/conformance``)."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections import Counter
from dataclasses import replace

import pytest

import koster
from koster.dialects import RobotsTxtPath
from tests.helpers.support import EVERYTHING, ROOT, bodies, conformance, verdicts

pytestmark = pytest.mark.usefixtures("conformance_data")

TABLES = ("verdicts.tsv.gz", "modern-verdicts.tsv.gz")


def differing_rows(
    table: str, dialect: koster.Dialect, column: str
) -> list[tuple[dict[str, str], koster.RobotsTxt]]:
    """Return the rows where koster's verdict differs from the one in a column."""
    parsed = {site: koster.parse(body, dialect) for site, body in bodies(table).items()}
    rows = []
    for row in verdicts(table):
        robots = parsed[row["site"]]
        if robots.allowed(row["url"], row["agent"]) != (row[column] == "1"):
            rows.append((row, robots))
    return rows


@pytest.mark.parametrize("table", TABLES)
def test_google_has_no_differences(table: str) -> None:
    assert differing_rows(table, koster.GOOGLE, "google") == []


def test_google_test_cases_agree() -> None:
    folder = conformance()
    assert folder is not None
    cases = json.loads(gzip.decompress((folder / "google-cases.json.gz").read_bytes()))
    assert len(cases) == 145
    for case in cases:
        robots = koster.parse(base64.b64decode(case["robots"]), koster.GOOGLE)
        assert robots.allowed(case["url"], case["agent"]) == case["allowed"], case


# How robotexclusionrulesparser differs. Each kind of difference is a function that changes the
# query: it explains a difference if koster then gives the other answer.
# docs/about/conformance.md lists them.
Query = tuple[bytes, koster.Dialect, str]


def robots_txt_is_not_special(body: bytes, dialect: koster.Dialect, url: str) -> Query:
    reading = replace(dialect.reading, robots_txt=RobotsTxtPath.NOT_SPECIAL)
    return body, replace(dialect, reading=reading), url


def fragment_is_kept(body: bytes, dialect: koster.Dialect, url: str) -> Query:
    return body, dialect, url.replace("#", "%23")


def empty_query_is_dropped(body: bytes, dialect: koster.Dialect, url: str) -> Query:
    path, mark, fragment = url.partition("#")
    return body, dialect, path.rstrip("?;") + mark.replace("#", "%23") + fragment


def colon_follows_the_directive(body: bytes, dialect: koster.Dialect, url: str) -> Query:
    lines = re.split(rb"\r\n|\n|\r", body)
    remaining = (line for line in lines if re.match(rb"\s*(?:#|$|[\w-]+:)", line))
    return b"\n".join(remaining), dialect, url


def delays_and_sitemaps_end_user_agent_lines(
    body: bytes, dialect: koster.Dialect, url: str
) -> Query:
    added = {koster.Directive.CRAWL_DELAY, koster.Directive.SITEMAP}
    return body, replace(dialect, directives=dialect.directives | added), url


KINDS = {
    "/robots.txt itself": robots_txt_is_not_special,
    "fragment": fragment_is_kept,
    "empty query": empty_query_is_dropped,
    "no colon right after the key": colon_follows_the_directive,
    "Crawl-delay between agents": delays_and_sitemaps_end_user_agent_lines,
}


def kind(row: dict[str, str], robots: koster.RobotsTxt, column: str) -> str:
    """Return the kind that explains a difference."""
    for name, change in KINDS.items():
        body, dialect, url = change(robots.body, robots.dialect, row["url"])
        if koster.parse(body, dialect).allowed(url, row["agent"]) == (row[column] == "1"):
            return name
    return f"UNEXPLAINED: {row}"


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(
    ("dialect", "column"),
    [(koster.GYM2008, "rerp_gym2008"), (koster.MK1996, "rerp_mk1996")],
    ids=str,
)
def test_older_standards_agree(table: str, dialect: koster.Dialect, column: str) -> None:
    differences = differing_rows(table, dialect, column)
    kinds = Counter(kind(row, robots, column) for row, robots in differences)
    assert kinds.keys() <= KINDS.keys()
    if EVERYTHING:
        total = len(verdicts(table))
        assert len(differences) <= 0.005 * total
        _check_documented(dialect.name, table, total, len(differences), kinds)


def _check_documented(
    dialect: str, table: str, total: int, differences: int, kinds: Counter[str]
) -> None:
    """Check the numbers in docs/about/conformance.md."""
    text = (ROOT / "docs" / "about" / "conformance.md").read_text("utf-8")
    files = "top sites" if table == TABLES[0] else "modern"
    assert f"| {dialect} | {files} | {total:,} | {differences} |" in text
    for name, count in kinds.items():
        assert f"| {dialect} | {files} | {name} | {count} |" in text, (name, count)


@pytest.mark.parametrize("table", TABLES)
def test_crawl_delays_agree(table: str) -> None:
    parsed = {site: koster.parse(body, koster.GYM2008) for site, body in bodies(table).items()}
    rows = verdicts(table)
    differences = []
    for row in rows:
        expected = float(row["rerp_delay"]) if row["rerp_delay"] else None
        if parsed[row["site"]].rules_for(row["agent"]).crawl_delay != expected:
            differences.append((row["site"], row["agent"]))
    # "Disallow /" without a colon is not a rule for robotexclusionrulesparser, so it sees no record.
    assert set(differences) <= {("www.birminghammail.co.uk", "semetrical")}
    assert not EVERYTHING or len(differences) <= 0.005 * len(rows)


@pytest.mark.parametrize("table", TABLES)
def test_default_dialect_reads_all_real_files(table: str) -> None:
    """Nothing raises, and ``allowed`` agrees with ``decide``."""
    parsed = {site: koster.parse(body) for site, body in bodies(table).items()}
    for row in verdicts(table):
        rules = parsed[row["site"]].rules_for(row["agent"])
        decision = rules.decide(row["url"])
        assert decision.allowed == rules.allowed(row["url"])
        assert str(decision)
    for robots in parsed.values():
        assert len(robots.lines) >= sum(len(group.rules) for group in robots.groups)
        assert all(isinstance(sitemap, str) for sitemap in robots.sitemaps)
