"""Real files, and what other parsers say about them (``shared/conformance``)."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections import Counter
from dataclasses import replace

import pytest
from support import EVERYTHING, ROOT, bodies, conformance, verdicts

import koster
from koster.dialects import RobotsTxtPath

pytestmark = pytest.mark.usefixtures("conformance_data")

TABLES = ("verdicts.tsv.gz", "modern-verdicts.tsv.gz")


def differing(
    table: str, dialect: koster.Dialect, column: str
) -> list[tuple[dict[str, str], koster.RobotsTxt]]:
    """Return the rows that koster answers otherwise than a column says."""
    parsed = {site: koster.parse(body, dialect) for site, body in bodies(table).items()}
    found = []
    for row in verdicts(table):
        robots = parsed[row["site"]]
        if robots.allowed(row["url"], row["agent"]) != (row[column] == "1"):
            found.append((row, robots))
    return found


@pytest.mark.parametrize("table", TABLES)
def test_google_is_equal(table: str) -> None:
    assert differing(table, koster.GOOGLE, "google") == []


def test_google_cases() -> None:
    folder = conformance()
    assert folder is not None
    cases = json.loads(gzip.decompress((folder / "google-cases.json.gz").read_bytes()))
    assert len(cases) == 145
    for case in cases:
        robots = koster.parse(base64.b64decode(case["robots"]), koster.GOOGLE)
        assert robots.allowed(case["url"], case["agent"]) == case["allowed"], case


# What robotexclusionrulesparser does otherwise, each as a change to what koster is asked:
# a difference is explained by a kind if with that change koster gives the other answer.
# docs/conformance.md says of each whose reading it is.
Asked = tuple[bytes, koster.Dialect, str]


def robots_txt_is_not_special(body: bytes, dialect: koster.Dialect, url: str) -> Asked:
    reading = replace(dialect.reading, robots_txt=RobotsTxtPath.NOT_SPECIAL)
    return body, replace(dialect, reading=reading), url


def fragment_is_kept(body: bytes, dialect: koster.Dialect, url: str) -> Asked:
    return body, dialect, url.replace("#", "%23")


def empty_query_is_dropped(body: bytes, dialect: koster.Dialect, url: str) -> Asked:
    path, mark, fragment = url.partition("#")
    return body, dialect, path.rstrip("?;") + mark.replace("#", "%23") + fragment


def colon_follows_the_key(body: bytes, dialect: koster.Dialect, url: str) -> Asked:
    lines = re.split(rb"\r\n|\n|\r", body)
    usual = (line for line in lines if re.match(rb"\s*(?:#|$|[\w-]+:)", line))
    return b"\n".join(usual), dialect, url


def delays_and_sitemaps_end_agents(body: bytes, dialect: koster.Dialect, url: str) -> Asked:
    more = {koster.Directive.CRAWL_DELAY, koster.Directive.SITEMAP}
    return body, replace(dialect, directives=dialect.directives | more), url


KINDS = {
    "/robots.txt itself": robots_txt_is_not_special,
    "fragment": fragment_is_kept,
    "empty query": empty_query_is_dropped,
    "no colon right after the key": colon_follows_the_key,
    "Crawl-delay between agents": delays_and_sitemaps_end_agents,
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
    found = differing(table, dialect, column)
    kinds = Counter(kind(row, robots, column) for row, robots in found)
    assert kinds.keys() <= KINDS.keys()
    if EVERYTHING:
        total = len(verdicts(table))
        assert len(found) <= 0.005 * total
        _check_documented(dialect.name, table, total, len(found), kinds)


def _check_documented(
    dialect: str, table: str, total: int, differences: int, kinds: Counter[str]
) -> None:
    """Check the numbers in docs/conformance.md."""
    text = (ROOT / "docs" / "conformance.md").read_text("utf-8")
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
    # "Disallow /" without a colon: no rule for robotexclusionrulesparser, and so no record.
    assert set(differences) <= {("www.birminghammail.co.uk", "semetrical")}
    assert not EVERYTHING or len(differences) <= 0.005 * len(rows)


@pytest.mark.parametrize("table", TABLES)
def test_the_default_dialect_reads_all(table: str) -> None:
    """Whatever stands in real files: nothing raises, and the ways to ask agree."""
    parsed = {site: koster.parse(body) for site, body in bodies(table).items()}
    for row in verdicts(table):
        rules = parsed[row["site"]].rules_for(row["agent"])
        decision = rules.decide(row["url"])
        assert decision.allowed == rules.allowed(row["url"])
        assert str(decision)
    for robots in parsed.values():
        assert len(robots.lines) >= sum(len(group.rules) for group in robots.groups)
        assert all(isinstance(sitemap, str) for sitemap in robots.sitemaps)
